"""The routes: read what is asked, ask `sessions`, render what comes back."""

import hashlib
import re
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import parse_qs

from flask import Blueprint, Response, current_app, request
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from engine import play
from engine.games import GAMES
from service import documents, schemas, views
from service.board import board
from service.body import MOST_BYTES, an_object, parse
from service.documents import HTML, JSON, MARKDOWN, YAML, Document
from service.problems import NotAcceptable, UnknownGame
from service.schemas import Unprocessable
from service.sessions import Request, Seen, Sessions, UnknownSession

TEXT = "text/plain; charset=utf-8"
REVISION = "r1"
"""A release that changes the bytes of a representation raises it."""
VERBS = ("deal", "choose", "swap", "confirm", "wager", "evaluate", "leave", "seed")

api = Blueprint("api", __name__)

_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_OUR_TAG = re.compile(r'(?:W/)?"(\d{1,20})\.[^"]*"', re.ASCII)
_TAG = re.compile(r'(?:W/)?("[^"]*")')
EXPOSED = [
    "ETag",
    "Location",
    "Retry-After",
    "Croupier-Time",
    "Idempotency-Replayed",
    "Content-Language",
    "X-Request-Id",
]
_SEEN = {
    # flask-cors leaves an answer alone that has these already, and would take ten times as long over it.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": ", ".join(sorted(EXPOSED)),
    "Cache-Control": "private, no-cache",
    "Content-Language": "en",
    "Vary": "Authorization, Accept, Accept-Language",
}
_OWN = {"Cache-Control": "no-store", "Content-Language": "en"}
_PUBLIC = {
    "Cache-Control": "public, max-age=300",
    "Content-Language": "en",
    "Vary": "Accept, Accept-Language",
}


@api.get("/v1/games")
def games() -> Response:
    """List the games."""
    _accepted(JSON)
    return _published(documents.catalogue())


@api.get("/v1/games/<game>")
def game_info(game: str) -> Response:
    """Tell all about a game."""
    _accepted(JSON)
    return _published(documents.info(_game(game)))


@api.get("/v1/games/<game>/rules")
def game_rules(game: str) -> Response:
    """Give a game's rules."""
    media_type = _accepted(MARKDOWN, HTML)
    return _published(documents.rules(_game(game), media_type))


@api.post("/v1/games/<game>/evaluate")
def evaluate_cards(game: str) -> Response:
    """Tell what cards are worth, in this game."""
    _accepted(JSON)
    given = _body()
    slug = _game(game)
    _query()
    cards, options = schemas.evaluate_body(slug, an_object(given))
    worth = play.evaluate(slug, cards, options)
    return Response(views.encode({"game": slug, **worth}), headers=_OWN, content_type=JSON)


@api.get("/openapi.yaml")
def contract_yaml() -> Response:
    """Give the contract as it is written."""
    return _published(documents.contract(YAML))


@api.get("/openapi.json")
def contract_json() -> Response:
    """Give the contract as JSON."""
    return _published(documents.contract(JSON))


@api.get("/healthz")
def alive() -> Response:
    """Tell that the process answers."""
    _query()
    return Response(b'{"status":"ok"}', headers=_OWN, content_type=JSON)


@api.get("/readyz")
def ready() -> Response:
    """Tell that the store answers."""
    _query()
    _sessions().ready()
    return Response(b'{"status":"ready"}', headers=_OWN, content_type=JSON)


@api.post("/v1/sessions")
def create() -> Response:
    """Open a session."""
    _accepted(JSON)
    body = _body()
    _query()
    opened = _sessions().open(*schemas.create_body(an_object(body)))
    headers = _headers(opened.seen, "json") | {"Location": f"/v1/sessions/{opened.seen.session}"}
    document = views.encode(views.created(opened))
    return Response(document, 201, headers, content_type=JSON)


@api.get("/v1/sessions/<session>")
def look(session: str) -> Response:
    """Show the session to this viewer."""
    media_type = _accepted(JSON, TEXT)
    seen = _sessions().look(_id(session), _token())
    with_actions = _query(actions=True)["actions"]
    return _view(seen, media_type, with_actions=with_actions)


@api.get("/v1/sessions/<session>/score")
def score(session: str) -> Response:
    """Show the score sheet."""
    _accepted(JSON)
    seen, sheet = _sessions().score(_id(session), _token(), _query)
    return _unless_known(seen, "score") or Response(
        views.encode(views.score(seen, sheet)), headers=_headers(seen, "score"), content_type=JSON
    )


@api.delete("/v1/sessions/<session>")
def delete(session: str) -> Response:
    """End a session, for its host."""
    seen = _sessions().delete(_id(session), _token(), _query)
    return Response(b"", 204, _OWN | {"Croupier-Time": str(seen.now)})


@api.post(f"/v1/sessions/<session>/<any({', '.join(VERBS)}):verb>")
def act(session: str, verb: str) -> Response:
    """Play an action."""
    media_type = _accepted(JSON, TEXT)
    body = _body()
    key = request.headers.get("Idempotency-Key")
    asked = Request(
        verb=verb,
        token=_token(),
        body=lambda game: _action_body(game, verb, body, key),
        key=key if key and _KEY.fullmatch(key) else None,
        digest=_digest(),
        matches=_if_match(),
    )
    seen = _sessions().act(_id(session), asked)
    return _view(seen, media_type)


def _view(seen: Seen, media_type: str, *, with_actions: bool = True) -> Response:
    """Render a view as JSON or as text; a read of what the client already has is a 304."""
    text = media_type == TEXT
    name = ("text" if text else "json") if with_actions else ("brieftext" if text else "brief")
    if known := _unless_known(seen, name):
        return known
    view = views.view(seen, with_actions=with_actions)
    body = board(view).encode() if text else views.encode(view)
    headers = _headers(seen, name)
    if seen.replayed:
        headers["Idempotency-Replayed"] = "true"
    return Response(body, headers=headers, content_type=media_type)


def _headers(seen: Seen, name: str) -> dict[str, str]:
    """Return the headers of a session's representation, its tag among them."""
    viewer = seen.viewer
    who = "h" if viewer.host else "w" if viewer.seat is None else f"s{viewer.seat}"
    tag = f'"{seen.record.version}.{who}.{name}.en.{REVISION}"'
    return _SEEN | {"ETag": tag, "Croupier-Time": str(seen.now)}


def _unless_known(seen: Seen, name: str) -> Response | None:
    """Return a 304 to a GET whose If-None-Match names this representation."""
    given = request.headers.get("If-None-Match")
    if given is None or request.method == "POST":
        return None
    headers = _headers(seen, name)
    if given.strip() == "*" or headers["ETag"] in _TAG.findall(given):
        return Response(b"", 304, headers)
    return None


def _published(document: Document) -> Response:
    """Send what is the same for everyone, or a 304."""
    _query()
    headers = _PUBLIC | {"ETag": document.etag}
    given = request.headers.get("If-None-Match", "")
    if given.strip() == "*" or document.etag in _TAG.findall(given):
        return Response(b"", 304, headers)
    return Response(document.body, headers=headers, content_type=document.media_type)


def _sessions() -> Sessions:
    return cast("Sessions", current_app.extensions["sessions"])


def _game(game: str) -> str:
    """Return the game's name; raise `UnknownGame` where there is none."""
    if game not in GAMES:
        raise UnknownGame
    return game


def _id(session: str) -> str:
    """Return the session id, before any key is made of it."""
    if not _ID.fullmatch(session):
        raise UnknownSession
    return session


def _token() -> str | None:
    """Return the bearer token, if one is given: nothing stands for credentials of another form."""
    given = request.headers.get("Authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _body() -> Any:  # noqa: ANN401 - any JSON
    """Return the body's JSON; one that is larger or shorter than it may be is not looked at."""
    raw = request.get_data(cache=True)
    if len(raw) > MOST_BYTES:
        raise RequestEntityTooLarge
    if request.content_length not in (None, len(raw)):
        raise BadRequest
    return parse(raw, request.headers.get("Content-Type"))


def _action_body(game: str, verb: str, body: Any, key: str | None) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a verb's checked body; the query and the key are checked with it."""
    _query()
    if key is not None and not _KEY.fullmatch(key):
        fault = "A key has 1 to 64 of A-Z, a-z, 0-9, _ and -."
        raise Unprocessable({"Idempotency-Key": fault}, "header")
    return schemas.verb_body(game, verb, an_object(body))


def _query(**defaults: bool) -> dict[str, bool]:
    """Return the flags in the query; raise `Unprocessable` for any other parameter."""
    if not request.query_string:
        return defaults
    found = dict(defaults)
    given = parse_qs(request.query_string.decode(errors="replace"), keep_blank_values=True)
    for name, values in given.items():
        if name not in defaults:
            raise Unprocessable({name: "There is no such parameter."}, "parameter")
        if values not in (["true"], ["false"]):
            raise Unprocessable({name: "Must be true or false, once."}, "parameter")
        found[name] = values == ["true"]
    return found


def _accepted(*offered: str) -> str:
    """Return the representation that the client likes best, by default the first."""
    if request.headers.get("Accept", "") in ("", "*/*", offered[0]):
        return offered[0]
    # A parameter, such as a charset, is no reason to send nothing at all.
    ranges = MIMEAccept((kind.partition(";")[0], quality) for kind, quality in request.accept_mimetypes)
    accepted = ranges.best_match([each.split(";")[0] for each in offered])
    if accepted is None:
        raise NotAcceptable
    return next(each for each in offered if each.startswith(accepted))


def _if_match() -> Callable[[int], bool]:
    """Return what If-Match says of a version: without it every one will do."""
    given = request.headers.get("If-Match")
    if given is None or given.strip() == "*":
        return lambda _version: True
    versions = {int(found) for found in _OUR_TAG.findall(given)}
    return versions.__contains__


def _digest() -> bytes:
    """Return a hash of what makes two requests the same: method, path, query, body."""
    parts = (request.method.encode(), request.path.encode(), request.query_string)
    head = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(head + request.get_data(cache=True)).digest()
