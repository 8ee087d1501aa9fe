"""Processor time of other processes, from Linux's /proc; elsewhere nothing is known and every time is NaN."""

import math
import os
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_PARENT, _USER, _SYSTEM = 1, 11, 12


def tree(root: int) -> set[int]:
    """Return the process and all that descend from it."""
    parents = {}
    for path in _PROC.glob("[0-9]*"):
        if (fields := _stat(int(path.name))) is not None:
            parents[int(path.name)] = int(fields[_PARENT])
    found = {root}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the user and system time that the processes have used so far, in seconds."""
    ticks = 0.0
    for process in processes:
        fields = _stat(process)
        ticks += math.nan if fields is None else int(fields[_USER]) + int(fields[_SYSTEM])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str] | None:
    """Return the fields after the program's name, which may hold blanks and brackets."""
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
