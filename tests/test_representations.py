"""What can be had in which form, and what a query may ask for."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from engine.games import GAMES
from tests.routes import outcome, targets
from tests.tables import Table


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


ACCEPT: dict[str | None, str | None] = {
    None: "application/json",
    "": "application/json",
    "*/*": "application/json",
    "application/json": "application/json",
    "application/*": "application/json",
    "application/json; charset=utf-8": "application/json",
    "APPLICATION/JSON": "application/json",
    "text/plain": "text/plain",
    "text/plain; charset=utf-8": "text/plain",
    "text/*": "text/plain",
    "text/html, text/plain;q=0.5": "text/plain",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "application/json",
    "application/json;q=0.1, text/plain;q=0.9": "text/plain",
    "application/json;q=0.9, text/plain;q=0.1": "application/json",
    "application/json;q=0, */*": "text/plain",
    "application/json;q=0": None,
    "text/html": None,
    "image/png, audio/*": None,
    "application/problem+json": None,
    "nonsense": None,
    ";;;,,,": None,
    "\xff\xfe": None,
    "application/json;q=nonsense": None,
}


@pytest.mark.parametrize("accept", ACCEPT)
def test_a_view_is_sent_as_it_is_liked(table: Table, accept: str | None) -> None:
    """JSON or text, by a read and by a move; 406 where neither will do, and then the move is not made."""
    headers = table.bearer() | ({} if accept is None else {"Accept": accept})
    version = table.view()["version"]
    seed = {"path": f"{table.path}/seed", "json": {"client_seed": "luck"}}
    for answer in (table.client.get(table.path, headers=headers), table.client.post(**seed, headers=headers)):
        if ACCEPT[accept] is None:
            assert outcome(answer) == (406, "not-acceptable")
        else:
            assert (answer.status_code, answer.mimetype) == (200, ACCEPT[accept])
    assert table.view()["version"] == version + (ACCEPT[accept] is not None)


def test_what_there_is_only_in_json_is_not_sent_as_text(table: Table) -> None:
    """Opening, evaluations, the catalogue and a game's facts."""
    text = {"headers": {"Accept": "text/plain"}}
    game = "/v1/games/spice-island-poker"
    for answer in (
        table.client.post("/v1/sessions", json={"game": "spice-island-poker"}, **text),
        table.client.post(f"{game}/evaluate", json={"cards": ["Ah", "Kh", "Qh", "Jh", "Th"]}, **text),
        table.client.get("/v1/games", **text),
        table.client.get(game, **text),
    ):
        assert outcome(answer) == (406, "not-acceptable"), answer.request.path


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_are_text_or_a_page(client: FlaskClient, game: str) -> None:
    """The same rules as Markdown, unless HTML is liked better."""
    path = f"/v1/games/{game}/rules"
    text = client.get(path)
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    page = client.get(path, headers=browser)
    assert (text.content_type, page.content_type) == ("text/markdown; charset=utf-8", "text/html; charset=utf-8")
    assert text.text.startswith("# ")
    plain = client.get(path, headers={"Accept": "text/plain"})
    assert (plain.content_type, plain.text) == ("text/plain; charset=utf-8", text.text)
    assert plain.headers["ETag"] != text.headers["ETag"]
    assert page.text.startswith("<!doctype html>")
    assert f"<h1>{GAMES[game].spec.title.replace('&', '&amp;')}" in page.text
    assert text.headers["ETag"] != page.headers["ETag"]
    assert client.get(path, headers={"Accept": "text/markdown, text/html;q=0.9"}).mimetype == "text/markdown"
    assert outcome(client.get(path, headers={"Accept": "application/json"})) == (406, "not-acceptable")


@pytest.mark.parametrize("path", ["/v1/games/whist", "/v1/games/whist/rules", "/v1/games/Spice-Island-Poker"])
def test_another_game_is_unknown(client: FlaskClient, path: str) -> None:
    """Nothing but a slug names a game."""
    assert outcome(client.get(path)) == (404, "unknown-game")
    assert outcome(client.post("/v1/games/whist/evaluate", json={"cards": []})) == (404, "unknown-game")


def test_the_catalogue_leads_to_every_game(client: FlaskClient) -> None:
    """Each entry's address answers the game's facts, and those lead to its rules and its evaluation."""
    found = client.get("/v1/games").get_json()["games"]
    assert [each["game"] for each in found] == list(GAMES)
    for each in found:
        facts = client.get(each["href"]).get_json()
        assert {name: facts[name] for name in ("game", "title", "summary", "seats")} == {
            name: each[name] for name in ("game", "title", "summary", "seats")
        }
        assert client.get(facts["links"]["rules"]).status_code == 200
        evaluated = outcome(client.post(facts["links"]["evaluate"], json={"cards": []}))
        worthless = each["game"] in ("beat-the-dealer", "speed")
        assert evaluated == ((409, "nothing-to-evaluate") if worthless else (422, "invalid"))


def test_the_contract_is_the_same_in_both_forms(client: FlaskClient) -> None:
    """As YAML and as JSON; every body that a game's facts name is in it."""
    written, read = client.get("/openapi.yaml"), client.get("/openapi.json")
    assert (written.mimetype, read.mimetype) == ("application/yaml", "application/json")
    contract = read.get_json()
    assert contract["openapi"] == "3.1.0"
    assert written.text.startswith("openapi: 3.1.0\n")
    for game in GAMES:
        for verb in client.get(f"/v1/games/{game}").get_json()["verbs"]:
            assert verb["schema"].removeprefix("#/components/schemas/") in contract["components"]["schemas"]


# The query.

FLAGS = {"true": True, "false": False}


def test_a_view_leaves_the_actions_out_where_they_are_not_wanted(table: Table) -> None:
    """`?actions=false` leaves out this one field and nothing else."""
    whole = table.view()
    for word, kept in FLAGS.items():
        answer = table.client.get(f"{table.path}?actions={word}", headers=table.bearer())
        expected = whole if kept else {name: value for name, value in whole.items() if name != "actions"}
        assert answer.get_json() == expected
    assert whole["actions"]


def test_a_board_lists_the_actions_where_they_are_wanted(table: Table) -> None:
    """With their bodies, to be sent as they stand; without them it says nothing of what could be done."""
    text = table.bearer() | {"Accept": "text/plain"}
    whole = table.client.get(table.path, headers=text).text
    brief = table.client.get(f"{table.path}?actions=false", headers=text).text
    assert whole.startswith(brief)
    listed = whole.removeprefix(brief)
    for action in table.view()["actions"]:
        assert action["label"] in listed
        assert f"POST {action['verb']}" in listed
    assert "Nothing to do here" in table.client.get(table.path, headers={"Accept": "text/plain"}).text


BAD_QUERIES = {
    "x=1": "x",
    "x": "x",
    "=1": "",
    "Actions=true": "Actions",
    "actions=true&x=1": "x",
    "actions": "actions",
    "actions=": "actions",
    "actions=1": "actions",
    "actions=TRUE": "actions",
    "actions=yes": "actions",
    "actions=true&actions=true": "actions",
    "actions=true&actions=false": "actions",
    "actions=true;x": "actions",
    "actions=%ff": "actions",
    "%ff=1": "\ufffd",
    "\xff=1": "\ufffd",
    "\xc3\xa6=1": "\u00e6",
    "%00": "\x00",
    "x=%ud800": "x",
    "access_token=secret": "access_token",
}


@pytest.mark.parametrize("query", BAD_QUERIES)
def test_an_unknown_or_repeated_parameter_is_refused(table: Table, query: str) -> None:
    """The answer names it, and a look with it shows nothing."""
    asked = {"headers": table.bearer(), "environ_overrides": {"QUERY_STRING": query}}
    answer = table.client.get(table.path, **asked)
    assert outcome(answer) == (422, "invalid")
    assert [fault["parameter"] for fault in answer.get_json()["errors"]] == [BAD_QUERIES[query]]


def test_nothing_else_takes_a_parameter(app: Flask, table: Table) -> None:
    """Not even one that the view takes."""
    for method, path in targets(app, table):
        if method != "OPTIONS" and (method, path) not in {("GET", table.path), ("HEAD", table.path)}:
            body: dict[str, Any] = {"json": {"cards": []} if "/games/" in path else {}} if method == "POST" else {}
            answer = table.client.open(f"{path}?actions=true", method=method, headers=table.bearer(), **body)
            assert answer.status_code == 422, (method, path)
            if method != "HEAD":
                assert answer.get_json()["errors"][0]["parameter"] == "actions"
