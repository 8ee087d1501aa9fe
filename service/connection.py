"""The connection to the store: no retries, time-outs of its own, one error for whatever goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError
from redis.retry import Retry

CONNECT_SECONDS = 0.3
REPLY_SECONDS = 0.8
MOST_CONNECTIONS = 64


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
    """Return a client with one bounded pool, no retries and time-outs of its own."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        protocol=2,  # no handshake: a connection costs one round trip less
        driver_info=None,
        max_connections=MOST_CONNECTIONS,
        timeout=CONNECT_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=REPLY_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    return redis.Redis(connection_pool=pool)
