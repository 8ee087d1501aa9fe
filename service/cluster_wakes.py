"""Hears of changes in a cluster: sharded pub/sub, one connection to each node that has a followed session."""

import secrets
import selectors
import time
from typing import Any

from redis.cluster import ClusterNode
from redis.exceptions import MovedError, RedisError

from service.cluster import Cluster
from service.connection import StoreAway, session_of, store_errors
from service.wakes import Wakes, channel

_NAP_SECONDS = 0.25
"""How soon a channel that no node would take is offered again."""
_LEARN_SECONDS = 5.0
"""How often it is asked where the slots are: a node that hangs does not say that it has lost its own."""
_NOWHERE = "nowhere"


class ClusterWakes(Wakes):
    """The sessions that a process follows, each at the node that has its slot.

    A node that goes, or gives a slot away, leaves channels astray; they are subscribed to again where their
    slot is then, and nothing of it is noticed at other nodes. `next` returns a session each time that it has
    been subscribed to, since it may have changed before.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._own = secrets.token_urlsafe(16)
        self._ears: dict[str, Any] = {}
        self._at: dict[str, str] = {}
        self._astray = {channel(self._own)}
        self._again_at = 0.0
        self._learn_at = 0.0
        self._changes = cluster.changes

    def follow(self, session: str) -> None:
        """Hear of a session from the moment that `next` first returns it."""
        self._astray.add(channel(session))
        self._again_at = 0.0

    def drop(self, session: str) -> None:
        """Hear of it no more."""
        name = channel(session)
        self._astray.discard(name)
        if (node := self._at.pop(name, None)) is not None:
            self._unsubscribe(name, node)

    def nudge(self) -> None:
        """Make `next` return in the thread that waits there."""
        with store_errors():
            self._cluster.ask(("SPUBLISH", channel(self._own), ""), lambda: False, kept=False)

    def next(self, seconds: float) -> str | None:
        """Return a session that is newly followed or has changed; nothing after a nudge or when the time is up."""
        self._place()
        message = self._heard()
        if message is None and seconds:
            self._wait(min(seconds, _NAP_SECONDS) if self._astray else seconds)
            message = self._heard()
        if message is None:
            return None
        name = message["channel"].decode()
        if message["type"] == "sunsubscribe":
            if name in self._at:  # the node has given the slot away
                self._stray(name)
                self._cluster.learn()
            return None
        session = session_of(name)
        return None if session == self._own else session

    def node(self, session: str) -> str | None:
        """Return the node at which a session is followed."""
        return self._at.get(channel(session), _NOWHERE)

    def reset(self) -> None:
        """Give up all connections, and what was followed over them."""
        for node in [*self._ears]:
            self._lose(node)
        self._astray = {channel(self._own)}

    def _place(self) -> None:
        """Subscribe to what is astray, or known to have moved, each where its slot is now."""
        if time.monotonic() >= self._learn_at:
            self._learn_at = time.monotonic() + _LEARN_SECONDS
            self._cluster.learn()
        if self._changes != self._cluster.changes:
            self._changes = self._cluster.changes
            for name in [name for name, node in self._at.items() if self._node_of(name) != node]:
                self._stray(name)
        if self._astray and time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _NAP_SECONDS
            self._subscribe([*self._astray])

    def _subscribe(self, names: list[str]) -> None:
        """Subscribe to channels; a node that refuses one is not asked for another, and its own are astray as well."""
        refused = set[str]()
        for name in names:
            try:
                node = self._cluster.node_of(name)
            except StoreAway:
                return
            if node.name in refused:
                continue
            try:
                self._ear(node).ssubscribe(name)
            except (RedisError, OSError):
                refused.add(node.name)
                self._lose(node.name)
                self._cluster.learn(node.name)
            else:
                self._at[name] = node.name
                self._astray.discard(name)

    def _ear(self, node: ClusterNode) -> Any:  # noqa: ANN401 - redis types it so
        if node.name not in self._ears:
            self._ears[node.name] = self._cluster.listener_to(node).pubsub()  # type: ignore[no-untyped-call]
        return self._ears[node.name]

    def _node_of(self, name: str) -> str:
        try:
            return self._cluster.node_of(name).name
        except StoreAway:
            return _NOWHERE

    def _stray(self, name: str) -> None:
        """Let go of a channel, to subscribe to it where its slot is."""
        self._unsubscribe(name, self._at.pop(name))
        self._astray.add(name)
        self._again_at = 0.0

    def _unsubscribe(self, name: str, node: str) -> None:
        try:
            self._ears[node].sunsubscribe(name)
        except (RedisError, OSError):
            self._lose(node)

    def _lose(self, node: str) -> None:
        """Give up the connection to a node."""
        if (ear := self._ears.pop(node, None)) is not None:
            ear.reset()
            ear.connection_pool.disconnect()
        lost = [name for name, where in self._at.items() if where == node]
        for name in lost:
            self._at.pop(name)
        self._astray.update(lost)

    def _heard(self) -> dict[str, Any] | None:
        """Return what is there to be read at any node."""
        for node, ear in [*self._ears.items()]:
            try:
                message = ear.get_message()
            except MovedError as said:
                self._cluster.moved(said)
            except (RedisError, OSError):
                self._lose(node)
                self._cluster.learn(node)
            else:
                if message is not None:
                    return dict(message)
        return None

    def _wait(self, seconds: float) -> None:
        """Wait until a node says something."""
        with selectors.DefaultSelector() as selector:
            for ear in self._ears.values():
                selector.register(ear.connection._sock, selectors.EVENT_READ)  # noqa: SLF001 - redis waits for one node only
            selector.select(seconds)
