"""What people read over HTTP: score sheets as text, boards that say what is waited for, refusals that help."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from engine.games import GAMES
from tests.parties import HOST, Party
from tests.routes import outcome
from tests.tables import Table

TEXT = {"Accept": "text/plain"}


@pytest.fixture(name="party")
def _party(client: FlaskClient) -> Party:
    return Party(client)


def board(party: Party, who: Any, part: str = "") -> str:  # noqa: ANN401 - a seat, the host, nobody
    """Return what somebody reads, as text."""
    answer = party.client.get(party.path + part, headers=party.headers(who) | TEXT)
    assert (answer.status_code, answer.mimetype) == (200, "text/plain"), answer.text
    return str(answer.text)


def rounded(party: Party) -> Party:
    """Play the first examples until a round is settled, or until nothing but time carries it on."""
    while party.seen(HOST)["status"] != "settled" and party.seen(HOST)["table"]["phase"] != "countdown":
        party.forward()
    return party


# The score sheet.


@pytest.mark.parametrize("game", GAMES)
def test_a_score_is_drawn_with_its_standings(party: Party, game: str) -> None:
    """Every game's sheet: who stands where with what, by name; and whether it is final."""
    rounded(party.seat(game, [f"Player {number}" for number in range(GAMES[game].spec.seats[0])]))
    found, text = party.client.get(f"{party.path}/score").get_json(), board(party, None, "/score")
    state = "final" if found["final"] else "not final"
    assert text.startswith(f"{GAMES[game].spec.title}, score of round {found['round']}, {state}\nsession {party.id}\n")
    names = {seat["seat"]: seat["name"] for seat in party.seen(HOST)["seats"]}
    for each in found["standings"]:
        line = rf"\n +{each['place']} +{each['seat']} +{each['score']}  {re.escape(names[each['seat']])}\n"
        assert re.search(line, text), line


def test_a_score_that_there_is_none_of_is_refused_as_json(client: FlaskClient) -> None:
    """A problem is JSON whatever Accept says."""
    table = Table(client).open("skulls-and-swords")
    refused = client.get(f"{table.path}/score", headers=table.bearer() | TEXT)
    assert outcome(refused) == (409, "not-evaluated")


def test_a_drawn_score_has_a_tag_of_its_own(client: FlaskClient) -> None:
    """Text and JSON are two representations; a read of the same one again is a 304."""
    table = Table(client).open("spice-island-poker")
    path = f"{table.path}/score"
    drawn, read = (client.get(path, headers=table.bearer() | accept) for accept in (TEXT, {}))
    assert drawn.headers["ETag"] != read.headers["ETag"]
    for tag, status in ((drawn.headers["ETag"], 304), (read.headers["ETag"], 200)):
        assert client.get(path, headers=table.bearer() | TEXT | {"If-None-Match": tag}).status_code == status


def test_a_score_is_drawn_in_danish(party: Party) -> None:
    """BD-14: heading, standings and sheet."""
    rounded(party.seat("beat-the-dealer", ["Anna", "Bo"]))
    danish = party.client.get(f"{party.path}/score", headers=TEXT | {"Accept-Language": "da"})
    assert danish.headers["Content-Language"] == "da"
    assert danish.text.startswith("Gæt dealerens kort, resultat af runde 1, endeligt\nspil ")
    assert not re.search(r"\b(?:seat|place|score|turns|round|session|final)\b", danish.text.lower())


# A seed of one's own.


@pytest.mark.parametrize("game", GAMES)
def test_a_seed_leaves_its_trace_until_the_deal(party: Party, game: str) -> None:
    """Everyone sees that a seat has given one, until the next round is begun; nobody what it is."""
    seats = GAMES[game].spec.seats[0]
    party.seat(game, [f"Player {number}" for number in range(seats)])
    party.does(0, "seed", {"client_seed": "my-very-own-luck"})
    for who in (*party.tokens, HOST, None):
        seen = party.read(who)
        assert [seat["seeded"] for seat in seen.get_json()["seats"]] == [True] + [False] * (seats - 1)
        assert "my-very-own-luck" not in seen.text + board(party, who)
        assert ("A seed of your own is set" in board(party, who)) == (who == 0)
    labels = {action["verb"]: action["label"] for action in party.seen(0)["actions"]}
    assert labels["seed"].startswith("Replace your own seed")
    while party.seen(0)["round"] == 0:
        party.forward()
    assert not any(seat["seeded"] for seat in party.seen(None)["seats"])


def test_an_empty_seed_takes_the_seed_back(party: Party) -> None:
    """As if none had been given."""
    party.seat("spice-island-poker")
    party.does(0, "seed", {"client_seed": "luck"})
    assert party.does(0, "seed", {"client_seed": ""})["seats"][0]["seeded"] is False


# What a board says.


def test_a_board_says_for_whom_it_waits(party: Party) -> None:
    """To those who can only wait; whoever is waited for reads what to send."""
    party.seat("jackpot", ["Anna", "Bo"])
    party.does(0, "deal")
    assert "Waiting for seat 0.\nYou may send:" in board(party, 1)
    assert "Waiting" not in board(party, 0)
    party.does(0, "choose", {"drop": []})
    assert "Waiting for seat 1.\n" in board(party, 0)
    assert "Waiting for seat 1.\nNothing to do here: you watch, and no seat is open.\n" in board(party, None)


def test_a_board_says_why_there_is_nothing_to_do(party: Party) -> None:
    """Nobody to play with, a seat that was left, a session that is finished."""
    party.seat("jackpot", ["Anna", {"open": True}, {"open": True}])
    assert "Waiting for somebody to take a seat.\n" in board(party, 0)
    party.join()
    party.does(1, "leave")
    assert board(party, 1).endswith("Nothing to do here: you have left this table.\n")
    party.does(HOST, "leave")
    party.does(0, "leave")
    assert board(party, None).endswith("Nothing to do here: the session is finished.\n")


def test_a_board_tells_what_a_move_has_moved_out_of_sight(client: FlaskClient) -> None:
    """Skulls & Swords: a kept bonus card brings four cards from deck to deck; a mere look tells nothing of it."""
    table = Table(client).open("skulls-and-swords")
    table.play("deal")
    moved = table.act("choose", {"cards": [0, 1]}, Accept="text/plain").text
    told = "4 cards went from the Cocktail Deck to the game deck."
    assert told in moved
    assert told not in client.get(table.path, headers=table.bearer() | TEXT).text


# What a refusal says.


def detail(answer: Any) -> str:  # noqa: ANN401 - Flask's own
    """Return the sentence of a problem."""
    return str(answer.get_json()["detail"])


def test_bodies_that_exclude_each_other_are_both_named(client: FlaskClient) -> None:
    """Whoever mixes them, or sends neither, reads what to send instead."""
    table = Table(client).open("spice-island-poker")
    for body in ({"amount": 10, "repeat": True}, {}, {"stake": 10}):
        answer = table.act("wager", body)
        assert outcome(answer) == (422, "invalid")
        assert 'Send {"amount": …} or {"repeat": true}.' in detail(answer), body


def test_an_unknown_field_is_told_which_there_are(client: FlaskClient) -> None:
    """Of a verb and of a game's options."""
    table = Table(client).open("skulls-and-swords")
    assert "there is cards." in detail(table.act("choose", {"card": [0, 1]}))
    assert "there is none." in detail(table.act("confirm", {"now": True}))
    opening = client.post("/v1/sessions", json={"game": "spice-island-poker", "options": {"money": 5}})
    assert "there are balance, min_ante, max_ante, low_hand, wheel." in detail(opening)
    assert "there are game, options, seats, visibility." in detail(client.post("/v1/sessions", json={"gaem": "speed"}))
    assert "there are cards, options." in detail(client.post("/v1/games/speed/evaluate", json={"card": "Ah"}))


def test_a_number_in_quotes_is_told_how_to_be_sent(client: FlaskClient) -> None:
    """Nothing is converted, and the refusal says so."""
    answer = Table(client).open("spice-island-poker").act("wager", {"amount": "5"})
    assert detail(answer) == "/amount: Must be a whole number: digits alone, without quotes."


def test_a_seed_that_is_too_long_is_told_in_bytes(client: FlaskClient) -> None:
    """The limit is 64 bytes of UTF-8, which fewer characters may take."""
    table = Table(client).open("spice-island-poker")
    assert table.act("seed", {"client_seed": "æ" * 32}).status_code == 200
    answer = table.act("seed", {"client_seed": "æ" * 33})
    assert "Must be at most 64 bytes of UTF-8; this is 66." in detail(answer)


def test_a_card_that_is_written_otherwise_is_told_how(client: FlaskClient) -> None:
    """The ten is the one that people write in another way."""
    cards = {"cards": ["10h", "Td", "Kc", "Ks", "2h"]}
    answer = client.post("/v1/games/spice-island-poker/evaluate", json=cards)
    assert "the ten is T, as in 'Th'" in detail(answer)


def test_a_misspelt_verb_is_told_which_there_are(client: FlaskClient) -> None:
    """Every verb that a session takes, and nothing of the kind elsewhere."""
    table = Table(client).open("spice-island-poker")
    answer = table.act("wagr")
    assert outcome(answer) == (404, "not-found")
    for verb in ("wager", "deal", "choose", "swap", "confirm", "evaluate", "seed", "leave", "join", "token", "ticket"):
        assert re.search(rf"\b{verb}\b", detail(answer)), verb
    assert "/openapi.yaml" in detail(client.get("/v1/gmaes"))


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("GET", "/deal", "Use POST here, not GET."),
        ("PUT", "/score", "Use GET here, not PUT."),
        ("POST", "", "Use DELETE or GET here, not POST."),
    ],
)
def test_another_method_is_told_which_there_are(client: FlaskClient, method: str, path: str, told: str) -> None:
    """HEAD and OPTIONS go without saying."""
    table = Table(client).open("spice-island-poker")
    answer = client.open(table.path + path, method=method, headers=table.bearer())
    assert outcome(answer) == (405, "method-not-allowed")
    assert detail(answer) == told


def test_what_cannot_be_accepted_is_told_what_there_is(client: FlaskClient) -> None:
    """Each address names its own types."""
    table = Table(client).open("spice-island-poker")
    types = {
        table.path: "application/json or text/plain",
        f"{table.path}/events": "application/json or text/event-stream or application/x-ndjson",
        "/v1/games/speed/rules": "text/markdown or text/html or text/plain",
        "/v1/games": "application/json",
    }
    for path, named in types.items():
        answer = client.get(path, headers={"Accept": "image/png"})
        assert detail(answer) == f"This address answers {named}: ask for that in Accept, or leave Accept out."
