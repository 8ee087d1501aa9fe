"""Jackpot's hands, the card draw among equals, and the jackpot paid (JP-7 … JP-13)."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from engine import play
from engine.cards import RANKS, cards, pack, rank, suit
from engine.game import Invalid
from engine.games.jackpot_hands import Category, category
from engine.piles import Pile
from tests.jackpots import (
    GAME,
    NOTHING_A,
    NOTHING_B,
    NOTHING_C,
    TRIO,
    all_cards,
    balances,
    chips,
    dice,
    drawing,
    dropped,
    inside,
    laid,
    new,
    people,
    plain,
    played_out,
    send,
    sent,
    stood,
    table,
    told,
    types,
    with_secret,
)

# The hands.


HANDS = [
    (0, "2h 3d 7s 8c Th"),
    (0, "6h 5d 4s 3c 2h"),
    (0, "Ah Kd Qs Jc Th"),
    (1, "Jh Jd 9s 8c 2d"),
    (1, "Jh Jd 9h 8c 2d"),
    (2, "9h 8h 2h 4c 5d"),
    (2, "9h 8h 2h Kh 5d"),
    (2, "Jh Jd 9h 8h 2c"),
    (2, "Jh Jd 9h 8h 2h"),
    (2, "6h 5h 4h 3c 2d"),
    (2, "Ah Kh Qh Jh Td"),
    (3, "Jh Jd 9s 9c 2d"),
    (3, "Jh Jd 9h 9c 2h"),
    (4, "Jh Jd Js 9c 2d"),
    (4, "Jh Jd Js 9h 2h"),
    (4, "2h 2d 2s 3c 3h"),
    (4, "Ah Ad As Kc Kh"),
    (5, "9h 9d 9s 9c Ah"),
    (5, "Th Td Ts Tc Ah"),
    (5, "Kh Kd Ks Kc Qh"),
    (6, "2h 4h 6h 8h Th"),
    (6, "Ah 2h 3h 4h 5h"),
    (6, "Kh Ah 2h 3h 4h"),
    (7, "2h 3h 4h 5h 6h"),
    (7, "Kd Qd Jd Td 9d"),
    (8, "Ah Ad As Ac Kh"),
    (8, "Ah Ad As Ac 2h"),
    (9, "Kh Kd Ks Kc Ah"),
    (9, "Qh Qd Qs Qc As"),
    (9, "Jh Jd Js Jc Ad"),
    (10, "Ah Kh Qh Jh Th"),
    (10, "Tc Jc Qc Kc Ac"),
]


@pytest.mark.parametrize(("number", "hand"), HANDS)
def test_hands_count_as_the_highest_they_satisfy(number: int, hand: str) -> None:
    """JP-7, JP-8, JP-9: there is no mixed straight and no full house, and the ace is high only."""
    assert category(hand.split()) == number
    assert category(hand.split()[::-1]) == number


def satisfied(hand: tuple[str, ...], *, wheel: bool) -> Iterator[int]:
    """Yield every category that a hand satisfies, each by the words of JP-7 alone."""
    ranks, suits = Counter(map(rank, hand)), Counter(map(suit, hand))
    pairs = [value for value, count in ranks.items() if count >= 2]
    order = sorted(ranks)
    run = len(order) == 5 and (order[-1] - order[0] == 4 or (wheel and order == [2, 3, 4, 5, 14]))
    flush, fours = len(suits) == 1, [value for value, count in ranks.items() if count == 4]
    found = {
        0: True,
        1: len(pairs) >= 1,
        2: max(suits.values()) >= 3,
        3: len(pairs) == 2,
        4: max(ranks.values()) >= 3,
        5: bool(fours),
        6: flush,
        7: flush and run,
        8: fours == [14],
        9: fours in ([13], [12], [11]) and 14 in ranks,
        10: flush and order == [10, 11, 12, 13, 14],
    }
    yield from (number for number, is_so in found.items() if is_so)


@pytest.mark.parametrize("wheel", [False, True])
def test_hands_agree_with_the_words_of_the_ruling(wheel: bool) -> None:
    """JP-7, JP-9: over thousands of hands of every kind the category is the highest of those satisfied."""
    random, met = dice(1), set()
    packs = [pack(*chosen) for chosen in product(("hdsc", "hd", "h"), (RANKS, "AKQJT", "A2345", "34567", "AK"))]
    for among in packs * 400:
        if len(among) >= 5:
            hand = tuple(random.sample(among, 5))
            met.add(found := category(hand, wheel=wheel))
            assert found == max(satisfied(hand, wheel=wheel))
    assert met == set(Category)


def test_wheel_is_an_option() -> None:
    """JP-9: A-2-3-4-5 of one suit is a Strait, with the option a Follow-up, and the mixed one never counts."""
    low, other = "Ah 2h 3h 4h 5h", "Kd Qd Jd 7d 2d"
    assert (category(low.split()), category(low.split(), wheel=True)) == (6, 7)
    assert category(["Ah", "2d", "3s", "4c", "5h"], wheel=True) == 0
    assert table(sent(stood(laid({0: low, 1: other})), 0, "evaluate"))["result"]["by"] == "draw"
    assert table(sent(stood(laid({0: low, 1: other}, wheel=True)), 0, "evaluate"))["result"]["winner"] == 0


def test_cards_are_evaluated_without_a_session() -> None:
    """C-12: five cards of the deck have a category and its name; others are refused."""
    low = ("2h", "3h", "4h", "5h", "Ah")
    assert plain(play.evaluate("jackpot", low, {})) == {"category": 6, "category_name": "Strait"}
    assert play.evaluate("jackpot", low, {"wheel": True})["category"] == 7
    for wrong in (low[:4], (*low, "6h"), ("2h", *low[:4]), ("Ak", *low[:4])):
        with pytest.raises(Invalid):
            play.evaluate("jackpot", wrong, {})


def test_info_lists_the_categories() -> None:
    """JP-7: a front end is told all eleven categories, lowest first, and the pack."""
    info = plain(GAME.info())
    assert [each["category"] for each in info["categories"]] == list(range(11))
    low = ["Nothing", "Doubles", "Trio", "Multiple Doubles", "Hat Trick", "Four of a Kind"]
    high = ["Strait", "Follow-up", "Aced", "Royal Kingdom", "Royal Family"]
    assert [each["category_name"] for each in info["categories"]] == low + high
    assert sorted(info["decks"][0]["cards"]) == sorted(pack())


# Ties.


def test_equal_categories_are_equal() -> None:
    """JP-10: a pair of twos ties with a pair of aces, and the draw alone decides."""
    step = drawing("3s 4s", "2h 2d 7c 8s Td", "Ah Ad Kc Qs 9d")
    result = table(step.position)["result"]
    assert result == {
        "winner": 1,
        "by": "draw",
        "tied": [0, 1],
        "draws": [[{"seat": 0, "card": "3s"}, {"seat": 1, "card": "4s"}]],
        "payout": 0,
    }


def test_only_those_tied_for_the_best_hand_draw() -> None:
    """JP-10, JP-11: a lower hand takes no part, however high its card would be."""
    step = drawing("3s 4s As", "2h 2d 7c 8s Td", NOTHING_C, "Ah Ad Kc Qs 9d")
    result = table(step.position)["result"]
    assert (result["tied"], [each["seat"] for each in result["draws"][0]]) == ([0, 2], [0, 2])
    assert result["winner"] == 2


def test_card_draw_is_ace_high_and_ignores_suits() -> None:
    """JP-11: the ace beats the king; two kings of different suits draw again."""
    assert table(drawing("Ac Ks", NOTHING_A, NOTHING_B).position)["result"]["winner"] == 0
    step = drawing("Kh Ks 2s 2c Qc Qs", NOTHING_A, NOTHING_B)
    assert table(drawing("2s 2c Kh Kd 9c 9s", NOTHING_A, NOTHING_B).position)["result"]["draws"][:3] == [
        [{"seat": 0, "card": "2s"}, {"seat": 1, "card": "2c"}],
        [{"seat": 0, "card": "Kh"}, {"seat": 1, "card": "Kd"}],
        [{"seat": 0, "card": "9c"}, {"seat": 1, "card": "9s"}],
    ]
    assert len(table(step.position)["result"]["draws"]) == 4


def test_those_tied_for_the_highest_card_draw_again() -> None:
    """JP-11: who drew lower is out; every draw is an event that everyone sees."""
    step = drawing("Ks 4s Kc 8d Qs", NOTHING_A, NOTHING_B, NOTHING_C)
    draws = [(event["draw"], event["seat"], event["cards"]) for event in card_draws(step)]
    assert draws == [(1, 0, ["Ks"]), (1, 1, ["4s"]), (1, 2, ["Kc"]), (2, 0, ["8d"]), (2, 2, ["Qs"])]
    assert table(step.position)["result"]["winner"] == 2
    assert types(step.events)[-1] == "settled"


def card_draws(step: play.Step) -> list[dict[str, Any]]:
    """Return the events of the card draw, as a spectator is sent them."""
    return [event for event in told(step, None) if event["type"] == "card-draw"]


def test_draws_are_dealt_in_seat_order_and_then_laid_away() -> None:
    """JP-11: in seat order from the seat that dropped first; a decided draw lies on the discard pile."""
    position = laid({2: NOTHING_A, 0: NOTHING_B, 1: NOTHING_C}, stock="Ks 4s Kc 8d Qs")
    step = send(stood(position), 0, "evaluate")
    assert [each["seat"] for each in card_draws(step)] == [2, 0, 1, 2, 1]
    assert inside(step.position).discards.cards == ("8d", "Qs", "Ks", "4s", "Kc")
    assert all_cards(step.position) == sorted(pack())


def test_card_draw_from_a_short_stock_spares_hands_and_the_draw_in_progress() -> None:
    """JP-11, JP-5: the discard pile is shuffled in, but no card that lies shown, in a hand or in this draw."""
    short = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C}, stock="Ks", short=True)
    for number in range(20):
        step = send(stood(with_secret(short, number)), 0, "evaluate")
        assert types(step.events)[3:6] == ["shuffled", "card-draw", "card-draw"]
        first = [event["cards"][0] for event in card_draws(step) if event["draw"] == 1]
        hands = {card for hand in table(step.position)["hands"] for card in hand["cards"]}
        assert first[0] == "Ks"
        assert len(set(first)) == 3
        assert not set(first) & hands
        assert all_cards(step.position) == sorted(pack())


def test_decided_draws_may_be_shuffled_in_for_the_next() -> None:
    """JP-11: once a draw is decided its cards are on the discard pile, and can come again."""
    position = stood(laid({0: NOTHING_A, 1: NOTHING_B}))
    state = replace(inside(position), stock=Pile(cards(["Ks", "Kc"])), discards=Pile(cards(["2s"])))
    step = send(replace(position, state=state), 0, "evaluate")
    draws = table(step.position)["result"]["draws"]
    assert "shuffled" in types(step.events)
    assert {each["card"] for each in draws[1]} < {"Ks", "Kc", "2s"}


def test_winner_takes_the_whole_jackpot() -> None:
    """JP-12, JP-13: the winner's balance grows by all that was put in, and the table is empty."""
    position = laid({0: NOTHING_A, 1: TRIO, 2: NOTHING_C}, stock="9d Kc 2s", card_value=50)
    position = stood(dropped(position, (0, [1, 2]), (1, []), (2, [0])))
    assert balances(position) == [-100, 0, -50]
    step = send(position, 0, "evaluate")
    assert told(step, None)[-1] == {"type": "settled", "seat": 1, "by": "hand", "tied": [], "payout": 150}
    assert balances(step.position) == [-100, 150, -50]
    assert (table(step.position)["jackpot"], table(step.position)["result"]["payout"]) == (0, 150)
    assert [hand["won"] for hand in table(step.position)["hands"]] == [0, 1, 0]


def test_a_round_without_a_drop_has_a_winner() -> None:
    """JP-12: nobody has paid, so the jackpot is nothing, and somebody wins it."""
    position = sent(stood(laid({0: NOTHING_A, 1: TRIO})), 0, "evaluate")
    assert table(position)["result"] == {"winner": 1, "by": "hand", "tied": [], "draws": [], "payout": 0}
    assert balances(position) == [0, 0]


@pytest.mark.parametrize(("seats", "ante"), list(product((2, 3, 4, 5), (0, 9))))
def test_no_card_and_no_chip_is_ever_lost(seats: int, ante: int) -> None:
    """JP-13: after every step of random rounds balances and jackpot come to 0, and the deck is whole."""
    random = dice(10 * seats + ante)
    position = new(people(seats), ante=ante, card_value=7)
    for _ in range(12):
        position = sent(position, random.randrange(seats), "deal")
        for step in played_out(position, random):
            position = step.position
            assert chips(position) == 0
            assert all_cards(position) == sorted(pack())
            state = inside(position)
            paid = [hand.owes for hand in state.hands]
            assert sum(paid) == (state.ending.payout if state.ending else state.jackpot)
            assert paid == [
                ante + 7 * sum(count or 0 for count in hand["dropped"]) for hand in table(position)["hands"]
            ]
    assert inside(position).round == 12
