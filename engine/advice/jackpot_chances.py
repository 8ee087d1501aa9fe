"""Jackpot: in how many ways a draw makes each category, counted by classes of ranks and suits, exactly."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb

from msgspec import Struct

from engine.cards import FRENCH_SUITS, RANKS, rank, suit
from engine.games.jackpot_hands import TRIO_SIZE, Category, four
from engine.poker import ACE, HAND_SIZE

Counts = tuple[int, ...]
"""For each category, lowest first, a number of ways."""

_ALL_RANKS = tuple(map(rank, RANKS))
_RUNS = tuple(frozenset(range(low, low + HAND_SIZE)) for low in range(2, ACE - HAND_SIZE + 2))
_WHEEL = frozenset({ACE, 2, 3, 4, 5})


class Unseen(Struct, frozen=True):
    """The cards that a draw may bring: how many, how many of each rank, and the ranks of each suit."""

    count: int
    ranks: dict[int, int]
    suits: dict[str, frozenset[int]]


class Kept(Struct, frozen=True):
    """The cards kept, how many are to be drawn, and what they may be."""

    cards: tuple[str, ...]
    draws: int
    unseen: Unseen

    def ranks(self) -> Counter[int]:
        """Return how many cards of each rank are kept."""
        return Counter(map(rank, self.cards))


def unseen(cards: Iterable[str]) -> Unseen:
    """Return the classes of the cards that a draw may bring, all equally likely."""
    pool = tuple(cards)
    ranks = Counter(map(rank, pool))
    suits = {each: frozenset(rank(card) for card in pool if suit(card) == each) for each in FRENCH_SUITS}
    return Unseen(len(pool), {value: ranks[value] for value in _ALL_RANKS}, suits)


def counts(cards: tuple[str, ...], pool: Unseen, *, wheel: bool = False) -> Counts:
    """Return in how many of the possible draws two to five kept cards become each category (JP-7).

    The counts sum to the number of draws: all ways to choose from the pool what the hand lacks of five cards.
    """
    kept = Kept(cards, HAND_SIZE - len(cards), pool)
    ways = [0] * len(Category)
    _add_suited(ways, kept, wheel=wheel)
    suited = sum(ways)
    _add_fours(ways, kept)
    ways[Category.HAT_TRICK] = _hat_tricks(kept)
    ways[Category.MULTIPLE_DOUBLES] = _two_pairs(kept)
    ways[Category.TRIO], unpaired = _trios(kept)
    ways[Category.NOTHING] = _without_pair(kept) - suited - unpaired
    ways[Category.DOUBLES] = comb(pool.count, kept.draws) - sum(ways)
    return tuple(ways)


def _choose(among: int, count: int) -> int:
    """Return the number of ways to choose, none where more or fewer than nothing are asked for."""
    return comb(among, count) if count >= 0 else 0


def _add_suited(ways: list[int], kept: Kept, *, wheel: bool) -> None:
    """Count the hands of one suit: Royal Family, Follow-up, and the rest as Strait."""
    if len(set(map(suit, kept.cards))) != 1:
        return
    pool = kept.unseen.suits[suit(kept.cards[0])]
    ranks = set(map(rank, kept.cards))
    for run in (*_RUNS, *((_WHEEL,) if wheel else ())):
        if ranks <= run and run - ranks <= pool:
            ways[Category.ROYAL_FAMILY if run == _RUNS[-1] else Category.FOLLOW_UP] += 1
    ways[Category.STRAIT] = comb(len(pool), kept.draws) - sum(ways)


def _add_fours(ways: list[int], kept: Kept) -> None:
    """Count the hands with four cards of one rank, by that rank and the fifth card's."""
    held, pool = kept.ranks(), kept.unseen.ranks
    for value in _ALL_RANKS:
        spare = kept.draws - (4 - held[value])
        made = _choose(pool[value], 4 - held[value])
        if spare < 0 or not made:
            continue
        fifth = pool if spare else {other: 1 for other in held if other != value}
        for other, count in fifth.items():
            if other != value:
                ways[four(value, other)] += made * count


def _hat_tricks(kept: Kept) -> int:
    """Count the hands with exactly three cards of one rank: no two ranks can have three."""
    held, pool, total = kept.ranks(), kept.unseen.ranks, kept.unseen.count
    ways = 0
    for value in _ALL_RANKS:
        need = 3 - held[value]
        ways += _choose(pool[value], need) * _choose(total - pool[value], kept.draws - need)
    return ways


def _two_pairs(kept: Kept) -> int:
    """Count the hands with exactly two cards of each of two ranks: the fifth is then of a third."""
    held, pool, total = kept.ranks(), kept.unseen.ranks, kept.unseen.count
    need = {value: 2 - held[value] for value in _ALL_RANKS if 0 <= 2 - held[value] <= kept.draws}
    ways = 0
    for one, other in combinations(need, 2):
        spare = kept.draws - need[one] - need[other]
        if spare >= 0:
            pairs = comb(pool[one], need[one]) * comb(pool[other], need[other])
            ways += pairs * comb(total - pool[one] - pool[other], spare)
    return ways


def _without_pair(kept: Kept) -> int:
    """Count the hands of five different ranks."""
    held = kept.ranks()
    if len(held) < len(kept.cards):
        return 0
    made = [1] + [0] * kept.draws
    for value in _ALL_RANKS:
        if value not in held:
            for size in range(kept.draws, 0, -1):
                made[size] += made[size - 1] * kept.unseen.ranks[value]
    return made[kept.draws]


def _trios(kept: Kept) -> tuple[int, int]:
    """Count the hands that are a Trio, and those of them without a pair: no two suits can have three cards."""
    trios = unpaired = 0
    for each in FRENCH_SUITS:
        inside = frozenset(rank(card) for card in kept.cards if suit(card) == each)
        outside = tuple(rank(card) for card in kept.cards if suit(card) != each)
        for size in (TRIO_SIZE, TRIO_SIZE + 1):
            of_suit, of_others = size - len(inside), HAND_SIZE - size - len(outside)
            if of_suit < 0 or of_others < 0:
                continue
            for drawn, ways in _from_other_suits(kept.unseen, each, of_others):
                made, bare = _in_suit(kept.unseen.suits[each], inside, outside + drawn, of_suit)
                trios += ways * made
                unpaired += ways * bare
    return trios, unpaired


def _from_other_suits(pool: Unseen, but: str, count: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the ranks that none, one or two cards of the other suits may have, and in how many ways."""
    if count == 0:
        yield (), 1
        return
    left = {value: number - (value in pool.suits[but]) for value, number in pool.ranks.items()}
    if count == 1:
        yield from (((value,), number) for value, number in left.items())
        return
    yield from (((value, value), comb(number, 2)) for value, number in left.items())
    yield from (((one, other), left[one] * left[other]) for one, other in combinations(left, 2))


def _in_suit(pool: frozenset[int], inside: frozenset[int], others: tuple[int, ...], draws: int) -> tuple[int, int]:
    """Return in how many draws of a suit the hand is a Trio, and in how many of those it has no pair.

    Beside three cards of the suit, two others whose ranks are both among them make a Hat Trick or two pairs.
    """
    ranks = frozenset(others)
    made = comb(len(pool), draws)
    if len(inside) + draws == TRIO_SIZE:
        missing = ranks - inside
        if missing <= pool:
            made -= _choose(len(pool) - len(missing), draws - len(missing))
    if ranks & inside or len(ranks) < len(others):
        return made, 0
    return made, comb(len(pool - ranks), draws)
