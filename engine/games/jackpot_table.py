"""Jackpot: what a viewer is shown of the table and of the score, and the table as text."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from engine.cards import Face
from engine.games.jackpot_hands import Category

PASSES = 3
MOST_DROPPED = 3
"""How many cards a seat may drop in a pass (JP-4)."""


class Phase(StrEnum):
    """Where a round is."""

    DEAL = "deal"
    DROP = "drop"
    FLIP = "flip"
    SETTLED = "settled"


class By(StrEnum):
    """What won a round: the best hand, the card draw among equals, or being the last seat left."""

    HAND = "hand"
    DRAW = "draw"
    LAST = "last"


class Drawn(Struct, frozen=True):
    """A card of a card draw, and whose it is."""

    seat: int
    card: Face | None


class Result(Struct, frozen=True):
    """How a round ended: `tied` are the seats that had to draw, none where one hand was best; `payout` in chips."""

    winner: int
    by: By
    tied: tuple[int, ...]
    draws: tuple[tuple[Drawn, ...], ...]
    payout: int


class HandView(Struct, frozen=True):
    """A seat's cards and chips, the cards `None` where they are not to be seen, and none for who is not in the round.

    `dropped` counts the drops of each pass, `None` for one not come to yet. `owes` is what the seat has put into
    this round's jackpot; `balance` is below 0 where the seat owes; `won` counts rounds.
    """

    seat: int
    cards: tuple[Face | None, ...]
    dropped: tuple[int | None, ...]
    discarded: tuple[Face | None, ...]
    owes: int
    balance: int
    category: Category | None
    category_name: str | None
    won: int


class Table(Struct, frozen=True, tag_field="game", tag="jackpot"):
    """What a viewer sees of a round; amounts in chips, `first` drops first, `shuffles` counts those of JP-5."""

    phase: Phase
    card_value: int
    ante: int
    wheel: bool
    jackpot: int
    pass_: int | None = field(name="pass")
    first: int | None
    turn: int | None
    stock: int
    discards: int
    shuffles: int
    hands: tuple[HandView, ...]
    result: Result | None


class Sheet(Struct, frozen=True, tag_field="game", tag="jackpot"):
    """The score sheet: the round in play or the last one, and what each seat has come to."""

    phase: Phase
    card_value: int
    ante: int
    jackpot: int
    hands: tuple[HandView, ...]
    result: Result | None


def drawn(table: Table) -> list[str]:
    """Return the table as text: what it waits for, and every hand, the one whose turn it is marked."""
    ante = f"ante {table.ante}   " if table.ante else ""
    lines = [
        f"Jackpot {table.jackpot}   {_where(table)}",
        f"A dropped card costs {table.card_value}   {ante}stock {table.stock}   discard pile {table.discards}",
    ]
    for hand in table.hands:
        lines += ["", *_drawn_hand(hand, turn=hand.seat == table.turn)]
    return [*lines, *(["", *_drawn_result(table.result)] if table.result else [])]


def drawn_sheet(sheet: Sheet) -> list[str]:
    """Return the score sheet as text: every hand as far as it is seen, and who took the jackpot."""
    lines = [f"Jackpot {sheet.jackpot}   a dropped card costs {sheet.card_value}   ante {sheet.ante}"]
    for hand in sheet.hands:
        lines += ["", *_drawn_hand(hand, turn=False)]
    return [*lines, *(["", *_drawn_result(sheet.result)] if sheet.result else [])]


def told(event: Mapping[str, Any]) -> str | None:
    """Return in a sentence what no table shows: cards that were dropped and drawn, and a shuffle (JP-4, JP-5)."""
    match event:
        case {"type": "dropped" | "drawn" as way, "cards": cards} if cards:
            verb = "dropped" if way == "dropped" else "drew"
            return f"Seat {event['seat']} {verb} {' '.join(card or '??' for card in cards)}."
        case {"type": "lapsed"}:
            return f"The time of seat {event['seat']} is over: it drops nothing."
        case {"type": "shuffled"}:
            return f"The discard pile was shuffled into a new stock of {event['count']} cards."
    return None


def _where(table: Table) -> str:
    """Return what the table waits for."""
    match table.phase:
        case Phase.DEAL:
            return "before the first deal"
        case Phase.DROP:
            return f"pass {table.pass_} of {PASSES}: seat {table.turn} is to drop"
        case Phase.FLIP:
            return "the passes are over: anyone in the round may flip"
        case Phase.SETTLED:
            return "the round is over"


def _drawn_hand(hand: HandView, *, turn: bool) -> list[str]:
    """Return a seat's chips and drops of each pass, its cards under their positions, and what it has dropped."""
    about = [f"{'>' if turn else ' '} Seat {hand.seat}", f"balance {hand.balance}"]
    about += [f"put in {hand.owes}"] if hand.owes else []
    dropped = ", ".join(str(count) for count in hand.dropped if count is not None)
    lines = ["   ".join([*about, f"dropped {dropped}"] if dropped else about)]
    if any(hand.cards):
        lines.append(_row("position", [f"{place:>2}" for place in range(len(hand.cards))]))
    if hand.cards:
        lines.append(_row("card", [card or "??" for card in hand.cards]) + f"   {hand.category_name or ''}".rstrip())
    if any(hand.discarded):
        lines.append(_row("dropped", [card or "??" for card in hand.discarded]))
    return lines


def _row(name: str, cells: list[str]) -> str:
    return f"    {name:<8}  {'  '.join(cells)}"


def _drawn_result(result: Result) -> list[str]:
    """Return the card draws, one a line, and who takes the jackpot."""
    ways = {By.HAND: "the best hand", By.DRAW: "the card draw", By.LAST: "the last seat left"}
    draws = (", ".join(f"seat {each.seat} {each.card}" for each in draw) for draw in result.draws)
    lines = [f"Card draw {number}: {cards}" for number, cards in enumerate(draws, 1)]
    return [*lines, f"Seat {result.winner} takes the jackpot of {result.payout}: {ways[result.by]}"]
