"""Jackpot's hands: eleven categories, and nothing but the category decides (JP-7 … JP-10)."""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from engine.cards import rank, suit
from engine.poker import ACE, Rules, rank_five
from engine.poker import Category as Kind

TRIO_SIZE = 3
COURT = tuple(map(rank, "KQJ"))


class Category(IntEnum):
    """What a hand is, lowest first (JP-7)."""

    NOTHING = 0
    DOUBLES = 1
    TRIO = 2
    MULTIPLE_DOUBLES = 3
    HAT_TRICK = 4
    FOUR_OF_A_KIND = 5
    STRAIT = 6
    FOLLOW_UP = 7
    ACED = 8
    ROYAL_KINGDOM = 9
    ROYAL_FAMILY = 10

    @property
    def title(self) -> str:
        """Return the category's name in words."""
        return TITLES[self][0]


TITLES = {
    Category.NOTHING: ("Nothing", "five cards that are nothing below"),
    Category.DOUBLES: ("Doubles", "two cards of one rank"),
    Category.TRIO: ("Trio", "three or four cards of one suit"),
    Category.MULTIPLE_DOUBLES: ("Multiple Doubles", "two cards of one rank and two of another"),
    Category.HAT_TRICK: ("Hat Trick", "three cards of one rank"),
    Category.FOUR_OF_A_KIND: ("Four of a Kind", "four cards of one rank"),
    Category.STRAIT: ("Strait", "five cards of one suit"),
    Category.FOLLOW_UP: ("Follow-up", "five cards of one suit in order"),
    Category.ACED: ("Aced", "four aces"),
    Category.ROYAL_KINGDOM: ("Royal Kingdom", "four kings, queens or jacks, and an ace"),
    Category.ROYAL_FAMILY: ("Royal Family", "ace, king, queen, jack and ten of one suit"),
}
"""The name of each category, and what it is, in words."""

_BY_KIND = {
    Kind.ONE_PAIR: Category.DOUBLES,
    Kind.TWO_PAIR: Category.MULTIPLE_DOUBLES,
    Kind.THREE_OF_A_KIND: Category.HAT_TRICK,
    Kind.FULL_HOUSE: Category.HAT_TRICK,
    Kind.FLUSH: Category.STRAIT,
    Kind.STRAIGHT_FLUSH: Category.FOLLOW_UP,
    Kind.ROYAL_FLUSH: Category.ROYAL_FAMILY,
}
"""What counts here of poker's kinds: no straight of mixed suits, and a full house is a Hat Trick (JP-8)."""


def category(cards: Sequence[str], *, wheel: bool = False) -> Category:
    """Return the highest category that five cards satisfy (JP-7); `wheel` takes the ace low too (JP-9)."""
    hand = rank_five(cards, Rules(wheel=wheel))
    if hand.category is Kind.FOUR_OF_A_KIND:
        return four(*hand.order)
    found = _BY_KIND.get(hand.category, Category.NOTHING)
    if found < Category.TRIO and max(Counter(map(suit, cards)).values()) >= TRIO_SIZE:
        return Category.TRIO
    return found


def four(value: int, other: int) -> Category:
    """Return what four cards of one rank are with a fifth card of another (JP-7)."""
    if value == ACE:
        return Category.ACED
    return Category.ROYAL_KINGDOM if value in COURT and other == ACE else Category.FOUR_OF_A_KIND
