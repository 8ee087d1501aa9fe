"""Machines that go while people play: replicas go on, nothing that they had is lost, and no stream notices."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service import streams
from service.cluster import reach
from service.cluster_wakes import ClusterWakes
from service.store import Store
from service.wakes import channel
from tests.cluster import ClusterOfNodes, Node, slot_of, watched
from tests.feeds import Feed, Silence, listen, serving
from tests.servers import ServiceProcess, eventually
from tests.tables import Table
from tests.wires import Wire

SPICE = "spice-island-poker"
PLACES = 16


@pytest.fixture(autouse=True)
def _no_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader look at a session only when it has heard of it."""
    monkeypatch.setattr(streams, "_AGAIN_SECONDS", 3600)


@pytest.fixture(name="app")
def _app(cluster: ClusterOfNodes) -> Iterator[Flask]:
    with serving(Store(reach(cluster.url)), PLACES, FlaskClient) as app:
        yield known(app)


@pytest.fixture(name="player")
def _player(cluster: ClusterOfNodes) -> Iterator[FlaskClient]:
    """Play over other connections than those of the streams, as another process would."""
    with serving(Store(reach(cluster.url)), PLACES, FlaskClient) as app:
        yield known(app).test_client()


def known(app: Flask) -> Flask:
    """Return an application when it knows who has what."""
    eventually(lambda: app.test_client().get("/readyz").status_code == 200, "the store is known")
    return app


def wager(table: Table, number: int) -> int:
    """Make a move, sent again until it is acknowledged; return the version."""

    def acknowledged() -> dict[str, Any] | None:
        answer = table.act("wager", {"amount": number}, Idempotency_Key=f"k{number}")
        assert answer.status_code in (200, 503), answer.text
        return dict(answer.get_json()) if answer.status_code == 200 else None

    answer = eventually(acknowledged, "the move is acknowledged")
    assert answer is not None
    return int(answer["version"])


def opened(client: FlaskClient) -> Table:
    return Table(client).open(SPICE, balance=1_000_000, max_ante=300_000)


def on_every_shard(cluster: ClusterOfNodes, client: FlaskClient) -> dict[Node, Table]:
    """Open sessions until three nodes have one."""
    found: dict[Node, Table] = {}
    while len(found) < 3:
        table = opened(client)
        found.setdefault(cluster.owner(table.id), table)
    return found


def versions(feed: Feed, last: int) -> list[int]:
    """Return the versions that a feed tells, up to one."""
    return [told.frame["version"] for told in feed.until(last)]


@contextmanager
def followed(app: Flask, tables: list[Table]) -> Iterator[list[Feed]]:
    """Follow sessions, from what they are now."""
    with ExitStack() as kept:
        feeds = [kept.enter_context(listen(app.test_client(), table.path, view="false")) for table in tables]
        for feed in feeds:
            feed.next()
        yield feeds


def replicated(node: Node, replica: Node) -> bool:
    """Return whether a replica has all that its primary has written."""
    return bool(node.info("replication")["master_repl_offset"] == replica.info("replication")["slave_repl_offset"])


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_primary_that_goes_costs_nothing_that_its_replica_has(
    cluster: ClusterOfNodes, app: Flask, player: FlaskClient, end: signal.Signals
) -> None:
    """Killed or frozen: its sessions go on where its replica is, the others meanwhile, and every stream with them."""
    cluster.settle()
    shards = on_every_shard(cluster, player)
    victim = next(node for node in shards if cluster.replicas_of(node))
    lost, *others = (shards[victim], *(table for node, table in shards.items() if node is not victim))
    with followed(app, [lost, *others]) as feeds:
        for number in range(1, 6):
            wager(lost, number)
        eventually(lambda: replicated(victim, cluster.replicas_of(victim)[0]), "the replica has it all")
        victim.signal(end)
        for table, feed in zip(others, feeds[1:], strict=True):
            assert table.act("wager", {"amount": 7}).status_code == 200
            assert versions(feed, 1) == [1]
        assert wager(lost, 6) == 6
        assert wager(lost, 7) == 7
        assert versions(feeds[0], 7) == [1, 2, 3, 4, 5, 6, 7]
        victim.signal(signal.SIGCONT)
        assert cluster.owner(lost.id) is not victim
    cluster.settle()


def moved(cluster: ClusterOfNodes, app: Flask, player: FlaskClient) -> str:
    """Hear of a session while its slot goes from node to node; return which it is."""
    table = opened(player)
    with followed(app, [table]) as (feed,):
        for number in range(1, 4):
            others = [node for node in cluster.primaries() if node is not cluster.owner(table.id)]
            cluster.move(slot_of(table.id), others[number % len(others)])
            assert wager(table, number) == number
            assert versions(feed, number) == [number]
    return table.id


def test_a_stream_goes_along_with_its_slot(cluster: ClusterOfNodes, app: Flask, player: FlaskClient) -> None:
    """The node that gave it away says so, and the next one is asked; nobody asks when the client has gone."""
    name = channel(moved(cluster, app, player)).encode()
    for node in cluster.nodes:
        eventually(lambda: name not in node.command("PUBSUB", "SHARDCHANNELS"), "nobody listens")  # noqa: B023


def test_a_reader_that_stays_where_it_was_is_found_out(
    cluster: ClusterOfNodes, app: Flask, player: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node that gave the slot away has no news of it any more."""
    monkeypatch.setattr(ClusterWakes, "_stray", lambda *_: None)
    app.extensions["streams"].heartbeat = 0.5
    with pytest.raises(Silence):
        moved(cluster, app, player)


def test_a_service_streams_across_nodes(cluster: ClusterOfNodes, player: FlaskClient, tmp_path: Path) -> None:
    """A process of its own, started over the addresses of some nodes, tells of sessions wherever they are."""
    shards = on_every_shard(cluster, player)
    with ServiceProcess(tmp_path / "var", REDIS_URL=cluster.url) as service:
        service.up()
        for table in shards.values():
            with Wire(service.port, f"{table.path}/events") as wire:
                frames = wire.frames()
                assert next(frames)["event"] == "snapshot"
                wager(table, 1)
                assert next(frames)["version"] == 1
        assert "store" not in service.said


def test_a_fail_over_by_sentinel_costs_nothing_that_the_replica_has() -> None:
    """Play and stream go on at the server that the sentinels name then."""
    with watched("tables") as (nodes, url):
        primary, replica, *_ = nodes.nodes
        with serving(Store(reach(url)), PLACES, FlaskClient) as app:
            table = opened(known(app).test_client())
            with followed(app, [table]) as (feed,):
                for number in range(1, 6):
                    wager(table, number)
                eventually(lambda: replicated(primary, replica), "the replica has it all")
                primary.kill()
                assert wager(table, 6) == 6
                assert versions(feed, 6) == [1, 2, 3, 4, 5, 6]
            assert replica.info("replication")["role"] == "master"
