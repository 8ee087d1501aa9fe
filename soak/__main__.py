"""Hours of play in minutes, with faults, on the service as `make run` serves it: `python -m soak` (make soak)."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Thread
from urllib.parse import quote

from redis import RedisError

from soak.faults import Faults
from soak.growth import Growth, Size, growths, size
from soak.listeners import Listener
from soak.players import Figures, Pace, Player
from soak.rooms import House
from tests.callers import Caller
from tests.servers import ServiceProcess, eventually
from tests.stored import Stored

PLAYERS, LISTENERS = 24, 12
SAMPLES = 120
"""How often a run is measured."""
FAULTS = 12
"""How many faults a run has, but one every ten seconds at most; a third of them in the warm-up."""
WARM_UP = 0.4
"""The part of a run after which nothing may grow any more."""


class Soak:
    """One run: who plays, who listens, what goes wrong, and what was measured."""

    def __init__(self, service: ServiceProcess, stored: Stored, minutes: float, rate: float) -> None:
        self.figures, self.house, self.faults = Figures(), House(stored), Faults(service, stored)
        self.sizes: list[Size] = []
        self._seconds, self._over, self._stored = minutes * 60, Event(), stored
        self._broken: list[str] = []
        pace = Pace(rate, self._over)
        self._work: list[Callable[[], None]] = [lambda: self.faults.run(max(10, self._seconds / FAULTS), self._over)]
        for number in range(PLAYERS):
            player = Player(Caller(service.port), self.house, pace, self.figures, number)
            self._work.append(lambda player=player: player.play(self._over))  # type: ignore[misc]
        for _ in range(LISTENERS):
            listener = Listener(service.port, self.house, self.figures)
            self._work.append(lambda listener=listener: listener.listen(self._over))  # type: ignore[misc]

    def run(self) -> None:
        """Run for as long as was asked for, and hold every session against the store."""
        threads = [Thread(target=self._guarded, args=(work,), daemon=True) for work in self._work]
        for thread in threads:
            thread.start()
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            self._measure()
            self._over.wait(self._seconds / SAMPLES)
        self._over.set()
        for thread in threads:
            thread.join()
        self.house.close()

    @property
    def wrong(self) -> list[str]:
        """What went wrong and should not have."""
        return [*self._broken, *self.figures.faults, *self.house.faults]

    def grown(self) -> list[Growth]:
        """Return how everything went after the warm-up."""
        return growths(self.sizes[int(len(self.sizes) * WARM_UP) :])

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the run has failed
            self._broken.append(f"the soak itself broke: {error!r}")

    def _measure(self) -> None:
        with suppress(RedisError):  # it may be away just now
            connections = int(self._stored.command("INFO", "clients")["connected_clients"])
            self.sizes.append(size(self.faults.survivor, connections, time.monotonic()))


def main() -> int:
    """Run, print the figures and return the exit code: 1 when something grew, or was not as it should be."""
    asked = argparse.ArgumentParser(prog="soak", description=__doc__)
    asked.add_argument("--minutes", type=float, default=30, help="how long; three are enough to mean something")
    asked.add_argument("--rate", type=float, default=200, help="requests a second, over all sessions")
    chosen = asked.parse_args()
    with ExitStack() as running:
        var = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))) / "var"
        service = ServiceProcess(var, WORKERS="2", LOG_LEVEL="WARNING")
        running.enter_context(service).up()
        path = eventually((var / "store" / "store.lock").read_text, "the store runs")
        stored = Stored(f"unix://{quote(path)}")
        running.callback(stored.close)
        soak = Soak(service, stored, chosen.minutes, chosen.rate)
        soak.run()
        soak.figures.faults += [line for line in service.said.splitlines() if "exception" in line]
        return _report(soak, chosen.minutes, chosen.rate)


def _report(soak: Soak, minutes: float, rate: float) -> int:
    """Print what was measured."""
    figures, grown = soak.figures, soak.grown()
    counts, late = figures.counts, [each * 1000 for each in figures.latencies]
    p99 = quantiles(late, n=100)[98]
    print(
        f"{minutes:g} minutes at {rate:g} requests a second on 2 workers; load average {os.getloadavg()[0]:.1f}.\n"
        f"{_listed(counts)}\n"
        f"answered in, ms     median {median(late):.1f}, p99 {p99:.1f}, worst {max(late):.0f}\n"
        f"not answered        {_listed(figures.errors) or 'none'}\n"
        f"harm done           {_listed(soak.faults.done)}\n"
        f"held to the store   {_listed(soak.house.checked)}\n"
        f"{'after the warm-up':18}{'from':>10}{'to':>10}{'a minute':>10}{'in all':>10}{'allowed':>10}"
    )
    for name, first, last, slope, total, bound in grown:
        print(f"{name:18}{first:>10.0f}{last:>10.0f}{slope:>10.2f}{total:>10.1f}{bound:>10}")
    wrong = [*soak.wrong, *(f"{each.name} grows" for each in grown if each.excessive)]
    for each in wrong[:20]:
        print(f"soak: {each}", file=sys.stderr)
    return int(bool(wrong))


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
