"""Real servers for the tests: each runs over a directory of its own and is ended by the test that asked for it."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Self, TypeVar

from service.embedded import StoreProcess, start_store

__all__ = ["SERVERS", "ServiceProcess", "StoreProcess", "eventually", "free_port", "start_store"]

ROOT = Path(__file__).parent.parent
SERVERS = ("gunicorn", "granian")
"""What may speak HTTP for the service."""
T = TypeVar("T")


def eventually(ask: Callable[[], T], what: str, seconds: float = 30) -> T:
    """Ask until the answer is true, and return it (AssertionError after so many seconds)."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return answer


def free_port() -> int:
    """Return a port that nobody listens on, and that the system gives to no connection meanwhile."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class ServiceProcess:
    """`python -m service` over a directory, and what it says; leaving its context ends it."""

    def __init__(self, var_dir: Path, port: int | None = None, **environ: str) -> None:
        self.var_dir = var_dir
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._said = var_dir.parent / f"said.{self.port}.{time.monotonic_ns()}"
        settings = {"PORT": str(self.port), "VAR_DIR": str(var_dir), "WORKERS": "1", "REDIS_URL": "", "LIMITS": "off"}
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service"],
                cwd=ROOT,
                env={**os.environ, **settings, **environ},
                stdout=said,
                stderr=said,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()

    @property
    def said(self) -> str:
        """What the launcher, gunicorn and the service have written."""
        return self._said.read_text(errors="replace")

    def up(self) -> Self:
        """Return when it answers."""
        eventually(lambda: self._answers() or self.process.poll() is not None, "the service answers or ends")
        assert self.process.poll() is None, self.said
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Return its exit code when it has ended."""
        return self.process.wait(60)

    def _answers(self) -> bool:
        asked = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            asked.request("GET", "/healthz")
            return asked.getresponse().status == 200
        except ConnectionError:
            return False
        finally:
            asked.close()
