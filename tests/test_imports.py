"""Who may import whom: the direction of the house, read off its source."""

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ENGINE_LAYERS = (
    ("engine.cards", "engine.phrases"),
    ("engine.danish", "engine.piles", "engine.shuffle"),
    ("engine.fields",),
    ("engine.game",),
    ("engine.poker",),
    ("engine.games.",),
    ("engine.games",),
    ("engine.play",),
    ("engine.seating", "engine.advice.", "engine.verify"),
    ("engine.advice",),
)
"""From the ground up: a module imports from lower layers only; a name with a dot at its end is all in a folder."""
ENGINE_SHUNS = {"os", "time", "datetime", "random", "secrets", "logging", "socket", "importlib"}
"""Nothing here may tell the hour, draw a number, log, or reach out."""

SERVICE_ASKS = {
    "service.schemas": ("engine",),
    "service.connection": (),
    "service.wakes": ("service.connection",),
    "service.fitness": ("service.connection",),
    "service.cluster": ("service.connection", "service.fitness"),
    "service.cluster_wakes": ("service.cluster", "service.connection", "service.wakes"),
    "service.store": (
        "service.cluster",
        "service.cluster_wakes",
        "service.connection",
        "service.fitness",
        "service.limits",
        "service.wakes",
    ),
    "service.clients": ("service.records",),
    "service.settings": ("service.clients", "service.connection"),
    "service.limits": ("engine", "service.records", "service.settings"),
    "service.earlier": (),
    "service.records": ("engine", "service.earlier"),
    "service.sessions": (
        "engine",
        "service.connection",
        "service.limits",
        "service.records",
        "service.schemas",
        "service.store",
        "service.wakes",
    ),
    "service.streams": (
        "engine",
        "service.connection",
        "service.logs",
        "service.records",
        "service.sessions",
        "service.store",
        "service.wakes",
    ),
}
"""All that the lower modules of the service may import of the project."""
SERVICE_SHUNS = {
    "service.schemas": {"flask", "werkzeug", "redis"},
    "service.connection": {"flask", "werkzeug"},
    "service.wakes": {"flask", "werkzeug"},
    "service.store": {"flask", "werkzeug"},
    "service.records": {"flask", "werkzeug", "redis"},
    "service.sessions": {"flask", "werkzeug", "redis"},
    "service.streams": {"flask", "werkzeug", "redis"},
    "service.clients": {"flask", "werkzeug", "redis"},
    "service.limits": {"flask", "werkzeug", "redis"},
    "service.gate": {"redis"},
    "service.reading": {"redis"},
    "service.views": {"redis"},
    "service.events": {"redis"},
    "service.api": {"redis"},
}

KNOWS_STATUS = {"service.problems", "service.refusals"}
"""`problems` has the one table; `refusals` has what a server answers before the application hears of it."""

Sources = Mapping[str, str]


parsed = cache(ast.parse)
"""A source's tree: most modules are looked at once for every fault that is planted in another."""


def read_sources() -> dict[str, str]:
    """Return the source of every module of the project, by its name."""
    found = {}
    for package in ("engine", "service"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = path.read_text()
    return found


def imported(name: str, sources: Sources) -> Iterator[str]:
    """Yield what a module imports: `from a import b` is the module `a.b` where there is one, else `a`."""
    folder = name if any(other.startswith(f"{name}.") for other in sources) else name.rpartition(".")[0]
    for node in ast.walk(parsed(sources[name])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            climbed = folder.split(".")[: len(folder.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*climbed, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in sources else origin


def layer(name: str) -> int:
    """Return the number of a module's layer; raise for one that has none."""
    for number, names in enumerate(ENGINE_LAYERS):
        if name in names or any(each.endswith(".") and name.startswith(each) for each in names):
            return number
    for number, names in enumerate(ENGINE_LAYERS):
        if any(name.startswith(f"{each}.") for each in names if each != "engine.games"):
            return number
    raise LookupError(name)


def is_own(name: str, other: str, sources: Sources) -> bool:
    """Return whether two modules are of one game: their names are the game's, or go on from it."""
    games = [game for game in sources if game.startswith(("engine.games.", "engine.advice."))]
    return any(all(each == game or each.startswith(f"{game}_") for each in (name, other)) for game in games)


def engine_faults(name: str, sources: Sources) -> Iterator[str]:
    """Yield what an engine module imports and must not."""
    for other in imported(name, sources):
        top = other.partition(".")[0]
        if top in ENGINE_SHUNS or not (top in ("engine", "msgspec") or top in sys.stdlib_module_names):
            yield f"{name} imports {other}"
        elif top == "engine" and layer(other) >= layer(name) and not is_own(name, other, sources):
            yield f"{name} imports {other}, which is not below it"


def service_faults(name: str, sources: Sources) -> Iterator[str]:
    """Yield what a service module imports and must not."""
    for other in imported(name, sources):
        top = other.partition(".")[0]
        asks = SERVICE_ASKS.get(name, ("engine", "service"))
        if top in ("engine", "service") and not any(f"{other}.".startswith(f"{each}.") for each in asks):
            yield f"{name} imports {other}, which is not below it"
        if top in SERVICE_SHUNS.get(name, ()):
            yield f"{name} imports {other}"


def status_faults(name: str, sources: Sources) -> Iterator[str]:
    """Yield the status codes of refusals that a module knows."""
    if name in KNOWS_STATUS:
        return
    for node in ast.walk(parsed(sources[name])):
        if isinstance(node, ast.Constant) and _is_refusal(node, sources[name]):
            yield f"{name} knows the status {ast.unparse(node)}"
        if isinstance(node, ast.Name) and node.id == "HTTPStatus":
            yield f"{name} knows statuses by name"


def _is_refusal(node: ast.Constant, source: str) -> bool:
    """Return whether a number is one of 400 to 599, written as such: `0o700` is a file's mode."""
    refusing = type(node.value) is int and 400 <= node.value < 600
    return refusing and (ast.get_source_segment(source, node) or "").isdigit()


def ring_faults(sources: Sources) -> Iterator[str]:
    """Yield the modules of the service that import themselves by way of others."""
    below = {name: set(imported(name, sources)) & sources.keys() for name in sources if name.startswith("service")}
    while free := {name for name, others in below.items() if not others & below.keys()}:
        below = {name: others for name, others in below.items() if name not in free}
    yield from (f"{name} is in a ring of imports, or above one" for name in below)


def faults(sources: Sources) -> list[str]:
    """Return everything that goes against the direction of the house."""
    found = list(ring_faults(sources))
    for name in sources:
        if name.startswith("engine"):
            found += engine_faults(name, sources)
        else:
            found += [*service_faults(name, sources), *status_faults(name, sources)]
    return found


def test_imports_go_one_way() -> None:
    """Every module imports from below it only, and knows nothing that is another's to know."""
    sources = read_sources()
    assert {"engine.play", "engine.games.spice_island_poker", "service.sessions", "service"} <= sources.keys()
    assert faults(sources) == []


PLANTED = (
    ("engine.cards", "from engine.piles import Pile"),
    ("engine.piles", "from engine.shuffle import Chance"),
    ("engine.shuffle", "import random"),
    ("engine.shuffle", "import os.path"),
    ("engine.game", "from engine import play"),
    ("engine.game", "def late() -> None:\n    import time"),
    ("engine.poker", "from engine.games.spice_island_poker import PAYS"),
    ("engine.play", "from engine.seating import offers"),
    ("engine.seating", "from engine.advice import BOTS"),
    ("engine.play", "import service.sessions"),
    ("engine.play", "import flask"),
    ("engine.play", "from engine.advice import spice_island_poker"),
    ("engine.games.spice_island_poker", "from engine.games.skulls_and_swords import HAND"),
    ("engine.games.spice_island_poker", "from engine.games.skulls_and_swords_values import PLAIN"),
    ("engine.games.speed_race", "from engine.games.skulls_and_swords_values import PLAIN"),
    ("engine.advice.speed", "from engine.advice import BOTS"),
    ("engine.advice.speed", "from engine.advice.jackpot import prospects"),
    ("engine.games.spice_island_poker", "from .skulls_and_swords import HAND"),
    ("engine.games.spice_island_poker", "from . import skulls_and_swords"),
    ("engine.games.spice_island_poker", "from engine.games import GAMES"),
    ("engine.games.spice_island_poker", "from engine.play import view"),
    ("service.sessions", "from flask import request"),
    ("service.sessions", "import redis"),
    ("service.sessions", "from service import views"),
    ("service.schemas", "from service.sessions import Sessions"),
    ("service.connection", "from service.store import Store"),
    ("service.wakes", "from service.streams import Streams"),
    ("service.store", "from service.sessions import Sessions"),
    ("service.store", "from service.records import Record"),
    ("service.store", "from service import api"),
    ("service.records", "from service.sessions import Sessions"),
    ("service.records", "import redis"),
    ("service.streams", "from service.events import events"),
    ("service.streams", "from flask import request"),
    ("service.streams", "from service.views import frame"),
    ("service.reading", "from redis import Redis"),
    ("service.events", "import redis"),
    ("service.api", "from redis import Redis"),
    ("service.api", "from service import create_app"),
    ("service.views", "from service.api import api"),
    ("service.api", "abort(404)"),
    ("service.sessions", "status = 409"),
    ("service.api", "from http import HTTPStatus\nHTTPStatus.CONFLICT"),
)


@pytest.mark.parametrize(("name", "line"), PLANTED)
def test_a_planted_import_is_found(name: str, line: str) -> None:
    """Each wrong import and each stray status is found in the module that it stands in."""
    sources = read_sources()
    found = faults(sources | {name: f"{sources[name]}\n{line}\n"})
    assert any(fault.startswith(f"{name} ") for fault in found)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("engine.games.spice_island_poker", "from engine.poker import rank_five"),
        ("engine.games.skulls_and_swords", "from engine.games.skulls_and_swords_values import PLAIN"),
        ("engine.games.speed_race", "from engine.games.speed_plays import fits"),
        ("engine.advice", "from engine.advice import speed"),
        ("engine.play", "import hashlib"),
        ("service.sessions", "from service.store import Store"),
        ("service.records", "from engine.play import Position"),
        ("service.events", "from service.streams import Streams"),
        ("service.api", "Response(status=304)"),
    ],
)
def test_what_goes_downward_is_allowed(name: str, line: str) -> None:
    """A game has its own values, and everyone what lies below."""
    sources = read_sources()
    assert faults(sources | {name: f"{sources[name]}\n{line}\n"}) == []


def test_the_advice_of_a_game_may_look_down() -> None:
    """A module that is not there yet has its layer by its folder."""
    advice = {"engine.advice": "", "engine.advice.spice_island_poker": "from engine.play import view\nimport numpy"}
    assert faults(read_sources() | advice) == ["engine.advice.spice_island_poker imports numpy"]
