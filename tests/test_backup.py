"""A store's data, copied while games are played, and played on from the copy."""

import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from redis import Redis

from service.embedded import SOCKET_NAME
from tests.contract import LiveClient
from tests.servers import ROOT, ServiceProcess
from tests.test_live_contract import JSON_TYPE, opened

KEY = {"Idempotency-Key": "once"}


@pytest.fixture(name="service")
def _service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path / "var") as service:
        yield service.up()


def back_up(service: ServiceProcess, archive: Path) -> None:
    """Copy as the documentation has it."""
    store = service.var_dir / "store"
    words = [str(archive), str(store), f"unix://{store / SOCKET_NAME}"]
    subprocess.run([sys.executable, "deploy/backup.py", *words], cwd=ROOT, check=True, timeout=60)


def restored(archive: Path, var_dir: Path) -> ServiceProcess:
    """Start another service over the copy."""
    with tarfile.open(archive) as copy:
        copy.extractall(var_dir / "store", filter="data")
    return ServiceProcess(var_dir)


def test_sessions_are_played_on_from_a_copy(service: ServiceProcess, tmp_path: Path) -> None:
    """State, tokens and keys are in it; what happened later is not, and another table's moves meanwhile do no harm."""
    client = LiveClient(service.url)
    path, (seat,) = opened(client, "spice-island-poker")
    other, (theirs,) = opened(client, "spice-island-poker")
    first = client.send("POST", f"{path}/wager", b'{"amount": 7}', seat | KEY)
    enough = Event()

    def play() -> None:
        while not enough.is_set():
            client.send("POST", f"{other}/seed", b'{"client_seed": "more"}', theirs)

    playing = Thread(target=play)
    playing.start()
    back_up(service, tmp_path / "copy.tar.gz")
    enough.set()
    playing.join()
    client.send("POST", f"{path}/deal", headers=seat)
    service.stop(signal.SIGKILL)
    with restored(tmp_path / "copy.tar.gz", tmp_path / "again") as again:
        client = LiveClient(again.up().url)
        assert client.send("GET", path, headers=seat).json()["version"] == 1
        replayed = client.send("POST", f"{path}/wager", b'{"amount": 7}', seat | KEY)
        assert (replayed.body, replayed.named["idempotency-replayed"]) == (first.body, "true")
        assert client.send("POST", f"{path}/deal", b"{}", seat | JSON_TYPE).json()["version"] == 2
        assert client.send("GET", other, headers=theirs).status == 200


def test_a_copy_is_its_owners_and_overwrites_nothing(service: ServiceProcess, tmp_path: Path) -> None:
    """The log holds secrets; a file that is there stays as it is, and the store goes on as it was set."""
    archive = tmp_path / "copy.tar.gz"
    back_up(service, archive)
    assert archive.stat().st_mode & 0o777 == 0o600
    with Redis(unix_socket_path=str(service.var_dir / "store" / SOCKET_NAME), decode_responses=True) as store:
        assert store.config_get("auto-aof-rewrite-percentage") == {"auto-aof-rewrite-percentage": "100"}
    before = archive.read_bytes()
    with pytest.raises(subprocess.CalledProcessError):
        back_up(service, archive)
    assert archive.read_bytes() == before
