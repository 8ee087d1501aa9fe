"""The lobby: the public sessions, a page at a time; an index that is only a hint, and costs what a page does."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service import create_app
from service.connection import StoreAway
from service.records import DAY_MS
from service.settings import Settings
from service.store import LOBBY, Store
from tests.conftest import Clock, ClockedStore
from tests.contract import ContractClient
from tests.parties import HOST, Party
from tests.routes import outcome
from tests.servers import StoreProcess
from tests.stored import Stored

JACKPOT = "jackpot"
OPEN, BOT = {"open": True}, {"bot": "easy"}
FEW, MANY, PAGE = 10, 400, 10


@pytest.fixture(name="url")
def _url(server: StoreProcess) -> str:
    """Return the address of a part of the store in which there is no other session."""
    return f"{server.url}?db=6"


@pytest.fixture(name="stored")
def _stored(url: str) -> Iterator[Stored]:
    stored = Stored(url)
    stored.command("FLUSHDB")
    yield stored
    stored.close()


@pytest.fixture(name="app")
def _app(url: str, clock: Clock, stored: Stored) -> Iterator[Flask]:
    store = ClockedStore(url, clock)
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = ContractClient
    yield app
    store.close()


def public(app: Flask, clock: Clock, seats: list[Any] | None = None, **asked: Any) -> Party:  # noqa: ANN401
    """Open a session that everybody may find, a millisecond later than the one before."""
    clock.advance(1)
    return Party(app.test_client()).seat(JACKPOT, seats or ["Anna", OPEN], **{"visibility": "public"} | asked)


def listed(client: FlaskClient, **query: str | int) -> tuple[list[str], str | None]:
    """Return the sessions of a page, and where the next one begins."""
    answer = client.get("/v1/sessions", query_string=query)
    assert answer.status_code == 200, answer.text
    page = answer.get_json()
    return [each["id"] for each in page["sessions"]], page["next"]


def in_index(stored: Stored) -> int:
    return int(stored.command("ZCARD", LOBBY))


def test_a_public_session_is_listed_and_an_unlisted_one_is_not(app: Flask, client: FlaskClient, clock: Clock) -> None:
    """The newest comes first; a session that asks for nothing is unlisted."""
    first, second = public(app, clock), public(app, clock)
    Party(app.test_client()).seat(JACKPOT)
    public(app, clock, visibility="unlisted")
    assert listed(client) == ([second.id, first.id], None)


def test_an_entry_says_what_a_newcomer_needs(app: Flask, client: FlaskClient, clock: Clock) -> None:
    """Game, options, who sits there and which seats are open, as a spectator sees them."""
    party = public(app, clock, ["Anna", BOT, OPEN, OPEN], options={"card_value": 3})
    (entry,) = client.get("/v1/sessions").get_json()["sessions"]
    view = party.seen(None)
    assert {name: entry[name] for name in ("id", "game", "status", "round", "seats", "options")} == {
        name: view[name] for name in ("id", "game", "status", "round", "seats", "options")
    }
    assert (entry["open_seats"], entry["href"], entry["opened_at"]) == ([2, 3], party.path, clock.now)
    assert outcome(client.post(f"{entry['href']}/join", json={"seat": 3})) == (200, None)


def test_no_secret_is_in_the_lobby(app: Flask, client: FlaskClient, clock: Clock, stored: Stored) -> None:
    """Neither a token, nor its hash, nor a card, nor what an action would need."""
    party = public(app, clock, ["Anna", "Bo"])
    party.does(0, "deal")
    record = stored.record(party.id)
    told = client.get("/v1/sessions").data
    hidden = [*party.tokens.values(), party.host, *(each.hex() for each in (*record.tokens, record.host))]
    hidden += [record.position.secret.hex(), *(f'"{card}"' for card in party.seen(0)["table"]["hands"][0]["cards"])]
    assert [each for each in hidden if each.encode() in told] == []
    (entry,) = client.get("/v1/sessions").get_json()["sessions"]
    assert not entry.keys() & {"table", "actions", "you", "commitment"}


def test_pages_follow_one_another(app: Flask, client: FlaskClient, clock: Clock) -> None:
    """Each session is on one page, in order, also when others are opened between two pages."""
    parties = [public(app, clock) for _ in range(7)]
    found, cursor = listed(client, limit=3)
    public(app, clock)
    while cursor:
        page, cursor = listed(client, limit=3, cursor=cursor)
        assert len(page) <= 3
        found += page
    assert found == [party.id for party in reversed(parties)]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=51", "limit=x", "cursor=", "cursor=x", "cursor=" + "9" * 35 + "!", "page=2", "limit=1&limit=2"],
)
def test_a_query_that_is_none_is_refused(client: FlaskClient, query: str) -> None:
    """Nothing is guessed at."""
    assert outcome(client.get(f"/v1/sessions?{query}")) == (422, "invalid")


def finish(party: Party, _clock: Clock, _stored: Stored) -> None:
    party.does(0, "leave")


def delete(party: Party, _clock: Clock, _stored: Stored) -> None:
    party.client.delete(party.path, headers=party.headers(HOST))


def expire(party: Party, clock: Clock, _stored: Stored) -> None:
    clock.advance(DAY_MS)


def drop(party: Party, _clock: Clock, stored: Stored) -> None:
    stored.drop(party.id)


@pytest.mark.parametrize("end", [finish, delete, expire, drop])
def test_what_is_over_is_dropped_from_the_index(
    app: Flask,
    client: FlaskClient,
    clock: Clock,
    stored: Stored,
    end: Any,  # noqa: ANN401 - a way to end
) -> None:
    """Whatever way it came to its end, it is not shown, and the next page need not look at it again."""
    party = public(app, clock)
    assert in_index(stored) == 1
    end(party, clock, stored)
    other = public(app, clock)
    assert listed(client) == ([other.id], None)
    assert in_index(stored) == 1


def test_a_page_of_what_is_over_leads_to_the_next(
    app: Flask, client: FlaskClient, clock: Clock, stored: Stored
) -> None:
    """An empty page is not the last one."""
    last = public(app, clock)
    for _ in range(3):
        delete(public(app, clock), clock, stored)
    found, cursor = listed(client, limit=3)
    assert (found, cursor is not None) == ([], True)
    assert listed(client, limit=3, cursor=cursor or "") == ([last.id], None)


def test_a_lost_entry_is_put_back_by_a_read(app: Flask, client: FlaskClient, clock: Clock, stored: Stored) -> None:
    """The index may be lost as a whole; whoever looks at a session restores its place, and unlisted ones get none."""
    parties = [public(app, clock) for _ in range(3)]
    hidden = public(app, clock, visibility="unlisted")
    before = listed(client)
    stored.command("DEL", LOBBY)
    assert listed(client) == ([], None)
    for party in (*parties, hidden):
        party.read(None)
    assert listed(client) == before


def test_a_session_opens_without_the_index(
    app: Flask, client: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the index cannot be written the session is there all the same."""

    def away(*_: object) -> None:
        raise StoreAway

    with monkeypatch.context() as patched:
        patched.setattr(Store, "enlist", away)
        party = public(app, clock)
        assert party.seen(0)["status"] == "waiting"
    assert listed(client) == ([], None)
    party.read(None)
    assert listed(client) == ([party.id], None)


# What it costs.


def commands(monkeypatch: pytest.MonkeyPatch, client: FlaskClient) -> tuple[int, int]:
    """Return how many sessions the first page shows, and how many commands it takes."""
    sent: list[object] = []
    call = Store._call

    def counting(store: Store, deadline: Any, *command: Any, kept: bool = False) -> Any:  # noqa: ANN401 - handed on
        sent.append(command)
        return call(store, deadline, *command, kept=kept)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "_call", counting)
        found, _ = listed(client, limit=PAGE)
    return len(found), len(sent)


def check_cost(app: Flask, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail unless a page takes as many commands among many sessions as among few."""
    app.test_client_class = FlaskClient
    client = app.test_client()
    for _ in range(FEW):
        public(app, clock)
    among_few = commands(monkeypatch, client)
    for _ in range(MANY - FEW):
        public(app, clock)
    assert commands(monkeypatch, client) == among_few == (PAGE, PAGE + 1)


def test_a_page_costs_the_same_among_many(app: Flask, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command for the index and one for each session on the page, whether there are 10 or 400."""
    check_cost(app, clock, monkeypatch)


def test_a_lobby_that_looks_at_every_session_is_found_out(
    app: Flask, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that asks for all and shows a page of them."""
    lobby = Store.lobby
    monkeypatch.setattr(Store, "lobby", lambda store, after, _most, deadline: lobby(store, after, MANY, deadline))
    with pytest.raises(AssertionError):
        check_cost(app, clock, monkeypatch)


def test_a_page_settles_nothing(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an abandoned table owes does not keep the others from being shown."""
    opened = client.post("/v1/sessions", json={"game": "speed", "visibility": "public"}).get_json()

    def owes_too_much(*_asked: object) -> None:
        raise AssertionError("the lobby settles a table")

    monkeypatch.setattr("engine.play.settle", owes_too_much)
    listed = client.get("/v1/sessions").get_json()["sessions"]
    assert listed[0]["id"] == opened["session"]["id"]
