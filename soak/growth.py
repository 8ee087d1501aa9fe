"""What a process holds, measured again and again, and whether that grows."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple


class Size(NamedTuple):
    """What a worker holds at a time (s): resident KB, open descriptors, threads; and the connections of its store."""

    at: float
    memory: int
    descriptors: int
    threads: int
    connections: int


BOUNDS = {"memory": 6000, "descriptors": 15, "threads": 15, "connections": 15}
"""What each may grow by from the end of the warm-up to the end of the run, by the slope."""


class Growth(NamedTuple):
    """How one of them went: where it began and ended, its slope a minute, what that comes to and what is allowed."""

    name: str
    first: float
    last: float
    slope: float
    total: float
    bound: int

    @property
    def excessive(self) -> bool:
        """Whether it grew beyond its bound."""
        return self.total > self.bound


def size(process: int, connections: int, at: float) -> Size:
    """Measure a process of this machine (OSError when it has ended, or where there is no /proc)."""
    home = Path(f"/proc/{process}")
    told = dict(line.split(":", 1) for line in (home / "status").read_text().splitlines())
    return Size(at, int(told["VmRSS"].split()[0]), len([*(home / "fd").iterdir()]), int(told["Threads"]), connections)


def growths(sizes: Sequence[Size]) -> list[Growth]:
    """Return how everything went between the first and the last of some sizes."""
    times = [each.at for each in sizes]
    found = []
    for name, bound in BOUNDS.items():
        values = [float(getattr(each, name)) for each in sizes]
        slope = slope_of(times, values)
        few = max(1, len(values) // 10)
        total = slope * (times[-1] - times[0])
        found.append(Growth(name, median(values[:few]), median(values[-few:]), slope * 60, total, bound))
    return found


def slope_of(times: Sequence[float], values: Sequence[float]) -> float:
    """Return the median of the slopes between any two points: a few that lie far off do not tip it."""
    step = max(1, len(times) // 300)
    points = list(zip(times, values, strict=True))[::step]
    return median((later[1] - one[1]) / (later[0] - one[0]) for one, later in combinations(points, 2))
