"""Fields: what they object to, and that the JSON Schemas which clients read object to the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from engine import play
from engine.fields import Amount, Body, Choice, Field, Group, Option, Options, Positions, Shape, Text
from engine.game import Invalid
from engine.games import GAMES
from tests.strategies import AWKWARD, attempts, bodies, fields, values

NAMES = ("field", "one", "other")


def admits(schema: dict[str, Any], value: object) -> bool:
    """Return whether the schema, read by an independent validator, admits a value."""
    return Draft202012Validator(schema).is_valid(value)


def is_counted_otherwise(field: Field, value: object) -> bool:
    """Return whether it is the stated exception: a schema counts characters of a text, the rule bytes."""
    return isinstance(field, Text) and isinstance(value, str) and not value.isascii()


@given(fields().flatmap(lambda field: st.tuples(st.just(field), attempts(field))))
def test_a_field_objects_to_what_its_schema_refuses(pair: tuple[Field, Any]) -> None:
    """A value has an objection exactly when the field's JSON Schema refuses it."""
    field, value = pair
    if not is_counted_otherwise(field, value):
        assert (field.objection(value) is None) == admits(field.schema(), value)


@given(fields().flatmap(lambda field: st.tuples(st.just(field), values(field))))
def test_what_a_field_takes_its_schema_admits(pair: tuple[Field, Any]) -> None:
    """The schema admits whatever the field takes, texts of any script included."""
    field, value = pair
    assert field.objection(value) is None
    assert admits(field.schema(), value)


@st.composite
def shapes_and_bodies(draw: st.DrawFn) -> tuple[Shape, Body]:
    """Return a shape and a body for it: good, or with a field left out, put in or spoilt."""
    named = [
        draw(fields().map(lambda field, name=name: type(field)(name, *_rest(field))))  # type: ignore[misc]
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True))
    ]
    shape = Shape(tuple(named))
    body = draw(bodies(shape))
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        body.pop(name, None)
    spoilt = draw(st.dictionaries(st.sampled_from((*NAMES, "", "more")), AWKWARD, max_size=1))
    return shape, body | spoilt


def _rest(field: Field) -> list[Any]:
    """Return all but the name that a field is made of."""
    return [getattr(field, name) for name in field.__struct_fields__[1:]]


@given(shapes_and_bodies())
def test_a_shape_objects_to_what_its_schema_refuses(pair: tuple[Shape, Body]) -> None:
    """A body has an objection exactly when the shape's JSON Schema refuses it."""
    shape, body = pair
    if not any(is_counted_otherwise(field, body.get(field.name)) for field in shape.fields):
        assert (shape.objection(body) is None) == admits(shape.schema(), dict(body))


@pytest.mark.parametrize("slug", GAMES)
@given(data=st.data())
def test_options_are_refused_as_their_schema_refuses_them(slug: str, data: st.DataObject) -> None:
    """Options are taken exactly when the JSON Schema in the game's info admits them."""
    options = GAMES[slug].spec.options
    given_options = {
        option.name: data.draw(attempts(option.field)) for option in options.options if data.draw(st.booleans())
    }
    # An option that was left out is written down as nothing, and read back so: no schema need admit that.
    for option in options.options:
        if option.default is None and given_options.get(option.name, 0) is None:
            del given_options[option.name]
    given_options |= data.draw(st.dictionaries(st.sampled_from(("", "more")), AWKWARD, max_size=1))
    if admits(options.schema(), given_options):
        defaults = {option.name: option.default for option in options.options}
        assert play.chosen_options(slug, given_options) == defaults | given_options
    else:
        with pytest.raises(Invalid) as refused:
            play.chosen_options(slug, given_options)
        assert refused.value.pointer.removeprefix("/options/") in given_options


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Amount("n", 0, 9), True),
        (Amount("n", 0, 9), 5.0),
        (Amount("n", 0, 9), "5"),
        (Amount("n", 0, 9), -1),
        (Amount("n", 0, 9), 10),
        (Amount("n", 0, 9), None),
        (Choice("b", (True,)), 1),
        (Choice("b", (False, True)), 0),
        (Choice("b", (False, True)), "true"),
        (Choice("w", ("bet",)), "BET"),
        (Choice("w", ("bet",)), ["bet"]),
        (Positions("p", (0, 1, 2), 2, 2), [0, 0]),
        (Positions("p", (0, 1, 2), 2, 2), [0, True]),
        (Positions("p", (0, 1, 2), 2, 2), [0, 1.0]),
        (Positions("p", (0, 1, 2), 2, 2), [0, 3]),
        (Positions("p", (0, 1, 2), 2, 2), [-1, 0]),
        (Positions("p", (0, 1, 2), 2, 2), [0]),
        (Positions("p", (0, 1, 2), 2, 2), [0, 1, 2]),
        (Positions("p", (0, 1, 2), 2, 2), [[0], {}]),
        (Positions("p", (0, 1, 2), 2, 2), "01"),
        (Positions("p", (0, 1, 2), 2, 2), {"0": 0, "1": 1}),
        (Text("t", 4), "12345"),
        (Text("t", 4), "ééé"),
        (Text("t", 4), b"1"),
        (Text("t", 4), "\ud800"),
        (Choice("c", (0, 2)), 1),
        (Choice("c", (0, 1)), True),
        (Choice("c", (0, 1)), "0"),
        (Group("g", Shape((Amount("n", 0, 9),))), {}),
        (Group("g", Shape((Amount("n", 0, 9),))), {"n": 10}),
        (Group("g", Shape((Amount("n", 0, 9),))), {"n": 1, "more": 1}),
        (Group("g", Shape((Amount("n", 0, 9),))), [["n", 1]]),
        (Group("g", Shape()), None),
    ],
)
def test_near_misses_are_objected_to(field: Field, value: object) -> None:
    """No value of another type stands for a right one, and bounds are bounds."""
    assert field.objection(value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Amount("n", 0, 9), 0),
        (Amount("n", 0, 9), 9),
        (Choice("b", (False, True)), False),
        (Positions("p", (4, 1), 0, 2), []),
        (Positions("p", (4, 1), 0, 2), (1, 4)),
        (Text("t", 4), ""),
        (Text("t", 4), "éé"),
        (Text("t", 4), "💀"),
    ],
)
def test_bounds_belong_to_what_is_taken(field: Field, value: object) -> None:
    """The least and the greatest are taken, and a text is measured in bytes of UTF-8."""
    assert field.objection(value) is None


@pytest.mark.parametrize(
    ("shape", "body", "objection"),
    [
        (Shape(), {"n": 1}, "n is not asked for"),
        (Shape((Amount("n", 1, 5),)), {}, "n is missing"),
        (Shape((Amount("n", 1, 5),)), {"n": 6}, "n must be an integer from 1 to 5"),
        (Shape((Amount("n", 0, 0),)), {"n": 6}, "n must be 0"),
        (Shape((Choice("b", (True,)),)), {"b": False}, "b must be true"),
        (Shape((Choice("b", (False, True)),)), {"b": 0}, "b must be false or true"),
        (Shape((Choice("w", ("x", "y", "z")),)), {"w": ""}, "w must be x, y or z"),
        (Shape((Positions("p", (0, 1, 2), 2, 2),)), {"p": []}, "p must be 2 different positions out of 0 to 2"),
        (
            Shape((Positions("p", (0, 2, 5), 0, 1),)),
            {"p": [1]},
            "p must be 0 to 1 different positions out of 0, 2 or 5",
        ),
        (Shape((Text("t", 4),)), {"t": 5}, "t must be text of at most 4 bytes of UTF-8"),
        (Shape((Text("t", 4, required=False),)), {}, None),
        (Shape((Text("t", 4, required=False),)), {"t": None}, "t must be text of at most 4 bytes of UTF-8"),
        (Shape((Choice("c", (1, 4)),)), {"c": 2}, "c must be 1 or 4"),
        (Shape((Group("g", Shape((Amount("n", 1, 5),))),)), {"g": {"n": 6}}, "g.n must be an integer from 1 to 5"),
        (Shape((Group("g", Shape((Amount("n", 1, 5),))),)), {"g": {}}, "g.n is missing"),
        (Shape((Group("g", Shape()),)), {"g": 5}, "g must be an object"),
    ],
)
def test_an_objection_is_a_sentence(shape: Shape, body: Body, objection: str | None) -> None:
    """What is wrong is said in words that name the field and its bounds."""
    assert shape.objection(body) == objection


def test_options_left_out_have_their_defaults() -> None:
    """Options that are not given take their defaults, and none is dropped."""
    flag = Option(Choice("b", (False, True)), default=False, help="Whether.")
    options = Options((Option(Amount("n", 0, 9), 5, "How many."), flag))
    assert options.filled({"b": True}) == {"n": 5, "b": True}
    assert options.schema()["properties"]["n"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 9,
        "default": 5,
        "description": "How many.",
    }


@pytest.mark.parametrize("slug", GAMES)
def test_every_default_is_within_its_bounds(slug: str) -> None:
    """Each option's default is one that the option takes, and is said in words."""
    for option in GAMES[slug].spec.options.options:
        assert option.objection(option.default) is None
        assert option.help.endswith(".")


@pytest.mark.parametrize("slug", GAMES)
def test_every_schema_is_one(slug: str) -> None:
    """What a game states of its options and bodies is valid JSON Schema 2020-12."""
    spec = GAMES[slug].spec
    for schema in (spec.options.schema(), *(shape.schema() for shapes in spec.verbs.values() for shape in shapes)):
        Draft202012Validator.check_schema(schema)
