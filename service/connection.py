"""The connection to the store: no retries, time-outs of its own, one error for whatever goes wrong."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Unconnected
from redis.exceptions import NoScriptError, RedisError
from redis.retry import Retry

CONNECT_SECONDS = 0.3
REPLY_SECONDS = 0.8
MOST_CONNECTIONS = 64

# macOS has another name for the first, and other systems may lack some.
_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 25_000}
ALIVE = {getattr(socket, name): value for name, value in _ALIVE.items() if hasattr(socket, name)}
"""TCP's options by which another side that vanished without a word is noticed after 25 s, though nothing is sent."""


class StoreAway(Exception):
    """The store does not answer in time, or refuses to write: nothing is known to have changed."""


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


def ask(client: redis.Redis, *command: Any) -> Any:  # noqa: ANN401 - a raw reply
    """Send one command once and return the reply as it came; raise redis-py's errors.

    Neither tried again nor measured, which would cost as much as the rest.
    """
    pool = client.connection_pool
    line: Any = pool.get_connection()  # redis-py leaves its methods untyped
    try:
        line.send_packed_command(line.pack_command(*command), check_health=False)
        return line.read_response()
    finally:
        pool.release(line)


def connect(url: str) -> "redis.Redis":
    """Return a client with one bounded pool, no retries and time-outs of its own; closing it closes all connections."""
    over_tcp = {} if url.startswith("unix:") else {"socket_keepalive": True, "socket_keepalive_options": ALIVE}
    pool = Lines.from_url(
        url,
        protocol=2,  # no handshake: a connection costs one round trip less
        driver_info=None,
        max_connections=MOST_CONNECTIONS,
        timeout=CONNECT_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=REPLY_SECONDS,
        retry=Retry(NoBackoff(), 0),
        **over_tcp,
    )
    return redis.Redis.from_pool(pool)


def key(session: str, part: str) -> str:
    """Return the name of one of a session's keys; all have the hash tag `{id}`, and so one Cluster slot."""
    return f"croupier:{{{session}}}:{part}"


def session_of(key: str) -> str:
    """Return whose key it is."""
    return key.partition("{")[2].partition("}")[0]
