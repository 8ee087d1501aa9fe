"""Jackpot: what every drop may come to from a seat's own view, exactly, and the bots that choose by it (JP-17)."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate, combinations

from msgspec import Struct

from engine.advice.jackpot_chances import Counts, counts, unseen
from engine.cards import pack, rank
from engine.game import Action, Offer
from engine.games.jackpot_hands import Category
from engine.games.jackpot_table import MOST_DROPPED, HandView, Table
from engine.play import Bot, View
from engine.poker import HAND_SIZE

ENOUGH = Category.STRAIT
"""From here on the easy bot drops nothing."""
PLACES = tuple(map(Fraction, Category))
DEALT: Counts = (772_200, 720_720, 918_060, 123_552, 58_656, 564, 5_112, 32, 48, 12, 4)
"""Of all five-card hands, how many are in each category."""


class Prospect(Struct, frozen=True):
    """A drop, and in how many of its equally likely draws the hand becomes each category."""

    positions: tuple[int, ...]
    counts: Counts

    def mean(self, worth: tuple[Fraction, ...]) -> Fraction:
        """Return the mean of what the categories are worth."""
        summed = sum((each * count for count, each in zip(self.counts, worth, strict=True)), Fraction())
        return summed / sum(self.counts)


def prospects(table: Table, seat: int) -> Iterator[Prospect]:
    """Yield every drop of the seat's own hand, smaller ones first.

    The seat's own drops cannot come back until the discard pile is shuffled in; from then on every card outside
    the hand counts as equally likely.
    """
    hand = table.hands[seat]
    cards = _own(hand.cards)
    gone = cards + (() if table.shuffles else _own(hand.discarded))
    pool = unseen(card for card in pack() if card not in gone)
    for count in range(MOST_DROPPED + 1):
        for positions in combinations(range(HAND_SIZE), count):
            kept = tuple(card for place, card in enumerate(cards) if place not in positions)
            yield Prospect(positions, counts(kept, pool, wheel=table.wheel))


def easy(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Keep the cards that share a rank and drop the lowest others, at most three; stand from a Strait on."""
    _, hand = _mine(view)
    if hand.category is not None and hand.category >= ENOUGH:
        return _drop(())
    ranks = [rank(card) for card in _own(hand.cards)]
    single = [place for place, value in enumerate(ranks) if ranks.count(value) == 1]
    single.sort(key=lambda place: ranks[place])
    return _drop(tuple(single[:MOST_DROPPED]))


def normal(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Drop for the highest expected category; of equals the fewest cards, then the lowest positions."""
    table, hand = _mine(view)
    best = max(prospects(table, hand.seat), key=lambda each: each.mean(PLACES))
    return _drop(best.positions)


def hard(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Drop for the highest expected gain: the share of the jackpot that the draw may win, less what it costs.

    A rival is taken to hold any five cards, and to drop one more at each turn still to come: so much more is to
    be won. Of equals as above.
    """
    table, hand = _mine(view)
    rivals = [other for other in table.hands if other.cards and other.seat != hand.seat]
    turns = sum(count is None for other in rivals for count in other.dropped)
    worth = tuple(share ** len(rivals) for share in SHARES)

    def gain(prospect: Prospect) -> Fraction:
        cost = table.card_value * len(prospect.positions)
        jackpot = table.jackpot + table.card_value * turns + cost
        return prospect.mean(worth) * jackpot - cost

    return _drop(max(prospects(table, hand.seat), key=gain).positions)


def _shares() -> tuple[Fraction, ...]:
    """Return for each category the chance to beat five cards, an equal hand counting half (JP-10)."""
    below = accumulate((0, *DEALT[:-1]))
    return tuple(Fraction(2 * lower + equal, 2 * sum(DEALT)) for lower, equal in zip(below, DEALT, strict=True))


SHARES = _shares()


def _mine(view: View) -> tuple[Table, HandView]:
    """Return the table and the hand of the seat whose turn it is: a bot is asked at its own turn only."""
    table = view.table
    if not isinstance(table, Table) or table.turn is None:
        raise ValueError("a bot drops at its own turn")
    return table, table.hands[table.turn]


def _own(faces: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple(face for face in faces if face)


def _drop(positions: tuple[int, ...]) -> Action:
    return Action("choose", {"drop": sorted(positions)})


BOTS: Mapping[str, Bot] = {"easy": easy, "normal": normal, "hard": hard}
