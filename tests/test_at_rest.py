"""No token lies anywhere in clear: not in the store, nor in what it writes to disk, nor in any log."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from engine.games import GAMES
from service.embedded import SOCKET_NAME
from service.records import hashed
from tests.contract import LiveClient
from tests.mixed import Run
from tests.servers import ServiceProcess
from tests.stored import Stored

READ = {
    b"string": ("GET",),
    b"hash": ("HGETALL",),
    b"list": ("LRANGE", 0, -1),
    b"zset": ("ZRANGE", 0, -1),
    b"set": ("SMEMBERS",),
}
"""How all of a key is read."""


@pytest.fixture(scope="module", name="house")
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Run the whole house with a store of its own, which logs all that it can."""
    with ServiceProcess(tmp_path_factory.mktemp("rest") / "var", LOG_LEVEL="DEBUG") as service:
        yield service.up()


@pytest.fixture(name="kept")
def _kept(house: ServiceProcess) -> Iterator[Stored]:
    stored = Stored(f"unix://{house.var_dir / 'store' / SOCKET_NAME}")
    yield stored
    stored.close()


@pytest.fixture(scope="module", name="runs")
def _runs(house: ServiceProcess) -> list[Run]:
    return [Run(house.url, game).whole() for game in GAMES]


def dump(kept: Stored) -> bytes:
    """Return the names of all keys and all that is in them."""
    said = []
    for key in kept.command("KEYS", "*"):
        command, *rest = READ[kept.command("TYPE", key)]
        found = kept.command(command, key, *rest)
        said += [key, *_flat(found)]
    return b"\n".join(said)


def _flat(found: Any) -> Iterator[bytes]:  # noqa: ANN401 - a reply
    """Yield every text in a reply."""
    if isinstance(found, bytes):
        yield found
    else:
        for each in chain(*found.items()) if isinstance(found, dict) else found:
            yield from _flat(each)


def written(directory: Path) -> bytes:
    """Return all that lies on disk."""
    return b"\n".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def places(house: ServiceProcess, kept: Stored) -> dict[str, bytes]:
    """Return every place where something could lie."""
    return {"store": dump(kept), "disk": written(house.var_dir), "log": house.said.encode()}


def forms(token: str) -> tuple[bytes, ...]:
    """Return a token as it is told, as the bytes it stands for, and as their digits."""
    raw = urlsafe_b64decode(f"{token}=")
    return token.encode(), raw, raw.hex().encode()


def found(house: ServiceProcess, kept: Stored, told: set[str]) -> set[str]:
    """Return the places where something told lies."""
    where = places(house, kept)
    return {name for name, said in where.items() for token in told if any(form in said for form in forms(token))}


def test_the_run_is_mixed(runs: list[Run]) -> None:
    """Every game is in it, and at least a seat's token, the host's, a fresh one and two tickets of each."""
    assert {run.game for run in runs} == set(GAMES)
    assert all(len(run.told) >= 5 for run in runs)
    assert all(re.fullmatch("[A-Za-z0-9_-]{43}", told) for run in runs for told in run.told)


def test_no_token_lies_anywhere(house: ServiceProcess, kept: Stored, runs: list[Run]) -> None:
    """Nor a ticket, in any form; where they were used is known by the sessions' ids, and all that is kept is a hash."""
    where = places(house, kept)
    for run in runs:
        assert all(run.id.encode() in said for said in where.values())
        assert any(hashed(token) in where["store"] for token in run.told)
    assert found(house, kept, set().union(*(run.told for run in runs))) == set()


def test_no_seed_is_in_a_log(house: ServiceProcess, kept: Stored, runs: list[Run]) -> None:
    """A client's seed is a move, and stays with the session; the session's own secret is in the store alone."""
    where = places(house, kept)
    for run in runs:
        assert run.seeds
        assert all(seed.encode() in where["store"] for seed in run.seeds)
        assert not any(seed.encode() in where["log"] for seed in run.seeds)
        secret = kept.record(run.id).position.secret
        assert secret in where["store"]
        assert not any(form in where["log"] for form in (secret, secret.hex().encode(), repr(secret).encode()))


# Planted faults: each is found by the checks above.


def test_a_token_in_the_store_is_found_out(house: ServiceProcess, kept: Stored) -> None:
    """Whether it is a name or a value."""
    for number, form in enumerate(forms(token := "planted" * 6 + "A")):
        kept.command("SET", *((b"plant", form) if number else (form, b"1")))
        assert found(house, kept, {token}) == {"store", "disk"}
        kept.command("DEL", b"plant", form)


def test_a_token_in_a_log_is_found_out(house: ServiceProcess, kept: Stored) -> None:
    """One that a client gives for the name of his request is there."""
    token = "logged_" * 6 + "A"
    LiveClient(house.url).send("GET", "/healthz", headers={"X-Request-Id": token})
    assert found(house, kept, {token}) == {"log"}
