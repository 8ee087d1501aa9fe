"""Croupier over HTTP: `create_app` makes the WSGI application; it knows no rule of any game."""

import re
import secrets
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from flask import Flask, Request, current_app, g, request
from flask.sessions import NullSession, SessionInterface
from flask_cors import CORS
from werkzeug.routing import MapAdapter, Rule

from engine.play import SEAT_VERBS
from service import logs, problems, reading
from service.answers import Response
from service.api import EXPOSED, VERBS, api
from service.body import MOST_BYTES
from service.events import events
from service.routing import Adapter
from service.sessions import Sessions, Store
from service.settings import Settings
from service.streams import Streams
from service.turns import Turns

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class _NoCookies(SessionInterface):
    """No session of Flask's: what a client may do is in its token."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:  # noqa: ARG002 - as Flask has it
        """Return the one that is nobody's."""
        return self._none


class App(Flask):
    """Flask without what nothing here needs: coroutines, cookies, and routes that depend on the client's Host."""

    response_class = Response
    session_interface = _NoCookies()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as it is."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Match a request by its path and method alone."""
        if request is None:
            return None
        return Adapter(self.url_map, self._verbs, request)

    @cached_property
    def _verbs(self) -> dict[str, Rule]:
        """Return the rule of each verb of a session."""
        taken = {"api.act": VERBS, "api.give_seat": SEAT_VERBS}
        return {verb: rule for name, verbs in taken.items() for rule in self.url_map.iter_rules(name) for verb in verbs}


def create_app(settings: Settings, store: Store) -> Flask:
    """Return the application over a store; the store's clock is the only clock of the games."""
    logs.configure(settings.log_level)
    app = App("croupier", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES + 1  # of a longer body in chunks just so much is read
    app.url_map.merge_slashes = False  # no redirects
    sessions = partial(Sessions, store)
    app.extensions["sessions"] = sessions
    app.extensions["streams"] = Streams(sessions, store.wakes(), settings.streams)
    app.extensions["turns"] = turns = Turns(settings.threads)
    app.before_request(_arrived)
    app.teardown_request(turns.end)
    app.after_request(_answered)
    app.register_blueprint(api)
    app.register_blueprint(events)
    problems.register(app)
    CORS(app, origins="*", send_wildcard=True, expose_headers=EXPOSED, max_age=600)
    return app


def _arrived() -> None:
    """Name the request, by the client's own id where it gives a plain one, and wait for its turn."""
    given = reading.header("X-Request-Id") or ""
    g.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
    g.began = time.perf_counter()
    if request.path.startswith("/v1/sessions"):  # health and catalogue need not wait for those that ask the store
        current_app.extensions["turns"].begin()


def _answered(response: Response) -> Response:
    """Log one line; the query is left out, since a client may put anything there."""
    asked, request_id = reading.here(), g.request_id
    response.headers["X-Request-Id"] = request_id
    if response.content_length in (None, 0) and not response.is_streamed and asked.method != "HEAD":
        response.headers.pop("Content-Type", None)  # Flask's is that of a page
    logs.log.info(
        "request",
        method=asked.method,
        path=asked.path,
        status=response.status_code,
        ms=round((time.perf_counter() - g.began) * 1000, 3),
        request_id=request_id,
    )
    return response
