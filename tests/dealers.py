"""Rounds of Beat the Dealer with a deck laid out by hand, and a driver for all seats at the doors of `engine.play`."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.cards import Card, pack
from engine.game import Action, Event, Illegal, Move
from engine.games import GAMES
from engine.games.beat_the_dealer_round import Guessing
from engine.piles import Pile, Sight, Viewer, look_as

SLUG = "beat-the-dealer"
GAME = GAMES[SLUG]
SESSION = "a-table-of-twenty-two-"
SECRET = bytes(range(64))
NOW = 1_800_000_000_000
"""When a round laid out by hand begins."""

RANKS = "A23456789TJQK"
OPEN = play.Seat("", play.OPEN)


def people(count: int) -> tuple[play.Seat, ...]:
    """Return seats that persons hold."""
    return tuple(play.Seat(f"Player {number}") for number in range(1, count + 1))


def bot(level: str) -> play.Seat:
    """Return a seat that a bot holds."""
    return play.Seat("", play.BOT, level)


def new(seats: int | tuple[play.Seat, ...] = 2, secret: bytes = SECRET, **options: object) -> play.Position:
    """Return a table before its first round: so many persons, or these seats."""
    held = people(seats) if isinstance(seats, int) else seats
    return play.open_table(SLUG, SESSION, secret, held, options)


def deck_of(ranks: str) -> tuple[Card, ...]:
    """Return a whole pack that begins with cards of these ranks, top first."""
    rest = list(pack())
    top = []
    for rank in ranks.replace(" ", ""):
        top.append(next(card for card in rest if card[0] == rank))
        rest.remove(top[-1])
    return (*top, *rest)


def stacked(position: play.Position, ranks: str, last: int | None = None) -> play.Position:
    """Return the position with the top card and those under it of these ranks, or nothing but the first `last` cards.

    The cards left out lie on their piles, so that none is lost. For a round just dealt.
    """
    cards = deck_of(ranks)
    count = len(cards) if last is None else last
    state = inside(position)
    laid = [tuple(card for card in cards[count:] if card[0] == rank) for rank in RANKS]
    changed = replace(
        state,
        top=state.top.holding(cards[:1]),
        deck=state.deck.holding(cards[1:count]),
        piles=tuple(Pile(held, Sight.EVERYONE) for held in laid),
    )
    return replace(position, state=changed)


def dealt(
    ranks: str = "",
    seats: int | tuple[play.Seat, ...] = 2,
    last: int | None = None,
    **options: Any,  # noqa: ANN401 - any option
) -> play.Position:
    """Return a round that the first person has dealt at NOW, with its deck laid out by hand."""
    return stacked(deal(new(seats, **options)).position, ranks, last)


def deal(position: play.Position, now: int = NOW, seat: int | None = None) -> play.Step:
    """Return what comes of a deal, by the first person at the table if no seat is given."""
    by = position.state.held.index("person") if seat is None else seat
    return play.advance(position, Move(by, Action("deal"), now))


def guess(position: play.Position, rank: str, now: int = NOW) -> play.Step:
    """Return what comes of the guess of whoever's turn it is, after what was due."""
    position = at(position, now)
    return play.advance(position, Move(inside(position).guesser, Action("choose", {"rank": rank}), now))


def guessed(position: play.Position, ranks: str, now: int = NOW) -> play.Position:
    """Return the position after these guesses, each of whoever's turn it is."""
    for rank in ranks.replace(" ", ""):
        position = guess(position, rank, now).position
    return position


def lost(position: play.Position, turns: int = 1, now: int = NOW) -> play.Position:
    """Return the position after so many turns, each lost by two guesses far off the card."""
    for _ in range(turns):
        wrong = "Q" if inside(position).top.cards[0][0] == "K" else "K"
        position = guessed(position, wrong * 2, now)
    return position


def leave(position: play.Position, seat: int, now: int = NOW) -> play.Step:
    """Return what comes of a seat's leaving."""
    return play.advance(position, Move(seat, Action("leave"), now))


def ended(position: play.Position, now: int = NOW) -> play.Step:
    """Return what comes of the host's ending the round."""
    return play.host_acts(position, Move(None, Action("evaluate"), now))


def refusal(position: play.Position, seat: int, verb: str, **body: object) -> tuple[str, str]:
    """Return code and sentence of the refusal that the action must meet."""
    try:
        play.advance(position, Move(seat, Action(verb, body), NOW))
    except Illegal as refused:
        return refused.code, refused.detail
    raise AssertionError(f"{verb} {body} was not refused")


def steps(position: play.Position, now: int) -> tuple[play.Step, ...]:
    """Return what time and the bots have done up to `now`."""
    return play.settle(position, now, BOTS[SLUG])


def at(position: play.Position, now: int) -> play.Position:
    """Return the position as it is at `now`."""
    made = steps(position, now)
    return made[-1].position if made else position


def inside(position: play.Position) -> Guessing:
    """Return the game's state, hidden cards and all."""
    assert isinstance(position.state, Guessing)
    return position.state


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON makes of it
    """Return the value as it arrives in JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def table(position: play.Position, viewer: Viewer = None) -> Any:  # noqa: ANN401 - plain data
    """Return the table as the viewer is sent it: plain data."""
    return plain(play.view(position, viewer).table)


def sheet(position: play.Position, viewer: Viewer = None) -> Any:  # noqa: ANN401 - plain data
    """Return the score as the viewer is sent it: plain data."""
    return plain(play.score(position, viewer))


def told(events: Iterable[Event], viewer: Viewer = None) -> list[dict[str, Any]]:
    """Return events as the viewer is sent them."""
    return [plain(event.seen(look_as(viewer))) for event in events]


def types(step: play.Step) -> list[str]:
    """Return the types of a step's events, in order."""
    return [event.type for event in step.events]


def turn(position: play.Position) -> tuple[int, int | None]:
    """Return the dealer, and whose turn it is."""
    shown = table(position)
    return shown["dealer"], shown["guesser"]


def drunk(position: play.Position) -> list[tuple[int, int]]:
    """Return for each seat what it has drunk as guesser and as dealer."""
    return [(each["drunk_as_guesser"], each["drunk_as_dealer"]) for each in table(position)["tallies"]]


def all_cards(position: play.Position) -> list[str]:
    """Return every card of the game, wherever it lies, sorted."""
    return sorted(card for pile in GAME.piles(position.state) for card in pile.cards)
