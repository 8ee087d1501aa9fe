"""What comes in, as marshmallow schemas: strict, each made once.

Those of a game's verbs and options are made from what its spec states.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

from marshmallow import Schema, ValidationError, fields, validate

from engine.fields import Amount, Choice, Field, Positions, Shape, Text
from engine.games import GAMES
from engine.play import COMMON_VERBS

MOST_NAME = 32
UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that Unicode draws as nothing."""


class Unprocessable(Exception):
    """A body or query that does not fit; `faults` maps JSON pointers to what is wrong."""

    def __init__(self, faults: Mapping[str, str], where: str = "pointer") -> None:
        super().__init__()
        self.faults = faults
        self.where = where


class StrictBoolean(fields.Field[bool]):
    """A JSON boolean: no word and no number stands for one."""

    def _deserialize(self, value: object, *_args: object, **_kwargs: object) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("Not a valid boolean.")
        return value


def _different(positions: list[int]) -> None:
    if len(set(positions)) != len(positions):
        raise ValidationError("The positions must be different.")


def _bytes_at_most(most: int, text: str) -> None:
    if len(text.encode()) > most:
        raise ValidationError(f"Longer than {most} bytes of UTF-8.")


def _a_name(name: str) -> None:
    """Refuse names that do not show, or show as another: 1 to 32 characters, NFC."""
    if not 1 <= len(name) <= MOST_NAME:
        raise ValidationError(f"A name has 1 to {MOST_NAME} characters.")
    if unicodedata.normalize("NFC", name) != name:
        raise ValidationError("A name must be in Unicode's normal form C.")
    if any(unicodedata.category(sign) in UNSEEN or sign in BLANKS for sign in name) or name != name.strip():
        raise ValidationError("A name shows: no control, format or line characters, no blanks around it.")


def _marshmallow(field: Field, *, required: bool) -> fields.Field[Any]:
    """Return the schema field for what the engine states."""
    match field:
        case Amount(least=least, most=most):
            in_range = validate.Range(least, most)
            return fields.Integer(strict=True, required=required, validate=in_range)
        case Choice(values=values):
            kind = StrictBoolean if isinstance(values[0], bool) else fields.String
            words = [str(value).lower() if isinstance(value, bool) else value for value in values]
            return kind(
                required=required, validate=validate.OneOf(values, error=f"Must be one of: {', '.join(words)}.")
            )
        case Positions(among=among, least=least, most=most):
            inner = fields.Integer(strict=True, validate=validate.OneOf(among))
            length = validate.Length(least, most)
            return fields.List(inner, required=required, validate=[length, _different])
        case Text(most_bytes=most):
            check = partial(_bytes_at_most, most)
            return fields.String(required=required, validate=check)


def _body(shape: Shape) -> Schema:
    """Return the schema of a verb's body."""
    made = {each.name: _marshmallow(each, required=each.required) for each in shape.fields}
    return Schema.from_dict(made)()


def _options(game: str) -> Schema:
    """Return the schema of a game's options: each may be left out."""
    options = GAMES[game].spec.options.options
    made = {each.name: _marshmallow(each.field, required=False) for each in options}
    return Schema.from_dict(made)()


class CreateSchema(Schema):
    """The body of a create; the options are checked by the game's own schema."""

    game = fields.String(required=True, validate=validate.OneOf(list(GAMES)))
    options = fields.Dict(load_default=dict)
    seats = fields.List(fields.String(validate=_a_name))


class EvaluateSchema(Schema):
    """The body of a stateless evaluate."""

    cards = fields.List(fields.String(), required=True)
    options = fields.Dict(load_default=dict)


_CREATE, _EVALUATE = CreateSchema(), EvaluateSchema()
_OPTIONS = {game: _options(game) for game in GAMES}
_VERBS = {
    (slug, verb): [_body(shape) for shape in shapes]
    for slug, game in GAMES.items()
    for verb, shapes in (game.spec.verbs | COMMON_VERBS).items()
}


def verb_body(game: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the checked body of a verb; of several shapes the one most like it judges.

    A verb that the game does not have takes any body: the rules refuse it with a better reason.
    """
    shapes = _VERBS.get((game, verb))
    if shapes is None:
        return body
    return _loaded(max(shapes, key=lambda shape: len(shape.fields.keys() & body.keys())), body)


def create_body(body: dict[str, Any]) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Return the game, its checked options and the names of the seats."""
    made = _loaded(_CREATE, body)
    spec = GAMES[made["game"]].spec
    least, most = spec.seats
    names = tuple(made.get("seats", [f"Player {seat + 1}" for seat in range(least)]))
    if not least <= len(names) <= most:
        raise Unprocessable({"/seats": f"This game has {least} to {most} seats."})
    return spec.slug, _loaded(_OPTIONS[spec.slug], made["options"], "/options"), names


def evaluate_body(game: str, body: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the cards and the checked options that they are to be judged by."""
    made = _loaded(_EVALUATE, body)
    return tuple(made["cards"]), _loaded(_OPTIONS[game], made["options"], "/options")


def _loaded(schema: Schema, body: dict[str, Any], under: str = "") -> dict[str, Any]:
    """Load a body; raise `Unprocessable` with a pointer for every fault."""
    try:
        return cast("dict[str, Any]", schema.load(body))
    except ValidationError as error:
        raise Unprocessable(dict(_faults(error.messages, under))) from None


def _faults(messages: Any, pointer: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - nested
    """Yield a JSON pointer (RFC 6901) and a sentence for each of marshmallow's messages."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            step = str(name).replace("~", "~0").replace("/", "~1")
            yield from _faults(inner, f"{pointer}/{step}")
    else:
        yield pointer, " ".join(messages)
