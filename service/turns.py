"""Turns: so many requests of sessions are worked on at once and the others wait in line, before they ask the store."""

import threading

from flask import g

from service.sessions import Busy

LINE_SECONDS = 2.0


class Turns:
    """The turns of one process."""

    def __init__(self, most: int) -> None:
        self._free = threading.Semaphore(most)

    def begin(self) -> None:
        """Wait for the turn of the request at hand; raise `Busy` if it does not come in time."""
        if not self._free.acquire(timeout=LINE_SECONDS):
            raise Busy
        g.turn = True

    def end(self, _error: BaseException | None = None) -> None:
        """Let another have it: the work is done, or only waits for news from here on."""
        if g.pop("turn", False):
            self._free.release()
