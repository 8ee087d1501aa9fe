"""What a move costs in all that may make it dearer, and which goals hold: `python -m bench.run` (make bench)."""

import argparse
import contextlib
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import parts
from bench.figures import written
from bench.load import BenchError
from service.settings import Settings

GOALS: dict[str, tuple[str, str, float]] = {
    "cpu": ("CPU a move, floor / service", "≥", 0.65),
    "p50": ("p50 at one connection, service / floor", "≤", 1.6),
    "granian": ("moves a CPU second, granian / gunicorn", "≥", 1.7),
    "sessions": ("CPU a move, most live sessions / fewest", "≤", 1.15),
    "length": ("CPU a move, longest log / shortest", "≤", 1.1),
    "bytes": ("bytes of store, a session with 40 moves", "≤", 5 * 1024),
}
PARTS: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "speed": parts.speed,
    "sessions": parts.sessions,
    "length": parts.length,
    "bytes": parts.size,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen parts, print which goals hold and return the exit code: 1 when figures are worth nothing."""
    asked = argparse.ArgumentParser(prog="bench", description=__doc__)
    asked.add_argument("parts", nargs="*", metavar="PART", help=f"which of {', '.join(PARTS)}; by default all")
    asked.add_argument("--moves", type=int, default=2000, help="moves a pass")
    asked.add_argument("--passes", type=int, default=5, help="passes of each contender")
    asked.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64], help="how many at once")
    asked.add_argument("--sessions", type=int, nargs="+", default=[1000, 10_000, 100_000], help="live sessions")
    asked.add_argument("--length", type=int, nargs="+", default=[40, 4000], help="log entries")
    asked.add_argument("--results", type=Path, help="a file to keep the figures in, for bench.capacity")
    chosen = asked.parse_args(arguments)
    if unknown := set(chosen.parts) - PARTS.keys():
        asked.error(f"no such part: {', '.join(sorted(unknown))}")
    found: dict[str, Any] = {}
    try:
        for name in chosen.parts or PARTS:
            with tempfile.TemporaryDirectory(prefix="bench-") as directory:
                found |= PARTS[name](Path(directory), chosen)
            if chosen.results:
                written(chosen.results, found | {"machine": machine()})
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    _report(found)
    return 0


def machine() -> str:
    """Return what the figures were taken on."""
    settings = Settings.read()
    parser = "gunicorn_h1c" if importlib.util.find_spec("gunicorn_h1c") else "gunicorn's own parser"
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
        return (
            f"Python {platform.python_version()}, {os.cpu_count()} processors ({model}), "
            f"{settings.workers} workers, {parser}"
        )
    return f"Python {platform.python_version()}, {os.cpu_count()} processors, {settings.workers} workers, {parser}"


def _report(found: dict[str, Any]) -> None:
    """Print every goal that was measured, and whether it holds."""
    print(f"\n{machine()}\n")
    for name, (what, sign, bound) in GOALS.items():
        if name in found:
            holds = found[name] >= bound if sign == "≥" else found[name] <= bound
            print(f"{what:42} {found[name]:8.2f}   goal {sign} {bound:<6g} {'holds' if holds else 'MISSED'}")


if __name__ == "__main__":
    sys.exit(main())
