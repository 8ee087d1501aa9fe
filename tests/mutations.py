"""What a seat may try: nearly right bodies, and actions that are not now or not here."""

from collections.abc import Iterator
from random import Random
from typing import Any

from engine import play
from engine.fields import Amount, Body, Choice, Field, Group, Name, Positions, Text
from engine.game import Action, Offer
from engine.games import GAMES
from tests.rounds import body_of, dice

NO_VERBS = ("", "cheat", "DEAL", "leave ", "join", "delete", "__init__", "score")
"""Verbs that no game has."""

OTHERS: tuple[Any, ...] = (None, True, False, 0, -1, 0.5, "0", "", [], [0], {}, 10**20)
"""Values of every type; no `5.0`, which is an integer to a schema and none to the contract."""


def tried_actions(position: play.Position, seat: int, seed: int) -> Iterator[Action]:
    """Yield what a seat may try: spoilt examples, bodies within the fixed bounds, verbs of elsewhere."""
    random, spec = dice(seed), GAMES[position.game].spec
    for offer in play.offers(position, seat):
        for body in wrong_bodies(offer, random):
            yield Action(offer.verb, body)
    for verb, shapes in (spec.verbs | play.COMMON_VERBS).items():
        for shape in shapes:
            yield Action(verb, body_of(shape, random))
    for other in GAMES.values():
        for verb, shapes in other.spec.verbs.items():
            yield Action(verb, body_of(shapes[0], random))
    for verb in NO_VERBS:
        yield Action(verb)


def wrong_bodies(offer: Offer, random: Random) -> Iterator[dict[str, Any]]:
    """Yield bodies near the example: a field more, a field less, a field spoilt; a few may still be right."""
    example = offer.example
    yield example | {"extra": random.choice(OTHERS)}
    yield {"": 0} | example
    for field in offer.shape.fields:
        yield _without(example, field.name)
        yield _without(example, field.name) | {field.name.upper(): example.get(field.name, 0)}
        for value in (*_beside(field), random.choice(OTHERS), random.choice(OTHERS)):
            yield example | {field.name: value}


def _without(body: Body, name: str) -> dict[str, Any]:
    return {each: value for each, value in body.items() if each != name}


def _beside(field: Field) -> tuple[Any, ...]:
    """Return values just outside what the field takes."""
    match field:
        case Amount(least=least, most=most):
            return least - 1, most + 1, str(least), least + 0.5, [least]
        case Choice(values=values):
            return str(values[0]).upper(), [values[0]], f"{values[-1]} ", int(values[0] == values[-1])
        case Positions():
            return _beside_positions(field)
        case Text(most_bytes=most):
            return "x" * (most + 1), "x" * 10_000, 5, ["x"]
        case Name():
            return "", "x" * 33, "\n", 5, ["x"]
        case Group(shape=shape):
            inner = {each.name: _beside(each)[1] for each in shape.fields}
            return {}, inner, inner | {"extra": 0}, [inner]


def _beside_positions(field: Positions) -> tuple[Any, ...]:
    """Return lists with a position too many, too few, twice, from elsewhere or of another type."""
    right = list(field.among[: field.most])
    outside = max(field.among) + 1
    wrong: list[Any] = [
        [*field.among[: field.most + 1], outside][: field.most + 1],
        [*right[:-1], outside],
        [*right[:-1], -1],
        [*right[:-1], *right[:1], *right[:1]][: max(2, field.most)],
        [*right[:-1], str(right[-1])],
        [*right[:-1], right[-1] + 0.5],
        [*right[:-1], True],
        [*right[:-1], [right[-1]]],
        {"0": right},
    ]
    return (*wrong, right[: field.least - 1]) if field.least else tuple(wrong)
