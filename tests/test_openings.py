"""Openings: what a new session is, its names and options, and its tokens, which are told once."""

import base64
import hashlib
import re

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.games import GAMES
from tests.routes import outcome
from tests.stored import PARTS, Stored, key
from tests.tables import PERSONS, Table

POKER = "spice-island-poker"

games = pytest.mark.parametrize("game", GAMES)


@games
def test_the_options_of_a_view_open_another_session_like_it(client: FlaskClient, game: str) -> None:
    """They are shown as they can be asked for: one that was left out and has no default is left out there too."""
    shown = client.post("/v1/sessions", json={"game": game}).get_json()["session"]["options"]
    again = client.post("/v1/sessions", json={"game": game, "options": shown})
    assert (again.status_code, again.get_json()["session"]["options"]) == (201, shown)
    every = {option.name: option.field.schema() for option in GAMES[game].spec.options.options}
    chosen = shown | {name: every[name]["minimum"] for name in every.keys() - shown.keys()}
    asked = client.post("/v1/sessions", json={"game": game, "options": chosen})
    assert asked.get_json()["session"]["options"] == chosen


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


def opened(client: FlaskClient, **body: object) -> TestResponse:
    """Return the answer to an opening."""
    return client.post("/v1/sessions", json={"game": POKER} | body)


@games
def test_a_session_opens_for_its_seats(client: FlaskClient, game: str) -> None:
    """The answer has its address, a token for each person, and what the one person sees, or the host of several."""
    names = [f"Player {number + 1}" for number in range(PERSONS[game])]
    answer = opened(client, game=game, seats=names)
    made = answer.get_json()
    view = made["session"]
    assert answer.status_code == 201
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", view["id"])
    assert answer.headers["Location"] == f"/v1/sessions/{view['id']}"
    assert (view["version"], view["round"], view["status"], view["reason"]) == (0, 0, "ready", None)
    assert [(seat["seat"], seat["name"], seat["kind"]) for seat in view["seats"]] == [
        (number, name, "person") for number, name in enumerate(names)
    ]
    assert [each["seat"] for each in made["tokens"]] == list(range(len(names)))
    alone = len(names) == 1
    assert view["you"] == ({"seat": 0, "host": False} if alone else {"seat": None, "host": True})
    tokens = [each["token"] for each in made["tokens"]]
    for you, token in [(view["you"], tokens[0] if alone else made["host_token"])] + [
        ({"seat": seat, "host": False}, token) for seat, token in enumerate(tokens)
    ]:
        read = client.get(answer.headers["Location"], headers={"Authorization": f"Bearer {token}"}).get_json()
        assert read["you"] == you
        if you == view["you"]:
            assert read == view
    assert answer.headers["ETag"] == f'"0.{"s0" if alone else "h"}.json.en.r2"'


@games
def test_seats_left_out_are_one_persons_and_open_ones(client: FlaskClient, game: str) -> None:
    """As many as there may be; only who opens the session has a seat."""
    made = opened(client, game=game).get_json()
    seats = made["session"]["seats"]
    assert [seat["kind"] for seat in seats] == ["person"] + ["open"] * (GAMES[game].spec.seats[1] - 1)
    assert [each["seat"] for each in made["tokens"]] == [0]
    assert made["session"]["you"] == {"seat": 0, "host": False}
    assert made["session"]["status"] == ("ready" if len(seats) == 1 else "waiting")


def test_ids_and_tokens_are_long_and_never_the_same(client: FlaskClient) -> None:
    """128 and 256 random bits, of letters that need no quoting."""
    found = [opened(client).get_json() for _ in range(20)]
    tokens = [token for made in found for token in (made["tokens"][0]["token"], made["host_token"])]
    assert len({made["session"]["id"] for made in found}) == 20
    assert len(set(tokens)) == 40
    assert len({made["session"]["next_commitment"] for made in found}) == 20
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)


WITHOUT_DEFAULT = {"beat-the-dealer": ["max_sips", "turn_seconds"], "jackpot": ["turn_seconds"]}
"""Options that are `null` where they are left out: then there is no such limit."""


@games
def test_options_left_out_are_the_documented_defaults(client: FlaskClient, game: str) -> None:
    """The options in force are in the view, all but those that are left out and have no default."""
    documented = client.get(f"/v1/games/{game}").get_json()["options"]["properties"]
    defaults = {name: option["default"] for name, option in documented.items() if "default" in option}
    assert [name for name, option in documented.items() if "default" not in option] == WITHOUT_DEFAULT.get(game, [])
    assert opened(client, game=game).get_json()["session"]["options"] == defaults
    assert opened(client, game=game, options={}).get_json()["session"]["options"] == defaults


def test_options_that_are_given_are_in_force(client: FlaskClient) -> None:
    """They are in the view, and at the table."""
    options = {"balance": 90, "min_ante": 2, "max_ante": 20, "low_hand": "even_money", "wheel": True}
    view = opened(client, options=options).get_json()["session"]
    assert view["options"] == options
    assert (view["table"]["balance"], view["table"]["limits"]) == (90, {"min": 2, "max": 20})


@pytest.mark.parametrize(
    ("options", "name"), [({"min_ante": 9, "max_ante": 8}, "max_ante"), ({"balance": 2}, "balance")]
)
def test_options_that_clash_are_refused(client: FlaskClient, options: dict[str, int], name: str) -> None:
    """The pointer names one of them."""
    answer = opened(client, options=options)
    assert outcome(answer) == (422, "invalid")
    assert [fault["pointer"] for fault in answer.get_json()["errors"]] == [f"/options/{name}"]


NAMES = (
    "A",
    "Anna",
    "x" * 32,
    "\u00e6\u00f8\u00e5",
    "\u00e9" * 32,
    "\U0001f480" * 32,
    "a b",
    "<b>&amp;",
    "null",
    "\u4e2d\u6587",
    "O'Neil",
    "\u2764\ufe0f",  # a heart in colour
    "x\u0332\u0332\u0332\u0332",
)
NO_NAMES = (
    "",
    " ",
    "\u00a0",
    "\u3000 ",
    "x" * 33,
    "\U0001f480" * 33,
    "e\u0301",
    "\u212b",
    "a\x00",
    "a\n",
    "\x7f",
    "a\u202eb",
    "\u200b",
    "a\u200db",
    "\ufeffa",
    "\ue000",
    "\uffff",
    "\u2028\u2029",
    "Anna\ufe0f",
    "\ufe0f",
    "a\u034f",
    "\u17b4",
    "a\u180bb",
    "a\U000e0100",
    "\u0301",
    "x" + "\u0332" * 5,
)


@pytest.mark.parametrize("name", NAMES)
def test_a_seat_has_the_name_that_is_given(client: FlaskClient, name: str) -> None:
    """Letter for letter, to everyone."""
    made = opened(client, seats=[name]).get_json()["session"]
    assert made["seats"][0]["name"] == name
    assert client.get(f"/v1/sessions/{made['id']}").get_json()["seats"][0]["name"] == name


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_shows_and_shows_as_no_other(client: FlaskClient, name: str) -> None:
    """It has 1 to 32 characters in normal form C that draw something, few of them marks, and is not blank."""
    answer = opened(client, seats=[name])
    assert outcome(answer) == (422, "invalid")
    assert [fault["pointer"] for fault in answer.get_json()["errors"]] == ["/seats/0"]


# Tokens.


def secrets_of(table: Table) -> list[bytes]:
    """Return the tokens in every form that gives them away."""
    tokens = [token.encode() for token in (table.token, table.host)]
    raw = [base64.urlsafe_b64decode(token + b"=") for token in tokens]
    return [*tokens, *raw, *(text.hex().encode() for text in raw)]


def everything(stored: Stored, session: str) -> bytes:
    """Return all names and values of a session's keys as one text."""
    return b"\n".join([*stored.command("KEYS", f"*{session}*"), stored.dump(session)])


def test_tokens_are_stored_as_hashes_alone(table: Table, stored: Stored) -> None:
    """Neither a session's state nor its log nor its idempotency records hold one."""
    table.play("wager", {"amount": 5}, Idempotency_Key="a")
    table.play("deal", Idempotency_Key="b")
    held = everything(stored, table.id)
    assert len(stored.command("KEYS", f"*{table.id}*")) == len(PARTS)
    assert not [secret for secret in secrets_of(table) if secret in held]
    for token in (table.token, table.host):
        assert hashlib.sha256(token.encode()).digest() in held


def test_a_stored_token_is_found_out(table: Table, stored: Stored) -> None:
    """The search finds one that was put there."""
    stored.command("HSET", key(table.id, "keys"), f"{table.token}:deal:a", "")
    held = everything(stored, table.id)
    assert [secret for secret in secrets_of(table) if secret in held] == [table.token.encode()]


def test_tokens_are_told_once(table: Table) -> None:
    """No answer after the first repeats them."""
    answers = [table.act("wager", {"amount": 5}), table.act("deal"), table.score()]
    answers += [table.client.get(table.path, headers=table.bearer(token)) for token in (table.token, table.host)]
    for answer in answers:
        assert not [secret for secret in secrets_of(table) if secret in answer.data + str(answer.headers).encode()]


def test_a_token_is_of_its_session_alone(table: Table, client: FlaskClient) -> None:
    """Another session's seat and host are nobody here."""
    other = Table(client).open(POKER)
    for token in (other.token, other.host):
        assert outcome(client.get(table.path, headers=table.bearer(token))) == (401, "unauthorized")
        assert outcome(client.post(f"{table.path}/leave", headers=table.bearer(token))) == (401, "unauthorized")
        assert outcome(client.delete(table.path, headers=table.bearer(token))) == (401, "unauthorized")
