"""The addresses by which a store is named, as they are read: no server is asked."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection

from service.cluster import Cluster, reach
from service.connection import MOST_CONNECTIONS, Single


def pool_of(url: str) -> Any:  # noqa: ANN401 - redis has a class for each kind
    client = reach(url)
    assert isinstance(client, Single)
    return client.connection_pool


def test_sentinels_are_asked_for_what_the_address_names() -> None:
    """It lists them, with a port or the usual one, and says what they watch; all connections are bounded."""
    pool = pool_of("redis+sentinel://a:26380,b,[::1]:26381/tables/2")
    asked = [each.connection_pool.connection_kwargs for each in pool.sentinel_manager.sentinels]
    assert [(each["host"], each["port"]) for each in asked] == [("a", 26380), ("b", 26379), ("::1", 26381)]
    assert (pool.service_name, pool.connection_kwargs["db"]) == ("tables", 2)
    assert (pool.connection_class, pool.pool.maxsize) == (SentinelManagedConnection, MOST_CONNECTIONS)


def test_sentinels_have_a_password_of_their_own() -> None:
    """What stands before the hosts is for the server that they name; TLS is for all."""
    pool = pool_of("rediss+sentinel://us%40er:secret@a/tables?sentinel_password=other&ssl_ca_certs=/ca.pem")
    server, asked = pool.connection_kwargs, pool.sentinel_manager.sentinels[0].connection_pool.connection_kwargs
    assert (server["username"], server["password"], server["ssl_ca_certs"]) == ("us@er", "secret", "/ca.pem")
    assert (asked.get("username"), asked["password"], asked["ssl_ca_certs"]) == (None, "other", "/ca.pem")
    assert pool.connection_class is SentinelManagedSSLConnection


@pytest.mark.parametrize(
    ("address", "url", "nodes"),
    [
        ("redis+cluster://a", "redis://a:6379", [("a", 6379)]),
        ("rediss+cluster://u:p@a:1,b:2/?ssl_ca_certs=x", "rediss://u:p@a:1/?ssl_ca_certs=x", [("a", 1), ("b", 2)]),
        ("redis+cluster://[::1]:7000", "redis://[::1]:7000", [("::1", 7000)]),
    ],
)
def test_any_node_of_a_cluster_leads_to_it(address: str, url: str, nodes: list[tuple[str, int]]) -> None:
    """All that are listed are asked, with the password and the TLS that the address gives."""
    cluster = cast("Cluster", reach(address))
    assert (cluster._url, cluster._hosts) == (url, nodes)


@pytest.mark.parametrize(
    "url", ["redis+sentinel://a:26379", "redis+sentinel:///tables", "redis+cluster://", "redis+cluster://a:x"]
)
def test_an_address_that_leads_nowhere_is_refused(url: str) -> None:
    """Before anybody is asked."""
    with pytest.raises(ValueError, match=r"."):
        reach(url)


@pytest.mark.parametrize("host", ["before", "now"])
def test_a_connection_to_an_earlier_primary_is_not_used_again(host: str) -> None:
    """It may still take writes, which nobody will have; one to the primary of now stays open."""
    pool = pool_of("redis+sentinel://a/tables")
    pool.proxy.master_address = ("now", 6379)
    closed: list[str] = []
    line = SimpleNamespace(host=host, port=6379, pid=pool.pid, disconnect=lambda: closed.append(host))
    pool.pool.get()
    pool.release(line)
    assert pool.pool.get() is line
    assert closed == ([host] if host == "before" else [])
