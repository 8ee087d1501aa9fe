"""The line to the store is cut at every byte of a move, and the client sends the move again: it happened once."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from werkzeug.test import TestResponse

from service import create_app
from service import store as scripts
from service.connection import Command, asked
from service.settings import Settings
from tests.conftest import Clock, ClockedStore
from tests.cuts import Cut, Line
from tests.planted import RECORD, commit_with
from tests.routes import outcome
from tests.servers import StoreProcess
from tests.stored import Stored, key
from tests.tables import Table

AWAY = (503, "store-unavailable")


@pytest.fixture(name="line")
def _line(server: StoreProcess) -> Iterator[Line]:
    with Line(server.socket) as line:
        yield line


@pytest.fixture(name="store")
def _store(line: Line, clock: Clock) -> Iterator[ClockedStore]:
    """Reach the store over the line."""
    store = ClockedStore(line.url, clock)
    yield store
    store.close()


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Flask:
    """Answer without holding every one of some thousand answers to the contract."""
    return create_app(Settings(log_level="CRITICAL", limits=False), store)


@pytest.fixture(name="table")
def _table(client: FlaskClient) -> Table:
    return Table(client).open("spice-island-poker", balance=1_000_000, max_ante=300_000)


def wager(table: Table, number: int, **headers: str) -> TestResponse:
    """Send a move that can be told from all others, and is as long as they are."""
    return table.act("wager", {"amount": 10_000 + number}, **headers)


def length(table: Table, stored: Stored) -> int:
    """Return how many lines the log has; the version agrees."""
    lines = int(stored.command("LLEN", key(table.id, "log")))
    assert stored.command("HGET", key(table.id, "state"), "version") == str(lines).encode()
    return lines


def cut_everywhere(table: Table, stored: Stored, line: Line, *, replies: bool) -> int:
    """Cut a move's line after every byte and send the move again; return how many bytes there were."""
    for number in range(10_000):
        before = length(table, stored)
        line.cut = Cut(scripts.COMMIT, reply=number) if replies else Cut(scripts.COMMIT, request=number)
        lost = wager(table, number, Idempotency_Key=f"k{number}")
        if number < line.passed:
            assert (outcome(lost), lost.headers["Retry-After"]) == (AWAY, "1"), number
        again = wager(table, number, Idempotency_Key=f"k{number}")
        assert outcome(again) == (200, None), number
        assert (again.get_json()["version"], length(table, stored)) == (before + 1, before + 1), number
        if number >= line.passed:
            break
    logged = [entry.move.action.body["amount"] for entry in stored.entries(table.id)]
    assert logged == [10_000 + each for each in range(number + 1)]
    return line.passed


def test_a_move_whose_request_is_cut_happens_once(table: Table, stored: Stored, line: Line) -> None:
    """After whichever byte of it, the client is told to come again, and the move he sends again is made."""
    assert cut_everywhere(table, stored, line, replies=False) > 1000


def test_a_move_whose_reply_is_cut_happens_once(table: Table, stored: Stored, line: Line) -> None:
    """After whichever byte of it: the move was made, and is answered when it is sent again."""
    assert cut_everywhere(table, stored, line, replies=True) == len(b"$9\r\ncommitted\r\n")
    assert "Idempotency-Replayed" in wager(table, 0, Idempotency_Key="k0").headers


def cut_without_a_key(table: Table, stored: Stored, line: Line) -> None:
    """Lose the reply to a move that has no key; it may not happen twice."""
    for number in range(len(b"$9\r\ncommitted\r\n")):
        before = length(table, stored)
        line.cut = Cut(scripts.COMMIT, reply=number)
        assert outcome(wager(table, number)) == AWAY
        assert length(table, stored) == before + 1


def test_a_move_without_a_key_does_not_happen_twice(table: Table, stored: Stored, line: Line) -> None:
    """The service does not send it again of itself, since it cannot know."""
    cut_without_a_key(table, stored, line)


def test_what_was_not_loaded_was_not_done(table: Table, stored: Stored, line: Line) -> None:
    """A line that is cut before the move is worked out leaves nothing behind."""
    before = stored.dump(table.id)
    for cut in (
        *(Cut(scripts.LOAD, request=number) for number in range(0, 120, 7)),
        *(Cut(scripts.LOAD, reply=n) for n in range(0, 900, 61)),
    ):
        line.cut = cut
        assert outcome(wager(table, 1, Idempotency_Key="a")) == AWAY
        assert stored.dump(table.id) == before


def test_an_opening_that_is_lost_is_made_anew(table: Table, line: Line) -> None:
    """The client is told to come again, and gets a session of its own."""
    for number in range(4):
        line.cut = Cut(scripts.OPEN, reply=number)
        assert outcome(table.client.post("/v1/sessions", json={"game": "skulls-and-swords"})) == AWAY
    assert Table(table.client).open("skulls-and-swords").view()["version"] == 0


# Planted faults: each is found by the checks above.


def asked_again(client: Redis, command: Command, **given: bool) -> object:
    """Send a command, and once more where its reply is lost."""
    return Retry(NoBackoff(), 1).call_with_retry(lambda: asked(client, command, **given), lambda _error: None)


def test_a_client_that_sends_again_of_itself_is_found_out(
    table: Table, stored: Stored, line: Line, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One retry, as client libraries have it by default, and a move is made twice."""
    monkeypatch.setattr("service.connection.asked", asked_again)
    store = ClockedStore(line.url, clock)
    table.client = create_app(Settings(log_level="CRITICAL", limits=False), store).test_client()
    with pytest.raises(AssertionError):
        cut_without_a_key(table, stored, line)
    store.close()
    assert length(table, stored) == 2


def test_a_commit_without_a_record_is_found_out(
    table: Table, stored: Stored, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move whose key is not written down with it is made again."""
    commit_with(monkeypatch, {RECORD: b""})
    with pytest.raises(AssertionError):
        cut_everywhere(table, stored, line, replies=True)
