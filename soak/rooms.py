"""The sessions that are played: each is opened, played by many at once, held against the store, and given up."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import choice, random
from threading import Lock
from typing import Any, NamedTuple

from redis import RedisError

from engine.advice import BOTS
from engine.games import GAMES
from tests.histories import History, Log, kept
from tests.stored import Stored
from tests.tables import PERSONS

MOVES_A_ROOM = 100
REMEMBERED = 40
PAUSE = 0.2


class Sent(NamedTuple):
    """A move that was answered, to be sent again."""

    name: str
    path: str
    token: str
    body: Any


@dataclass(eq=False)
class Room:
    """A session, and all that its players know."""

    game: str
    id: str
    tokens: list[str]
    history: History = field(default_factory=History)
    sent: list[Sent] = field(default_factory=list)
    moves: int = 0
    over: bool = False
    users: int = 0

    @property
    def path(self) -> str:
        """Where it is."""
        return f"/v1/sessions/{self.id}"

    def remember(self, sent: Sent) -> None:
        """Keep one of the last answered moves; the room is given up after so many."""
        self.sent = [*self.sent[-REMEMBERED:], sent]
        self.moves += 1
        self.over = self.over or self.moves >= MOVES_A_ROOM


def asked(game: str) -> dict[str, Any]:
    """Return what a session is opened with: persons, or a person and a bot where there are any."""
    names: list[Any] = [f"Player {number + 1}" for number in range(PERSONS[game])]
    if game in BOTS and random() < 0.5:  # noqa: S311 - not for secrets
        names[1:] = [{"bot": choice(sorted(BOTS[game]))}]  # noqa: S311
    options = {"balance": 1_000_000} if game == "spice-island-poker" else {}
    return {"game": game, "seats": names, "options": options}


class House:
    """All rooms there are, as many of each game, and what was found in those that were given up."""

    def __init__(self, stored: Stored) -> None:
        self.faults: list[str] = []
        self.checked: Counter[str] = Counter()
        self._stored = stored
        self._rooms: list[Room] = []
        self._lock = Lock()

    def wanted(self, rooms: int) -> str | None:
        """Return the game that a room is missing of, if fewer are open than there should be."""
        with self._lock:
            if len(self._rooms) >= rooms:
                return None
            open_ones = Counter(room.game for room in self._rooms)
        return min(GAMES, key=lambda game: open_ones[game])

    def add(self, opened: dict[str, Any]) -> None:
        """Take up a session that was opened."""
        session = opened["session"]
        with self._lock:
            self._rooms.append(Room(session["game"], session["id"], [each["token"] for each in opened["tokens"]]))

    @contextmanager
    def room(self) -> Iterator[Room | None]:
        """Give any room, or none where none is open; who leaves one that is over last holds it against the store."""
        with self._lock:
            room = choice(self._rooms) if self._rooms else None  # noqa: S311
            if room:
                room.users += 1
        yield room
        if room:
            with self._lock:
                room.users -= 1
                last = room.over and room.users == 0 and room in self._rooms
                if last:
                    self._rooms.remove(room)
            if last:
                self._check(room)

    def close(self) -> None:
        """Hold all rooms against the store that are still open."""
        for room in self._rooms:
            self._check(room)

    def _check(self, room: Room) -> None:
        log = self._kept(room)
        found = [f"{room.game} {room.id}: {fault}" for fault in room.history.faults(log)]
        with self._lock:
            self.faults += found
            self.checked.update(sessions=1, versions=len(log), calls=len(room.history.calls))

    def _kept(self, room: Room) -> Log:
        while True:
            with suppress(RedisError):  # it may be away just now
                return kept(self._stored, room.id)
            time.sleep(PAUSE)
