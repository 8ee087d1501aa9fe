"""A service over a store in memory, and for every operation of the contract a request that it accepts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from werkzeug.test import TestResponse

from service import create_app, sessions
from service.settings import Settings
from service.streams import closing
from tests.contract import CONTRACT, Contract, ContractClient
from tests.shelf import MadeUp, Shelf

BEAT, JACKPOT, SKULLS, SPEED, SPICE = GAMES = (
    "beat-the-dealer",
    "jackpot",
    "skulls-and-swords",
    "speed",
    "spice-island-poker",
)
OPERATIONS = {
    operation["operationId"]: (method.upper(), path)
    for path, node in CONTRACT.document.tree["paths"].items()
    for method, operation in node.items()
    if method != "parameters"
}
VERBS = dict.fromkeys(("deal", "choose", "wager", "seed", "leave"), SPICE)
VERBS |= dict.fromkeys(("swap", "confirm", "evaluate"), SKULLS)
"""The verbs of the games, each with a game that has it."""
SEATS: dict[str, list[Any]] = {JACKPOT: ["Anna", "Bo", {"open": True}]}
SEATS |= {game: ["Anna", "Bo"] for game in (BEAT, SPEED)}
"""Who sits where, if nothing else is asked; in the other games one player."""


class SeenClient(ContractClient):
    """A client with a memory of its own."""

    contract = Contract(CONTRACT.document)


@dataclass
class Ask:
    """A request that is accepted as it is, until something is changed in it."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None


@dataclass(frozen=True)
class Opened:
    """A session, and the headers of its seats and its host."""

    path: str
    seats: tuple[dict[str, str], ...]
    host: dict[str, str]

    @property
    def seat(self) -> dict[str, str]:
        """Return the headers of the first seat that a person got."""
        return self.seats[0]


class Scene:
    """A service over a store in memory; its chance is the same in every run."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.app = create_app(Settings(log_level="CRITICAL", limits=False, streams=8), self.shelf)
        self.app.test_client_class = SeenClient
        self.client = self.app.test_client()
        self._chance = MadeUp()

    def close(self) -> None:
        """End the reader of the streams, if there is one."""
        closing.set()
        if thread := self.app.extensions["streams"]._reader._thread:
            thread.join()
        closing.clear()

    def open(self, game: str, seats: list[Any] | None = None, **asked: Any) -> Opened:  # noqa: ANN401 - any of a create
        """Open a session."""
        body = {"game": game, "seats": seats or SEATS.get(game, ["Anna"]), **asked}
        with patch.object(sessions, "secrets", self._chance):
            opened = self.client.post("/v1/sessions", json=body).get_json()
        return Opened(
            path=f"/v1/sessions/{opened['session']['id']}",
            seats=tuple({"Authorization": f"Bearer {each['token']}"} for each in opened["tokens"]),
            host={"Authorization": f"Bearer {opened['host_token']}"},
        )

    def act(self, session: Opened, verb: str, body: object = None, seat: int = 0) -> TestResponse:
        """Send an action as a seat."""
        return self.client.post(f"{session.path}/{verb}", json=body or {}, headers=session.seats[seat])

    def accepted(self, name: str) -> Ask:
        """Return a request of this operation that is accepted."""
        method, path = OPERATIONS[name]
        if name in VERBS:
            return self._move(name)
        if name == "openSession":
            return Ask(method, path, json={"game": SPICE})
        if "{id}" not in path:
            body = {"cards": ["Th", "Td", "Kc", "Ks", "2h"]} if name == "evaluateCards" else None
            return Ask(method, path.replace("{game}", SPICE), json=body)
        session = self.open(JACKPOT if name in ("join", "reissueToken") else SPICE)
        viewer = session.host if name in ("deleteSession", "reissueToken") else session.seat
        bodies = {"join": {"name": "Cleo"}, "reissueToken": {"seat": 1}, "makeTicket": {}}
        filled = path.replace("/v1/sessions/{id}", session.path)
        return Ask(method, filled, {} if name == "join" else dict(viewer), bodies.get(name))

    def _move(self, verb: str) -> Ask:
        """Play on, the first example each time, until the verb is offered."""
        session = self.open(VERBS[verb])
        view = self.client.get(session.path, headers=session.seat).get_json()
        while True:
            offered = {action["verb"]: action for action in reversed(view["actions"])}
            if verb in offered:
                return Ask("POST", offered[verb]["href"], dict(session.seat), offered[verb]["example"])
            first = view["actions"][0]
            view = self.client.post(first["href"], json=first["example"], headers=session.seat).get_json()

    def send(self, ask: Ask, **changes: Any) -> TestResponse:  # noqa: ANN401 - Flask's own
        """Send a request, with what is changed in it."""
        wanted = {"method": ask.method, "headers": ask.headers, "json": ask.json} | changes
        if "data" in wanted:
            del wanted["json"]
        return self.client.open(ask.path, **wanted)

    def elsewhere(self, ask: Ask, session: Opened, seat: int = 0) -> None:
        """Point a request at another session, as one of its seats."""
        rest = ask.path.split("/")[4:]
        ask.path = "/".join([session.path, *rest])
        ask.headers = session.seats[seat]

    def racing(self) -> Iterator[tuple[Opened, dict[str, Any]]]:
        """Yield rounds of Speed in which play is open, each with the view of the first seat."""
        while True:
            session = self.open(SPEED)
            for seat in (0, 1):
                self.act(session, "deal", seat=seat)
            self.shelf.time += 3000
            yield session, self.client.get(session.path, headers=session.seat).get_json()
