"""What a session has left in the store, read and written behind the service's back."""

from typing import Any

import msgspec

from service.connection import Single, connect
from service.records import Entry, Record

PARTS = ("state", "log", "keys")
PATIENCE = 60.0
"""Seconds that a test gives a store: a machine that is busy is no store that is away."""


class Stored:
    """A plain client of a store."""

    def __init__(self, url: str) -> None:
        self.client = patient(url)

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()

    def command(self, *words: str | int | bytes) -> Any:  # noqa: ANN401 - a raw reply
        """Send a command."""
        return self.client.execute_command(*words)  # type: ignore[no-untyped-call]

    def blob(self, session: str) -> bytes:
        """Return the session's state as it is stored."""
        return bytes(self.command("HGET", key(session, "state"), "blob"))

    def put_blob(self, session: str, blob: bytes) -> None:
        """Put another state in its place; version and log stay."""
        self.command("HSET", key(session, "state"), "blob", blob)

    def record(self, session: str) -> Record:
        """Return the session's record."""
        return msgspec.msgpack.decode(self.blob(session), type=Record)

    def entries(self, session: str) -> list[Entry]:
        """Return the session's log."""
        lines = self.command("LRANGE", key(session, "log"), 0, -1)
        return [msgspec.msgpack.decode(line, type=Entry) for line in lines]

    def dump(self, session: str) -> bytes:
        """Return all keys of a session with all that they hold, as bytes to compare."""
        found = [
            self.command("HGETALL", key(session, "state")),
            self.command("LRANGE", key(session, "log"), 0, -1),
            self.command("HGETALL", key(session, "keys")),
        ]
        return msgspec.msgpack.encode(found)

    def drop(self, session: str) -> None:
        """Drop all keys of a session."""
        self.command("DEL", *(key(session, part) for part in PARTS))


def patient(url: str) -> Single:
    """Return the service's client, with time-outs of a test's own."""
    client = connect(url)
    client.connection_pool.connection_kwargs |= {"socket_connect_timeout": PATIENCE, "socket_timeout": PATIENCE}
    return client


def key(session: str, part: str) -> str:
    """Return the name of a session's key."""
    return f"croupier:{{{session}}}:{part}"
