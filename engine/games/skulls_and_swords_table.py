"""Skulls & Swords: what a viewer is shown of the table and of the score, and both as text."""

from collections.abc import Mapping
from enum import StrEnum
from textwrap import wrap
from typing import Any

from msgspec import Struct

from engine.cards import Face
from engine.games.skulls_and_swords_values import BONUS_POINTS, DRINKS, ROW_SIZE, ROWS, Result, Row, is_drink

HANDS = 15


class Phase(StrEnum):
    """Where a round is."""

    DEAL = "deal"
    CHOOSE = "choose"
    ARRANGE = "arrange"
    CONFIRMED = "confirmed"
    EVALUATED = "evaluated"


class Totals(Struct, frozen=True):
    """The session's evaluated rounds (SK-19)."""

    rounds: int = 0
    best: int | None = None
    last: int | None = None
    summed: int = 0

    def adding(self, total: int) -> "Totals":
        """Return the totals with one more round."""
        best = total if self.best is None else max(self.best, total)
        return Totals(self.rounds + 1, best, total, self.summed + total)


class Decks(Struct, frozen=True):
    """How many cards lie in each deck; the bonus cards lying apart count as the game deck's (SK-5)."""

    game: int
    cocktail: int
    deal_in: int


class Table(Struct, frozen=True, tag_field="game", tag="skulls-and-swords"):
    """What a viewer sees of a round; an empty place of the collection is `None`."""

    phase: Phase
    hand_number: int
    hand: tuple[Face | None, ...]
    collection: tuple[Face | None, ...]
    decks: Decks
    wager: int | None
    result: Result | None
    totals: Totals


class Sheet(Struct, frozen=True, tag_field="game", tag="skulls-and-swords"):
    """The score sheet of the last evaluated round, and the totals (SK-19)."""

    result: Result
    totals: Totals


DECKS = {"game": "game deck", "cocktail": "Cocktail Deck", "deal_in": "Deal-In deck"}
WIDTH = 72
LEGEND = [
    "Suits: h hearts, d diamonds, s spades, c clubs, k skulls, w swords",
    "T ten, B bonus card, and the drinks, with the points that they are worth",
    "for you or against you:",
    *(f"  {code} {drink.name} {drink.value}" for code, drink in DRINKS.items()),
]
"""What the letters of a card stand for."""


def drawn(shown: Table | Sheet) -> list[str]:
    """Return the table as text, hand and collection with their positions; or the score sheet."""
    lines = _drawn_table(shown) if isinstance(shown, Table) else []
    if shown.result:
        lines += _drawn_result(shown.result)
    if shown.totals.rounds:
        lines += ["", _drawn_totals(shown.totals)]
    return [*lines, "", *LEGEND]


def told(moved: Mapping[str, Any]) -> str:
    """Return in a sentence what a kept bonus card or drink has moved (SK-7, SK-8)."""
    count, source, target = moved["count"], DECKS[moved["from"]], DECKS[moved["to"]]
    missing = f", and {moved['missing']} fewer than due" if moved["missing"] else ""
    return f"{count} card{'' if count == 1 else 's'} went from the {source} to the {target}{missing}."


def _drawn_table(table: Table) -> list[str]:
    """Return how far the round has come, and until it is evaluated the hand and the collection."""
    decks = table.decks
    counts = f"game {decks.game}, Cocktail {decks.cocktail}, Deal-In {decks.deal_in}"
    stage, counts = _stage(table), f"Decks: {counts}"
    head = f"{stage}   {counts}"
    lines = [*([head] if len(head) <= WIDTH else [stage, counts]), ""]
    if table.result:
        return lines
    if table.hand:
        lines += [f"Hand   {_placed(table.hand, 0)}", ""]
    for row in range(ROWS):
        first = row * ROW_SIZE
        lines.append(f"Row {row + 1}  {_placed(table.collection[first : first + ROW_SIZE], first)}")
    return [*lines, *([] if table.wager is None else ["", f"Wager  {table.wager}"])]


def _stage(table: Table) -> str:
    """Return in words where the round is."""
    match table.phase:
        case Phase.DEAL if table.hand_number == 0:
            return "Before the first hand"
        case Phase.DEAL:
            return f"{table.hand_number} of {HANDS} hands played"
        case Phase.CHOOSE:
            return f"{'Last hand,' if table.hand_number == HANDS else 'Hand'} {table.hand_number} of {HANDS}"
        case Phase.ARRANGE:
            return f"All {HANDS} hands played: arrange the collection, then confirm it"
        case Phase.CONFIRMED:
            wager = (
                "wager on its drinks if you like, then " if any(map(is_drink, filter(None, table.collection))) else ""
            )
            return f"The collection is confirmed: {wager}evaluate it"
        case Phase.EVALUATED:
            return "The round is evaluated"


def _placed(faces: tuple[Face | None, ...], first: int) -> str:
    """Return cards, each after its position in brackets."""
    return " ".join(f"{f'[{place}]':>4} {code or '--':2}" for place, code in enumerate(faces, first)).rstrip()


def _drawn_result(result: Result) -> list[str]:
    """Return an evaluated collection: rows with their drinks, then line by line down to the total."""
    bonuses, wager = result.bonuses, result.wager
    lines = []
    for number, row in enumerate(result.rows):
        places = range(number * ROW_SIZE, (number + 1) * ROW_SIZE)
        drinks = [f"{drink.card} {drink.value:+}" for drink in result.drinks if drink.position in places]
        cards = " ".join(f"{card:2}" for card in row.cards)
        lines.append((f"Row {number + 1}  {cards}", row.points, ", ".join([_in_words(row), *drinks])))
    lines += [
        ("Rows", sum(row.points for row in result.rows), ""),
        ("Bonus cards", bonuses.points, f"{bonuses.count} of {BONUS_POINTS} points each"),
        ("Drinks", result.net, f"the net of {len(result.drinks)}"),
        *([("Wager", wager.points, f"you wagered {wager.amount}")] if wager else []),
        ("Total", result.total, ""),
    ]
    drawn = [f"{name:22} {points:4}  {note}".rstrip() for name, points, note in lines]
    return [*drawn[:ROWS], "", *drawn[ROWS:], *(["", *wrap(wager.explanation, WIDTH)] if wager else [])]


def _in_words(row: Row) -> str:
    return row.combination.replace("-", " ")


def _drawn_totals(totals: Totals) -> str:
    return f"Rounds {totals.rounds}   best {totals.best}, last {totals.last}, all together {totals.summed}"
