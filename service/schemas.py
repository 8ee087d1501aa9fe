"""What comes in, as marshmallow schemas: strict, each made once.

Those of a game's verbs and options are made from what its spec states.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from marshmallow import Schema, ValidationError, fields, validate

from engine.advice import BOTS
from engine.fields import Amount, Choice, Field, Group, Name, Positions, Shape, Text
from engine.game import LEVELS, PERSON
from engine.games import GAMES
from engine.play import BOT, COMMON_VERBS, OPEN, SEAT_VERBS, Seat


class Unprocessable(Exception):
    """A body or query that does not fit; `faults` maps JSON pointers to what is wrong."""

    def __init__(self, faults: Mapping[str, str], where: str = "pointer") -> None:
        super().__init__()
        self.faults = faults
        self.where = where


WHOLE: dict[str, Any] = {"invalid": "Must be a whole number: digits alone, without quotes."}


class StrictBoolean(fields.Field[bool]):
    """A JSON boolean: no word and no number stands for one."""

    def _deserialize(self, value: object, *_args: object, **_kwargs: object) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("Must be true or false, without quotes.")
        return value


_KINDS: dict[type, Callable[..., fields.Field[Any]]] = {
    bool: StrictBoolean,
    int: partial(fields.Integer, strict=True, error_messages=WHOLE),
    str: fields.String,
}


def _different(positions: list[int]) -> None:
    if len(set(positions)) != len(positions):
        raise ValidationError("Each position may be named once.")


def _bytes_at_most(most: int, text: str) -> None:
    if (length := len(text.encode())) > most:
        raise ValidationError(f"Must be at most {most} bytes of UTF-8; this is {length}.")


def _fits(field: Field, value: object) -> None:
    """Refuse what the engine objects to."""
    if found := field.objection(value):
        raise ValidationError(f"{found[0].upper()}{found[1:]}.")


def _marshmallow(field: Field, *, required: bool) -> fields.Field[Any]:
    """Return the schema field for what the engine states."""
    match field:
        case Amount(least=least, most=most):
            in_range = validate.Range(least, most)
            return fields.Integer(strict=True, error_messages=WHOLE, required=required, validate=in_range)
        case Choice(values=values):
            kind = _KINDS[type(values[0])]
            words = ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
            return kind(required=required, validate=validate.OneOf(values, error=f"Must be one of: {words}."))
        case Positions(among=among, least=least, most=most):
            inner = fields.Integer(strict=True, error_messages=WHOLE, validate=validate.OneOf(among))
            length = validate.Length(least, most)
            return fields.List(inner, required=required, validate=[length, _different])
        case Text(most_bytes=most):
            check = partial(_bytes_at_most, most)
            return fields.String(required=required, validate=check)
        case Name():
            return fields.String(required=required, validate=partial(_fits, field))
        case Group(shape=shape):
            return fields.Nested(_body(shape), required=required)


def _helpful(schema: Schema) -> Schema:
    """Return a schema that tells whoever sends another field which there are."""
    names = list(schema.fields)
    there = "is none" if not names else f"is {names[0]}" if len(names) == 1 else f"are {', '.join(names)}"
    schema.error_messages["unknown"] = f"There is no such field here; there {there}."
    return schema


def _schema(made: Mapping[str, fields.Field[Any]]) -> Schema:
    """Return a schema of these fields."""
    return _helpful(Schema.from_dict(dict(made))())


def _body(shape: Shape) -> Schema:
    """Return the schema of a verb's body."""
    return _schema({each.name: _marshmallow(each, required=each.required) for each in shape.fields})


def _options(game: str) -> Schema:
    """Return the schema of a game's options: each may be left out."""
    options = GAMES[game].spec.options.options
    return _schema({each.name: _marshmallow(each.field, required=False) for each in options})


class SeatField(fields.Field[Seat]):
    """A seat as a create asks for it: a name, `{"open": true}`, or `{"bot": level}`."""

    _name = fields.String(validate=partial(_fits, Name("name")))
    _other = (_body(Shape((Choice("open", (True,)),))), _body(Shape((Choice("bot", LEVELS),))))

    def _deserialize(self, value: object, *_args: object, **_kwargs: object) -> Seat:
        if isinstance(value, str):
            return Seat(self._name.deserialize(value))
        if not isinstance(value, dict):
            raise ValidationError('A seat is a name, {"open": true} or {"bot": level}.')
        asked = _likeliest(self._other, value).load(value)
        return Seat(None, OPEN) if "open" in asked else Seat(None, BOT, asked["bot"])


class CreateSchema(Schema):
    """The body of a create; the options are checked by the game's own schema."""

    game = fields.String(required=True, validate=validate.OneOf(list(GAMES)))
    options = fields.Dict(load_default=dict)
    seats = fields.List(SeatField())
    visibility = fields.String(load_default="unlisted", validate=validate.OneOf(["unlisted", "public"]))


class EvaluateSchema(Schema):
    """The body of a stateless evaluate."""

    cards = fields.List(fields.String(), required=True)
    options = fields.Dict(load_default=dict)


def _one_of_several(shapes: tuple[Shape, ...]) -> list[Schema]:
    """Return the schemas of a verb's bodies; whoever mixes them up is told that one alone is to be sent."""
    made = [_body(shape) for shape in shapes]
    bodies = " or ".join(
        f"{{{', '.join(_written(each) for each in shape.fields if each.required)}}}" for shape in shapes
    )
    for schema in made if len(made) > 1 else ():
        schema.error_messages["unknown"] = f"Send {bodies}."
        for each in schema.fields.values():
            # A field's message is a template of its own.
            each.error_messages["required"] = f"Send {bodies}.".replace("{", "{{").replace("}", "}}")
    return made


def _written(field: Field) -> str:
    """Return a field as it stands in a body; a value that there is but one of is named."""
    match field:
        case Choice(values=(only,)):
            return f'"{field.name}": {json.dumps(only)}'
    return f'"{field.name}": …'


_CREATE, _EVALUATE = _helpful(CreateSchema()), _helpful(EvaluateSchema())
_OPTIONS = {game: _options(game) for game in GAMES}
_VERBS = {
    (slug, verb): shapes
    for slug, game in GAMES.items()
    for verb, shapes in (game.spec.verbs | COMMON_VERBS | SEAT_VERBS).items()
}
_BODIES = {named: _one_of_several(shapes) for named, shapes in _VERBS.items()}


class Create(NamedTuple):
    """What a create asks for."""

    game: str
    options: dict[str, Any]
    seats: tuple[Seat, ...]
    public: bool


def verb_body(game: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the checked body of a verb; of several shapes the one most like it says what is wrong.

    A verb that the game does not have takes any body: the rules refuse it with a better reason.
    """
    shapes = _VERBS.get((game, verb))
    if shapes is None or any(shape.objection(body) is None for shape in shapes):
        return body
    return _loaded(_likeliest(_BODIES[game, verb], body), body)


def create_body(body: dict[str, Any]) -> Create:
    """Return what a create asks for; seats left out are the least of a solo game, else one person's and open ones."""
    made = _loaded(_CREATE, body)
    spec = GAMES[made["game"]].spec
    least, most = spec.seats
    seats = made.get("seats", [Seat(None)] + [Seat(None, OPEN)] * (most - 1))
    if not least <= len(seats) <= most:
        raise Unprocessable({"/seats": f"This game has {least} to {most} seats."})
    if spec.slug not in BOTS and any(seat.kind == BOT for seat in seats):
        raise Unprocessable({"/seats": "This game has no bots."})
    options = _loaded(_OPTIONS[spec.slug], made["options"], "/options")
    named = tuple(_named(seat, number) for number, seat in enumerate(seats, start=1))
    return Create(spec.slug, options, named, made["visibility"] == "public")


def _named(seat: Seat, number: int) -> Seat:
    """Return the seat with a name where it has none and somebody holds it."""
    names = {PERSON: f"Player {number}", BOT: f"Bot {number}"}
    return Seat(seat.name or names.get(seat.kind), seat.kind, seat.level)


def _likeliest(shapes: Sequence[Schema], body: dict[str, Any]) -> Schema:
    """Return the shape that has most of the body's names."""
    return max(shapes, key=lambda shape: len(shape.fields.keys() & body.keys()))


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
