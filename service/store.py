"""The store: sessions in Redis or Valkey, each change one atomic script.

All keys of a session share the hash tag `{id}`, so they sit in one Cluster slot. The client never
retries by itself: a write whose reply was lost would run twice. Under the profile `durable` a write is
acknowledged when a replica has it as well, under `fast` when the store itself has.
"""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from redis.exceptions import NoScriptError

from service import fitness
from service.cluster import Cluster
from service.cluster_wakes import ClusterWakes
from service.connection import (
    CONNECT_SECONDS,
    REPLICA_MS,
    REPLY_SECONDS,
    Profile,
    Single,
    StoreAway,
    key,
    store_errors,
)
from service.limits import Counted, Pace
from service.wakes import Wakes, channel

REQUEST_SECONDS = 2.0

MARK_EVERY = 256
"""After so many versions a session's blob is kept."""
MARKS_BACK = 6
"""How many marks one commit of many entries may skip, and more."""
LOBBY = "croupier:lobby"

Verdict = Literal["committed", "conflict", "missing", "recorded"]


class Loaded(NamedTuple):
    """A session as stored: the clock is in ms, `record` is what the request's key left behind.

    `wait` is after how many microseconds whoever asks may do so again; 0: the request is within its limit.
    """

    now: int
    blob: bytes | None
    record: bytes | None
    wait: int = 0


class Change(NamedTuple):
    """What one commit writes; `base` is the version it was worked out from."""

    base: int
    blob: bytes
    drop_at: int
    entries: tuple[bytes, ...]
    field: str = ""
    record: bytes = b""


class Deadline:
    """The moment by which a request's calls to the store have ended."""

    def __init__(self, seconds: float = REQUEST_SECONDS) -> None:
        self._end = time.monotonic() + seconds

    def allows_a_call(self) -> bool:
        """Return whether a call that takes as long as it may still ends in time."""
        return self._remaining() >= CONNECT_SECONDS + REPLY_SECONDS

    def allows_a_kept_write(self) -> bool:
        """Return whether one does that waits for a replica as well."""
        return self._remaining() >= CONNECT_SECONDS + REPLY_SECONDS + REPLICA_MS / 1000

    def _remaining(self) -> float:
        return self._end - time.monotonic()


class Script:
    """A Lua script, sent by its hash and loaded again after the store has forgotten it."""

    def __init__(self, *names: str) -> None:
        self.source = b"".join(Path(__file__).with_name(name).read_bytes() for name in names)
        self.sha = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


LOAD, COUNT = Script("pace.lua", "load.lua"), Script("pace.lua", "count.lua")
OPEN, COMMIT, CONFIRM = map(Script, ("open.lua", "commit.lua", "confirm.lua"))


class Store:
    """Loads and commits sessions; raises `StoreAway` and nothing else."""

    def __init__(self, client: Single | Cluster, profile: Profile = "fast", *, unchecked: bool = False) -> None:
        self._client = client
        self._profile = profile
        self._unchecked = unchecked

    def open(self, session: str, blob: bytes, drop_at: int, deadline: Deadline) -> bool:
        """Store a new session; return false where the id is taken."""
        keys = (key(session, "state"),)
        return bool(self._run(OPEN, keys, (blob, drop_at), deadline, kept=True))

    def load(self, session: str, field: str, deadline: Deadline, counted: Counted | None = None) -> Loaded:
        """Return the session's blob, the clock and the record of an idempotency key, and count the request."""
        keys: tuple[str, ...] = (key(session, "state"), key(session, "keys"))
        args: tuple[Any, ...] = (field, self._time())
        if counted:
            keys, args = (*keys, key(session, counted.name)), (*args, counted.owner, *counted.paces)
        micros, blob, record, wait = self._run(LOAD, keys, args, deadline)
        return Loaded(micros // 1000, blob, record, wait)

    def count(self, client: str, pace: Pace, deadline: Deadline) -> int:
        """Count one more request of a client, in a slot of its own; return after how many µs it may ask again, or 0."""
        keys = (key(f"by:{client}", pace.name),)
        return int(self._run(COUNT, keys, (self._time(), pace.interval, pace.burst), deadline))

    def commit(self, session: str, change: Change, deadline: Deadline) -> Verdict:
        """Write a change if nothing came between, and nothing at all otherwise."""
        keys = tuple(key(session, part) for part in ("state", "log", "keys"))
        base, blob, drop_at, entries, field, record = change
        args = (base, blob, drop_at, field, record, MARK_EVERY, channel(session), *entries)
        return self._run(COMMIT, keys, args, deadline, kept=True).decode()  # type: ignore[no-any-return]

    def confirm(self, session: str, field: str, deadline: Deadline) -> None:
        """Return when what an idempotency key's record stands for is as safe as when it was first acknowledged."""
        if self._profile == "durable":
            self._run(CONFIRM, (key(session, "keys"),), (field,), deadline, kept=True)

    def log(self, session: str, first: int, last: int, deadline: Deadline) -> list[bytes]:
        """Return the log entries of these versions, both included."""
        return self._call(deadline, "LRANGE", key(session, "log"), first - 1, last - 1)  # type: ignore[no-any-return]

    def marks(self, session: str, version: int, deadline: Deadline) -> list[bytes]:
        """Return the blobs that were kept nearest to a version, the later first; one may be of after it."""
        mark = version // MARK_EVERY
        names = [f"mark:{number}" for number in range(mark, max(mark - MARKS_BACK, 0), -1)]
        if not names:
            return []
        found = self._call(deadline, "HMGET", key(session, "state"), *names)
        return [blob for blob in found if blob is not None]

    def ready(self, deadline: Deadline) -> None:
        """Raise `StoreAway` unless the store answers and takes writes as the profile wants it to."""
        with store_errors():
            fitness.require(self._client, self._profile, unchecked=self._unchecked, may_go_on=deadline.allows_a_call)

    def ticket(self, session: str, name: str, deadline: Deadline) -> bytes | None:
        """Return what was kept under a ticket's name, while it is kept."""
        return self._call(deadline, "GET", key(session, f"ticket:{name}"))  # type: ignore[no-any-return]

    def put_ticket(self, session: str, name: str, owner: bytes, keep: int, deadline: Deadline) -> None:
        """Keep the hash of the token that a ticket stands for, for so many ms."""
        self._call(deadline, "SET", key(session, f"ticket:{name}"), owner, "PX", keep, kept=True)

    def enlist(self, place: str, deadline: Deadline) -> None:
        """Put a place into the lobby's index, which has a slot of its own."""
        self._call(deadline, "ZADD", LOBBY, "NX", 0, place)

    def delist(self, place: str, deadline: Deadline) -> None:
        """Drop a place from the lobby's index."""
        self._call(deadline, "ZREM", LOBBY, place)

    def lobby(self, after: str, most: int, deadline: Deadline) -> Sequence[str]:
        """Return so many places of the lobby's index after one of them, or from the first; costs what the page does."""
        first = f"({after}" if after else "-"
        found = self._call(deadline, "ZRANGE", LOBBY, first, "+", "BYLEX", "LIMIT", 0, most)
        return [place.decode() for place in found]

    def wakes(self) -> Wakes:
        """Return a way to hear of changes, over connections of its own."""
        return ClusterWakes(self._client) if isinstance(self._client, Cluster) else Wakes(self._client)

    def close(self) -> None:
        """Close all connections; the next call opens one anew."""
        self._client.close()

    def _time(self) -> int | str:
        """Return the time by which is counted (µs), or nothing: the store's own clock."""
        return ""

    def _run(
        self, script: Script, keys: tuple[str, ...], args: tuple[Any, ...], deadline: Deadline, *, kept: bool = False
    ) -> Any:  # noqa: ANN401 - whatever the script returns
        """Run a script; a node that does not know it, or not any more, is sent the source, once."""
        try:
            return self._call(deadline, "EVALSHA", script.sha, len(keys), *keys, *args, kept=kept)
        except NoScriptError:
            return self._call(deadline, "EVAL", script.source, len(keys), *keys, *args, kept=kept)

    def _call(self, deadline: Deadline, *command: Any, kept: bool = False) -> Any:  # noqa: ANN401 - a raw reply
        """Send one command, once; `kept` says that what it writes must be as safe as the profile promises."""
        durable = kept and self._profile == "durable"
        if not (deadline.allows_a_kept_write() if durable else deadline.allows_a_call()):
            raise StoreAway("the request's time is used up")
        with store_errors():
            return self._client.ask(command, deadline.allows_a_call, kept=durable)
