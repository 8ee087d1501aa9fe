"""What the tests share: one real store, the application over it, and a clock that they set."""

from collections.abc import Iterator

import pytest
from flask import Flask

from service import create_app
from service.settings import Settings
from service.store import Deadline, Loaded, Store, connect
from tests.servers import StoreProcess, start_store
from tests.tables import Table


class Clock:
    """A clock in ms that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def advance(self, milliseconds: int) -> None:
        """Let time pass."""
        self.now += milliseconds


class ClockedStore(Store):
    """The real store, told the time by a test."""

    def __init__(self, url: str, clock: Clock) -> None:
        super().__init__(connect(url))
        self._clock = clock

    def load(self, session: str, field: str, deadline: Deadline) -> Loaded:
        """Load, with the test's time in place of the store's."""
        return super().load(session, field, deadline)._replace(now=self._clock.now)

    def now(self, deadline: Deadline) -> int:
        """Return the test's time."""
        super().now(deadline)
        return self._clock.now


@pytest.fixture(scope="session", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    """Run a real Valkey for the whole run."""
    store = start_store(tmp_path_factory.mktemp("store"))
    yield store
    store.stop()


@pytest.fixture(name="clock")
def _clock() -> Clock:
    return Clock()


@pytest.fixture(name="store")
def _store(server: StoreProcess, clock: Clock) -> ClockedStore:
    return ClockedStore(server.url, clock)


@pytest.fixture(name="app")
def _app(store: Store) -> Flask:
    return create_app(Settings(log_level="ERROR"), store)


@pytest.fixture(name="table")
def _table(app: Flask) -> Table:
    """Return a driver of sessions over HTTP."""
    return Table(app.test_client())
