"""Spice Island Poker: every ruling by its id, every way to settle a hand."""

from itertools import pairwise, product
from typing import Any

import pytest

from engine.cards import cards, pack
from engine.game import Invalid
from engine.games import GAMES
from engine.games.spice_island_poker import FULL_STOCK, HOLE, PLAYER, UPCARD
from engine.play import Position, offers, status
from engine.poker import Rules, rank_five
from engine.shuffle import Chance, round_seed
from tests.seats import (
    SECRET,
    SESSION,
    act,
    all_cards,
    inside,
    named,
    refusal,
    seat_at,
    sheet,
    step,
    table,
    told,
    traffic,
    verbs,
    with_state,
)

GAME = GAMES["spice-island-poker"]
ANTE = 10

HIGH, OTHER_HIGH = "Ah Kd Qs Jc 9h", "As Kd Qs Jc 9h"
"""Hands that just qualify."""


def dealt(player: str, dealer: str, **options: object) -> Position:
    """Return a table where these hands have been dealt for an ante of 10."""
    position = seat_at("spice-island-poker", **options)
    own, other = cards(player.split()), cards(dealer.split())
    rest = tuple(card for card in pack() if card not in own + other)
    assert len(rest) == 42, "a card was dealt twice"
    return with_state(
        position,
        round=1,
        playing=True,
        balance=inside(position).balance - ANTE,
        ante=ANTE,
        last_ante=ANTE,
        player=PLAYER.holding(own),
        hole=HOLE.holding(other[:4]),
        upcard=UPCARD.holding(other[4:]),
        stock=FULL_STOCK.holding(rest),
    )


# The player's category, his hand, the dealer's hand, and how a bet must end.
# A dealer without ace and king or a pair holds nothing, so only "nothing" can lose to him or tie.
# Equal triples, full houses and fours cannot be held by two from one deck; nothing beats a royal flush.
CELLS = [
    ("nothing", "Ah Kd Qs Jc 9h", "Ad Kh Qc Js 8d", "win"),
    ("nothing", "Ah Kd Qs Jc 8h", "Ad Kh Qc Js 9d", "lose"),
    ("nothing", "Ah Kd Qs Jc 9h", "Ad Kh Qc Js 9d", "push"),
    ("nothing", "Ah Qd Js 9c 7h", "Kd Qh Jc 9s 7d", "dnq"),
    ("nothing", "7h 5d 4s 3c 2h", "Ad Qh Jc Ts 8d", "dnq"),
    ("nothing", "Qh Jd 9s 7c 5h", "Qd Jh 9c 7s 5d", "dnq"),
    ("low-pair", "9h 9d 4s 3c 2h", "Ad Kh Qc Js 8d", "win"),
    ("low-pair", "9h 9d 4s 3c 2h", "8d 8h Ac Ks Qd", "win"),
    ("low-pair", "9h 9d 4s 3c 2h", "9s 9c Ac Ks Qd", "lose"),
    ("low-pair", "9h 9d Ah Kc Qh", "9s 9c Ac Ks Qd", "push"),
    ("low-pair", "2h 2d 4s 5c 7h", "Ad Qh Jc Ts 8d", "dnq"),
    ("one-pair", "Th Td 4s 3c 2h", "Ad Kh Qc Js 8d", "win"),
    ("one-pair", "Ah Ad 4s 3c 2h", "Kd Kh Qc Js 8d", "win"),
    ("one-pair", "Th Td 4s 3c 2h", "Jd Jh Qc 9s 8d", "lose"),
    ("one-pair", "Th Td 4s 3c 2h", "Ts Tc 4h 3d 2d", "push"),
    ("one-pair", "Ah Ad 4s 3c 2h", "Qd Jh 9c 7s 5d", "dnq"),
    ("two-pair", "3h 3d 2s 2c 4h", "Ad Ah Qc Js 8d", "win"),
    ("two-pair", "Kh Kd 2s 2c 4h", "Ad Ah 3c 3s 8d", "lose"),
    ("two-pair", "Kh Kd 2s 2c 4h", "Ks Kc 2h 2d 4s", "push"),
    ("two-pair", "Kh Kd 2s 2c 4h", "Qd Jh 9c 7s 5d", "dnq"),
    ("three-of-a-kind", "3h 3d 3s 2c 4h", "Ad Ah Kc Ks 8d", "win"),
    ("three-of-a-kind", "3h 3d 3s 2c 4h", "Ad Ah Ac Ks 8d", "lose"),
    ("three-of-a-kind", "3h 3d 3s 2c 4h", "Qd Jh 9c 7s 5d", "dnq"),
    ("straight", "6h 5d 4s 3c 2h", "Ad Ah Ac Ks 8d", "win"),
    ("straight", "6h 5d 4s 3c 2h", "7d 6s 5c 4h 3d", "lose"),
    ("straight", "Ah Kd Qs Jc Th", "Ad Kh Qc Js Td", "push"),
    ("straight", "6h 5d 4s 3c 2h", "Qd Jh 9c 7s 5c", "dnq"),
    ("flush", "7h 5h 4h 3h 2h", "Ad Kh Qc Js Td", "win"),
    ("flush", "7h 5h 4h 3h 2h", "8d 5d 4d 3d 2d", "lose"),
    ("flush", "7h 5h 4h 3h 2h", "7d 5d 4d 3d 2d", "push"),
    ("flush", "7h 5h 4h 3h 2h", "Qd Jh 9c 7s 5c", "dnq"),
    ("full-house", "2h 2d 2s 3c 3h", "Ad Kd Qd Jd 9d", "win"),
    ("full-house", "2h 2d 2s Ac Ah", "3d 3h 3c 4s 4d", "lose"),
    ("full-house", "2h 2d 2s 3c 3h", "Qd Jh 9c 7s 5c", "dnq"),
    ("four-of-a-kind", "2h 2d 2s 2c 3h", "Ad Ah Ac Ks Kd", "win"),
    ("four-of-a-kind", "2h 2d 2s 2c Ah", "3d 3h 3c 3s 4d", "lose"),
    ("four-of-a-kind", "2h 2d 2s 2c 3h", "Qd Jh 9c 7s 5c", "dnq"),
    ("straight-flush", "6h 5h 4h 3h 2h", "Ad Ah Ac As Kd", "win"),
    ("straight-flush", "6h 5h 4h 3h 2h", "7d 6d 5d 4d 3d", "lose"),
    ("straight-flush", "6h 5h 4h 3h 2h", "6d 5d 4d 3d 2d", "push"),
    ("straight-flush", "6h 5h 4h 3h 2h", "Qd Jc 9c 7s 5c", "dnq"),
    ("royal-flush", "Ah Kh Qh Jh Th", "Kd Qd Jd Td 9d", "win"),
    ("royal-flush", "Ah Kh Qh Jh Th", "Ad Kd Qd Jd Td", "push"),
    ("royal-flush", "Ah Kh Qh Jh Th", "Qd Jc 9c 7s 5c", "dnq"),
]
PAYS = {
    "one-pair": 1,
    "two-pair": 2,
    "three-of-a-kind": 3,
    "straight": 4,
    "flush": 5,
    "full-house": 7,
    "four-of-a-kind": 20,
    "straight-flush": 50,
    "royal-flush": 200,
}
LOW_PAYS = {"push": 0, "even_money": 1}
HOUSES = [{"low_hand": low, "wheel": wheel} for low, wheel in product(LOW_PAYS, (False, True))]


def stakes(outcome: str, pays: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return how ante and bet must be itemised."""
    returned, won, earned = {
        "win": (1, ANTE, 2 * ANTE * pays),
        "dnq": (1, ANTE, 0),
        "push": (1, 0, 0),
        "lose": (0, 0, 0),
    }[outcome]
    ante = {"staked": ANTE, "returned": ANTE * returned, "won": won}
    return ante, {"staked": 2 * ANTE, "returned": 2 * ANTE * returned, "won": earned}


@pytest.mark.parametrize("house", HOUSES, ids=str)
@pytest.mark.parametrize(("category", "player", "dealer", "outcome"), CELLS)
def test_bet_is_settled_in_order(category: str, player: str, dealer: str, outcome: str, house: dict[str, Any]) -> None:
    """SI-8, SI-9, SI-10: a bet is settled by the first line that fits, in every cell and house."""
    position = dealt(player, dealer, **house)
    pays = PAYS[category] if category in PAYS else LOW_PAYS[house["low_hand"]]
    ante, bet = stakes(outcome, pays)
    net = sum(stake["returned"] + stake["won"] - stake["staked"] for stake in (ante, bet))

    settled = act(position, "choose", action="bet")

    seen = table(settled)
    assert seen["result"] == {"outcome": outcome, "ante": ante, "bet": bet, "net": net}
    assert seen["balance"] == 1000 + net
    assert seen["player"]["category"] == category.replace("low-pair", "one-pair")
    assert seen["dealer"]["qualifies"] is (outcome != "dnq")
    assert seen["dealer"]["cards"] == dealer.split()


@pytest.mark.parametrize("house", HOUSES, ids=str)
@pytest.mark.parametrize(("category", "player", "dealer", "outcome"), CELLS)
def test_surrender_loses_the_ante_whatever_the_hands(
    category: str, player: str, dealer: str, outcome: str, house: dict[str, Any]
) -> None:
    """SI-5: a surrender costs the ante in every cell and shows none of the dealer's hidden cards."""
    made = step(dealt(player, dealer, **house), "choose", action="surrender")

    seen = table(made.position)
    nothing = {"staked": 0, "returned": 0, "won": 0}
    lost = {"staked": ANTE, "returned": 0, "won": 0}
    assert seen["result"] == {"outcome": "surrender", "ante": lost, "bet": nothing, "net": -ANTE}
    assert seen["balance"] == 1000 - ANTE
    hidden = {"cards": [None] * 4 + dealer.split()[4:], "category": None, "qualifies": None}
    for shown in (seen, sheet(made.position)["sheet"], table(made.position, None)):
        assert shown["dealer"] == hidden
    everything = traffic(made.position).decode() + str(told(made)) + str(told(made, None))
    assert named(everything, dealer.split()) == dealer.split()[4:]


def test_every_category_meets_every_end_that_one_deck_allows() -> None:
    """SI-8: the cells above leave none out."""
    met = {(category, outcome) for category, _, _, outcome in CELLS}
    impossible = {
        ("three-of-a-kind", "push"),
        ("full-house", "push"),
        ("four-of-a-kind", "push"),
        ("royal-flush", "lose"),
    }
    assert met == set(product(("nothing", "low-pair", *PAYS), ("win", "lose", "push", "dnq"))) - impossible


def test_every_hand_is_dealt_from_all_fifty_two_cards() -> None:
    """SI-1: every hand is dealt from one full deck, in another order than the hand before."""
    first = act(act(seat_at("spice-island-poker"), "wager", amount=1), "deal")
    second = act(act(act(first, "choose", action="bet"), "wager", amount=1), "deal")
    assert all_cards(first) == all_cards(second) == sorted(pack())
    assert inside(first).stock != inside(second).stock


def test_player_is_dealt_the_top_five_and_the_dealer_the_next() -> None:
    """SI-4, C-7: the deck's top five are the player's, the next five the dealer's, the last of them open."""
    state = inside(act(act(seat_at("spice-island-poker"), "wager", amount=1), "deal"))
    deck = Chance(round_seed(SECRET, SESSION, 1), ("",), {}).shuffle(pack(), "deal")
    assert (state.player.cards, state.hole.cards, state.upcard.cards) == (deck[:5], deck[5:9], deck[9:10])


def test_a_table_opens_with_the_defaults() -> None:
    """SI-2: a seat begins with 1000 chips and may ante 1 to 300."""
    seen = table(seat_at("spice-island-poker"))
    assert (seen["balance"], seen["limits"]) == (1000, {"min": 1, "max": 300})


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"balance": 0}, "/options/balance"),
        ({"balance": 1_000_000_001}, "/options/balance"),
        ({"balance": "1000"}, "/options/balance"),
        ({"balance": True}, "/options/balance"),
        ({"min_ante": 0}, "/options/min_ante"),
        ({"max_ante": 100_000_001}, "/options/max_ante"),
        ({"min_ante": 11, "max_ante": 10}, "/options/max_ante"),
        ({"min_ante": 10, "balance": 29}, "/options/balance"),
        ({"low_hand": "house"}, "/options/low_hand"),
        ({"wheel": 1}, "/options/wheel"),
        ({"jokers": True}, "/options/jokers"),
    ],
)
def test_options_out_of_bounds_or_at_odds_open_no_table(options: dict[str, Any], pointer: str) -> None:
    """SI-2: options outside their bounds, or that contradict each other, are malformed."""
    with pytest.raises(Invalid) as refused:
        seat_at("spice-island-poker", **options)
    assert refused.value.pointer == pointer


def test_options_at_their_bounds_open_a_table() -> None:
    """SI-2: a balance of exactly three times the least ante is enough."""
    seen = table(seat_at("spice-island-poker", balance=30, min_ante=10, max_ante=10))
    assert seen["limits"] == {"min": 10, "max": 10}


@pytest.mark.parametrize("amount", [-1, 100_000_001, True, 5.0, "5", None])
def test_an_amount_outside_the_fixed_bounds_is_malformed(amount: object) -> None:
    """SI-3, C-3: an amount below 0, above 100,000,000 or no integer fits no body of `wager`."""
    assert all(shape.objection({"amount": amount}) for shape in GAME.spec.verbs["wager"])


@pytest.mark.parametrize(("balance", "amount"), [(1000, 301), (100, 34), (1000, 4), (1000, 100_000_000)])
def test_an_ante_outside_the_limits_is_refused_and_changes_nothing(balance: int, amount: int) -> None:
    """SI-3: an ante below the least, above the greatest, or above a third of the balance is refused."""
    position = act(seat_at("spice-island-poker", balance=balance, min_ante=5), "wager", amount=5)
    code, sentence = refusal(position, "wager", amount=amount)
    assert code == "out-of-bounds"
    assert f"from 5 to {min(300, balance // 3)}" in sentence
    assert table(position)["ante"] == 5


@pytest.mark.parametrize(("balance", "amount"), [(1000, 300), (1000, 5), (100, 33)])
def test_an_ante_at_the_limits_is_laid(balance: int, amount: int) -> None:
    """SI-3: the limits themselves may be laid."""
    position = act(seat_at("spice-island-poker", balance=balance, min_ante=5), "wager", amount=amount)
    assert table(position)["ante"] == amount


def test_a_wager_replaces_and_zero_clears() -> None:
    """SI-3: a wager replaces the ante lying there, 0 takes it off, and nothing leaves the balance."""
    position = act(act(seat_at("spice-island-poker"), "wager", amount=20), "wager", amount=30)
    assert (table(position)["ante"], table(position)["balance"]) == (30, 1000)
    cleared = act(position, "wager", amount=0)
    assert (table(cleared)["ante"], table(cleared)["balance"]) == (0, 1000)
    assert "deal" not in verbs(cleared)


def test_repeat_lays_the_ante_of_the_last_hand_dealt() -> None:
    """SI-3: `repeat` lays the last dealt hand's ante, not one that was laid and taken off."""
    begun = act(act(seat_at("spice-island-poker"), "wager", amount=ANTE), "deal")
    position = act(begun, "choose", action="surrender")
    assert (table(position)["ante"], table(position)["last_ante"]) == (0, ANTE)
    changed = act(act(position, "wager", amount=77), "wager", amount=0)
    assert table(act(changed, "wager", repeat=True))["ante"] == ANTE


def test_repeat_without_a_hand_before_is_refused() -> None:
    """SI-3: before the first hand there is no ante to repeat."""
    code, sentence = refusal(seat_at("spice-island-poker"), "wager", repeat=True)
    assert (code, sentence) == ("not-now", "No hand has been dealt, so there is no ante to repeat.")


def test_repeat_beyond_the_limits_is_refused() -> None:
    """SI-3: an ante that the balance no longer allows is not repeated."""
    lost = act(dealt("2h 3d 4s 5c 7h", "Ad Kh Qc Js 8d", balance=59), "choose", action="bet")
    assert table(lost)["limits"]["max"] == 9
    code, sentence = refusal(lost, "wager", repeat=True)
    assert (code, sentence) == ("not-now", "The last ante was 10; now it may be 1 to 9.")


@pytest.mark.parametrize(("verb", "body"), [("wager", {"amount": 5}), ("deal", {}), ("leave", {})])
def test_a_hand_begun_is_finished_first(verb: str, body: dict[str, Any]) -> None:
    """SI-3: while a hand is undecided `wager`, `deal` and `leave` are refused."""
    code, sentence = refusal(dealt("Ah Ad 4s 3c 2h", OTHER_HIGH), verb, **body)
    assert (code, sentence) == ("not-now", "The hand is undecided: bet or surrender first.")


def test_deal_needs_an_ante() -> None:
    """SI-4: without an ante on the table nothing is dealt."""
    assert refusal(seat_at("spice-island-poker"), "deal")[0] == "not-now"


def test_choose_needs_a_hand() -> None:
    """SI-5, SI-6: there is nothing to bet on or to surrender before the deal."""
    position = act(seat_at("spice-island-poker"), "wager", amount=5)
    assert refusal(position, "choose", action="bet")[0] == "not-now"


def test_deal_takes_the_ante_and_hides_four_cards() -> None:
    """SI-4: the deal takes the ante; four of the dealer's cards and all that follows from them stay hidden."""
    made = step(act(seat_at("spice-island-poker"), "wager", amount=ANTE), "deal")
    state = inside(made.position)
    for viewer in (0, None):
        seen, event = table(made.position, viewer), told(made, viewer)[0]
        assert seen["balance"] == 1000 - ANTE
        assert seen["dealer"] == {
            "cards": [None] * 4 + list(state.upcard.cards),
            "category": None,
            "qualifies": None,
        }
        assert event["hole"] == [None] * 4
        assert sheet(made.position, viewer)["sheet"]["dealer"] == seen["dealer"]
    hidden = traffic(made.position).decode() + str(told(made))
    assert named(hidden, state.upcard.cards + state.hole.cards) == list(state.upcard.cards)


def test_hidden_cards_decide_nothing_before_the_showdown() -> None:
    """SI-4: tables that differ only in hidden cards answer alike until the dealer shows his hand."""
    one = dealt("Ah Ad 4s 3c 2h", "Kd Kh Kc Ks 9h")
    other = dealt("Ah Ad 4s 3c 2h", "Qd Jh Tc 7s 9h")
    assert traffic(one) == traffic(other)
    assert refusal(one, "wager", amount=1) == refusal(other, "wager", amount=1)
    gone = [step(position, "choose", action="surrender") for position in (one, other)]
    assert told(gone[0]) == told(gone[1])
    assert traffic(gone[0].position) == traffic(gone[1].position)
    assert traffic(act(one, "choose", action="bet")) != traffic(act(other, "choose", action="bet"))


def test_bet_is_twice_the_ante() -> None:
    """SI-6: a bet stakes exactly twice the ante, and the dealer shows his hand."""
    made = step(dealt("Ah Ad 4s 3c 2h", OTHER_HIGH), "choose", action="bet")
    showdown = told(made)[0]
    assert showdown == {
        "type": "showdown",
        "seat": 0,
        "bet": 20,
        "player": ["Ah", "Ad", "4s", "3c", "2h"],
        "hole": ["As", "Kd", "Qs", "Jc"],
        "upcard": ["9h"],
    }


@pytest.mark.parametrize(
    ("dealer", "qualifies"),
    [
        ("Ad Kh 4c 3s 2d", True),
        ("Ad Qh Jc Ts 9d", False),
        ("Kd Qh Jc Ts 8d", False),
        ("2d 2s 3c 4s 6d", True),
        ("Ad 2s 3c 4s 5d", False),
        ("Kd Qh Jc Ts 9d", True),
        ("2d 3d 4d 5d 7d", True),
    ],
)
def test_dealer_qualifies_with_ace_and_king_or_a_pair(dealer: str, qualifies: bool) -> None:
    """SI-7: ace and king qualify, so does any pair or higher, and nothing else does."""
    seen = table(act(dealt("Ah Ac 7s 6c 5h", dealer), "choose", action="bet"))
    assert seen["dealer"]["qualifies"] is qualifies
    assert (seen["result"]["outcome"] == "dnq") is not qualifies


def test_the_published_example_is_won_by_the_player() -> None:
    """SI-11: J-J-10-8-4 beats the dealer's J-J-10-6-5."""
    seen = table(act(dealt("Jh Jd Ts 8c 4h", "Js Jc Th 6d 5d"), "choose", action="bet"))
    assert seen["result"]["outcome"] == "win"
    assert seen["result"]["net"] == 10 + 20


ASCENDING = [
    "7h 5d 4s 3c 2h",
    "8h 5d 4s 3c 2h",
    "8h 6d 4s 3c 2h",
    "Ah 5d 4s 3c 2h",
    "Ah Kd Qs Jc 9h",
    "2h 2d 5s 4c 3h",
    "2h 2d As 4c 3h",
    "3h 3d 5s 4c 2h",
    "3h 3d 2s 2c 4h",
    "3h 3d 2s 2c 5h",
    "4h 4d 2s 2c 3h",
    "4h 4d 3s 3c 2h",
    "2h 2d 2s 4c 3h",
    "2h 2d 2s Ac Kh",
    "3h 3d 3s 4c 2h",
    "6h 5d 4s 3c 2h",
    "Ah Kd Qs Jc Th",
    "7h 5h 4h 3h 2h",
    "Ah Kh Qh Jh 9h",
    "2h 2d 2s 3c 3h",
    "2h 2d 2s Ac Ah",
    "3h 3d 3s 2c 2h",
    "2h 2d 2s 2c 3h",
    "2h 2d 2s 2c Ah",
    "3h 3d 3s 3c 2h",
    "6h 5h 4h 3h 2h",
    "Kh Qh Jh Th 9h",
    "Ah Kh Qh Jh Th",
]


def test_hands_rank_by_category_then_groups_then_kickers() -> None:
    """SI-11: every hand of this list is higher than the one before it."""
    strengths = [rank_five(hand.split(), Rules()).strength for hand in ASCENDING]
    assert all(lower < higher for lower, higher in pairwise(strengths))


def test_suits_never_break_a_tie() -> None:
    """SI-11: the same ranks in other suits are equal."""
    assert rank_five(HIGH.split(), Rules()) == rank_five(["As", "Kh", "Qc", "Jd", "9d"], Rules())


# The dealer's open pair of kings loses to a straight and beats a hand without a pair.
WHEELS = [
    (False, "Ah 2d 3s 4c 5h", "Kd Kh 9c 8s 7d", "nothing", "lose", 0),
    (True, "Ah 2d 3s 4c 5h", "Kd Kh 9c 8s 7d", "straight", "win", 4),
    (False, "Ah 2h 3h 4h 5h", "Kd Kc 9c 8s 7d", "flush", "win", 5),
    (True, "Ah 2h 3h 4h 5h", "Kd Kc 9c 8s 7d", "straight-flush", "win", 50),
    (True, "Ah 2d 3s 4c 5h", "2s 3d 4h 5c 6d", "straight", "lose", 0),
    (True, "Ah 2d 3s 4c 5h", "As 2c 3d 4h 5d", "straight", "push", 0),
    (False, "Kh Kd Ks 4c 5h", "As 2c 3d 4h 5d", "three-of-a-kind", "dnq", 0),
    (True, "Kh Kd Ks 4c 5h", "As 2c 3d 4h 5d", "three-of-a-kind", "lose", 0),
]


@pytest.mark.parametrize(("wheel", "player", "dealer", "category", "outcome", "pays"), WHEELS)
def test_ace_counts_low_only_where_the_house_says_so(
    wheel: bool, player: str, dealer: str, category: str, outcome: str, pays: int
) -> None:
    """SI-12: A-2-3-4-5 is the lowest straight with the option `wheel`, and none without it."""
    seen = table(act(dealt(player, dealer, wheel=wheel), "choose", action="bet"))
    assert seen["player"]["category"] == category
    assert seen["result"]["outcome"] == outcome
    assert seen["result"]["bet"]["won"] == 20 * pays


def test_score_itemises_and_keeps_running_totals() -> None:
    """SI-13: the sheet gives both stakes, both categories, the outcome, the balance and the totals."""
    won = act(dealt("Th Td 4s 3c 2h", "Ad Kh Qc Js 8d"), "choose", action="bet")
    first = sheet(won)
    assert (first["round"], first["final"]) == (1, True)
    assert first["standings"] == [{"seat": 0, "place": 1, "score": 1030}]
    assert first["sheet"]["player"]["category"] == "one-pair"
    assert first["sheet"]["dealer"]["category"] == "nothing"
    assert first["sheet"]["totals"] == {"hands": 1, "wins": 1, "net": 30, "biggest_win": 30}

    lost = act(act(act(won, "wager", repeat=True), "deal"), "choose", action="surrender")
    second = sheet(lost)
    assert second["sheet"]["balance"] == 1020
    assert second["sheet"]["totals"] == {"hands": 2, "wins": 1, "net": 20, "biggest_win": 30}


def test_score_of_a_hand_in_play_is_not_final() -> None:
    """C-8: an undecided hand's sheet is not final and shows no more than the table."""
    position = dealt("Th Td 4s 3c 2h", "Ad Kh Qc Js 8d")
    assert sheet(position)["final"] is False
    assert sheet(position)["sheet"]["result"] is None
    assert sheet(position)["sheet"]["dealer"] == table(position)["dealer"]


def test_a_push_is_no_win() -> None:
    """SI-13: a hand that moves no chips counts as a hand and not as a win."""
    position = act(dealt("Ah Kd Qs Jc 9h", "Ad Kh Qc Js 9d"), "choose", action="bet")
    assert sheet(position)["sheet"]["totals"] == {"hands": 1, "wins": 0, "net": 0, "biggest_win": 0}


@pytest.mark.parametrize(("balance", "reason"), [(59, "out-of-chips"), (60, None)])
def test_session_ends_when_the_least_ante_is_out_of_reach(balance: int, reason: str | None) -> None:
    """SI-14: a settled hand that leaves less than three least antes ends the session."""
    position = dealt("2h 3d 4s 5c 7h", "Ad Kh Qc Js 8d", balance=balance, min_ante=10)
    lost = act(position, "choose", action="bet")
    assert lost.state.finished == reason
    assert status(lost) == ("finished" if reason else "settled")
    if reason:
        assert offers(lost, 0) == ()
        assert refusal(lost, "wager", amount=10)[0] == "finished"


def test_leave_ends_the_session_between_hands() -> None:
    """SI-14: `leave` ends the session, and an ante that lies on the table was never taken."""
    left = step(act(seat_at("spice-island-poker"), "wager", amount=50), "leave")
    assert (status(left.position), left.position.state.finished) == ("finished", "left")
    assert (table(left.position)["ante"], table(left.position)["balance"]) == (0, 1000)
    assert told(left) == [{"type": "left", "seat": 0}]


def test_first_examples_settle_a_hand_within_the_bound() -> None:
    """Sending the first example again and again settles a hand in as many moves as the spec says."""
    position, moves = seat_at("spice-island-poker"), 0
    while status(position) != "settled":
        first = offers(position, 0)[0]
        position, moves = act(position, first.verb, **first.example), moves + 1
    assert moves == GAME.spec.bound


def test_chips_are_conserved_over_many_hands() -> None:
    """SI-8: the balance is what it was, plus the net of every hand."""
    position = seat_at("spice-island-poker", balance=1_000_000)
    for hand in range(60):
        position = act(act(position, "wager", amount=1 + hand), "deal")
        position = act(position, "choose", action="surrender" if hand % 3 else "bet")
        assert all_cards(position) == sorted(pack())
    assert table(position)["balance"] == 1_000_000 + table(position)["totals"]["net"]


def test_info_gives_the_pay_table_and_no_odds_yet() -> None:
    """SI-15, SI-16: the info has the pay table and says that the odds are not worked out."""
    info = GAME.info()
    assert {line["category"]: line["pays"] for line in info["pay_table"]} == PAYS
    assert info["odds"] is None
    assert info["chips"] == [1, 5, 25, 100]


@pytest.mark.parametrize(
    ("hand", "options", "worth"),
    [
        ("Ah Kd Qs Jc 9h", {}, ("nothing", True, 0)),
        ("9h 9d Qs Jc 8h", {}, ("one-pair", True, 0)),
        ("9h 9d Qs Jc 8h", {"low_hand": "even_money"}, ("one-pair", True, 1)),
        ("Th Td Qs Jc 8h", {}, ("one-pair", True, 1)),
        ("Ah 2d 3s 4c 5h", {}, ("nothing", False, 0)),
        ("Ah 2d 3s 4c 5h", {"wheel": True}, ("straight", True, 4)),
        ("Ah Kh Qh Jh Th", {}, ("royal-flush", True, 200)),
    ],
)
def test_evaluate_says_what_five_cards_are(hand: str, options: dict[str, Any], worth: tuple[Any, ...]) -> None:
    """C-12: `evaluate` gives category, qualification and what a winning bet earns."""
    answer = GAME.evaluate(tuple(hand.split()), GAME.spec.options.filled(options))
    assert (answer["category"], answer["qualifies"], answer["pays"]) == worth


@pytest.mark.parametrize("hand", ["Ah Kd Qs Jc", "Ah Kd Qs Jc 9h 8h", "Ah Ah Qs Jc 9h", "Ah Kk Qs Jc 9h", ""])
def test_evaluate_refuses_what_the_deck_does_not_hold(hand: str) -> None:
    """C-12: too few, too many, a card twice and a card of another deck are refused."""
    with pytest.raises(Invalid):
        GAME.evaluate(tuple(hand.split()), GAME.spec.options.filled({}))


def test_a_verb_of_another_game_is_not_in_this_one() -> None:
    """A verb that the game does not have is refused as such."""
    assert refusal(seat_at("spice-island-poker"), "swap", positions=[0, 1])[0] == "not-in-this-game"
