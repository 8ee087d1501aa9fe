"""What gunicorn is told beyond its settings: it logs JSON lines, and what it refuses itself it refuses as a problem."""

import socket
from http.client import responses
from types import FrameType

from gunicorn import util
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker
from structlog.processors import JSONRenderer, TimeStamper, format_exc_info
from structlog.stdlib import ProcessorFormatter, add_log_level

from service.problems import HTTP_KINDS, INTERNAL, MEDIA_TYPE, Kind
from service.streams import closing
from service.views import encode

# The nearest of an exception's kinds decides; what is not here is a fault of our own.
_KINDS: dict[type[BaseException], Kind] = {
    errors.LimitRequestLine: Kind(414, "uri-too-long", "The request line is too long"),
    errors.LimitRequestHeaders: Kind(431, "headers-too-large", "The header fields are too many or too large"),
    errors.ExpectationFailed: Kind(417, "expectation-failed", "The expectation cannot be met"),
    errors.UnsupportedTransferCoding: Kind(501, "not-implemented", "The transfer coding is not known here"),
    errors.InvalidResponseHeader: INTERNAL,  # type: ignore[attr-defined]  # the stubs are of an older gunicorn
    errors.InvalidResponseHeaderName: INTERNAL,  # type: ignore[attr-defined]
    errors.ParseException: HTTP_KINDS[400],
}


class JsonLogger(Logger):
    """gunicorn's own lines in the form of the service's."""

    def setup(self, cfg: Config) -> None:
        """Set gunicorn's log up as it is configured, one JSON object a line."""
        super().setup(cfg)
        formatter = ProcessorFormatter(
            foreign_pre_chain=[add_log_level, TimeStamper(fmt="iso"), format_exc_info],
            processors=[ProcessorFormatter.remove_processors_meta, JSONRenderer()],
        )
        for handler in self.error_log.handlers:
            handler.setFormatter(formatter)


class Worker(ThreadWorker):
    """A worker that ends its streams when told to stop, and whose own refusals are problems too."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Tell the streams to end, and stop as soon as they have."""
        closing.set()
        super().handle_exit(sig, frame)

    def handle_error(self, _req: object, client: socket.socket, _addr: object, exc: BaseException) -> None:
        """Answer a request that cannot be read, and log it without what it said, which may hold a ticket."""
        kind = next((_KINDS[each] for each in type(exc).mro() if each in _KINDS), INTERNAL)
        if kind is INTERNAL:
            self.log.error("a request failed outside the application", exc_info=exc)
        else:
            self.log.warning("a request was refused: %s", type(exc).__name__)
        try:
            util.write_nonblock(client, _answer(kind))
        except OSError:
            self.log.debug("the client is gone")


def _answer(kind: Kind) -> bytes:
    problem = {
        "type": f"urn:croupier:problem:{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "code": kind.code,
    }
    body = encode(problem)
    head = (
        f"HTTP/1.1 {kind.status} {responses[kind.status]}",
        "Connection: close",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        "Access-Control-Allow-Origin: *",
        "\r\n",
    )
    return "\r\n".join(head).encode() + body
