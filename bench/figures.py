"""What one measurement comes to, and how figures of several passes are put together."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from bench.contenders import Contender
from bench.load import play
from bench.processes import cpu_seconds


class Pass(NamedTuple):
    """One pass of one contender: latencies in ms, processor time in µs a move."""

    rate: float
    p50: float
    p99: float
    server: float
    store: float

    @property
    def cpu(self) -> float:
        """What a move costs, server and store together."""
        return self.server + self.store


def played(contender: Contender, moves: int, connections: int) -> Pass:
    """Play one pass on so many of a contender's sessions, and print a line of it."""
    groups = contender.processes()
    before = [cpu_seconds(group) for group in groups]
    found = play(contender.port, contender.players[:connections], moves)
    server, store = (
        (cpu_seconds(group) - earlier) / moves * 1e6 for group, earlier in zip(groups, before, strict=True)
    )
    cuts = quantiles(found.latencies, n=100)
    figures = Pass(moves / found.seconds, cuts[49] * 1e3, cuts[98] * 1e3, server, store)
    print(
        f"{contender.name:10} {connections:3} connections {figures.rate:6.0f} moves/s {figures.cpu:6.0f} µs CPU a move",
        flush=True,
    )
    return figures


def typical(passes: Sequence[Pass]) -> Pass:
    """Return the median of each figure."""
    return Pass(*map(median, zip(*passes, strict=True)))


def ratio(above: Sequence[Pass], below: Sequence[Pass], figure: str) -> float:
    """Return the median of a figure's ratios over the passes that followed one another."""
    pairs = zip(above, below, strict=True)
    return float(median(getattr(one, figure) / getattr(other, figure) for one, other in pairs))


def written(path: Path, results: dict[str, Any]) -> None:
    """Add results to those in a file, which later ones replace by name."""
    earlier = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(earlier | results, indent=1, sort_keys=True) + "\n")
