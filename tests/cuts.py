"""A line between service and store that is cut where a test says, to the byte."""

import select
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import NamedTuple, Self

from service.store import Script

MOST = 1 << 20


class Cut(NamedTuple):
    """After how many bytes of a script's request, or else of its reply, the line goes dead."""

    script: Script
    request: int | None = None
    reply: int = 0


def _nothing() -> None:
    """Do nothing."""


class Line:
    """Listens on a socket of its own, and hands everything to the store and back."""

    def __init__(self, store: Path | tuple[str, int]) -> None:
        self._store = store if isinstance(store, tuple) else str(store)
        self._family = socket.AF_INET if isinstance(store, tuple) else socket.AF_UNIX
        self._directory = tempfile.TemporaryDirectory(prefix="line-")
        path = f"{self._directory.name}/line.sock"
        self.url = f"unix://{path}"
        self.cut: Cut | None = None
        self.passed = 0
        """How many bytes there were to pass when the line was cut."""
        self.replied = _nothing
        """Called when the store has replied, before the reply is cut."""
        self._listener = socket.socket(self._family)
        self._listener.bind(("127.0.0.1", 0) if isinstance(store, tuple) else path)
        self._listener.listen(100)
        self.address = self._listener.getsockname()
        Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._directory.cleanup()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        """Carry bytes both ways until one side goes or the line is cut."""
        with client, socket.socket(self._family) as store, suppress(OSError):
            store.connect(self._store)
            while True:
                ready, _, _ = select.select([client, store], [], [])
                source, target = (store, client) if store in ready else (client, store)
                passing = source.recv(MOST)
                if not passing:
                    return
                if source is client and (cut := self._due(passing)):
                    if self._severed(cut, passing, client, store):
                        return
                else:
                    target.sendall(passing)

    def _severed(self, cut: Cut, request: bytes, client: socket.socket, store: socket.socket) -> bool:
        """Let as much pass as the cut says; return whether that was less than there was."""
        if cut.request is not None:
            self.passed = len(request)
            store.sendall(request[: cut.request])
            return cut.request < len(request)
        store.sendall(request)
        reply = store.recv(MOST)
        self.passed = len(reply)
        self.replied()
        client.sendall(reply[: cut.reply])
        return cut.reply < len(reply)

    def _due(self, request: bytes) -> Cut | None:
        """Return the cut that was ordered, if this is the request for it; it is made once."""
        cut = self.cut
        if cut is None or cut.script.sha.encode() not in request:
            return None
        self.cut = None
        return cut
