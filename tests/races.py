"""Rounds of Speed laid out by hand, and a driver for both seats at the doors of `engine.play`."""

from typing import Any

import msgspec
from msgspec.structs import replace

from engine.advice import BOTS
from engine.cards import cards
from engine.game import Action, Event, Illegal, Move
from engine.games import GAMES
from engine.games.speed import Speed
from engine.games.speed_centre import Centre
from engine.games.speed_state import Hand, Racing
from engine.piles import Pile, Sight, Viewer, look_as
from engine.play import Position, Seat, Step, advance, host_acts, offers, open_table, settle, view

GAME = GAMES["speed"]
SESSION = "a-table-of-twenty-two-"
SECRET = bytes(range(64))
NOW = 1_800_000_000_000
"""When play opens in a round laid out by hand."""

PEOPLE = (Seat("Player 1"), Seat("Player 2"))
EMPTY = "--"


def bot(level: str) -> Seat:
    """Return a seat that a bot holds."""
    return Seat(None, "bot", level)


def new(seats: tuple[Seat, Seat] = PEOPLE, secret: bytes = SECRET, **options: object) -> Position:
    """Return a table before its first round."""
    return open_table("speed", SESSION, secret, seats, options)


def dealt(position: Position, at: int = NOW) -> Position:
    """Return the position after everyone has dealt who has to: in the countdown."""
    if not any(position.state.held[seat] == "person" for seat in (0, 1)):
        return host_acts(position, Move(None, Action("deal"), at)).position
    for seat in (0, 1):
        if any(offer.verb == "deal" for offer in offers(position, seat)):
            position = advance(position, Move(seat, Action("deal"), at)).position
    return position


def laid(
    hands: tuple[str, str],
    left: str,
    right: str,
    stocks: tuple[str, str] = ("", ""),
    **opening: Any,  # noqa: ANN401 - seats, a secret, options
) -> Position:
    """Return a round whose countdown ends at NOW; then the first cards of `left` and `right` are turned."""
    position = new(**opening)
    state = replace(
        inside(position),
        round=1,
        playing=True,
        countdown_until=NOW,
        pack=Pile(),
        left=_centre(left),
        right=_centre(right),
        hands=(_hand(0, hands[0], stocks[0]), _hand(1, hands[1], stocks[1])),
    )
    return replace(position, state=state)


def opened(
    hands: tuple[str, str],
    left: str,
    right: str,
    stocks: tuple[str, str] = ("", ""),
    **opening: Any,  # noqa: ANN401 - seats, a secret, options
) -> Position:
    """Return the round just when play opens."""
    return at(laid(hands, left, right, stocks, **opening), NOW)


def _centre(side: str) -> Centre:
    return Centre(side=Pile(cards(side.split())))


def _hand(seat: int, slots: str, stock: str) -> Hand:
    held = [() if card == EMPTY else cards([card]) for card in slots.split()]
    held += [()] * (5 - len(held))
    return Hand(tuple(Pile(card, Sight.OWNER, seat) for card in held), Pile(cards(stock.split())))


def inside(position: Position) -> Racing:
    """Return the game's state, hidden cards and all."""
    assert isinstance(position.state, Racing)
    return position.state


def steps(position: Position, now: int) -> tuple[Step, ...]:
    """Return what time and the bots have done up to `now`."""
    return settle(position, now, BOTS["speed"])


def at(position: Position, now: int) -> Position:
    """Return the position as it is at `now`."""
    made = steps(position, now)
    return made[-1].position if made else position


def choose(position: Position, seat: int, now: int = NOW, /, **body: object) -> Step:
    """Return what comes of a seat's play or pass, after what was due."""
    return advance(at(position, now), Move(seat, Action("choose", body), now))


def chosen(position: Position, seat: int, now: int = NOW, /, **body: object) -> Position:
    """Return the position after a seat's play or pass, which must be accepted."""
    made = choose(position, seat, now, **body)
    assert made.refusal is None
    return made.position


def refusal(position: Position, seat: int, now: int = NOW, /, **body: object) -> Illegal:
    """Return the refusal that the choice must meet, and nothing else may come of it."""
    try:
        made = choose(position, seat, now, **body)
    except Illegal as refused:
        return refused
    raise AssertionError(f"{body} came to {made.events}")


def types(events: tuple[Event, ...]) -> list[str]:
    """Return what happened, by type."""
    return [event.type for event in events]


def told(made: Step, viewer: Viewer) -> list[dict[str, Any]]:
    """Return a step's events as the viewer is sent them."""
    return [plain(event.seen(look_as(viewer))) for event in made.events]


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON makes of it
    """Return the value as it arrives in JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def table(position: Position, viewer: Viewer = 0) -> Any:  # noqa: ANN401 - plain data
    """Return the table as the viewer is sent it."""
    return plain(view(position, viewer).table)


def all_cards(position: Position) -> list[str]:
    """Return every card of the game, wherever it lies, sorted."""
    return sorted(card for pile in Speed().piles(inside(position)) for card in pile.cards)
