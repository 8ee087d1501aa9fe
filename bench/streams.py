"""Many open streams on the service as `make run` serves it: `python -m bench.streams` (make bench-streams)."""

import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from bench.contenders import Contender, service
from bench.listeners import PATIENCE, Heard, Table, listen
from bench.load import BenchError
from bench.processes import cpu_seconds
from service.settings import Settings

GOAL_MS = 50.0
LINES = 16
"""Connections on which moves are sent."""
PROBE_SECONDS = 0.2
BOT_MS = 10_000
WAGER = {"game": "spice-island-poker"}
BOTS = {"game": "beat-the-dealer", "seats": [{"bot": "easy"}] * 3, "options": {"bot_ms": BOT_MS}}

Work = Callable[["Line", int], Awaitable[None]]


class Line:
    """A connection that is kept open and asks one thing after the other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, token: str = "", body: object = None) -> Any:  # noqa: ANN401 - any JSON
        """Return what is answered (BenchError for what is no success)."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        sent = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(sent)}"]
        lines += ["Content-Type: application/json"] if sent else []
        lines += [f"Authorization: Bearer {token}"] if token else []
        writer.write("\r\n".join([*lines, "\r\n"]).encode() + sent)
        async with asyncio.timeout(PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = head.partition("content-length:")[2].partition("\r\n")[0]
            answer = await reader.readexactly(int(length))
        if not head.startswith("http/1.1 2"):
            raise BenchError(f"{method} {path} was answered {head}{answer.decode(errors='replace')}")
        return json.loads(answer)

    def close(self) -> None:
        """Give the connection up."""
        if self._streams is not None:
            self._streams[1].close()


class Taken(NamedTuple):
    """What the streams came to: memory in bytes, times of answers in ms, processor time as a share of one processor."""

    heard: Heard
    moves: int
    health: list[float]
    before: int
    after: int
    server: float
    store: float


def main() -> int:
    """Run, print the figures and return the exit code: 1 when an event was lost or the median is above the goal."""
    asked = argparse.ArgumentParser(prog="bench.streams", description=__doc__)
    asked.add_argument("--streams", type=int, default=1000, help="sessions, each with one open stream")
    asked.add_argument("--seconds", type=int, default=60, help="how long they are held")
    asked.add_argument("--rate", type=float, default=100, help="moves a second, over all sessions")
    asked.add_argument("--bots", action="store_true", help="nobody moves but bots, each session every 10 seconds")
    chosen = asked.parse_args()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="bench-") as directory,
            service(Path(directory), connections=0) as served,
        ):
            taken = _measured(served, chosen)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return _report(chosen, taken)


def _measured(served: Contender, chosen: argparse.Namespace) -> Taken:
    """Hold the streams open for so long, while moves are made and the service's health is asked for."""
    tables = asyncio.run(_opened(served.port, chosen))
    server, store = served.processes()
    before = _resident(server)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    listeners = context.Process(target=listen, args=(served.port, tables, theirs), daemon=True)
    listeners.start()
    theirs.close()  # so that its end is heard
    if not _received(ours, "nobody listens"):
        raise BenchError("not every stream was opened")
    began, spent = time.monotonic(), [cpu_seconds(server), cpu_seconds(store)]
    moves, health = asyncio.run(_played(served.port, tables, chosen))
    seconds = time.monotonic() - began
    shares = [(cpu_seconds(group) - cpu) / seconds for group, cpu in zip((server, store), spent, strict=True)]
    after = _resident(server)
    ours.send(
        {table.session: int(served.store.hget(f"croupier:{{{table.session}}}:state", "version")) for table in tables}
    )
    heard: Heard = _received(ours, "the listeners did not answer")
    listeners.join()
    return Taken(heard, moves, health, before, after, *shares)


def _received(pipe: Connection, otherwise: str) -> Any:  # noqa: ANN401 - whatever is sent
    if not pipe.poll(3 * PATIENCE):
        raise BenchError(otherwise)
    try:
        return pipe.recv()
    except EOFError:
        raise BenchError(otherwise) from None


async def _opened(port: int, chosen: argparse.Namespace) -> list[Table]:
    """Open the sessions, and where persons move make a first move in each, so that the service is warm."""
    tables: list[Table] = []

    async def open_one(line: Line, _number: int) -> None:
        made = await line.ask("POST", "/v1/sessions", body=BOTS if chosen.bots else WAGER)
        tables.append(Table(made["session"]["id"], made["host_token"] if chosen.bots else made["tokens"][0]["token"]))

    await _at_rate(port, chosen.streams, None, open_one)
    if not chosen.bots:
        await _at_rate(port, chosen.streams, None, _move(tables, chosen))
    return tables


async def _played(port: int, tables: Sequence[Table], chosen: argparse.Namespace) -> tuple[int, list[float]]:
    """Make moves for so long, or begin a round of bots at each table and wait; return how many, and times of health."""
    health: list[float] = []
    probing = asyncio.create_task(_probe(port, health))
    ends = asyncio.create_task(asyncio.sleep(chosen.seconds))
    moves = chosen.streams if chosen.bots else round(chosen.rate * chosen.seconds)
    await _at_rate(port, moves, chosen.streams * 1000 / BOT_MS if chosen.bots else chosen.rate, _move(tables, chosen))
    await ends
    probing.cancel()
    return moves, health


def _move(tables: Sequence[Table], chosen: argparse.Namespace) -> Work:
    """Return what makes a move at the next table in turn."""
    verb, body = ("deal", {}) if chosen.bots else ("wager", {"amount": 10})

    async def move(line: Line, number: int) -> None:
        table = tables[number % len(tables)]
        await line.ask("POST", f"/v1/sessions/{table.session}/{verb}", table.token, body)

    return move


async def _at_rate(port: int, count: int, rate: float | None, work: Work) -> None:
    """Do something so often, at a rate a second or as fast as it goes, on some connections."""
    numbers = iter(range(count))
    began = time.monotonic()

    async def do(line: Line) -> None:
        for number in numbers:
            if rate is not None:
                await asyncio.sleep(began + number / rate - time.monotonic())
            await work(line, number)
        line.close()

    await asyncio.gather(*(do(Line(port)) for _ in range(LINES)))


async def _probe(port: int, found: list[float]) -> None:
    """Ask again and again how the service is, on a connection of its own each time."""
    while True:
        line, began = Line(port), time.perf_counter()
        await line.ask("GET", "/healthz")
        found.append((time.perf_counter() - began) * 1000)
        line.close()
        await asyncio.sleep(PROBE_SECONDS)


def _resident(processes: set[int]) -> int:
    """Return how much memory processes hold, in bytes (0 where there is no /proc)."""
    found = 0
    for process in processes:
        path = Path(f"/proc/{process}/status")
        lines = path.read_text().splitlines() if path.exists() else []
        found += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))
    return found


def _report(chosen: argparse.Namespace, taken: Taken) -> int:
    """Print what was measured."""
    late, health = taken.heard.latencies, taken.health
    each = (taken.after - taken.before) / chosen.streams / 1024
    settings = Settings.read()
    print(
        f"{chosen.streams} sessions, each with one open stream, for {chosen.seconds} s on {settings.workers} workers; "
        f"{taken.moves} {'rounds of bots' if chosen.bots else 'moves'}; load average {os.getloadavg()[0]:.1f}.\n"
        f"refused at first    {dict(Counter(taken.heard.refusals)) or 0}\n"
        f"events delivered    {len(late)}, faults {len(taken.heard.faults)}\n"
        f"ms after the move   {_spread(late)}\n"
        f"GET /healthz, ms    {_spread(health)}\n"
        f"memory, MB          {taken.before / 1e6:.0f} before, {taken.after / 1e6:.0f} after: {each:.0f} KB a stream\n"
        f"processors          server {taken.server:.2f}, store {taken.store:.2f}"
    )
    for fault in taken.heard.faults[:10]:
        print(f"bench: {fault}", file=sys.stderr)
    return int(bool(taken.heard.faults) or median(late) > GOAL_MS)


def _spread(times: list[float]) -> str:
    p99 = quantiles(times, n=100, method="inclusive")[98]
    return f"median {median(times):.1f}, p99 {p99:.1f}, worst {max(times):.1f}"


if __name__ == "__main__":
    sys.exit(main())
