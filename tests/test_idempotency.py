"""A move with a key happens once, and is answered the same whenever it is sent again."""

import hashlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from flask import request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.games import GAMES
from service import reading, sessions
from service.records import DAY_MS, Record, Seen
from tests.conftest import Clock
from tests.planted import RECORD, commit_with
from tests.rounds import dice
from tests.routes import outcome
from tests.stored import Stored
from tests.tables import Table

POKER = "spice-island-poker"
OF_NOW = {"X-Request-Id", "Croupier-Time", "Idempotency-Replayed"}
"""Headers that tell of the moment, and not of the move."""


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open(POKER)


def same_again(first: TestResponse, again: TestResponse) -> None:
    """Fail unless this is the first answer made again."""
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (200, "true"), again.text
    assert "Idempotency-Replayed" not in first.headers
    assert again.data == first.data
    plain = [[pair for pair in answer.headers if pair[0] not in OF_NOW] for answer in (first, again)]
    assert plain[0] == plain[1]


def test_a_move_that_is_sent_again_is_answered_again(table: Table, stored: Stored, clock: Clock) -> None:
    """Byte for byte, at once and later, and nothing is written."""
    first = table.act("wager", {"amount": 5}, Idempotency_Key="a")
    before = stored.dump(table.id)
    for _ in range(3):
        clock.advance(1000)
        again = table.act("wager", {"amount": 5}, Idempotency_Key="a")
        same_again(first, again)
        assert again.headers["Croupier-Time"] == str(clock.now)
    assert stored.dump(table.id) == before


Asked = tuple[Table, str, dict[str, Any]]
"""A seat's table, and what is sent there."""


def moves(table: Table, clock: Clock, random: Random) -> Iterator[Asked]:
    """Yield moves of every seat, each to be made before the next is asked for; in the end all leave."""
    for _ in range(45):
        clock.advance(random.randrange(5000))
        if able := table.able():
            own, actions = random.choice(able)
            action = random.choice(actions)
            yield own, action["verb"], action["example"]
    for own in map(table.at, table.tokens):
        while (actions := own.view()["actions"]) and actions[-1]["verb"] != "leave":
            clock.advance(1000)
            for able_one, (first, *_) in table.able()[:1]:
                yield able_one, first["verb"], first["example"]
        if actions:
            yield own, "leave", {}


@pytest.mark.parametrize("game", GAMES)
def test_every_move_of_a_session_is_answered_again(client: FlaskClient, clock: Clock, game: str) -> None:
    """Every seat's, whatever came after it: later moves and rounds, the others' leaves and a day less a millisecond."""
    random, table = dice(7), Table(client).open(game)
    sent: list[tuple[Asked, str, TestResponse]] = []
    for own, verb, body in moves(table, clock, random):
        name = f"{verb}-{len(sent)}"
        sent.append(((own, verb, body), name, own.act(verb, body, Idempotency_Key=name)))
    clock.advance(DAY_MS - 1)
    random.shuffle(sent)
    assert {own.token for (own, _, _), _, _ in sent} == {*table.tokens.values()}
    for (own, verb, body), name, answer in sent:
        same_again(answer, own.act(verb, body, Idempotency_Key=name))


def test_a_key_is_of_its_seat(client: FlaskClient, clock: Clock) -> None:
    """Two seats may use the same key for the same move: each is made, and each answered again as its own."""
    table = Table(client).open("speed")
    first, other = (table.at(seat).act("deal", Idempotency_Key="a") for seat in (0, 1))
    assert [answer.get_json()["version"] for answer in (first, other)] == [1, 2]
    assert [answer.get_json()["you"]["seat"] for answer in (first, other)] == [0, 1]
    clock.advance(10_000)
    same_again(first, table.at(0).act("deal", Idempotency_Key="a"))
    same_again(other, table.at(1).act("deal", Idempotency_Key="a"))


def test_a_move_that_ended_the_session_is_answered_again(client: FlaskClient) -> None:
    """The player has not the chips for another ante, and the answer to his last bet stands."""
    table = Table(client).open(POKER, balance=3, max_ante=1)
    answer, verb = None, ""
    for number in range(2000):
        first = table.view()["actions"]
        if not first:
            break
        verb = first[0]["verb"]
        body = {"action": "surrender"} if verb == "choose" else first[0]["example"]
        answer = table.act(verb, body, Idempotency_Key=f"k{number}")
    assert answer is not None
    assert answer.get_json()["reason"] == "out-of-chips"
    same_again(answer, table.act("choose", {"action": "surrender"}, Idempotency_Key=f"k{number - 1}"))


def test_a_board_is_drawn_again(table: Table) -> None:
    """How the answer is to look is no part of the request."""
    text = {"Accept": "text/plain", "Idempotency_Key": "a"}
    first = table.act("wager", {"amount": 5}, **text)
    table.play("deal")
    same_again(first, table.act("wager", {"amount": 5}, **text))
    view = table.act("wager", {"amount": 5}, Idempotency_Key="a")
    assert (view.get_json()["version"], view.headers["Idempotency-Replayed"]) == (1, "true")


def test_seed_and_leave_are_moves_too(table: Table) -> None:
    """They happen once for their keys."""
    seed = table.act("seed", {"client_seed": "x"}, Idempotency_Key="a")
    leave = table.act("leave", Idempotency_Key="b")
    same_again(seed, table.act("seed", {"client_seed": "x"}, Idempotency_Key="a"))
    same_again(leave, table.act("leave", Idempotency_Key="b"))
    assert table.watched()["version"] == 2


# Another request.

OTHERS: dict[str, Callable[[Table], TestResponse]] = {
    "another amount": lambda table: table.act("wager", {"amount": 6}, Idempotency_Key="a"),
    "another field": lambda table: table.act("wager", {"repeat": True}, Idempotency_Key="a"),
    "a wrong field": lambda table: table.act("wager", {"amount": "5"}, Idempotency_Key="a"),
    "no field": lambda table: table.act("wager", Idempotency_Key="a"),
    "other bytes for the same": lambda table: sent_raw(table, b'{"amount":5}'),
    "no body": lambda table: sent_raw(table, b""),
    "a query": lambda table: sent_raw(table, b'{"amount": 5}', "?x=1"),
    "a query of nothing": lambda table: sent_raw(table, b'{"amount": 5}', "?&"),
}


def sent_raw(table: Table, raw: bytes, query: str = "") -> TestResponse:
    """Send a wager with the key `a`."""
    headers = table.bearer() | {"Idempotency-Key": "a", "Content-Type": "application/json"}
    return table.client.post(f"{table.path}/wager{query}", data=raw, headers=headers)


@pytest.mark.parametrize("other", OTHERS)
def test_a_key_stands_for_one_request(table: Table, stored: Stored, other: str) -> None:
    """Another body or query with it is refused, and the first is still answered."""
    first = sent_raw(table, b'{"amount": 5}')
    before = stored.dump(table.id)
    assert outcome(OTHERS[other](table)) == (422, "key-reused")
    assert stored.dump(table.id) == before
    same_again(first, sent_raw(table, b'{"amount": 5}'))


def test_a_key_is_of_its_verb_and_its_session(client: FlaskClient, table: Table) -> None:
    """The same key with another verb, or at another table, is another key."""
    other = Table(client).open(POKER)
    for each in (table, other):
        each.play("wager", {"amount": 5}, Idempotency_Key="a")
        assert each.play("deal", Idempotency_Key="a")["version"] == 2


def test_a_key_is_of_its_token(table: Table) -> None:
    """No other token's request is looked up by it."""

    def field(token: str | None) -> str:
        return sessions._field(sessions.Request("deal", token, lambda _: {}, "a", b"", lambda _: True))

    assert field(table.token) != field(table.host)
    assert table.token not in field(table.token)
    assert field(None) == ""
    table.play("wager", {"amount": 5}, Idempotency_Key="a")
    headers = {"Idempotency-Key": "a"}
    for authorization, status in (({}, 401), (table.bearer("x"), 401), (table.bearer(table.host), 403)):
        answer = table.client.post(f"{table.path}/wager", json={"amount": 5}, headers=headers | authorization)
        assert answer.status_code == status


# What leaves no record.

REFUSED: dict[str, tuple[int, Callable[[Table], TestResponse]]] = {
    "too early": (409, lambda table: table.act("deal", Idempotency_Key="a")),
    "out of bounds": (409, lambda table: table.act("wager", {"amount": 1000}, Idempotency_Key="a")),
    "not in this game": (409, lambda table: table.act("swap", Idempotency_Key="a")),
    "a wrong field": (422, lambda table: table.act("wager", {"amount": "5"}, Idempotency_Key="a")),
    "another version": (412, lambda table: table.act("wager", {"amount": 5}, Idempotency_Key="a", If_Match='"9.x"')),
    "a host": (403, lambda table: table.act("wager", {"amount": 5}, Idempotency_Key="a", **table.bearer(table.host))),
    "a wrong token": (401, lambda table: table.act("wager", {"amount": 5}, Idempotency_Key="a", **table.bearer("x"))),
    "no JSON": (400, lambda table: sent_raw(table, b"{")),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_a_refusal_leaves_no_record(table: Table, stored: Stored, refused: str) -> None:
    """It is worked out anew every time, and its key is free for another request."""
    before = stored.dump(table.id)
    status, send = REFUSED[refused]
    assert [send(table).status_code for _ in range(2)] == [status] * 2
    assert stored.dump(table.id) == before
    moved = table.act("wager", {"amount": 7}, Idempotency_Key="a")
    assert (moved.status_code, moved.headers.get("Idempotency-Replayed")) == (200, None)


def test_what_was_refused_once_may_be_made_later(table: Table) -> None:
    """The same request with the same key is a move once the rules allow it."""
    assert outcome(table.act("deal", Idempotency_Key="a")) == (409, "not-now")
    table.play("wager", {"amount": 5})
    first = table.act("deal", Idempotency_Key="a")
    assert first.get_json()["version"] == 2
    same_again(first, table.act("deal", Idempotency_Key="a"))


# Order, patterns, and where a key is of no account.


def test_a_record_is_looked_at_before_the_version(table: Table) -> None:
    """A move that was made for a version is answered again when that version is long past."""
    tagged = {"Idempotency_Key": "a", "If_Match": '"0.s0.json.en.r2"'}
    first = table.act("wager", {"amount": 5}, **tagged)
    table.play("deal")
    same_again(first, table.act("wager", {"amount": 5}, **tagged))
    assert outcome(table.act("wager", {"amount": 5}, **tagged | {"Idempotency_Key": "b"})) == (412, "version-mismatch")


def test_a_key_lives_as_long_as_its_session(table: Table, clock: Clock) -> None:
    """To the last millisecond, and then the session is gone."""
    first = table.act("wager", {"amount": 5}, Idempotency_Key="a")
    clock.advance(DAY_MS - 1)
    same_again(first, table.act("wager", {"amount": 5}, Idempotency_Key="a"))
    clock.advance(1)
    assert outcome(table.act("wager", {"amount": 5}, Idempotency_Key="a")) == (410, "gone")


@pytest.mark.parametrize("name", ["a", "0", "_", "-", "A-z_9" * 12, "x" * 64])
def test_a_plain_key_is_taken(table: Table, name: str) -> None:
    """1 to 64 letters, digits, `_` and `-`."""
    first = table.act("wager", {"amount": 5}, Idempotency_Key=name)
    same_again(first, table.act("wager", {"amount": 5}, Idempotency_Key=name))


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "x" * 65, "a:b", "a,b", '"a"', "\xe9", "a\x00", "\u0661".encode().decode("latin-1")]
)
def test_another_key_is_refused(table: Table, stored: Stored, name: str) -> None:
    """The answer names the header, and nothing is done."""
    before = stored.dump(table.id)
    asked = {"environ_overrides": {"HTTP_IDEMPOTENCY_KEY": name}, "headers": table.bearer()}
    answer = table.client.post(f"{table.path}/wager", json={"amount": 5}, **asked)
    assert outcome(answer) == (422, "invalid")
    assert [fault["header"] for fault in answer.get_json()["errors"]] == ["Idempotency-Key"]
    assert stored.dump(table.id) == before


def test_where_nothing_is_repeated_a_key_is_of_no_account(table: Table) -> None:
    """Every opening opens a session, cards are valued, and reads and the deletion take no notice."""
    key = {"Idempotency-Key": "a b"}
    made = [table.client.post("/v1/sessions", json={"game": POKER}, headers=key).get_json() for _ in range(2)]
    assert made[0]["session"]["id"] != made[1]["session"]["id"]
    cards = {"cards": ["Ah", "Kh", "Qh", "Jh", "Th"]}
    assert table.client.post(f"/v1/games/{POKER}/evaluate", json=cards, headers=key).status_code == 200
    assert table.client.get(table.path, headers=key).status_code == 200
    assert table.client.delete(table.path, headers=key | table.bearer(table.host)).status_code == 204


def test_moves_without_a_key_happen_as_often_as_they_are_sent(table: Table) -> None:
    """Nothing is taken for a repetition that does not say so."""
    assert [table.play("wager", {"amount": 5})["version"] for _ in range(3)] == [1, 2, 3]


# Planted faults: each is found by the checks above.


def test_a_move_that_happens_twice_is_found_out(
    table: Table, stored: Stored, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that writes no record makes it again."""
    commit_with(monkeypatch, {RECORD: b""})
    with pytest.raises(AssertionError):
        test_a_move_that_is_sent_again_is_answered_again(table, stored, clock)


def test_an_answer_of_now_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repetition that is answered with the session as it is now is not the first answer."""

    def as_it_is(_sessions: sessions.Sessions, seen: Seen, *_log: object) -> Record:
        return seen.record

    monkeypatch.setattr(sessions.Sessions, "_replayed", as_it_is)
    with pytest.raises(AssertionError):
        test_a_board_is_drawn_again(table)


def test_a_key_that_forgets_the_query_is_found_out(
    table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the body alone counts, another request is answered as the first."""
    monkeypatch.setattr(reading, "_digest", lambda: hashlib.sha256(request.get_data()).digest())
    with pytest.raises(AssertionError, match="200"):
        test_a_key_stands_for_one_request(table, stored, "a query")
