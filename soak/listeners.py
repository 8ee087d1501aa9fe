"""Those who listen: each follows a room for some seconds, goes, and comes back where it was or elsewhere."""

import time
from contextlib import suppress
from random import Random
from threading import Event

from soak.players import Figures
from soak.rooms import House, Room
from tests.answers import ContractBreach
from tests.wires import NDJSON, SSE, Wire

LONGEST = 8.0
"""Seconds for which a stream is followed, and for which it may be silent."""
PAUSE = 0.3


class Listener:
    """One who follows one stream after the other."""

    def __init__(self, port: int, house: House, figures: Figures) -> None:
        self._port, self._house, self._figures = port, house, figures
        self._random = Random()  # noqa: S311 - not for secrets

    def listen(self, over: Event) -> None:
        """Listen until it is over."""
        while not over.is_set():
            with self._house.room() as room:
                last = None
                while room and not room.over and not over.is_set():
                    last = self._follow(room, last)
                    if last is None or self._random.random() < 0.5:
                        break
            over.wait(PAUSE)

    def _follow(self, room: Room, last: int | None) -> int | None:
        """Follow a room for a while; return the version that was told last, or nothing where none was."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        token = self._random.choice([None, *room.tokens])
        if token:
            headers["Authorization"] = f"Bearer {token}"
        kind = self._random.choice((SSE, NDJSON))
        try:
            with Wire(self._port, f"{room.path}/events", headers, kind, LONGEST) as wire:
                self._figures.count("streams" if wire.status == 200 else f"streams answered {wire.status}")
                return self._hear(wire, room, last) if wire.status == 200 else None
        except ContractBreach as breach:
            self._figures.faults.append(f"{room.path}/events: {breach}")
        except (OSError, AssertionError):
            self._figures.count("streams cut")
        return None

    def _hear(self, wire: Wire, room: Room, last: int | None) -> int | None:
        until = time.monotonic() + self._random.uniform(0, LONGEST)
        with suppress(TimeoutError):
            for frame in wire.frames():
                version, told = frame["version"], frame["event"]
                if last is not None and told not in ("snapshot", "reset", "end") and version != last + 1:
                    self._figures.faults.append(f"{room.path}/events told {version} after {last}")
                last = version
                room.history.frame(version)
                self._figures.count("frames")
                if time.monotonic() > until:
                    break
        return last
