"""Writes the examples of openapi.yaml: real answers of the service, the same ones every time.

`python -m tests.capture_examples` puts them in the file's last section. Ids, tokens and secrets come
from a fixed text in place of chance, and the time from a clock that each request moves on by a second.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from unittest.mock import patch

import yaml
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service import create_app, sessions
from service.settings import Settings
from service.store import StoreAway
from tests.contract import ContractClient
from tests.documented import OPENAPI
from tests.shelf import MadeUp, Shelf

HEAD = "\n  examples: # written by tests/capture_examples.py\n"
WIDTH = 100

Examples = dict[str, object]

_PLAIN = re.compile("(?!(true|false|null|yes|no|on|off|y|n)$)[a-z][a-z0-9_-]*", re.IGNORECASE | re.ASCII)
"""Text that needs no quotes in any YAML."""


class Visit:
    """One session, asked as its seat, its host or a spectator."""

    def __init__(self, client: FlaskClient, shelf: Shelf, asked: Mapping[str, object]) -> None:
        self._client = client
        self._shelf = shelf
        self.opened = client.post("/v1/sessions", json=asked).get_json()
        self.path = f"/v1/sessions/{self.opened['session']['id']}"
        self.seat = {"Authorization": f"Bearer {self.opened['tokens'][0]['token']}"}
        self.host = {"Authorization": f"Bearer {self.opened['host_token']}"}

    def get(self, part: str = "", **headers: str) -> TestResponse:
        """Look; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.get(self.path + part, headers=named)

    def act(self, verb: str, body: object = None, **headers: str) -> TestResponse:
        """Send an action as the seat, or as whom the headers say."""
        self._shelf.time += 1000
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.post(f"{self.path}/{verb}", json=body or {}, headers=self.seat | named)


def captured() -> Examples:
    """Return every example by its name: the answer's JSON, or its text."""
    shelf = Shelf()
    app = create_app(Settings(log_level="CRITICAL"), shelf)
    app.test_client_class = ContractClient
    with patch.object(sessions, "secrets", MadeUp()):
        client = app.test_client()
        parts = (_public(client), _spice(client, shelf), _skulls(client, shelf), _problems(client, shelf))
        answers = {name: answer for part in parts for name, answer in part}
    return {name: _value(answers[name]) for name in sorted(answers)}


def _public(client: FlaskClient) -> Iterator[tuple[str, TestResponse]]:
    yield "Catalogue", client.get("/v1/games")
    yield "SpiceIslandPokerInfo", client.get("/v1/games/spice-island-poker")
    yield "SkullsAndSwordsInfo", client.get("/v1/games/skulls-and-swords")
    hand = {"cards": ["Th", "Td", "Kc", "Ks", "2h"], "options": {"wheel": False}}
    yield "SpiceIslandPokerEvaluation", client.post("/v1/games/spice-island-poker/evaluate", json=hand)
    row = {"cards": ["Kk", "Kw", "B", "MA", "3h"]}
    yield "SkullsAndSwordsEvaluation", client.post("/v1/games/skulls-and-swords/evaluate", json=row)
    yield "NotFound", client.get("/v1/gmaes")
    yield "UnknownGame", client.get("/v1/games/whist")
    yield "UnknownSession", client.get("/v1/sessions/AAAAAAAAAAAAAAAAAAAAAA")
    yield "MethodNotAllowed", client.put("/v1/games")
    opening = "/v1/sessions"
    yield "MalformedJson", client.post(opening, data=b'{"game": ', content_type="application/json")
    yield "BadRequest", client.post(opening, data=b"{}", environ_overrides={"CONTENT_LENGTH": "9"})
    yield "BodyTooLarge", client.post(opening, data=b" " * 20_000, content_type="application/json")
    yield "UnsupportedMediaType", client.post(opening, data=b"game=whist", content_type="text/plain")
    yield "Invalid", client.post(opening, json={"game": "spice-island-poker", "options": {"balance": "5"}})


def _spice(client: FlaskClient, shelf: Shelf) -> Iterator[tuple[str, TestResponse]]:
    asked = {"game": "spice-island-poker", "options": {"balance": 500}, "seats": ["Guest"]}
    yield "Opened", client.post("/v1/sessions", json=asked)
    visit = Visit(client, shelf, asked)
    yield "Unauthorized", visit.act("wager", Authorization="Bearer of-another-session")
    yield "Forbidden", visit.act("wager", {"amount": 25}, **visit.host)
    yield "NotNow", visit.act("deal")
    yield "OutOfBounds", visit.act("wager", {"amount": 400})
    yield "NotInThisGame", visit.act("confirm")
    yield "NotAcceptable", visit.get(Accept="image/png")
    yield "SpiceIslandPokerWagered", visit.act("wager", {"amount": 25}, Idempotency_Key="ante-1")
    yield "KeyReused", visit.act("wager", {"amount": 50}, Idempotency_Key="ante-1")
    yield "VersionMismatch", visit.act("deal", If_Match='"0.s0.json.en.r1"')
    yield "SpiceIslandPokerDealt", visit.act("deal", {"client_seed": "my own luck"})
    yield "SeatView", visit.get(**visit.seat)
    yield "SpectatorView", visit.get()
    yield "HostView", visit.get(**visit.host)
    yield "Board", visit.get(Accept="text/plain", **visit.seat)
    yield "SpiceIslandPokerChosen", visit.act("choose", {"action": "bet"})
    yield "SpiceIslandPokerScore", visit.get("/score", **visit.seat)
    yield "Left", visit.act("leave")
    yield "Finished", visit.act("deal")


def _skulls(client: FlaskClient, shelf: Shelf) -> Iterator[tuple[str, TestResponse]]:
    visit = Visit(client, shelf, {"game": "skulls-and-swords"})
    yield "NotEvaluated", visit.get("/score", **visit.seat)
    for number in range(1, 16):
        dealt, chosen = visit.act("deal"), visit.act("choose", {"cards": [0, 1]})
        if number == 1:
            yield "SkullsAndSwordsDealt", dealt
            yield "SkullsAndSwordsChosen", chosen
    visit.act("confirm")
    visit.act("wager", {"amount": 40})
    yield "SkullsAndSwordsEvaluated", visit.act("evaluate")
    yield "SkullsAndSwordsScore", visit.get("/score", **visit.seat)


def _problems(client: FlaskClient, shelf: Shelf) -> Iterator[tuple[str, TestResponse]]:
    visit = Visit(client, shelf, {"game": "skulls-and-swords"})
    shelf.races = True
    yield "Busy", visit.act("deal")
    shelf.races = False
    shelf.time += sessions.DAY_MS
    yield "Gone", visit.get()
    shelf.fault = StoreAway("ordered")
    yield "StoreUnavailable", visit.act("deal")
    shelf.fault = ZeroDivisionError("ordered")
    yield "InternalError", visit.act("deal")


def _value(answer: TestResponse) -> object:
    value: object = answer.get_json() if (answer.mimetype or "").endswith("json") else answer.text
    return value


def rewritten(text: str, examples: Examples) -> str:
    """Return the document with these examples in its last section."""
    lines = [line for name, value in examples.items() for line in (f"    {name}:", *_field("value", value, 6))]
    return text[: text.index(HEAD)] + HEAD + "\n".join(lines) + "\n"


def _field(name: str, value: object, indent: int) -> list[str]:
    """Return `name: value` as lines of YAML."""
    start = f"{' ' * indent}{name}:"
    if len(line := f"{start} {_flow(value)}") <= WIDTH or not value or isinstance(value, (int, str)):
        return _text(start, value, indent) if isinstance(value, str) and "\n" in value else [line]
    if isinstance(value, dict):
        return [start, *(line for each in value.items() for line in _field(*each, indent + 2))]
    assert isinstance(value, list)
    if isinstance(value[0], str):
        return [start, *_wrapped(_flow(value), indent + 2)]
    return [start, *(line for each in value for line in _item(each, indent + 2))]


def _item(value: object, indent: int) -> list[str]:
    """Return `- value` as lines of YAML."""
    if len(line := f"{' ' * indent}- {_flow(value)}") <= WIDTH or not isinstance(value, dict):
        return [line]
    first, *others = (line for each in value.items() for line in _field(*each, indent + 2))
    return [f"{' ' * indent}- {first.strip()}", *others]


def _text(start: str, text: str, indent: int) -> list[str]:
    """Return a text of several lines as it is."""
    return [f"{start} |", *(f"{' ' * (indent + 2)}{line}".rstrip() for line in text.splitlines())]


def _wrapped(flow: str, indent: int) -> list[str]:
    return textwrap.wrap(flow, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 1))


def _flow(value: object) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{name}: {_flow(each)}" for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write the examples into openapi.yaml."""
    examples = captured()
    text = rewritten(OPENAPI.read_text(encoding="utf-8"), examples)
    found = {name: each["value"] for name, each in yaml.safe_load(text)["components"]["examples"].items()}
    assert found == examples, "the examples do not read as they were answered"
    OPENAPI.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
