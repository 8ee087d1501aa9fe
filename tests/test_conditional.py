"""Tags: what a client has already is not sent again, and a move may ask for a version."""

import sys
from collections.abc import Mapping
from itertools import product

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.games import GAMES
from tests.routes import outcome
from tests.tables import Table

SESSION_READS = ("", "?actions=true", "?actions=false", "/score")
PUBLISHED = ("/v1/games", "/openapi.yaml", "/openapi.json", "/v1/games/{game}", "/v1/games/{game}/rules")


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    """Return a session at version 1."""
    table.open("spice-island-poker").play("wager", {"amount": 5})
    return table


def get(table: Table, tail: str = "", token: str | None = None, **headers: str) -> TestResponse:
    """Read from a session, by default as its seat; header names are given with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    authorization = {} if token == "" else table.bearer(token)
    return table.client.get(f"{table.path}{tail}", headers=authorization | named)


def tags(table: Table) -> dict[tuple[str, str, str], str]:
    """Return the tag of every representation for every viewer."""
    viewers = {"seat": table.token, "host": table.host, "spectator": ""}
    found = {
        (viewer, tail, accept): get(table, tail, token, Accept=accept).headers["ETag"]
        for viewer, token in viewers.items()
        for tail in SESSION_READS
        for accept in ("application/json", "text/plain")
    }
    assert len(found) == 24
    return found


def test_a_tag_names_version_viewer_and_representation(table: Table) -> None:
    """And nothing that is hidden: it is made of these words alone."""
    assert tags(table) == {
        **{("seat", tail, "application/json"): '"1.s0.json.en.r2"' for tail in ("", "?actions=true")},
        **{("host", tail, "application/json"): '"1.h.json.en.r2"' for tail in ("", "?actions=true")},
        **{("spectator", tail, "application/json"): '"1.w.json.en.r2"' for tail in ("", "?actions=true")},
        **{
            (viewer, tail, "text/plain"): f'"1.{letter}.text.en.r2"'
            for viewer, letter in (("seat", "s0"), ("host", "h"), ("spectator", "w"))
            for tail in ("", "?actions=true")
        },
        **{
            (viewer, "?actions=false", "text/plain"): f'"1.{letter}.brieftext.en.r2"'
            for viewer, letter in (("seat", "s0"), ("host", "h"), ("spectator", "w"))
        },
        **{
            (viewer, tail, "application/json"): f'"1.{letter}.{name}.en.r2"'
            for viewer, letter in (("seat", "s0"), ("host", "h"), ("spectator", "w"))
            for tail, name in (("?actions=false", "brief"), ("/score", "score"))
        },
        **{
            (viewer, "/score", "text/plain"): f'"1.{letter}.scoretext.en.r2"'
            for viewer, letter in (("seat", "s0"), ("host", "h"), ("spectator", "w"))
        },
    }


def test_a_tag_stands_for_the_same_bytes(table: Table) -> None:
    """At one address, whatever is read at one tag is the same byte for byte."""
    seen: dict[tuple[str, str], bytes] = {}
    for move in ("seed", "wager", "deal", "choose"):
        examples = {each["verb"]: each["example"] for each in reversed(table.view()["actions"])}
        table.play(move, examples[move])
        for tail, answer in (*reads(table), *reads(table)):
            assert seen.setdefault((tail, answer.headers["ETag"]), answer.data) == answer.data
    assert len(seen) == 4 * 3 * 8


def reads(table: Table) -> list[tuple[str, TestResponse]]:
    """Return everything that can be read, by everyone, with its address."""
    asked = product(SESSION_READS, (table.token, table.host, ""), ("application/json", "text/plain"))
    answers = [(tail, get(table, tail, token, Accept=accept)) for tail, token, accept in asked]
    return [(tail, answer) for tail, answer in answers if answer.status_code == 200]


def test_a_move_answers_the_tag_of_its_view(table: Table) -> None:
    """The next read may be conditional on it."""
    moved = table.act("deal")
    assert moved.headers["ETag"] == '"2.s0.json.en.r2"'
    assert get(table, If_None_Match=moved.headers["ETag"]).status_code == 304


KNOWN = (
    "{0}",
    "W/{0}",
    '"other", {0}',
    '{0}, "other"',
    'W/"other",W/{0}',
    '"" ,\t{0}',
    "*",
    " * ",
    '"a,b", {0}',
)
UNKNOWN = (
    "",
    '""',
    '"other"',
    'W/"other"',
    "{1}",
    '"1"',
    '"2.s0.json.en.r2"',
    '"1.s0.json.en.r1"',
    '"1.s0.json.da.r2"',
    '"1.h.json.en.r2"',
    '"1.w.json.en.r2"',
    '"1.s0.brief.en.r2"',
    "nonsense",
    "\xff",
    '"' * 500,
)
"""`{0}` is the tag, and `{1}` the tag without its quotes."""


@pytest.mark.parametrize("given", KNOWN)
def test_what_a_client_has_is_not_sent_again(table: Table, given: str) -> None:
    """Tags compare without their `W/`, in lists too; the answer keeps its headers and has no body."""
    for tail in SESSION_READS:
        full = get(table, tail)
        tag = full.headers["ETag"]
        known = get(table, tail, If_None_Match=given.format(tag))
        assert (known.status_code, known.data) == (304, b"")
        for name in ("ETag", "Cache-Control", "Vary", "Croupier-Time"):
            assert known.headers[name] == full.headers[name]
        head = table.client.head(f"{table.path}{tail}", headers=table.bearer() | {"If-None-Match": given.format(tag)})
        assert head.status_code == 304


@pytest.mark.parametrize("given", UNKNOWN)
def test_what_a_client_has_not_is_sent(table: Table, given: str) -> None:
    """Another version's, viewer's, representation's tag or none at all."""
    full = get(table)
    answer = get(table, If_None_Match=given.format(full.headers["ETag"], full.headers["ETag"].strip('"')))
    assert (answer.status_code, answer.data) == (200, full.data)


def test_another_viewers_copy_is_no_copy(table: Table) -> None:
    """None of the others' tags, in any form, makes a 304."""
    for viewer, tail, accept in tags(table):
        token = {"seat": table.token, "host": table.host, "spectator": ""}[viewer]
        others = ", ".join(tag for (other, _, _), tag in tags(table).items() if other != viewer)
        assert get(table, tail, token, Accept=accept, If_None_Match=others).status_code == 200


def test_a_copy_ends_with_its_version(table: Table) -> None:
    """After a move the old tag is answered with the new view."""
    old = get(table).headers["ETag"]
    table.play("deal")
    assert get(table, If_None_Match=old).get_json()["version"] == 2


def test_a_condition_on_reads_does_not_hinder_a_move(table: Table) -> None:
    """If-None-Match is of no account to a POST."""
    assert table.act("deal", If_None_Match="*").status_code == 200


@pytest.mark.parametrize("path", PUBLISHED)
@pytest.mark.parametrize("game", GAMES)
def test_what_is_the_same_for_all_is_not_sent_twice(client: FlaskClient, path: str, game: str) -> None:
    """Its tag is of its bytes."""
    where = path.format(game=game)
    full = client.get(where)
    tag = full.headers["ETag"]
    for given in KNOWN:
        known = client.get(where, headers={"If-None-Match": given.format(tag)})
        assert (known.status_code, known.data, known.headers["ETag"]) == (304, b"", tag), given
    for given in UNKNOWN:
        answer = client.get(where, headers={"If-None-Match": given.format(tag, tag.strip('"'))})
        assert (answer.status_code, answer.data) == (200, full.data), given


# If-Match.

TAKEN = (
    '"1.s0.json.en.r2"',
    'W/"1.s0.json.en.r2"',
    '"1.s0.text.en.r2"',
    '"1.s0.score.en.r2"',
    '"1.w.json.en.r2"',
    '"1.h.brief.en.r2"',
    '"0.s0.json.en.r2", "1.s0.json.en.r2"',
    'W/"1.s0.json.en.r2" , "9.s0.json.en.r2"',
    '"1.s0.json.en.r9"',
    "*",
    " * ",
)
NOT_TAKEN = (
    '"0.s0.json.en.r2"',
    '"2.s0.json.en.r2"',
    '"11.s0.json.en.r2"',
    '"01"',
    '"1"',
    "1.s0.json.en.r2",
    "1",
    "",
    '""',
    "nonsense",
    "\xff\xfe",
    '"\u0661.s0"'.encode().decode("latin-1"),
    '"-1.s0"',
    '"1e0.s0"',
    '"' + "9" * 20 + '.s0"',
    '"' + "1" * 5000 + '.s0"',
    '"' * 500,
)


@pytest.mark.parametrize("given", TAKEN)
def test_a_move_is_made_at_the_version_it_asks_for(table: Table, given: str) -> None:
    """Any tag of that version will do, whoever's it is and whatever a proxy made of it."""
    assert table.act("deal", If_Match=given).status_code == 200


@pytest.mark.parametrize("given", NOT_TAKEN)
def test_a_move_is_not_made_at_another_version(table: Table, given: str) -> None:
    """The answer carries the version there is and what can be done at it, and nothing is done."""
    before = table.view()
    answer = table.act("deal", If_Match=given)
    assert outcome(answer) == (412, "version-mismatch")
    told = answer.get_json()
    assert (told["version"], told["actions"]) == (1, before["actions"])
    assert table.view() == before


# Planted faults: each is found by the checks above.


def test_a_tag_that_forgets_the_viewer_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spectator would be told that he has the seat's view."""
    api = sys.modules["service.api"]
    headers = api._headers

    def forgetful(seen: object, name: str) -> Mapping[str, str]:
        made: dict[str, str] = headers(seen, name)
        return made | {"ETag": made["ETag"].replace(".s0.", ".w.")}

    monkeypatch.setattr(api, "_headers", forgetful)
    with pytest.raises(AssertionError):
        test_another_viewers_copy_is_no_copy(table)


def test_bytes_that_change_without_the_version_are_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that tells the time is another at every read."""
    views = sys.modules["service.views"]
    ticks = iter(range(10**6))
    monkeypatch.setattr(views, "You", lambda seat, host: {"seat": seat, "host": host, "tick": next(ticks)})
    with pytest.raises(AssertionError):
        test_a_tag_stands_for_the_same_bytes(table)
