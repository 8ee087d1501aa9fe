"""A cluster: each command goes to the node that has its key, and once, whatever becomes of the reply."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.cluster import PRIMARY, ClusterNode, get_node_name
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - the client's own
    MovedError,
    RedisClusterException,
    RedisError,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004 - the client's own
    TryAgainError,
)
from redis.retry import Retry

from service.connection import (
    OVER_TCP,
    Command,
    Lines,
    Single,
    StoreAway,
    asked,
    connect,
    hosts,
    options,
)
from service.fitness import Unfit

PORT = 6379
PAUSE_SECONDS = 0.05
"""How long a node that said to try again is left alone."""
ASK_AGAIN_SECONDS = 0.2
"""How often at most the nodes are asked who has what."""


def reach(url: str) -> "Single | Cluster":
    """Return a client of the store at a URL of any form; raise `ValueError` for one that is none."""
    return Cluster(url) if urlsplit(url).scheme.endswith("+cluster") else connect(url)


class Cluster:
    """The nodes of a cluster, and who has what as far as is known.

    A node that has a key no more says so before it runs anything, and then the next is asked. A command
    that may have run is not sent again. What is known is made new in a thread of its own: to ask around
    among nodes of which some hang takes longer than a request may.
    """

    clustered = True

    def __init__(self, url: str, **given: Any) -> None:  # noqa: ANN401 - whatever redis takes
        """Take what the nodes' clients are made with, beside what all are."""
        parts = urlsplit(url)
        self._given = {**options(), **OVER_TCP, **given}
        del self._given["retry"]  # its nodes have one of their own, without retries
        self._hosts = hosts(parts, PORT)
        host, port = self._hosts[0]
        user = parts.netloc.rpartition("@")[0]
        self._url = parts._replace(
            scheme=parts.scheme.removesuffix("+cluster"),
            netloc=(f"{user}@" if user else "") + (f"[{host}]:{port}" if ":" in host else f"{host}:{port}"),
        ).geturl()
        self._client: RedisCluster | None = None
        self._known = threading.Event()
        self._unknown: StoreAway = StoreAway("no node of the cluster has said who has what")
        self._learning = threading.Lock()
        self._learnt_at = 0.0
        self.changes = 0
        """How often what is known has changed."""

    def ask(self, command: Command, may_go_on: Callable[[], bool], *, kept: bool) -> Any:  # noqa: ANN401 - a raw reply
        """Send a command to the node that has its key; raise `StoreAway` when none of them has run it in time."""
        key = command[3] if command[0] in ("EVAL", "EVALSHA") else command[1]
        node, asking = self.node_of(key), False
        while True:
            try:
                return asked(self.client_of(node), command, kept=kept, asking=asking)
            except (AskError, TryAgainError, ClusterDownError) as said:
                node, asking = self._next(said, key)
            except (ConnectionError, TimeoutError):
                self.learn(node.name)
                raise
            if not may_go_on():
                raise StoreAway("the slot of the key is between two nodes, or the cluster is down")

    def nodes(self) -> Mapping[str, Redis]:
        """Return the primaries, by address."""
        return {node.name: self.client_of(node) for node in self._cluster().get_primaries()}  # type: ignore[no-untyped-call]

    def node_of(self, key: str) -> ClusterNode:
        """Return the primary that has a key, as far as is known; raise `StoreAway` where none is."""
        try:
            return self._cluster().nodes_manager.get_node_from_slot(key_slot(key.encode()))
        except SlotNotCoveredError as error:
            self.learn()
            raise StoreAway(str(error)) from error

    def client_of(self, node: ClusterNode) -> Redis:
        """Return a node's own client, with a bounded pool."""
        return self._cluster().get_redis_connection(node)

    def listener_to(self, node: ClusterNode) -> Redis:
        """Return a client of a node whose connections are apart from those of requests."""
        manager = self._cluster().nodes_manager
        made: Redis = manager.create_redis_node(node.host, node.port, **manager.connection_kwargs)  # type: ignore[no-untyped-call]
        return made

    def moved(self, said: MovedError) -> None:
        """Take note that a slot has gone to another node."""
        with suppress(KeyError):  # nobody has had the slot, as far as was known
            self._cluster().nodes_manager.move_slot(said)
        self.changes += 1
        self.learn()

    def learn(self, failed: str | None = None) -> None:
        """Begin to ask the nodes who has what, the one that failed last; one inquiry at a time is enough."""
        if time.monotonic() >= self._learnt_at + ASK_AGAIN_SECONDS and self._learning.acquire(blocking=False):
            threading.Thread(target=self._ask_around, args=(failed,), name="cluster", daemon=True).start()

    def close(self) -> None:
        """Close all connections; the next call opens one anew."""
        with self._learning:
            if self._client is not None:
                self._client.disconnect_connection_pools()  # type: ignore[no-untyped-call]

    def _next(self, said: RedisError, key: str) -> tuple[ClusterNode, bool]:
        """Return who is to be asked next, and whether as one who has been sent there."""
        if isinstance(said, MovedError):
            self.moved(said)
        elif isinstance(said, AskError):
            # A node that has no slot of its own yet is in no list.
            named = ClusterNode(said.host, said.port, PRIMARY)  # type: ignore[no-untyped-call]
            known = self._cluster().nodes_manager.nodes_cache
            return known.setdefault(get_node_name(said.host, said.port), named), True
        else:
            time.sleep(PAUSE_SECONDS)
            self.learn()
        return self.node_of(key), False

    def _cluster(self) -> RedisCluster:
        """Return the client, when there is one within the time of a call; raise `StoreAway`."""
        if self._client is None:
            self.learn()
            self._known.wait(self._given["socket_connect_timeout"] + self._given["socket_timeout"])
        if self._client is None:
            raise self._unknown
        return self._client

    def _ask_around(self, failed: str | None) -> None:
        try:
            if self._client is None:
                self._client = self._made()
                self._known.set()
            else:
                manager = self._client.nodes_manager
                manager.initialize(disconnect_startup_nodes_pools=False, last_failed_node_name=failed)
            self.changes += 1
        except Exception as error:  # noqa: BLE001 - whatever a node says instead; whoever needs an answer asks again
            if isinstance(error.__cause__, RedisClusterException):  # one has answered
                self._unknown = Unfit("it is not run as a cluster")
        finally:
            self._learnt_at = time.monotonic()
            self._learning.release()

    def _made(self) -> RedisCluster:
        return RedisCluster(
            url=self._url,
            startup_nodes=[ClusterNode(*each) for each in self._hosts],  # type: ignore[no-untyped-call]
            retry=Retry(NoBackoff(), 0),
            require_full_coverage=False,
            connection_pool_class=Lines,
            **self._given,
        )
