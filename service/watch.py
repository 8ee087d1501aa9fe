"""Watches requests: each has an id, is logged in one line and counted, and what was counted can be read."""

import re
import secrets
from collections.abc import Callable
from functools import cache, partial
from platform import python_version
from time import perf_counter
from typing import Any

from flask import Blueprint, Flask, Request, current_app, g
from werkzeug.exceptions import NotFound

from service import documents, metrics, reading
from service.answers import Response
from service.browsers import GUARDS
from service.gate import gate

watch = Blueprint("watch", __name__)

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_Write = Callable[[dict[str, Any]], None]
_CREATED = 201
_PARAMETER = re.compile(r"<(?:[^>]*:)?(\w+)>")
_HEADERS = {"Cache-Control": "no-store", "Content-Language": "en", "Vary": "Accept"}


def register(app: Flask, write: _Write, *, readable: bool) -> None:
    """Watch the requests of an application; what was counted can be read there, or is not found."""
    metrics.BUILD[documents.version(), python_version()].set(1)
    app.config["METRICS"] = readable
    app.before_request(_arrived)
    app.after_request(partial(_answered, write))
    app.register_blueprint(watch)


@watch.get("/metrics")
def read() -> Response:
    """Tell an operator what was counted."""
    if not current_app.config["METRICS"]:
        raise NotFound
    media_type = reading.accepted(metrics.PLAIN, metrics.OPENMETRICS)
    reading.query()
    return Response(metrics.exposition(media_type), headers=_HEADERS, content_type=media_type)


def operation(asked: Request) -> str:
    """Return a request's method and path as the contract has them: one of a few, whatever a client sends."""
    rule = asked.url_rule
    return _named(asked.method, rule.rule, (asked.view_args or {}).get("verb", "")) if rule else "none"


@cache
def _named(method: str, rule: str, verb: str) -> str:
    names = {"session": "{id}", "game": "{game}", "verb": verb}
    return f"{method} {_PARAMETER.sub(lambda found: names[found[1]], rule)}"


def _arrived() -> None:
    """Name the request, by the client's own id where it gives a plain one."""
    given = reading.header("X-Request-Id") or ""
    g.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
    g.began = perf_counter()


def _answered(write: _Write, response: Response) -> Response:
    """Log and count the request. Of what a client sent only what is known here is told: the rest may be a secret."""
    # Through Flask's stand-in it would take twice as long.
    asked, known = reading.here(), g._get_current_object()  # noqa: SLF001
    length, status, code = response.content_length, response.status_code, known.get("code")
    response.headers["X-Request-Id"] = known.request_id
    response.headers.pop("Access-Control-Allow-Private-Network", None)  # flask-cors says a no that nobody needs
    for name, guard in GUARDS.items():
        response.headers.setdefault(name, guard)
    if not length and not response.is_streamed and asked.method != "HEAD":
        response.headers.pop("Content-Type", None)  # Flask's is that of a page
    seconds, named = perf_counter() - known.began, operation(asked)
    write(
        {
            "event": "request",
            "request_id": known.request_id,
            "operation": named,
            "session": known.get("session"),
            "status": status,
            "code": code,
            "ms": round(seconds * 1000, 3),
            "bytes": length,
            "token": "HTTP_AUTHORIZATION" in asked.environ,
            "client": gate().address(),
        }
    )
    metrics.REQUESTS[named, f"{status // 100}xx"].observe(seconds)
    if code:
        metrics.PROBLEMS[code].inc()
    game = known.sessions.game if "sessions" in known else "none"
    if verb := _verb(asked):
        result = "replayed" if "Idempotency-Replayed" in response.headers else code or "accepted"
        metrics.MOVES[game, verb, result].inc()
    elif status == _CREATED:
        metrics.OPENED[game].inc()
    return response


def _verb(asked: Request) -> str | None:
    """Return what was to be done in a session, where something was."""
    given = asked.view_args or {}
    if asked.method == "DELETE":
        return "delete" if given else None
    return given.get("verb") if asked.method == "POST" else None
