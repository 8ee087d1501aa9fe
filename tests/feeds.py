"""Streams as a client reads them, frame by frame; silence where something must come is a failure."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlencode

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service import create_app, streams
from service.connection import StoreAway
from service.settings import Settings
from service.store import Store
from tests.contract import ContractClient
from tests.frames import NDJSON, SSE, Frame, StreamReader

__all__ = ["NDJSON", "PATIENCE", "SSE", "Feed", "Frame", "Silence", "Told", "ended", "later", "listen", "poll"]
__all__ += ["reader_of", "serving", "taken"]

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds of silence in which something had to come; a test sets the service's heartbeat to it."""


@contextmanager
def serving(store: Store, places: int = 64, client: type[FlaskClient] = ContractClient) -> Iterator[Flask]:
    """Give an application whose streams do not stay silent for long, and end its reader afterwards."""
    app = create_app(Settings(log_level="CRITICAL", limits=False, streams=places), store)
    app.test_client_class = client
    app.extensions["streams"].heartbeat = PATIENCE
    try:
        yield app
    finally:
        ended(app)


def ended(app: Flask) -> None:
    """End an application's reader, as a worker that is told to stop does, and its connections to the store."""
    streams.closing.set()
    reader = reader_of(app)
    if reader._thread:
        with suppress(StoreAway):
            reader._wakes.nudge()
        reader._thread.join(PATIENCE)
        assert not reader._thread.is_alive()
    streams.closing.clear()
    store = app.extensions["store"]
    assert isinstance(store, Store)
    store.close()


def reader_of(app: Flask) -> streams.Reader:
    """Return the thread that fans out, and all that it keeps."""
    reader = app.extensions["streams"]._reader
    assert isinstance(reader, streams.Reader)
    return reader


def taken(app: Flask, places: int) -> int:
    """Return how many of an application's places for streams are taken."""
    return places - int(app.extensions["streams"]._places._value)


def later(work: Callable[[], T]) -> Callable[[], T]:
    """Begin something in another thread; return what waits for it."""
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(work)
    pool.shutdown(wait=False)
    return begun.result


class Silence(AssertionError):
    """A heartbeat came where a frame had to."""


class Told(NamedTuple):
    """A frame, and the bytes that it was made of."""

    frame: Frame
    raw: bytes

    @property
    def view(self) -> bytes:
        """Return the view as it was written."""
        return self.raw.partition(b',"view":')[2][:-1]

    @property
    def timeless(self) -> bytes:
        """Return what was written but for the clock, which may be read again later."""
        return self.raw.replace(b'"now":%d,' % self.frame.get("now", 0), b"")


class Feed:
    """An open stream."""

    def __init__(self, answer: TestResponse) -> None:
        self.answer = answer
        self._began = False
        self._chunks = iter(answer.iter_encoded())
        self._reader = StreamReader(answer.mimetype or "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Told]:
        """Yield frames until the stream ends."""
        for chunk in self._chunks:
            began, self._began = self._began, True
            for frame in self._reader.feed(chunk):
                if frame is not None:
                    yield Told(frame, _written(chunk))
                elif began:
                    raise Silence("nothing came")

    def next(self) -> Told:
        """Return the next frame."""
        return next(iter(self))

    def take(self, count: int) -> list[Told]:
        """Return so many frames."""
        return [self.next() for _ in range(count)]

    def until(self, version: int) -> list[Told]:
        """Return the frames up to a version."""
        found = [self.next()]
        while found[-1].frame["version"] < version:
            found.append(self.next())
        return found

    def rest(self) -> list[Told]:
        """Return all that comes before the stream ends."""
        return list(self)

    def chunk(self) -> bytes:
        """Return the next bytes, whatever they are."""
        return next(self._chunks)

    def close(self) -> None:
        """Go away."""
        self.answer.close()


def _written(chunk: bytes) -> bytes:
    """Return the JSON in what is sent in one piece."""
    return chunk.rpartition(b"data: ")[2].rstrip(b"\n")


def listen(
    client: FlaskClient,
    path: str,
    headers: Mapping[str, str] | None = None,
    kind: str = SSE,
    **query: Any,  # noqa: ANN401 - any parameter
) -> Feed:
    """Open a stream that is accepted."""
    answer = client.get(_events(path, query), headers={**(headers or {}), "Accept": kind})
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == kind
    return Feed(answer)


def poll(client: FlaskClient, path: str, headers: Mapping[str, str] | None = None, **query: Any) -> TestResponse:  # noqa: ANN401
    """Ask for what happened, as a long poll."""
    return client.get(_events(path, query), headers={**(headers or {}), "Accept": "application/json"})


def _events(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}/events" + (f"?{urlencode(query)}" if query else "")
