"""What is counted, in Prometheus' form; every label comes out of a closed set, whatever clients send."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from redis import exceptions

from service.connection import StoreAway
from service.sessions import Store

PLAIN, OPENMETRICS = CONTENT_TYPE_PLAIN_0_0_4, openmetrics.CONTENT_TYPE_LATEST
DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names where the processes of one service count together."""

_Call = Callable[..., Any]
_Wrap = Callable[[Store, str], _Call]
_M = TypeVar("_M", Counter, Gauge, Histogram)

CALLS = [name for name, call in vars(Store).items() if callable(call) and name[0] != "_" and name != "wakes"]


class Labelled(dict[str | tuple[str, ...], _M]):
    """A metric's children by their labels, each looked up in it once: that costs more than to count."""

    def __init__(self, metric: _M) -> None:
        self._metric: _M = metric

    def __missing__(self, labels: str | tuple[str, ...]) -> _M:
        """Find a child."""
        child: _M = self._metric.labels(*([labels] if isinstance(labels, str) else labels))
        return self.setdefault(labels, child)


disable_created_metrics()  # type: ignore[no-untyped-call]  # the files that processes share hold no such times
_ours = CollectorRegistry()
_REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_CALL_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)

REQUESTS = Labelled(
    Histogram(
        "croupier_request_duration_seconds",
        "Time until an answer was made; of a stream, until it began.",
        ["operation", "status"],
        registry=_ours,
        buckets=_REQUEST_BUCKETS,
    )
)
MOVES = Labelled(
    Counter(
        "croupier_moves",
        "Actions asked for: accepted, replayed to an Idempotency-Key, or refused with a code.",
        ["game", "verb", "result"],
        registry=_ours,
    )
)
OPENED = Labelled(Counter("croupier_sessions_opened", "Sessions opened.", ["game"], registry=_ours))
PROBLEMS = Labelled(Counter("croupier_problems", "Problems answered, by code.", ["code"], registry=_ours))
STREAMS = Labelled(
    Gauge(
        "croupier_streams_open",
        "Streams and long polls that hold a place.",
        ["kind"],
        registry=_ours,
        multiprocess_mode="livesum",
    )
)
STORE_CALLS = Labelled(
    Histogram(
        "croupier_store_call_duration_seconds",
        "Time that a call to the store took, whatever came of it.",
        ["call"],
        registry=_ours,
        buckets=_CALL_BUCKETS,
    )
)
STORE_ERRORS = Labelled(Counter("croupier_store_errors", "Calls to the store that failed.", ["kind"], registry=_ours))
LOST_RACES = Counter("croupier_lost_races", "Commits that another had forestalled.", registry=_ours)
BUILD = Labelled(
    Gauge("croupier_build_info", "What runs.", ["version", "python"], registry=_ours, multiprocess_mode="max")
)


class _Counted(Collector):
    """What all processes have counted; a file that one of them is only just making holds nothing yet."""

    def collect(self) -> Iterable[Metric]:
        """Add it up."""
        files = [str(path) for path in Path(os.environ[DIRECTORY]).glob("*.db") if _size(path)]
        return cast("Iterable[Metric]", MultiProcessCollector.merge(files))  # type: ignore[no-untyped-call]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # its process is dead, and what was true of that alone is gone
        return 0


def exposition(media_type: str) -> bytes:
    """Return all that was counted, by every process of the service, as PLAIN or OPENMETRICS."""
    registry = _ours
    if DIRECTORY in os.environ:
        registry = CollectorRegistry()
        registry.register(_Counted())
    if media_type == OPENMETRICS:
        return cast("bytes", openmetrics.generate_latest(registry))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def fresh_directory() -> str:
    """Return an empty directory for the processes of one service to count in."""
    return tempfile.mkdtemp(prefix="croupier-metrics-")


def around(store: Store, wrap: _Wrap) -> Store:
    """Return a store with something around each of its calls."""
    return cast("Store", SimpleNamespace(wakes=store.wakes, **{name: wrap(store, name) for name in CALLS}))


def timed(store: Store, name: str) -> _Call:
    """Return a call of the store that is timed, and whose failures and lost races are counted."""
    observe = STORE_CALLS[name].observe

    def call(*args: Any) -> Any:  # noqa: ANN401 - whatever the call takes and returns
        began = perf_counter()
        try:
            answer = getattr(store, name)(*args)
        except StoreAway as away:
            STORE_ERRORS[_kind(away.__cause__)].inc()
            raise
        finally:
            observe(perf_counter() - began)
        if answer == "conflict":
            LOST_RACES.inc()
        return answer

    return call


def _kind(cause: BaseException | None) -> str:
    """Return what was wrong: no time left for a call, no reply in time, no connection, or a reply that refuses."""
    match cause:
        case None:
            return "deadline"
        case exceptions.TimeoutError() | TimeoutError():
            return "timeout"
        case exceptions.ConnectionError() | OSError():
            return "connection"
    return "refused"
