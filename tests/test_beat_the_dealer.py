"""Beat the Dealer: every ruling by its id, with guesses at the doors of `engine.play`."""

from itertools import product
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from engine import play
from engine.cards import pack
from engine.game import Action, Illegal, Invalid, Move
from engine.games.beat_the_dealer_ranks import value
from engine.shuffle import Chance, round_seed
from tests.dealers import (
    GAME,
    NOW,
    OPEN,
    RANKS,
    SECRET,
    SESSION,
    SLUG,
    all_cards,
    bot,
    deal,
    dealt,
    drunk,
    ended,
    guess,
    guessed,
    inside,
    leave,
    lost,
    new,
    people,
    plain,
    refusal,
    sheet,
    stacked,
    table,
    told,
    turn,
    types,
)

HALVES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 5, 10: 5, 11: 6, 12: 6, 13: 7}


# The deck.


def test_deck_is_one_pack_and_ranks_have_their_values() -> None:
    """BD-1: 52 cards, ace 1 to king 13, whatever the suit."""
    assert all_cards(dealt()) == sorted(pack())
    values = {
        "A": 1,
        "2": 2,
        "3": 3,
        "4": 4,
        "5": 5,
        "6": 6,
        "7": 7,
        "8": 8,
        "9": 9,
        "T": 10,
        "J": 11,
        "Q": 12,
        "K": 13,
    }
    assert {card: value(card) for card in pack()} == {card: values[card[0]] for card in pack()}
    assert plain(GAME.info())["ranks"] == [{"rank": rank, "value": values[rank]} for rank in RANKS]


def test_deck_is_the_rounds_own_shuffle() -> None:
    """C-7: the cards come off the top of the shuffle labelled `deal`, one a turn, whoever guesses what."""
    position = deal(new(3)).position
    order = Chance(round_seed(SECRET, SESSION, 1), ("", "", ""), {}).shuffle(pack(), "deal")
    for card in order:
        assert inside(position).top.cards == (card,)
        position = guessed(position, card[0])
    assert not position.state.playing


def test_deck_counts_the_top_card_until_it_is_laid() -> None:
    """BD-16: 52 at the start and at the first guesses, one less with every card laid, 0 at the end."""
    assert (table(new())["deck"], table(deal(new()).position)["deck"]) == (52, 52)
    position = guessed(dealt("7"), "5")
    assert table(position)["deck"] == 52
    assert table(guessed(position, "7"))["deck"] == 51
    assert table(guessed(dealt("7", last=1), "7"))["deck"] == 0


# Dealer, guessers, and what they see.


def test_seat_0_deals_first_and_the_turn_goes_round() -> None:
    """BD-2: the others guess in seat order, round and round, whether they are right or wrong."""
    position, guessers = dealt("7777 8888", seats=4), []
    assert [event["seat"] for event in told(deal(new(4)).events) if event["type"] == "dealt"] == [0]
    for ranks in ("7", "AA", "A7", "KK", "8", "A8"):
        guessers.append(turn(position))
        position = guessed(position, ranks)
    assert guessers == [(0, 1), (0, 2), (0, 3), (0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize(("first", "guessers"), [(0, [1, 2, 3]), (2, [3, 0, 1]), (3, [0, 1, 2])])
def test_first_dealer_is_an_option(first: int, guessers: list[int]) -> None:
    """BD-2: the seat named by `first_dealer` deals, and the seat after it guesses first."""
    position, found = dealt("777", seats=4, first_dealer=first), []
    for _ in range(3):
        assert turn(position)[0] == first
        found.append(turn(position)[1])
        position = guessed(position, "7")
    assert found == guessers


def test_first_dealer_must_be_a_seat() -> None:
    """BD-2: a first dealer beyond the last seat is refused when the session opens."""
    with pytest.raises(Invalid) as refused:
        new(3, first_dealer=3)
    assert (refused.value.pointer, refused.value.detail) == (
        "/options/first_dealer",
        "first_dealer must be one of the 3 seats",
    )


def test_open_seats_are_left_out() -> None:
    """C-9: an open seat neither deals nor guesses; the next that is taken deals in its place."""
    position = dealt("7777", seats=(OPEN, play.Seat("A"), OPEN, play.Seat("B"), play.Seat("C")))
    assert (table(position)["players"], turn(position)) == ([1, 3, 4], (1, 3))
    assert [turn(guessed(position, "7" * count))[1] for count in range(4)] == [3, 4, 3, 4]


def test_one_seat_is_not_enough() -> None:
    """C-9: with fewer than two seats taken nobody can deal, not even the host."""
    position = new((play.Seat("A"), OPEN))
    assert [offer.verb for offer in play.offers(position, 0)] == ["seed", "leave"]
    assert refusal(position, 0, "deal") == ("not-now", "A round needs 2 seats that somebody holds.")
    with pytest.raises(Illegal, match="A round needs 2 seats"):
        play.host_acts(position, Move(None, Action("deal"), NOW))


def test_host_deals_with_seats_open() -> None:
    """C-9: the host's deal closes the open seats."""
    step = play.host_acts(new((*people(2), OPEN)), Move(None, Action("deal"), NOW))
    assert ([seat.kind for seat in step.position.seats], step.position.state.playing) == (
        ["person", "person", "closed"],
        True,
    )


def test_dealer_alone_sees_the_top_card() -> None:
    """BD-3: in view and event the card is the dealer's to see, and nobody else's, until the turn ends."""
    step = deal(new(3))
    card = inside(step.position).top.cards[0]
    for viewer in (None, 0, 1, 2):
        seen = card if viewer == 0 else None
        assert table(step.position, viewer)["top_card"] == seen
        (begun,) = [event for event in told(step.events, viewer) if event["type"] == "turn"]
        assert begun == {"type": "turn", "seat": 1, "dealer": 0, "top_card": [seen]}
    position = dealt("7 3", seats=3)
    for viewer in (None, 1, 2):
        assert table(guessed(position, "9"), viewer)["top_card"] is None
        (shown,) = [event for event in told(guess(position, "7").events, viewer) if event["type"] == "revealed"]
        assert [card[0] for card in shown["card"]] == ["7"]
        assert table(guessed(position, "7"), viewer)["last_turn"]["card"] == shown["card"][0]
        assert table(guessed(position, "7"), viewer)["top_card"] is None


def test_dealer_and_others_cannot_guess() -> None:
    """BD-3: a turn is one guesser's; the dealer, another seat and a newcomer are told whose it is."""
    position = dealt("7", seats=(*people(3), OPEN))
    position = play.join(position, Move(3, Action("join", {"name": "D"}), NOW)).position
    assert refusal(position, 0, "choose", rank="7") == (
        "not-now",
        "The dealer does not guess: it is the turn of seat 1.",
    )
    assert refusal(position, 2, "choose", rank="7") == ("not-now", "It is the turn of seat 1.")
    assert refusal(position, 3, "choose", rank="7") == ("not-now", "This seat plays from the next round on.")
    assert refusal(position, 1, "deal") == (
        "not-now",
        "A round is in play: it ends with the deck, or when the host ends it.",
    )
    assert refusal(new(), 0, "choose", rank="7") == ("not-now", "No round is in play: deal first.")
    assert [GAME.to_act(position.state, seat) for seat in range(4)] == [False, True, False, False]
    assert [GAME.to_act(new((*people(2), bot("easy"))).state, seat) for seat in range(3)] == [True, True, False]


# Guesses.


def test_wrong_first_guess_is_answered_higher_or_lower() -> None:
    """BD-4: the card is higher or lower than the guess, for every card and every guess, and the turn goes on."""
    for card, rank in product(RANKS, RANKS):
        position = dealt(card)
        step = guess(position, rank)
        if card == rank:
            assert types(step) == ["guessed", "revealed", "drank", "turn"]
            continue
        hint = "higher" if RANKS.index(card) > RANKS.index(rank) else "lower"
        assert told(step.events) == [{"type": "guessed", "seat": 1, "guess": 1, "rank": rank, "hint": hint}]
        assert table(step.position)["guesses"] == [{"rank": rank, "hint": hint}]
        assert (turn(step.position), inside(step.position).top) == (turn(position), inside(position).top)


def test_right_guess_and_second_guess_have_no_hint() -> None:
    """BD-4: only a wrong first guess is answered by a hint."""
    for ranks in ("7", "57", "55", "95"):
        turned = table(guessed(dealt("7"), ranks))["last_turn"]["guesses"]
        assert [each["rank"] for each in turned] == list(ranks)
        assert [bool(each["hint"]) for each in turned] == [True, False][: len(ranks)] if ranks != "7" else [False]


@pytest.mark.parametrize("second", ["3", "5", "A", "8"])
def test_second_guess_is_free(second: str) -> None:
    """BD-4: it may contradict the hint, repeat the first guess, or name a rank that is complete."""
    position = guessed(dealt("8888 T", seats=3), "8888")
    assert [pile["rank"] for pile in table(position)["piles"] if pile["complete"]] == ["8"]
    turned = table(guessed(position, "5" + second))["last_turn"]
    assert (turned["outcome"], turned["amount"]) == ("lost", 10 - value(second))


def test_every_rank_can_be_guessed_at_either_guess() -> None:
    """BD-4: the offer takes all thirteen ranks each time, and its example is one that the card can still be."""
    position = dealt("7777 8", seats=3)
    for before in (position, guessed(position, "A"), guessed(position, "7777"), guessed(position, "7777 9")):
        offer = play.offers(before, inside(before).guesser)[0]
        assert [
            rank for rank in (*RANKS, "1", "10", "0", "a", "") if not offer.shape.objection({"rank": rank})
        ] == list(RANKS)
    assert play.offers(position, 1)[0].example == {"rank": "7"}
    assert play.offers(guessed(position, "7"), 2)[0].example == {"rank": "6"}
    assert play.offers(guessed(position, "7777 9"), 1)[0].example == {"rank": "4"}


def test_who_drinks_what() -> None:
    """BD-5: first guess the value, second half of it rounded up, both to the dealer; else the guesser the difference.

    For every card, first guess and second guess.
    """
    for card, first in product(RANKS, RANKS):
        position = guessed(dealt(card), first)
        if card == first:
            assert drunk(position) == [(0, value(card)), (0, 0)]
            continue
        for second in RANKS:
            after = guessed(position, second)
            if second == card:
                assert drunk(after) == [(0, HALVES[value(card)]), (0, 0)]
            else:
                assert drunk(after) == [(0, 0), (abs(value(second) - value(card)), 0)]


def test_drink_is_told() -> None:
    """BD-5: the event and the last turn name who drinks how much of what."""
    right, wrong = guess(dealt("9"), "9"), guess(guessed(dealt("7", units="points"), "Q"), "T")
    assert told(right.events)[2] == {"type": "drank", "seat": 0, "as": "dealer", "amount": 9, "units": "sips"}
    assert told(wrong.events)[2] == {"type": "drank", "seat": 1, "as": "guesser", "amount": 3, "units": "points"}
    assert table(wrong.position)["last_turn"] == {
        "dealer": 0,
        "guesser": 1,
        "guesses": [{"rank": "Q", "hint": "lower"}, {"rank": "T", "hint": None}],
        "outcome": "lost",
        "card": "7h",
        "drinker": 1,
        "amount": 3,
    }


@pytest.mark.parametrize("most", [1, 5, 13])
def test_cap_comes_last(most: int) -> None:
    """BD-5, BD-8: halving and rounding first, then the cap, for every drink of either role."""
    for card, first in product(RANKS, RANKS):
        position = guessed(dealt(card, max_sips=most), first)
        if card == first:
            assert drunk(position)[0] == (0, min(most, value(card)))
            continue
        assert drunk(guessed(position, card))[0] == (0, min(most, HALVES[value(card)]))
        assert drunk(guessed(position, first))[1] == (min(most, abs(value(first) - value(card))), 0)


def test_units_change_only_the_word() -> None:
    """BD-8: the same round in points differs from one in sips in the name of the units alone."""
    for ranks in ("7", "A7", "AA"):
        sips, points = (guessed(dealt("7", units=units), ranks) for units in ("sips", "points"))
        assert table(sips) == table(points) | {"units": "sips"}
        assert sheet(sips) == sheet(points) | {"sheet": sheet(points)["sheet"] | {"units": "sips"}}
        assert sum("tår" in line or "sip" in line for line in play.draw(SLUG, play.view(points, 0).table)) == 0


# The laid cards.


def test_card_is_laid_on_its_rank_whoever_drinks() -> None:
    """BD-6: piles stand in order ace to king; each turn's card goes to its own, right, wrong or lapsed."""
    position = guessed(dealt("7 K 7 A", seats=3), "7 A2 57 A")
    shown = table(position)["piles"]
    assert "".join(pile["rank"] for pile in shown) == RANKS
    assert {pile["rank"]: pile["count"] for pile in shown if pile["count"]} == {"A": 1, "7": 2, "K": 1}


def test_pile_of_four_is_complete() -> None:
    """BD-6: the fourth card of a rank completes its pile, and no sooner."""
    counts = []
    for count in range(5):
        pile = table(guessed(dealt("QQQQ"), "Q" * count))["piles"][11]
        counts.append((pile["count"], pile["complete"]))
    assert counts == [(0, False), (1, False), (2, False), (3, False), (4, True)]


# The dealer's role.


def test_three_lost_turns_pass_the_role() -> None:
    """BD-7: after three lost turns in a row the next seat deals, and the turn goes on after the last guesser."""
    position = dealt("2222 3333", seats=4)
    for streak in range(3):
        assert (turn(position), table(position)["streak"]) == ((0, streak + 1), streak)
        position = lost(position)
    assert (turn(position), table(position)["streak"]) == ((1, 0), 0)
    assert turn(lost(guessed(dealt("2222 3333", seats=4), "2"), 3)) == (1, 2)


def test_turn_skips_the_new_dealer() -> None:
    """BD-7: the seat after the last guesser follows, unless it has just become the dealer."""
    assert turn(lost(dealt("2222"), 3)) == (1, 0)
    position = leave(dealt("2222", seats=4), 0).position
    assert turn(position) == (2, 1)
    assert turn(lost(position)) == (2, 3)


def test_new_dealer_sees_the_next_card_only() -> None:
    """BD-7: the role passes before the next card is seen: by the new dealer, no more by the old one."""
    position = lost(dealt("2222 3333", seats=3), 2)
    step = guess(guessed(position, "K"), "K")
    assert types(step) == ["guessed", "revealed", "drank", "dealer", "turn"]
    assert told(step.events, 1)[3] == {"type": "dealer", "seat": 1, "why": "lost-turns"}
    assert [table(step.position, viewer)["top_card"] for viewer in (0, 1, 2, None)] == [None, "2c", None, None]


@pytest.mark.parametrize(("ranks", "streak"), [("2", 0), ("K2", 0), ("KK", 3)])
def test_right_guess_breaks_the_row(ranks: str, streak: int) -> None:
    """BD-7: a right guess, first or second, sets the count to zero; then three more are needed."""
    position = guessed(lost(dealt("2222 3333", seats=4), 2), ranks)
    if streak:
        assert turn(position)[0] == 1
        return
    assert (table(position)["streak"], turn(position)[0]) == (0, 0)
    assert turn(lost(position, 2))[0] == 0
    assert turn(lost(position, 3))[0] == 1


def test_change_of_dealer_sets_the_count_to_zero() -> None:
    """BD-7: after a change three more turns must be lost before the next."""
    position = lost(dealt("2222 3333 4444", seats=3), 3)
    assert [turn(lost(position, turns))[0] for turns in range(4)] == [1, 1, 1, 2]


def test_one_guesser_can_lose_three_in_a_row() -> None:
    """BD-7: with two seats the one guesser's losses count, and the two change roles."""
    position, found = dealt("2222 3333 4444"), []
    for _ in range(7):
        found.append(turn(position))
        position = lost(position)
    assert found == [(0, 1)] * 3 + [(1, 0)] * 3 + [(0, 1)]


def test_role_passes_even_with_the_last_card() -> None:
    """BD-2, BD-7, BD-9: the third lost turn may be the round's last; the new dealer deals the next round."""
    position = lost(dealt("222", seats=3, last=3), 3)
    assert (table(position)["phase"], table(position)["dealer"]) == ("settled", 1)
    assert turn(deal(position).position) == (1, 2)


# The end.


def test_round_ends_with_the_deck() -> None:
    """BD-9: with the last card laid the round is settled, and `deal` starts another."""
    step = guess(dealt("7", last=1), "7")
    assert types(step) == ["guessed", "revealed", "drank", "settled"]
    shown = table(step.position)
    assert (shown["phase"], shown["deck"], shown["guesser"], shown["top_card"]) == ("settled", 0, None, None)
    assert [pile["count"] for pile in shown["piles"]] == [4] * 13
    assert shown["result"] == {"reason": "deck-used-up", "longest": {"turns": 1, "seats": [0]}}
    assert play.status(step.position) == "settled"
    assert [offer.verb for offer in play.offers(step.position, 1)] == ["deal", "seed", "leave"]


def test_next_round_goes_on_where_the_last_one_stopped() -> None:
    """BD-2: dealer and turn go on, the count of lost turns is zero, the piles are empty, the tallies stay."""
    over = lost(dealt("22", seats=4, last=2), 2)
    assert (table(over)["streak"], turn(over)) == (2, (0, None))
    before = table(over)["tallies"]
    shown = table(deal(over).position)
    assert (shown["dealer"], shown["guesser"], shown["streak"], shown["deck"]) == (0, 3, 0, 52)
    assert (shown["last_turn"], shown["result"], shown["tallies"]) == (None, None, before)
    assert [pile["count"] for pile in shown["piles"]] == [0] * 13
    assert play.view(deal(over).position, None).round == 2


@pytest.mark.parametrize("guesses", ["", "5"])
def test_host_ends_the_round_at_any_time(guesses: str) -> None:
    """BD-9: the turn in progress is void: nobody drinks, its card is neither laid nor shown."""
    position = guessed(dealt("3 7", seats=3), f"3 {guesses}")
    step = ended(position)
    assert types(step) == ["settled"]
    shown = table(step.position, 0)
    assert (shown["phase"], shown["deck"], shown["guesses"], shown["top_card"]) == ("settled", 51, [], None)
    assert shown["last_turn"] == {
        "dealer": 0,
        "guesser": 2,
        "guesses": [{"rank": rank, "hint": "higher"} for rank in guesses],
        "outcome": "void",
        "card": None,
        "drinker": None,
        "amount": 0,
    }
    assert shown["result"] == {"reason": "ended", "longest": {"turns": 1, "seats": [0]}}
    assert shown["tallies"] == table(position)["tallies"]
    assert all_cards(step.position) == sorted(pack())
    assert turn(deal(step.position).position) == (0, 1)


def test_only_the_host_ends_a_round_and_only_one_in_play() -> None:
    """BD-9: a seat's evaluate is refused; the host's is refused between rounds."""
    position = dealt("7")
    assert refusal(position, 0, "evaluate") == ("not-now", "Only the host can end the round.")
    assert refusal(new(), 0, "evaluate") == ("not-now", "No round is in play: deal first.")
    assert [offer.verb for offer in play.host_offers(position)] == ["evaluate"]
    assert [offer.verb for offer in play.host_offers(ended(position).position)] == ["deal"]
    for before in (new(), ended(position).position):
        with pytest.raises(Illegal, match="No round is in play"):
            ended(before)
    assert play.again(position, Move(None, Action("evaluate"), NOW)) == ended(position)


def test_leaving_takes_a_seat_out_of_the_order() -> None:
    """BD-9: who is neither dealer nor guesser just goes; its tally stays."""
    position = guessed(dealt("7777", seats=4), "A2")
    step = leave(position, 3)
    assert types(step) == ["left"]
    assert turn(step.position) == turn(position) == (0, 2)
    assert table(step.position)["players"] == [0, 1, 2]
    assert turn(guessed(step.position, "7")) == (0, 1)
    gone = leave(step.position, 1).position
    assert drunk(gone)[1] == (5, 0)
    assert [each["seat"] for each in sheet(gone)["standings"]] == [0, 1, 2]


@pytest.mark.parametrize(("leaver", "dealer"), [(0, 1), (1, 0)])
def test_round_ends_with_fewer_than_two_seats(leaver: int, dealer: int) -> None:
    """BD-9, BD-10: of two seats either may leave: the turn is void, its card is not laid, and no round can begin."""
    position = guessed(dealt("7"), "5")
    step = leave(position, leaver)
    assert types(step)[:2] == ["left", "settled"]
    shown = table(step.position)
    assert (shown["phase"], shown["deck"], shown["last_turn"]["outcome"]) == ("settled", 52, "void")
    assert (shown["result"]["reason"], shown["dealer"]) == ("too-few-seats", dealer)
    assert play.status(step.position) == "finished"
    assert refusal(step.position, 1 - leaver, "deal")[0] == "finished"


def test_seat_that_joined_meanwhile_does_not_keep_the_round_going() -> None:
    """BD-9, C-9: a newcomer plays from the next round, so a round with one of its own seats left is over."""
    position = dealt("7", seats=(*people(2), OPEN))
    position = play.join(position, Move(2, Action("join", {"name": "C"}), NOW)).position
    over = leave(position, 0).position
    assert (table(over)["phase"], table(over)["dealer"], play.status(over)) == ("settled", 1, "settled")
    assert turn(deal(over, seat=2).position) == (1, 2)
    assert table(leave(position, 2).position)["phase"] == "guess"


@pytest.mark.parametrize(
    ("guesser", "leaver", "heir"),
    [(1, 0, 2), (2, 0, 1), (3, 0, 1)],
)
def test_leaving_dealers_role_passes_to_a_seat_that_is_not_guessing(guesser: int, leaver: int, heir: int) -> None:
    """BD-10: the next seat after the dealer takes over at once, but never the guesser; card and guesses stay."""
    position = guessed(dealt("7777", seats=4), "7" * (guesser - 1) + "5")
    step = leave(position, leaver)
    assert types(step) == ["left", "dealer"]
    assert turn(step.position) == (heir, guesser)
    assert table(step.position)["guesses"] == [{"rank": "5", "hint": "higher"}]
    card = inside(position).top.cards[0]
    for viewer in (None, 0, 1, 2, 3):
        seen = card if viewer == heir else None
        assert table(step.position, viewer)["top_card"] == seen
        assert told(step.events, viewer)[1] == {"type": "dealer", "seat": heir, "why": "left", "top_card": [seen]}
    assert drunk(guessed(step.position, "7"))[heir][1] == 4


@pytest.mark.parametrize(("ranks", "streak"), [("2", 0), ("KK", 1)])
def test_count_is_zero_before_the_turn_is_settled(ranks: str, streak: int) -> None:
    """BD-10: two lost turns and the dealer's leaving: the turn's own loss is the new dealer's first."""
    position = leave(lost(dealt("2222 3", seats=4), 2), 0).position
    assert (table(position)["streak"], turn(position)) == (0, (1, 3))
    assert table(guessed(position, ranks))["streak"] == streak
    assert turn(guessed(position, ranks)) == (1, 2)


def test_with_only_the_guesser_left_the_round_ends() -> None:
    """BD-10: the others have left; the guesser never sees the card."""
    position = leave(leave(dealt("7 3", seats=3), 2).position, 0).position
    shown = table(position, 1)
    assert (shown["phase"], shown["top_card"], shown["last_turn"]["card"]) == ("settled", None, None)
    assert shown["result"]["reason"] == "too-few-seats"


@pytest.mark.parametrize("guesses", ["", "9"])
def test_guessers_leaving_voids_the_turn(guesses: str) -> None:
    """BD-10: the card is shown and laid, nobody drinks, the count stays, the next guesser follows."""
    position = guessed(lost(dealt("22 7 3", seats=4), 2), guesses)
    step = leave(position, 3)
    assert types(step) == ["left", "revealed", "turn"]
    assert told(step.events)[1] == {"type": "revealed", "seat": 3, "outcome": "left", "card": ["7h"]}
    shown = table(step.position)
    assert (shown["streak"], shown["piles"][6]["count"], turn(step.position)) == (2, 1, (0, 1))
    assert shown["last_turn"]["drinker"] is None
    assert shown["tallies"] == table(position)["tallies"]
    assert shown["dealer_turns"] == table(position)["dealer_turns"] == 2
    assert turn(lost(step.position)) == (1, 2)


def test_guessers_leaving_with_the_last_card_ends_the_round() -> None:
    """BD-9, BD-10: the card is laid, and with none to follow the round is settled."""
    step = leave(dealt("7", seats=3, last=1), 1)
    assert types(step) == ["left", "revealed", "settled"]
    assert (table(step.position)["deck"], table(step.position)["result"]["reason"]) == (0, "deck-used-up")


def test_dealers_leaving_between_rounds_passes_the_role() -> None:
    """BD-10: the next seat that is taken deals the next round, a newcomer too; the turn goes on after the guesser."""
    over = ended(guessed(dealt("7 7", seats=3), "7")).position
    step = leave(over, 0)
    assert types(step) == ["left", "dealer"]
    assert turn(deal(step.position).position) == (1, 2)
    alone = leave(leave(over, 0).position, 1).position
    assert (table(alone)["dealer"], play.status(alone)) == (2, "finished")


def test_last_persons_leaving_finishes_the_session() -> None:
    """C-10: two bots are left in the round, and it stays unscored."""
    position = dealt("7", seats=(play.Seat("A"), bot("easy"), bot("hard")))
    over = leave(position, 0).position
    assert (play.status(over), play.view(over, None).reason) == ("finished", "left")
    assert GAME.due(over.state) is None
    assert table(over)["result"] is None
    assert table(over)["phase"] == "settled"
    assert all_cards(over) == sorted(pack())


# Score.


def test_score_counts_drinks_and_turns_by_role() -> None:
    """BD-11: what each seat drank as guesser and as dealer, and the turns it won and lost as guesser."""
    position = guessed(dealt("7 3 9 9", seats=3), "7 KQ T9 A2")
    assert sheet(position)["sheet"]["tallies"] == [
        {
            "seat": 0,
            "drunk": 12,
            "drunk_as_guesser": 0,
            "drunk_as_dealer": 12,
            "won": 0,
            "lost": 0,
            "longest_deal": 4,
        },
        {"seat": 1, "drunk": 0, "drunk_as_guesser": 0, "drunk_as_dealer": 0, "won": 2, "lost": 0, "longest_deal": 0},
        {"seat": 2, "drunk": 16, "drunk_as_guesser": 16, "drunk_as_dealer": 0, "won": 0, "lost": 2, "longest_deal": 0},
    ]
    assert table(position)["tallies"] == sheet(position)["sheet"]["tallies"]


def test_longest_dealer_is_named() -> None:
    """BD-11: the longest time on end counts, in turns, the present dealer's included; equals are all named."""
    assert sheet(dealt("2"))["sheet"]["longest"] == {"turns": 0, "seats": []}
    position = lost(dealt("2222 3333 4444", seats=3), 3)
    assert sheet(position)["sheet"]["longest"] == {"turns": 3, "seats": [0]}
    assert sheet(lost(position, 2))["sheet"]["longest"] == {"turns": 3, "seats": [0]}
    assert table(lost(position, 2))["dealer_turns"] == 2
    assert sheet(lost(position, 3))["sheet"]["longest"] == {"turns": 3, "seats": [0, 1]}
    four = guessed(lost(position, 2), inside(lost(position, 2)).top.cards[0][0])
    assert sheet(lost(four))["sheet"]["longest"] == {"turns": 4, "seats": [1]}
    assert sheet(lost(four))["standings"] == [
        {"seat": 1, "place": 1, "score": 4},
        {"seat": 0, "place": 2, "score": 3},
        {"seat": 2, "place": 3, "score": 0},
    ]


def test_time_as_dealer_runs_on_from_round_to_round() -> None:
    """BD-2, BD-11: who stays dealer goes on counting; who becomes it in mid-turn counts that turn."""
    second = deal(guessed(dealt("77", seats=3, last=2), "77")).position
    assert table(second)["dealer_turns"] == 2
    assert sheet(lost(second))["sheet"]["longest"] == {"turns": 3, "seats": [0]}
    left = leave(second, 0).position
    assert table(left)["dealer_turns"] == 0
    assert [each["longest_deal"] for each in table(lost(left))["tallies"]] == [2, 0, 1]


def test_score_is_final_between_rounds() -> None:
    """C-8: final once a round is settled, and no sooner."""
    assert [sheet(new())[name] for name in ("round", "final")] == [0, False]
    assert [sheet(dealt("7"))[name] for name in ("round", "final")] == [1, False]
    assert [sheet(ended(dealt("7")).position)[name] for name in ("round", "final")] == [1, True]


def test_cards_are_worth_nothing() -> None:
    """C-12: stateless evaluate is refused."""
    with pytest.raises(Illegal) as refused:
        play.evaluate(SLUG, ("7h",), {})
    assert refused.value.code == "nothing-to-evaluate"


# All rounds.


def test_first_examples_settle_a_round_in_the_bound() -> None:
    """Sending the example of whoever's turn it is ends a round in at most 105 moves, and loses no card."""
    for number in range(30):
        position, moves = new(2 + number % 11, secret=number.to_bytes(64, "big")), 0
        while position.state.playing or not moves:
            seat = inside(position).guesser if position.state.playing else 0
            offer = play.offers(position, seat)[0]
            position = play.advance(position, Move(seat, Action(offer.verb, offer.example), NOW + moves)).position
            moves += 1
            assert all_cards(position) == sorted(pack())
        assert moves <= GAME.spec.bound == 105


def traffic(position: play.Position, viewer: int | None) -> bytes:
    """Return all that a viewer can ask of a position, as bytes."""
    offered = () if viewer is None else play.offers(position, viewer)
    view = play.view(position, viewer)
    return msgspec.json.encode([view, offered, play.draw(SLUG, view.table), play.score(position, viewer)])


def test_hidden_card_decides_nothing_that_others_are_sent() -> None:
    """BD-3: with another top card that the hint allows, everyone but the dealer is sent the same bytes."""
    random, compared = Random(5), 0  # noqa: S311 - what a test chooses is no secret
    position = dealt("", seats=3, turn_seconds=30)
    for _ in range(90):
        state = inside(position)
        first = state.guesses[0] if state.guesses else None
        for card in state.deck.cards:
            apart = value(card) - value(first.rank) if first else 0
            if first and (apart == 0 or (apart > 0) != (first.hint == "higher")):
                continue
            rest = [state.top.cards[0] if other == card else other for other in state.deck.cards]
            twin = replace(state, top=state.top.holding((card,)), deck=state.deck.holding(tuple(rest)))
            for viewer in {None, 0, 1, 2} - {state.dealer}:
                assert traffic(replace(position, state=twin), viewer) == traffic(position, viewer)
                compared += 1
            assert traffic(replace(position, state=twin), state.dealer) != traffic(position, state.dealer)
        if not state.playing:
            break
        position = guessed(position, random.choice(RANKS))
    assert compared > 1000


def test_stacked_deck_is_a_whole_pack() -> None:
    """A deck laid out by hand loses no card, however many are left of it."""
    for last in (None, 1, 52):
        assert all_cards(stacked(deal(new()).position, "7 K 3", last)) == sorted(pack())
