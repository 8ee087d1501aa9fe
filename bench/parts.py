"""The parts of the bench: each runs what it compares side by side, in turns, and returns its figures by name."""

import argparse
import contextlib
import importlib.util
import json
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from bench.contenders import Contender, copied, floor, held, opened, sampled, service
from bench.figures import Pass, played, ratio, typical
from bench.load import BenchError, Player, play

WARM = 300
"""Moves before the first pass that counts."""
BUSY = 16
"""Connections of the parts that compare a service with itself."""
MOVES = 40
"""Moves of the session whose bytes are counted."""


def speed(directory: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare the service with the floor, and under granian with itself, at each number of connections."""
    most = max(chosen.connections)
    found: dict[str, Any] = {"speed": {}}
    with contextlib.ExitStack() as running:
        served = running.enter_context(service(directory, most))
        bare = running.enter_context(floor(directory, most, sampled(served)))
        contenders = [served, bare]
        if importlib.util.find_spec("granian"):
            contenders.append(running.enter_context(service(directory, most, "granian", SERVER="granian")))
        for contender in contenders:
            play(contender.port, contender.players, WARM + most)
        _must_answer_alike(served, bare)
        for connections in chosen.connections:
            passes = _in_turns(contenders, chosen, connections)
            found["speed"][str(connections)] = {name: typical(each)._asdict() for name, each in passes.items()}
            found |= _ratios(passes, connections, most)
        for contender in contenders:
            contender.must_hold_every_move()
    return found


def _in_turns(contenders: list[Contender], chosen: argparse.Namespace, connections: int) -> dict[str, list[Pass]]:
    passes: dict[str, list[Pass]] = {contender.name: [] for contender in contenders}
    for _ in range(chosen.passes):
        for contender in contenders:
            passes[contender.name].append(played(contender, chosen.moves, connections))
    return passes


def _ratios(passes: dict[str, list[Pass]], connections: int, most: int) -> dict[str, float]:
    """Return what the goals are about."""
    found = {}
    if connections == 1:
        found["p50"] = ratio(passes["service"], passes["floor"], "p50")
    if connections == most:
        found["cpu"] = ratio(passes["floor"], passes["service"], "cpu")
        if "granian" in passes:
            found["granian"] = ratio(passes["service"], passes["granian"], "cpu")
    return found


def sessions(directory: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare services that hold few and many live sessions."""
    with contextlib.ExitStack() as running:
        contenders, bytes_each = [], 0.0
        for count in sorted(chosen.sessions):
            contender = running.enter_context(service(directory, BUSY, str(count)))
            play(contender.port, contender.players, WARM)
            before = int(contender.store.info("memory")["used_memory"])
            copied(contender, contender.players[0], count - BUSY)
            bytes_each = (int(contender.store.info("memory")["used_memory"]) - before) / max(count - BUSY, 1)
            contenders.append(contender)
        passes = _in_turns(contenders, chosen, BUSY)
    few, many = passes[str(min(chosen.sessions))], passes[str(max(chosen.sessions))]
    return {
        "by_sessions": {name: typical(each)._asdict() for name, each in passes.items()},
        "sessions": ratio(many, few, "cpu"),
        "bytes_beside_others": {"moves": WARM // BUSY, "bytes": bytes_each},
    }


def length(directory: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare games that have just begun and long ones, of one service: each pass begins at the same length."""
    passes: dict[int, list[Pass]] = {entries: [] for entries in sorted(chosen.length)}
    with service(directory, 0) as contender:
        grown = {entries: opened(contender.port) for entries in passes}
        for entries, player in grown.items():
            play(contender.port, [player], entries)
        for _ in range(chosen.passes):
            for entries, player in grown.items():
                contender.players = copied(contender, player, BUSY)
                passes[entries].append(played(contender, chosen.moves, BUSY))
                contender.must_hold_every_move()
    return {
        "by_length": {str(entries): typical(each)._asdict() for entries, each in passes.items()},
        "length": ratio(passes[max(passes)], passes[min(passes)], "cpu"),
    }


def size(directory: Path, _chosen: argparse.Namespace) -> dict[str, Any]:
    """Count the bytes of store that a session takes after so many moves with keys, by what carries its rounds on."""
    with service(directory, 0) as contender:
        found = []
        for _ in range(5):
            player = opened(contender.port)
            _go_on(contender.port, player)
            found.append(held(contender, player))
    return {"bytes": median(found)}


def _go_on(port: int, player: Player) -> None:
    """Send the first action's example again and again, each under a key of its own."""
    fields = {"Authorization": f"Bearer {player.token}", "Content-Type": "application/json"}
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=10)) as line:
        line.request("GET", f"/v1/sessions/{player.session}", headers=fields)
        view = json.load(line.getresponse())
        for number in range(MOVES):
            action = view["actions"][0]
            key = {"Idempotency-Key": f"{number:08d}-0000-4000-8000-000000000000"}
            line.request(action["method"], action["href"], json.dumps(action["example"]), fields | key)
            answer = line.getresponse()
            view = json.load(answer)
            if answer.status != 200:  # noqa: PLR2004 - HTTP's
                raise BenchError(f"a move was answered {answer.status} {view}")


def _must_answer_alike(served: Contender, bare: Contender) -> None:
    """Raise BenchError unless the floor answers as many headers and bytes, a version's growing digits aside."""
    real, floors = served.players[0].answer, bare.players[0].answer
    if real.count(b"\r\n") != floors.count(b"\r\n") or abs(len(real) - len(floors)) > len(real) // 100:
        raise BenchError(f"the floor answers otherwise than the service:\n{floors!r}\n{real!r}")
