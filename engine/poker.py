"""Five-card ranking, shared by the games that use it; each passes its own rules."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import groupby

from msgspec import Struct

from engine.cards import rank, suit

ACE = 14
HAND_SIZE = 5


class Category(StrEnum):
    """The kinds of hand, by the names that the contract uses."""

    NOTHING = "nothing"
    ONE_PAIR = "one-pair"
    TWO_PAIR = "two-pair"
    THREE_OF_A_KIND = "three-of-a-kind"
    STRAIGHT = "straight"
    FLUSH = "flush"
    FULL_HOUSE = "full-house"
    FOUR_OF_A_KIND = "four-of-a-kind"
    FIVE_OF_A_KIND = "five-of-a-kind"
    STRAIGHT_FLUSH = "straight-flush"
    ROYAL_FLUSH = "royal-flush"


STRENGTH = {category: place for place, category in enumerate(Category)}
"""The common order, lowest first; a game with another order ranks by its own table."""


class Rules(Struct, frozen=True):
    """What games differ in: may the ace count low in a straight, is a royal flush its own kind."""

    wheel: bool = False
    royal: bool = True


class Hand(Struct, frozen=True):
    """A hand's category, and its ranks from the largest group down, then by kickers (SI-11)."""

    category: Category
    order: tuple[int, ...]

    @property
    def strength(self) -> tuple[int, tuple[int, ...]]:
        """Return a value that compares hands: suits never break a tie."""
        return STRENGTH[self.category], self.order


_GROUPS = {
    (5,): Category.FIVE_OF_A_KIND,
    (4, 1): Category.FOUR_OF_A_KIND,
    (4,): Category.FOUR_OF_A_KIND,
    (3, 2): Category.FULL_HOUSE,
    (3, 1, 1): Category.THREE_OF_A_KIND,
    (3, 1): Category.THREE_OF_A_KIND,
    (3,): Category.THREE_OF_A_KIND,
    (2, 2, 1): Category.TWO_PAIR,
    (2, 2): Category.TWO_PAIR,
    (2, 1, 1, 1): Category.ONE_PAIR,
    (2, 1, 1): Category.ONE_PAIR,
    (2, 1): Category.ONE_PAIR,
    (2,): Category.ONE_PAIR,
}


def rank_five(cards: Sequence[str], rules: Rules) -> Hand:
    """Rank five cards; those without a rank (bonus cards, drinks) take part in nothing (SK-15)."""
    ranks = tuple(sorted(map(rank, cards)))
    hand = _by_ranks(ranks, rules.wheel)
    if ranks[0] and len(set(map(suit, cards))) == 1:
        return _suited(hand, rules)
    return hand


def _suited(hand: Hand, rules: Rules) -> Hand:
    """Return the hand when all five are of one suit: its ranks are then all different."""
    if hand.category is not Category.STRAIGHT:
        return Hand(Category.FLUSH, hand.order)
    if rules.royal and hand.order == (ACE,):
        return Hand(Category.ROYAL_FLUSH, hand.order)
    return Hand(Category.STRAIGHT_FLUSH, hand.order)


@cache  # the multisets of ranks are some thousands
def _by_ranks(ranks: tuple[int, ...], wheel: bool) -> Hand:
    """Rank by ranks alone; `ranks` ascend, and 0 stands for a card without one."""
    groups = [(len(list(same)), value) for value, same in groupby(ranks) if value]
    groups.sort(reverse=True)
    order = tuple(value for _, value in groups)
    if len(order) == HAND_SIZE and order[0] - order[-1] == HAND_SIZE - 1:
        return Hand(Category.STRAIGHT, order[:1])
    if wheel and order == (ACE, 5, 4, 3, 2):
        return Hand(Category.STRAIGHT, (5,))
    return Hand(_GROUPS.get(tuple(count for count, _ in groups), Category.NOTHING), order)
