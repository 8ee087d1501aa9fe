"""The routes: read what is asked, ask `sessions`, render what comes back."""

import re

from flask import Blueprint, request
from msgspec.structs import replace

from engine import play
from engine.games import GAMES
from service import documents, languages, reading, schemas, views
from service.answers import Response
from service.board import board, score_board
from service.body import an_object
from service.documents import HTML, JSON, MARKDOWN, TEXT, YAML, Document
from service.gate import counting, gate
from service.records import Seen
from service.sessions import TICKET_MS, Refused, Request

REVISION = "r2"
"""A release that changes the bytes of a representation raises it."""
MOST_LISTED = 50
VERBS = sorted({verb for game in GAMES.values() for verb in game.spec.verbs} | play.COMMON_VERBS.keys())

api = Blueprint("api", __name__)

_TAG = re.compile(r'(?:W/)?("[^"]*")')
EXPOSED = [
    "ETag",
    "Location",
    "Retry-After",
    "RateLimit",
    "RateLimit-Policy",
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
    "Vary": "Authorization, Accept, Accept-Language",
}
_SECRET = {"Cache-Control": "no-store"}
_OWN = _SECRET | {"Content-Language": "en"}
_PUBLIC = {
    "Cache-Control": "public, max-age=300",
    "Vary": "Accept, Accept-Language",
}


@api.get("/v1/games")
def games() -> Response:
    """List the games."""
    reading.accepted(JSON)
    return _published(documents.catalogue())


@api.get("/v1/games/<game>")
def game_info(game: str) -> Response:
    """Tell all about a game."""
    reading.accepted(JSON)
    slug = reading.game_named(game)
    return _published(documents.info(slug, languages.wanted(slug), gate().limits.of_seats(slug)))


@api.get("/v1/games/<game>/rules")
def game_rules(game: str) -> Response:
    """Give a game's rules."""
    media_type = reading.accepted(MARKDOWN, HTML, TEXT)
    slug = reading.game_named(game)
    return _published(documents.rules(slug, media_type, languages.wanted(slug)))


@api.post("/v1/games/<game>/evaluate")
def evaluate_cards(game: str) -> Response:
    """Tell what cards are worth, in this game."""
    reading.accepted(JSON)
    body = reading.body()
    slug = reading.game_named(game)
    reading.query()
    cards, options = schemas.evaluate_body(slug, an_object(body))
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
    reading.query()
    return Response(b'{"status":"ok"}', headers=_OWN, content_type=JSON)


@api.get("/readyz")
def ready() -> Response:
    """Tell that the store answers."""
    reading.query()
    reading.sessions().ready()
    return Response(b'{"status":"ready"}', headers=_OWN, content_type=JSON)


@api.post("/v1/sessions")
def create() -> Response:
    """Open a session."""
    reading.accepted(JSON)
    body = reading.body()
    gate().may_open()
    gate().count("opens")
    reading.query()
    opened = reading.sessions().open(schemas.create_body(an_object(body)))
    headers = _headers(opened.seen, "json") | _SECRET | {"Location": f"/v1/sessions/{opened.seen.session}"}
    document = views.encode(views.created(opened, _language(opened.seen)))
    return Response(document, 201, headers, content_type=JSON)


@api.get("/v1/sessions")
def lobby() -> Response:
    """List the public sessions, a page at a time."""
    reading.accepted(JSON)
    gate().count("lobby")
    asked = reading.query(cursor=reading.cursor, limit=reading.number(1, MOST_LISTED))
    found, after = reading.sessions().lobby(asked.get("cursor", ""), asked.get("limit", MOST_LISTED))
    return Response(views.encode(views.lobby(found, after)), headers=_OWN, content_type=JSON)


@api.post("/v1/sessions/<session>/ticket")
def ticket(session: str) -> Response:
    """Make a read-only ticket for the events of this session, which an address can carry."""
    reading.accepted(JSON)
    body = reading.body()
    name = reading.session_id(session)
    seen, made = reading.sessions().ticket(name, reading.token(), counting("tickets", lambda: reading.nothing(body)))
    headers = _OWN | {"Croupier-Time": str(seen.now)}
    return Response(views.encode(views.Ticket(made, seen.now + TICKET_MS)), headers=headers, content_type=JSON)


@api.get("/v1/sessions/<session>")
def look(session: str) -> Response:
    """Show the session to this viewer."""
    media_type = reading.accepted(JSON, TEXT)
    seen = reading.sessions().look(reading.session_id(session), reading.token())
    reading.sessions().keep_listed(seen)
    asked = reading.query(actions=reading.flag)
    return _view(seen, media_type, with_actions=asked.get("actions", True))


@api.get("/v1/sessions/<session>/score")
def score(session: str) -> Response:
    """Show the score sheet."""
    media_type = reading.accepted(JSON, TEXT)
    seen, sheet = reading.sessions().score(reading.session_id(session), reading.token(), reading.query)
    text = media_type == TEXT
    name = "scoretext" if text else "score"
    if known := _unless_known(seen, name):
        return known
    body = score_board(seen, sheet, _language(seen)).encode() if text else views.encode(views.score(seen, sheet))
    return Response(body, headers=_headers(seen, name), content_type=media_type)


@api.delete("/v1/sessions/<session>")
def delete(session: str) -> Response:
    """End a session, for its host."""
    asked = Request("delete", reading.token(), lambda _game: reading.query(), matches=reading.if_match())
    acted = reading.sessions().act(reading.session_id(session), asked)
    return Response(b"", 204, _OWN | {"Croupier-Time": str(acted.seen.now)})


@api.post(f"/v1/sessions/<session>/<any({', '.join(VERBS)}):verb>")
def act(session: str, verb: str) -> Response:
    """Play an action."""
    media_type = reading.accepted(JSON, TEXT)
    asked = reading.action(verb)
    acted = reading.sessions().act(reading.session_id(session), asked)
    if acted.refusal:
        raise Refused(acted.refusal, acted.seen)
    return _view(acted.seen, media_type)


@api.post(f"/v1/sessions/<session>/<any({', '.join(play.SEAT_VERBS)}):verb>")
def give_seat(session: str, verb: str) -> Response:
    """Give a seat away, or its token anew; the token is told this once."""
    reading.accepted(JSON)
    asked = reading.action(verb)
    if verb == "join":
        asked = replace(asked, body=counting("joins", asked.body))
    acted = reading.sessions().act(reading.session_id(session), asked)
    headers = _headers(acted.seen, "json") | _SECRET
    return Response(views.encode(views.seated(acted, _language(acted.seen))), headers=headers, content_type=JSON)


def _view(seen: Seen, media_type: str, *, with_actions: bool = True) -> Response:
    """Render a view as JSON or as text; a read of what the client already has is a 304."""
    text = media_type == TEXT
    name = ("text" if text else "json") if with_actions else ("brieftext" if text else "brief")
    if known := _unless_known(seen, name):
        return known
    language = _language(seen)
    view = views.view(seen, language, with_actions=with_actions)
    body = board(view, language).encode() if text else views.encode(view)
    headers = _headers(seen, name)
    if seen.replayed:
        headers["Idempotency-Replayed"] = "true"
    return Response(body, headers=headers, content_type=media_type)


def _headers(seen: Seen, name: str) -> dict[str, str]:
    """Return the headers of a session's representation, its tag among them."""
    viewer = seen.viewer
    who = "h" if viewer.host else "w" if viewer.seat is None else f"s{viewer.seat}"
    language = _language(seen)
    tag = f'"{seen.record.version}.{who}.{name}.{language}.{REVISION}"'
    return _SEEN | {"ETag": tag, "Content-Language": language, "Croupier-Time": str(seen.now)}


def _language(seen: Seen) -> str:
    """Return the language of this answer."""
    return languages.wanted(seen.record.position.game)


def _unless_known(seen: Seen, name: str) -> Response | None:
    """Return a 304 to a GET whose If-None-Match names this representation."""
    given = reading.header("If-None-Match")
    if given is None or request.method == "POST":
        return None
    headers = _headers(seen, name)
    if given.strip() == "*" or headers["ETag"] in _TAG.findall(given):
        return Response(b"", 304, headers)
    return None


def _published(document: Document) -> Response:
    """Send what is the same for everyone, or a 304."""
    reading.query()
    headers = _PUBLIC | document.guards | {"ETag": document.etag, "Content-Language": document.language}
    given = reading.header("If-None-Match") or ""
    if given.strip() == "*" or document.etag in _TAG.findall(given):
        return Response(b"", 304, headers)
    return Response(document.body, headers=headers, content_type=document.media_type)
