"""Jackpot's bots: exact chances, and what each level makes of them (JP-17)."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.advice.jackpot import DEALT, Prospect, prospects
from engine.advice.jackpot_chances import counts, unseen
from engine.cards import Card, pack
from engine.game import LEVELS
from engine.games.jackpot_table import Table
from engine.shuffle import Chance
from tests.jackpots import (
    NOW,
    SECRET,
    at,
    balances,
    bots,
    dice,
    dropped,
    enumerated,
    inside,
    laid,
    new,
    people,
    sent,
    swapped,
    with_secret,
)

RIVAL = "3h 4d 7c 8s Td"


def seen_by_turn(position: play.Position) -> tuple[Table, int]:
    """Return the table as the seat whose turn it is sees it, and that seat."""
    seat = inside(position).turn
    assert seat is not None
    table = play.view(position, seat).table
    assert isinstance(table, Table)
    return table, seat


def asked(position: play.Position, level: str) -> list[int]:
    """Return what a bot of the level would drop for the seat whose turn it is."""
    _, seat = seen_by_turn(position)
    action = BOTS["jackpot"][level](play.view(position, seat), play.offers(position, seat))
    assert action.verb == "choose"
    return list(action.body["drop"])


def others(hand: tuple[str, ...]) -> tuple[Card, ...]:
    """Return the deck without these cards, in an order of their own."""
    rest = tuple(card for card in pack() if card not in hand)
    return Chance(SECRET, hand, {}).shuffle(rest, "deal")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Ah Kh Qh Jh 2c", 9),
        ("9s 9h 9d 2c 2d", 0),
        ("Ks Kh Kd 3c Ac", 3),
        ("2h 3h 4h 5h Ah", 6),
        ("7h 7d 7s 7c Ah", 0),
        ("2h 3d 7s 8c Th", 9),
        ("Ad Ah 9d 9h Td", 5),
    ],
)
def test_chances_are_exact(text: str, gone: int) -> None:
    """JP-17: counted by classes, the draws that make each category are those found by making every draw."""
    hand = tuple(text.split())
    pool = others(hand)[gone:]
    for size in (5, 4, 3, 2):
        for cards in list(combinations(hand, size))[: 10 if size > 2 else 3]:
            for wheel in (False, True):
                assert counts(cards, unseen(pool), wheel=wheel) == enumerated(cards, pool, wheel=wheel)


def test_chances_of_all_pairs_give_every_hand_its_share() -> None:
    """JP-7, JP-17: over all first two cards the counts come to all 2,598,960 hands, ten times each."""
    totals = Counter[int]()
    for two in combinations(pack(), 2):
        pool = unseen(card for card in pack() if card not in two)
        totals.update(dict(enumerate(counts(two, pool))))
    assert sum(DEALT) == 2_598_960
    assert tuple(totals[number] for number in range(11)) == tuple(10 * number for number in DEALT)


def test_prospects_know_what_the_seat_knows() -> None:
    """JP-17: there are 26 drops; own drops cannot be drawn until the discard pile is shuffled in."""
    position = laid({0: "2h 3d 7s 8c Th", 1: RIVAL.replace("3h", "4h")}, stock="Ac Kc Qc")
    table, _ = seen_by_turn(dropped(position, (0, [0, 1, 2]), (1, [0])))
    found = {each.positions: each.counts for each in prospects(table, 0)}
    pool = tuple(card for card in pack() if card not in {"Ac", "Kc", "Qc", "8c", "Th", "2h", "3d", "7s"})
    assert len(found) == 26
    assert found[3, 4] == enumerated(("Ac", "Kc", "Qc"), pool, wheel=False)
    back = {each.positions: each.counts for each in prospects(replace(table, shuffles=1), 0)}
    assert (sum(found[3, 4]), sum(back[3, 4])) == (44 * 43 // 2, 47 * 46 // 2)


def test_prospects_take_the_wheel_where_it_counts() -> None:
    """JP-9, JP-17: with the option, the draw to A-2-3-4-5 of one suit is a Follow-up."""
    for wheel, ways in ((False, 0), (True, 1)):
        table, _ = seen_by_turn(laid({0: "Ah 2h 3h 4h Kd", 1: "4d 7c 8s Td Jc"}, wheel=wheel))
        found = {each.positions: each.counts for each in prospects(table, 0)}
        assert found[(4,)][7] == ways


@pytest.mark.parametrize(
    ("hand", "drop"),
    [
        ("Ah Kd Qs Jc 9h", [2, 3, 4]),
        ("2h 2d Qs Jc 9h", [2, 3, 4]),
        ("2h 2d Qs Qc 9h", [4]),
        ("2h 2d 2s Qc 9h", [3, 4]),
        ("2h 2d 2s Qc Qh", []),
        ("2h 2d 2s 2c Qh", [4]),
        ("9h 2h Kh 4h 6h", []),
        ("Ah Ad As Ac 2h", []),
        ("9h 2h Kh 4h 6d", [1, 3, 4]),
    ],
)
def test_easy_keeps_what_shares_a_rank(hand: str, drop: list[int]) -> None:
    """JP-17: easy drops the lowest of the cards without a fellow, at most three, and none from a Strait on."""
    assert asked(laid({0: hand, 1: RIVAL}), "easy") == drop


@pytest.mark.parametrize(
    "hand", ["9h 2h Kh 4h 6d", "2h 5d 7s 8c Th", "Jh Jd 9s 8c 2d", "Ks Kh Kd Kc 3d", "Ah Kh Qh Jh Th", "9h 9d 9s 2c 2d"]
)
def test_normal_maximises_the_expected_category(hand: str) -> None:
    """JP-17: no drop has a higher mean of categories than normal's, and of those that have it none is smaller."""
    position = laid({0: hand, 1: RIVAL})
    means = {each.positions: mean(each) for each in prospects(*seen_by_turn(position))}
    best = [places for places, value in means.items() if value == max(means.values())]
    assert asked(position, "normal") == list(min(best, key=lambda places: (len(list(places)), list(places))))


def mean(prospect: Prospect) -> Fraction:
    """Return the mean category of a drop's draws."""
    return Fraction(sum(number * ways for number, ways in enumerate(prospect.counts)), sum(prospect.counts))


def test_normal_draws_to_what_is_near() -> None:
    """JP-17: four of a suit draw for the fifth, four kings for the ace, and a Royal Family stands."""
    assert asked(laid({0: "9h 2h Kh 4h 6d", 1: RIVAL}), "normal") == [4]
    assert asked(laid({0: "Ks Kh Kd Kc 3d", 1: RIVAL}), "normal") == [4]
    assert asked(laid({0: "Ah Kh Qh Jh Th", 1: RIVAL}), "normal") == []


def test_hard_weighs_the_cost_against_the_jackpot() -> None:
    """JP-17: the same hand is bettered for a rich jackpot, and kept where a card costs more than can be won."""
    position = laid({0: "9h 2h Kh 4h 6d", 1: RIVAL})
    state = replace(inside(position), pass_number=3)
    state = state.with_hand(0, replace(state.hands[0], dropped=(0, 0)))
    state = state.with_hand(1, replace(state.hands[1], dropped=(0, 0, 0)))
    assert asked(replace(position, state=state), "hard") == []
    assert asked(replace(position, state=replace(state, jackpot=10_000)), "hard") == [4]
    assert asked(replace(position, state=replace(state, jackpot=10)), "hard") == []


@pytest.mark.parametrize("level", LEVELS)
def test_bots_go_by_their_own_view_alone(level: str) -> None:
    """JP-17, C-11: with cards exchanged that the seat cannot see, the bot drops the same."""
    random = dice(5)
    for number in range(6):
        position = sent(with_secret(new(people(3)), number), 0, "deal")
        position = dropped(position, (0, [0, 1]), (1, [2]), (2, []))
        known = {*inside(position).hands[0].cards.cards, *inside(position).hands[0].drops.pile.cards}
        twin = swapped(position, *random.sample([card for card in pack() if card not in known], 2))
        assert asked(position, level) == asked(twin, level)


def test_a_bot_is_asked_at_its_own_turn_only() -> None:
    """C-11: without a turn there is nothing to choose."""
    position = new(bots("easy", "easy"))
    with pytest.raises(ValueError, match="own turn"):
        BOTS["jackpot"]["easy"](play.view(position, 0), ())


@pytest.mark.parametrize("rival", ["easy", "normal"])
def test_hard_wins_from_the_other_levels(rival: str) -> None:
    """JP-17: over sixty rounds the bot that weighs the cost has gained."""
    position = new(bots("hard", rival), bot_ms=0, ante=10)
    for number in range(60):
        position = at(sent(position, None, "deal", NOW + number), NOW + number)
    assert inside(position).round == 60
    assert balances(position)[0] > 0
