"""A service over a store in memory, and for every operation of the contract a request that it accepts."""

from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from service import create_app
from service.settings import Settings
from tests.contract import CONTRACT, Contract, ContractClient
from tests.shelf import Shelf

SPICE, SKULLS = "spice-island-poker", "skulls-and-swords"
OPERATIONS = {
    operation["operationId"]: (method.upper(), path)
    for path, node in CONTRACT.document.tree["paths"].items()
    for method, operation in node.items()
    if method != "parameters"
}
VERBS = dict.fromkeys(("deal", "choose", "wager", "seed", "leave"), SPICE)
VERBS |= dict.fromkeys(("swap", "confirm", "evaluate"), SKULLS)
"""The verbs, each with a game that has it."""


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


class Scene:
    """A service over a store in memory."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.app = create_app(Settings(log_level="CRITICAL"), self.shelf)
        self.app.test_client_class = SeenClient
        self.client = self.app.test_client()

    def open(self, game: str) -> dict[str, Any]:
        """Open a session: its path, and the headers of seat and host."""
        opened = self.client.post("/v1/sessions", json={"game": game}).get_json()
        return {
            "path": f"/v1/sessions/{opened['session']['id']}",
            "seat": {"Authorization": f"Bearer {opened['tokens'][0]['token']}"},
            "host": {"Authorization": f"Bearer {opened['host_token']}"},
        }

    def accepted(self, name: str) -> Ask:
        """Return a request of this operation that is accepted."""
        method, path = OPERATIONS[name]
        if name in VERBS:
            return self._move(name)
        if name == "openSession":
            return Ask(method, path, json={"game": SPICE})
        session = self.open(SPICE)
        filled = path.replace("{game}", SPICE).replace("/v1/sessions/{id}", session["path"])
        body = {"cards": ["Th", "Td", "Kc", "Ks", "2h"]} if name == "evaluateCards" else None
        viewer = {} if "{id}" not in path else session["host" if method == "DELETE" else "seat"]
        return Ask(method, filled, dict(viewer), body)

    def _move(self, verb: str) -> Ask:
        """Play on, the first example each time, until the verb is offered."""
        session = self.open(VERBS[verb])
        view = self.client.get(session["path"], headers=session["seat"]).get_json()
        while True:
            offered = {action["verb"]: action for action in reversed(view["actions"])}
            if verb in offered:
                return Ask("POST", offered[verb]["href"], dict(session["seat"]), offered[verb]["example"])
            first = view["actions"][0]
            view = self.client.post(first["href"], json=first["example"], headers=session["seat"]).get_json()

    def send(self, ask: Ask, **changes: Any) -> TestResponse:  # noqa: ANN401 - Flask's own
        """Send a request, with what is changed in it."""
        wanted = {"method": ask.method, "headers": ask.headers, "json": ask.json} | changes
        if "data" in wanted:
            del wanted["json"]
        return self.client.open(ask.path, **wanted)

    def elsewhere(self, ask: Ask, game: str, *verbs: str) -> None:
        """Point a move at another session, where these verbs have been played."""
        session = self.open(game)
        for verb in verbs:
            body = {"amount": 5} if verb == "wager" else {}
            self.client.post(f"{session['path']}/{verb}", json=body, headers=session["seat"])
        ask.path = f"{session['path']}/{ask.path.rpartition('/')[2]}"
        ask.headers = session["seat"]
