"""Real nodes on loopback: a cluster, or servers that Sentinel watches, put together without outside tools."""

import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import RedisError
from redis.retry import Retry

from service.embedded import die_with_parent, find_server
from tests.servers import eventually, free_port

SLOTS = 16384
TIMEOUT_MS = 2000
"""After so many ms of silence a node counts as gone."""
FAST = {"appendfsync": "everysec"}
DURABLE = {"appendfsync": "always"}
_CONFIG = {
    "bind": "127.0.0.1",
    "appendonly": "yes",
    "aof-use-rdb-preamble": "no",
    "save": "",
    "maxmemory-policy": "noeviction",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}
_CLUSTER = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": str(TIMEOUT_MS),
    "cluster-replica-validity-factor": "0",
    # A replica that another part can spare would mend what a test has broken.
    "cluster-allow-replica-migration": "no",
    # While a part is away the others go on.
    "cluster-require-full-coverage": "no",
}


class Node:
    """One server process over a directory of its own; it keeps its port when it is started again."""

    def __init__(self, directory: Path, config: Mapping[str, str], *arguments: str) -> None:
        self.directory = directory
        self.directory.mkdir()
        self.port = free_port()
        self.bus = free_port()
        """Where the nodes of a cluster talk to each other; ten thousand above its port may be no port."""
        if "cluster-enabled" in config:
            config = {**config, "cluster-port": str(self.bus)}
        self._arguments = [*arguments, *(part for name, value in config.items() for part in (f"--{name}", value))]
        self.client = Redis(port=self.port, protocol=2, socket_timeout=10, retry=Retry(NoBackoff(), 0))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """Return its address."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, without waiting until it answers."""
        with (self.directory / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(find_server()), *self._arguments, "--port", str(self.port), "--dir", str(self.directory)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, looked up before the fork
            )

    def answers(self) -> bool:
        """Return whether it does; fail if it has ended by itself."""
        assert self.process is not None
        assert self.process.poll() in (None, -signal.SIGKILL), (self.directory / "node.log").read_text()[-2000:]
        with suppress(RedisError):
            return bool(self.command("PING"))
        return False

    def command(self, *words: object) -> Any:  # noqa: ANN401 - a raw reply
        """Send a command."""
        return self.client.execute_command(*words)  # type: ignore[no-untyped-call]

    def info(self, section: str) -> dict[str, Any]:
        """Return what it says of itself."""
        return dict(self.client.info(section))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal: SIGSTOP freezes it, SIGCONT thaws it."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def close(self) -> None:
        """End it for good."""
        if self.process is not None:
            self.kill()
        self.client.close()


class Nodes:
    """Servers that are started together, and end with the context."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._kept = ExitStack()
        self._directory = Path(self._kept.enter_context(tempfile.TemporaryDirectory(prefix="nodes-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def add(self, count: int, config: Mapping[str, str], *arguments: str) -> list[Node]:
        """Start so many servers more, and return them when they answer."""
        added = [self.node(config, *arguments) for _ in range(count)]
        all_of(added, Node.answers, "the nodes answer")
        return added

    def node(self, config: Mapping[str, str], *arguments: str) -> Node:
        """Start one server more, without waiting until it answers."""
        node = Node(self._directory / f"node-{len(self.nodes)}", config, *arguments)
        self.nodes.append(node)
        self._kept.callback(node.close)
        node.start()
        return node

    def file(self, name: str, *lines: str) -> str:
        """Write a file that ends with them; return where it is."""
        path = self._directory / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)


class ClusterOfNodes(Nodes):
    """Three primaries, each with so many replicas, that have all slots between them."""

    def __init__(self, replicas: int = 1, persistence: Mapping[str, str] = FAST) -> None:
        super().__init__()
        self._config = {**_CONFIG, **_CLUSTER, **persistence}
        self._replicas = replicas

    def __enter__(self) -> Self:
        """Put the cluster together, and return it when every replica has all that its primary has."""
        try:
            self._put_together()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _put_together(self) -> None:
        nodes = self.add(3 * (1 + self._replicas), self._config)
        for number, node in enumerate(nodes):
            node.command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for number, node in enumerate(nodes[:3]):
            first, last = number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1
            node.command("CLUSTER", "ADDSLOTSRANGE", first, last)
        self.meet(nodes)
        for number, node in enumerate(nodes[3:]):
            node.command("CLUSTER", "REPLICATE", ident(nodes[number % 3]))
        self.settle()

    def meet(self, nodes: Iterable[Node]) -> None:
        """Make nodes known to each other, and return when all know all."""
        for node in nodes:
            self.nodes[0].command("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus)
        all_of(self.nodes, lambda node: len(known(node)) == len(self.nodes), "every node knows every other")

    def grow(self) -> Node:
        """Add a primary without slots."""
        (node,) = self.add(1, self._config)
        self.meet([node])
        self.settle()
        return node

    @property
    def url(self) -> str:
        """Return the address by which a service reaches it: some nodes of it, so that any one may be away."""
        return "redis+cluster://" + ",".join(node.name for node in self.nodes[:3])

    def owner(self, session: str) -> Node:
        """Return the primary that has a session."""
        return self.owner_of(slot_of(session))

    def owner_of(self, slot: int) -> Node:
        """Return the primary that has a slot, as the first node that answers sees it."""
        witness = next(node for node in self.nodes if node.answers())
        for first, last, primary, *_ in witness.command("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return self.at(int(primary[1]))
        raise LookupError(slot)

    def at(self, port: int) -> Node:
        """Return the node at a port."""
        return next(node for node in self.nodes if node.port == port)

    def primaries(self) -> list[Node]:
        """Return the primaries."""
        return [node for node in self.nodes if node.info("replication")["role"] == "master"]

    def replicas_of(self, primary: Node) -> list[Node]:
        """Return the nodes that follow a primary."""
        info = primary.info("replication")
        return [self.at(info[f"slave{number}"]["port"]) for number in range(info["connected_slaves"])]

    def settle(self) -> None:
        """Return when every node runs, the cluster is up, and every replica has all that its primary has."""
        for node in self.nodes:
            if node.process is None or node.process.poll() is not None:
                node.start()
        all_of(self.nodes, Node.answers, "the nodes answer")
        all_of(self.nodes, lambda node: node.client.cluster("INFO")["cluster_state"] == "ok", "the cluster is up")
        all_of(self.nodes, in_step, "every replica is in step")

    def move(self, slot: int, target: Node, between: Callable[[], object] = lambda: None) -> None:
        """Give a slot to another node, key by key; `between` is called before the first and after each."""
        source = self.owner_of(slot)
        target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ident(source))
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ident(target))
        between()
        while keys := source.command("CLUSTER", "GETKEYSINSLOT", slot, 1):
            source.command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
            between()
        for node in dict.fromkeys((target, source, *self.primaries())):
            node.command("CLUSTER", "SETSLOT", slot, "NODE", ident(target))


@contextmanager
def watched(name: str, sentinels: int = 3) -> Iterator[tuple[Nodes, str]]:
    """Yield a primary with a replica, watched by sentinels, and the address by which a service reaches it."""
    with Nodes() as nodes:
        primary, replica = nodes.add(2, {**_CONFIG, **FAST})
        replica.command("REPLICAOF", "127.0.0.1", primary.port)
        all_of([replica], in_step, "the replica is in step")
        lines = (
            "bind 127.0.0.1",
            f"sentinel monitor {name} 127.0.0.1 {primary.port} 2",
            f"sentinel down-after-milliseconds {name} {TIMEOUT_MS}",
            f"sentinel failover-timeout {name} 5000",
        )
        # A sentinel writes what it learns into its configuration.
        files = [nodes.file(f"sentinel-{number}.conf", *lines) for number in range(sentinels)]
        watchers = [nodes.node({}, path, "--sentinel") for path in files]
        all_of(watchers, Node.answers, "the sentinels answer")
        all_of(watchers, lambda node: _sees_all(node, name, sentinels), "every sentinel knows all")
        yield nodes, "redis+sentinel://" + ",".join(node.name for node in watchers) + f"/{name}"


def _sees_all(sentinel: Node, name: str, sentinels: int) -> bool:
    state = sentinel.client.sentinel_master(name)
    assert isinstance(state, dict)
    return bool((state["num-other-sentinels"], state["num-slaves"]) == (sentinels - 1, 1))


def all_of(nodes: Iterable[Node], ask: Callable[[Node], object], what: str) -> None:
    """Return when the answer is true of every node."""
    for node in nodes:
        eventually(lambda: ask(node), f"{what}: {node.name}")  # noqa: B023 - called at once


def in_step(node: Node) -> bool:
    """Return whether a replica has its primary's data; a primary has its own."""
    info = node.info("replication")
    return bool(info["role"] == "master" or info["master_link_status"] == "up")


def known(node: Node) -> list[bytes]:
    """Return the nodes that a node has exchanged words with, itself among them."""
    return [line for line in node.command("CLUSTER", "NODES").splitlines() if b"handshake" not in line]


def ident(node: Node) -> str:
    """Return what a node is called in its cluster."""
    return str(node.command("CLUSTER", "MYID").decode())


def slot_of(session: str) -> int:
    """Return the slot of a session."""
    return key_slot(session.encode())


def asked(cluster: ClusterOfNodes) -> Counter[str]:
    """Return how often the primaries were sent each command by others than nodes and tests."""
    calls = Counter[str]()
    for node in cluster.primaries():
        for name, stat in node.info("commandstats").items():
            calls[name.removeprefix("cmdstat_")] += stat["calls"]
    inside = {"hget", "hset", "hexists", "rpush", "pexpireat", "spublish", "time"}
    return Counter({name: count for name, count in calls.items() if name not in inside | {"info", "replconf", "ping"}})
