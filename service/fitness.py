"""Whether a store is fit for its profile: what it does with memory and disk, and whether it takes writes now."""

from collections.abc import Callable, Iterator

from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError, ResponseError

from service.connection import Client, Profile, StoreAway

_SAFE = {"maxmemory-policy": ("noeviction",), "appendonly": ("yes",)}
_WANTED: dict[Profile, dict[str, tuple[str, ...]]] = {
    "fast": {**_SAFE, "appendfsync": ("everysec", "always")},
    "durable": {**_SAFE, "appendfsync": ("always",)},
}
_SAID = {"MISCONF": "it cannot write to its disk", "NOAUTH": "it wants a password", "NOPERM": "it does not let us ask"}


class Unfit(StoreAway):
    """The store is not as it should be; the message says why, without an address or a secret."""


def require(client: Client, profile: Profile, *, unchecked: bool, may_go_on: Callable[[], bool]) -> None:
    """Raise `Unfit` unless a node that takes writes is fit: of several the others may be about to be replaced."""
    wrong = list[str]()
    for node in client.nodes().values():
        if not may_go_on():
            break
        found = [*_ailments(node)] or [*contradictions(node, profile, unchecked=unchecked)]
        if not found:
            return
        wrong += found
    raise Unfit("; ".join(dict.fromkeys(wrong)) or "it does not answer in time")


def contradictions(node: Redis, profile: Profile, *, unchecked: bool) -> Iterator[str]:
    """Yield what in a node's settings contradicts the profile; raise what the client raises, but for a refusal."""
    if unchecked:
        return
    try:
        given = node.config_get(*_WANTED[profile])
    except ResponseError:
        yield "its settings cannot be read"
        return
    for name, wanted in _WANTED[profile].items():
        if given.get(name) not in wanted:
            yield f"{name} is {given.get(name)}, and the profile {profile} needs {' or '.join(wanted)}"


def _ailments(node: Redis) -> Iterator[str]:
    """Yield why a node does not take writes at present; a server that cannot write says so to a PING as well."""
    try:
        node.ping()
        if node.info("cluster")["cluster_enabled"] and node.cluster("INFO")["cluster_state"] != "ok":
            yield "the cluster is down"
    except ResponseError as error:
        word = str(error).partition(" ")[0]
        yield _SAID.get(word, f"it says {word}")
    except BusyLoadingError:
        yield "it is loading its data"
    except (RedisError, OSError):
        yield "it does not answer"
