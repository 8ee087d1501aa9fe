"""Turns: so many requests of sessions are worked on at once; who waits for news holds none, nor does who needs none."""

from collections.abc import Iterator
from threading import Event

import pytest
from flask import Flask

from service import create_app, turns
from service.records import Seen
from service.sessions import Sessions
from service.settings import Settings
from service.store import Store
from service.turns import Turns
from tests.asks import timed
from tests.contract import ContractClient
from tests.feeds import ended, later, poll, taken
from tests.routes import outcome
from tests.servers import eventually
from tests.tables import Table


@pytest.fixture(name="app")
def _app(store: Store) -> Iterator[Flask]:
    """Make an application that works on one request of a session at a time."""
    app = create_app(Settings(log_level="CRITICAL", limits=False, threads=1), store)
    app.test_client_class = ContractClient
    yield app
    ended(app)


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


def test_one_more_waits_and_is_then_told_to_come_again(
    app: Flask, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is worked on: and what asks nothing of a session is answered at once."""
    monkeypatch.setattr(turns, "LINE_SECONDS", 0.05)
    look, working, done = Sessions.look, Event(), Event()

    def slow(sessions: Sessions, session: str, token: str | None) -> Seen:
        working.set()
        done.wait(30)
        return look(sessions, session, token)

    monkeypatch.setattr(Sessions, "look", slow)
    first = later(lambda: app.test_client().get(table.path))
    working.wait(30)
    assert outcome(table.act("wager", {"amount": 5})) == (503, "busy")
    assert [app.test_client().get(path).status_code for path in ("/healthz", "/readyz", "/v1/games")] == [200] * 3
    done.set()
    assert first().status_code == 200
    assert table.act("wager", {"amount": 5}).status_code == 200


def test_a_refusal_gives_its_turn_back(table: Table) -> None:
    """Whatever a request comes to, the next has its turn."""
    for _ in range(3):
        assert table.act("deal").status_code == 409
        assert table.client.get("/v1/sessions/none").status_code == 404
        assert table.client.get(f"{table.path}/events?wait=x").status_code == 422


def wait_for_news(app: Flask, table: Table) -> None:
    """Fail unless a move is made while a poll waits for it."""
    waiting = later(lambda: poll(app.test_client(), table.path, wait=30))
    eventually(lambda: taken(app, 1024), "the poll waits")
    assert timed(lambda table: table.act("wager", {"amount": 5}), table).status_code == 200
    assert waiting().get_json()["version"] == 1


def test_who_waits_for_news_holds_nobody_up(app: Flask, table: Table) -> None:
    """A long poll gives its turn back before it waits."""
    wait_for_news(app, table)


def test_a_poll_that_keeps_its_turn_is_found_out(app: Flask, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could make the move that it waits for."""
    monkeypatch.setattr(turns, "LINE_SECONDS", 0.05)
    monkeypatch.setattr(Turns, "end", lambda *_: None)
    with pytest.raises(AssertionError):
        wait_for_news(app, table)
