"""Granian in gunicorn's place (SERVER=granian): the same application and settings; `python -m service.fast`."""

import os
import select
import shutil
import signal
import threading
from collections.abc import Iterable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from service import metrics
from service.body import MOST_BYTES
from service.logs import log
from service.refusals import (
    BAD_REQUEST,
    EXPECTATION_FAILED,
    HEADERS_TOO_LARGE,
    MOST_FIELD_BYTES,
    MOST_FIELDS,
    MOST_LINE,
    NOT_IMPLEMENTED,
    URI_TOO_LONG,
    refusal,
)
from service.settings import Settings
from service.streams import closing

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from service.problems import Kind

ARRIVAL_MS = 10_000
"""How long a request's head may take to arrive."""
GRACE_SECONDS = 8
"""How long a worker has to end; its streams take less."""
_WATCH_SECONDS = 1.0
_STOPS = {signal.SIGTERM, signal.SIGINT}


_LOG = {
    "formatters": {"line": {"()": "service.logs.formatter"}},
    "handlers": {"said": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr", "formatter": "line"}},
    "loggers": {"_granian": {"handlers": ["said"], "propagate": False}},
}


def main() -> None:
    """Serve until told to stop, and remove then what the workers counted in."""
    try:
        _serve_by(Settings.read())
    finally:
        shutil.rmtree(os.environ.get(metrics.DIRECTORY, ""), ignore_errors=True)


def _serve_by(settings: Settings) -> None:
    threads = settings.streams + 2 * settings.threads  # started when they are needed
    Granian(
        "service.wsgi:app",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.WSGI,
        workers=settings.workers,
        blocking_threads=threads,
        backpressure=threads,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=ARRIVAL_MS, max_buffer_size=MOST_FIELDS * MOST_FIELD_BYTES),
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE_SECONDS,
        log_level=LogLevels(settings.log_level.lower()),
        log_dictconfig=_LOG,
    ).serve(target_loader=partial(application, os.getpid()), wrap_loader=False)


def application(master: int) -> "WSGIApplication":
    """Return what a worker serves; called there, in its main thread."""
    from service.wsgi import app  # noqa: PLC0415 - a worker's alone

    for name in [name for name in os.environ if name.startswith(("HTTP_", "CONTENT_"))]:
        del os.environ[name]  # granian would take it for a field of every request
    _forget_ended()
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    threading.Thread(target=_watch, args=(heard, master), name="signals", daemon=True).start()
    return partial(_serve, app.wsgi_app)


def _forget_ended() -> None:
    """Count the streams of workers that have ended no more; what they had counted up stays."""
    if metrics.DIRECTORY in os.environ:
        for counted in Path(os.environ[metrics.DIRECTORY]).glob("gauge_live*.db"):
            try:
                os.kill(int(counted.stem.rpartition("_")[2]), 0)
            except ProcessLookupError:
                counted.unlink(missing_ok=True)


def _watch(heard: int, master: int) -> None:
    """Tell the streams to end when the worker is told to stop, which it is also when its master is gone."""
    while not closing.is_set():
        if select.select([heard], [], [], _WATCH_SECONDS)[0] and not _STOPS.isdisjoint(os.read(heard, 4096)):
            closing.set()
        elif os.getppid() != master:
            os.kill(os.getpid(), signal.SIGTERM)


def _serve(app: "WSGIApplication", environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Answer a request that is within the limits, when it is here as a whole; refuse another."""
    if kind := _fault(environ):
        log.warning("a request was refused", code=kind.code)
        metrics.PROBLEMS[kind.code].inc()
        status, fields, body = refusal(kind)
        start_response(status, fields)
        return [body]
    announced = int(environ.get("CONTENT_LENGTH") or 0)
    body = b"" if announced > MOST_BYTES else environ["wsgi.input"].read(MOST_BYTES + 2)
    environ["wsgi.input"] = BytesIO(body)
    environ.pop("HTTP_UPGRADE", None)  # nothing else is spoken here, and routing would take it for a promise
    return app(environ, start_response)


def _fault(environ: "WSGIEnvironment") -> "Kind | None":
    """Return what is wrong with a request's head, by the limits that gunicorn is given."""
    host = environ.get("HTTP_HOST", "")
    if "," in host or (not host and environ["SERVER_PROTOCOL"] == "HTTP/1.1"):
        return BAD_REQUEST
    if "HTTP_TRANSFER_ENCODING" in environ:
        return NOT_IMPLEMENTED  # granian would hand over a body that was broken off as if it were whole
    if len(environ["PATH_INFO"]) + len(environ["QUERY_STRING"]) > MOST_LINE:
        return URI_TOO_LONG
    fields = [value for name, value in environ.items() if name.startswith("HTTP_")]
    if len(fields) > MOST_FIELDS or any(len(value) > MOST_FIELD_BYTES for value in fields):
        return HEADERS_TOO_LARGE
    return EXPECTATION_FAILED if environ.get("HTTP_EXPECT", "100-continue").lower() != "100-continue" else None


if __name__ == "__main__":
    main()
