"""The two profiles of a store, told apart by what is left of acknowledged writes when a primary has failed."""

import os
import secrets
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service import create_app
from service import store as service_store
from service.cluster import Cluster
from service.connection import NotDurable, Profile, StoreAway
from service.settings import Settings
from service.store import Deadline, Store
from tests import test_lost_replies as replies
from tests.cluster import DURABLE, ClusterOfNodes, Node, asked, slot_of
from tests.contract import ContractClient
from tests.cuts import Line
from tests.routes import outcome
from tests.servers import eventually
from tests.stored import PATIENCE, Stored
from tests.tables import Table

NEVER = 4_102_444_800_000
BYTES = 8000
MOST_WRITES = 3000
"""More bytes than lie on the way between a primary and a replica that does not read."""
NOT_DURABLE = (503, "not-durable")


@pytest.fixture(scope="module", name="cluster")
def _cluster() -> Iterator[ClusterOfNodes]:
    """Run a cluster in which two machines have each write although a third is gone."""
    with ClusterOfNodes(replicas=2, persistence=DURABLE) as cluster:
        yield cluster


@pytest.fixture(name="durable")
def _durable(cluster: ClusterOfNodes) -> Iterator[Store]:
    cluster.settle()
    yield from stored(cluster, "durable")


@pytest.fixture(name="fast")
def _fast(cluster: ClusterOfNodes) -> Iterator[Store]:
    cluster.settle()
    yield from stored(cluster, "fast")


class PatientStore(Store):
    """The store, given time by a test."""

    def _call(self, _deadline: Deadline, *command: Any, kept: bool = False) -> Any:  # noqa: ANN401 - as the store has it
        return super()._call(Deadline(PATIENCE), *command, kept=kept)


def stored(cluster: ClusterOfNodes, profile: Profile) -> Iterator[Store]:
    """Yield the store under a profile, and close it."""
    store = PatientStore(Cluster(cluster.url, socket_timeout=PATIENCE), profile)
    store.ready(Deadline(PATIENCE))  # before a node is frozen that could be asked who has what
    yield store
    store.close()


def new_at(cluster: ClusterOfNodes, node: Node) -> Iterator[str]:
    """Yield ids of sessions that a node has, without end."""
    ranges = [(first, last) for first, last, primary, *_ in node.command("CLUSTER", "SLOTS") if primary[1] == node.port]
    while True:
        session = secrets.token_urlsafe(16)
        if any(first <= slot_of(session) <= last for first, last in ranges):
            yield session


@contextmanager
def frozen(*nodes: Node) -> Iterator[None]:
    """Freeze nodes for a while."""
    for node in nodes:
        node.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for node in nodes:
            node.signal(signal.SIGCONT)


def acknowledged(cluster: ClusterOfNodes, store: Store, node: Node) -> list[str]:
    """Write to a node until it has done so often enough, or no replica has a write; return the acknowledged ones."""
    blob, stop = os.urandom(BYTES), Event()

    def write(session: str) -> bool:
        try:
            return not stop.is_set() and store.open(session, blob, NEVER, Deadline())
        except NotDurable:
            stop.set()
            return False

    sessions = [session for session, _ in zip(new_at(cluster, node), range(MOST_WRITES), strict=False)]
    with ThreadPoolExecutor(16) as pool:
        return [session for session, done in zip(sessions, pool.map(write, sessions), strict=True) if done]


def lost(store: Store, sessions: list[str]) -> int:
    """Return how many of the sessions are gone, as soon as somebody can say so."""
    found: list[bytes | None] = []

    def found_out(session: str) -> bool:
        try:
            found.append(store.load(session, "", Deadline()).blob)
        except StoreAway:
            return False
        return True

    for session in sessions:
        eventually(lambda: found_out(session), "the store answers")  # noqa: B023 - called at once
    return found.count(None)


def fails_over(cluster: ClusterOfNodes, store: Store, thawed: int) -> tuple[int, int]:
    """Write to a primary, its replicas frozen but for some, and kill it; return how much it acknowledged, and lost."""
    victim = cluster.primaries()[0]
    replicas = cluster.replicas_of(victim)
    with frozen(*replicas[thawed:]):
        kept = acknowledged(cluster, store, victim)
        victim.kill()
    return len(kept), lost(store, kept)


def test_fast_loses_what_no_replica_had(cluster: ClusterOfNodes, fast: Store) -> None:
    """It acknowledges what the primary alone has; thousands of such writes are gone with it."""
    assert fails_over(cluster, fast, thawed=0)[1] > 0


def test_durable_acknowledges_nothing_that_no_replica_has(cluster: ClusterOfNodes, durable: Store) -> None:
    """The first write is refused already, and nothing is lost."""
    assert fails_over(cluster, durable, thawed=0) == (0, 0)


def test_durable_loses_nothing_that_it_acknowledged(cluster: ClusterOfNodes, durable: Store) -> None:
    """One of two replicas is enough to acknowledge a write, and that one takes over."""
    assert fails_over(cluster, durable, thawed=1) == (MOST_WRITES, 0)


def test_a_durable_move_whose_reply_is_lost_does_not_happen_twice(cluster: ClusterOfNodes, durable: Store) -> None:
    """What asks the replica goes over the same connection as the move, and neither is sent again."""
    node = cluster.primaries()[0]
    with Line(("127.0.0.1", node.port)) as line:
        remapped = Cluster(
            cluster.url,
            socket_timeout=PATIENCE,
            address_remap=lambda at: line.address if at[1] == node.port else at,
        )
        store, stored = PatientStore(remapped, "durable"), Stored(f"redis://{node.name}")
        table = Table(client_of(store))
        while not table.id or cluster.owner(table.id) is not node:
            table.open("spice-island-poker", balance=1_000_000, max_ante=300_000)
        table.play("wager", {"amount": 5})
        replies.cut_without_a_key(table, stored, line)
        stored.close()
        store.close()


def test_a_durable_move_costs_no_more_round_trips(cluster: ClusterOfNodes, table: Table) -> None:
    """What asks the replica is sent with the commit."""
    table.play("wager", {"amount": 4})
    before = asked(cluster)
    for number in range(10):
        table.play("wager", {"amount": 5 + number}, Idempotency_Key=f"k{number}")
    assert asked(cluster) - before == Counter(evalsha=20, wait=10)


@pytest.fixture(name="elsewhere")
def _elsewhere(cluster: ClusterOfNodes) -> Iterator[Store]:
    """Reach the store as another process does."""
    yield from stored(cluster, "durable")


@pytest.fixture(name="table")
def _table(durable: Store) -> Table:
    return Table(client_of(durable)).open("spice-island-poker")


def client_of(store: Store) -> FlaskClient:
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = ContractClient
    return app.test_client()


def test_a_move_is_acknowledged_when_a_replica_has_it(cluster: ClusterOfNodes, table: Table, elsewhere: Store) -> None:
    """Until then the answer is `not-durable`, also to the same move sent again to another process; it is made once."""
    replicas = cluster.replicas_of(cluster.owner(table.id))
    other = Table(client_of(elsewhere)).takes_over(table)
    with frozen(*replicas):
        for each in (table, other):
            assert outcome(each.act("wager", {"amount": 5}, Idempotency_Key="a")) == NOT_DURABLE
        assert outcome(table.act("wager", {"amount": 6})) == NOT_DURABLE
    eventually(lambda: is_acknowledged(other.act("wager", {"amount": 5}, Idempotency_Key="a")), "a replica has it")
    assert table.view()["version"] == 2


def is_acknowledged(answer: TestResponse) -> bool:
    """Return whether the first move is answered once more; fail if another was made in its place."""
    if outcome(answer) == NOT_DURABLE:
        return False
    return bool(answer.get_json()["version"] == 1 and answer.headers["Idempotency-Replayed"])


def test_a_replay_that_writes_nothing_is_found_out(
    cluster: ClusterOfNodes, table: Table, elsewhere: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica confirms only what was written over the same connection, so of nothing there is nothing to confirm."""
    monkeypatch.setattr(service_store, "CONFIRM", service_store.LOAD)
    with pytest.raises(AssertionError):
        test_a_move_is_acknowledged_when_a_replica_has_it(cluster, table, elsewhere)
