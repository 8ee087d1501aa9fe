"""Every route of the application, with what stands in it filled in, so that a new one is tested by being there."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from engine.games import GAMES
from engine.play import SEAT_VERBS
from service.api import VERBS
from tests.tables import Table

JSON = "application/json"

Outcome = tuple[int, str | None]
"""A status and, of a problem, its code."""


class Target(NamedTuple):
    """A method and a path."""

    method: str
    path: str


def targets(app: Flask, table: Table) -> list[Target]:
    """Return every method and path there is: of every game, of this one session, of every verb."""
    return [
        Target(method, path)
        for rule in app.url_map.iter_rules()
        for method in sorted(rule.methods or ())
        for path in sorted(_paths(rule, table))
    ]


def reading(app: Flask, table: Table) -> list[Target]:
    """Return the targets that read a body."""
    return [each for each in targets(app, table) if each.method == "POST"]


def _paths(rule: Rule, table: Table) -> set[str]:
    verbs = (*VERBS, *SEAT_VERBS)
    filled = [{"game": game, "session": table.id, "verb": verb} for game in GAMES for verb in verbs]
    found = {_path(rule, {name: each[name] for name in rule.arguments}) for each in filled}
    assert found != {None}, f"no path for {rule}"
    return {path for path in found if path}


def _path(rule: Rule, named: dict[str, str]) -> str | None:
    """Return a path of a rule, unless it is for other verbs."""
    with suppress(ValueError):
        built = rule.build(named)
        return built[1] if built else None
    return None


def send(table: Table, target: Target, raw: bytes, content_type: str | None = JSON) -> TestResponse:
    """Send a body as it is, as the seat."""
    method, path = target
    return table.client.open(path, method=method, data=raw, content_type=content_type, headers=table.bearer())


def outcome(answer: TestResponse) -> Outcome:
    """Return status and, of a problem, code."""
    told = answer.get_json(silent=True) or {}
    return answer.status_code, told.get("code") if answer.status_code >= 400 else None


def outcomes(table: Table, wanted: Iterable[Target], raw: bytes) -> dict[Target, Outcome]:
    """Return what a body is answered with, everywhere."""
    return {target: outcome(send(table, target, raw)) for target in wanted}
