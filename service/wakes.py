"""Hears of changes: sharded pub/sub as a mere wake-up, one connection a process; the log is the truth."""

import secrets
from contextlib import suppress
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from service.connection import key, session_of, store_errors


def channel(session: str) -> str:
    """Return the channel of a session, in the slot of its keys."""
    return key(session, "wake")


class Wakes:
    """The sessions that a process follows, and the news of them; all but `nudge` is for one thread alone.

    Every call may raise `StoreAway`; `reset` then makes the next one begin anew, following nothing yet.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._own = secrets.token_urlsafe(16)
        self._pubsub: Any = None

    def follow(self, session: str) -> None:
        """Hear of a session from the moment that `next` first returns it."""
        with store_errors():
            self._connected().ssubscribe(channel(session))

    def drop(self, session: str) -> None:
        """Hear of it no more."""
        with store_errors():
            self._connected().sunsubscribe(channel(session))

    def nudge(self) -> None:
        """Make `next` return in the thread that waits there."""
        with store_errors():
            self._client.execute_command("SPUBLISH", channel(self._own), "")  # type: ignore[no-untyped-call]

    def next(self, seconds: float) -> str | None:
        """Return a session that is newly followed or has changed; nothing after a nudge or when the time is up."""
        with store_errors():
            message = self._connected().get_sharded_message(timeout=seconds)
        if message is None or message["type"] not in ("ssubscribe", "smessage"):
            return None
        session = session_of(message["channel"].decode())
        return None if session == self._own else session

    def node(self, session: str) -> str | None:  # noqa: ARG002 - a cluster has several
        """Return the part of the store that may be away alone with this session; nothing where there are no parts."""
        return None

    def reset(self) -> None:
        """Give up the connection."""
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            with suppress(RedisError, OSError):
                pubsub.close()

    def _connected(self) -> Any:  # noqa: ANN401 - redis has a class for each kind of client
        if self._pubsub is None:
            self._pubsub = self._client.pubsub()  # type: ignore[no-untyped-call]
            self._pubsub.ssubscribe(channel(self._own))
        return self._pubsub
