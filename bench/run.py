"""Moves a second of the service beside the floor, taken in turns: `python -m bench.run` (make bench)."""

import argparse
import contextlib
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from bench.contenders import Contender, floor, sampled, service
from bench.load import BenchError, play
from bench.processes import cpu_seconds
from service.settings import Settings

GOAL = 0.55


class Figures(NamedTuple):
    """One pass of one contender: latencies in ms, processor time in µs a move."""

    moves_a_second: float
    p50: float
    p99: float
    server: float
    store: float
    load: float

    @property
    def cpu(self) -> float:
        """What a move costs, server and store together."""
        return self.server + self.store


def main() -> int:
    """Run the passes, print the figures and return the exit code: 1 when they are worth nothing."""
    asked = argparse.ArgumentParser(prog="bench", description=__doc__)
    asked.add_argument("--moves", type=int, default=6000, help="moves a pass")
    asked.add_argument("--passes", type=int, default=5, help="passes of each contender")
    asked.add_argument("--connections", type=int, default=64, help="connections, each on its own session")
    chosen = asked.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as directory:
            _report(chosen, *_measured(Path(directory), chosen))
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def _measured(directory: Path, chosen: argparse.Namespace) -> tuple[list[Figures], list[Figures]]:
    """Return the passes of the service and those of the floor, played in turns."""
    with contextlib.ExitStack() as running:
        served = running.enter_context(service(directory, chosen.connections))
        bare = running.enter_context(floor(directory, chosen.connections, sampled(served)))
        for contender in (served, bare):
            play(contender.port, contender.players, max(chosen.moves // 3, chosen.connections))
        _must_answer_alike(served, bare)
        passes = [(_pass(served, chosen.moves), _pass(bare, chosen.moves)) for _ in range(chosen.passes)]
        for contender in (served, bare):
            contender.must_hold_every_move()
    return [first for first, _ in passes], [second for _, second in passes]


def _must_answer_alike(served: Contender, bare: Contender) -> None:
    """Raise BenchError unless the floor answers as many headers and bytes, a version's growing digits aside."""
    real, floors = served.players[0].answer, bare.players[0].answer
    if real.count(b"\r\n") != floors.count(b"\r\n") or abs(len(real) - len(floors)) > len(real) // 100:
        raise BenchError(f"the floor answers otherwise than the service:\n{floors!r}\n{real!r}")


def _pass(contender: Contender, moves: int) -> Figures:
    """Play one pass and print a line of it."""
    groups = (*contender.processes(), {os.getpid()})
    before = [cpu_seconds(group) for group in groups]
    played = play(contender.port, contender.players, moves)
    spent = [cpu_seconds(group) - earlier for group, earlier in zip(groups, before, strict=True)]
    server, store, load = (seconds / moves * 1e6 for seconds in spent)
    cuts = quantiles(played.latencies, n=100)
    figures = Figures(moves / played.seconds, cuts[49] * 1e3, cuts[98] * 1e3, server, store, load)
    print(f"{contender.name:8} {figures.moves_a_second:6.0f} moves/s {figures.cpu:6.0f} µs CPU a move", flush=True)
    return figures


def _report(chosen: argparse.Namespace, served: Sequence[Figures], bare: Sequence[Figures]) -> None:
    """Print the medians, those of the ratios taken over each two passes that followed one another."""
    settings = Settings.read()
    parser = "gunicorn_h1c" if importlib.util.find_spec("gunicorn_h1c") else "gunicorn's own parser"
    load = median(each.load for each in served)
    print(
        f"\nWagers in Spice Island Poker on {chosen.connections} connections, each on its own session; "
        f"medians of {chosen.passes} passes of {chosen.moves} moves.\n"
        f"Python {platform.python_version()}, {os.cpu_count()} processors, {settings.workers} workers of "
        f"{settings.threads} threads, {parser}; the load itself took {load:.0f} µs a move.\n\n"
        "           moves/s   p50 ms   p99 ms   CPU µs a move: server + store = all"
    )
    for name, passes in (("service", served), ("floor", bare)):
        rate, p50, p99, server, store, _ = map(median, zip(*passes, strict=True))
        cpu = median(each.cpu for each in passes)
        print(f"{name:8} {rate:9.0f} {p50:8.1f} {p99:8.1f} {server:22.0f} {store:7.0f} {cpu:5.0f}")
    pairs = list(zip(served, bare, strict=True))
    cpu = median(below.cpu / ours.cpu for ours, below in pairs)
    rate = median(ours.moves_a_second / below.moves_a_second for ours, below in pairs)
    print(f"\nCPU a move, floor / service: {cpu:.2f} (goal {GOAL} or more)")
    print(f"moves a second, service / floor: {rate:.2f}")


if __name__ == "__main__":
    sys.exit(main())
