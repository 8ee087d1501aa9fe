"""A store in memory, and made-up chance: a service over them answers the same in every run."""

import hashlib
from base64 import urlsafe_b64encode
from bisect import bisect_right, insort
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

from msgspec.msgpack import decode, encode

from service.earlier import LAYOUT
from service.limits import Counted, Pace
from service.store import Change, Deadline, Loaded, Verdict
from service.wakes import Wakes

BEGAN = 1_767_225_600_000


class MadeUp:
    """Stands in for `secrets`."""

    def __init__(self, text: str = "croupier") -> None:
        self._text = text
        self._made = 0

    def token_bytes(self, count: int) -> bytes:
        """Return other bytes every time, and the same ones in every run."""
        self._made += 1
        return hashlib.shake_256(f"{self._text} {self._made}".encode()).digest(count)

    def token_urlsafe(self, count: int) -> str:
        """Return such bytes as text."""
        return urlsafe_b64encode(self.token_bytes(count)).rstrip(b"=").decode()


class Bells(Wakes):
    """The news of one service, in memory: whoever follows a session hears of each of its changes."""

    def __init__(self) -> None:
        self._heard: SimpleQueue[str | None] = SimpleQueue()
        self._followed: set[str] = set()

    def ring(self, session: str) -> None:
        """Tell that a session has changed."""
        if session in self._followed:
            self._heard.put(session)

    def follow(self, session: str) -> None:
        """Hear of a session, at once and from now on."""
        self._followed.add(session)
        self._heard.put(session)

    def drop(self, session: str) -> None:
        """Hear of it no more."""
        self._followed.discard(session)

    def nudge(self) -> None:
        """Make `next` return."""
        self._heard.put(None)

    def next(self, seconds: float) -> str | None:
        """Return a session that is newly followed or has changed, or nothing."""
        try:
            return self._heard.get(timeout=seconds) if seconds else self._heard.get_nowait()
        except Empty:
            return None

    def reset(self) -> None:
        """Follow nothing any more."""
        self._followed.clear()


class Shelf:
    """A store in memory, with faults to order: an exception to raise, or races to lose."""

    def __init__(self) -> None:
        self.time = BEGAN
        self.fault: Exception | None = None
        self.races = False
        self._states: dict[str, tuple[int, bytes]] = {}
        self._logs: dict[str, list[bytes]] = {}
        self._records: dict[tuple[str, str], bytes] = {}
        self._tickets: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._lobby: list[str] = []
        self._counts: dict[str, int] = {}
        self._bells: list[Bells] = []
        self._committing = Lock()

    def open(self, session: str, blob: bytes, drop_at: int, deadline: Deadline) -> bool:
        """Put a new session on the shelf."""
        if self.races:
            return False
        self.now(deadline)
        self._states[session] = (0, blob)
        self._logs[session] = []
        return True

    def outlive(self) -> None:
        """Make all sessions those of a later release, in a layout of its own."""
        for session, (version, blob) in self._states.items():
            self._states[session] = version, encode(decode(blob) | {"layout": LAYOUT + 1, "tokens": "elsewhere"})

    def load(self, session: str, field: str, deadline: Deadline, counted: Counted | None = None) -> Loaded:
        """Take a session from the shelf, and count the request as the scripts do."""
        _, blob = self._states.get(session, (0, None))
        record, wait = self._records.get((session, field)), 0
        if counted and blob and not record and counted.owner in blob:
            paces: list[Any] = [b"", *counted.paces]
            *_, (interval, burst) = (paces[at + 1 : at + 3] for at in range(0, len(paces), 3) if paces[at] in blob)
            wait = self._counted(f"{session} {counted.name}", interval, burst)
        return Loaded(self.now(deadline), blob, record, wait)

    def count(self, client: str, pace: Pace, deadline: Deadline) -> int:
        """Count a request of a client."""
        self.now(deadline)
        return self._counted(f"{client} {pace.name}", pace.interval, pace.burst)

    def _counted(self, name: str, interval: int, burst: int) -> int:
        now = self.time * 1000
        forgotten = max(now, self._counts.get(name, 0))
        wait = max(0, forgotten + interval - interval * burst - now)
        if not wait:
            self._counts[name] = forgotten + interval
        return wait

    def commit(self, session: str, change: Change, deadline: Deadline) -> Verdict:
        """Put a change on the shelf."""
        with self._committing:
            version, _ = self._states[session]
            if self.races or version != change.base:
                return "conflict"
            self._states[session] = (version + len(change.entries), change.blob)
            self._logs[session] += change.entries
        if change.field:
            self._records[session, change.field] = change.record
        for bells in self._bells:
            bells.ring(session)
        return "committed"

    def log(self, session: str, first: int, last: int, deadline: Deadline) -> list[bytes]:
        """Return the entries of these versions."""
        self.now(deadline)
        return self._logs[session][first - 1 : last]

    def marks(self, session: str, version: int, deadline: Deadline) -> list[bytes]:
        """Return nothing: what was is worked out from the opening, as no session here is long."""
        return []

    def now(self, deadline: Deadline) -> int:
        """Return the time, or raise the fault that was ordered."""
        if self.fault:
            raise self.fault
        return self.time

    def confirm(self, session: str, field: str, deadline: Deadline) -> None:
        """Answer for what is written down."""

    def ready(self, deadline: Deadline) -> None:
        """Raise the fault that was ordered."""
        self.now(deadline)

    def ticket(self, session: str, name: str, deadline: Deadline) -> bytes | None:
        """Return whose a ticket is, while it is good."""
        until, owner = self._tickets.get((session, name), (0, b""))
        return owner if self.now(deadline) < until else None

    def put_ticket(self, session: str, name: str, owner: bytes, keep: int, deadline: Deadline) -> None:
        """Keep a ticket for so many ms."""
        self._tickets[session, name] = (self.now(deadline) + keep, owner)

    def enlist(self, place: str, deadline: Deadline) -> None:
        """Put a place into the lobby."""
        self.delist(place, deadline)
        insort(self._lobby, place)

    def delist(self, place: str, deadline: Deadline) -> None:
        """Take a place out of the lobby."""
        self.now(deadline)
        self._lobby = [each for each in self._lobby if each != place]

    def lobby(self, after: str, most: int, deadline: Deadline) -> list[str]:
        """Return so many places after one of them."""
        self.now(deadline)
        begin = bisect_right(self._lobby, after)
        return self._lobby[begin : begin + most]

    def wakes(self) -> Wakes:
        """Return a way to hear of changes."""
        self._bells.append(Bells())
        return self._bells[-1]
