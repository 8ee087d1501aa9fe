"""The connection to the store: no retries, time-outs of its own, one error for whatever goes wrong."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
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


def connect(url: str) -> "redis.Redis":
    """Return a client with one bounded pool, no retries and time-outs of its own; closing it closes all connections."""
    over_tcp = {} if url.startswith("unix:") else {"socket_keepalive": True, "socket_keepalive_options": ALIVE}
    pool = redis.BlockingConnectionPool.from_url(
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
