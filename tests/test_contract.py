"""The contract agrees with itself and with the engine."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from engine.fields import Shape
from engine.game import LEVELS, Illegal, Invalid
from engine.games import (
    GAMES,
    beat_the_dealer_ranks,
    beat_the_dealer_table,
    jackpot_hands,
    jackpot_table,
    speed_table,
)
from engine.games.speed_plays import SIDES
from engine.play import COMMON_EVENTS, COMMON_VERBS, SEAT_VERBS, evaluate
from engine.poker import Category
from service.documents import component
from tests.contract import CONTRACT

DOCUMENT = CONTRACT.document
SCHEMAS = DOCUMENT.tree["components"]["schemas"]
EXAMPLES = DOCUMENT.tree["components"]["examples"]
VERBS = [(slug, verb) for slug, game in GAMES.items() for verb in game.spec.verbs]
KEYWORDS = {
    "$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "description", "discriminator", "enum",
    "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "oneOf", "pattern", "properties",
    "required", "type", "unevaluatedProperties", "uniqueItems",
}  # fmt: skip


def pascal(slug: str) -> str:
    return "".join(word.capitalize() for word in slug.split("-"))


def schemas(node: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any part of the document
    """Yield every schema in a part of the document, those inside schemas too."""
    if isinstance(node, list):
        for each in node:
            yield from schemas(each)
    elif isinstance(node, dict):
        if "schema" in node and "openapi" not in node:
            yield from nested(node["schema"])
        for name, each in node.items():
            if name not in ("schema", "schemas", "examples"):
                yield from schemas(each)


def nested(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values()]
    for keyword in ("allOf", "anyOf", "oneOf"):
        inner += schema.get(keyword, [])
    inner += [schema[keyword] for keyword in ("items", "additionalProperties") if isinstance(schema.get(keyword), dict)]
    for each in inner:
        yield from nested(each)


def every_schema() -> list[dict[str, Any]]:
    return [*schemas(DOCUMENT.tree), *(each for schema in SCHEMAS.values() for each in nested(schema))]


def bare(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without words, and with integers from one to another told by their bounds."""
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: bare(value) for name, value in schema.items() if name != "description"}
    numbers = found.get("enum")
    if found.get("type") == "integer" and numbers and numbers == [*range(numbers[0], numbers[-1] + 1)]:
        found |= {"minimum": numbers[0], "maximum": numbers[-1]}
        del found["enum"]
    if found.get("type") == "object":
        found.setdefault("required", [])
    return found


def stated(shapes: tuple[Shape, ...]) -> list[Any]:
    return [bare(shape.schema()) for shape in shapes]


def test_the_document_is_openapi() -> None:
    """The document passes the OpenAPI 3.1 validator."""
    validate(DOCUMENT.tree)


def test_every_schema_is_a_schema() -> None:
    """Each is valid, and uses no keyword that the checks do not know: a misspelt one would check nothing."""
    found = every_schema()
    assert len(found) > 900
    for schema in found:
        assert schema.keys() <= KEYWORDS
        Draft202012Validator.check_schema(schema)


def test_every_object_is_closed() -> None:
    """A schema with properties lets no other in, or is a part of one that does not."""
    parts = ("FrameOfAnyGame", "InfoOfAnyGame", "ViewOfAnyGame")
    closed = ("additionalProperties", "unevaluatedProperties", "allOf")
    for name, schema in SCHEMAS.items():
        for each in nested(schema):
            assert name in parts or "properties" not in each or any(keyword in each for keyword in closed), name


def test_every_component_is_used() -> None:
    """A `$ref` leads to each component, and each leads somewhere."""
    used = set(references(DOCUMENT.tree))
    for pointer in used:
        DOCUMENT.at(pointer.removeprefix("#"))
    for kind, named in DOCUMENT.tree["components"].items():
        if kind != "securitySchemes":
            assert {f"#/components/{kind}/{name}" for name in named} <= used


def references(node: Any) -> Iterator[str]:  # noqa: ANN401 - any part of the document
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        yield from references(list(node.values()))
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


def test_every_code_is_some_answers() -> None:
    """The codes of all answers together are the closed list."""
    assert {each.code for each in CONTRACT.documented() if each.code} == set(SCHEMAS["ProblemCode"]["enum"])


@pytest.mark.parametrize(("slug", "verb"), [*VERBS, ("", "seed"), ("", "leave")])
def test_a_verbs_body_is_the_games_own(slug: str, verb: str) -> None:
    """The body in the contract is what the game states: names, bounds, what must be there and nothing else."""
    shapes = GAMES[slug].spec.verbs[verb] if slug else COMMON_VERBS[verb]
    found = bare(DOCUMENT.schema(component(slug, verb).removeprefix("#")))
    assert found.get("oneOf", [found]) == stated(shapes)


@pytest.mark.parametrize("verb", sorted({verb for _, verb in VERBS} | set(COMMON_VERBS)))
def test_a_verbs_operation_takes_every_games_body(verb: str) -> None:
    """What the operation takes is what some game takes, and nothing else."""
    here = f"/paths/~1v1~1sessions~1{{id}}~1{verb}/post/requestBody/content/application~1json/schema"
    games = [slug for slug, each in VERBS if each == verb] or [""]
    found = bare(DOCUMENT.schema(here))
    branches = found.get("anyOf", found.get("oneOf", [found])) if len(games) > 1 else [found]
    wanted = [bare(DOCUMENT.schema(component(slug, verb).removeprefix("#"))) for slug in sorted(games)]
    assert branches == wanted


@pytest.mark.parametrize(("verb", "name"), [("join", "Join"), ("token", "Reissue")])
def test_a_seat_is_given_away_by_the_engines_bodies(verb: str, name: str) -> None:
    """What a join and a reissue take is what the engine states."""
    found = bare(DOCUMENT.schema(f"/components/schemas/{name}"))
    assert found.get("oneOf", [found]) == stated(SEAT_VERBS[verb])


@pytest.mark.parametrize("slug", GAMES)
def test_the_options_are_the_games_own(slug: str) -> None:
    """The options in the contract are what the game states, with their defaults; a view shows those in force."""
    options, name = GAMES[slug].spec.options, f"{pascal(slug)}Options"
    assert bare(SCHEMAS[name]) == bare(options.schema())
    in_force = SCHEMAS[f"{name}InForce"]
    assert in_force["allOf"] == [{"$ref": f"#/components/schemas/{name}"}]
    assert in_force["required"] == [option.name for option in options.options if option.default is not None]


@pytest.mark.parametrize("slug", GAMES)
def test_the_seats_are_the_games_own(slug: str) -> None:
    """A session has as many seats as the game takes."""
    least, most = GAMES[slug].spec.seats
    seats = DOCUMENT.schema(f"/components/schemas/Open{pascal(slug)}")["properties"]["seats"]
    assert (seats["minItems"], seats["maxItems"]) == (least, most)


@pytest.mark.parametrize("slug", GAMES)
def test_the_events_are_the_games_own(slug: str) -> None:
    """The event types in the contract are those of the game, in its order, and those of every table."""
    branches = DOCUMENT.schema(f"/components/schemas/{pascal(slug)}Event")["oneOf"]
    found = tuple(each["properties"]["type"]["const"] for each in branches)
    assert found == GAMES[slug].spec.events + COMMON_EVENTS


def has_worth(slug: str) -> bool:
    """Return whether cards are worth anything in a game (C-12)."""
    try:
        evaluate(slug, (), {})
    except Illegal:
        return False
    except Invalid:
        return True
    raise AssertionError("no cards at all were evaluated")


@pytest.mark.parametrize("kind", ["Info", "Evaluation", "OpenSession", "View", "Moved", "Sheet"])
def test_every_game_is_told_apart(kind: str) -> None:
    """What differs by game names its game, of every game there is that has it."""
    mapping = SCHEMAS[kind]["discriminator"]["mapping"]
    assert list(mapping) == [slug for slug in GAMES if kind != "Evaluation" or has_worth(slug)]
    assert [each["$ref"] for each in SCHEMAS[kind]["oneOf"]] == list(mapping.values())
    for slug, pointer in mapping.items():
        assert DOCUMENT.schema(pointer.removeprefix("#"))["properties"]["game"] == {"const": slug}


def test_a_frame_is_of_one_game() -> None:
    """Every game has its frames: with a view, events of another game do not fit."""
    named = [f"#/components/schemas/{pascal(slug)}Frame" for slug in GAMES]
    assert [each["$ref"] for each in SCHEMAS["Frame"]["anyOf"]] == named
    validator, frame = DOCUMENT.validator("/components/schemas/Frame"), EXAMPLES["MoveFrame"]["value"]
    assert validator.is_valid(frame)
    assert not validator.is_valid(frame | {"events": [{"type": "ready", "seat": 0}]})
    assert not validator.is_valid(frame | {"view": EXAMPLES["SpeedView"]["value"]})


ENUMS: dict[str, Iterable[str]] = {
    "GameSlug": GAMES,
    "BotLevel": LEVELS,
    "Category": Category,
    "SpiceIslandPokerCategory": [each for each in Category if each != Category.FIVE_OF_A_KIND],
    "Rank": beat_the_dealer_ranks.RANKS,
    "BeatTheDealerUnits": beat_the_dealer_table.UNITS,
    "BeatTheDealerReason": beat_the_dealer_table.Reason,
    "BeatTheDealerTable/properties/phase": beat_the_dealer_table.Phase,
    "BeatTheDealerTurn/properties/outcome": beat_the_dealer_table.Outcome,
    "JackpotPhase": jackpot_table.Phase,
    "JackpotWay": jackpot_table.By,
    "JackpotCategoryName": [each.title for each in jackpot_hands.Category],
    "SpeedTable/properties/phase": speed_table.Phase,
    "SpeedReason": speed_table.WAYS,
    "SpeedSide": SIDES,
}


@pytest.mark.parametrize("name", ENUMS)
def test_the_words_are_the_engines(name: str) -> None:
    """Games, levels, ranks and what rounds come to have the engine's names, in its order."""
    assert DOCUMENT.schema(f"/components/schemas/{name}")["enum"] == list(ENUMS[name])


def test_the_verbs_are_all_that_can_be_asked() -> None:
    """Those of the games, of every seat, of whoever takes one, and of the host."""
    assert set(SCHEMAS["Verb"]["enum"]) == {verb for _, verb in VERBS} | {*COMMON_VERBS, *SEAT_VERBS, "delete"}


@pytest.mark.parametrize("slug", GAMES)
def test_a_games_info_names_schemas_of_the_contract(slug: str) -> None:
    """Every verb's `schema` is in the document."""
    verbs = EXAMPLES[f"{pascal(slug)}Info"]["value"]["verbs"]
    assert [each["verb"] for each in verbs] == [*GAMES[slug].spec.verbs, *COMMON_VERBS]
    for each in verbs:
        assert each["schema"].removeprefix("#/components/schemas/") in SCHEMAS
