"""A store with no room on its disk, and one that still reads its data: 503, nothing lost, and play goes on after.

A bound on how large its files may get stands for a disk that is full: the write fails half-way in the same place.
"""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service import create_app, embedded
from service.connection import connect
from service.settings import Settings
from service.store import Store
from tests.asks import ALL, AWAY, READS, READY, WRITES, is_away, timed
from tests.contract import ContractClient
from tests.routes import outcome
from tests.servers import StoreProcess, eventually, start_store
from tests.stored import Stored
from tests.tables import Table

FIRST = 1
LINES = 100_000
"""How many commands the store reads when it starts; it answers after every 1024th."""
PAUSE_US = 200
"""How long it is made to wait after each, until it is told not to."""


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreProcess]:
    """Run a store that is told of a file that is too large, instead of ended."""
    program = tmp_path / "store"
    program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {embedded.find_server()} \"$@\"\n")
    program.chmod(0o700)
    monkeypatch.setattr(embedded, "find_server", lambda: program)
    store = start_store(tmp_path / "data")
    yield store
    store.stop()


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    table.open("spice-island-poker", balance=1_000_000, max_ante=300_000).play("wager", {"amount": FIRST})
    return table


def fill_up(server: StoreProcess, left: int) -> None:
    """Leave so many bytes of room for the file that the store appends to."""
    (log,) = (server.directory / "appendonlydir").glob("*.incr.aof")
    bound(server, log.stat().st_size + left)


def bound(server: StoreProcess, size: int) -> None:
    assert server.process is not None
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def amounts(stored: Stored, table: Table) -> list[int]:
    return [entry.move.action.body["amount"] for entry in stored.entries(table.id)]


def play_until_full(table: Table) -> list[int]:
    """Move until one is refused; return those that were acknowledged."""
    for amount in range(FIRST + 1, 1000):
        if (answer := table.act("wager", {"amount": amount}, Idempotency_Key=f"k{amount}")).status_code != 200:
            is_away(answer)
            return list(range(FIRST, amount))
    raise AssertionError("the disk is never full")


@pytest.mark.parametrize("left", [0, 1, 700, 5000])
def test_a_full_disk_is_away_to_writers(table: Table, server: StoreProcess, stored: Stored, left: int) -> None:
    """Who reads is answered, the service is not ready, and with room again each acknowledged move is on the disk."""
    fill_up(server, left)
    made = play_until_full(table)
    before = stored.dump(table.id)
    for ask in WRITES.values():
        is_away(timed(ask, table))
    for ask in READS.values():
        assert ask(table).status_code == 200
    ready = READY(table)
    assert (outcome(ready), ready.get_json()["detail"]) == (AWAY, "It cannot write to its disk.")
    assert (stored.dump(table.id), amounts(stored, table)) == (before, made)
    bound(server, resource.RLIM_INFINITY)
    eventually(lambda: READY(table).status_code == 200, "there is room")
    more = made[-1] + 1
    assert table.play("wager", {"amount": more}, Idempotency_Key=f"k{more}")["version"] == len(made) + 1
    began_anew(server)
    assert amounts(stored, table) == [*made, more]


def test_a_store_that_ends_while_its_disk_is_full_begins_again(
    table: Table, server: StoreProcess, stored: Stored
) -> None:
    """It has all that was acknowledged while there was room; of what came after, at most the move that found none."""
    fill_up(server, 5000)
    made = play_until_full(table)
    began_anew(server)
    assert amounts(stored, table) in (made, made[:-1])
    table.play("wager", {"amount": 1000})


def test_a_store_that_keeps_each_move_on_its_disk_ends_when_that_is_full(
    table: Table, server: StoreProcess, stored: Stored
) -> None:
    """With `appendfsync always`, as the profile durable has it: all that was acknowledged is there when it is back."""
    stored.command("CONFIG", "SET", "appendfsync", "always")
    fill_up(server, 5000)
    made = play_until_full(table)
    eventually(lambda: not server.alive(), "the store ends")
    began_anew(server)
    assert amounts(stored, table) == made
    table.play("wager", {"amount": 1000})


def began_anew(server: StoreProcess) -> None:
    """Kill the store and start it again, over a disk with room."""
    server.kill()
    server.start()
    server.wait()


# Reading its data.


@pytest.fixture(name="loading")
def _loading(
    table: Table, server: StoreProcess, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FlaskClient]:
    """Reach a store that was started again and is not soon done with its data."""
    for amount in range(FIRST + 1, 20):
        table.play("wager", {"amount": amount})
    stored.command("EVAL", "for _ = 1, ARGV[1] do redis.call('SET', 'long', 'ago') end", 0, LINES)
    server.kill()
    monkeypatch.setattr(embedded, "_CONFIG", embedded._CONFIG | {"key-load-delay": str(PAUSE_US)})
    server.start()
    store = Store(connect(server.url))
    app = create_app(Settings(log_level="CRITICAL"), store)
    app.test_client_class = ContractClient
    yield app.test_client()
    store.close()


def test_a_store_that_loads_is_away_until_it_has(
    table: Table, loading: FlaskClient, server: StoreProcess, stored: Stored
) -> None:
    """Everything that asks it is answered 503, also the question whether it is ready; then all is there."""
    hasty = Table(loading).takes_over(table)
    eventually(lambda: READY(hasty).get_json()["detail"] == "It is loading its data.", "the store reads its data")
    for ask in ALL:
        is_away(timed(ask, hasty))
    assert loading.get("/healthz").status_code == 200
    stored.command("CONFIG", "SET", "key-load-delay", "0")
    server.wait()
    assert (READY(hasty).status_code, amounts(stored, table)) == (200, list(range(FIRST, 20)))
    assert hasty.play("wager", {"amount": 20})["version"] == 20
