"""The load: connections that are kept open, each on a session of its own, one wager after the other on each."""

import contextlib
import re
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

BODY = b'{"amount":10}'
PATIENCE = 10.0
"""Seconds without any answer after which a pass has failed."""

_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
_ACCEPTED = b"HTTP/1.1 200 "


class BenchError(Exception):
    """The figures would be worth nothing; the message says why."""


class Played(NamedTuple):
    """One pass: how long it took, and how long each of its moves did, all in seconds."""

    seconds: float
    latencies: list[float]


class Player:
    """A session and the connection that plays it; `moves` counts its accepted moves, and so names its next key."""

    def __init__(self, session: str, token: str, moves: int = 0) -> None:
        self.session = session
        self.token = token
        self.moves = moves
        self.sent_at = 0.0
        self.answer = b""
        head = (
            f"POST /v1/sessions/{session}/wager HTTP/1.1",
            "Host: 127.0.0.1",
            "User-Agent: bench",
            "Accept: application/json",
            f"Authorization: Bearer {token}",
            "Content-Type: application/json",
            f"Content-Length: {len(BODY)}",
            "Idempotency-Key: ",
        )
        self._before = "\r\n".join(head).encode()
        self._socket: socket.socket

    def connect(self, port: int) -> socket.socket:
        """Connect anew and return the socket."""
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def send(self) -> None:
        """Send the next wager, under a key that is the version it makes."""
        self.answer = b""
        self.sent_at = time.perf_counter()
        self._socket.sendall(b"%b%08d\r\n\r\n%b" % (self._before, self.moves + 1, BODY))

    def receive(self) -> bool:
        """Read what came and tell whether the answer is whole (BenchError when it is not a 200)."""
        came = self._socket.recv(65536)
        self.answer += came
        head, end, body = self.answer.partition(b"\r\n\r\n")
        if not came or not self.answer.startswith(_ACCEPTED[: len(self.answer)]):
            raise BenchError(f"a move was not accepted: {self.answer.decode(errors='replace') or 'connection closed'}")
        if not end:
            return False
        found = _LENGTH.search(head + b"\r\n")
        if found is None:
            raise BenchError(f"an answer without a length: {head.decode(errors='replace')}")
        if len(body) < int(found[1]):
            return False
        self.moves += 1
        return True


def play(port: int, players: Sequence[Player], moves: int) -> Played:
    """Play so many moves in all, each player sending its next wager as soon as the last one is answered."""
    latencies: list[float] = []
    with contextlib.ExitStack() as opened:
        selector = opened.enter_context(selectors.DefaultSelector())
        for player in players:
            selector.register(opened.enter_context(player.connect(port)), selectors.EVENT_READ, player)
        began = time.perf_counter()
        unsent = iter(range(moves))
        for player, _ in zip(players, unsent, strict=False):
            player.send()
        while len(latencies) < moves:
            for player in _answered(selector):
                latencies.append(time.perf_counter() - player.sent_at)
                if next(unsent, None) is not None:
                    player.send()
        return Played(time.perf_counter() - began, latencies)


def _answered(selector: selectors.BaseSelector) -> Iterator[Player]:
    """Wait for what comes next and yield the players whose answers are whole with it."""
    ready = selector.select(PATIENCE)
    if not ready:
        raise BenchError(f"no answer in {PATIENCE:.0f} s")
    for key, _ in ready:
        if key.data.receive():
            yield key.data
