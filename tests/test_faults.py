"""A store that forgets, is full, read-only or mad: 503, nothing half done, and play goes on after."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.store import Change, Deadline, Store, Verdict
from tests import ruins
from tests.asks import READS, WRITES, is_away, plays_on, timed
from tests.routes import outcome
from tests.servers import StoreProcess, eventually
from tests.stored import PARTS, Stored, key
from tests.tables import Table

_server, _table = ruins.store_to_ruin, ruins.begun_table


# It runs, and does not do what it is asked.


def test_scripts_that_are_forgotten_are_sent_again(
    table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two requests, and between the two halves of one."""
    stored.command("SCRIPT", "FLUSH")
    assert table.view()["version"] == 1
    commit = Store.commit

    def forgetful(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        stored.command("SCRIPT", "FLUSH")
        return commit(store, session, change, deadline)

    monkeypatch.setattr(Store, "commit", forgetful)
    plays_on(table, 1)
    stored.command("SCRIPT", "FLUSH")
    assert Table(table.client).open("skulls-and-swords").view()["version"] == 0


def full(stored: Stored, _server: StoreProcess) -> Iterator[None]:
    stored.command("CONFIG", "SET", "maxmemory", "1mb")
    try:
        yield
    finally:
        stored.command("CONFIG", "SET", "maxmemory", "0")


def unable_to_save(stored: Stored, server: StoreProcess) -> Iterator[None]:
    """Make a snapshot fail, after which the store refuses to write."""
    stored.command("CONFIG", "SET", "save", "3600 1")
    obstacle = server.directory / "dump.rdb" / "obstacle"
    obstacle.mkdir(parents=True)
    stored.command("BGSAVE")
    eventually(lambda: stored.command("INFO", "persistence")["rdb_last_bgsave_status"] == "err", "the snapshot fails")
    try:
        yield
    finally:
        obstacle.rmdir()
        obstacle.parent.rmdir()
        stored.command("CONFIG", "SET", "save", "")


def a_replica(stored: Stored, _server: StoreProcess) -> Iterator[None]:
    stored.command("REPLICAOF", "127.0.0.1", 1)
    try:
        yield
    finally:
        stored.command("REPLICAOF", "NO", "ONE")


def without_replicas(stored: Stored, _server: StoreProcess) -> Iterator[None]:
    stored.command("CONFIG", "SET", "min-replicas-to-write", 1)
    try:
        yield
    finally:
        stored.command("CONFIG", "SET", "min-replicas-to-write", 0)


STATES = {each.__name__: contextmanager(each) for each in (full, unable_to_save, a_replica, without_replicas)}


@pytest.mark.parametrize("state", STATES)
def test_a_store_that_does_not_write_is_away_to_writers(
    table: Table, server: StoreProcess, stored: Stored, state: str
) -> None:
    """Nothing is half written, who reads is answered, and play goes on when it writes again."""
    before, sessions = stored.dump(table.id), stored.command("DBSIZE")
    with STATES[state](stored, server):
        for ask in WRITES.values():
            is_away(timed(ask, table))
        for ask in READS.values():
            assert ask(table).status_code == 200
        assert (stored.dump(table.id), stored.command("DBSIZE")) == (before, sessions)
    plays_on(table, 1)


# Keys that are not what they should be: nothing the service writes, so a fault to be looked at.


@pytest.mark.parametrize("part", ["state", "log", "keys"])
def test_a_key_of_another_type_is_the_stores_fault(table: Table, stored: Stored, part: str) -> None:
    """The store refuses the script as a whole, as it does everything it cannot do."""
    stored.command("SET", key(table.id, part), "something else")
    before = [stored.command("DUMP", key(table.id, each)) for each in PARTS]
    is_away(table.act("deal", Idempotency_Key="a"))
    assert [stored.command("DUMP", key(table.id, each)) for each in PARTS] == before


@pytest.mark.parametrize("blob", [b"", b"\xc1", b"\x80", b"null", b"\x93\x01\x02"])
def test_a_state_that_cannot_be_read_is_our_fault(table: Table, stored: Stored, blob: bytes) -> None:
    """Coming again would not help: 500, and nothing is changed."""
    stored.put_blob(table.id, blob)
    before = stored.dump(table.id)
    for ask in (*READS.values(), WRITES["a move"], WRITES["a deletion"]):
        assert outcome(ask(table)) == (500, "internal-error")
    assert stored.dump(table.id) == before


# Planted faults: each is found by the checks above.


def test_a_store_that_writes_in_two_steps_is_found_out(
    table: Table, server: StoreProcess, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the log were written apart from the state, a store that fills up between them would keep half a move."""

    def in_two_steps(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        stored.command("CONFIG", "SET", "maxmemory", "0")
        store._call(deadline, "RPUSH", key(session, "log"), *change.entries)
        stored.command("CONFIG", "SET", "maxmemory", "1mb")
        return commit(store, session, change, deadline)

    commit = Store.commit
    monkeypatch.setattr(Store, "commit", in_two_steps)
    with pytest.raises(AssertionError):
        test_a_store_that_does_not_write_is_away_to_writers(table, server, stored, "full")
    stored.command("CONFIG", "SET", "maxmemory", "0")


def test_a_service_that_answers_500_is_found_out(
    table: Table, server: StoreProcess, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If what the store says went through as it is, it would be a fault of ours."""

    def as_it_is(store: Store, _deadline: Deadline, *command: object, kept: bool = False) -> object:
        return store._client.ask(command, lambda: False, kept=kept)

    monkeypatch.setattr(Store, "_call", as_it_is)
    with pytest.raises(AssertionError):
        test_a_store_that_does_not_write_is_away_to_writers(table, server, stored, "without_replicas")
