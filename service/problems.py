"""Every refusal as an RFC 9457 problem: the one table from exception to status and code."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Flask, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from engine.game import ENGLISH, Illegal, Invalid, RuleError
from engine.games import GAMES
from engine.phrases import Dictionary, said
from engine.play import COMMON_VERBS, SEAT_VERBS
from service import languages, sessions, views
from service.answers import Response
from service.body import Malformed, NotAnObject, WrongMediaType
from service.clients import KeyNeeded
from service.connection import NotDurable, StoreAway
from service.fitness import Unfit
from service.limits import Limited
from service.logs import log
from service.records import Newer
from service.schemas import Unprocessable
from service.streams import TooManyOfOne, TooManyStreams

MEDIA_TYPE = "application/problem+json"


class NotAcceptable(Exception):
    """None of the representations there are is one that the client accepts."""

    def __init__(self, offered: tuple[str, ...]) -> None:
        names = " or ".join(each.partition(";")[0] for each in offered)
        super().__init__(f"This address answers {names}: ask for that in Accept, or leave Accept out.")


class UnknownGame(Exception):
    """No game goes by this name."""


class Kind(NamedTuple):
    """What an exception is answered with."""

    status: int
    code: str
    title: str
    headers: Mapping[str, str] = {}


VERBS = sorted({verb for game in GAMES.values() for verb in game.spec.verbs} | COMMON_VERBS.keys() | SEAT_VERBS.keys())
PARTS = ("events", "score", "ticket")
_OF_A_SESSION = re.compile("/v1/sessions/[^/]+/[^/]*")
_ALWAYS = {"Cache-Control": "no-store", "Content-Language": ENGLISH}
_NO_WORDS: Dictionary = {}
_SOON = {"Retry-After": "1"}
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="croupier"'}

KINDS: dict[type[Exception], Kind] = {
    Malformed: Kind(400, "malformed-json", "The body is not JSON that this service reads"),
    sessions.Unauthorized: Kind(401, "unauthorized", "A valid token is needed", _CHALLENGE),
    KeyNeeded: Kind(401, "api-key-needed", "An API key is needed", {"WWW-Authenticate": 'ApiKey realm="croupier"'}),
    sessions.Forbidden: Kind(403, "forbidden", "The token does not allow this"),
    UnknownGame: Kind(404, "unknown-game", "There is no such game"),
    sessions.UnknownSession: Kind(404, "unknown-session", "There is no such session"),
    NotAcceptable: Kind(406, "not-acceptable", "No representation is acceptable"),
    Illegal: Kind(409, "", "The rules do not allow this now"),
    sessions.Refused: Kind(409, "", "The rules do not allow this now"),
    sessions.Gone: Kind(410, "gone", "The session is over"),
    sessions.VersionMismatch: Kind(412, "version-mismatch", "The session is at another version"),
    WrongMediaType: Kind(415, "unsupported-media-type", "The body must be application/json"),
    NotAnObject: Kind(422, "invalid", "The request does not fit"),
    Unprocessable: Kind(422, "invalid", "The request does not fit"),
    Invalid: Kind(422, "invalid", "The request does not fit"),
    sessions.KeyReused: Kind(422, "key-reused", "The key belongs to another request"),
    Limited: Kind(429, "rate-limited", "Too many requests"),
    TooManyOfOne: Kind(429, "rate-limited", "Too many requests", _SOON),
    StoreAway: Kind(503, "store-unavailable", "The store does not answer", _SOON),
    Unfit: Kind(503, "store-unavailable", "The store is not fit to be used", _SOON),
    NotDurable: Kind(503, "not-durable", "No second machine has it yet", _SOON),
    TooManyStreams: Kind(503, "too-many-streams", "Every place for a stream is taken", _SOON),
    Newer: Kind(503, "newer-session", "A later release stored this session", _SOON),
    sessions.Busy: Kind(503, "busy", "Too many requests for this session at once", _SOON),
    sessions.CatchingUp: Kind(503, "catching-up", "The session is catching up", _SOON),
}
HTTP_KINDS = {
    400: Kind(400, "bad-request", "The request cannot be read"),
    404: Kind(404, "not-found", "There is nothing here"),
    405: Kind(405, "method-not-allowed", "The method is not allowed here"),
    413: Kind(413, "body-too-large", "The body is too large"),
}
INTERNAL = Kind(500, "internal-error", "Something went wrong here")
DETAILS = {
    "api-key-needed": "Sessions are opened here with a key of the operator's in X-API-Key.",
    "unknown-session": "It was never opened, or was dropped some time after its end.",
    "unknown-game": "GET /v1/games lists the games.",
    "gone": "It was deleted, or nobody moved for a day. Its score can still be read for a week.",
    "key-reused": "This Idempotency-Key came with another request before; nothing was done.",
    "store-unavailable": "Send the request again in a second, with its Idempotency-Key: it happens once.",
    "not-durable": (
        "The move may stand: send the request again in a second, with its Idempotency-Key, until it is acknowledged."
    ),
    "too-many-streams": "Poll in the meantime, or try again in a second: another process may have a place.",
    "catching-up": (
        "The table is working through what time has decided since the last visit. Nothing of the request was done: "
        "send it again in a second."
    ),
    "newer-session": (
        "Nothing was done; an upgrade is under way: send the request again in a second, with its Idempotency-Key."
    ),
    "busy": "Nothing was done; send the request again in a second, with its Idempotency-Key.",
    "unsupported-media-type": "Send Content-Type: application/json, in UTF-8.",
    "body-too-large": "A body has at most 16 KiB.",
    "internal-error": "The fault is logged under the request's id, in X-Request-Id.",
    "version-mismatch": (
        "Read the session and send its ETag, quotes and all, in If-Match; or decide by the actions given here."
    ),
}


def register(app: Flask) -> None:
    """Answer every exception with a problem."""
    for kind in KINDS:
        app.register_error_handler(kind, _known)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unknown)


def _known(error: Exception) -> Response:
    """Answer an exception of the table, in the game's language where it is known which game it is about."""
    kind, rule, game = KINDS[type(error)], _rule(error), _game(error)
    language = languages.wanted(game) if game else ENGLISH
    known = languages.words(game, language) if game else {}
    if isinstance(error, StoreAway):
        log.warning("store-away", request_id=g.request_id, reason=str(error))
    extra: dict[str, Any] = {}
    headers = {"Content-Language": language, **kind.headers}
    if isinstance(rule, Illegal):
        kind = kind._replace(code=rule.code)
        extra |= rule.facts
        if rule.retry_ms is not None:
            headers["Retry-After"] = str(-(-rule.retry_ms // 1000))
    headers |= _limits(error)
    if isinstance(error, (sessions.Refused, sessions.VersionMismatch)):
        seen = error.seen
        over = seen.expired() and not seen.replayed  # what is answered again was answered before the end
        extra |= {"version": seen.record.version, "actions": [] if over else views.actions(seen, language)}
        headers["Croupier-Time"] = str(seen.now)
        if seen.replayed:
            headers["Idempotency-Replayed"] = "true"
    if isinstance(error, Unfit):
        extra["detail"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
    detail = rule.said(known) if rule else str(error)
    return _answer(kind, detail, headers, extra | _faults(error), known)


def _limits(error: Exception) -> dict[str, str]:
    """Return what tells a client how often it may ask and when again (draft-ietf-httpapi-ratelimit-headers-10)."""
    match error:
        case Limited(pace=pace, wait=wait):
            seconds = max(1, -(-wait // 1_000_000))
            policy, state = f'"{pace.name}";q={pace.burst};w={pace.window}', f'"{pace.name}";r=0;t={seconds}'
            return {"Retry-After": str(seconds), "RateLimit-Policy": policy, "RateLimit": state}
        case TooManyOfOne(most=most):
            policy = f'"streams";q={most};qu="concurrent-requests"'
            return {"RateLimit-Policy": policy, "RateLimit": '"streams";r=0'}
    return {}


def _rule(error: Exception) -> RuleError | None:
    """Return the refusal by the rules in an exception, if it is one."""
    match error:
        case sessions.Refused(illegal=rule) | sessions.Forbidden(refusal=rule):
            return rule
        case Illegal():
            return error
    return None


def _game(error: Exception) -> str | None:
    """Return the game that a refusal is about, where that is known: what a program got wrong is about none."""
    if isinstance(error, (sessions.Refused, sessions.Forbidden, sessions.VersionMismatch)):
        return error.seen.record.position.game
    return (request.view_args or {}).get("game") if isinstance(error, Illegal) else None


def _faults(error: Exception) -> dict[str, Any]:
    """Return the fields that are at fault, where there are some."""
    match error:
        case Unprocessable(faults=faults, where=where):
            found = [{where: name, "detail": detail} for name, detail in faults.items()]
        case Invalid(pointer=pointer, detail=detail):
            found = [{"pointer": pointer, "detail": detail}]
        case NotAnObject():
            found = [{"pointer": "", "detail": "The body must be an object."}]
        case _:
            return {}
    return {"errors": found}


def _http(error: HTTPException) -> Response:
    """Answer what routing and reading refuse; a 405 keeps its Allow."""
    kind = HTTP_KINDS.get(error.code or 500)
    if kind is None:
        return _unknown(error)
    allow = {name: value for name, value in error.get_headers() if name == "Allow"}
    return _answer(kind, _what_there_is(error), allow, {})


def _what_there_is(error: HTTPException) -> str:
    """Return which methods this address takes, or which verbs a session has, where another was asked for."""
    match error:
        case MethodNotAllowed(valid_methods=methods) if methods:
            asks = sorted(set(methods) - {"HEAD", "OPTIONS"}) or sorted(methods)
            return f"Use {' or '.join(asks)} here, not {request.method}."
        case NotFound() if _OF_A_SESSION.fullmatch(request.path):
            return f"A session has {', '.join(PARTS)} and the verbs {', '.join(VERBS)}."
        case NotFound():
            return "The contract is at /openapi.yaml, the games are at /v1/games."
    return ""


def _unknown(error: Exception) -> Response:
    """Answer a fault of our own; what it was is for the log only."""
    log.error("internal-error", request_id=g.get("request_id"), exc_info=error)
    return _answer(INTERNAL, "", {}, {})


def _answer(
    kind: Kind, detail: str, headers: Mapping[str, str], extra: Mapping[str, Any], known: Dictionary = _NO_WORDS
) -> Response:
    """Return the problem document, its title and the house's own sentences said by a dictionary."""
    g.code = kind.code
    errors = extra.get("errors", ())
    summary = "; ".join(f"{_place(each)}: {each['detail']}" for each in errors)
    document = {
        "type": f"urn:croupier:problem:{kind.code}",
        "title": said(kind.title, known),
        "status": kind.status,
        "detail": summary or said(DETAILS.get(kind.code, ""), known) or detail or kind.title,
        "instance": request.path,
        "code": kind.code,
        **extra,
    }
    body = views.encode(document)
    return Response(body, kind.status, {**_ALWAYS, **headers}, content_type=MEDIA_TYPE)


def _place(fault: Mapping[str, str]) -> str:
    return next(value or "the body" for name, value in fault.items() if name != "detail")
