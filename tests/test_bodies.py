"""Whatever is sent as a body is answered by the contract, never with 500, and what is refused changes nothing."""

import json
import sys
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from marshmallow import Schema, fields
from werkzeug.test import TestResponse

from engine.games import GAMES
from engine.play import COMMON_VERBS, SEAT_VERBS
from service import schemas
from service.api import VERBS
from tests import hostile
from tests.routes import JSON, Target, outcome, outcomes, reading, send, targets
from tests.stored import Stored
from tests.tables import Table


@pytest.fixture(name="table", params=sorted(GAMES))
def _table(request: pytest.FixtureRequest, table: Table) -> Table:
    """Return a session of each game."""
    return table.open(request.param)


def verb_of(target: Target) -> str:
    """Return the verb that is asked of a session, or nothing."""
    verb = target.path.rpartition("/")[2]
    return verb if target.path.startswith("/v1/sessions/") and verb in VERBS else ""


def misfit(table: Table, target: Target) -> tuple[int, str]:
    """Return what a misfit is answered with: a verb that the game does not have has no schema to miss."""
    verb = verb_of(target)
    if verb and verb not in GAMES[table.game].spec.verbs | COMMON_VERBS:
        return 409, "not-in-this-game"
    return 422, "invalid"


def test_the_corpus_is_large_and_reaches_every_route(app: Flask, table: Table) -> None:
    """There are at least 60 raw bodies, and each is sent to every path that can be posted to."""
    corpus = (hostile.MALFORMED, hostile.NO_OBJECTS, hostile.MISFITS, hostile.TOO_LARGE, hostile.EMPTIES)
    assert sum(map(len, corpus)) >= 60
    of_a_session = [*VERBS, *SEAT_VERBS, "ticket"]
    assert len({target.path for target in reading(app, table)}) == len(of_a_session) + 1 + len(GAMES)


REFUSED = {
    "MALFORMED": (400, "malformed-json"),
    "NO_OBJECTS": (422, "invalid"),
    "TOO_LARGE": (413, "body-too-large"),
}


@pytest.mark.parametrize("group", REFUSED)
def test_what_is_no_object_in_json_is_refused_everywhere(app: Flask, table: Table, stored: Stored, group: str) -> None:
    """Every route gives it the same answer, and neither the session nor the number of keys changes."""
    before = stored.dump(table.id), stored.command("DBSIZE")
    for name, raw in getattr(hostile, group).items():
        found = outcomes(table, reading(app, table), raw)
        assert set(found.values()) == {REFUSED[group]}, (name, found)
    assert (stored.dump(table.id), stored.command("DBSIZE")) == before


def test_an_object_that_fits_nowhere_is_refused_everywhere(app: Flask, table: Table, stored: Stored) -> None:
    """The answer names the fields; a verb that the game does not have is refused by the rules."""
    before = stored.dump(table.id), stored.command("DBSIZE")
    for name, raw in hostile.MISFITS.items():
        for target, found in outcomes(table, reading(app, table), raw).items():
            assert found == misfit(table, target), (name, target)
    assert (stored.dump(table.id), stored.command("DBSIZE")) == before


def test_the_whole_body_is_at_fault_where_it_is_no_object(table: Table) -> None:
    """The pointer is the empty one, which names the whole document."""
    answer = send(table, Target("POST", f"{table.path}/leave"), b"[]")
    assert [fault["pointer"] for fault in answer.get_json()["errors"]] == [""]


def test_an_empty_body_is_an_object_without_fields(app: Flask, table: Table) -> None:
    """Nothing, `{}` and `{}` with room in it are the same; nothing needs no Content-Type."""
    sent = [(raw, JSON) for raw in hostile.EMPTIES.values()] + [(b"", None)]
    for target in reading(app, table):
        found = [outcome(send(table.open(table.game), at(target, table), *each)) for each in sent]
        assert len(set(found)) == 1, (target, found)
        assert found[0] in {(200, None), (403, "forbidden"), (409, "not-now"), misfit(table, target)}, target


def at(target: Target, table: Table) -> Target:
    """Return the target of a table's session that another session's target is like."""
    if not target.path.startswith("/v1/sessions/"):
        return target
    return Target("POST", f"{table.path}/{target.path.rpartition('/')[2]}")


def test_leaving_needs_no_body(table: Table) -> None:
    """An empty body without a Content-Type plays a verb that needs no field."""
    assert outcome(send(table, Target("POST", f"{table.path}/leave"), b"", None)) == (200, None)


def test_a_body_is_of_no_account_where_none_is_read(app: Flask, table: Table, stored: Stored) -> None:
    """GET, HEAD, OPTIONS and a refused DELETE answer as they do without one."""
    before = stored.dump(table.id)
    others = [target for target in targets(app, table) if target.method != "POST"]
    plain = outcomes(table, others, b"")
    assert {status for status, _ in plain.values()} <= {200, 403, 409}, plain
    for name in ("a brace", "NaN", "5,000 lists", "half a surrogate pair, escaped", "16 KiB of NUL"):
        assert outcomes(table, others, hostile.MALFORMED[name]) == plain, name
    for raw in hostile.TOO_LARGE.values():
        assert outcomes(table, others, raw) == plain
    assert stored.dump(table.id) == before


# Fields.


def faulty(answer: TestResponse) -> set[str]:
    """Return the names of the fields, outermost first, that an answer finds fault with."""
    assert outcome(answer) == (422, "invalid"), answer.text
    return {fault["pointer"] for fault in answer.get_json()["errors"]}


def test_a_wrong_value_is_refused_in_every_field_of_every_verb(table: Table, stored: Stored) -> None:
    """The pointer leads to the field or into it, and nothing is changed."""
    before = stored.dump(table.id)
    game = table.game
    for verb, name, raw in hostile.wrong_bodies(game):
        pointers = faulty(send(table, Target("POST", f"{table.path}/{verb}"), raw))
        assert all(within(pointer, f"/{name}") for pointer in pointers), (raw, pointers)
    assert stored.dump(table.id) == before


def test_a_wrong_value_is_refused_in_every_option(table: Table, stored: Stored) -> None:
    """Neither opening a session nor evaluating cards takes it."""
    before = stored.command("DBSIZE")
    game = table.game.encode()
    for name, options in hostile.wrong_options(game.decode()):
        opened = send(table, Target("POST", "/v1/sessions"), b'{"game": "%b", "options": %b}' % (game, options))
        evaluate = Target("POST", f"/v1/games/{game.decode()}/evaluate")
        evaluated = send(table, evaluate, b'{"cards": [], "options": %b}' % options)
        assert faulty(opened) == faulty(evaluated) == {f"/options/{name}"}, options
    assert stored.command("DBSIZE") == before


@pytest.mark.parametrize("value", [*hostile.NOT_A_LIST, "[5]", "[null]", '["Ah", 5]', '[["Ah"]]'])
def test_cards_are_a_list_of_text(table: Table, value: str) -> None:
    """An object is none, whatever its names are."""
    target = Target("POST", f"/v1/games/{table.game}/evaluate")
    pointers = faulty(send(table, target, b'{"cards": %b}' % value.encode()))
    assert all(within(pointer, "/cards") for pointer in pointers)


@pytest.mark.parametrize("game", GAMES)
def test_a_card_is_there_but_once(client: FlaskClient, game: str) -> None:
    """Two of one card are refused, where cards are worth anything at all."""
    answer = client.post(f"/v1/games/{game}/evaluate", json={"cards": ["Ah", "Ah"]})
    if game in ("beat-the-dealer", "speed"):
        assert outcome(answer) == (409, "nothing-to-evaluate")
    else:
        assert all(within(pointer, "/cards") for pointer in faulty(answer))


def test_an_object_whose_names_are_cards_is_no_list(table: Table) -> None:
    """Five names that would be a hand are refused in an object."""
    target = Target("POST", "/v1/games/spice-island-poker/evaluate")
    raw = b'{"cards": {"Ah": 1, "Kh": 2, "Qh": 3, "Jh": 4, "Th": 5}}'
    assert faulty(send(table, target, raw)) == {"/cards"}


NO_SEATS = (
    *hostile.NOT_A_LIST[:3],
    '{"Anna": 1}',
    '"Anna"',
    "[5]",
    "[null]",
    '[""]',
    '["a", "b"]',
    '[["Anna"]]',
    '[" "]',
)


@pytest.mark.parametrize("value", NO_SEATS)
def test_seats_are_a_list_of_one_name(table: Table, value: str) -> None:
    """Nothing else is taken for one."""
    raw = b'{"game": "spice-island-poker", "seats": %b}' % value.encode()
    pointers = faulty(send(table, Target("POST", "/v1/sessions"), raw))
    assert all(within(pointer, "/seats") for pointer in pointers)


@pytest.mark.parametrize("value", hostile.NOT_A_STRING)
@pytest.mark.parametrize("field", ["game", "options"])
def test_game_and_options_are_of_their_types(table: Table, field: str, value: str) -> None:
    """A game is named by text, and options are an object."""
    fields = {"game": '"spice-island-poker"', "options": "{}"} | {field: value}
    if field == "options" and value.startswith("{"):
        fields["options"] = '"{}"'
    raw = "{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}"
    assert faulty(send(table, Target("POST", "/v1/sessions"), raw.encode())) == {f"/{field}"}


def within(pointer: str, field: str) -> bool:
    """Return whether a pointer leads to a field, or into it."""
    return pointer == field or pointer.startswith(f"{field}/")


# Planted faults: each is found by the checks above.


def naive(raw: bytes, _content_type: str | None) -> Any:  # noqa: ANN401 - any JSON
    """Read a body as many services do."""
    return json.loads(raw or b"{}")


@pytest.mark.parametrize("table", ["spice-island-poker"], indirect=True)
def test_a_naive_reader_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers 500 to numbers, depth and halves of pairs, and takes names twice and NaN."""
    monkeypatch.setattr(sys.modules["service.reading"], "parse", naive)
    target = Target("POST", f"{table.path}/seed")
    found = {name: outcome(send(table, target, raw)) for name, raw in hostile.MALFORMED.items()}
    failed = {name for name, answer in found.items() if answer != REFUSED["MALFORMED"]}
    assert {found[name] for name in failed} >= {(500, "internal-error"), (422, "invalid")}
    assert failed >= {
        "a number of 5,000 digits",
        "5,000 lists",
        "a name twice",
        "NaN",
        "UTF-16",
        "half a surrogate pair, escaped",
    }


@pytest.mark.parametrize("table", ["skulls-and-swords"], indirect=True)
def test_a_lenient_schema_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes `"5"` for 5 lets wrong bodies through."""
    shapes = {key: [Schema.from_dict({"positions": fields.List(fields.Integer())})()] for key in schemas._VERBS}
    monkeypatch.setattr(schemas, "_VERBS", shapes)
    sent = [send(table, Target("POST", f"{table.path}/swap"), b'{"positions": %b}' % text) for text in (b'["5", "6"]',)]
    with pytest.raises(AssertionError):
        faulty(sent[0])
