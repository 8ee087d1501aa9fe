"""A mixed run over every game on a real service, right and wrong, and all that it was told or gave in secret."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from engine.games import GAMES
from tests.answers import Answer
from tests.contract import LiveClient
from tests.frames import NDJSON, SSE
from tests.scene import SEATS

TOLD = ("token", "host_token", "ticket")
"""The fields that are told once."""
MOVES = 30
IDLE = ("seed", "leave", "join", "token")
OPTIONS = {"speed": {"countdown_ms": 0}}
_number = count()


class Run:
    """One session of a game, played and attacked; `told` and `seeds` are what no place may keep, and no log."""

    def __init__(self, url: str, game: str) -> None:
        self._client = LiveClient(url)
        self.game = game
        self.told: set[str] = set()
        self.seeds: set[str] = set()
        self.id = ""

    def whole(self) -> "Run":
        """Do all of it."""
        several = game_seats(self.game)
        made = self._post("/v1/sessions", {"game": self.game, "seats": several, "options": OPTIONS.get(self.game, {})})
        self.id, host = made["session"]["id"], made["host_token"]
        seats = {each["seat"]: each["token"] for each in made["tokens"]}
        if len(several) > 1:
            joined = self._post(f"{self._path}/join", {"client_seed": self._seed()})
            seats[joined["seat"]] = joined["token"]
        self._listen(seats[0])
        self._post(f"{self._path}/seed", {"client_seed": self._seed()}, seats[0])
        self._play(seats)
        void, seats[0] = seats[0], self._post(f"{self._path}/token", {"seat": 0}, host)["token"]
        self._err(void, seats[0])
        self._listen(seats[0])
        self._post(f"{self._path}/leave", {}, seats[0], key=True)
        self._send("DELETE", self._path, host)
        self._post(f"{self._path}/deal", {}, seats[0])
        return self

    @property
    def _path(self) -> str:
        return f"/v1/sessions/{self.id}"

    def _seed(self) -> str:
        seed = f"a seed of a client {next(_number)}"
        self.seeds.add(seed)
        return seed

    def _play(self, seats: Mapping[int, str]) -> None:
        """Send the first example of whoever has one, each move twice under its key."""
        for _ in range(MOVES):
            offered = ((token, self._send("GET", self._path, token).json()["actions"][0]) for token in seats.values())
            able = next(((token, action) for token, action in offered if action["verb"] not in IDLE), None)
            if able is None:
                return
            token, action = able
            self._post(action["href"], action["example"], token, key=True)

    def _listen(self, token: str) -> None:
        """Read the events in every way, by token and by ticket."""
        ticket = self._post(f"{self._path}/ticket", {}, token)["ticket"]
        by_ticket, by_token = f"{self._path}/events?ticket={ticket}", {"Authorization": f"Bearer {token}"}
        for kind in (SSE, NDJSON):
            for target, who in ((by_ticket, {}), (f"{self._path}/events", by_token)):
                with self._client.follow(target, {"Accept": kind, **who}) as frames:
                    next(frames)
        self._send("GET", f"{by_ticket}&after=0")
        self._send("GET", f"{by_ticket}&after=x")

    def _err(self, void: str, token: str) -> None:
        """Put tokens where they do not belong."""
        for wrong in (void, f"{token}x", token[:-1], token.swapcase()):
            self._send("GET", self._path, wrong)
            self._post(f"{self._path}/deal", {}, wrong, key=True)
        for target in (
            f"{self._path}?token={token}",
            f"{self._path}/{token}",
            f"/v1/sessions/{token}/deal",
            f"/{token}",
        ):
            self._send("GET", target, token)
            self._post(target, {"token": token}, token)
        self._post(f"{self._path}/join", {"seat": 0, "client_seed": token, "token": token})

    def _post(self, target: str, body: Any, token: str = "", *, key: bool = False) -> Any:  # noqa: ANN401 - any JSON
        """Post a body, twice where it is under a key, and note what is told."""
        more = {"Idempotency-Key": f"key-{next(_number)}"} if key else {}
        raw = json.dumps(body).encode()
        answers = [self._send("POST", target, token, raw, more) for _ in range(1 + key)]
        found = answers[0].json()
        self.told |= set(_told(found))
        return found

    def _send(
        self, method: str, target: str, token: str = "", body: bytes = b"", more: Mapping[str, str] | None = None
    ) -> Answer:
        typed = {"Content-Type": "application/json"} if body else {}
        known = {"Authorization": f"Bearer {token}"} if token else {}
        return self._client.send(method, target, body, typed | known | dict(more or {}))


def game_seats(game: str) -> list[Any]:
    """Return one person, and for more an open seat."""
    return ["Anna", *([{"open": True}] * (GAMES[game].spec.seats[0] - 1))] if game in SEATS else ["Anna"]


def _told(found: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield every secret in an answer."""
    for name, value in found.items() if isinstance(found, dict) else enumerate(found):
        if name in TOLD and isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            yield from _told(value)
