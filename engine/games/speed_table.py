"""Speed: what a viewer is shown of the table and of the score, and the table as text."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from engine.cards import Face
from engine.games.speed_plays import SIDES, fits


class Phase(StrEnum):
    """Where a round is."""

    READY = "ready"
    COUNTDOWN = "countdown"
    OPEN = "open"
    SETTLED = "settled"


class Result(Struct, frozen=True):
    """How a round ended: `reason` is out-of-cards, forfeit or stalemate; cards left by seat; the payout in chips."""

    winner: int | None
    reason: str
    cards_left: tuple[int, ...]
    payout: int


class Tally(Struct, frozen=True):
    """A seat's running totals over settled rounds; the balance in chips, negative what it owes (SP-12)."""

    seat: int
    won: int = 0
    drawn: int = 0
    lost: int = 0
    plays: int = 0
    penalties: int = 0
    balance: int = 0


class PileView(Struct, frozen=True):
    """A centre pile: its top, its size, its top's number, and the size of its side stock (SP-14)."""

    top: Face | None
    size: int
    seq: int
    side: int


class Piles(Struct, frozen=True):
    """Both centre piles."""

    left: PileView
    right: PileView


class HandView(Struct, frozen=True):
    """A seat's cards: the five slots, `None` for an empty one and for every one of another's; and how many there are.

    `passed` is a pass by choice alone (SP-9); `ready` waits for the other seat's deal (SP-3).
    """

    seat: int
    slots: tuple[Face | None, ...]
    hand: int
    stock: int
    passed: bool
    penalty_until: int | None
    ready: bool
    balance: int


class Table(Struct, frozen=True, tag_field="game", tag="speed"):
    """What a viewer sees of a round; times in ms, the stake in chips a card."""

    phase: Phase
    countdown_until: int | None
    piles: Piles
    hands: tuple[HandView, ...]
    stake: int
    result: Result | None


class Sheet(Struct, frozen=True, tag_field="game", tag="speed"):
    """The score sheet (SP-16): a round's figures by seat, and the totals of the settled rounds."""

    winner: int | None
    reason: str | None
    cards_left: tuple[int, ...]
    payout: int
    stake: int
    flips: int
    plays: tuple[int, ...]
    penalties: tuple[int, ...]
    totals: tuple[Tally, ...]


PHASES = {
    Phase.READY: "Before the first round: it begins when both seats have sent deal",
    Phase.COUNTDOWN: "Countdown",
    Phase.OPEN: "Both play at once",
    Phase.SETTLED: "The round is over",
}
WAYS = {
    "out-of-cards": "out of cards",
    "forfeit": "the other seat has left",
    "stalemate": "no card in hand fits any card of the centre",
}


def drawn(table: Table) -> list[str]:
    """Return the table as text: the piles, and every hand with its slots and where its cards fit."""
    lines = [_drawn_head(table), ""]
    if table.phase is Phase.READY:
        return lines + [f"Seat {hand.seat}: {'ready' if hand.ready else 'not ready yet'}" for hand in table.hands]
    tops = {}
    for side in SIDES:
        pile = getattr(table.piles, side)
        tops[side] = pile.top if table.phase is Phase.OPEN else None
        about = f"number {pile.seq}   pile {pile.size:>2}   side stock {pile.side}"
        lines.append(f"{side.capitalize():6} [{pile.top or '  '}]   {about}")
    for hand in table.hands:
        lines += ["", *_drawn_hand(hand, tops)]
    return [*lines, *(["", _drawn_result(table.result)] if table.result else [])]


def drawn_sheet(sheet: Sheet) -> list[str]:
    """Return the score sheet as text: the round and its figures by seat, then the totals of the settled rounds."""
    ended = "The round is not settled" if sheet.reason is None else _ended(sheet.winner, sheet.reason)
    lines = [f"{ended}   (stake {sheet.stake} a card, paid {sheet.payout}; flips {sheet.flips})", ""]
    lines.append("This round  cards left   plays   penalties")
    for seat, figures in enumerate(zip(sheet.cards_left, sheet.plays, sheet.penalties, strict=True)):
        left, plays, penalties = figures
        lines.append(f"Seat {seat}      {left:>10}{plays:>8}{penalties:>12}")
    lines += ["", "All rounds  won   drawn   lost   plays   penalties   balance"]
    for each in sheet.totals:
        won = f"Seat {each.seat}     {each.won:>4}{each.drawn:>8}{each.lost:>7}"
        lines.append(f"{won}{each.plays:>8}{each.penalties:>12}{each.balance:>10}")
    return lines


def told(event: Mapping[str, Any]) -> str | None:
    """Return in a sentence what no table shows: a play, and a centre pile that was shuffled (SP-2, SP-10)."""
    match event:
        case {"type": "play", "seat": seat, "card": [card], "drawn": drawn, "pile": pile}:
            fresh = f" and drew {drawn[0]}" if drawn and drawn[0] else ""
            return f"Seat {seat} played {card} on the {pile} pile{fresh}."
        case {"type": "reshuffled", "pile": pile}:
            return f"The {pile} pile was shuffled into a new side stock."
    return None


def _drawn_head(table: Table) -> str:
    until = "" if table.countdown_until is None else f": play opens at {_clock(table.countdown_until)}"
    stake = f"   (stake {table.stake} a card)" if table.stake else ""
    return f"{PHASES[table.phase]}{until}{stake}"


def _drawn_hand(hand: HandView, tops: Mapping[str, Face | None]) -> list[str]:
    """Return a hand with the numbers of its slots, or how many cards another's holds."""
    marks = [
        *(["ready"] if hand.ready else []),
        *(["has passed"] if hand.passed else []),
        *([f"no play until {_clock(hand.penalty_until)}"] if hand.penalty_until is not None else []),
        *([f"balance {hand.balance:+}"] if hand.balance else []),
    ]
    about = ", ".join([f"Seat {hand.seat}: {hand.hand} in hand, {hand.stock} in stock", *marks])
    if not any(hand.slots):
        return [about]
    where = ["".join(side[0] for side in SIDES if fits(card, tops[side])) for card in hand.slots]
    return [
        about,
        _row("slot", map(str, range(len(hand.slots)))),
        _row("card", (card or "--" for card in hand.slots)),
        *([_row("fits", where) + "   (l left, r right)"] if any(where) else []),
    ]


def _row(name: str, cells: Iterable[str]) -> str:
    return f"  {name}  {'  '.join(f'{cell:>2}' for cell in cells)}".rstrip()


def _clock(at: int) -> str:
    """Return the time of day of a moment (ms since the epoch), in UTC."""
    seconds, thousandths = divmod(at % 86_400_000, 1000)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{thousandths:03} UTC"


def _drawn_result(result: Result) -> str:
    """Return who has won and why, and what the other seat pays."""
    ended = _ended(result.winner, result.reason)
    if result.winner is None:
        return ended
    loser = 1 - result.winner
    paid = f" and pays {result.payout}" if result.payout else ""
    return f"{ended}; seat {loser} has {result.cards_left[loser]} left{paid}"


def _ended(winner: int | None, reason: str) -> str:
    return f"{'A draw' if winner is None else f'Seat {winner} wins'}: {WAYS[reason]}"
