"""What the tests that ruin a store share: one of their own, and a game in it that has just begun."""

from collections.abc import Iterator

import pytest

from tests.servers import StoreProcess, start_store
from tests.tables import Table


@pytest.fixture(scope="module", name="server")
def store_to_ruin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    """Run a store that these tests may ruin."""
    store = start_store(tmp_path_factory.mktemp("ruined"))
    yield store
    store.stop()


@pytest.fixture(name="table")
def begun_table(table: Table) -> Table:
    """Return a session after its first wager."""
    table.open("spice-island-poker").play("wager", {"amount": 5})
    return table
