"""Jackpot from the deal to the flip: every ruling by its id (JP-1 … JP-6)."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine import play
from engine.cards import pack
from engine.game import Action, Illegal, Invalid, Move
from engine.piles import Pile
from engine.shuffle import Chance, round_seed
from tests.jackpots import (
    DOUBLES,
    GAME,
    NOTHING_A,
    NOTHING_B,
    NOW,
    OPEN,
    SECRET,
    SESSION,
    TRIO,
    all_cards,
    at,
    balances,
    bots,
    chips,
    dropped,
    due,
    inside,
    laid,
    new,
    opened,
    people,
    refused,
    send,
    sent,
    stood,
    table,
    told,
    types,
    with_secret,
)

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
        assert GAME.offers(position.state, 1) == ()
        assert state.order == (0, 2)
        assert [len(hand.cards) for hand in state.hands] == [5, 0, 5]


def test_a_round_needs_two_seats() -> None:
    """C-9: with one seat taken there is no deal, and the refusal says why."""
    position = new((*people(1), OPEN))
    assert play.status(position) == "waiting"
    assert GAME.offers(position.state, 0) == GAME.offers(position.state, 1) == ()
    assert refused(position, 0, "deal") == ("not-now", "A round needs 2 seats that somebody holds.")
    assert play.host_offers(position) == ()
    with pytest.raises(Illegal, match="A round needs 2 seats"):
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
