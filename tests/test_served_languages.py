"""Languages over HTTP: who asks for Danish reads Beat the Dealer in it, and a program notices nothing (BD-14)."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine import play
from engine.game import LEVELS
from engine.games import GAMES
from service import languages
from service.danish import DANISH
from service.problems import DETAILS, KINDS
from service.sessions import Forbidden, Refused, VersionMismatch
from tests.parties import HOST, Party, Who
from tests.test_languages import sentences

SERVICE = Path(languages.__file__).parent
SLUG = "beat-the-dealer"
READ = {"label", "title", "detail", "description", "summary"}
"""The fields that a person reads; every other is a program's."""
ENGLISH_WORDS = re.compile(r"\b(?:seats?|round|session|card|turns?|sips|bot|you|open|the|is|to)\b")


@pytest.fixture(name="party")
def _party(client: FlaskClient) -> Party:
    """Return a table with two persons, an open seat and a bot, before its first round."""
    return Party(client).seat(SLUG, ["Anna", "Bo", {"open": True}, {"bot": "hard"}])


def read(party: Party, who: Who, language: str = "da", accept: str = "application/json") -> TestResponse:
    """Read the session in a language."""
    headers = party.headers(who) | {"Accept-Language": language, "Accept": accept}
    return party.client.get(party.path, headers=headers)


def for_programs(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return an answer without what only a person reads."""
    if isinstance(value, dict):
        return {name: for_programs(each) for name, each in value.items() if name not in READ}
    return [for_programs(each) for each in value] if isinstance(value, list) else value


def for_people(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield what a person reads in an answer."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in READ and isinstance(each, str):
                yield each
            else:
                yield from for_people(each)
    elif isinstance(value, list):
        for each in value:
            yield from for_people(each)


def assert_said_twice(english: TestResponse, danish: TestResponse) -> None:
    """Fail unless two answers are the same for a program, and every sentence for a person is another."""
    assert (english.headers["Content-Language"], danish.headers["Content-Language"]) == ("en", "da")
    assert english.status_code == danish.status_code
    one, other = english.get_json(), danish.get_json()
    assert for_programs(one) == for_programs(other)
    said = list(for_people(one))
    assert said
    assert not set(said) & set(for_people(other))


# Which language.


@pytest.mark.parametrize(
    ("liked", "language"),
    [
        ("da", "da"),
        ("da-DK, en;q=0.5", "da"),
        ("DA", "da"),
        ("da, en", "da"),
        ("en, da", "en"),
        ("en;q=0.4, da;q=0.5", "da"),
        ("de, da;q=0.1", "da"),
        ("de", "en"),
        ("", "en"),
        ("*", "en"),
        ("*, da;q=0.1", "en"),
        ("en;q=0.2, *", "da"),
        ("da;q=0", "en"),
        ("da;q=nonsense, ;;", "en"),
        ("\xff", "en"),
    ],
)
def test_the_language_is_the_one_liked_best(party: Party, liked: str, language: str) -> None:
    """Of the two that there are; the tag names it, and caches are told that the answer varies by it."""
    answer = read(party, 0, liked)
    assert answer.headers["Content-Language"] == language
    assert answer.headers["ETag"] == f'"0.s0.json.{language}.r2"'
    assert "Accept-Language" in answer.headers["Vary"]


@pytest.mark.parametrize("slug", [slug for slug in GAMES if slug != SLUG])
def test_the_other_games_are_in_english(client: FlaskClient, slug: str) -> None:
    """Their views, boards, rules and refusals are the same whatever is asked for: never half and half."""
    party = Party(client).seat(slug)
    asked = [(party.path, "application/json"), (party.path, "text/plain")]
    asked += [(f"/v1/games/{slug}", "*/*"), (f"/v1/games/{slug}/rules", "*/*")]
    for path, accept in asked:
        headers = party.headers(HOST) | {"Accept": accept}
        english, danish = (client.get(path, headers=headers | {"Accept-Language": each}) for each in ("en", "da"))
        assert (danish.headers["Content-Language"], danish.data) == ("en", english.data)
    refused = party.send(HOST, "leave", {"seat": 11}, Accept_Language="da")
    assert (refused.headers["Content-Language"], refused.get_json()["detail"]) == ("en", "Nobody holds seat 11.")


# What is said in it.


def test_whoever_looks_reads_labels_in_danish(party: Party) -> None:
    """A seat, the host, a spectator who may sit down: what they may do is the same, and called otherwise."""
    for _ in range(2):
        for who in (0, 1, HOST, None):
            assert_said_twice(read(party, who, "en"), read(party, who))
        party.forward()


def test_a_create_a_join_a_move_and_a_fresh_token_are_answered_in_danish(party: Party) -> None:
    """The view that comes with them is as a read gives it."""
    danish = {"Accept-Language": "da"}
    made = party.client.post("/v1/sessions", json={"game": SLUG}, headers=danish)
    joined = party.client.post(f"{party.path}/join", json={}, headers=danish)
    fresh = party.send(HOST, "token", {"seat": 2}, Accept_Language="da")
    moved = party.send(0, "deal", Accept_Language="da")
    for answer in (made, joined, fresh, moved):
        view = answer.get_json().get("session", answer.get_json())
        assert answer.headers["Content-Language"] == "da"
        assert view["actions"]
        assert ENGLISH_WORDS.findall(" ".join(for_people(view))) == []


def test_the_board_is_in_danish(party: Party) -> None:
    """Head, seats, table and list of actions; names, ids and bodies are what they are."""
    party.does(0, "deal")
    board = read(party, HOST, accept="text/plain")
    assert board.headers["Content-Language"] == "da"
    assert board.text.startswith(f"Gæt dealerens kort, runde 1, i gang\nspil {party.id}, version 1, du er værten\n")
    assert "Pladser: 0 Anna, 1 Bo (har turen), 2 ledig, 3 Bot 4 (robot, svær)" in board.text
    sent = re.compile(r"  (?:POST|DELETE) .*")
    assert ENGLISH_WORDS.findall(sent.sub("", board.text).replace("Bot 4", "").replace(party.id, "").lower()) == []
    assert sent.findall(board.text) == sent.findall(read(party, HOST, "en", "text/plain").text)


def test_what_is_over_says_so_in_danish(party: Party) -> None:
    """The board of a session that everyone has left, and the refusal of whatever comes after."""
    for who in (HOST, 0, 1):
        party.does(who, "leave")
    assert "runde 0, slut (alle har forladt det)\n" in read(party, 0, accept="text/plain").text
    refused = party.send(0, "deal", Accept_Language="da").get_json()
    assert (refused["code"], refused["detail"]) == ("finished", "Spillet er slut: alle har forladt det.")
    assert "0 Anna (gået), 1 Bo (gået)" in read(party, None, accept="text/plain").text


# Refusals.


@pytest.mark.parametrize(
    ("who", "verb", "body", "status"),
    [
        (0, "choose", {"rank": "7"}, 409),
        (0, "wager", {"amount": 1}, 409),
        (HOST, "leave", {"seat": 2}, 409),
        (HOST, "token", {"seat": 3}, 409),
        (HOST, "join", {"seat": 0, "bot": "easy"}, 409),
        (HOST, "choose", {"rank": "7"}, 403),
        (1, "leave", {"seat": 0}, 403),
    ],
)
def test_a_refusal_is_in_danish(party: Party, who: Who, verb: str, body: dict[str, Any], status: int) -> None:
    """Title, sentence and the labels of what is possible instead; status and code are the same."""
    english, danish = party.send(who, verb, body), party.send(who, verb, body, Accept_Language="da")
    assert danish.status_code == status
    assert_said_twice(english, danish)


def test_a_newcomer_is_refused_in_danish(party: Party) -> None:
    """A seat that is taken is so in both languages."""
    for asked in ({"seat": 0}, {"seat": 11}):
        english = party.client.post(f"{party.path}/join", json=asked)
        danish = party.client.post(f"{party.path}/join", json=asked, headers={"Accept-Language": "da"})
        assert_said_twice(english, danish)


def test_another_version_is_told_in_danish(party: Party) -> None:
    """A 412, with what is possible now; a tag of either language names a version."""
    english, danish = (
        party.send(0, "deal", If_Match='"9.s0.json.da.r2"', Accept_Language=language) for language in ("en", "da")
    )
    assert danish.status_code == 412
    assert_said_twice(english, danish)
    assert party.send(0, "deal", If_Match=read(party, 1).headers["ETag"]).status_code == 200


def test_cards_that_are_worth_nothing_are_so_in_danish(client: FlaskClient) -> None:
    """C-12: the refusal of a stateless evaluate."""
    asked = [
        client.post(f"/v1/games/{SLUG}/evaluate", json={"cards": ["Th"]}, headers={"Accept-Language": language})
        for language in ("en", "da")
    ]
    assert_said_twice(*asked)


def test_what_a_program_got_wrong_is_said_in_english(party: Party) -> None:
    """No token, no such session, a body that does not fit: these are for whoever wrote the program."""
    danish = {"Accept-Language": "da"}
    for answer in (
        party.send(0, "choose", {"rank": 7}, Accept_Language="da"),
        party.client.post(f"{party.path}/deal", headers=danish),
        party.client.get(f"/v1/sessions/{'x' * 22}", headers=danish),
        party.client.get("/v1/games/chess/rules", headers=danish),
    ):
        assert (answer.status_code >= 400, answer.headers["Content-Language"]) == (True, "en")


# Documents.


@pytest.mark.parametrize(("accept", "begins"), [("text/markdown", "# Gæt dealerens kort\n"), ("text/html", "<!doc")])
def test_the_rules_are_in_danish(client: FlaskClient, accept: str, begins: str) -> None:
    """As Markdown or as a page; each language has a tag of its own."""
    path, asked = f"/v1/games/{SLUG}/rules", {"Accept": accept, "Accept-Language": "da"}
    danish, english = client.get(path, headers=asked), client.get(path, headers={"Accept": accept})
    assert (danish.headers["Content-Language"], english.headers["Content-Language"]) == ("da", "en")
    assert danish.text.startswith(begins)
    assert "BD-16" in danish.text
    if accept == "text/html":
        assert '<html lang="da">' in danish.text
        assert "<title>Gæt dealerens kort: reglerne</title>" in danish.text
    assert client.get(path, headers=asked | {"If-None-Match": english.headers["ETag"]}).status_code == 200
    assert client.get(path, headers=asked | {"If-None-Match": danish.headers["ETag"]}).status_code == 304


def test_the_game_is_told_about_in_danish(client: FlaskClient) -> None:
    """Title, summary and what each option means; the catalogue, of games that speak English alone, is in English."""
    path = f"/v1/games/{SLUG}"
    assert_said_twice(*(client.get(path, headers={"Accept-Language": language}) for language in ("en", "da")))
    assert client.get("/v1/games", headers={"Accept-Language": "da"}).headers["Content-Language"] == "en"


# Events.


def test_events_come_with_views_in_danish(party: Party) -> None:
    """By long poll and by stream; types of events are codes."""
    for language in ("en", "da"):
        party.does(0, "seed", {"client_seed": language})
    headers = party.headers(0)
    english, danish = (
        party.client.get(f"{party.path}/events?after=0", headers=headers | {"Accept-Language": language})
        for language in ("en", "da")
    )
    assert_said_twice(english, danish)
    stream = party.client.get(
        f"{party.path}/events", headers=headers | {"Accept": "text/event-stream", "Accept-Language": "da"}
    )
    assert stream.headers["Content-Language"] == "da"
    data = next(each for each in _pieces(stream) if each.startswith("data: "))
    assert ENGLISH_WORDS.findall(" ".join(for_people(json.loads(data.removeprefix("data: "))))) == []
    stream.close()


def _pieces(stream: TestResponse) -> Iterator[str]:
    """Yield a stream's lines as they come."""
    for chunk in stream.iter_encoded():
        yield from chunk.decode().splitlines()


# Every sentence there is.


def spoken() -> set[str]:
    """Return every sentence that the service says in a game's language."""
    found = {"End and delete this session", DETAILS["version-mismatch"]}
    found |= {KINDS[kind].title for kind in (Forbidden, Refused, VersionMismatch)}
    found |= {*LEVELS, play.OPEN, play.CLOSED, "waiting", "ready", "playing", "settled", "finished"}
    for path in SERVICE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        found |= sentences(source) | {*said_plainly(source)}
    return {each for each in found if each != "{name}"} - {"Invalid"}


def said_plainly(source: str) -> Iterator[str]:
    """Yield the sentences that a module says as they stand."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="said"), args=[ast.Constant(value=str(text)), *_]):
                yield text


def test_every_sentence_of_the_service_is_in_its_dictionary() -> None:
    """BD-14: its Danish has all that it says to players, and nothing else."""
    assert spoken() == DANISH.keys()


def test_no_sentence_loses_a_fact() -> None:
    """What stands in braces in English stands there in Danish."""
    for english, danish in DANISH.items():
        one, other = (sorted(name for _, name, _, _ in Formatter().parse(each) if name) for each in (english, danish))
        assert one == other
