"""Beat the Dealer: what a viewer is shown of the table and of the score, and the table as text."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import reduce
from typing import Any

from msgspec import Struct

from engine.cards import Face
from engine.games.beat_the_dealer_ranks import Guess, Hint
from engine.phrases import Phrase, phrase

POINTS = "points"
UNITS = ("sips", POINTS)


class Phase(StrEnum):
    """Where a round is."""

    DEAL = "deal"
    GUESS = "guess"
    SETTLED = "settled"


class Outcome(StrEnum):
    """How a turn ended: guessed, lost, lost by time (BD-13), or void as the guesser left, or as the round ended."""

    FIRST = "first"
    SECOND = "second"
    LOST = "lost"
    LAPSED = "lapsed"
    LEFT = "left"
    VOID = "void"


class Reason(StrEnum):
    """Why a round ended (BD-9)."""

    DECK = "deck-used-up"
    ENDED = "ended"
    SEATS = "too-few-seats"


class PileView(Struct, frozen=True):
    """The laid cards of a rank; a pile of four is complete and turned face down (BD-6)."""

    rank: str
    count: int
    complete: bool


class LastTurn(Struct, frozen=True):
    """The turn that ended last: its card, `None` where it was not laid, and who drank how much."""

    dealer: int
    guesser: int
    guesses: tuple[Guess, ...]
    outcome: Outcome
    card: Face | None
    drinker: int | None
    amount: int


class TallyView(Struct, frozen=True):
    """What a seat has come to: units drunk in all and by role, turns as guesser, longest time as dealer in turns."""

    seat: int
    drunk: int
    drunk_as_guesser: int
    drunk_as_dealer: int
    won: int
    lost: int
    longest_deal: int


class Longest(Struct, frozen=True):
    """The longest time as dealer, in turns, and all seats that have come to it; none before the first turn's end."""

    turns: int
    seats: tuple[int, ...]


class Result(Struct, frozen=True):
    """How the round ended, and who has survived longest as dealer (BD-11)."""

    reason: Reason
    longest: Longest


class Table(Struct, frozen=True, tag_field="game", tag="beat-the-dealer"):
    """What a viewer sees of a round.

    `players` are the seats in the round; `dealer_turns` counts the present dealer's turns so far, `streak` the lost
    turns in a row, `deck` the cards not laid yet (BD-16). `max_sips` caps a drink.
    """

    phase: Phase
    units: str
    max_sips: int | None
    players: tuple[int, ...]
    dealer: int
    dealer_turns: int
    guesser: int | None
    guesses: tuple[Guess, ...]
    top_card: Face | None
    piles: tuple[PileView, ...]
    deck: int
    streak: int
    last_turn: LastTurn | None
    tallies: tuple[TallyView, ...]
    result: Result | None


class Sheet(Struct, frozen=True, tag_field="game", tag="beat-the-dealer"):
    """The score sheet: every seat's tally, and who has survived longest as dealer (BD-11)."""

    units: str
    max_sips: int | None
    dealer: int
    dealer_turns: int
    tallies: tuple[TallyView, ...]
    longest: Longest
    result: Result | None


NAMES = {"A": phrase("ace"), "T": "10", "J": phrase("jack"), "Q": phrase("queen"), "K": phrase("king")}
HINTS = {Hint.HIGHER: phrase("higher"), Hint.LOWER: phrase("lower")}
REASONS = {
    Reason.DECK: phrase("The round is over: the deck is used up."),
    Reason.ENDED: phrase("The round is over: the host has ended it."),
    Reason.SEATS: phrase("The round is over: fewer than two seats are left."),
}
ENDINGS = {
    Outcome.FIRST: "Last turn: seat {seat} guessed {guesses}, right at once.",
    Outcome.SECOND: "Last turn: seat {seat} guessed {guesses}, right at the second guess.",
    Outcome.LOST: "Last turn: seat {seat} guessed {guesses}, and the card was {card}.",
    Outcome.LAPSED: "Last turn: seat {seat} let the time run out, and the card was {card}.",
    Outcome.LEFT: "Last turn: seat {seat} left, and the card was {card}.",
    Outcome.VOID: "Last turn: seat {seat} guessed to no end, the turn is void.",
}


def name(rank: str) -> str:
    """Return what a rank is called."""
    return NAMES.get(rank, rank)


def drawn(table: Table) -> list[str]:
    """Return the table as text: who deals and who guesses, the piles ace to king, and what everyone has drunk."""
    lines: list[str] = [
        phrase("Dealer: seat {seat}, {turns} so far", seat=table.dealer, turns=_turns(table.dealer_turns)),
        phrase("Deck: {deck}   lost turns in a row: {streak} of 3", deck=table.deck, streak=table.streak),
        *_drawn_turn(table),
        "",
        phrase("Rank  {cells}", cells="  ".join(pile.rank for pile in table.piles)),
        phrase("Laid  {cells}", cells="  ".join(str(pile.count or ".") for pile in table.piles)),
        "",
        *_drawn_tallies(table.tallies, table.units),
    ]
    if table.last_turn:
        lines += ["", *_drawn_last(table.last_turn, table.units)]
    return [*lines, *(_drawn_longest(table.result.longest) if table.result else ())]


def drawn_sheet(sheet: Sheet) -> list[str]:
    """Return the score sheet as text: what everyone has drunk, and who has dealt longest."""
    lines = [REASONS[sheet.result.reason], ""] if sheet.result else []
    return [*lines, *_drawn_tallies(sheet.tallies, sheet.units), "", *_drawn_longest(sheet.longest)]


def told(event: Mapping[str, Any]) -> Phrase | None:
    """Return in a sentence that the dealer's role has passed on (BD-7, BD-10)."""
    if event["type"] != "dealer":
        return None
    if event["why"] == "lost-turns":
        return phrase("Three lost turns in a row: seat {seat} is the dealer now.", seat=event["seat"])
    return phrase("The dealer has left: seat {seat} is the dealer now.", seat=event["seat"])


def _drawn_turn(table: Table) -> Iterator[Phrase]:
    """Yield what the table waits for."""
    if table.result:
        yield REASONS[table.result.reason]
    elif table.phase is not Phase.GUESS:
        yield phrase("No round is in play.")
    else:
        yield phrase("Top card: {card}", card=table.top_card or phrase("face down"))
        if not table.guesses:
            yield phrase("Seat {seat} is to guess.", seat=table.guesser)
        for guess in table.guesses:
            facts = {"seat": table.guesser, "rank": name(guess.rank), "hint": guess.hint and HINTS[guess.hint]}
            yield phrase("Seat {seat} guessed {rank}: the card is {hint}. One more guess.", **facts)


def _drawn_tallies(tallies: Iterable[TallyView], units: str) -> Iterator[str]:
    """Yield what all seats have come to, under a heading."""
    heading = "Seat {units:>8}   as dealer   as guesser    won   lost   turns as dealer"
    yield phrase(heading, units=_units(units))
    yield from map(_drawn_tally, tallies)


def _drawn_longest(longest: Longest) -> Iterator[Phrase]:
    """Yield who has survived longest as dealer, once somebody has."""
    if longest.seats:
        seats = _listed([phrase("seat {seat}", seat=seat) for seat in longest.seats])
        yield phrase("Longest as dealer: {seats}, {turns}", seats=seats, turns=_turns(longest.turns))


def _drawn_tally(tally: TallyView) -> str:
    """Return what a seat has come to, in the columns of the heading: numbers alone."""
    drunk = f"{tally.drunk:>8}{tally.drunk_as_dealer:>12}{tally.drunk_as_guesser:>13}"
    return f"{tally.seat:>4} {drunk}{tally.won:>7}{tally.lost:>7}{tally.longest_deal:>18}"


def _drawn_last(turn: LastTurn, units: str) -> Iterator[Phrase]:
    """Yield how the last turn went, and who drinks."""
    guesses = _listed([phrase("{rank}", rank=name(guess.rank)) for guess in turn.guesses])
    card = name(turn.card[0]) if turn.card else ""
    yield phrase(ENDINGS[turn.outcome], seat=turn.guesser, guesses=guesses, card=card)
    if turn.drinker is None:
        yield phrase("Nobody drinks.")
        return
    drinks = "Seat {seat} takes {amount}." if units == POINTS else "Seat {seat} drinks {amount}."
    yield phrase(drinks, seat=turn.drinker, amount=_amount(turn.amount, units))


def _units(units: str) -> Phrase:
    return phrase("points") if units == POINTS else phrase("sips")


def _amount(count: int, units: str) -> Phrase:
    """Return a number of sips or points (BD-8)."""
    if units == POINTS:
        return phrase("1 point") if count == 1 else phrase("{count} points", count=count)
    return phrase("1 sip") if count == 1 else phrase("{count} sips", count=count)


def _turns(count: int) -> Phrase:
    return phrase("1 turn") if count == 1 else phrase("{count} turns", count=count)


def _listed(phrases: list[Phrase]) -> Phrase:
    """Return phrases with commas between them, and nothing of none."""
    return reduce(lambda one, other: phrase("{one}, {other}", one=one, other=other), phrases or [phrase("")])
