"""What the tests share: one real store, the application over it, and a clock that they set."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service import create_app
from service.cluster import Cluster
from service.settings import Settings
from service.store import Deadline, Store
from tests.cluster import ClusterOfNodes
from tests.contract import ContractClient
from tests.servers import StoreProcess, start_store
from tests.stored import PATIENCE, Stored, patient
from tests.tables import Table

collect_ignore = (
    [] if sys.platform == "linux" else ["test_full_disk.py", "test_nginx.py", "test_soak.py", "test_systemd.py"]
)
"""Servers run on Linux, and what is there for them is tried there."""


class Clock:
    """A clock in ms that moves only when a test moves it.

    It begins in the year 2100, since the store drops keys by its own clock.
    """

    def __init__(self) -> None:
        self.now = 4_102_444_800_000

    def advance(self, milliseconds: int) -> None:
        """Let time pass."""
        self.now += milliseconds


class ClockedStore(Store):
    """The real store, told the time by a test and given time by it."""

    def __init__(self, store: str | Cluster, clock: Clock) -> None:
        super().__init__(patient(store) if isinstance(store, str) else store)
        self._clock = clock

    def _call(self, _deadline: Deadline, *command: Any, kept: bool = False) -> Any:  # noqa: ANN401 - as the store has it
        return super()._call(Deadline(PATIENCE), *command, kept=kept)

    def _time(self) -> int:
        """Return the test's time, in µs."""
        return self._clock.now * 1000


@pytest.fixture(scope="session", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    """Run a real Valkey for the whole run."""
    store = start_store(tmp_path_factory.mktemp("store"))
    yield store
    store.stop()


@pytest.fixture(scope="session", name="cluster")
def _cluster() -> Iterator[ClusterOfNodes]:
    """Run a cluster of three primaries and three replicas for the whole run."""
    with ClusterOfNodes() as cluster:
        yield cluster


@pytest.fixture(name="stored")
def _stored(server: StoreProcess) -> Iterator[Stored]:
    """Read and write what is stored, behind the service's back."""
    stored = Stored(server.url)
    yield stored
    stored.close()


@pytest.fixture(name="alone")
def _alone(stored: Stored) -> None:
    """Let what tests before this one have asked for not count."""
    for name in stored.command("KEYS", "croupier:{by:*"):
        stored.command("DEL", name)


@pytest.fixture(name="clock")
def _clock() -> Clock:
    return Clock()


@pytest.fixture(name="store")
def _store(server: StoreProcess, clock: Clock) -> Iterator[ClockedStore]:
    store = ClockedStore(server.url, clock)
    yield store
    store.close()


@pytest.fixture(name="app")
def _app(store: Store) -> Flask:
    """Make the application; whatever its test clients are answered is held to the contract."""
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = ContractClient
    return app


@pytest.fixture(name="client")
def _client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(name="table")
def _table(client: FlaskClient) -> Table:
    """Return a driver of sessions over HTTP."""
    return Table(client)
