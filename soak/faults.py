"""What goes wrong while the service is played on, one after the other."""

import os
import signal
import socket
import time
from collections import Counter
from contextlib import ExitStack, suppress
from threading import Event

from bench.processes import tree
from tests.servers import ServiceProcess
from tests.stored import Stored

FROZEN = 1.5
SLOW, SLOW_SECONDS = 40, 6.0
HALF = b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{"


class Faults:
    """Does harm to a service: to its store, to one of its workers (the other lives on), and as its clients."""

    def __init__(self, service: ServiceProcess, stored: Stored) -> None:
        self.done: Counter[str] = Counter()
        self._service, self._stored = service, stored
        below = tree(service.process.pid) - {service.process.pid, self._store()}
        self._master = max(below, key=lambda process: len(tree(process)))
        self.survivor = min(self._workers())

    def run(self, every: float, over: Event) -> None:
        """Do harm every so many seconds, one kind after the other, until it is over."""
        kinds = [self.kill_store, self.freeze_store, self.kill_worker, self.be_slow]
        while not over.wait(every):
            harm = kinds[self.done.total() % len(kinds)]
            harm()
            self.done[harm.__name__.replace("_", " ")] += 1

    def kill_store(self) -> None:
        """End the store as a crash would; the launcher starts it again."""
        os.kill(self._store(), signal.SIGKILL)

    def freeze_store(self) -> None:
        """Stop the store in its tracks for a while."""
        store = self._store()
        os.kill(store, signal.SIGSTOP)
        time.sleep(FROZEN)
        os.kill(store, signal.SIGCONT)

    def kill_worker(self) -> None:
        """End each worker but the survivor."""
        for worker in self._workers() - {self.survivor}:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)

    def be_slow(self) -> None:
        """Send half of many requests; go away at once from some, and sit there with the others."""
        with ExitStack() as held:
            for number in range(SLOW):
                line = socket.create_connection(("127.0.0.1", self._service.port), 30)
                line.sendall(HALF)
                if number % 2:
                    line.close()
                else:
                    held.enter_context(line)
            time.sleep(SLOW_SECONDS)

    def _store(self) -> int:
        return int(self._stored.command("INFO", "server")["process_id"])

    def _workers(self) -> set[int]:
        return tree(self._master) - {self._master}
