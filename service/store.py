"""The store: sessions in Redis or Valkey, each change one atomic script.

All keys of a session share the hash tag `{id}`, so they sit in one Cluster slot. The client never
retries by itself: a write whose reply was lost would run twice.
"""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from redis import Redis
from redis.exceptions import NoScriptError

from service.connection import CONNECT_SECONDS, REPLY_SECONDS, StoreAway, ask, key, store_errors
from service.wakes import Wakes, channel

REQUEST_SECONDS = 2.0

MARK_EVERY = 256
"""After so many versions a session's blob is kept."""
MARKS_BACK = 6
"""How many marks one commit of many entries may skip, and more."""
LOBBY = "croupier:lobby"

Verdict = Literal["committed", "conflict", "missing", "recorded"]


class Loaded(NamedTuple):
    """A session as stored: the clock is in ms, `record` is what the request's key left behind."""

    now: int
    blob: bytes | None
    record: bytes | None


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
        return time.monotonic() + CONNECT_SECONDS + REPLY_SECONDS <= self._end


class Script:
    """A Lua script, sent by its hash and loaded again after the store has forgotten it."""

    def __init__(self, name: str) -> None:
        self.source = Path(__file__).with_name(name).read_bytes()
        self.sha = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


LOAD, OPEN, COMMIT = Script("load.lua"), Script("open.lua"), Script("commit.lua")


class Store:
    """Loads and commits sessions; raises `StoreAway` and nothing else."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    def open(self, session: str, blob: bytes, drop_at: int, deadline: Deadline) -> bool:
        """Store a new session; return false where the id is taken."""
        keys = (key(session, "state"),)
        return bool(self._run(OPEN, keys, (blob, drop_at), deadline))

    def load(self, session: str, field: str, deadline: Deadline) -> Loaded:
        """Return the session's blob, the clock and the record of an idempotency key."""
        keys = (key(session, "state"), key(session, "keys"))
        seconds, micros, blob, record = self._run(LOAD, keys, (field,), deadline)
        return Loaded(int(seconds) * 1000 + int(micros) // 1000, blob, record)

    def commit(self, session: str, change: Change, deadline: Deadline) -> Verdict:
        """Write a change if nothing came between, and nothing at all otherwise."""
        keys = (*(key(session, part) for part in ("state", "log", "keys")), channel(session))
        base, blob, drop_at, entries, field, record = change
        reply = self._run(COMMIT, keys, (base, blob, drop_at, field, record, MARK_EVERY, *entries), deadline)
        return reply.decode()  # type: ignore[no-any-return]

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

    def now(self, deadline: Deadline) -> int:
        """Return the store's clock, in ms."""
        seconds, micros = self._call(deadline, "TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def ticket(self, session: str, name: str, deadline: Deadline) -> bytes | None:
        """Return what was kept under a ticket's name, while it is kept."""
        return self._call(deadline, "GET", key(session, f"ticket:{name}"))  # type: ignore[no-any-return]

    def put_ticket(self, session: str, name: str, owner: bytes, keep: int, deadline: Deadline) -> None:
        """Keep the hash of the token that a ticket stands for, for so many ms."""
        self._call(deadline, "SET", key(session, f"ticket:{name}"), owner, "PX", keep)

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
        """Return a way to hear of changes, over a connection of its own."""
        return Wakes(self._client)

    def close(self) -> None:
        """Close all connections; the next call opens one anew."""
        self._client.close()

    def _run(self, script: Script, keys: tuple[str, ...], args: tuple[Any, ...], deadline: Deadline) -> Any:  # noqa: ANN401 - whatever the script returns
        """Run a script; a store that has forgotten it is sent the source, once."""
        try:
            return self._call(deadline, "EVALSHA", script.sha, len(keys), *keys, *args)
        except NoScriptError:
            return self._call(deadline, "EVAL", script.source, len(keys), *keys, *args)

    def _call(self, deadline: Deadline, *command: Any) -> Any:  # noqa: ANN401 - a raw reply
        """Send one command, once."""
        if not deadline.allows_a_call():
            raise StoreAway("the request's time is used up")
        with store_errors():
            return ask(self._client, *command)
