"""Writes the examples of openapi.yaml: real answers of the service, the same ones every time.

`python -m tests.capture_examples` puts them in the file's last section. Ids, tokens and secrets come
from a fixed text in place of chance, and the time from a clock that each request moves on by a second.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from unittest.mock import patch

import yaml
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.games import GAMES
from service import create_app, sessions
from service.clients import api_keys
from service.connection import NotDurable, StoreAway
from service.gate import Gate
from service.limits import OFF
from service.records import DAY_MS
from service.settings import Settings
from service.store import Deadline
from service.streams import Streams
from tests.claims import contested, misfit
from tests.contract import ContractClient, frames
from tests.documented import OPENAPI
from tests.frames import NDJSON, Frame
from tests.layout import Examples, rewritten
from tests.shelf import MadeUp, Shelf

Captured = Iterator[tuple[str, TestResponse | Frame]]


class Visit:
    """One session, asked as a seat, as its host or as a spectator."""

    def __init__(self, client: FlaskClient, shelf: Shelf, asked: Mapping[str, object]) -> None:
        self._client = client
        self._shelf = shelf
        self.answer = client.post("/v1/sessions", json=asked)
        opened = self.answer.get_json()
        self.path = f"/v1/sessions/{opened['session']['id']}"
        self.seats = [_bearer(each["token"]) for each in opened["tokens"]]
        self.host = _bearer(opened["host_token"])

    @property
    def seat(self) -> dict[str, str]:
        """Return the headers of the first seat that got a token."""
        return self.seats[0]

    def get(self, part: str = "", **headers: str) -> TestResponse:
        """Look; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.get(self.path + part, headers=named)

    def view(self, seat: int = 0) -> dict[str, Any]:
        """Return a seat's view."""
        return dict(self.get(**self.seats[seat]).get_json())

    def act(self, verb: str, body: object = None, **headers: str) -> TestResponse:
        """Send an action a second later, as the first seat or as whom the headers say."""
        self._shelf.time += 1000
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.post(f"{self.path}/{verb}", json=body or {}, headers=self.seat | named)

    def join(self, body: object) -> TestResponse:
        """Take a seat, and keep its token."""
        answer = self._client.post(f"{self.path}/join", json=body)
        if answer.status_code == HTTPStatus.OK:
            self.seats.append(_bearer(answer.get_json()["token"]))
        return answer


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def captured() -> Examples:
    """Return every example by its name: the answer's JSON, or its text."""
    shelf = Shelf()
    app = create_app(Settings(log_level="CRITICAL"), shelf)
    app.test_client_class = ContractClient
    with patch.object(sessions, "secrets", MadeUp()):
        client = app.test_client()
        own = (_spice, _skulls, _problems, _jackpot, _beat_the_dealer, _speed, _left_alone)
        parts = (_public(client), *(each(client, shelf) for each in own))
        answers = {name: answer for part in parts for name, answer in part}
    return {name: _value(answers[name]) for name in sorted(answers)}


def _public(client: FlaskClient) -> Captured:
    yield "Catalogue", client.get("/v1/games")
    for slug in GAMES:
        yield f"{_pascal(slug)}Info", client.get(f"/v1/games/{slug}")
    hand = {"cards": ["Th", "Td", "Kc", "Ks", "2h"], "options": {"wheel": False}}
    yield "SpiceIslandPokerEvaluation", client.post("/v1/games/spice-island-poker/evaluate", json=hand)
    row = {"cards": ["Kk", "Kw", "B", "MA", "3h"]}
    yield "SkullsAndSwordsEvaluation", client.post("/v1/games/skulls-and-swords/evaluate", json=row)
    yield "JackpotEvaluation", client.post("/v1/games/jackpot/evaluate", json={"cards": ["Kh", "Kd", "Kc", "Ks", "Ah"]})
    yield "NothingToEvaluate", client.post("/v1/games/speed/evaluate", json={"cards": ["Ah"]})
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


def _spice(client: FlaskClient, shelf: Shelf) -> Captured:
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
    yield "VersionMismatch", visit.act("deal", If_Match='"0.s0.json.en.r2"')
    yield "SpiceIslandPokerDealt", visit.act("deal", {"client_seed": "my own luck"})
    yield "SeatView", visit.get(**visit.seat)
    yield "SpectatorView", visit.get()
    yield "HostView", visit.get(**visit.host)
    yield "Board", visit.get(Accept="text/plain", **visit.seat)
    yield "SpiceIslandPokerChosen", visit.act("choose", {"action": "bet"})
    yield "SpiceIslandPokerScore", visit.get("/score", **visit.seat)
    yield "SheetDrawn", visit.get("/score", Accept="text/plain", **visit.seat)
    yield "Left", visit.act("leave")
    yield "Finished", visit.act("deal")


def _skulls(client: FlaskClient, shelf: Shelf) -> Captured:
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


def _problems(client: FlaskClient, shelf: Shelf) -> Captured:
    visit = Visit(client, shelf, {"game": "skulls-and-swords"})
    shelf.races = True
    yield "Busy", visit.act("deal")
    shelf.races = False
    app = client.application
    with patch.dict(app.extensions, streams=Streams(app.extensions["sessions"], shelf.wakes(), 0)):
        yield "TooManyStreams", visit.get("/events", Accept=NDJSON)
    with patch.dict(app.extensions, gate=Gate(Settings(api_keys=api_keys("0" * 64)), OFF)):
        yield "ApiKeyNeeded", client.post("/v1/sessions", json={"game": "speed"})
    for _ in range(app.extensions["gate"].limits.of_seat("reads", "skulls-and-swords").burst):
        visit.get()
    yield "RateLimited", visit.get()
    shelf.time += DAY_MS
    yield "Gone", visit.get()
    shelf.outlive()
    yield "NewerSession", visit.act("deal")
    shelf.fault = StoreAway("ordered")
    yield "StoreUnavailable", visit.act("deal")
    shelf.fault = NotDurable("ordered")
    yield "NotDurable", client.post(f"{visit.path}/deal", json={}, headers=visit.seat)
    shelf.fault = ZeroDivisionError("ordered")
    yield "InternalError", visit.act("deal")
    shelf.fault = None


def _jackpot(client: FlaskClient, shelf: Shelf) -> Captured:
    open_seat = {"open": True}
    asked = {"game": "jackpot", "options": {"card_value": 5}, "seats": ["Guest", open_seat, open_seat]}
    visit = Visit(client, shelf, asked | {"visibility": "public"})
    yield "OpenedForSeveral", visit.answer
    yield from _seats(client, visit)
    yield from _drops(visit)
    visit.act("leave", **visit.seats[1])
    yield "SeatLeft", visit.act("seed", {"client_seed": "my own luck"}, **visit.seats[1])
    visit.act("leave")
    told = [*frames(visit.get("/events", Accept=NDJSON)), *frames(visit.get("/events?after=4", Accept=NDJSON))]
    yield from zip(("SnapshotFrame", "EndFrame", "MoveFrame"), told, strict=False)


def _seats(client: FlaskClient, visit: Visit) -> Captured:
    yield "Joined", visit.join({"seat": 1, "name": "Friend"})
    yield "Lobby", client.get("/v1/sessions")
    yield "BotSeated", visit.act("join", {"seat": 2, "bot": "easy"}, **visit.host)
    yield "SeatTaken", visit.join({})
    reissued = visit.act("token", {"seat": 1}, **visit.host)
    yield "Reissued", reissued
    visit.seats[1] = _bearer(reissued.get_json()["token"])
    yield "Ticket", visit.act("ticket")


def _drops(visit: Visit) -> Captured:
    visit.act("deal")
    yield "JackpotView", visit.get(**visit.seat)
    yield "JackpotChosen", visit.act("choose", {"drop": [0, 2]})
    yield "EventPage", visit.get("/events?after=3&view=false", **visit.seat)
    yield "EmptyEventPage", visit.get("/events?after=5", **visit.seat)
    visit.act("choose", {"drop": []}, **visit.seats[1])
    while (table := visit.view()["table"])["phase"] == "drop":  # a refused choice lets the bot's time pass as well
        visit.act("choose", {"drop": []}, **visit.seats[table["turn"] == 1])
    yield "JackpotEvaluated", visit.act("evaluate")
    yield "JackpotScore", visit.get("/score", **visit.seat)


def _beat_the_dealer(client: FlaskClient, shelf: Shelf) -> Captured:
    visit = Visit(client, shelf, {"game": "beat-the-dealer", "seats": ["Guest", "Friend"]})
    visit.act("deal")
    yield "BeatTheDealerView", visit.get(**visit.seat)
    guess = visit.view(1)["actions"][0]["example"]
    yield "BeatTheDealerChosen", visit.act("choose", guess, **visit.seats[1])
    visit.act("choose", visit.view(1)["actions"][0]["example"], **visit.seats[1])
    visit.act("evaluate", **visit.host)
    yield "BeatTheDealerScore", visit.get("/score", **visit.seat)


def _speed(client: FlaskClient, shelf: Shelf) -> Captured:
    found: dict[str, TestResponse | Frame] = {}
    while "SpeedScore" not in found:  # one table after the other, until its cards have it all
        found = dict(_race(client, shelf))
    yield from found.items()


def _race(client: FlaskClient, shelf: Shelf) -> Captured:
    visit = Visit(client, shelf, {"game": "speed", "options": {"stake": 5}, "seats": ["Guest", "Friend"]})
    for seat in visit.seats:
        visit.act("deal", **seat)
    shelf.time += 3000
    yield "SpeedView", visit.get(**visit.seat)
    if claims := contested(visit.view(), visit.view(1)):
        yield "SpeedChosen", visit.act("choose", claims[0])
        yield "PileChanged", visit.act("choose", claims[1], **visit.seats[1])
        if wrong := misfit(visit.view()):
            yield "IllegalPlay", visit.act("choose", wrong)
            yield "Penalized", visit.act("choose", wrong)
            visit.act("leave", **visit.seats[1])
            yield "SpeedScore", visit.get("/score", **visit.seat)


def _left_alone(client: FlaskClient, shelf: Shelf) -> Captured:
    """Yield what a table answers that owes more than a request has time for."""
    visit = Visit(client, shelf, {"game": "jackpot", "seats": [{"bot": "easy"}, "Anna"]})
    visit.act("deal")
    shelf.time += 1000
    with patch.object(sessions, "PORTION", 1), patch.object(Deadline, "allows_a_call", return_value=False):
        yield "CatchingUp", visit.get()


def _pascal(slug: str) -> str:
    return "".join(word.capitalize() for word in slug.split("-"))


def _value(answer: TestResponse | Frame) -> object:
    if isinstance(answer, dict):
        return answer
    value: object = answer.get_json() if (answer.mimetype or "").endswith("json") else answer.text
    return value


def main() -> None:
    """Write the examples into openapi.yaml."""
    examples = captured()
    text = rewritten(OPENAPI.read_text(encoding="utf-8"), examples)
    found = {name: each["value"] for name, each in yaml.safe_load(text)["components"]["examples"].items()}
    assert found == examples, "the examples do not read as they were answered"
    OPENAPI.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
