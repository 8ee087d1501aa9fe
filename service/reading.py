"""What a request says: its token, body, query and headers, read one by one and refused with a reason."""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qs

import flask
from flask import current_app, g, request
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from engine.games import GAMES
from service import schemas
from service.body import MOST_BYTES, an_object, parse
from service.problems import NotAcceptable, UnknownGame
from service.schemas import Unprocessable
from service.sessions import Request, Sessions, UnknownSession

_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_OUR_TAG = re.compile(r'(?:W/)?"(\d{1,20})\.[^"]*"', re.ASCII)
_CURSOR = re.compile(r"[0-9]{13}[A-Za-z0-9_-]{22}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)


def here() -> flask.Request:
    """Return the request at hand itself: every look at Flask's stand-in for it costs as much as a dict's."""
    found: flask.Request = cast("Any", request)._get_current_object()  # noqa: SLF001 - as Flask's documentation has it
    return found


def sessions() -> Sessions:
    """Return the sessions for this request, whose time begins when they are first asked for: its body is read then."""
    found: Sessions | None = g.get("sessions")
    if found is None:
        g.sessions = found = current_app.extensions["sessions"]()
    return found


def game_named(game: str) -> str:
    """Return the game's name; raise `UnknownGame` where there is none."""
    if game not in GAMES:
        raise UnknownGame
    return game


def session_id(session: str) -> str:
    """Return the session id, before any key is made of it."""
    if not _ID.fullmatch(session):
        raise UnknownSession
    g.session = session
    return session


def token() -> str | None:
    """Return the bearer token, if one is given: nothing stands for credentials of another form."""
    given = header("Authorization")
    if given is None:
        return None
    scheme, _, secret = given.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def accepted(*offered: str) -> str:
    """Return the representation that the client likes best, by default the first."""
    if (header("Accept") or "") in ("", "*/*", offered[0]):
        return offered[0]
    # A parameter, such as a charset, is no reason to send nothing at all.
    ranges = MIMEAccept((kind.partition(";")[0], quality) for kind, quality in request.accept_mimetypes)
    best = ranges.best_match([each.split(";")[0] for each in offered])
    if best is None:
        raise NotAcceptable(offered)
    return next(each for each in offered if each.startswith(best))


def query(**readers: Callable[[str], Any]) -> dict[str, Any]:
    """Return the parameters that are given; raise `Unprocessable` for one unknown, unreadable or given twice."""
    found: dict[str, Any] = {}
    if not request.environ.get("QUERY_STRING"):
        return found
    for name, values in _parameters().items():
        if name not in readers:
            raise Unprocessable({name: "There is no such parameter."}, "parameter")
        if len(values) > 1:
            raise Unprocessable({name: "Given more than once."}, "parameter")
        try:
            found[name] = readers[name](values[0])
        except ValueError as error:
            raise Unprocessable({name: str(error)}, "parameter") from None
    return found


def parameter(name: str) -> str | None:
    """Return a parameter before the query is checked, if it is given."""
    return _parameters().get(name, [None])[0]


def _parameters() -> dict[str, list[str]]:
    return parse_qs(request.query_string.decode(errors="replace"), keep_blank_values=True)


def flag(text: str) -> bool:
    """Read a parameter that is true or false."""
    if text not in ("true", "false"):
        raise ValueError("Must be true or false.")
    return text == "true"


def number(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers, in ASCII digits."""

    def read(text: str) -> int:
        if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
            raise ValueError(f"Must be a whole number from {least} to {most}.")
        return int(text)

    return read


def cursor(text: str) -> str:
    """Read where a page of the lobby begins, as the page before it said."""
    if not _CURSOR.fullmatch(text):
        raise ValueError("Must be the `next` of an earlier page.")
    return text


def nothing(given: Any) -> None:  # noqa: ANN401 - any JSON
    """Refuse a query, and a body that holds anything."""
    query()
    if an_object(given):
        raise Unprocessable({f"/{name}": "Unknown field." for name in given})


def body() -> Any:  # noqa: ANN401 - any JSON
    """Return the body's JSON; one that is larger or shorter than it may be is not looked at."""
    asked = here()
    raw = asked.get_data(cache=True)
    if len(raw) > MOST_BYTES:
        raise RequestEntityTooLarge
    if asked.content_length not in (None, len(raw)):
        raise BadRequest
    return parse(raw, header("Content-Type"))


def action(verb: str) -> Request:
    """Return what the request asks for; nothing of the body but its JSON is checked yet."""
    given = body()
    key = header("Idempotency-Key")
    return Request(
        verb=verb,
        token=token(),
        body=lambda game: _action_body(game, verb, given, key),
        key=key if key and _KEY.fullmatch(key) else None,
        digest=_digest() if key else b"",
        matches=if_match(),
    )


def header(name: str) -> str | None:
    """Return a header of the request, if it is given: straight from where the server put it."""
    given: str | None = request.environ.get(_as_environ(name))
    return given


@cache
def _as_environ(name: str) -> str:
    """Return how a server calls a header that a client sends."""
    return ("" if name == "Content-Type" else "HTTP_") + name.upper().replace("-", "_")


def _action_body(game: str, verb: str, body: Any, key: str | None) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a verb's checked body; the query and the key are checked with it."""
    query()
    if key is not None and not _KEY.fullmatch(key):
        fault = "A key has 1 to 64 of A-Z, a-z, 0-9, _ and -."
        raise Unprocessable({"Idempotency-Key": fault}, "header")
    return schemas.verb_body(game, verb, an_object(body))


def if_match() -> Callable[[int], bool]:
    """Return what If-Match says of a version: without it every one will do."""
    given = header("If-Match")
    if given is None or given.strip() == "*":
        return lambda _version: True
    versions = {int(found) for found in _OUR_TAG.findall(given)}
    return versions.__contains__


def _digest() -> bytes:
    """Return a hash of what makes two requests the same: method, path, query, body."""
    asked = here()
    parts = (asked.method.encode(), asked.path.encode(), asked.query_string)
    head = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(head + asked.get_data(cache=True)).digest()
