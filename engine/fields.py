"""Fields: what a body may hold, stated as data: for offers, for options and for the fixed bounds."""

import unicodedata
from collections.abc import Mapping
from itertools import pairwise, starmap
from math import inf
from typing import Any

from msgspec import Struct, field

from engine.shuffle import CLIENT_SEED_BYTES

MOST_NAME = 32

_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_VARIANTS = ("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef")
"""The first and last of the signs that only choose how the one before them is drawn."""
_MARKS = ("Mn", "Me")
MOST_MARKS = 4
"""How many marks a name may pile on one letter."""

_JSON_TYPES = {bool: "boolean", int: "integer", str: "string"}

Schema = dict[str, Any]
Body = Mapping[str, Any]


class Amount(Struct, frozen=True):
    """An integer from `least` to `most`."""

    name: str
    least: int
    most: int
    required: bool = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if type(value) is int and self.least <= value <= self.most:
            return None
        if self.least == self.most:
            return f"{self.name} must be {self.least}"
        return f"{self.name} must be an integer from {self.least} to {self.most}"

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Choice(Struct, frozen=True):
    """One of a few values, all of one type."""

    name: str
    values: tuple[str, ...] | tuple[bool, ...] | tuple[int, ...]
    required: bool = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if any(type(value) is type(other) and value == other for other in self.values):
            return None
        return f"{self.name} must be {_listed(self.values)}"

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""
        return {"type": _JSON_TYPES[type(self.values[0])], "enum": list(self.values)}


class Positions(Struct, frozen=True):
    """From `least` to `most` different positions, each one of `among` (C-2)."""

    name: str
    among: tuple[int, ...]
    least: int
    most: int

    required = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if (
            isinstance(value, (list, tuple))
            and self.least <= len(value) <= self.most
            and all(type(position) is int and position in self.among for position in value)
            and len(set(value)) == len(value)
        ):
            return None
        count = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.name} must be {count} different positions out of {_listed(self.among)}"

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""
        return {
            "type": "array",
            "items": {"type": "integer", "enum": list(self.among)},
            "minItems": self.least,
            "maxItems": self.most,
            "uniqueItems": True,
        }


class Text(Struct, frozen=True):
    """Text of at most `most_bytes` bytes of UTF-8."""

    name: str
    most_bytes: int
    required: bool = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if isinstance(value, str) and _utf8_bytes(value) <= self.most_bytes:
            return None
        return f"{self.name} must be text of at most {self.most_bytes} bytes of UTF-8"

    def schema(self) -> Schema:
        """Return the JSON Schema of the value; a schema counts characters, the rule bytes."""
        return {"type": "string", "maxLength": self.most_bytes}


class Name(Struct, frozen=True):
    """A name that shows: 1 to 32 characters in NFC, none of them control or format."""

    name: str
    required: bool = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if not isinstance(value, str) or not 1 <= len(value) <= MOST_NAME:
            return f"{self.name} must be text of 1 to {MOST_NAME} characters"
        if unicodedata.normalize("NFC", value) != value:
            return f"{self.name} must be in Unicode's normal form C"
        if value != value.strip() or any(starmap(_unseen, pairwise(f" {value}"))) or _piled(value):
            return (
                f"{self.name} must show: no control, format or line characters, no blanks around it, "
                f"no mark without a letter and at most {MOST_MARKS} on one"
            )
        return None

    def schema(self) -> Schema:
        """Return the JSON Schema of the value; which characters it takes is for the rule to say."""
        return {"type": "string", "minLength": 1, "maxLength": MOST_NAME}


class Group(Struct, frozen=True):
    """An object with fields of its own; nothing else may be in it."""

    name: str
    shape: "Shape"
    required: bool = True

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing."""
        if not isinstance(value, Mapping):
            return f"{self.name} must be an object"
        found = self.shape.objection(value)
        return found and f"{self.name}.{found}"

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""
        return self.shape.schema()


Field = Amount | Choice | Positions | Text | Name | Group

CLIENT_SEED = Text("client_seed", CLIENT_SEED_BYTES, required=False)


class Shape(Struct, frozen=True):
    """The fields of one body; nothing else may be in it."""

    fields: tuple[Field, ...] = ()

    def objection(self, body: Body) -> str | None:
        """Return what is wrong with the body, or nothing."""
        known = {each.name for each in self.fields}
        for name in body:
            if name not in known:
                return f"{name} is not asked for"
        for each in self.fields:
            if each.name not in body:
                if each.required:
                    return f"{each.name} is missing"
            elif found := each.objection(body[each.name]):
                return found
        return None

    def schema(self) -> Schema:
        """Return the JSON Schema of the body, closed."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.fields},
            "required": [each.name for each in self.fields if each.required],
            "additionalProperties": False,
        }


class Option(Struct, frozen=True):
    """A house rule that people vary: fixed when a session is created; the default `None` means without it."""

    field: Field
    default: Any
    help: str

    @property
    def name(self) -> str:
        """Return the option's name."""
        return self.field.name

    def objection(self, value: object) -> str | None:
        """Return what is wrong with the value, or nothing; an option that may be left out may be `None`."""
        return None if value is None and self.default is None else self.field.objection(value)

    def schema(self) -> Schema:
        """Return the JSON Schema of the value, with its default if there is one, and what it means."""
        default = {} if self.default is None else {"default": self.default}
        return self.field.schema() | default | {"description": self.help}


class Options(Struct, frozen=True):
    """All options of a game, in order."""

    options: tuple[Option, ...] = field(default=())

    def filled(self, given: Body) -> dict[str, Any]:
        """Return the given options with the defaults of those left out."""
        return {each.name: each.default for each in self.options} | dict(given)

    def schema(self) -> Schema:
        """Return the JSON Schema of the options, with their defaults and what they mean."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.options},
            "additionalProperties": False,
        }


def _unseen(before: str, sign: str) -> bool:
    """Return whether a character draws nothing, or what no font knows; a symbol may be drawn in colour."""
    first, last, more, most = _VARIANTS
    if first <= sign <= last or more <= sign <= most:
        return sign != last or unicodedata.category(before) != "So"
    return unicodedata.category(sign) in _UNSEEN or sign in _BLANKS


def _piled(text: str) -> bool:
    """Return whether a text begins with a mark, or has more than a few of them on one letter."""
    marks = MOST_MARKS
    for sign in text:
        marks = marks + 1 if unicodedata.category(sign) in _MARKS else 0
        if marks > MOST_MARKS:
            return True
    return False


def _utf8_bytes(text: str) -> float:
    """Return how many bytes a text has in UTF-8, without end for one that has no UTF-8 (a lone surrogate)."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return inf


def _listed(values: tuple[Any, ...]) -> str:
    """Return the values as English names them: `a`, `a or b`, `0 to 4`, `1, 3 or 4`."""
    numbers = all(type(value) is int for value in values)
    if numbers and len(values) > 1 and values == tuple(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    words = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
