"""A seat at a table, driven through the doors of `engine.play` alone."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.game import Action, Illegal, Move
from engine.piles import look_as
from engine.play import Position, Seat, Step, advance, draw, game_of, offers, open_table, score, view

SESSION = "a-table-of-twenty-two-"
SECRET = bytes(range(64))


def seat_at(game: str, **options: object) -> Position:
    """Return a new table of the game with one person at it."""
    return open_table(game, SESSION, SECRET, (Seat("Player 1"),), options)


def step(position: Position, verb: str, **body: object) -> Step:
    """Return what comes of a move by seat 0."""
    return advance(position, Move(0, Action(verb, body), 0))


def act(position: Position, verb: str, **body: object) -> Position:
    """Return the position after a move by seat 0."""
    return step(position, verb, **body).position


def refusal(position: Position, verb: str, **body: object) -> tuple[str, str]:
    """Return code and sentence of the refusal that the move must meet."""
    try:
        step(position, verb, **body)
    except Illegal as refused:
        return refused.code, refused.detail
    raise AssertionError(f"{verb} {body} was not refused")


def with_state(position: Position, **changes: object) -> Position:
    """Return the position with parts of the game's state put in by hand."""
    return replace(position, state=replace(position.state, **changes))


def inside(position: Position) -> Any:  # noqa: ANN401 - each game's own type
    """Return the game's state, hidden cards and all."""
    return position.state


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON makes of it
    """Return the value as it arrives in JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def table(position: Position, viewer: int | None = 0) -> Any:  # noqa: ANN401 - plain data
    """Return the table as the viewer is sent it: plain data."""
    return plain(view(position, viewer).table)


def sheet(position: Position, viewer: int | None = 0) -> Any:  # noqa: ANN401 - plain data
    """Return the score as the viewer is sent it: plain data."""
    return plain(score(position, viewer))


def told(made: Step, viewer: int | None = 0) -> list[dict[str, Any]]:
    """Return a step's events as the viewer is sent them."""
    return [plain(event.seen(look_as(viewer))) for event in made.events]


def verbs(position: Position) -> list[str]:
    """Return the verbs offered to seat 0, in order."""
    return [offer.verb for offer in offers(position, 0)]


def all_cards(position: Position) -> list[str]:
    """Return every card of the game, wherever it lies, sorted."""
    return sorted(card for pile in game_of(position).piles(position.state) for card in pile.cards)


def named(text: str, codes: Iterable[str]) -> list[str]:
    """Return those of the cards that stand in the text, each a word by itself."""
    words = set(re.findall(r"\w+", text))
    return [code for code in codes if code in words]


def traffic(position: Position, viewer: int | None = 0) -> bytes:
    """Return all that a viewer can ask of a position, as bytes."""
    offered = offers(position, 0) if viewer == 0 else ()
    drawn = draw(position.game, view(position, viewer).table)
    try:
        scored: object = score(position, viewer)
    except Illegal as refused:
        scored = refused.detail
    return msgspec.json.encode([view(position, viewer), offered, drawn, scored])
