"""Five-card ranking: every hand of both packs is ranked, and hands compare as the rulings say."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import combinations, islice, pairwise, repeat
from math import comb
from multiprocessing import get_context
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import FRENCH_SUITS, RANKS, SIX_SUITS, pack
from engine.poker import Category, Hand, Rules, rank_five

WHEEL, NO_WHEEL = Rules(wheel=True), Rules(wheel=False)
PLAIN_RANKS = RANKS[1:]
"""The ranks of the six-suit pack: no twos (SK-1)."""

FRENCH_COUNTS = {
    Category.NOTHING: 1_302_540,
    Category.ONE_PAIR: 1_098_240,
    Category.TWO_PAIR: 123_552,
    Category.THREE_OF_A_KIND: 54_912,
    Category.STRAIGHT: 10_200,
    Category.FLUSH: 5_108,
    Category.FULL_HOUSE: 3_744,
    Category.FOUR_OF_A_KIND: 624,
    Category.STRAIGHT_FLUSH: 36,
    Category.ROYAL_FLUSH: 4,
}
"""The known counts of 52 cards, with A-2-3-4-5 a straight."""


def ranked(suits: str, ranks: str, rules: Rules, start: int, stop: int) -> Counter[Category]:
    """Rank the five-card hands from number `start` up to `stop`, each on its own, and count the categories."""
    hands = islice(combinations(pack(suits, ranks), 5), start, stop)
    categories = map(attrgetter("category"), map(rank_five, hands, repeat(rules)))
    counts = Counter(map(id, categories))  # a member is a singleton, and hashing it runs Python code
    return Counter({category: counts[id(category)] for category in Category if counts[id(category)]})


def all_ranked(pool: Executor, suits: str, ranks: str, rules: Rules) -> Counter[Category]:
    """Rank all five-card hands of a pack, half of them in each of two processes."""
    hands = comb(len(suits) * len(ranks), 5)
    bounds = list(pairwise((0, hands // 2, hands)))
    halves = [pool.submit(ranked, suits, ranks, rules, start, stop) for start, stop in bounds]
    return sum((half.result() for half in halves), Counter())


@pytest.fixture(name="pool", scope="module")
def _pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


def closed_form(suits: int, ranks: int, straights: int) -> dict[Category, int]:
    """Count the hands of each category by combinatorics alone, the ace high being in one straight."""
    same = [comb(suits, size) for size in range(6)]
    mixed = suits**5 - suits
    counts = {
        Category.FIVE_OF_A_KIND: ranks * same[5],
        Category.FOUR_OF_A_KIND: ranks * same[4] * (ranks - 1) * suits,
        Category.FULL_HOUSE: ranks * same[3] * (ranks - 1) * same[2],
        Category.THREE_OF_A_KIND: ranks * same[3] * comb(ranks - 1, 2) * suits**2,
        Category.TWO_PAIR: comb(ranks, 2) * same[2] ** 2 * (ranks - 2) * suits,
        Category.ONE_PAIR: ranks * same[2] * comb(ranks - 1, 3) * suits**3,
        Category.STRAIGHT: straights * mixed,
        Category.FLUSH: (comb(ranks, 5) - straights) * suits,
        Category.NOTHING: (comb(ranks, 5) - straights) * mixed,
        Category.STRAIGHT_FLUSH: (straights - 1) * suits,
        Category.ROYAL_FLUSH: suits,
    }
    return {category: count for category, count in counts.items() if count}


def test_the_closed_form_gives_the_known_counts() -> None:
    """The formulas that the other packs are held to give the known counts of 52 cards, and every hand once."""
    assert closed_form(suits=4, ranks=13, straights=10) == FRENCH_COUNTS
    assert sum(closed_form(suits=4, ranks=13, straights=9).values()) == comb(52, 5) == 2_598_960
    assert sum(closed_form(suits=6, ranks=12, straights=8).values()) == comb(72, 5) == 13_991_544


def test_all_hands_of_52_cards_are_ranked_with_the_wheel(pool: Executor) -> None:
    """All 2,598,960 hands fall into the categories as is known."""
    assert all_ranked(pool, FRENCH_SUITS, RANKS, WHEEL) == FRENCH_COUNTS


def test_all_hands_of_52_cards_are_ranked_without_the_wheel(pool: Executor) -> None:
    """Without the wheel its 1,020 mixed hands are nothing and its four suited ones flushes (SI-12)."""
    counts = all_ranked(pool, FRENCH_SUITS, RANKS, NO_WHEEL)
    moved = {Category.STRAIGHT: -1_020, Category.NOTHING: 1_020, Category.STRAIGHT_FLUSH: -4, Category.FLUSH: 4}
    assert counts == {category: count + moved.get(category, 0) for category, count in FRENCH_COUNTS.items()}
    assert counts == closed_form(suits=4, ranks=13, straights=9)


def test_all_hands_of_six_suits_are_ranked(pool: Executor) -> None:
    """All 13,991,544 hands of 72 cards fall into the categories as combinatorics count them (SK-15, SK-16)."""
    counts = all_ranked(pool, SIX_SUITS, PLAIN_RANKS, NO_WHEEL)
    assert counts == closed_form(suits=6, ranks=12, straights=8)
    assert counts[Category.FIVE_OF_A_KIND] == 72


LADDER = (  # every hand beats the one before it
    "7h 5d 4s 3c 2h",
    "8h 5d 4s 3c 2h",
    "8h 6d 4s 3c 2h",
    "8h 6d 5s 3c 2h",
    "8h 6d 5s 4c 2h",
    "8h 6d 5s 4c 3h",
    "Ah Kd Qs Jc 9h",
    "2h 2d 5s 4c 3h",
    "2h 2d 6s 4c 3h",
    "2h 2d 6s 5c 3h",
    "2h 2d 6s 5c 4h",
    "3h 3d 5s 4c 2h",
    "Ah Ad Ks Qc Jh",
    "3h 3d 2s 2c 4h",
    "3h 3d 2s 2c Ah",
    "4h 4d 2s 2c 3h",
    "4h 4d 3s 3c 2h",
    "Ah Ad Ks Kc Qh",
    "2h 2d 2s 4c 3h",
    "2h 2d 2s 5c 3h",
    "2h 2d 2s 5c 4h",
    "3h 3d 3s 4c 2h",
    "Ah Ad As Kc Qh",
    "5h 4d 3s 2c Ah",
    "6h 5d 4s 3c 2h",
    "Ah Kd Qs Jc Th",
    "7h 5h 4h 3h 2h",
    "8h 5h 4h 3h 2h",
    "Ah Kh Qh Jh 9h",
    "2h 2d 2s 3c 3h",
    "2h 2d 2s 4c 4h",
    "3h 3d 3s 2c 2h",
    "Ah Ad As Kc Kh",
    "2h 2d 2s 2c 3h",
    "2h 2d 2s 2c 4h",
    "3h 3d 3s 3c 2h",
    "Ah Ad As Ac Kh",
    "2h 2d 2s 2c 2k",
    "Ah Ad As Ac Ak",
    "5h 4h 3h 2h Ah",
    "6h 5h 4h 3h 2h",
    "Kh Qh Jh Th 9h",
    "Ah Kh Qh Jh Th",
)


def hand(cards: str, rules: Rules = NO_WHEEL) -> Hand:
    """Rank cards written out."""
    return rank_five(cards.split(), rules)


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(LADDER)))
def test_hands_compare_by_category_groups_and_kickers(lower: str, higher: str) -> None:
    """A hand ranks by category, then by its groups from the largest down, then by kickers (SI-11)."""
    assert hand(lower, WHEEL).strength < hand(higher, WHEEL).strength


@pytest.mark.parametrize(
    ("cards", "order"),
    [
        ("2h 2d As Kc Qh", (2, 14, 13, 12)),
        ("2h 2d 3s 3c Ah", (3, 2, 14)),
        ("4h 4d 4s 2c Ah", (4, 14, 2)),
        ("2h 2d 2s Ac Ah", (2, 14)),
        ("9h 8d 7s 6c 5h", (9,)),
        ("9h 8h 7h 6h 4h", (9, 8, 7, 6, 4)),
        ("Ah 2h 3h 4h 5h", (14, 5, 4, 3, 2)),
    ],
)
def test_the_order_names_what_decides(cards: str, order: tuple[int, ...]) -> None:
    """The ranks run from the largest group down, each group's rank once; a straight has its top alone."""
    assert hand(cards).order == order


@pytest.mark.parametrize(
    ("cards", "wheel", "category", "order"),
    [
        ("Ah 2d 3s 4c 5h", True, Category.STRAIGHT, (5,)),
        ("Ah 2d 3s 4c 5h", False, Category.NOTHING, (14, 5, 4, 3, 2)),
        ("Ah 2h 3h 4h 5h", True, Category.STRAIGHT_FLUSH, (5,)),
        ("Ah 2h 3h 4h 5h", False, Category.FLUSH, (14, 5, 4, 3, 2)),
        ("Kh Ad 2s 3c 4h", True, Category.NOTHING, (14, 13, 4, 3, 2)),
        ("Qh Kd As 2c 3h", True, Category.NOTHING, (14, 13, 12, 3, 2)),
        ("Jh Qd Ks Ac 2h", True, Category.NOTHING, (14, 13, 12, 11, 2)),
    ],
)
def test_no_straight_runs_round_the_ace(cards: str, category: Category, order: tuple[int, ...], *, wheel: bool) -> None:
    """The ace counts low in A-2-3-4-5 alone, and there only by the game's rules (SI-12, SK-16)."""
    assert hand(cards, Rules(wheel=wheel)) == Hand(category, order)


def test_a_royal_flush_is_a_kind_of_its_own_where_the_game_says_so() -> None:
    """Without it A-K-Q-J-10 suited is the highest straight flush."""
    royal = "Th Jh Qh Kh Ah"
    assert hand(royal).category is Category.ROYAL_FLUSH
    assert hand(royal, Rules(royal=False)) == Hand(Category.STRAIGHT_FLUSH, (14,))
    assert hand("Th Jh Qh Kh Ad").category is Category.STRAIGHT


suits = st.lists(st.sampled_from(SIX_SUITS), min_size=5, max_size=5)
five_ranks = st.lists(st.sampled_from(RANKS), min_size=5, max_size=5)


@given(five_ranks, suits, suits, st.randoms())
def test_suits_never_break_a_tie(ranks: list[str], one: list[str], other: list[str], random: Any) -> None:  # noqa: ANN401 - hypothesis names no type
    """Hands of the same ranks are equal unless one of them is suited, and the cards' order never matters."""
    hands = [[rank + suit for rank, suit in zip(ranks, each, strict=True)] for each in (one, other)]
    shuffled = random.sample(hands[0], 5)
    assert rank_five(shuffled, WHEEL) == rank_five(hands[0], WHEEL)
    if (len(set(one)) == 1) == (len(set(other)) == 1):
        assert rank_five(hands[0], WHEEL) == rank_five(hands[1], WHEEL)


@pytest.mark.parametrize("letter", SIX_SUITS)
def test_every_suit_makes_the_same_flush(letter: str) -> None:
    """A flush is the same hand in each of the six suits."""
    assert hand(" ".join(f"{rank}{letter}" for rank in "QT753")) == Hand(Category.FLUSH, (12, 10, 7, 5, 3))


@pytest.mark.parametrize("odd", ["B", "MA", "RC+", "LI-"])
@pytest.mark.parametrize(
    ("four", "category", "order"),
    [
        ("3h 3d 3s 3c", Category.FOUR_OF_A_KIND, (3,)),
        ("3h 3d 3s 4c", Category.THREE_OF_A_KIND, (3, 4)),
        ("3h 3d 4s 4c", Category.TWO_PAIR, (4, 3)),
        ("3h 3d 5s 4c", Category.ONE_PAIR, (3, 5, 4)),
        ("3h 4h 5h 6h", Category.NOTHING, (6, 5, 4, 3)),
        ("Ah Kh Qh Jh", Category.NOTHING, (14, 13, 12, 11)),
    ],
)
def test_a_card_without_a_rank_takes_part_in_nothing(
    four: str, odd: str, category: Category, order: tuple[int, ...]
) -> None:
    """A row with a bonus card or a drink can hold pairs, three or four of a kind, no straight, no flush (SK-15)."""
    for place in range(5):
        cards = four.split()
        cards.insert(place, odd)
        assert rank_five(cards, NO_WHEEL) == Hand(category, order)


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("3h 3d 3s B B", Category.THREE_OF_A_KIND),
        ("3h 3d B MA MA", Category.ONE_PAIR),
        ("3h 4d B B B", Category.NOTHING),
        ("3h 4d MA MA MA", Category.NOTHING),
        ("3h B B B B", Category.NOTHING),
        ("B B B B B", Category.NOTHING),
        ("MA MA MA MA MA", Category.NOTHING),
        ("RC GT LI MA B", Category.NOTHING),
    ],
)
def test_cards_without_a_rank_are_no_kind(cards: str, category: Category) -> None:
    """Bonus cards and drinks make no pair of their own, however many there are, and no flush (SK-15)."""
    assert hand(cards).category is category
