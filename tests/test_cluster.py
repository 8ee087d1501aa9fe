"""A cluster of real nodes: every game is played on it, a slot moves house during play, and a lost reply is no move."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from redis.crc import key_slot
from redis.exceptions import RedisError, ResponseError, TryAgainError

from engine.games import GAMES
from service import create_app
from service.cluster import Cluster
from service.connection import key
from service.records import decode_entry
from service.settings import Settings
from service.store import LOBBY, Store
from service.wakes import channel
from tests import test_lost_replies as replies
from tests.cluster import ClusterOfNodes, Node, asked, slot_of
from tests.conftest import Clock, ClockedStore
from tests.contract import ContractClient
from tests.cuts import Line
from tests.feeds import later
from tests.parties import Party
from tests.routes import outcome
from tests.servers import eventually
from tests.stored import PATIENCE, Stored
from tests.tables import Table

SPICE = "spice-island-poker"
AWAY = (503, "store-unavailable")
MOST_MOVES = 400
"""More than the first examples of any game need to settle a round."""


@pytest.fixture(name="store")
def _store(cluster: ClusterOfNodes, clock: Clock) -> Iterator[ClockedStore]:
    reached = Cluster(cluster.url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)
    store = ClockedStore(reached, clock)
    yield store
    store.close()


def on_every_shard(cluster: ClusterOfNodes, app: Flask, *opened: Any, **asked: Any) -> dict[Node, Party]:  # noqa: ANN401
    """Open sessions until three nodes have one."""
    found: dict[Node, Party] = {}
    while len(found) < 3:
        party = Party(app.test_client()).seat(*opened, **asked)
        found.setdefault(cluster.owner(party.id), party)
    return found


# Where things are.


def test_all_that_a_session_has_is_in_one_slot() -> None:
    """Whatever its id begins with; the lobby is in a slot of its own."""
    for first in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        session = first + "a" * 21
        parts = [key(session, part) for part in ("state", "log", "keys", "ticket:abc")]
        assert {key_slot(name.encode()) for name in (*parts, channel(session))} == {slot_of(session)}
    assert "{" not in LOBBY


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_played_through(cluster: ClusterOfNodes, app: Flask, clock: Clock, game: str) -> None:
    """A round, from the deal to the score, by each seat's first example; the node that has the slot has the log."""
    app.test_client_class = FlaskClient  # every answer of every game is held to the contract elsewhere
    table = Table(app.test_client()).open(game)
    sent = 0
    while table.watched()["status"] not in ("settled", "finished"):
        if table.able():
            table.play_first()
        else:
            clock.advance(1000)
        sent += 1
        assert sent < MOST_MOVES
    assert table.score().get_json()["standings"]
    version = table.watched()["version"]
    assert cluster.owner(table.id).command("LLEN", key(table.id, "log")) == version


def test_the_lobby_lists_the_sessions_of_all_nodes(cluster: ClusterOfNodes, app: Flask) -> None:
    """The index is at one of them, and what it names is found wherever it is."""
    opened = on_every_shard(cluster, app, "jackpot", ["Anna", {"open": True}], visibility="public")
    listed = app.test_client().get("/v1/sessions").get_json()["sessions"]
    assert {party.id for party in opened.values()} <= {each["id"] for each in listed}


def test_a_node_that_has_forgotten_the_scripts_is_sent_them(cluster: ClusterOfNodes, app: Flask) -> None:
    """At each node alike, since each has its own."""
    opened = on_every_shard(cluster, app, "jackpot", ["Anna", "Bo"])
    for node, party in opened.items():
        node.command("SCRIPT", "FLUSH")
        party.does(0, "seed", {"client_seed": "luck"})


def test_a_move_costs_two_round_trips(cluster: ClusterOfNodes, app: Flask) -> None:
    """One to load and one to commit, and none to find the node."""
    table = Table(app.test_client()).open(SPICE)
    table.play("wager", {"amount": 5})
    before = asked(cluster)
    for number in range(10):
        table.play("wager", {"amount": 6 + number}, Idempotency_Key=f"k{number}")
    assert asked(cluster) - before == Counter(evalsha=20)


# A reply that is lost.


@pytest.fixture(name="node")
def _node(cluster: ClusterOfNodes) -> Node:
    return cluster.primaries()[0]


@pytest.fixture(name="line")
def _line(node: Node) -> Iterator[Line]:
    """Run a line to a node that can be cut."""
    with Line(("127.0.0.1", node.port)) as line:
        yield line


@pytest.fixture(name="lined")
def _lined(cluster: ClusterOfNodes, node: Node, line: Line) -> Iterator[Table]:
    """Open a session on the node that is reached over the line."""
    with over(cluster, node, line) as client:
        table = Table(client)
        while not table.id or cluster.owner(table.id) is not node:
            table.open(SPICE, balance=1_000_000, max_ante=300_000)
        yield table


@contextmanager
def over(cluster: ClusterOfNodes, node: Node, line: Line) -> Iterator[FlaskClient]:
    """Yield a client of a service that takes the line for the node."""
    reached = Cluster(
        cluster.url, socket_timeout=PATIENCE, address_remap=lambda at: line.address if at[1] == node.port else at
    )
    yield create_app(Settings(log_level="CRITICAL"), ClockedStore(reached, Clock())).test_client()
    reached.close()


@pytest.fixture(name="stored")
def _stored(node: Node) -> Iterator[Stored]:
    stored = Stored(f"redis://{node.name}")
    yield stored
    stored.close()


def test_a_move_whose_reply_is_cut_happens_once(lined: Table, stored: Stored, line: Line) -> None:
    """After whichever byte of it: the move was made, and is answered when it is sent again."""
    assert replies.cut_everywhere(lined, stored, line, replies=True) == len(b"$9\r\ncommitted\r\n")


def test_a_move_without_a_key_does_not_happen_twice(lined: Table, stored: Stored, line: Line) -> None:
    """Neither the service nor what it reaches the cluster with sends it again."""
    replies.cut_without_a_key(lined, stored, line)


def test_a_client_of_a_node_that_sends_again_of_itself_is_found_out(
    cluster: ClusterOfNodes, node: Node, lined: Table, stored: Stored, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One retry, and a move is made twice."""
    monkeypatch.setattr("service.cluster.asked", replies.asked_again)
    with over(cluster, node, line) as lined.client:
        with pytest.raises(AssertionError):
            replies.cut_without_a_key(lined, stored, line)
        assert replies.length(lined, stored) == 2


# A slot that moves.


@pytest.fixture(name="moving")
def _moving(cluster: ClusterOfNodes) -> Iterator[Table]:
    """Open a session in a store that is given no more time for a request than the service gives it."""
    store = Store(Cluster(cluster.url, socket_timeout=PATIENCE))
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = ContractClient
    table = Table(app.test_client()).open(SPICE)
    table.play("wager", {"amount": 5}, Idempotency_Key="first")
    yield table
    store.close()


@pytest.fixture(name="told")
def _told(monkeypatch: pytest.MonkeyPatch) -> list[type[RedisError]]:
    """Note what nodes say in place of running a command."""
    told: list[type[RedisError]] = []
    follow = Cluster._next

    def noting(cluster: Cluster, said: RedisError, name: str) -> Any:  # noqa: ANN401 - as it is
        told.append(type(said))
        return follow(cluster, said, name)

    monkeypatch.setattr(Cluster, "_next", noting)
    return told


def test_play_goes_on_while_a_slot_moves(cluster: ClusterOfNodes, moving: Table, told: list[type[RedisError]]) -> None:
    """Before the first key, between two of them, behind the last, and after the move, each move is made once."""
    stages: list[str] = []
    waiting: list[Any] = []

    def meanwhile() -> None:
        stages.append(str(len(stages)))
        match stages[-1]:
            case "0" | "3":
                moving.play("wager", {"amount": 10 + len(stages)}, Idempotency_Key=stages[-1])
            case "1":
                assert outcome(moving.act("wager", {"amount": 12}, Idempotency_Key="1")) == AWAY
                told.clear()
                waiting.append(later(lambda: moving.act("wager", {"amount": 12}, Idempotency_Key="1")))
                eventually(lambda: TryAgainError in told, "the move waits between two nodes")

    cluster.move(slot_of(moving.id), cluster.grow(), meanwhile)
    assert stages == ["0", "1", "2", "3"]
    assert waiting[0]().status_code in (200, 503)
    moving.play("wager", {"amount": 12}, Idempotency_Key="1")
    moving.play("wager", {"amount": 20})
    assert cluster.owner(moving.id) is cluster.nodes[-1]
    lines = cluster.nodes[-1].command("LRANGE", key(moving.id, "log"), 0, -1)
    amounts = [decode_entry(line).move.action.body["amount"] for line in lines]
    assert sorted(amounts) == [5, 11, 12, 14, 20]
    assert len(amounts) == moving.view()["version"] == 5


def test_no_command_had_keys_in_several_slots(cluster: ClusterOfNodes) -> None:
    """No node has refused one for that since it was started, and one that does would say so."""
    for node in cluster.nodes:
        assert "errorstat_CROSSSLOT" not in node.info("errorstats")
    last = cluster.nodes[-1]
    with pytest.raises(ResponseError):
        last.command("DEL", "a", "b")
    assert "errorstat_CROSSSLOT" in last.info("errorstats")
    last.command("CONFIG", "RESETSTAT")
