"""Those who play: at a rate, over all rooms, rightly and wrongly, and what is not answered once more with its key."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from threading import Event, Lock

from soak.rooms import PAUSE, House, Room, Sent, asked
from tests.callers import Caller
from tests.histories import Told
from tests.tables import IDLE, random_value

ROOMS = 10
PATIENCE = 60.0
"""Seconds for which a player sends again what is not answered."""
WRONG = "wrong requests"


class Figures:
    """What the players count, all of them together."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.faults: list[str] = []
        self.latencies: list[float] = []
        self._lock = Lock()

    def note(self, told: Told, seconds: float) -> None:
        """Count an answer; a fault of the service's own is noted."""
        with self._lock:
            self.counts["requests"] += 1
            if told.sure:
                self.latencies.append(seconds)
            else:
                self.errors["cut" if told.status == 0 else f"{told.status} {told.body['code']}"] += 1
        if told.status >= 500 and told.sure:
            self.faults.append(f"{told.status}: {told.body}")

    def count(self, what: str) -> None:
        """Count something else."""
        with self._lock:
            self.counts[what] += 1


class Pace:
    """Lets so many through a second, whoever they are; who comes late is let through at once."""

    def __init__(self, rate: float, over: Event) -> None:
        self._began, self._rate, self._numbers, self._over = time.monotonic(), rate, count(), over

    def wait(self) -> None:
        """Wait for one's turn."""
        self._over.wait(max(0.0, self._began + next(self._numbers) / self._rate - time.monotonic()))


class Player:
    """One who asks one thing after the other, of whichever room."""

    def __init__(self, caller: Caller, house: House, pace: Pace, figures: Figures, number: int) -> None:
        self._caller, self._house, self._pace, self._figures = caller, house, pace, figures
        self._opens = number == 0  # many at once would open more rooms than are wanted
        self._names = (f"{number}-{each}" for each in count())
        self._random = Random()  # noqa: S311 - not for secrets

    def play(self, over: Event) -> None:
        """Play until it is over."""
        doing: list[Callable[[Room], None]] = [self._move, self._repeat, self._look, self._err]
        while not over.is_set():
            if self._opens and (game := self._house.wanted(ROOMS)):
                made = self._ask("POST", "/v1/sessions", body=asked(game))
                if made.status == 201:
                    self._house.add(made.body)
            with self._house.room() as room:
                if room is None:
                    over.wait(PAUSE)
                else:
                    self._random.choices(doing, weights=(70, 8, 12, 10))[0](room)

    def _ask(self, method: str, path: str, token: str = "", body: object = None, key: str = "") -> Told:
        self._pace.wait()
        began = time.monotonic()
        told = self._caller.ask(method, path, token, body, key)
        self._figures.note(told, time.monotonic() - began)
        return told

    def _read(self, room: Room, token: str) -> Told:
        began = time.monotonic()
        told = self._ask("GET", room.path, token)
        room.history.read(began, told)
        if told.status in (404, 410) or (told.status == 200 and told.body["status"] == "finished"):
            room.over = True
        return told

    def _move(self, room: Room) -> None:
        """Look what a seat may do, and do something of that; another may have done so meanwhile."""
        token = self._random.choice(room.tokens)
        told = self._read(room, token)
        if told.status != 200:
            return
        actions = [action for action in told.body["actions"] if action["verb"] not in IDLE]
        if actions:
            action = self._random.choice(actions)
            body = random_value(action["schema"], self._random)
            self._send(room, Sent(next(self._names), f"{room.path}/{action['verb']}", token, body))

    def _send(self, room: Room, sent: Sent) -> None:
        told = room.history.move(sent.name, self._attempts(sent))
        if told.status == 200:
            room.remember(sent)
            self._figures.count("moves")
        elif told.sure:
            self._figures.count("refused")
        else:
            self._figures.faults.append(f"a move was not answered in {PATIENCE:.0f} s: {sent} {told}")

    def _attempts(self, sent: Sent) -> Iterator[Told]:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            yield self._ask("POST", sent.path, sent.token, sent.body, sent.name)
            time.sleep(PAUSE)

    def _repeat(self, room: Room) -> None:
        """Send an answered move again."""
        if room.sent:
            sent = self._random.choice(room.sent)
            told = self._ask("POST", sent.path, sent.token, sent.body, sent.name)
            room.history.repeat(sent.name, told)
            self._figures.count("repeats")
            if told.sure and told.status not in (200, 410):
                self._figures.faults.append(f"a repeat was answered {told}")

    def _look(self, room: Room) -> None:
        """Ask as a spectator, or for what lies beside the game."""
        path = self._random.choice(("", "/score", "/v1/sessions", "/v1/games", "/readyz"))
        if path:
            self._ask("GET", path if path[1:3] in ("v1", "re") else room.path + path)
        else:
            self._read(room, "")

    def _err(self, room: Room) -> None:
        """Ask for what is refused."""
        token = self._random.choice(room.tokens)
        method, path, token, body = self._random.choice(
            (
                ("POST", f"{room.path}/deal", "", {}),
                ("POST", f"{room.path}/deal", "wrong", {}),
                ("POST", f"{room.path}/deal", token, b'{"a": 1, "a": 2'),
                ("POST", f"{room.path}/deal", token, {"unheard": "of"}),
                ("POST", f"{room.path}/dance", token, {}),
                ("GET", "/v1/sessions/aaaaaaaaaaaaaaaaaaaaaa", token, None),
                ("POST", "/v1/sessions", "", {"game": "whist"}),
                ("PUT", room.path, token, {}),
            )
        )
        told = self._ask(method, path, token, body)
        self._figures.count(WRONG)
        if told.sure and not 400 <= told.status < 500:
            self._figures.faults.append(f"{method} {path} {body!r} was answered {told}")
