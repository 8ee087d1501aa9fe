"""Turns: so many requests of sessions are worked on at once and the others wait in line, before they ask the store."""

from queue import Empty, SimpleQueue

from flask import g

from service.sessions import Busy

LINE_SECONDS = 2.0


class Turns:
    """The turns of one process."""

    def __init__(self, most: int) -> None:
        # A semaphore in Python is many times as slow.
        self._free: SimpleQueue[bool] = SimpleQueue()
        for _ in range(most):
            self._free.put(True)

    def begin(self) -> None:
        """Wait for the turn of the request at hand; raise `Busy` if it does not come in time."""
        try:
            g.turn = self._free.get(timeout=LINE_SECONDS)
        except Empty:
            raise Busy from None

    def end(self, _error: BaseException | None = None) -> None:
        """Let another have it: the work is done, or only waits for news from here on."""
        if g.pop("turn", False):
            self._free.put(True)
