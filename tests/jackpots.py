"""Rounds of Jackpot laid out by hand, and a driver for all seats at the doors of `engine.play`."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.cards import Card, cards, pack
from engine.game import Action, Event, Illegal, Move
from engine.games import GAMES
from engine.games.jackpot_hands import category
from engine.games.jackpot_round import Passing, own
from engine.piles import Pile, Viewer, look_as

GAME = GAMES["jackpot"]
SESSION = "a-table-of-twenty-two-"
SECRET = bytes(range(64))
NOW = 1_800_000_000_000
"""When a round laid out by hand was dealt."""

OPEN = play.Seat("", play.OPEN)

NOTHING_A, NOTHING_B, NOTHING_C = "2h 3d 7s 8c Th", "2d 3h 7c 8s Td", "4h 5d 9s Jc 6h"
DOUBLES = "Ah Ad 7c 8s 2d"
TRIO = "5h 8h Qh Kd 3s"


def dice(seed: int) -> Random:
    """Return a source of choices that comes out the same every time."""
    return Random(seed)  # noqa: S311 - what a test chooses is no secret


def people(count: int) -> tuple[play.Seat, ...]:
    """Return seats that persons hold."""
    return tuple(play.Seat(f"Player {number}") for number in range(1, count + 1))


def bots(*levels: str) -> tuple[play.Seat, ...]:
    """Return seats that bots hold."""
    return tuple(play.Seat("", play.BOT, level) for level in levels)


def opened(seats: tuple[play.Seat, ...], options: Mapping[str, object], secret: bytes = SECRET) -> play.Position:
    """Return a table before its first round."""
    return play.open_table("jackpot", SESSION, secret, seats, options)


def new(seats: tuple[play.Seat, ...] = people(2), /, **options: object) -> play.Position:
    """Return a table before its first round, its options given by name."""
    return opened(seats, options)


def with_secret(position: play.Position, number: int) -> play.Position:
    """Return the same table with another secret."""
    return replace(position, secret=bytes([number]) * 64)


def laid(
    hands: Mapping[int, str], stock: str = "", discards: str = "", *, short: bool = False, **options: object
) -> play.Position:
    """Return a first pass with these hands, the named stock on top of the other cards.

    In a `short` stock there are only those named; the others lie at the bottom of the discard pile.
    """
    position = opened(people(max(hands) + 1), options)
    named = {seat: cards(hand.split()) for seat, hand in hands.items()}
    top, away = cards(stock.split()), cards(discards.split())
    rest = tuple(card for card in pack() if card not in (*sum(named.values(), ()), *top, *away))
    assert len(rest) + len(top) + len(away) + 5 * len(named) == 52, "a card was dealt twice"
    state = replace(
        inside(position),
        round=1,
        playing=True,
        order=tuple(hands),
        first=next(iter(hands)),
        pass_number=1,
        turn=next(iter(hands)),
        since=NOW,
        stock=Pile(top if short else top + rest),
        discards=Pile(away + rest if short else away),
    )
    for seat, hand in named.items():
        state = state.with_hand(seat, replace(state.hands[seat], cards=own(seat, hand), rounds=1))
    return replace(position, state=state)


def inside(position: play.Position) -> Passing:
    """Return the game's state, hidden cards and all."""
    assert isinstance(position.state, Passing)
    return position.state


def due(position: play.Position, now: int) -> tuple[play.Step, ...]:
    """Return what time and the bots have done up to `now`."""
    return play.settle(position, now, BOTS["jackpot"])


def at(position: play.Position, now: int) -> play.Position:
    """Return the position as it is at `now`."""
    made = due(position, now)
    return made[-1].position if made else position


def send(position: play.Position, seat: int | None, verb: str, now: int = NOW, **body: object) -> play.Step:
    """Return what comes of a seat's move, or of the host's, after what was due."""
    move = Move(seat, Action(verb, body), now)
    position = at(position, now)
    return play.host_acts(position, move) if seat is None else play.advance(position, move)


def sent(position: play.Position, seat: int | None, verb: str, now: int = NOW, **body: object) -> play.Position:
    """Return the position after a move."""
    return send(position, seat, verb, now, **body).position


def dropped(position: play.Position, *drops: tuple[int, list[int]], now: int = NOW) -> play.Position:
    """Return the position after seats have dropped, one after the other."""
    for seat, positions in drops:
        position = sent(position, seat, "choose", now, drop=positions)
    return position


def stood(position: play.Position, now: int = NOW) -> play.Position:
    """Return the position after every seat in its turn has dropped nothing, to the end of the pass."""
    number = inside(position).pass_number
    while (turn := inside(position).turn) is not None and inside(position).pass_number == number:
        position = sent(position, turn, "choose", now, drop=[])
    return position


def played_out(position: play.Position, random: Random) -> Iterator[play.Step]:
    """Play a round with drops at random; yield every step."""
    now = NOW
    while inside(position).playing:
        now += 10
        state = inside(position)
        if state.turn is None:
            step = send(position, state.order[-1], "evaluate", now)
        else:
            drop = random.sample(range(5), random.randint(0, 3))
            step = send(position, state.turn, "choose", now, drop=drop)
        yield step
        position = step.position


def drawing(stock: str, *hands: str) -> play.Step:
    """Return the flip of hands that tie, the card draw's cards on top of the stock."""
    return send(stood(laid(dict(enumerate(hands)), stock=stock)), 0, "evaluate")


def refused(position: play.Position, seat: int, verb: str, now: int = NOW, **body: object) -> tuple[str, str]:
    """Return code and sentence of the refusal that the move must meet."""
    try:
        send(position, seat, verb, now, **body)
    except Illegal as refusal:
        return refusal.code, refusal.detail
    raise AssertionError(f"{verb} {body} was not refused")


def types(events: tuple[Event, ...]) -> list[str]:
    """Return what happened, by type."""
    return [event.type for event in events]


def told(made: play.Step, viewer: Viewer) -> list[dict[str, Any]]:
    """Return a step's events as the viewer is sent them."""
    return [plain(event.seen(look_as(viewer))) for event in made.events]


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON makes of it
    """Return the value as it arrives in JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def table(position: play.Position, viewer: Viewer = None) -> Any:  # noqa: ANN401 - plain data
    """Return the table as the viewer is sent it."""
    return plain(play.view(position, viewer).table)


def traffic(position: play.Position, viewer: Viewer) -> bytes:
    """Return all that a viewer can ask of a position, as bytes."""
    seen = play.view(position, viewer)
    offered = () if viewer is None else play.offers(position, viewer)
    return msgspec.json.encode([seen, offered, GAME.draw(seen.table), play.score(position, viewer)])


def all_cards(position: play.Position) -> list[str]:
    """Return every card of the game, wherever it lies, sorted."""
    return sorted(card for pile in GAME.piles(position.state) for card in pile.cards)


def chips(position: play.Position) -> int:
    """Return all balances and the jackpot together."""
    state = inside(position)
    return state.jackpot + sum(hand.balance for hand in state.hands)


def balances(position: play.Position) -> list[int]:
    """Return every seat's balance."""
    return [hand.balance for hand in inside(position).hands]


def swapped(position: play.Position, one: str, other: str) -> play.Position:
    """Return the position with two cards in each other's place, wherever a state names them."""
    stored = msgspec.to_builtins(position.state)
    change = {one: other, other: one}

    def exchanged(value: Any) -> Any:  # noqa: ANN401 - plain data
        if isinstance(value, str):
            return change.get(value, value)
        if isinstance(value, dict):
            return {key: exchanged(each) for key, each in value.items()}
        return [exchanged(each) for each in value] if isinstance(value, (list, tuple)) else value

    return replace(position, state=msgspec.convert(exchanged(stored), type(position.state)))


def enumerated(kept: tuple[str, ...], pool: tuple[Card, ...], *, wheel: bool) -> tuple[int, ...]:
    """Return in how many draws from the pool the kept cards become each category, one draw after the other."""
    ways = [0] * 11
    for drawn in combinations(pool, 5 - len(kept)):
        ways[category(kept + drawn, wheel=wheel)] += 1
    return tuple(ways)
