"""Hypothesis strategies: bodies that a shape takes, and values that no field may trip over."""

from typing import Any

from hypothesis import strategies as st

from engine.fields import Amount, Choice, Field, Group, Name, Positions, Shape, Text

AWKWARD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 7),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.just({}),
    st.just([[0], {}]),
)
"""Anything JSON can hold, but for `5.0`: to a schema it is an integer, to the contract it is none."""


def values(field: Field) -> st.SearchStrategy[Any]:
    """Return values that the field takes."""
    match field:
        case Amount(least=least, most=most):
            return st.sampled_from((least, most)) | st.integers(least, most)
        case Choice(values=choices):
            return st.sampled_from(choices)
        case Positions(among=among, least=least, most=most):
            return st.lists(st.sampled_from(among), min_size=least, max_size=most, unique=True)
        case Text(most_bytes=most):
            letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=most)
            return letters.filter(lambda text: len(text.encode()) <= most)
        case Name():
            return st.sampled_from(("a", "Player 1", "é", "x" * 32))
        case Group(shape=shape):
            return bodies(shape)


def bodies(shape: Shape) -> st.SearchStrategy[dict[str, Any]]:
    """Return bodies that the shape takes, the optional fields now there and now not."""
    required = {field.name: values(field) for field in shape.fields if field.required}
    optional = {field.name: values(field) for field in shape.fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional)


@st.composite
def positions_fields(draw: st.DrawFn) -> Positions:
    """Return fields of positions."""
    among = tuple(draw(st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True)))
    least = draw(st.integers(0, len(among)))
    return Positions("field", among, least, draw(st.integers(least, len(among))))


def fields() -> st.SearchStrategy[Field]:
    """Return fields of every kind."""
    words = st.lists(st.sampled_from(("a", "b", "true", "5", "")), min_size=1, unique=True)
    return st.one_of(
        st.tuples(st.integers(-2, 3), st.integers(0, 4)).map(lambda pair: Amount("field", pair[0], sum(pair))),
        words.map(lambda chosen: Choice("field", tuple(chosen))),
        st.sampled_from(((True,), (False, True), (0, 1), (3,))).map(lambda chosen: Choice("field", chosen)),
        st.booleans().map(lambda required: Group("field", Shape((Amount("n", 0, 2), Choice("b", (True,), required))))),
        positions_fields(),
        st.integers(0, 5).map(lambda most: Text("field", most, required=False)),
    )


def attempts(field: Field) -> st.SearchStrategy[Any]:
    """Return values for a field, good and bad and nearly good."""
    near: st.SearchStrategy[Any] = AWKWARD
    if isinstance(field, Positions):
        near = st.lists(st.integers(-1, 7) | st.booleans() | st.none(), max_size=6)
    if isinstance(field, Text):
        near = st.text("aé💀", max_size=7)
    if isinstance(field, Group):
        near = st.dictionaries(st.sampled_from(("n", "b", "")), st.integers(0, 3) | AWKWARD)
    return values(field) | near | AWKWARD
