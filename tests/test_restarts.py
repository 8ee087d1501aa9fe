"""A service that ends under its clients' hands: whoever sends his move again with its key has made it, and once."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count, cycle
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

from service.store import COMMIT
from tests.callers import Caller
from tests.cuts import Cut, Line
from tests.histories import History, Told, kept
from tests.servers import ServiceProcess, StoreProcess, eventually
from tests.stored import Stored
from tests.tables import Table

PLAYERS = 4
SESSIONS = 2


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker", balance=1_000_000, max_ante=300_000)


def wager(caller: Caller, table: Table, name: str, amount: int = 5) -> Told:
    return caller.ask("POST", f"{table.path}/wager", table.token, {"amount": amount}, name)


# Killed between its commit and its answer.


def killed_after_commit(server: StoreProcess, table: Table, tmp_path: Path, names: Iterator[str]) -> History:
    """Send moves, each of which costs the worker its life when it is made; send each again."""
    history = History()
    with Line(server.socket) as line, ServiceProcess(tmp_path / "var", REDIS_URL=line.url) as service:
        service.up()
        line.replied = lambda: os.kill(newest_worker(service), signal.SIGKILL)
        for number in range(2):
            with Caller(service.port) as caller:
                line.cut = Cut(COMMIT, reply=0)
                lost = wager(caller, table, next(names), number + 1)
                assert lost == Told(0)
                again = wager_when_up(caller, table, next(names), number + 1)
                history.move(str(number), iter((lost, again)))
                assert again.status == 200
    return history


def newest_worker(service: ServiceProcess) -> int:
    return int(re.findall(r"Booting worker with pid: (\d+)", service.said)[-1])


def wager_when_up(caller: Caller, table: Table, name: str, amount: int) -> Told:
    eventually(lambda: caller.ask("GET", "/healthz").status == 200, "a worker answers")
    return wager(caller, table, name, amount)


def twice(number: Iterator[int]) -> Iterator[str]:
    """Name each move twice, for it is sent twice."""
    for each in number:
        yield from (str(each), str(each))


def test_a_worker_that_dies_before_it_answers_has_made_the_move(
    server: StoreProcess, stored: Stored, table: Table, tmp_path: Path
) -> None:
    """The client's line is cut; the move with its key is answered by the next worker, and is in the log once."""
    history = killed_after_commit(server, table, tmp_path, twice(count()))
    assert history.faults(kept(stored, table.id)) == []
    assert [entry.move.action.body["amount"] for entry in stored.entries(table.id)] == [1, 2]


def test_a_client_that_takes_another_key_is_found_out(
    server: StoreProcess, stored: Stored, table: Table, tmp_path: Path
) -> None:
    """It makes its move twice."""
    history = killed_after_commit(server, table, tmp_path, map(str, count()))
    assert history.faults(kept(stored, table.id))


# One of two services restarted under load.


class Load:
    """Players that move without a pause at one or the other of two services, and send once more what fails at one."""

    def __init__(self, ports: tuple[int, int], tables: list[Table]) -> None:
        self.histories = {table.id: History() for table in tables}
        self.failed: list[Told] = []
        self.retried = 0
        """How many would have failed whoever does not send again."""
        self.made = 0
        self._ports, self._tables = ports, tables
        self._numbers = count()
        self._over = Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Play meanwhile."""
        with ThreadPoolExecutor(PLAYERS) as pool:
            playing = [pool.submit(self._play) for _ in range(PLAYERS)]
            try:
                yield
            finally:
                self._over.set()
            for each in playing:
                each.result()

    def some(self, moves: int = 40) -> None:
        """Return when so many more moves were made."""
        until = self.made + moves
        eventually(lambda: self.made >= until, "the players play")

    def _play(self) -> None:
        with ExitStack() as opened:
            callers = [opened.enter_context(Caller(port)) for port in self._ports]
            for turn in cycle((callers, callers[::-1])):
                if self._over.is_set():
                    return
                number = next(self._numbers)
                self._move(turn, self._tables[number % len(self._tables)], str(number))

    def _move(self, callers: list[Caller], table: Table, name: str) -> None:
        history = self.histories[table.id]
        told = history.move(name, self._attempts(callers, lambda caller: wager(caller, table, name)))
        if told.status != 200:
            self.failed.append(told)
        began = monotonic()
        history.read(began, callers[1].ask("GET", table.path))
        self.made += 1

    def _attempts(self, callers: list[Caller], send: Callable[[Caller], Told]) -> Iterator[Told]:
        yield send(callers[0])
        self.retried += 1
        yield send(callers[1])


@pytest.fixture(name="tables")
def _tables(table: Table) -> list[Table]:
    return [table, *(Table(table.client).open("spice-island-poker") for _ in range(SESSIONS - 1))]


def restarted(server: StoreProcess, tables: list[Table], tmp_path: Path) -> Load:
    """Restart one of two services while both are played on."""

    def start(name: str, **more: Any) -> ServiceProcess:  # noqa: ANN401 - a port
        return opened.enter_context(ServiceProcess(tmp_path / name, REDIS_URL=server.url, **more))

    with ExitStack() as opened:
        first, second = start("first"), start("second")
        load = Load((first.up().port, second.up().port), tables)
        with load.running():
            load.some()
            first.process.send_signal(signal.SIGTERM)
            load.some()
            assert first.ended() == 0
            load.some()
            start("third", port=first.port).up()
            load.some()
    return load


def test_a_restart_of_one_of_two_services_fails_nobody(
    server: StoreProcess, stored: Stored, tables: list[Table], tmp_path: Path
) -> None:
    """Who sends his move once more, with its key, to the other one is answered, and each move is made once."""
    load = restarted(server, tables, tmp_path)
    assert (load.failed, load.retried > 0) == ([], True)
    for table in tables:
        assert load.histories[table.id].faults(kept(stored, table.id)) == []
