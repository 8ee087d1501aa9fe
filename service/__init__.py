"""Croupier over HTTP: `create_app` makes the WSGI application; it knows no rule of any game."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from flask import Flask, Request, current_app, request
from flask.sessions import NullSession, SessionInterface
from flask_cors import CORS
from werkzeug.routing import MapAdapter, Rule

from engine.play import SEAT_VERBS
from service import logs, metrics, problems, watch
from service.answers import Response
from service.api import EXPOSED, VERBS, api
from service.body import MOST_BYTES
from service.events import events
from service.gate import Gate
from service.limits import Limits
from service.routing import Adapter
from service.sessions import Sessions, Store
from service.settings import Settings
from service.streams import Streams
from service.turns import Turns


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
    app = App("croupier", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES + 1  # of a longer body in chunks just so much is read
    app.url_map.merge_slashes = False  # no redirects
    watch.register(app, logs.configure(settings.log_level), readable=settings.metrics)
    app.extensions["store"] = store
    watched = metrics.around(store, metrics.timed)
    if settings.otel:
        from service import tracing  # noqa: PLC0415 - what it imports is an extra, and slow to load

        watched = metrics.around(watched, tracing.register(app, tracing.exporting()))
    limits = Limits(settings)
    sessions = partial(Sessions, watched, limits)
    app.extensions["sessions"] = sessions
    app.extensions["gate"] = Gate(settings, limits)
    app.extensions["streams"] = Streams(sessions, store.wakes(), settings.streams, limits.streams)
    app.extensions["turns"] = turns = Turns(settings.threads)
    app.before_request(_waited)
    app.teardown_request(turns.end)
    app.register_blueprint(api)
    app.register_blueprint(events)
    problems.register(app)
    methods = ["GET", "HEAD", "POST", "DELETE"]
    CORS(app, origins="*", methods=methods, send_wildcard=True, expose_headers=EXPOSED, max_age=600)
    return app


def _waited() -> None:
    """Wait for the request's turn."""
    if request.path.startswith("/v1/sessions"):  # health and catalogue need not wait for those that ask the store
        current_app.extensions["turns"].begin()
