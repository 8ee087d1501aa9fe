"""What gunicorn is told beyond its settings: it logs JSON lines, and what it refuses itself it refuses as a problem."""

import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from io import BytesIO
from types import FrameType
from typing import Any, BinaryIO

from gunicorn import util
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import errors
from gunicorn.workers.gthread import TConn, ThreadWorker
from werkzeug.exceptions import ClientDisconnected

from service import metrics
from service.body import MOST_BYTES
from service.connection import ALIVE
from service.logs import formatter
from service.problems import INTERNAL, Kind
from service.refusals import (
    BAD_REQUEST,
    EXPECTATION_FAILED,
    HEADERS_TOO_LARGE,
    NOT_IMPLEMENTED,
    URI_TOO_LONG,
    refusal,
)
from service.streams import closing

_Start = Callable[[str, Iterable[tuple[str, str]]], None]

PATIENCE_SECONDS = 5
"""How long a client may be silent half-way through a request, or through reading its answer."""
ARRIVAL_SECONDS = 10
"""How long a request may take to arrive, however busily it drips in."""
INSTANT_SECONDS = 0.05
_MOST_UNSENT = 1 << 16
"""How much may wait in the kernel for a client that does not read; left to itself it takes megabytes each."""
_MOST_UNREAD = 1 << 20
"""How much more a refused client may send until it sees that it is: closing on it at once could cost it the answer."""

# The nearest of an exception's kinds decides; what is not here is a fault of our own.
_KINDS: dict[type[BaseException], Kind] = {
    errors.LimitRequestLine: URI_TOO_LONG,
    errors.LimitRequestHeaders: HEADERS_TOO_LARGE,
    errors.ExpectationFailed: EXPECTATION_FAILED,
    errors.UnsupportedTransferCoding: NOT_IMPLEMENTED,
    errors.InvalidResponseHeader: INTERNAL,  # type: ignore[attr-defined]  # the stubs are of an older gunicorn
    errors.InvalidResponseHeaderName: INTERNAL,  # type: ignore[attr-defined]
    errors.ParseException: BAD_REQUEST,
}


class JsonLogger(Logger):
    """gunicorn's own lines in the form of the service's."""

    def setup(self, cfg: Config) -> None:
        """Set gunicorn's log up as it is configured, one JSON object a line."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(formatter())

    def exception(self, msg: object, *args: object, **kwargs: Any) -> None:  # noqa: ANN401 - as gunicorn has it
        """Log a fault; a client that fell silent is none of ours."""
        if isinstance(sys.exception(), BlockingIOError):
            self.warning("a client was too slow")
        else:
            super().exception(msg, *args, **kwargs)


class Worker(ThreadWorker):
    """A worker whose streams end when it is told to stop, and whose threads no client can hold for nothing.

    What it refuses by itself it refuses as a problem.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as gunicorn has it
        super().__init__(*args, **kwargs)
        self._arriving: dict[socket.socket, float] = {}

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Tell the streams to end, and stop as soon as they have."""
        closing.set()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in the same way: ctrl-C in a terminal, which reaches the workers too, cuts nobody off."""
        self.handle_exit(sig, frame)

    def handle(self, conn: TConn) -> bool:
        """Serve a connection's next request; after its last one take leave of it here.

        A client is waited for meanwhile, which the thread that accepts all the others has no time to do.
        """
        self._arriving[conn.sock] = time.monotonic() + ARRIVAL_SECONDS
        goes_on = super().handle(conn)
        self._arriving.pop(conn.sock, None)
        if not goes_on:
            util.close_graceful(conn.sock, max_drain=_MOST_UNREAD)
            conn.close = lambda graceful=False: None  # type: ignore[method-assign]  # noqa: ARG005
        return goes_on

    def murder_pending(self) -> None:
        """Close connections that have said nothing for long, and hear no more of a request that takes too long."""
        super().murder_pending()
        now = time.monotonic()
        for late in [sock for sock, until in list(self._arriving.items()) if until < now]:
            with suppress(OSError):
                late.shutdown(socket.SHUT_RD)

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        """Return whether another request is read; behind a body without an end none is, nor is anything answered."""
        try:
            return bool(super()._keepalive_after(conn, keepalive))  # type: ignore[misc]  # unknown to the stubs
        except errors.ParseException:
            return False

    def enqueue_req(self, conn: TConn) -> None:
        """Give a connection to a thread: for an instant until it speaks, and for seconds when it then falls silent.

        One that says nothing yet waits in the poller; one that stops half-way through a request, or through
        reading its answer, is closed.
        """
        patience = struct.pack("ll", PATIENCE_SECONDS, 0)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        if not conn.initialized:
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_UNSENT)
            for option, value in ALIVE.items():
                conn.sock.setsockopt(socket.IPPROTO_TCP, option, value)
        conn.wait_for_data = lambda timeout: TConn.wait_for_data(conn, INSTANT_SECONDS)  # type: ignore[method-assign]  # noqa: ARG005
        super().enqueue_req(conn)

    def load_wsgi(self) -> None:
        """Load the application, and call it when a request is here as a whole."""
        super().load_wsgi()
        application = self.wsgi

        def serve(environ: MutableMapping[str, Any], start_response: _Start) -> Iterable[bytes]:
            if "HTTP_HOST" not in environ and environ["SERVER_PROTOCOL"] != "HTTP/1.0":
                raise errors.InvalidHeader("Host")  # RFC 9112, section 3.2
            if environ.get("HTTP_TRANSFER_ENCODING", "chunked").lower() != "chunked":
                raise errors.UnsupportedTransferCoding("")  # a list of codings is read in more ways than one
            announced = int(environ.get("CONTENT_LENGTH") or 0)
            environ["wsgi.input"] = _Body(environ["wsgi.input"], 0 if announced > MOST_BYTES else MOST_BYTES + 2)
            self._arriving.pop(environ["gunicorn.socket"], None)
            environ.pop("HTTP_UPGRADE", None)  # nothing else is spoken here, and routing would take it for a promise
            return application(environ, start_response)

        self.wsgi = serve

    def handle_error(self, _req: object, client: socket.socket, _addr: object, exc: BaseException) -> None:
        """Answer a request that cannot be read, and log it without what it said, which may hold a ticket."""
        kind = next((_KINDS[each] for each in type(exc).mro() if each in _KINDS), INTERNAL)
        if kind is INTERNAL:
            self.log.error("a request failed outside the application", exc_info=exc)
        else:
            self.log.warning("a request was refused: %s", type(exc).__name__)
        try:
            metrics.PROBLEMS[kind.code].inc()
            util.write_nonblock(client, _answer(kind))
        except OSError:
            self.log.debug("the client is gone")


class _Body:
    """As much of a request's body as the application may want, read before it begins; its faults are the client's."""

    def __init__(self, body: BinaryIO, most: int) -> None:
        self._fault: Exception | None = None
        self._body = BytesIO()
        try:
            self._body = BytesIO(body.read(most))
        except (errors.ParseException, OSError) as error:
            self._fault = error

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, or all (ClientDisconnected, a bad request, when they are not to be had)."""
        if self._fault:
            raise ClientDisconnected from self._fault
        return self._body.read(size)


def _answer(kind: Kind) -> bytes:
    status, fields, body = refusal(kind)
    lines = [f"HTTP/1.1 {status}", "Connection: close", *(f"{name}: {value}" for name, value in fields), "\r\n"]
    return "\r\n".join(lines).encode() + body
