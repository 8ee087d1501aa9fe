"""Many clients at one session: every accepted move is in the log once, in the place that its answer names."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.store import Change, Deadline, Store, Verdict
from tests.planted import CONFLICT, RECORDED, commit_with
from tests.routes import outcome
from tests.stored import Stored
from tests.tables import Table

WRITERS, MOVES = 16, 50
BUSY = (503, "busy")


@pytest.fixture(name="app")
def _app(app: Flask) -> Flask:
    """Answer without holding every one of some thousand answers to the contract."""
    app.test_client_class = FlaskClient
    return app


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker", balance=1_000_000, max_ante=300_000)


def at_once(app: Flask, table: Table, work: Callable[[Table, int], Any], writers: int = WRITERS) -> list[Any]:
    """Let so many clients begin at the same moment, each with its number, and return what they come back with."""
    start = Barrier(writers)

    def one(number: int) -> Any:  # noqa: ANN401 - whatever the work returns
        own = Table(app.test_client())
        own.takes_over(table)
        start.wait()
        return work(own, number)

    with ThreadPoolExecutor(writers) as pool:
        return list(pool.map(one, range(writers)))


def until_done(table: Table, verb: str, body: dict[str, Any], name: str) -> TestResponse:
    """Send a move, as often as the service is too busy for it."""
    for _ in count():
        answer = table.act(verb, body, Idempotency_Key=name)
        if outcome(answer) != BUSY:
            return answer
    raise AssertionError


def wagers(table: Table, writer: int) -> Iterator[tuple[int, int]]:
    """Send moves that can all be told apart; yield each one's amount and the version that its answer names."""
    for number in range(MOVES):
        amount = 1 + writer * MOVES + number
        answer = until_done(table, "wager", {"amount": amount}, f"{writer}-{number}")
        assert answer.status_code == 200, answer.text
        told = answer.get_json()
        assert told["table"]["ante"] == amount
        assert answer.headers["ETag"] == f'"{told["version"]}.s0.json.en.r2"'
        yield amount, told["version"]


def test_writers_do_not_lose_or_double_a_move(app: Flask, table: Table, stored: Stored) -> None:
    """16 writers make 50 moves each: all are in the log, once, and each answer's version is its move's place."""
    placed = dict(
        pair for pairs in at_once(app, table, lambda own, writer: list(wagers(own, writer))) for pair in pairs
    )
    logged = [entry.move.action.body["amount"] for entry in stored.entries(table.id)]
    assert sorted(logged) == list(range(1, WRITERS * MOVES + 1))
    assert {amount: place for place, amount in enumerate(logged, start=1)} == placed
    times = [entry.move.at for entry in stored.entries(table.id)]
    assert times == sorted(times)
    assert (stored.record(table.id).version, table.view()["table"]["ante"]) == (len(logged), logged[-1])


def test_one_request_sent_by_all_happens_once(app: Flask, table: Table, stored: Stored) -> None:
    """One answer is the first; the others are the same bytes, and say that they are repeated."""
    for number in range(20):
        body = {"amount": number + 1}
        answers = at_once(app, table, lambda own, _: until_done(own, "wager", body, f"k{number}"))  # noqa: B023
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.data for answer in answers}) == 1
        assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert [entry.move.action.body["amount"] for entry in stored.entries(table.id)] == list(range(1, 21))


def test_of_two_requests_with_one_key_one_is_made(app: Flask, table: Table, stored: Stored) -> None:
    """The other is told that the key is used, whichever came first."""
    for number in range(20):
        bodies = [{"amount": 1 + number * WRITERS + writer} for writer in range(WRITERS)]
        answers = at_once(app, table, lambda own, writer: until_done(own, "wager", bodies[writer], f"k{number}"))  # noqa: B023
        made = [answer.get_json()["table"]["ante"] for answer in answers if answer.status_code == 200]
        assert len(made) == 1
        assert [outcome(answer) for answer in answers].count((422, "key-reused")) == WRITERS - 1
        assert stored.entries(table.id)[-1].move.action.body == {"amount": made[0]}
    assert len(stored.entries(table.id)) == 20


def test_of_many_moves_for_one_version_one_is_made(app: Flask, table: Table, stored: Stored) -> None:
    """The others are told of another version, and nothing of theirs is written."""
    for version in range(20):
        tag = f'"{version}.s0.json.en.r2"'
        answers = at_once(app, table, lambda own, writer: own.act("wager", {"amount": writer + 1}, If_Match=tag))  # noqa: B023
        found = [outcome(answer) for answer in answers]
        assert found.count((200, None)) == 1
        assert found.count((412, "version-mismatch")) + found.count(BUSY) == WRITERS - 1
    assert len(stored.entries(table.id)) == 20


def test_a_hand_is_dealt_once_whoever_asks(app: Flask, table: Table, stored: Stored) -> None:
    """Of 16 deals one is made, and the rules refuse the others."""
    for dealt in range(1, 11):
        table.play("wager", {"amount": 5})
        answers = at_once(app, table, lambda own, number: until_done(own, "deal", {}, f"{dealt}-{number}"))  # noqa: B023
        found = [outcome(answer) for answer in answers]
        assert (found.count((200, None)), found.count((409, "not-now"))) == (1, WRITERS - 1)
        assert stored.record(table.id).position.state.round == dealt
        table.play("choose", {"action": "surrender"})


def test_a_session_ends_once(app: Flask, table: Table, stored: Stored) -> None:
    """Moves before the deletion are in the log, and none after it."""

    def move_or_end(own: Table, number: int) -> TestResponse:
        while number == 0:
            answer = own.client.delete(own.path, headers=own.bearer(own.host))
            if outcome(answer) != BUSY:
                return answer
        return until_done(own, "wager", {"amount": number}, f"k{number}")

    answers = at_once(app, table, move_or_end)
    assert {answer.status_code for answer in answers} <= {200, 204, 410}
    entries = stored.entries(table.id)
    assert [entry.by for entry in entries].index("host") == len(entries) - 1
    assert len(entries) == 1 + sum(answer.status_code == 200 for answer in answers)


def test_who_loses_every_race_is_told_to_come_again(
    table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 `busy` with Retry-After, and nothing is written."""
    tries = count()

    def overtaken(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        next(tries)
        return commit(store, session, change._replace(base=change.base + 1), deadline)

    commit = Store.commit
    monkeypatch.setattr(Store, "commit", overtaken)
    before = stored.dump(table.id)
    answer = table.act("wager", {"amount": 5}, Idempotency_Key="a")
    assert (outcome(answer), answer.headers["Retry-After"]) == (BUSY, "1")
    assert next(tries) == 8
    assert stored.dump(table.id) == before
    assert outcome(table.client.delete(table.path, headers=table.bearer(table.host))) == BUSY


# Planted faults: each is found by the checks above.


def test_a_store_that_takes_every_version_is_found_out(
    app: Flask, table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of the version a later writer overwrites an earlier one."""
    commit_with(monkeypatch, {CONFLICT: b""})
    with pytest.raises(AssertionError):
        test_writers_do_not_lose_or_double_a_move(app, table, stored)


def test_a_store_that_forgets_its_records_is_found_out(
    app: Flask, table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the look for a record in the same script, the request that comes second is made as well."""
    commit_with(monkeypatch, {RECORDED: b""})
    load = Store.load
    monkeypatch.setattr(Store, "load", lambda *args: load(*args)._replace(record=None))
    with pytest.raises(AssertionError):
        test_one_request_sent_by_all_happens_once(app, table, stored)
