"""Jackpot: every ruling by its id, with rounds played at the doors of `engine.play`."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from engine import play
from engine.cards import RANKS, cards, pack, rank, suit
from engine.game import PERSON, Action, Illegal, Invalid, Move, NotYours
from engine.games.jackpot_hands import Category, category
from engine.piles import Pile
from engine.shuffle import Chance, round_seed
from tests.jackpots import (
    GAME,
    NOW,
    OPEN,
    SECRET,
    SESSION,
    all_cards,
    at,
    balances,
    bots,
    chips,
    dice,
    dropped,
    due,
    inside,
    laid,
    new,
    opened,
    people,
    plain,
    refused,
    send,
    sent,
    stood,
    swapped,
    table,
    told,
    traffic,
    types,
    with_secret,
)

NOTHING_A, NOTHING_B, NOTHING_C = "2h 3d 7s 8c Th", "2d 3h 7c 8s Td", "4h 5d 9s Jc 6h"
DOUBLES = "Ah Ad 7c 8s 2d"
TRIO = "5h 8h Qh Kd 3s"


def played_out(position: play.Position, random: Random) -> Iterator[play.Step]:
    """Play a round with drops at random; yield every step."""
    now = NOW
    while inside(position).playing:
        now += 10
        state = inside(position)
        if state.turn is None:
            step = send(position, state.order[-1], "evaluate", now)
        else:
            drop = random.sample(range(5), random.randint(0, 3))
            step = send(position, state.turn, "choose", now, drop=drop)
        yield step
        position = step.position


# The deal.


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_five_cards_are_dealt_to_each_seat(seats: int) -> None:
    """JP-1, C-7: five cards in a block to each seat, from the one that drops first on, the rest to the stock."""
    state = inside(sent(new(people(seats), first_seat=1), 0, "deal"))
    shuffled = Chance(round_seed(SECRET, SESSION, 1), ("",) * seats, {}).shuffle(pack(), "deal")
    order = [(1 + place) % seats for place in range(seats)]
    assert state.order == tuple(order)
    for place, seat in enumerate(order):
        assert state.hands[seat].cards.cards == shuffled[5 * place : 5 * place + 5]
    assert state.stock.cards == shuffled[5 * seats :]


def test_every_round_has_the_full_deck_in_another_order() -> None:
    """JP-1, C-6: each round is dealt from all 52 cards, and not as the one before."""
    first = sent(new(), 0, "deal")
    second = sent(sent(stood(first), 0, "evaluate"), 1, "deal")
    assert all_cards(first) == all_cards(second) == sorted(pack())
    assert inside(first).hands[0].cards != inside(second).hands[0].cards
    assert inside(second).round == 2


def test_card_value_and_ante_are_shown_before_a_seat_is_taken() -> None:
    """JP-2: a spectator reads the price of a card and the ante before the first deal."""
    seen = table(new((*people(1), OPEN), card_value=25, ante=5))
    assert (seen["phase"], seen["card_value"], seen["ante"]) == ("deal", 25, 5)
    assert (table(new())["card_value"], table(new())["ante"]) == (10, 0)


def test_every_seat_in_the_round_pays_the_ante_at_each_deal() -> None:
    """JP-2, JP-12, JP-13: the antes are the jackpot that nobody has dropped for, and the winner takes it."""
    position = sent(new((*people(2), OPEN), ante=7), 1, "deal")
    assert (balances(position), inside(position).jackpot) == ([-7, -7, 0], 14)
    assert [hand["owes"] for hand in table(position)["hands"]] == [7, 7, 0]
    position = sent(stood(position), 0, "evaluate")
    winner = inside(position).ending.winner  # type: ignore[union-attr]
    assert balances(position) == [7 if seat == winner else -7 for seat in (0, 1)] + [0]
    assert table(position)["result"]["payout"] == 14
    again = sent(position, 0, "deal")
    assert (sum(balances(again)), inside(again).jackpot) == (-14, 14)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("card_value", 0),
        ("card_value", 1_000_001),
        ("ante", -1),
        ("ante", 1_000_001),
        ("first_seat", 5),
        ("first_seat", 2),
        ("wheel", 1),
        ("turn_seconds", 4),
        ("turn_seconds", 3601),
        ("turn_seconds", 7.5),
        ("bot_ms", 10_001),
        ("card_value", None),
    ],
)
def test_options_have_their_bounds(option: str, value: object) -> None:
    """JP-2, JP-3, JP-16: an option outside its bounds, or a first seat that is not there, opens no table."""
    with pytest.raises(Invalid) as refusal:
        opened(people(2), {option: value})
    assert refusal.value.pointer == f"/options/{option}"


def test_turns_have_no_limit_unless_one_is_set() -> None:
    """JP-16: without `turn_seconds` there is none, and the schema of the options gives it no default."""
    assert play.chosen_options("jackpot", {})["turn_seconds"] is None
    assert play.chosen_options("jackpot", {"turn_seconds": None})["turn_seconds"] is None
    schema = GAME.spec.options.schema()["properties"]["turn_seconds"]
    assert (schema["minimum"], schema["maximum"], "default" in schema) == (5, 3600, False)
    position = sent(new(), 0, "deal")
    assert play.view(position, 0).deadline_at is None
    assert at(position, NOW + 10**9) == position


def test_any_person_may_deal_and_open_seats_are_skipped() -> None:
    """C-9: with two seats taken either person deals; an open seat gets no cards and no turn."""
    position = new((*people(1), OPEN, *people(1)))
    for seat in (0, 2):
        state = inside(sent(position, seat, "deal"))
        assert state.order == (0, 2)
        assert [len(hand.cards) for hand in state.hands] == [5, 0, 5]


def test_a_round_needs_two_seats() -> None:
    """C-9: with one seat taken there is no deal, and the refusal says why."""
    position = new((*people(1), OPEN))
    assert play.status(position) == "waiting"
    assert refused(position, 0, "deal") == ("not-now", "A round needs 2 seats that somebody holds.")
    assert play.host_offers(position) == ()
    with pytest.raises(NotYours):
        send(position, None, "deal")
    assert not play.view(position, 0).seats[0]["to_act"]


def test_host_deals_and_closes_the_open_seats() -> None:
    """C-9: the host's token deals without a seat; what was open is closed."""
    position = sent(new((*people(2), OPEN)), None, "deal")
    assert inside(position).order == (0, 1)
    assert [seat.kind for seat in position.seats] == ["person", "person", "closed"]


def test_newcomer_plays_from_the_next_round() -> None:
    """C-9: who sits down during a round has no cards and no turn until the next deal."""
    position = sent(new((*people(2), OPEN)), 0, "deal")
    position = play.join(position, Move(2, Action("join", {"name": "Newcomer"}), NOW)).position
    assert refused(position, 2, "choose", drop=[]) == ("not-now", "This seat plays from the next round on.")
    assert table(position, 2)["hands"][2]["cards"] == []
    position = sent(sent(stood(position), 2, "evaluate"), 2, "deal")
    assert set(inside(position).order) == {0, 1, 2}


def test_there_is_one_round_at_a_time() -> None:
    """C-6: a deal in a round is refused, and so are drops and flips between rounds."""
    position = new()
    for verb in ("choose", "evaluate"):
        body: dict[str, Any] = {"drop": []} if verb == "choose" else {}
        assert refused(position, 0, verb, **body) == ("not-now", "No round is in play: deal first.")
    position = sent(position, 0, "deal")
    reason = "A round is in play: the next is dealt after its flip."
    assert refused(position, 1, "deal") == ("not-now", reason)
    assert play.host_offers(position) == ()
    assert refused(stood(position), 1, "deal") == ("not-now", reason)
    assert refused(position, 1, "swap")[0] == "not-in-this-game"


# Passes and turns.


def test_turn_goes_round_in_seat_order() -> None:
    """JP-3: each seat drops in its turn, and nobody out of it."""
    position = sent(new(people(3), first_seat=1), 0, "deal")
    for seat in (1, 2, 0):
        seen = play.view(position, None)
        assert table(position)["turn"] == seat
        assert [each["to_act"] for each in seen.seats] == [other == seat for other in (0, 1, 2)]
        for other in {0, 1, 2} - {seat}:
            assert refused(position, other, "choose", drop=[]) == ("not-now", f"It is the turn of seat {seat}.")
        position = sent(position, seat, "choose", drop=[0])
    assert (table(position)["pass"], table(position)["turn"]) == (2, 1)


def test_passes_end_after_the_third() -> None:
    """JP-3: however much is dropped, there are three passes."""
    position = sent(new(), 0, "deal")
    for number in (1, 2, 3):
        assert table(position)["pass"] == number
        position = dropped(position, (0, [0]), (1, [4]))
    assert (table(position)["phase"], table(position)["turn"], table(position)["pass"]) == ("flip", None, 3)
    assert table(position)["hands"][1]["dropped"] == [1, 1, 1]
    assert refused(position, 0, "choose", drop=[]) == ("not-now", "The passes are over: flip.")


def test_a_whole_pass_without_a_drop_ends_the_passes() -> None:
    """JP-3: the passes end when nobody drops in one of them, and not before it has gone round."""
    position = sent(new(people(3)), 0, "deal")
    position = dropped(position, (0, []), (1, []), (2, [1]))
    assert (table(position)["phase"], table(position)["pass"]) == ("drop", 2)
    position = dropped(position, (0, []), (1, []))
    assert table(position)["phase"] == "drop"
    position = dropped(position, (2, []))
    assert table(position)["phase"] == "flip"
    assert [hand["dropped"] for hand in table(position)["hands"]] == [[0, 0, None], [0, 0, None], [1, 0, None]]
    assert table(stood(sent(new(), 0, "deal")))["phase"] == "flip"


@pytest.mark.parametrize("drop", [[0, 1, 2, 3], [5], [-1], [1, 1], "0", None, [True], [0.0]])
def test_a_drop_is_none_to_three_positions(drop: object) -> None:
    """JP-3, C-2: more than three, another place, one twice or no list at all is no drop, and changes nothing."""
    position = sent(new(), 0, "deal")
    code, detail = refused(position, 0, "choose", drop=drop)
    assert (code, detail) == ("out-of-bounds", "Now drop must be 0 to 3 different positions out of 0 to 4.")
    assert refused(position, 0, "choose")[0] == "out-of-bounds"


def test_first_seat_moves_on_to_the_next_taken_seat() -> None:
    """JP-3: round by round the next taken seat drops first, over seats that are open and seats that were left."""
    position = new((*people(2), OPEN, *people(2)), first_seat=3)
    firsts = []
    for number in range(6):
        if number == 3:
            position = sent(position, 1, "leave")
        position = sent(position, 0, "deal")
        firsts.append(table(position)["first"])
        position = sent(stood(position), 0, "evaluate")
    assert firsts == [3, 4, 0, 3, 4, 0]


def test_first_seat_that_is_open_gives_way_to_the_next_taken_one() -> None:
    """JP-3: where nobody sits at `first_seat`, the next taken seat after it drops first."""
    position = sent(new((*people(2), OPEN, OPEN), first_seat=2), 0, "deal")
    assert inside(position).order == (0, 1)
    position = sent(new((*people(1), OPEN, *people(1)), first_seat=1), 0, "deal")
    assert inside(position).order == (2, 0)


# Dropping.


def test_dropped_cards_are_paid_for_and_dealt_back() -> None:
    """JP-4, C-7: each card costs its value; as many come back into the freed places, lowest first."""
    position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="Ac Kc Qc", card_value=25)
    step = send(position, 0, "choose", drop=[4, 0, 2])
    state = inside(step.position)
    assert state.hands[0].cards.cards == ("Ac", "3d", "Kc", "8c", "Qc")
    assert (state.jackpot, balances(step.position), state.hands[0].owes) == (75, [-75, 0], 75)
    assert state.discards.cards == ("2h", "7s", "Th")
    assert told(step, 0) == [
        {"type": "dropped", "seat": 0, "pass": 1, "count": 3, "jackpot": 75, "cards": ["2h", "7s", "Th"]},
        {"type": "drawn", "seat": 0, "count": 3, "cards": ["Ac", "Kc", "Qc"]},
    ]
    assert [event["cards"] for event in told(step, 1)] == [[None] * 3, [None] * 3]


def test_dropping_nothing_costs_nothing() -> None:
    """JP-3, JP-4: an empty list keeps the hand and pays nothing."""
    position = laid({0: NOTHING_A, 1: NOTHING_B})
    step = send(position, 0, "choose", drop=[])
    assert inside(step.position).hands[0].cards == inside(position).hands[0].cards
    assert (balances(step.position), inside(step.position).jackpot) == ([0, 0], 0)
    assert types(step.events) == ["dropped"]
    assert all_cards(step.position) == sorted(pack())


def test_a_short_stock_gives_what_it_has_and_the_discard_pile_the_rest() -> None:
    """JP-5: the discard pile is shuffled in only when the stock is short, and without the cards of this draw."""
    position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="Ac Kc", discards="Qh Qd", short=True)
    pile = inside(position).discards.cards
    step = send(position, 0, "choose", drop=[0, 1, 2])
    chance = Chance(round_seed(SECRET, SESSION, 1), (), {})
    stock = chance.shuffle(pile, "reshuffle")
    state = inside(step.position)
    assert state.hands[0].cards.cards == ("Ac", "Kc", stock[0], "8c", "Th")
    assert (state.stock.cards, state.discards.cards, state.shuffles) == (stock[1:], ("2h", "3d", "7s"), 1)
    for viewer in (None, 0, 1):
        shuffled = [event for event in told(step, viewer) if event["type"] == "shuffled"]
        assert shuffled == [{"type": "shuffled", "seat": None, "count": 40}]
    assert types(step.events) == ["dropped", "shuffled", "drawn"]


def test_a_stock_that_is_just_enough_is_not_refilled() -> None:
    """JP-5: a draw that empties the stock shuffles nothing; the next one does."""
    position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="Ac Kc", short=True)
    step = send(position, 0, "choose", drop=[0, 1])
    assert "shuffled" not in types(step.events)
    assert (table(step.position)["stock"], table(step.position)["shuffles"]) == (0, 0)
    step = send(step.position, 1, "choose", drop=[0])
    assert "shuffled" in types(step.events)


def test_a_second_reshuffle_goes_on_with_the_chance_of_its_label() -> None:
    """JP-5, C-7: within a round a second shuffle of the discard pile is another one, of the same label."""
    position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="", discards="", short=True)
    position = dropped(position, (0, [0]))
    first = position.counters["reshuffle"]
    state = inside(position)
    emptied = replace(state, stock=Pile(), discards=Pile(state.discards.cards + state.stock.cards))
    position = dropped(replace(position, state=emptied), (1, [0]))
    assert (inside(position).shuffles, position.counters["reshuffle"] > first) == (2, True)


@pytest.mark.parametrize("seed", range(6))
def test_five_seats_that_drop_all_they_can_never_run_out(seed: int) -> None:
    """JP-5, JP-13: seventy cards come out of fifty-two; none is lost, and nobody draws what he has just dropped."""
    position = sent(with_secret(new(people(5)), seed), seed % 5, "deal")
    while (turn := inside(position).turn) is not None:
        kept = inside(position).hands[turn].cards.cards
        position = sent(position, turn, "choose", drop=[0, 2, 4])
        drawn = [inside(position).hands[turn].cards.cards[place] for place in (0, 2, 4)]
        assert not {kept[0], kept[2], kept[4]} & set(drawn)
        assert all_cards(position) == sorted(pack())
        assert chips(position) == 0
    assert table(position)["shuffles"] == 1
    assert table(position)["jackpot"] == 45 * 10


# The flip.


def test_any_seat_flips_once_the_passes_are_over() -> None:
    """JP-6: until the passes are over nobody flips, then anyone may."""
    position = sent(new(people(3)), 0, "deal")
    reason = "The passes are not over: it is the turn of seat 0."
    for seat in (0, 1, 2):
        assert refused(position, seat, "evaluate") == ("not-now", reason)
    position = stood(position)
    assert all(seat["to_act"] for seat in play.view(position, None).seats)
    for seat in (0, 1, 2):
        settled = sent(position, seat, "evaluate")
        assert (play.status(settled), table(settled)["phase"]) == ("settled", "settled")


def test_flip_shows_and_ranks_all_hands() -> None:
    """JP-6, JP-7: every hand is shown to everyone with its category, and the highest wins."""
    position = stood(laid({0: NOTHING_A, 1: TRIO, 2: DOUBLES}))
    assert [hand["category"] for hand in table(position)["hands"]] == [None, None, None]
    step = send(position, 2, "evaluate")
    flipped = [event for event in told(step, None) if event["type"] == "flipped"]
    assert flipped == [
        {"type": "flipped", "seat": 0, "category": 0, "category_name": "Nothing", "cards": NOTHING_A.split()},
        {"type": "flipped", "seat": 1, "category": 2, "category_name": "Trio", "cards": TRIO.split()},
        {"type": "flipped", "seat": 2, "category": 1, "category_name": "Doubles", "cards": DOUBLES.split()},
    ]
    seen = table(step.position)
    assert [hand["cards"] for hand in seen["hands"]] == [NOTHING_A.split(), TRIO.split(), DOUBLES.split()]
    assert seen["result"] == {"winner": 1, "by": "hand", "tied": [], "draws": [], "payout": 0}


def test_flip_comes_by_itself_after_the_limit() -> None:
    """JP-6: with `turn_seconds` the flip takes place that long after the last pass."""
    position = stood(sent(new(turn_seconds=30), 0, "deal", NOW), NOW + 500)
    assert play.view(position, None).deadline_at == NOW + 30_500
    assert due(position, NOW + 30_499) == ()
    (step,) = due(position, NOW + 10**6)
    assert (step.move.seat, step.move.at, types(step.events)[0]) == (None, NOW + 30_500, "flipped")


def test_bots_alone_flip_at_once() -> None:
    """JP-6: the last drop at a table of bots and the flip are of one moment."""
    position = sent(new(bots("easy", "hard"), turn_seconds=60, bot_ms=50), None, "deal", NOW)
    made = due(position, NOW + 10**7)
    assert made[-1].move.action.verb == "flip"
    assert made[-1].move.at == made[-2].move.at < NOW + 60_000
    assert table(made[-1].position)["phase"] == "settled"


def test_bots_leave_the_flip_to_a_person() -> None:
    """JP-6: where a person is in the round, bots wait for the flip."""
    position = sent(new((*people(1), *bots("easy"))), 0, "deal", NOW)
    now = NOW
    while inside(position).phase == "drop":
        now += 5000
        position = at(position, now)
        if inside(position).turn == 0:
            position = sent(position, 0, "choose", now, drop=[])
    assert at(position, now + 10**9) == position
    assert [seat["to_act"] for seat in play.view(position, None).seats] == [True, False]
    assert table(sent(position, 0, "evaluate", now))["phase"] == "settled"


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


def drawing(stock: str, *hands: str) -> play.Step:
    """Return the flip of hands that tie, the card draw's cards on top of the stock."""
    return send(stood(laid(dict(enumerate(hands)), stock=stock)), 0, "evaluate")


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


# Who sees what.


def test_a_seat_sees_its_own_hand_and_drops() -> None:
    """JP-14: the own hand, its category and all own drops of the round are in the seat's view, and not in others'."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac Kc Qc 4s")
    position = dropped(position, (0, [0, 1, 2]), (1, []), (0, [4]))
    mine, others = table(position, 0)["hands"][0], table(position, 1)["hands"][0]
    assert (mine["cards"], mine["category"], mine["category_name"]) == (["Ac", "Kc", "Qc", "8c", "4s"], 2, "Trio")
    assert mine["discarded"] == ["2h", "3d", "7s", "Th"]
    assert (others["cards"], others["discarded"], others["category"]) == ([None] * 5, [None] * 4, None)
    for viewer in (None, 0, 1):
        assert table(position, viewer)["hands"][0]["dropped"] == [3, 1, None]
    assert table(position, None)["hands"] == [others, table(position, 0)["hands"][1]]


def test_own_drops_stay_in_view_when_they_are_shuffled_in() -> None:
    """JP-14, JP-5: the record of a seat's drops outlasts the discard pile."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac", short=True)
    position = dropped(position, (0, [0]), (1, [2, 3]), (0, [1]), (1, [4]))
    assert table(position)["shuffles"] == 1
    assert table(position, 0)["hands"][0]["discarded"] == ["2h", "3d"]
    assert table(position, 1)["hands"][0]["discarded"] == [None, None]


def test_discards_stay_secret_after_the_flip() -> None:
    """JP-14: a settled round shows all hands, and still nobody else's drops."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac Kc Qc")
    position = sent(stood(stood(dropped(position, (0, [0, 1, 2])))), 1, "evaluate")
    assert table(position, 1)["hands"][0]["cards"] == ["Ac", "Kc", "Qc", "8c", "Th"]
    assert table(position, 1)["hands"][0]["discarded"] == [None] * 3
    assert b"3d" not in traffic(position, 1)
    assert b"3d" in traffic(position, 0)
    again = sent(position, 0, "deal")
    assert table(again, 0)["hands"][0]["discarded"] == []


@pytest.mark.parametrize("viewer", [None, 0, 1, 2])
def test_hidden_cards_change_nothing_that_a_viewer_sees(viewer: int | None) -> None:
    """JP-14: with any two cards exchanged that a viewer cannot see, he is told the same to the last byte."""
    random = dice(4)
    for number in range(10):
        position = sent(with_secret(new(people(3)), number), 0, "deal")
        mine = set(inside(position).hands[viewer].cards.cards) if viewer is not None else set()
        twin = swapped(position, *random.sample([card for card in pack() if card not in mine], 2))
        while inside(position).phase == "drop" and inside(position).pass_number < 3:
            turn = inside(position).turn
            drop = [] if turn == viewer else random.sample(range(5), random.randint(0, 3))
            steps = [send(each, turn, "choose", drop=drop) for each in (position, twin)]
            assert told(steps[0], viewer) == told(steps[1], viewer)
            position, twin = steps[0].position, steps[1].position
            assert traffic(position, viewer) == traffic(twin, viewer)


# Leaving.


def test_leaving_in_a_turn_passes_it_on() -> None:
    """JP-15: the hand goes face down on the discard pile, what was paid stays, and the next seat drops."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C}, stock="Ac Kc", turn_seconds=60)
    position = dropped(position, (0, [0, 1]))
    step = send(position, 1, "leave", NOW + 9000)
    state = inside(step.position)
    assert types(step.events) == ["left"]
    assert (state.turn, state.order, state.since) == (2, (0, 2), NOW + 9000)
    assert state.discards.cards == (*NOTHING_B.split(), "2h", "3d")
    assert (state.jackpot, balances(step.position)) == (20, [-20, 0, 0])
    assert table(step.position, 1)["hands"][1]["cards"] == []
    assert all_cards(step.position) == sorted(pack())
    assert play.view(step.position, None).deadline_at == NOW + 69_000


def test_leaving_out_of_turn_leaves_the_turn_where_it_is() -> None:
    """JP-15: another seat's turn and its clock go on."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C}, turn_seconds=60)
    for leaver in (1, 2):
        state = inside(sent(position, leaver, "leave", NOW + 9000))
        assert (state.turn, state.since) == (0, NOW)
    position = sent(dropped(position, (0, [1])), 0, "leave")
    assert (inside(position).turn, inside(position).jackpot, balances(position)) == (1, 10, [-10, 0, 0])


def test_leaving_can_end_a_pass_and_the_passes() -> None:
    """JP-15: a pass ends when the last who had to drop leaves, and the passes where none still in has dropped."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C})
    on = sent(dropped(position, (0, [0]), (1, [])), 2, "leave")
    assert (inside(on).phase, inside(on).pass_number, inside(on).turn) == ("drop", 2, 0)
    step = send(dropped(position, (0, []), (1, [])), 2, "leave")
    assert types(step.events) == ["left", "passes-over"]
    assert inside(step.position).phase == "flip"
    gone = sent(dropped(position, (0, [0]), (1, [])), 0, "leave")
    assert inside(dropped(gone, (2, []))).phase == "flip"


def test_last_seat_left_wins_without_a_flip() -> None:
    """JP-15: with one seat left it takes the jackpot, and no hand is shown."""
    for viewer in (None, 0, 1):
        position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="Ac Kc")
        step = send(dropped(position, (0, [0, 1])), 0, "leave")
        assert types(step.events) == ["left", "settled"]
        seen = table(step.position, viewer)
        assert seen["result"] == {"winner": 1, "by": "last", "tied": [], "draws": [], "payout": 20}
        assert seen["hands"][1]["cards"] == (NOTHING_B.split() if viewer == 1 else [None] * 5)
        assert seen["hands"][1]["category"] == (0 if viewer == 1 else None)
        assert seen["hands"][0]["cards"] == []
        assert balances(step.position) == [-20, 20]
        assert play.status(step.position) == "waiting"


def test_leaving_before_the_flip_gives_up_the_hand() -> None:
    """JP-15: in the flip phase a leaver's hand is no longer ranked, and with one left there is no flip."""
    position = stood(laid({0: NOTHING_A, 1: TRIO, 2: DOUBLES}))
    position = sent(position, 1, "leave")
    assert inside(position).phase == "flip"
    assert table(sent(position, 0, "evaluate"))["result"]["winner"] == 2
    assert table(sent(position, 2, "leave"))["result"] == {
        "winner": 0,
        "by": "last",
        "tied": [],
        "draws": [],
        "payout": 0,
    }


def test_leaving_between_rounds_keeps_the_balance() -> None:
    """JP-15, C-9: the last round stays in view, the balance stays, and the seat is given to nobody."""
    position = sent(stood(laid({0: NOTHING_A, 1: TRIO, 2: NOTHING_C}, ante=5)), 0, "evaluate")
    shown, kept = table(position)["hands"], balances(position)
    position = sent(position, 1, "leave")
    assert (table(position)["hands"], balances(position)) == (shown, kept)
    assert play.open_seats(position) == ()
    position = sent(position, 0, "deal")
    assert inside(position).order == (2, 0)
    assert balances(position)[1] == kept[1]
    assert {each.seat for each in play.score(position, None).standings} == {0, 1, 2}


def test_a_bot_may_be_taken_out_of_a_round() -> None:
    """JP-15: the host takes out a seat whose turn it is; it is replayed like any move."""
    opening = new((*people(2), *bots("normal")), first_seat=2)
    dealt = sent(opening, 0, "deal", NOW)
    step = play.host_acts(dealt, Move(None, Action("leave", {"seat": 2}), NOW + 400))
    assert (inside(step.position).turn, inside(step.position).order) == (0, (0, 1))
    again = play.replay(opening, [Move(0, Action("deal"), NOW), step.move])
    assert again == step.position


def test_bots_flip_when_the_last_person_in_the_round_leaves() -> None:
    """JP-6, JP-15, C-10: with a newcomer at the table the bots left alone flip at once, at the time of the leaving."""
    position = new((*people(1), *bots("easy", "easy"), OPEN))
    position = sent(position, 0, "deal", NOW)
    position = play.join(position, Move(3, Action("join", {"name": "Newcomer"}), NOW)).position
    now = NOW
    while inside(position).phase == "drop":
        now += 5000
        position = at(position, now)
        if inside(position).turn == 0:
            position = sent(position, 0, "choose", now, drop=[])
    left = sent(position, 0, "leave", now + 777)
    (step,) = due(left, now + 777)
    assert (step.move.at, types(step.events)[0]) == (now + 777, "flipped")
    assert play.status(step.position) == "settled"


def test_the_round_of_a_table_without_persons_stays_unscored() -> None:
    """C-10: when the last person leaves two bots to themselves the session is finished, the jackpot where it lies."""
    position = sent(new((*people(1), *bots("easy", "easy")), ante=5), 0, "deal")
    position = sent(position, 0, "leave")
    assert (play.status(position), play.view(position, None).reason) == ("finished", "left")
    assert (inside(position).jackpot, chips(position), table(position)["result"]) == (15, 0, None)
    assert due(position, NOW + 10**9) == ()


# Time.


def test_a_lapsed_turn_drops_nothing() -> None:
    """JP-16: at the end of its time a turn is over; a drop a moment earlier counts."""
    position = sent(new(people(3), turn_seconds=5), 0, "deal", NOW)
    assert play.view(position, None).deadline_at == NOW + 5000
    assert inside(sent(position, 0, "choose", NOW + 4999, drop=[0])).jackpot == 10
    assert refused(position, 0, "choose", NOW + 5000, drop=[0]) == ("not-now", "It is the turn of seat 1.")
    (step,) = due(position, NOW + 9999)
    assert (step.move, types(step.events)) == (Move(None, Action("lapse"), NOW + 5000), ["lapsed", "dropped"])
    assert (told(step, None)[0]["seat"], told(step, None)[1]["count"]) == (0, 0)
    assert play.view(step.position, None).deadline_at == NOW + 10_000
    made = due(position, NOW + 20_000)
    assert [(each.move.action.verb, each.move.at - NOW) for each in made] == [
        ("lapse", 5000),
        ("lapse", 10_000),
        ("lapse", 15_000),
        ("flip", 20_000),
    ]


def test_a_bot_takes_its_time_and_shows_no_moment_of_it() -> None:
    """C-11: a bot drops `bot_ms` after its turn began; only the turn's own limit is public."""
    for options, deadline in (({"bot_ms": 2500}, None), ({"bot_ms": 2500, "turn_seconds": 60}, NOW + 60_000)):
        position = sent(opened((*bots("easy"), *people(1)), options), 1, "deal", NOW)
        assert play.view(position, None).deadline_at == deadline
        assert due(position, NOW + 2499) == ()
        (step,) = due(position, NOW + 2500)
        assert (step.move.seat, step.move.at) == (0, NOW + 2500)


def test_a_bot_that_would_be_slower_than_the_limit_lapses() -> None:
    """JP-16, C-5: of equal moments the lapse comes before the bot."""
    position = sent(new((*bots("easy"), *people(1)), bot_ms=5000, turn_seconds=5), 1, "deal", NOW)
    (step,) = due(position, NOW + 5000)
    assert types(step.events) == ["lapsed", "dropped"]


PERSONS_MOVES: list[tuple[int, str, dict[str, Any], int]] = [
    (0, "deal", {}, 0),
    (0, "choose", {"drop": [0, 1]}, 1200),
    (3, "choose", {"drop": [2]}, 4321),
    (0, "choose", {"drop": []}, 9300),
    (3, "leave", {}, 12_000),
    *((0, "evaluate", {}, moment) for moment in range(14_000, 40_000, 777)),
    (0, "deal", {}, 41_005),
    (0, "choose", {"drop": [4]}, 46_004),
]
"""What persons try, and when; what is not theirs to do at the moment is refused and changes nothing."""


@pytest.mark.parametrize("pace", [10, 97, 1000, 7001])
def test_looking_changes_nothing(pace: int) -> None:
    """C-5: looked at every few ms or once at the end, a table has the same position and the same log."""
    opening = new((*people(1), *bots("easy", "normal"), *people(1)), turn_seconds=5, bot_ms=730, ante=3)
    end = NOW + 80_000
    often, once = Watched(opening), Watched(opening)
    waiting = list(PERSONS_MOVES)
    for now in range(NOW, end, pace):
        while waiting and NOW + waiting[0][3] <= now:
            often.tries(*waiting.pop(0))
        often.looks(now)
    often.looks(end)
    for move in PERSONS_MOVES:
        once.tries(*move)
    once.looks(end)
    assert often.position == once.position
    assert often.log == once.log
    assert play.replay(opening, often.log) == once.position
    assert {move.action.verb for move in often.log} == {"deal", "choose", "lapse", "leave", "evaluate", "flip"}


class Watched:
    """A table and its log, brought up to date whenever somebody looks or moves."""

    def __init__(self, opening: play.Position) -> None:
        self.position = opening
        self.log: list[Move] = []

    def looks(self, now: int) -> None:
        """Let take place what is due."""
        for step in due(self.position, now):
            self.log.append(step.move)
            self.position = step.position

    def tries(self, seat: int, verb: str, body: dict[str, Any], after: int) -> None:
        """Make a person's move after what was due, if it is not refused."""
        self.looks(NOW + after)
        try:
            step = play.advance(self.position, Move(seat, Action(verb, body), NOW + after))
        except Illegal:
            return
        self.log.append(step.move)
        self.position = step.position


def test_a_position_is_stored_and_replayed_as_it_is() -> None:
    """C-5, C-6: the stored position comes back equal at every step, and the log gives it again."""
    opening = new((*people(2), *bots("hard")), turn_seconds=30, ante=2)
    position, moves, random = opening, [], dice(3)
    for _ in range(4):
        for now in range(NOW + 100_000 * inside(position).round, NOW + 10**7, 2000):
            steps = list(due(position, now))
            position = steps[-1].position if steps else position
            turn = inside(position).turn
            if not inside(position).playing:
                steps.append(send(position, 0, "deal", now))
            elif turn in (0, 1):
                steps.append(send(position, turn, "choose", now, drop=random.sample(range(5), 2)))
            for step in steps:
                stored = msgspec.msgpack.encode(step.position)
                assert msgspec.msgpack.decode(stored, type=play.Position) == step.position
            moves += [step.move for step in steps]
            position = steps[-1].position if steps else position
            if any("settled" in types(step.events) for step in steps):
                break
    assert inside(position).round >= 4
    assert play.replay(opening, moves) == position


# The score, the board, the bound.


def test_score_shows_the_round_and_the_balances() -> None:
    """C-8: the sheet of the round in play is not final and shows no more than the view; the settled one is."""
    position = laid({0: NOTHING_A, 1: TRIO, 2: NOTHING_C}, stock="Ts", card_value=50)
    position = stood(dropped(position, (0, [1])))
    sheet = plain(play.score(position, 1))
    assert (sheet["round"], sheet["final"], sheet["sheet"]["jackpot"]) == (1, False, 50)
    assert sheet["sheet"]["hands"] == table(position, 1)["hands"]
    settled = plain(play.score(sent(stood(position), 0, "evaluate"), None))
    assert settled["final"]
    assert settled["standings"] == [
        {"seat": 1, "place": 1, "score": 50},
        {"seat": 2, "place": 2, "score": 0},
        {"seat": 0, "place": 3, "score": -50},
    ]
    assert settled["sheet"]["result"]["winner"] == 1
    opening = plain(play.score(new((*people(2), OPEN)), None))
    assert (opening["final"], [each["place"] for each in opening["standings"]]) == (False, [1, 1])


def test_board_can_be_played_from() -> None:
    """The text names turn, jackpot, own cards with their positions, and hides the others'."""
    position = dropped(laid({0: NOTHING_A, 1: TRIO}, stock="Ts Tc"), (0, [1, 2]), (1, [0]))
    board = "\n".join(GAME.draw(play.view(position, 0).table))
    assert "Jackpot 30   a dropped card costs 10   pass 2 of 3, seat 0 to drop" in board
    assert "cards    0 2h  1 Ts  2 Tc  3 8c  4 Th   Hat Trick" in board
    assert "dropped  2   3d 7s" in board
    assert "cards    0 ??  1 ??  2 ??  3 ??  4 ??" in board
    settled = sent(stood(stood(position)), 0, "evaluate")
    assert "SEAT 0 TAKES 30: the best hand" in GAME.draw(play.view(settled, None).table)
    tied = GAME.draw(play.view(drawing("3s 4s", NOTHING_A, NOTHING_B).position, None).table)
    assert "Card draw 1: seat 0 3s, seat 1 4s" in tied


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("first_seat", [0, 1])
def test_first_examples_settle_a_round_within_the_bound(seats: int, first_seat: int) -> None:
    """Sending each person's first example in turn, with a bot among them or not, settles round after round."""
    for sitting in (people(seats), (*people(seats - 1), *bots("normal"))):
        position, now, made = new(sitting, first_seat=first_seat), NOW, 0
        while table(position)["phase"] != "settled" or inside(position).round < 3:
            made = 0 if table(position)["phase"] == "settled" else made
            for seat in (number for number, each in enumerate(sitting) if each.kind == PERSON):
                now += 20_000
                position = at(position, now)
                first = play.offers(position, seat)[0]
                position = play.advance(position, Move(seat, Action(first.verb, first.example), now)).position
                made += 1
                assert made <= GAME.spec.bound
                if table(position)["phase"] == "settled":
                    break


def test_every_type_of_event_comes_about() -> None:
    """The events that the game says it has are those that happen."""
    happened: set[str] = set()
    random = dice(9)
    for number in range(30):
        position = sent(with_secret(new(people(5), turn_seconds=5), number), 0, "deal")
        happened |= set(types(send(new(people(5)), 0, "deal").events))
        for step in played_out(position, random):
            happened |= set(types(step.events))
    position = sent(new(people(2), turn_seconds=5), 0, "deal")
    happened |= set(types(due(position, NOW + 5000)[0].events)) | set(types(send(position, 0, "leave").events))
    assert happened == set(GAME.spec.events)
    assert set(GAME.spec.reveals) <= happened
    assert Category(10).title == "Royal Family"
