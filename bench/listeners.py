"""Many clients in a process of their own, each with one open stream; they note when what reaches them."""

import re
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

from bench.load import BenchError

PATIENCE = 20.0
"""Seconds within which a stream must open, and the last event must come."""
RETRY_SECONDS = 1.0
"""After how long a client that was refused comes back."""

_EVENT = re.compile(rb'id: (\d+)\nevent: (\w+)\ndata: \{"event":"\w+","version":\d+,"at":(\d+),')


class Table(NamedTuple):
    """A session, and a token of it."""

    session: str
    token: str


class Heard(NamedTuple):
    """What came: for each event how long after its move's own time, in ms; refusals at first; what is wrong."""

    latencies: list[float]
    refusals: list[str]
    faults: list[str]


class Listener:
    """One client and its stream."""

    def __init__(self, port: int, table: Table) -> None:
        self.table = table
        self.version: int | None = None
        self.latencies: list[float] = []
        self.refusals: list[str] = []
        self.faults: list[str] = []
        self.again_at = 0.0
        self._port = port
        self._rest = b""

    def open(self) -> socket.socket:
        """Ask for the stream, and return the line."""
        self._rest = b""
        self._line = socket.create_connection(("127.0.0.1", self._port), PATIENCE)
        head = (
            f"GET /v1/sessions/{self.table.session}/events HTTP/1.1",
            "Host: bench",
            "Accept: text/event-stream",
            f"Authorization: Bearer {self.table.token}",
            "\r\n",
        )
        self._line.sendall("\r\n".join(head).encode())
        return self._line

    def hear(self) -> bool:
        """Note what has come; return false where the client was refused and has gone."""
        came = self._line.recv(262_144)
        now = time.time() * 1000
        whole, end, self._rest = (self._rest + came).rpartition(b"\n\n")
        for version, event, at in _EVENT.findall(whole + end):
            self._note(int(version), event.decode(), now - int(at))
        if came and not self._rest.startswith(b"HTTP/1.1 503"):
            return True
        if self.version is not None or not self._rest:
            raise BenchError(f"a stream ended after version {self.version}")
        self.refusals.append(self._rest.rpartition(b'"code":"')[2].decode(errors="replace").partition('"')[0])
        self.again_at = time.monotonic() + RETRY_SECONDS
        self._line.close()
        return False

    def _note(self, version: int, event: str, late: float) -> None:
        if self.version is None:
            if event != "snapshot":
                self.faults.append(f"began with {event}")
        elif version != self.version + 1:
            self.faults.append(f"version {version} came after {self.version}")
        else:
            self.latencies.append(late)
        self.version = version


class Crowd:
    """All clients of one process."""

    def __init__(self, port: int, tables: Sequence[Table]) -> None:
        self._listeners = [Listener(port, table) for table in tables]
        self._waiting = list(self._listeners)
        self._selector = selectors.DefaultSelector()

    def open(self) -> bool:
        """Return whether every stream is open before patience ends."""
        return self._until(lambda: all(each.version is not None for each in self._listeners))

    def listen(self, pipe: Connection) -> dict[str, int]:
        """Listen until the pipe says at which versions the sessions have come to rest."""
        self._until(pipe.poll, float("inf"))
        found: dict[str, int] = pipe.recv()
        return found

    def heard(self, final: dict[str, int]) -> Heard:
        """Listen until all is told, and return what was."""
        self._until(lambda: all((each.version or 0) >= final[each.table.session] for each in self._listeners))
        faults = [fault for each in self._listeners for fault in each.faults]
        faults += [
            f"heard up to version {each.version} of {final[each.table.session]}"
            for each in self._listeners
            if (each.version or 0) < final[each.table.session]
        ]
        latencies = [late for each in self._listeners for late in each.latencies]
        return Heard(latencies, [code for each in self._listeners for code in each.refusals], faults)

    def _until(self, done: Callable[[], bool], patience: float = PATIENCE) -> bool:
        deadline = time.monotonic() + patience
        while not done():
            if time.monotonic() > deadline:
                return False
            self._come()
            for key, _ in self._selector.select(0.05):
                if not key.data.hear():
                    self._selector.unregister(key.fileobj)
                    self._waiting.append(key.data)
        return True

    def _come(self) -> None:
        """Let those open a stream who have none and whose time has come."""
        ready = [each for each in self._waiting if each.again_at <= time.monotonic()]
        self._waiting = [each for each in self._waiting if each not in ready]
        for each in ready:
            self._selector.register(each.open(), selectors.EVENT_READ, each)


def listen(port: int, tables: Sequence[Table], pipe: Connection) -> None:
    """Open all streams, say so, listen until the final versions are told, and answer with what was heard."""
    crowd = Crowd(port, tables)
    pipe.send(crowd.open())
    pipe.send(crowd.heard(crowd.listen(pipe)))
