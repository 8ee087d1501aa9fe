"""The check of histories: it finds each fault that is planted, in a history made up and in one that was played."""

from collections.abc import Iterator
from itertools import count
from math import inf
from time import monotonic
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.play import TIME
from service.store import Change, Deadline, Loaded, Store, Verdict
from tests.histories import Call, History, Log, Told, kept
from tests.planted import CONFLICT, RECORDED, commit_with
from tests.stored import Stored
from tests.tables import Table
from tests.test_races import at_once

WRITERS, MOVES = 8, 12

CALLS = (
    Call("move", 0, 1, 1, "a"),
    Call("read", 2, 3, 1),
    Call("move", 2, 5, 3, "b"),
    Call("move", 3, inf, None, "cut"),
    Call("move", 4, inf, None, "lost"),
    Call("move", 4, 5, 0, "refused"),
    Call("repeat", -inf, inf, 1, "a"),
    Call("read", 6, 7, 3),
    Call("frame", -inf, 8, 2),
)
LOG: Log = (("a",), (TIME,), ("b",), ("cut",))

FAULTS: dict[str, tuple[tuple[Call, ...], Log]] = {
    "a doubled move": ((), (*LOG, ("b",))),
    "a doubled move of which nobody's key knows": ((), (*LOG, ())),
    "a lost move": ((), (("a",), (TIME,), (TIME,), ("cut",))),
    "a move written over": ((Call("move", 2, 5, 3, "c"),), (*LOG[:2], ("b", "c"), LOG[3])),
    "a cut move that happened twice": ((), (*LOG, ("cut",))),
    "an answer of another version": ((Call("move", 2, 5, 4, "c"),), (*LOG, ("c",))),
    "a refused move that happened": ((), (*LOG, ("refused",))),
    "a move that nobody sent": ((), (*LOG, ("x",))),
    "a repeat answered anew": ((Call("repeat", -inf, inf, 3, "a"),), LOG),
    "a stale read": ((Call("read", 6, 7, 2),), LOG),
    "a read after a frame": ((Call("frame", -inf, 9, 4), Call("read", 10, 11, 3)), LOG),
    "a move before what was known": ((Call("move", 6, 7, 4, "c"), Call("frame", -inf, 5, 4)), (*LOG[:3], ("c",))),
}


def faults(more: tuple[Call, ...] = (), log: Log = LOG) -> list[str]:
    history = History()
    history.calls += [*CALLS, *more]
    return history.faults(log)


def test_a_history_as_it_should_be_has_no_fault() -> None:
    """Whether what was cut happened or not, and whenever a frame arrives."""
    assert faults() == faults(log=LOG[:3]) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    """Each by itself."""
    assert faults(*FAULTS[fault])


# Played by many at once.


@pytest.fixture(name="app")
def _app(app: Flask) -> Flask:
    """Answer without holding every answer to the contract."""
    app.test_client_class = FlaskClient
    return app


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker", balance=1_000_000, max_ante=300_000)


def told(answer: TestResponse) -> Told:
    return Told(answer.status_code, answer.get_json())


def wagers(own: Table, history: History, number: int) -> None:
    """Move, send the same again, and read; each move is the only one of its name."""

    def attempts(each: int) -> Iterator[Told]:
        while True:
            yield told(own.act("wager", {"amount": 1 + number * MOVES + each}, Idempotency_Key=f"{number}-{each}"))

    for each in range(MOVES):
        name = f"{number}-{each}"
        assert history.move(name, attempts(each)).status == 200
        history.repeat(name, next(attempts(each)))
        began = monotonic()
        history.read(began, told(own.client.get(own.path)))


def played(app: Flask, table: Table, stored: Stored) -> list[str]:
    """Return the faults of a session that many play at once."""
    history = History()
    at_once(app, table, lambda own, number: wagers(own, history, number), WRITERS)
    assert len(history.calls) >= 2 * WRITERS * MOVES
    return history.faults(kept(stored, table.id))


def test_what_many_play_at_once_is_in_order(app: Flask, table: Table, stored: Stored) -> None:
    """Each move once and in its place, and nobody sees less than what was told before."""
    assert played(app, table, stored) == []


def test_a_store_that_takes_every_version_is_found_out(
    app: Flask, table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of the version a move is lost in another's."""
    commit_with(monkeypatch, {CONFLICT: b""})
    with pytest.raises(AssertionError):
        assert played(app, table, stored) == []


def test_a_move_made_again_for_its_key_is_found_out(
    app: Flask, table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no record were looked for, what is sent again would be made again."""
    commit_with(monkeypatch, {RECORDED: b""})
    load = Store.load
    monkeypatch.setattr(Store, "load", lambda *args: load(*args)._replace(record=None))
    assert any("nobody" in fault for fault in played(app, table, stored))


def test_a_store_that_shows_what_was_is_found_out(
    app: Flask, table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a replica would that is behind: every third read is of the state before the last commit."""
    load, commit, before, reads = Store.load, Store.commit, dict[str, Loaded](), count()

    def late(store: Store, session: str, field: str, *more: Any) -> Loaded:  # noqa: ANN401 - as the store has it
        found = load(store, session, field, *more)
        return before.get(session, found) if not field and next(reads) % 3 == 0 else found

    def noted(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        earlier = load(store, session, "", deadline)
        verdict = commit(store, session, change, deadline)
        before[session] = earlier
        return verdict

    monkeypatch.setattr(Store, "load", late)
    monkeypatch.setattr(Store, "commit", noted)
    assert any("a read told" in fault for fault in played(app, table, stored))
