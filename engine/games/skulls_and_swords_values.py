"""What the cards of Skulls & Swords are, and what thirty of them are worth (SK-1, SK-2, SK-14 … SK-18).

In the decks a drink carries its sign (`MA-`), which its face (`MA`) does not show (SK-10).
Amounts are points.
"""

from typing import Any

from msgspec import Struct

from engine.cards import SIX_SUITS, Card, Face, cards, face, pack
from engine.piles import Pile
from engine.poker import Category, Rules, rank_five

ROWS, ROW_SIZE = 6, 5
PLACES = ROWS * ROW_SIZE

BONUS = Card("B")
BONUS_CARDS = 5
BONUS_POINTS = 5
BONUS_BRINGS = 4
"""Cards that a kept bonus card brings from the Cocktail Deck into the game deck (SK-7)."""

POINTS = {  # SK-15, the most points first
    Category.ROYAL_FLUSH: 75,
    Category.STRAIGHT_FLUSH: 60,
    Category.FIVE_OF_A_KIND: 45,
    Category.FOUR_OF_A_KIND: 30,
    Category.STRAIGHT: 25,
    Category.FLUSH: 25,
    Category.FULL_HOUSE: 20,
    Category.THREE_OF_A_KIND: 15,
    Category.TWO_PAIR: 10,
    Category.ONE_PAIR: 5,
    Category.NOTHING: 0,
}
ROW_RULES = Rules(wheel=False, royal=True)  # SK-16: the ace counts high only


class Drink(Struct, frozen=True):
    """A cocktail card: its points, its copies in each deck, and the cards that keeping one moves."""

    name: str
    value: int
    positive: int
    negative: int
    deals_in: int
    """Cards from the Deal-In deck into the Cocktail Deck (SK-8)."""
    brings: int
    """Cards from the Cocktail Deck into the game deck (SK-8)."""
    dealt_in: int = 15
    """Copies in the Deal-In deck, all negative."""


DRINKS = {
    "RC": Drink("Rum and Coke", 10, positive=7, negative=1, deals_in=1, brings=1),
    "GT": Drink("Gin and Tonic", 20, positive=7, negative=1, deals_in=2, brings=2),
    "LI": Drink("Long Island Iced Tea", 30, positive=6, negative=2, deals_in=3, brings=2),
    "MA": Drink("Margarita", 50, positive=6, negative=2, deals_in=5, brings=3),
}
TWOS = pack(SIX_SUITS, "2")
PLAIN = pack(SIX_SUITS, "3456789TJQKA")

GAME_DECKS = {False: Pile(PLAIN), True: Pile(TWOS + PLAIN)}
"""The ranked cards, without the twos and with them: 72 or 78 (SK-1)."""
BONUS_PILE = Pile((BONUS,) * BONUS_CARDS)
COCKTAIL_DECK = Pile(
    cards(
        code + sign
        for code, drink in DRINKS.items()
        for sign, copies in (("+", drink.positive), ("-", drink.negative))
        for _ in range(copies)
    )
)
DEAL_IN_DECK = Pile(cards(code + "-" for code, drink in DRINKS.items() for _ in range(drink.dealt_in)))


class Row(Struct, frozen=True):
    """A row's cards, its best combination and its points (SK-15)."""

    cards: tuple[Face, ...]
    combination: Category
    points: int


class Bonuses(Struct, frozen=True):
    """How many bonus cards there are, and their points."""

    count: int
    points: int


class Poured(Struct, frozen=True):
    """A drink, its place, and its points: below zero when they count against."""

    position: int
    card: Face
    value: int


class Wager(Struct, frozen=True):
    """A settled wager: how much, what it brought, and why (SK-17, SK-18)."""

    amount: int
    points: int
    explanation: str


class Result(Struct, frozen=True):
    """An evaluated collection (SK-14)."""

    rows: tuple[Row, ...]
    bonuses: Bonuses
    drinks: tuple[Poured, ...]
    net: int
    wager: Wager | None
    total: int


def score_row(faces: tuple[Face, ...]) -> Row:
    """Return a row's best combination and its points (SK-15, SK-16)."""
    combination = rank_five(faces, ROW_RULES).category
    return Row(faces, combination, POINTS[combination])


def count_bonuses(faces: tuple[Face, ...]) -> Bonuses:
    """Return the bonus cards and their points (SK-14)."""
    count = faces.count(face(BONUS))
    return Bonuses(count, count * BONUS_POINTS)


def is_drink(card: str) -> bool:
    """Return whether it is one of the four drinks, with its sign or without."""
    return card[:2] in DRINKS


def settle_wager(amount: int, net: int) -> Wager:
    """Settle a wager on the net of all drinks, and say it in words (SK-17)."""
    told = f"The drinks came to {net} and you wagered {amount}"
    if amount == 0:
        return Wager(amount, 0, f"{told}: nothing is won or lost.")
    if amount > net:
        return Wager(amount, -amount, f"{told}, which is more: you lose the {amount}.")
    if amount == net:
        return Wager(amount, amount, f"{told}, which is exact: you win the {amount}.")
    short = net - amount
    if short >= amount:
        return Wager(amount, 0, f"{told}, short by {short}, no less than the wager: nothing is won or lost.")
    won = amount - short
    return Wager(amount, won, f"{told}, short by {short}: you win {amount} - {short} = {won}.")


def appraise(collection: tuple[Card, ...], wager: int | None) -> Result:
    """Score a full collection: rows, bonus cards, drinks, wager, total (SK-14, SK-18)."""
    faces = tuple(map(face, collection))
    rows = tuple(score_row(faces[start : start + ROW_SIZE]) for start in range(0, PLACES, ROW_SIZE))
    bonuses = count_bonuses(faces)
    drinks = tuple(Poured(place, face(card), _signed(card)) for place, card in enumerate(collection) if is_drink(card))
    net = sum(drink.value for drink in drinks)
    settled = None if wager is None else settle_wager(wager, net)
    total = sum(row.points for row in rows) + bonuses.points + net + (settled.points if settled else 0)
    return Result(rows, bonuses, drinks, net, settled, total)


def _signed(card: Card) -> int:
    """Return a drink's points, below zero when they count against."""
    value = DRINKS[face(card)].value
    return value if card.endswith("+") else -value


def decks_info() -> list[dict[str, Any]]:
    """Return what lies in each deck, the drinks of each sign counted (SK-2)."""
    first = [(code, drink.positive, drink.negative) for code, drink in DRINKS.items()]
    second = [(code, 0, drink.dealt_in) for code, drink in DRINKS.items()]
    return [
        {"name": "game", "cards": [*PLAIN, *BONUS_PILE.cards], "twos": list(TWOS)},
        _cocktails("cocktail", COCKTAIL_DECK, first),
        _cocktails("deal_in", DEAL_IN_DECK, second),
    ]


def _cocktails(name: str, deck: Pile, signs: list[tuple[str, int, int]]) -> dict[str, Any]:
    """Return a cocktail deck: its faces, and how many of each count for and against."""
    composition = [{"card": code, "positive": positive, "negative": negative} for code, positive, negative in signs]
    return {"name": name, "cards": [face(card) for card in deck.cards], "composition": composition}


def points_info() -> dict[str, Any]:
    """Return the points of a row, a bonus card and each drink, and the cards that the latter two move."""
    return {
        "point_values": [{"combination": each, "points": points} for each, points in POINTS.items()],
        "bonus": {"card": BONUS, "count": BONUS_CARDS, "points": BONUS_POINTS, "brings": BONUS_BRINGS},
        "drinks": [
            {"card": code, "name": drink.name, "value": drink.value, "deals_in": drink.deals_in, "brings": drink.brings}
            for code, drink in DRINKS.items()
        ],
    }
