"""What a million sessions and 50,000 moves a second need, by measured figures: `python -m bench.capacity`.

Writes the part between the marks of docs/capacity.md anew, from docs/capacity.json (`--results` of bench.run).
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
RESULTS, PAGE = DOCS / "capacity.json", DOCS / "capacity.md"
BEGIN, END = "<!-- begin: python -m bench.capacity -->\n", "<!-- end -->\n"

SESSIONS = 1_000_000
MOVES = 50_000
LOAD = 0.6
"""The share of its processors that a node is to be busy at most: beyond it waiting times grow."""
NODE_CORES = 8
SHARD_GIB = 8
SPARE = 1.5
"""What a store needs of memory for each byte that it holds: fragmentation, buffers, rewriting its log."""
STREAM_KIB = 100
"""A stream's thread and buffers (bench.streams)."""
CONNECTIONS = 64


def page(results: dict[str, Any], text: str) -> str:
    """Return the page with the part between its marks written anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = "\n".join(_lines(results))
    return f"{before}{BEGIN}{lines}\n{END}{after}"


def _lines(results: dict[str, Any]) -> Iterator[str]:
    yield f"Measured on: {results['machine']}."
    yield ""
    yield from _coefficients(results)
    yield ""
    yield from _needs(results)


def _busiest(results: dict[str, Any]) -> dict[str, Any]:
    """Return the figures at the most connections."""
    found: dict[str, Any] = results["speed"][max(results["speed"], key=int)]
    return found


def _coefficients(results: dict[str, Any]) -> Iterator[str]:
    """Yield the table of what was measured, and by what."""
    yield "| coefficient | value | measured by |"
    yield "|---|---|---|"
    for connections, each in sorted(results["speed"].items(), key=lambda pair: int(pair[0])):
        for name, one in each.items():
            figures = f"{one['server']:.0f} + {one['store']:.0f} µs, p50 {one['p50']:.1f} ms"
            yield f"| CPU a move, server + store, {name}, {connections} connections | {figures} | `bench.run speed` |"
    for count, one in sorted(results["by_sessions"].items(), key=lambda pair: int(pair[0])):
        figures = f"{one['server'] + one['store']:.0f} µs"
        yield f"| CPU a move with {int(count):,} live sessions | {figures} | `bench.run sessions` |"
    for entries, one in sorted(results["by_length"].items(), key=lambda pair: int(pair[0])):
        yield f"| CPU a move with a log of {entries} | {one['server'] + one['store']:.0f} µs | `bench.run length` |"
    yield f"| store for a session of 40 moves with keys | {results['bytes']:,.0f} bytes | `bench.run bytes` |"


def _needs(results: dict[str, Any]) -> Iterator[str]:
    """Yield the table of what that comes to."""
    yield f"| for {SESSIONS:,} sessions and {MOVES:,} moves a second | gunicorn | granian |"
    yield "|---|---|---|"
    figures = _busiest(results)
    servers = [figures[name]["server"] for name in ("service", "granian")]
    cores = [MOVES * each / 1e6 / LOAD for each in servers]
    nodes = [math.ceil(each / NODE_CORES) for each in cores]
    stores = [MOVES * figures[name]["store"] / 1e6 / LOAD for name in ("service", "granian")]
    memory = SESSIONS * results["bytes"] * SPARE / 2**30
    shards = [max(math.ceil(each), math.ceil(memory / SHARD_GIB)) for each in stores]
    rows = (
        (f"cores for the service, {LOAD:.0%} busy", [f"{each:.0f}" for each in cores]),
        (f"nodes of {NODE_CORES} cores, a worker each", map(str, nodes)),
        ("shards by processor time, one thread each", [str(math.ceil(each)) for each in stores]),
        (f"memory of the store, replicas aside, {SPARE} times what is held", [f"{memory:.0f} GiB"] * 2),
        (f"shards by memory, {SHARD_GIB} GiB each", [str(math.ceil(memory / SHARD_GIB))] * 2),
        ("shards", map(str, shards)),
        ("memory for a stream a session, all nodes", [f"{SESSIONS * STREAM_KIB / 2**20:.0f} GiB"] * 2),
        ("connections to each shard, at most", [f"{each * NODE_CORES * CONNECTIONS:,}" for each in nodes]),
    )
    for what, values in rows:
        yield f"| {what} | {' | '.join(values)} |"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULTS.read_text()), PAGE.read_text()))


if __name__ == "__main__":
    main()
