"""The body guard: bytes in, a JSON object out, and a clear refusal for everything else."""

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

MOST_BYTES = 16 * 1024
MOST_LEVELS = 32
MOST_DIGITS = 20

# A string that nobody closes matches too: searching for its end from every quote would take seconds.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Malformed(Exception):
    """The body is no JSON that this service reads; the message says why."""


class WrongMediaType(Exception):
    """The body is not `application/json` in UTF-8."""


class NotAnObject(Exception):
    """The body is JSON, and no object."""


def is_json(content_type: str) -> bool:
    """Return whether a Content-Type names JSON in UTF-8."""
    kind, _, parameters = content_type.lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    return kind.strip() == "application/json" and charset in {"", "charset=utf-8"}


def parse(raw: bytes, content_type: str | None) -> Any:  # noqa: ANN401 - any JSON
    """Return the body's JSON, and an empty object for an empty body.

    Raises WrongMediaType, Malformed.
    """
    if not raw:
        return {}
    if content_type is None or not is_json(content_type):
        raise WrongMediaType
    return _value(raw)


def an_object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a body that is an object; raise `NotAnObject` for another."""
    if not isinstance(value, dict):
        raise NotAnObject
    return value


def _value(raw: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON value, with every limit kept."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Malformed("The body is not UTF-8.") from None
    if _levels(text) > MOST_LEVELS:
        raise Malformed(f"The body is nested more than {MOST_LEVELS} levels deep.")
    try:
        value = _DECODE(text)
    except ValueError as error:
        raise Malformed(f"The body is not JSON: {error}.") from None
    if _ESCAPED_SURROGATE.search(text):
        _refuse_lone_surrogates(value)
    return value


def _levels(text: str) -> int:
    """Return how deep arrays and objects are nested; what is inside strings does not count."""
    deepest = depth = 0
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return 0
    for sign in _STRINGS.sub("", text):
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; a name given twice is refused, since either could be meant."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("A name occurs twice in one object.")
    return found


def _number(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader of numbers that refuses those with too many digits."""

    def guarded(text: str) -> Any:  # noqa: ANN401 - an int or a float
        if len(text) > MOST_DIGITS and sum(map(str.isdigit, text)) > MOST_DIGITS:
            raise Malformed(f"A number has more than {MOST_DIGITS} digits.")
        return read(text)

    return guarded


def _constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is not JSON.")


def _refuse_lone_surrogates(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Refuse text that no encoding can carry on."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Malformed("A string holds half a surrogate pair.") from None


_DECODE = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=_number(int),
    parse_float=_number(float),
    parse_constant=_constant,
).decode
