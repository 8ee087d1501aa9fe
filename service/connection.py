"""The connection to the store: no retries, time-outs of its own, one error for whatever goes wrong."""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty
from typing import Any, Literal, Protocol, cast
from urllib.parse import SplitResult, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as Unconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool

CONNECT_SECONDS = 0.3
REPLY_SECONDS = 0.8
REPLICA_MS = 300
"""How long a replica has to say that it has a write, in ms."""
MOST_CONNECTIONS = 64
SENTINEL_PORT = 26379

# macOS has another name for the first, and other systems may lack some.
_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 25_000}
ALIVE = {getattr(socket, name): value for name, value in _ALIVE.items() if hasattr(socket, name)}
"""TCP's options by which another side that vanished without a word is noticed after 25 s, though nothing is sent."""
OVER_TCP: Mapping[str, Any] = {"socket_keepalive": True, "socket_keepalive_options": ALIVE}

Command = Sequence[Any]
Profile = Literal["fast", "durable"]
"""What an acknowledged move survives (settings.py)."""


class StoreAway(Exception):
    """The store does not answer in time, or refuses to write: nothing is known to have changed."""


class NotDurable(StoreAway):
    """The store has made a change, and no replica says that it has it too."""


class Client(Protocol):
    """A store, however many nodes it has."""

    clustered: bool
    """Whether each of its nodes is run as one of a cluster."""

    def ask(self, command: Command, may_go_on: Callable[[], bool], *, kept: bool) -> Any:  # noqa: ANN401 - a raw reply
        """Send a command once to the node that has its key; `kept` asks a replica whether it has what was written."""

    def nodes(self) -> Mapping[str, redis.Redis]:
        """Return the nodes that take writes, by name."""


@contextmanager
def store_errors() -> Iterator[None]:
    """Say `StoreAway` for whatever goes wrong with the store."""
    try:
        yield
    except NoScriptError:
        raise
    except (RedisError, OSError) as error:
        raise StoreAway(f"{type(error).__name__}: {error}") from error


class Lines(redis.BlockingConnectionPool):
    """A bounded pool that hands its connections out and takes them back, and neither counts nor announces it.

    redis-py's own spends half of a call's processor time on that.
    """

    def get_connection(self, command_name: str | None = None, *_keys: Any, **_options: Any) -> Any:  # noqa: ANN401, ARG002 - as redis-py has it
        """Return a connection that is open and on which no earlier reply can come; raise redis-py's errors."""
        self._checkpid()
        try:
            line = self.pool.get(timeout=self.timeout) or self.make_connection()  # type: ignore[no-untyped-call]
        except Empty:
            raise Unconnected("every connection is in use") from None
        try:
            if line.is_connected and _is_spent(line):
                line.disconnect()
            line.connect()
        except BaseException:
            self.release(line)
            raise
        return line

    def release(self, connection: Any) -> None:  # noqa: ANN401 - as redis-py has it
        """Take a connection back, also one that is broken."""
        if connection.pid == self.pid:  # else another process, before a fork, had opened it
            self.pool.put_nowait(connection)


def _is_spent(line: Any) -> bool:  # noqa: ANN401 - redis-py has a class for each kind of socket
    """Return whether the other side has closed a connection, or a reply may still come on it."""
    try:
        return bool(line.can_read())
    except (RedisError, OSError):
        return True


class Single(redis.Redis):
    """A store that is one server, or the one that Sentinel names."""

    clustered = False

    def ask(self, command: Command, may_go_on: Callable[[], bool], *, kept: bool) -> Any:  # noqa: ANN401, ARG002 - as `Client` has it
        """Send a command once."""
        return asked(self, command, kept=kept)

    def nodes(self) -> Mapping[str, redis.Redis]:
        """Return itself."""
        return {"the store": self}


class _SentinelPool(SentinelConnectionPool, Lines):
    """A bounded pool of connections to the server that Sentinel names."""

    def release(self, connection: Any) -> None:  # noqa: ANN401 - as redis-py has it
        """Take a connection back, and close it if it goes to a server that was the primary before."""
        if not self.owns_connection(connection):  # type: ignore[no-untyped-call]
            connection.disconnect()
        super().release(connection)


def connect(url: str) -> Single:
    """Return a client with one bounded pool, no retries and time-outs of its own; closing it closes all connections.

    Raises `ValueError` for a URL that cannot be used.
    """
    parts = urlsplit(url)
    if parts.scheme.endswith("+sentinel"):
        return _by_sentinel(parts)
    over_tcp = {} if parts.scheme == "unix" else OVER_TCP
    pool = Lines.from_url(url, **options(), **over_tcp)
    return cast("Single", Single.from_pool(pool))


def options() -> dict[str, Any]:
    """Return what every connection to a store is made with; each pool has its own."""
    return {
        "protocol": 2,  # no handshake: a connection costs one round trip less
        "driver_info": None,
        "max_connections": MOST_CONNECTIONS,
        "timeout": CONNECT_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_timeout": REPLY_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


def hosts(parts: SplitResult, port: int) -> list[tuple[str, int]]:
    """Return the hosts that a URL lists, with their ports or this one; raise `ValueError` for none."""
    listed = [urlsplit(f"//{each}") for each in parts.netloc.rpartition("@")[2].split(",")]
    found = [(each.hostname, each.port or port) for each in listed if each.hostname]
    if not found:
        raise ValueError("the URL names no host")
    return found


def asked(client: redis.Redis, command: Command, *, kept: bool = False, asking: bool = False) -> Any:  # noqa: ANN401 - a raw reply
    """Send a command once, with what belongs to it on the same connection; raise `NotDurable` where `kept` asks.

    Neither tried again nor measured, which would cost as much as the rest; raises redis-py's errors.
    """
    commands = [*[("ASKING",)] * asking, command, *[("WAIT", 1, REPLICA_MS)] * kept]
    pool = client.connection_pool
    line: Any = pool.get_connection()  # redis-py leaves its methods untyped
    try:
        line.send_packed_command(line.pack_commands(commands), check_health=False)
        replies = [_reply(line) for _ in commands]
    finally:
        pool.release(line)
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply
    if kept and replies[-1] < 1:
        raise NotDurable("no replica has the change yet")
    return replies[asking]


def _reply(line: Any) -> Any:  # noqa: ANN401 - as it came
    """Return the next reply; one that refuses is one too, and others may come behind it."""
    try:
        return line.read_response()
    except ResponseError as refusal:
        return refusal


def _by_sentinel(parts: SplitResult) -> Single:
    """Return a client of the primary that Sentinel names: `redis+sentinel://host,host/name/db`."""
    name, _, db = parts.path.strip("/").partition("/")
    if not name:
        raise ValueError("the URL does not name what Sentinel watches: redis+sentinel://host:26379/name")
    user = parts.netloc.rpartition("@")[0]
    plain = parts._replace(scheme="redis", netloc=f"{user}@store", path=f"/{db}").geturl()
    given: dict[str, Any] = parse_url(plain)  # type: ignore[no-untyped-call]
    del given["host"]
    if parts.scheme == "rediss+sentinel":
        given["ssl"] = True
    patience = {"socket_timeout": CONNECT_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
    own = {word: given.pop(f"sentinel_{word}") for word in ("username", "password") if f"sentinel_{word}" in given}
    tls = {word: value for word, value in given.items() if word.startswith("ssl")}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        hosts(parts, SENTINEL_PORT),
        sentinel_kwargs={**patience, **own, **tls, "protocol": 2, "retry": Retry(NoBackoff(), 0)},
    )
    kinds = {"redis_class": Single, "connection_pool_class": _SentinelPool}
    return sentinel.master_for(name, **kinds, **options(), **OVER_TCP, **given)  # type: ignore[no-any-return, no-untyped-call]


def key(session: str, part: str) -> str:
    """Return the name of one of a session's keys; all have the hash tag `{id}`, and so one Cluster slot."""
    return f"croupier:{{{session}}}:{part}"


def session_of(key: str) -> str:
    """Return whose key it is."""
    return key.partition("{")[2].partition("}")[0]
