"""What is measured: the service as `make run` serves it, and the floor under the same gunicorn and settings."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec.msgpack import Encoder

from bench.floor import SAMPLE, Sample
from bench.load import BenchError, Player, play
from bench.processes import tree
from service.connection import Single, connect
from service.connection import key as stored_as
from service.embedded import start_store
from service.store import COMMIT, LOAD, Deadline, Store

ROOT = Path(__file__).parent.parent
START_SECONDS = 20.0
# Every move is counted, as in earnest, and none is refused.
_MOST = ("MOVES_PER_SECOND", "READS_PER_SECOND", "OPENS_PER_MINUTE", "EVENTS_PER_MINUTE")
_LIMITS = dict.fromkeys(_MOST, "100000") | {"STREAMS_PER_ADDRESS": "16384"}
PARTS = ("state", "log", "keys")
PORTION = 1000
"""How many sessions are copied at once."""
# gunicorn adds these itself.
_SERVERS_OWN = {"server", "date", "connection"}


class Contender:
    """A gunicorn and the store under it, ready to be played."""

    def __init__(self, name: str, port: int, process: int, store: Single) -> None:
        self.name = name
        self.port = port
        # redis-py's types do not know that these replies are bytes.
        self.store: Any = store
        self.players: list[Player] = []
        self._process = process
        self._store_process = int(store.info("server")["process_id"])

    def processes(self) -> tuple[set[int], set[int]]:
        """Return the server's processes and the store's."""
        store = {self._store_process}
        return tree(self._process) - store, store

    def must_hold_every_move(self) -> None:
        """Raise BenchError unless the logs in the store hold exactly the moves that were answered."""
        for player in self.players:
            held = self.store.llen(f"croupier:{{{player.session}}}:log")
            if held != player.moves:
                raise BenchError(f"{self.name}: {player.moves} moves were answered and {held} are in the log")


@contextlib.contextmanager
def service(directory: Path, connections: int, name: str = "service", **environ: str) -> Iterator[Contender]:
    """Run `python -m service` over an embedded store of its own, a session for each connection."""
    var = directory / name
    with _running(directory, name, ["-m", "service"], VAR_DIR=str(var), REDIS_URL="", **environ) as (port, process):
        # The lock says where the socket is, which has no place in a directory with a long name.
        socket_path = (var / "store" / "store.lock").read_text()
        with connect(f"unix://{quote(socket_path)}") as store:
            found = Contender(name, port, process, store)
            found.players = [opened(port) for _ in range(connections)]
            yield found


@contextlib.contextmanager
def floor(directory: Path, connections: int, sample: Sample) -> Iterator[Contender]:
    """Run the floor over an embedded store of its own, a session for each connection."""
    path = directory / "sample"
    path.write_bytes(Encoder().encode(sample))
    command = ["-m", "gunicorn", "--config", f"file:{ROOT / 'deploy' / 'gunicorn.conf.py'}", "bench.floor:app"]
    embedded = start_store(directory / "floor")
    environ = {"REDIS_URL": embedded.url, SAMPLE: str(path)}
    try:
        with _running(directory, "floor", command, **environ) as (port, process), connect(embedded.url) as store:
            found = Contender("floor", port, process, store)
            found.players = [_seeded(store, sample) for _ in range(connections)]
            yield found
    finally:
        embedded.stop()


def sampled(contender: Contender) -> Sample:
    """Return what one real move leaves behind."""
    player = opened(contender.port)
    play(contender.port, [player], 1)
    head, _, body = player.answer.partition(b"\r\n\r\n")
    lines = (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    state, log, keys = (f"croupier:{{{player.session}}}:{part}" for part in ("state", "log", "keys"))
    ((field, record),) = contender.store.hgetall(keys).items()
    return Sample(
        field=field.decode().removesuffix("00000001"),
        record=record,
        blob=contender.store.hget(state, "blob"),
        entry=contender.store.lindex(log, 0),
        drop_at=contender.store.pexpiretime(state),
        headers=[(name, value) for name, value in lines if name.lower() not in _SERVERS_OWN],
        body=body,
    )


def copied(contender: Contender, player: Player, count: int) -> list[Player]:
    """Return so many sessions more that are as a player's is, to the byte, each with a player of its own."""
    found = [Player(secrets.token_urlsafe(16), player.token, player.moves) for _ in range(count)]
    kept = {part: contender.store.dump(stored_as(player.session, part)) for part in PARTS}
    until = contender.store.pexpiretime(stored_as(player.session, "state"))
    for begin in range(0, count, PORTION):
        pipeline = contender.store.pipeline(transaction=False)
        for each in found[begin : begin + PORTION]:
            for part, dump in kept.items():
                pipeline.restore(stored_as(each.session, part), until, dump, absttl=True)
        pipeline.execute()
    return found


def held(contender: Contender, player: Player) -> int:
    """Return the bytes of store that a session takes."""
    return sum(contender.store.memory_usage(stored_as(player.session, part), samples=0) for part in PARTS)


@contextlib.contextmanager
def _running(directory: Path, name: str, command: list[str], **environ: str) -> Iterator[tuple[int, int]]:
    """Run a server on a free port and yield the port and its process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    log = directory / f"{name}.log"
    with log.open("wb") as output:
        settings = {**os.environ, **_LIMITS, "HOST": "127.0.0.1", "PORT": str(port), **environ}
        process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=settings, stdout=output, stderr=output)
    try:
        _await(port, process, log)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def _await(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until the port is open; what is sent then waits for a worker."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise BenchError(f"nothing serves on port {port}: {log.read_text().strip()}")
        time.sleep(0.05)


def opened(port: int) -> Player:
    """Open a session over HTTP."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)) as connection:
        body = json.dumps({"game": "spice-island-poker"})
        connection.request("POST", "/v1/sessions", body, {"Content-Type": "application/json"})
        made = json.load(connection.getresponse())
    return Player(made["session"]["id"], made["tokens"][0]["token"])


def _seeded(store: Single, sample: Sample) -> Player:
    """Put a session into the floor's store."""
    for script in (LOAD, COMMIT):
        store.script_load(script.source)
    player = Player(secrets.token_urlsafe(16), secrets.token_urlsafe(32))
    Store(store).open(player.session, sample.blob, sample.drop_at, Deadline())
    return player
