"""The launcher, with real processes: who starts, who ends, and what remains of the data."""

import fcntl
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from service import launcher
from service.embedded import SOCKET_NAME
from service.launcher import LONGEST_PAUSE, STEADY
from service.settings import Settings
from tests.servers import ServiceProcess, StoreProcess, eventually, free_port


def client(service: ServiceProcess) -> Redis:
    return Redis(unix_socket_path=str(service.var_dir / "store" / SOCKET_NAME), decode_responses=True)


def pids(service: ServiceProcess) -> list[int]:
    """Return the store, gunicorn and its workers."""
    said = service.said
    master = re.search(r"Listening at: \S+ \((\d+)\)", said)
    assert master is not None
    with client(service) as store:
        found = int(store.info("server")["process_id"])
    return [found, int(master[1]), *map(int, re.findall(r"Booting worker with pid: (\d+)", said))]


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def free(path: Path) -> bool:
    """Tell whether no process holds the lock."""
    with path.open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module", name="house")
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Run one service for the tests that only look at it."""
    with ServiceProcess(tmp_path_factory.mktemp("house") / "var") as house:
        yield house.up()


def test_the_store_is_reached_through_a_socket_of_its_owner_alone(house: ServiceProcess) -> None:
    """Directory and socket are 0700, and no TCP port is open."""
    directory = house.var_dir / "store"
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / SOCKET_NAME).stat().st_mode & 0o777 == 0o700
    with client(house) as store:
        assert store.config_get("port") == {"port": "0"}


def test_the_store_keeps_a_log_that_any_server_can_read(house: ServiceProcess) -> None:
    """The store appends plain commands, writes them out every second, and evicts nothing."""
    wanted = {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-use-rdb-preamble": "no",
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    with client(house) as store:
        assert store.config_get(*wanted) == wanted


def test_a_second_service_on_the_same_directory_is_refused(house: ServiceProcess) -> None:
    """The second one says why and ends with 2; the first goes on."""
    with ServiceProcess(house.var_dir) as second:
        assert second.ended() == 2
        assert f"another Croupier uses {house.var_dir}/store" in second.said
    house.up()


def test_a_taken_port_is_told_before_anything_starts(house: ServiceProcess, tmp_path: Path) -> None:
    """The message names a port to try, and no store was started for it."""
    with ServiceProcess(tmp_path / "var", port=house.port) as second:
        assert second.ended() == 2
        assert second.said == f"croupier: port {house.port} is taken; try PORT={house.port + 1} make run\n"
    assert not (tmp_path / "var").exists()


def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """The service ends with 2 and one line."""
    with ServiceProcess(tmp_path / "var", WORKERS="none") as service:
        assert service.ended() == 2
        assert service.said == "croupier: WORKERS: Not a valid integer.\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_ends_every_process_and_keeps_the_data(tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends store, gunicorn and workers with exit code 0, and the next start has the data."""
    with ServiceProcess(tmp_path / "var") as service:
        found = pids(service.up())
        with client(service) as store:
            store.set("kept", "yes")
        assert service.stop(number) == 0
    assert not [pid for pid in found if runs(pid)]
    with ServiceProcess(tmp_path / "var") as service, client(service.up()) as store:
        assert store.get("kept") == "yes"


def test_ctrl_c_in_a_terminal_reaches_the_launcher_alone(house: ServiceProcess) -> None:
    """Store and gunicorn are in process groups of their own."""
    groups = {os.getpgid(pid) for pid in pids(house)}
    assert os.getpgid(house.process.pid) not in groups
    assert len(groups) == 2


def test_a_killed_launcher_loses_nothing(tmp_path: Path) -> None:
    """After SIGKILL of the launcher the store ends by itself or is ended by the next start, which has the data."""
    with ServiceProcess(tmp_path / "var") as service:
        with client(service.up()) as store:
            store.set("kept", "yes")
        assert service.stop(signal.SIGKILL) == -signal.SIGKILL
    with ServiceProcess(tmp_path / "var") as service, client(service.up()) as store:
        assert store.get("kept") == "yes"


if sys.platform == "linux":  # elsewhere a child can only be ended by the next start

    def test_a_killed_launcher_leaves_no_process_behind(tmp_path: Path) -> None:
        """After SIGKILL of the launcher the store and gunicorn end by themselves."""
        with ServiceProcess(tmp_path / "var") as service:
            service.up().stop(signal.SIGKILL)
        eventually(lambda: free(tmp_path / "var" / "store" / "store.lock"), "the store has ended")
        eventually(lambda: not listens(service.port), "gunicorn has ended")


def test_a_killed_store_is_started_again(tmp_path: Path) -> None:
    """Gunicorn goes on, the store comes back with the data, and both are said."""
    with ServiceProcess(tmp_path / "var") as service:
        before = pids(service.up())
        with client(service) as store:
            store.set("kept", "yes")
        os.kill(before[0], signal.SIGKILL)
        eventually(lambda: "the store runs again" in service.said, "the store is back")
        assert "the store ended (SIGKILL); starting it again in 0.1 s" in service.said
        after = pids(service)
        assert after[0] != before[0]
        assert after[1:] == before[1:]
        with client(service) as store:
            assert store.get("kept") == "yes"


def test_a_dead_gunicorn_ends_the_service(tmp_path: Path) -> None:
    """The launcher ends with gunicorn's code, and neither a worker nor the store remains."""
    with ServiceProcess(tmp_path / "var") as service:
        store, gunicorn, *_ = pids(service.up())
        os.kill(gunicorn, signal.SIGKILL)
        assert service.ended() == 128 + signal.SIGKILL
        assert "gunicorn ended with 137" in service.said
    assert not runs(store)
    eventually(lambda: not listens(service.port), "the workers have ended")


def test_a_second_request_to_stop_is_obeyed_at_once(tmp_path: Path) -> None:
    """A gunicorn that does not end is killed with its workers, and the store is stopped all the same."""
    with ServiceProcess(tmp_path / "var") as service:
        store, gunicorn, *_ = pids(service.up())
        os.kill(gunicorn, signal.SIGSTOP)
        service.process.send_signal(signal.SIGTERM)
        eventually(lambda: "stopping" in service.said, "the first request is heard")
        assert service.stop() == 128 + signal.SIGKILL
    assert not [pid for pid in (store, gunicorn) if runs(pid)]
    eventually(lambda: not listens(service.port), "the workers have ended")


def test_the_service_over_a_given_store_starts_none(server: StoreProcess, tmp_path: Path) -> None:
    """With REDIS_URL the launcher becomes gunicorn, and no directory is made."""
    with ServiceProcess(tmp_path / "var", REDIS_URL=server.url) as service:
        assert f"({service.up().process.pid})" in service.said
        assert service.stop() == 0
    assert not (tmp_path / "var").exists()
    assert server.alive()


def test_a_given_store_that_is_away_is_no_reason_not_to_start(tmp_path: Path) -> None:
    """The service starts with a warning and answers."""
    with ServiceProcess(tmp_path / "var", REDIS_URL=f"redis://127.0.0.1:{free_port()}") as service:
        assert "the store of REDIS_URL does not answer (ConnectionError)" in service.up().said


@pytest.mark.parametrize(("version", "refused"), [("6.2.14", True), ("7.0.15", False), ("10.1.0", False)])
def test_a_given_store_that_is_too_old_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str, *, refused: bool
) -> None:
    """Redis 7 is the oldest that will do."""
    monkeypatch.setattr(Redis, "info", lambda *_: {"redis_version": version})
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: became.append(command))
    if refused:
        with pytest.raises(launcher.LaunchError, match=rf"is Redis {version}; Croupier needs Redis 7 or newer"):
            launcher._serve_alone(Settings(), "redis://localhost")
    else:
        launcher._serve_alone(Settings(), "redis://localhost")
    assert bool(became) is not refused


def test_a_store_that_keeps_dying_is_started_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses double up to a bound, and begin again after a store that ran steadily."""
    now = [1000.0]
    monkeypatch.setattr("service.launcher.time.monotonic", lambda: now[0])
    keeper = launcher._Keeper(Dying())  # type: ignore[arg-type] # a store that is only ever dead
    pauses = []
    for _ in range(12):
        pauses.append(keeper.tend())
        now[0] += pauses[-1] or 0
        keeper.tend()
    assert pauses[:4] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert pauses[-1] == LONGEST_PAUSE
    now[0] += STEADY + 1
    assert keeper.tend() == pytest.approx(0.1)


class Dying:
    """A store that ends as soon as it starts."""

    def alive(self) -> bool:
        return False

    def start(self) -> None:
        """Start in vain."""

    def ending(self) -> str:
        return "code 1"
