"""Streams: one reader thread a process follows the logs of all watched sessions and fans out to its clients."""

import heapq
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue

from msgspec import Struct

from engine import play
from service import records
from service.connection import StoreAway
from service.logs import log
from service.records import Entry, Record, Seen
from service.sessions import Busy, Sessions, UnknownSession
from service.wakes import Wakes

LONGEST_GAP = 1000
"""A client that missed more versions than this is sent a snapshot in their place.

One that reads so slowly that as many wait for it is let go, and comes back.
"""
HEARTBEAT_SECONDS = 15.0
_NAP_SECONDS = 0.5
"""How soon the reader sees that the process closes, or tries again what has failed."""
_AGAIN_SECONDS = 10.0
"""How soon the reader looks at a session of which it has heard nothing: a wake-up may get lost, the log does not."""
_MOST_VOID = 64

closing = threading.Event()
"""Set by whatever serves the application when it is told to stop: all streams then end."""


class TooManyStreams(Exception):
    """Every place for a stream is taken."""


class TooManyOfOne(TooManyStreams):
    """Every place that one client may take is taken by him."""

    def __init__(self, most: int) -> None:
        super().__init__(f"At most {most} streams and waiting polls at the same time, at each process.")
        self.most = most


class Frame(Struct, frozen=True):
    """One version of a session: the record after the entry that made it, and the store's clock (ms)."""

    record: Record
    entry: Entry
    now: int


class Subscription:
    """One client's frames, in order and without a gap, from after the version that it was made with."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.client = ""
        self._version = seen.record.version
        self._frames: SimpleQueue[Frame | None] = SimpleQueue()
        self.left_behind = False
        """Whether it reads too slowly: there will be no more, though the session goes on."""

    def put(self, frame: Frame | None) -> None:
        """Hand a frame over, unless the client has it already; or nothing: there will be no more."""
        if frame is None or self._frames.qsize() >= LONGEST_GAP:
            self.left_behind |= frame is not None
            self._frames.put(None)
        elif not self.left_behind and frame.record.version > self._version:
            self._version = frame.record.version
            self._frames.put(frame)

    def get(self, seconds: float) -> Frame | None:
        """Return the next frame, or nothing when there will be no more; raise `queue.Empty` when the time is up."""
        return self._frames.get(timeout=seconds)


class _Watched:
    """A followed session: the record up to which its frames are handed out, to whom, and what is due next."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.subscriptions: set[Subscription] = set()
        self.due = 0.0


class Streams:
    """The places for streams of one process, and the reader behind them."""

    def __init__(self, sessions: Callable[[], Sessions], wakes: Wakes, most: int, of_one: int = sys.maxsize) -> None:
        self.heartbeat = HEARTBEAT_SECONDS
        """How long a stream stays silent before it says that it is there."""
        self._reader = Reader(sessions, wakes)
        self._places = threading.BoundedSemaphore(most)
        self._of_one = of_one
        self._taken = Counter[str]()
        self._taking = threading.Lock()

    def subscribe(self, seen: Seen, client: str = "") -> Subscription:
        """Take a place and follow a session on from what was seen of it; raise `TooManyStreams`, `TooManyOfOne`."""
        with self._taking:
            if client and self._taken[client] >= self._of_one:
                raise TooManyOfOne(self._of_one)
            if closing.is_set() or not self._places.acquire(blocking=False):
                raise TooManyStreams
            self._taken[client] += 1
        subscription = self._reader.subscribe(seen)
        subscription.client = client
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Give the place back."""
        self._places.release()
        with self._taking:
            self._taken[subscription.client] -= 1
            if not self._taken[subscription.client]:
                del self._taken[subscription.client]
        self._reader.unsubscribe(subscription)


class Reader:
    """Follows sessions for as long as somebody subscribes to them, in a thread of its own."""

    def __init__(self, sessions: Callable[[], Sessions], wakes: Wakes) -> None:
        self._sessions = sessions
        self._wakes = wakes
        self._asked: SimpleQueue[tuple[bool, Subscription]] = SimpleQueue()
        self._watched: dict[str, _Watched] = {}
        self._due: list[tuple[float, str]] = []
        self._lost = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def subscribe(self, seen: Seen) -> Subscription:
        """Return a subscription from after what was seen."""
        subscription = Subscription(seen)
        self._ask(subscription, follow=True)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; its client is gone or has had enough."""
        self._ask(subscription, follow=False)

    def _ask(self, subscription: Subscription, *, follow: bool) -> None:
        self._asked.put((follow, subscription))
        if closing.is_set():  # the reader may have looked for the last time
            subscription.put(None)
        with self._starting:
            if self._thread is None:  # not before a worker has been forked
                self._thread = threading.Thread(target=self._run, name="stream-reader", daemon=True)
                self._thread.start()
        with suppress(StoreAway):  # the reader finds the request without a nudge as well, soon
            self._wakes.nudge()

    def _run(self) -> None:
        """Read until the process closes; then tell every client."""
        while not closing.is_set():
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001 - the thread must live: without it no client hears a thing
                log.error("stream-reader", exc_info=None if isinstance(error, StoreAway) else error, reason=str(error))
                self._wakes.reset()
                self._lost = True
                closing.wait(_NAP_SECONDS)
        self._close()

    def _turn(self) -> None:
        """Wait for news, a request or something due, and hand out what came of it."""
        if self._lost:
            self._follow_again()
        changed = {self._wakes.next(self._patience())}
        while (session := self._wakes.next(0)) is not None:
            changed.add(session)
        self._take_requests()
        changed.update(self._fallen_due())
        self._refresh_all([session for session in changed if session in self._watched])

    def _patience(self) -> float:
        """Return how many seconds may pass before the reader must look."""
        until_due = self._due[0][0] - time.monotonic() if self._due else _NAP_SECONDS
        return min(max(until_due, 0.0), _NAP_SECONDS)

    def _fallen_due(self) -> Iterator[str]:
        """Yield the sessions in which something is due by now."""
        while self._due and self._due[0][0] <= time.monotonic():
            due, session = heapq.heappop(self._due)
            if session in self._watched and self._watched[session].due == due:
                yield session

    def _take_requests(self) -> None:
        with suppress(Empty):
            while True:
                follow, subscription = self._asked.get_nowait()
                (self._add if follow else self._remove)(subscription)

    def _add(self, subscription: Subscription) -> None:
        """Follow a session for one more client; what it missed since it looked is gone through again."""
        seen = subscription.seen
        watched = self._watched.get(seen.session)
        if watched is None:
            watched = self._watched[seen.session] = _Watched(seen.record)
            watched.subscriptions.add(subscription)
            self._wakes.follow(seen.session)
            self._schedule(seen.session, watched, time.monotonic() + _AGAIN_SECONDS)  # should no wake-up come of it
            return
        watched.subscriptions.add(subscription)
        if seen.record.version < watched.record.version:
            watched.record = seen.record
            self._schedule(seen.session, watched, time.monotonic())

    def _remove(self, subscription: Subscription) -> None:
        session = subscription.seen.session
        watched = self._watched.get(session)
        if watched is None:
            return
        watched.subscriptions.discard(subscription)
        if not watched.subscriptions:
            del self._watched[session]
            self._wakes.drop(session)

    def _refresh_all(self, sessions: list[str]) -> None:
        """Look at sessions; what of the store is away is asked for no other in this turn."""
        away = set[str]()
        for session in sessions:
            node = self._wakes.node(session)
            try:
                if node not in away:
                    self._refresh(session)
                    continue
            except StoreAway:
                if node is None:
                    raise
                away.add(node)
            self._schedule(session, self._watched[session], time.monotonic() + _NAP_SECONDS)

    def _refresh(self, session: str) -> None:
        """Look at a session; where that fails, which is not to silence the others, look again soon."""
        watched = self._watched[session]
        try:
            self._hand_out(session, watched)
        except StoreAway:
            raise
        except UnknownSession:
            self._end(session)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with this one session
            if not isinstance(error, Busy):
                log.error("stream-session", exc_info=error, session=session)
            self._schedule(session, watched, time.monotonic() + _NAP_SECONDS)

    def _hand_out(self, session: str, watched: _Watched) -> None:
        """Settle what is due and hand out what is new; the session's end ends its subscriptions."""
        sessions = self._sessions()
        seen = sessions.follow(session)
        for frame in _between(sessions, watched.record, seen):
            for subscription in watched.subscriptions:
                subscription.put(frame)
        watched.record = seen.record
        if seen.expired():
            self._end(session)
            return
        wait = (play.next_due(seen.record.position, seen.record.expires_at) - seen.now) / 1000
        self._schedule(session, watched, time.monotonic() + min(wait, _AGAIN_SECONDS))

    def _schedule(self, session: str, watched: _Watched, at: float) -> None:
        """Note when to look again; what was noted earlier is void, and cleared away before it grows."""
        watched.due = at
        heapq.heappush(self._due, (at, session))
        if len(self._due) > 2 * len(self._watched) + _MOST_VOID:
            self._due = [(each.due, name) for name, each in self._watched.items()]
            heapq.heapify(self._due)

    def _follow_again(self) -> None:
        """Follow everything anew after the store was away; each is looked at once it is followed."""
        for session in self._watched:
            self._wakes.follow(session)
        self._lost = False

    def _end(self, session: str) -> None:
        for subscription in self._watched.pop(session).subscriptions:
            subscription.put(None)
        self._wakes.drop(session)

    def _close(self) -> None:
        """Tell every client that there will be no more, also one that has only just asked."""
        with suppress(Empty):
            while True:
                self._asked.get_nowait()[1].put(None)
        for watched in self._watched.values():
            for subscription in watched.subscriptions:
                subscription.put(None)
        self._wakes.reset()


def missed(sessions: Sessions, seen: Seen, after: int) -> list[Frame] | None:
    """Return the frames from after a version up to what was seen; nothing for one that cannot be gone on from."""
    version = seen.record.version
    if not version - LONGEST_GAP <= after <= version:
        return None
    return [] if after == version else list(_between(sessions, sessions.at(seen, after), seen))


def _between(sessions: Sessions, record: Record, seen: Seen) -> Iterator[Frame]:
    """Yield a frame an entry; the last leads to what was seen, so the rules need not work it out again."""
    entries = sessions.entries(seen.session, record.version + 1, seen.record.version)
    for number, entry in enumerate(entries, start=1):
        record = seen.record if number == len(entries) else records.stepped(record, entry)[0]
        yield Frame(record, entry, seen.now)
