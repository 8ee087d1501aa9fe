"""Speed: every ruling by its id, with plays at the doors of `engine.play`."""

from itertools import product
from typing import Any

import pytest

from engine import play
from engine.cards import RANKS, pack
from engine.game import Action, Illegal, Invalid, Move, NotYours
from engine.games.speed_plays import SIDES, best, fits, run
from engine.piles import look_as
from engine.shuffle import Chance, round_seed
from tests.races import (
    GAME,
    NOW,
    PEOPLE,
    SECRET,
    SESSION,
    all_cards,
    at,
    bot,
    choose,
    chosen,
    dealt,
    inside,
    laid,
    new,
    opened,
    plain,
    refusal,
    steps,
    table,
    told,
    types,
)

CIRCLE = "A23456789TJQK"


def deal(position: play.Position, seat: int, now: int = NOW, **body: object) -> play.Step:
    """Return what comes of a seat's deal."""
    return play.advance(position, Move(seat, Action("deal", body), now))


def leave(position: play.Position, seat: int, now: int = NOW) -> play.Step:
    """Return what comes of a seat's leaving."""
    return play.advance(position, Move(seat, Action("leave"), now))


def seqs(position: play.Position) -> dict[str, int]:
    """Return the numbers of the present tops."""
    return {"left": inside(position).left.seq, "right": inside(position).right.seq}


def cards_of(position: play.Position, seat: int) -> list[str | None]:
    """Return the cards in a seat's slots."""
    return list(inside(position).hands[seat].cards)


# The deal.


def test_pack_is_dealt_out_to_the_last_card() -> None:
    """SP-1: each seat has a hand of five and a stock of fifteen, each pile a side stock of six, and that is all."""
    state = inside(dealt(new()))
    assert [(hand.held, len(hand.stock)) for hand in state.hands] == [(5, 15), (5, 15)]
    assert [len(pile) for pile in (state.left.side, state.right.side)] == [6, 6]
    assert [len(pile) for pile in (state.left.pile, state.right.pile, state.pack)] == [0, 0, 0]
    assert all_cards(dealt(new())) == sorted(pack())


def test_cards_are_dealt_in_blocks_from_the_top() -> None:
    """SP-3, C-7: seat 0's hand and stock, seat 1's, then the left and the right side stock."""
    state = inside(dealt(new()))
    order = [card for pile in (*GAME.piles(state),) for card in pile.cards]
    chance = Chance(round_seed(SECRET, SESSION, 1), ("", ""), {})
    assert order == list(chance.shuffle(pack(), "deal"))


def test_round_starts_when_both_have_dealt() -> None:
    """SP-3: the first deal makes a seat ready, the second deals and starts a countdown of 3 s."""
    first = deal(new(), 0)
    assert types(first.events) == ["ready"]
    assert (play.status(first.position), table(first.position)["phase"]) == ("ready", "ready")
    assert [hand["ready"] for hand in table(first.position)["hands"]] == [True, False]
    second = deal(first.position, 1, NOW + 10)
    assert types(second.events) == ["ready", "dealt", "dealt", "countdown"]
    assert (play.status(second.position), table(second.position)["phase"]) == ("playing", "countdown")
    assert table(second.position)["countdown_until"] == NOW + 10 + 3000
    assert play.view(second.position, 0).deadline_at == NOW + 10 + 3000


def test_second_deal_by_the_same_seat_is_refused() -> None:
    """SP-3: a seat deals once a round; neither in a round nor alone at the table can it deal."""
    ready = deal(new(), 1).position
    alone = new((play.Seat("Player 1"), play.Seat(None, "open")))
    for position, seat in ((ready, 1), (dealt(new()), 0), (at(dealt(new()), NOW + 3000), 0), (alone, 0)):
        with pytest.raises(Illegal) as refused:
            deal(position, seat)
        assert refused.value.code == "not-now"
        assert "deal" not in [offer.verb for offer in play.offers(position, seat)]


def test_a_bot_is_always_ready() -> None:
    """SP-3: against a bot one deal starts the round, and the bot is shown as ready."""
    position = new((play.Seat("Player 1"), bot("easy")))
    assert [hand["ready"] for hand in table(position)["hands"]] == [False, True]
    assert [GAME.to_act(position.state, seat) for seat in (0, 1)] == [True, False]
    assert types(deal(position, 0).events) == ["ready", "dealt", "dealt", "countdown"]


def test_host_sets_two_bots_off_and_nobody_else() -> None:
    """SP-3: two bots are both ready, so the host's deal begins; where a person sits the host cannot deal."""
    move = Move(None, Action("deal"), NOW)
    step = play.host_acts(new((bot("hard"), bot("easy"))), move)
    assert types(step.events) == ["dealt", "dealt", "countdown"]
    assert play.again(new((bot("hard"), bot("easy"))), move).position == step.position
    for seats in (PEOPLE, (play.Seat("Player 1"), bot("easy"))):
        with pytest.raises(NotYours):
            play.host_acts(new(seats), move)
    for waiting in (step.position, new((bot("easy"), play.Seat(None, "open")))):
        with pytest.raises(Illegal):
            play.host_acts(waiting, move)


def test_hands_are_seen_during_the_countdown() -> None:
    """SP-3: from the deal on each seat sees its own hand, in the view and in the event, and nobody another's."""
    step = deal(deal(new(), 0).position, 1)
    for viewer, seat in product((0, 1, None), (0, 1)):
        shown = cards_of(step.position, seat) if viewer == seat else [None] * 5
        assert table(step.position, viewer)["hands"][seat]["slots"] == shown
        assert [event["hand"] for event in told(step, viewer) if event["type"] == "dealt"][seat] == shown


@pytest.mark.parametrize("countdown_ms", [0, 1, 3000, 10_000])
def test_tops_are_turned_when_the_countdown_ends(countdown_ms: int) -> None:
    """SP-3: at its end, and no sooner, the top of each side stock lies on its pile, and play is open."""
    waiting = dealt(new(countdown_ms=countdown_ms))
    side = {name: inside(waiting).centre[name].side.cards for name in ("left", "right")}
    assert at(waiting, NOW + countdown_ms - 1) == waiting
    (flip,) = steps(waiting, NOW + countdown_ms)[:1]
    assert (flip.move.at, flip.move.seat) == (NOW + countdown_ms, None)
    assert [(name, centre.pile.cards) for name, centre in inside(flip.position).centre.items()] == [
        ("left", side["left"][:1]),
        ("right", side["right"][:1]),
    ]
    (event,) = [event for event in told(flip, None) if event["type"] == "flip"]
    assert (event["left"], event["right"]) == ([side["left"][0]], [side["right"][0]])


def test_play_is_accepted_at_the_very_end_of_a_countdown() -> None:
    """SP-3, C-5: a play a millisecond before the end is refused without penalty, one at the end is in time."""
    waiting = laid(("Th 2d", "2c 2s"), "9c 4c", "5s 4s")
    early = refusal(waiting, 0, NOW - 1, slot=0, prefer="left")
    assert (early.code, early.detail) == ("not-now", "A countdown runs: play is open again when it ends.")
    assert inside(chosen(waiting, 0, NOW, slot=0, prefer="left")).left.top == "Th"


# Legal plays.


def test_neighbours_in_rank_fit_and_no_others() -> None:
    """SP-4: a card goes on a top one rank higher or lower, the ace between king and two, whatever the suits."""
    for card, top, suit in product(RANKS, RANKS, "hdsc"):
        apart = (CIRCLE.index(card) - CIRCLE.index(top)) % 13
        assert fits(card + "h", top + suit) == (apart in (1, 12))
    assert not fits(None, "2h")
    assert not fits("2h", None)


@pytest.mark.parametrize(
    ("slot", "body", "lands"),
    [
        (0, {"prefer": "left"}, "left"),
        (0, {"prefer": "right"}, "right"),
        (1, {"prefer": "left"}, "left"),
        (1, {"prefer": "right"}, "left"),
        (2, {"prefer": "left"}, "right"),
        (2, {"prefer": "right"}, "right"),
        (0, {"pile": "left"}, "left"),
        (0, {"pile": "right"}, "right"),
        (1, {"pile": "left"}, "left"),
        (2, {"pile": "right"}, "right"),
    ],
)
def test_card_goes_to_the_preferred_pile_if_it_fits_there(slot: int, body: dict[str, str], lands: str) -> None:
    """SP-5: the preferred pile first, else the other; a named pile and no other."""
    position = opened(("Th 8d Qd 2h", "2c"), "9c", "Js")
    card = cards_of(position, 0)[slot]
    made = choose(position, 0, slot=slot, **body)
    assert inside(made.position).centre[lands].top == card
    assert told(made, 1)[0] == {
        "type": "play",
        "seat": 0,
        "pile": lands,
        "seq": 2,
        "card": [card],
        "drawn": [],
    }


@pytest.mark.parametrize(
    "body", [{"slot": 1, "pile": "right"}, {"slot": 2, "pile": "left"}, {"slot": 3, "prefer": "left"}]
)
def test_card_that_fits_not_where_it_is_asked_is_not_played(body: dict[str, Any]) -> None:
    """SP-5, SP-8: legality is judged on the named pile alone."""
    made = choose(opened(("Th 8d Qd 2h", "2c"), "9c", "Js"), 0, **body)
    assert made.refusal
    assert made.refusal.code == "illegal-play"


def test_offers_hold_exactly_the_legal_plays() -> None:
    """SP-4, SP-5: of all bodies those are offered that the rules accept."""
    position = opened(("Th 8d Qd -- 2h", "2c"), "9c", "Js")
    ways = [{"prefer": "left"}, {"prefer": "right"}, {"pile": "left"}, {"pile": "right"}]
    offered = []
    for slot, way in product(range(5), ways):
        body = {"slot": slot, **way}
        if any(offer.shape.objection(body) is None for offer in play.offers(position, 0) if offer.verb == "choose"):
            offered.append((slot, *way.values(), *way))
            assert choose(position, 0, **body).refusal is None
        elif slot == 3:
            assert refusal(position, 0, **body).code == "not-now"
        else:
            assert choose(position, 0, **body).refusal
    fits_on = {0: ("left", "right"), 1: ("left",), 2: ("right",)}
    expected = {(slot, side, "prefer") for slot in fits_on for side in ("left", "right")}
    expected |= {(slot, side, "pile") for slot, sides in fits_on.items() for side in sides}
    assert set(offered) == expected


def test_played_slot_is_filled_from_the_own_stock_at_once() -> None:
    """SP-2: the other slots stay as they are, and an emptied slot stays empty once the stock is used up."""
    position = opened(("Th 2h 2d 2s 8d", "3c"), "9c", "4s", stocks=("9h", ""))
    first = choose(position, 0, slot=0, pile="left")
    assert cards_of(first.position, 0) == ["9h", "2h", "2d", "2s", "8d"]
    assert [event["drawn"] for event in (told(first, 0)[0], told(first, 1)[0])] == [["9h"], [None]]
    second = chosen(first.position, 0, slot=0, pile="left")
    assert cards_of(second, 0) == [None, "2h", "2d", "2s", "8d"]
    assert table(second)["hands"][0] | {"slots": 0} == {
        "seat": 0,
        "slots": 0,
        "hand": 4,
        "stock": 0,
        "passed": False,
        "penalty_until": None,
        "ready": False,
        "balance": 0,
    }


# Numbers and races.

SEEN = {"left": 1, "right": 1}


def covered(late: int) -> play.Position:
    """Return a table where seat 1 has covered the left nine `late` ms before NOW + 5000; seat 0 holds a ten."""
    position = opened(("Th 2h", "8d 7d 2c"), "9c", "4s", idle_ms=0)
    return chosen(position, 1, NOW + 5000 - late, slot=0, pile="left")


@pytest.mark.parametrize("late", [0, 1, 35, 2000])
@pytest.mark.parametrize("way", [{"prefer": "left"}, {"prefer": "right"}, {"pile": "left"}])
def test_lost_race_names_who_was_faster_and_by_how_much(late: int, way: dict[str, str]) -> None:
    """SP-6, SP-7: what was legal as seen, up to 2,000 ms ago, is refused without penalty, and nothing changes."""
    position = covered(late)
    refused = refusal(position, 0, NOW + 5000, slot=0, seen=SEEN, **way)
    assert refused.code == "pile-changed"
    assert refused.facts == {"pile": "left", "by": 1, "ms": late}
    assert "seat 1" in refused.detail
    assert inside(position).hands[0].penalties == 0


@pytest.mark.parametrize(
    ("late", "body"),
    [
        (2001, {"prefer": "left", "seen": SEEN}),
        (10, {"prefer": "left"}),
        (10, {"pile": "right", "seen": SEEN}),
        (10, {"prefer": "left", "seen": {"left": 2, "right": 1}}),
        (10, {"prefer": "left", "seen": {"left": 0, "right": 0}}),
    ],
)
def test_a_past_that_does_not_count_is_no_excuse(late: int, body: dict[str, Any]) -> None:
    """SP-5, SP-6: too long ago, not claimed, another pile, the present top, or none: the play costs a penalty."""
    made = choose(covered(late), 0, NOW + 5000, slot=0, **body)
    assert made.refusal
    assert made.refusal.code == "illegal-play"


def test_first_to_cover_the_seen_top_is_named() -> None:
    """SP-7: of several cards put on since, the one that covered the seen top decides; one's own counts too."""
    position = chosen(covered(100), 1, NOW + 4950, slot=1, pile="left")
    assert refusal(position, 0, NOW + 5000, slot=0, pile="left", seen=SEEN).facts["ms"] == 100
    own = chosen(opened(("Th 8d 2h", "2c"), "9c", "4s"), 0, NOW + 5, slot=1, pile="left")
    assert refusal(own, 0, NOW + 7, slot=0, pile="left", seen=SEEN).facts == {"pile": "left", "by": 0, "ms": 2}


def test_a_turned_card_wins_a_race_for_nobody() -> None:
    """SP-7: a top that a flip has covered was the table's to cover."""
    position = opened(("Th 2h", "2d"), "9c 5c", "4s 5s")
    turned = chosen(chosen(position, 1, **{"pass": True}), 0, **{"pass": True})
    refused = refusal(turned, 0, NOW + 3030, slot=0, pile="left", seen=SEEN)
    assert (refused.code, refused.facts) == ("pile-changed", {"pile": "left", "by": None, "ms": 30})


def test_legal_now_is_legal_whatever_was_seen() -> None:
    """SP-6: an old number spoils no play that is legal now."""
    position = chosen(opened(("7h 2h", "8d 2c"), "9c", "4s"), 1, slot=0, pile="left")
    assert inside(chosen(position, 0, slot=0, pile="left", seen={"left": 0, "right": 0})).left.top == "7h"


@pytest.mark.parametrize(
    ("seen", "pointer"),
    [({"left": 2, "right": 1}, "/seen/left"), ({"left": 1, "right": 7}, "/seen/right")],
)
def test_a_number_that_no_top_has_had_is_malformed(seen: dict[str, int], pointer: str) -> None:
    """SP-6: a number above the pile's present one is invalid, for a legal play, an illegal one, and in a countdown."""
    position = opened(("Th 2h", "2c"), "9c", "4s")
    waiting = laid(("Th 2h", "2c"), "9c", "4s")
    for before, now, slot in ((position, NOW, 0), (position, NOW, 1), (waiting, NOW - 1, 0)):
        with pytest.raises(Invalid) as refused:
            choose(before, 0, now, slot=slot, prefer="left", seen=seen)
        assert refused.value.pointer == ("/seen/left" if before is waiting else pointer)


def test_numbers_grow_by_one_with_every_card_and_are_never_reset() -> None:
    """SP-6, SP-10: plays and flips count, shuffles do not, and the next round goes on from the last."""
    position, seen = dealt(new()), {"left": 0, "right": 0}
    reshuffles = 0
    for number in range(3):
        while position.state.playing:
            position, made = forward(position)
            for event in made.events:
                put = SIDES if event.type == "flip" else (event.facts.get("pile"),) if event.type == "play" else ()
                seen = {side: count + (side in put) for side, count in seen.items()}
                reshuffles += event.type == "reshuffled"
            assert seqs(position) == seen
        assert position.state.round == number + 1
        position = dealt(position)
        assert seqs(position) == seen
    assert seen["left"] > 20


def forward(position: play.Position) -> tuple[play.Position, play.Step]:
    """Return the position after the first example of a seat that has a play, else after the next thing due."""
    for seat in (0, 1):
        (first, *_) = play.offers(position, seat)
        if "slot" in first.example:
            made = choose(position, seat, inside(position).changed_at + 1, **first.example)
            return made.position, made
    due = GAME.due(position.state)
    assert due
    (made, *_) = steps(position, due.at)
    return made.position, made


# Penalties.


def test_play_that_fits_nowhere_bars_the_seat() -> None:
    """SP-8: it is a logged move, answered with its refusal: an event, a time, and no card moved."""
    position = opened(("2h Th", "Ts"), "9c", "4s")
    made = choose(position, 0, NOW + 7, slot=0, prefer="left", seen=SEEN)
    assert made.refusal
    assert (made.refusal.code, made.refusal.retry_ms) == ("illegal-play", 1500)
    assert made.refusal.facts == {"penalty_until": NOW + 1507}
    for viewer in (0, 1, None):
        assert told(made, viewer) == [{"type": "penalty", "seat": 0, "penalty_until": NOW + 1507}]
        assert [hand["penalty_until"] for hand in table(made.position, viewer)["hands"]] == [NOW + 1507, None]
    assert cards_of(made.position, 0) == cards_of(position, 0)
    assert inside(made.position).left == inside(position).left
    again = play.again(position, made.move)
    assert (again.position, again.events) == (made.position, made.events)
    assert again.refusal
    assert again.refusal.facts == made.refusal.facts


@pytest.mark.parametrize(
    "body", [{"slot": 1, "prefer": "left"}, {"slot": 0, "prefer": "left"}, {"slot": 4, "pile": "left"}]
)
def test_plays_under_penalty_are_refused_with_the_time_to_wait(body: dict[str, Any]) -> None:
    """SP-8: a good play, a bad one and an empty slot are all barred, with no further penalty."""
    position = choose(opened(("2h Th", "Ts"), "9c", "4s"), 0, slot=0, prefer="left").position
    refused = refusal(position, 0, NOW + 1, **body)
    assert (refused.code, refused.retry_ms) == ("penalized", 1499)
    assert refused.facts == {"penalty_until": NOW + 1500}
    assert refused.detail == "A penalty bars your plays for another 1499 ms."
    assert refusal(position, 0, NOW + 1499, **body).retry_ms == 1


def test_a_play_is_in_time_when_the_penalty_ends() -> None:
    """SP-8, C-5: the penalty ends at its moment, before a play that arrives then, and the view says so."""
    barred = choose(opened(("2h Th", "Ts"), "9c", "4s"), 0, slot=0, prefer="left").position
    assert [offer.example for offer in play.offers(barred, 0)][:1] == [{"pass": True}]
    assert play.view(barred, 1).deadline_at == NOW + 1500
    (freed,) = steps(barred, NOW + 1500)
    assert told(freed, 1) == [{"type": "penalty-over", "seat": 0}]
    assert table(freed.position)["hands"][0]["penalty_until"] is None
    assert inside(chosen(barred, 0, NOW + 1500, slot=1, prefer="left")).left.top == "Th"


@pytest.mark.parametrize("penalty_ms", [0, 10_000])
def test_penalty_lasts_as_long_as_the_option_says(penalty_ms: int) -> None:
    """SP-8: from 0 to 10,000 ms."""
    made = choose(opened(("2h Th", "Ts"), "9c", "4s", penalty_ms=penalty_ms), 0, slot=0, prefer="left")
    assert made.refusal
    assert made.refusal.facts == {"penalty_until": NOW + penalty_ms}
    assert inside(chosen(made.position, 0, NOW + penalty_ms, slot=1, prefer="left")).left.top == "Th"


@pytest.mark.parametrize(
    "body",
    [
        {"slot": 4, "prefer": "left"},
        {"slot": 5, "prefer": "left"},
        {"slot": 0, "prefer": "up"},
        {"slot": 0},
        {"slot": 0, "prefer": "left", "pile": "left"},
        {"slot": 0, "prefer": "left", "seen": {"left": 1}},
        {"slot": 0, "prefer": "left", "seen": 1},
        {"pass": False},
        {},
    ],
)
def test_empty_slots_and_malformed_plays_cost_nothing(body: dict[str, Any]) -> None:
    """SP-8: they are refused, and no penalty is written down."""
    refused = refusal(opened(("2h Th", "Ts"), "9c", "4s"), 0, **body)
    assert refused.code in ("not-now", "out-of-bounds")
    assert refused.retry_ms is None


def test_no_round_no_penalty() -> None:
    """SP-8: a play before the deal and one after the end are refused, and so is one of a seat that has left."""
    over = leave(opened(("2h Th", "Ts"), "9c", "4s"), 1).position
    assert refusal(new(), 0, slot=0, prefer="left").code == "not-now"
    for seat in (0, 1):
        assert refusal(over, seat, slot=0, prefer="left").code == "finished"


def test_penalty_ends_with_the_round() -> None:
    """SP-8: the next round begins without it."""
    position = choose(opened(("2h Th", "Ts"), "9c", "4s"), 0, slot=0, prefer="left").position
    over = chosen(position, 1, NOW + 1, slot=0, prefer="left")
    assert table(over)["phase"] == "settled"
    assert [hand.penalty_until for hand in inside(over).hands] == [None, None]
    assert GAME.due(over.state) is None
    assert inside(over).totals[0].penalties == 1


# Passing and waiting.


def test_a_seat_that_cannot_play_is_shown_as_any_other() -> None:
    """SP-9: `passed` is a pass by choice alone, to the seat itself as to others."""
    position = opened(("2h", "Ts"), "9c", "4s")
    for viewer in (0, 1, None):
        assert [hand["passed"] for hand in table(position, viewer)["hands"]] == [False, False]
    passed = choose(position, 0, **{"pass": True})
    assert told(passed, 1) == [{"type": "passed", "seat": 0}]
    assert [hand["passed"] for hand in table(passed.position, 1)["hands"]] == [True, False]


def test_countdown_starts_when_neither_goes_on() -> None:
    """SP-9: a pass by choice and a hand without a play are alike; a card of each side stock is turned then."""
    position = opened(("2h", "Ts"), "9c 5c", "4s 7s")
    made = choose(position, 1, NOW + 50, **{"pass": True})
    assert types(made.events) == ["passed", "countdown"]
    assert table(made.position)["countdown_until"] == NOW + 3050
    turned = at(made.position, NOW + 3050)
    assert (inside(turned).left.top, inside(turned).right.top) == ("5c", "7s")
    assert len(inside(turned).left.pile) == 2


def test_countdown_starts_at_once_when_a_play_or_a_flip_leaves_nothing_to_play() -> None:
    """SP-9: it starts in the very move that leaves both without a play."""
    made = choose(opened(("Th 2h", "2s"), "9c 3d", "5s"), 0, slot=0, pile="left")
    assert types(made.events) == ["play", "countdown"]
    (flip,) = steps(laid(("2h", "2s"), "9c 3c", "5s 9s"), NOW)
    assert types(flip.events) == ["flip", "countdown"]


def test_a_pass_holds_until_the_seat_plays_or_a_pile_changes() -> None:
    """SP-9: a play of either seat clears the passes, and so does every flip."""
    position = chosen(opened(("Th 3h 2h", "8s Js"), "9c Tc", "4s 6s"), 0, **{"pass": True})
    own = chosen(position, 0, slot=1, pile="right")
    other = chosen(position, 1, slot=0, pile="left")
    both = chosen(position, 1, **{"pass": True})
    assert [hand["passed"] for hand in table(both)["hands"]] == [True, True]
    for after in (own, other, at(both, NOW + 3000)):
        assert [hand["passed"] for hand in table(after)["hands"]] == [False, False]
        assert inside(after).phase == "open"


def test_second_pass_and_a_pass_in_a_countdown_are_refused_without_penalty() -> None:
    """SP-9: neither is offered, and neither costs anything."""
    passed = chosen(opened(("Th", "8s"), "9c", "4s"), 0, **{"pass": True})
    assert "passed already" in refusal(passed, 0, **{"pass": True}).detail
    waiting = laid(("Th", "8s"), "9c", "4s")
    assert "countdown" in refusal(waiting, 0, NOW - 1, **{"pass": True}).detail
    for position, seat in ((passed, 0), (waiting, 0), (waiting, 1)):
        assert all("pass" not in offer.example for offer in play.offers(position, seat))


def test_passing_is_allowed_under_penalty() -> None:
    """SP-9: a barred seat that could play has not passed until it says so; one that could not, has."""
    barred = choose(opened(("2h Th", "8s 2c"), "9c", "4s"), 0, slot=0, prefer="left").position
    other = chosen(barred, 1, NOW + 1, **{"pass": True})
    assert inside(other).phase == "open"
    assert types(choose(other, 0, NOW + 2, **{"pass": True}).events) == ["passed", "countdown"]
    stuck = choose(opened(("2h", "8s 2c"), "9c 3c", "4s"), 0, slot=0, prefer="left").position
    assert types(choose(stuck, 1, NOW + 1, **{"pass": True}).events) == ["passed", "countdown"]


@pytest.mark.parametrize("idle_ms", [3000, 15_000, 120_000])
def test_nobody_can_hold_the_table_up(idle_ms: int) -> None:
    """SP-9: both count as passed when no pile has changed for so long; a pass or a penalty does not put it off."""
    position = opened(("Th 2h 3d", "8s 2c"), "9c 5c", "4s 6s", idle_ms=idle_ms)
    played = chosen(position, 1, NOW + 100, slot=0, prefer="left")
    passed = choose(chosen(played, 1, NOW + 200, **{"pass": True}), 0, NOW + 300, slot=1, prefer="left").position
    passed = at(passed, NOW + 1800)
    assert play.view(passed, None).deadline_at == NOW + 100 + idle_ms
    assert at(passed, NOW + 99 + idle_ms) == passed
    (idle,) = steps(passed, NOW + 100 + idle_ms)
    assert types(idle.events) == ["idle", "countdown"]
    assert [hand["passed"] for hand in table(idle.position)["hands"]] == [False, True]


def test_idle_time_can_be_switched_off_but_not_be_shorter_than_a_countdown() -> None:
    """SP-9: 0 is never; 1 to 2,999 is no idle time."""
    position = opened(("Th", "8s"), "9c", "4s", idle_ms=0)
    assert GAME.due(position.state) is None
    assert play.view(position, 0).deadline_at is None
    for idle_ms in (1, 2999, -1, 120_001):
        with pytest.raises(Invalid) as refused:
            new(idle_ms=idle_ms)
        assert refused.value.pointer == "/options/idle_ms"


def test_an_empty_side_stock_is_made_of_its_own_pile() -> None:
    """SP-10: all of that pile is shuffled, its new top turned, and the other side left alone."""
    position = opened(("Th Jh 7h", "2s"), "9c", "4s 8s 6s")
    for slot in (0, 1):
        position = chosen(position, 0, slot=slot, pile="left")
    (flip,) = steps(position, NOW + 3000)
    assert types(flip.events)[:2] == ["reshuffled", "flip"]
    assert told(flip, 0)[0] == {"type": "reshuffled", "seat": None, "pile": "left", "cards": 3}
    left, right = inside(flip.position).left, inside(flip.position).right
    assert (len(left.pile), len(left.side), left.seq) == (1, 2, 4)
    assert sorted(left.pile.cards + left.side.cards) == ["9c", "Jh", "Th"]
    assert (right.pile.cards, right.side.cards, right.seq) == (("8s", "4s"), ("6s",), 2)
    assert [label for label in flip.position.counters if label.startswith("re")] == ["reshuffle-left"]


def test_a_side_stock_of_one_card_is_turned_again() -> None:
    """SP-10: a pile of one card comes back as itself, with a new number."""
    position = laid(("2h", "3s"), "9c", "4s 8s", idle_ms=0)
    passed = chosen(position, 1, NOW, **{"pass": True})
    left = inside(at(passed, NOW + 3000)).left
    assert (left.pile.cards, left.side.cards, left.seq) == (("9c",), (), 2)


# The end.


def test_first_seat_without_a_card_wins_at_that_instant() -> None:
    """SP-11: with an empty stock the last card of the hand ends the round, before anything else is looked at."""
    made = choose(opened(("Th", "2s 2c"), "9c", "4s", stocks=("", "7d 7c")), 0, slot=0, prefer="left")
    assert types(made.events) == ["play", "settled"]
    assert play.status(made.position) == "settled"
    assert table(made.position)["result"] == {
        "winner": 0,
        "reason": "out-of-cards",
        "cards_left": [0, 4],
        "payout": 0,
    }
    going = chosen(opened(("Th", "2s 2c"), "9c", "Js", stocks=("Td", "")), 0, slot=0, prefer="left")
    assert play.status(going) == "playing"


@pytest.mark.parametrize("stake", [0, 1, 1_000_000])
def test_loser_pays_for_every_card_left(stake: int) -> None:
    """SP-12: stake times hand and stock, from balances of 0; what one owes the other is owed."""
    position = opened(("2s 2c", "Th"), "9c", "4s", stocks=("7d 7c 7h", ""), stake=stake)
    over = chosen(position, 1, slot=0, prefer="left")
    assert table(over)["stake"] == stake
    assert table(over)["result"]["payout"] == 5 * stake
    assert [hand["balance"] for hand in table(over)["hands"]] == [-5 * stake, 5 * stake]


def test_leaving_a_round_forfeits_it() -> None:
    """SP-13: from the second deal on, the countdown included, the other wins and is paid for the leaver's cards."""
    for position in (dealt(new(stake=3)), at(dealt(new(stake=3)), NOW + 3000)):
        made = leave(position, 0, NOW + 3001)
        assert types(made.events) == ["left", "settled"]
        result = table(made.position, 1)["result"]
        assert (result["winner"], result["reason"], result["payout"]) == (1, "forfeit", 60)
        assert [hand["balance"] for hand in table(made.position, 1)["hands"]] == [-60, 60]
        assert GAME.due(made.position.state) is None


def test_leaving_without_a_round_costs_nothing() -> None:
    """SP-13: before the second deal nothing is paid, and the other seat is no longer ready."""
    made = leave(deal(new(stake=3), 1).position, 0)
    assert types(made.events) == ["left"]
    assert [hand["balance"] for hand in table(made.position, 1)["hands"]] == [0, 0]
    assert table(made.position, 1)["hands"][1]["ready"] is False


def test_last_person_forfeits_to_a_bot_and_ends_the_session() -> None:
    """SP-13, C-10: the bot wins the round, and with no person left the session is finished."""
    made = leave(at(dealt(new((play.Seat("Player 1"), bot("easy")))), NOW + 3000), 0, NOW + 3001)
    assert types(made.events) == ["left", "settled"]
    assert (play.status(made.position), table(made.position)["result"]["winner"]) == ("finished", 1)


def test_a_race_of_bots_ends_with_the_host() -> None:
    """C-10: with no person left the round stays unscored, and its countdown is over too."""
    position = play.host_acts(dealt(new((bot("easy"), bot("hard")))), Move(None, Action("leave"), NOW + 1)).position
    shown = table(position)
    assert (play.status(position), shown["phase"], shown["countdown_until"]) == ("finished", "settled", None)
    assert (shown["result"], GAME.draw(play.view(position, None).table)[0]) == (None, "The round is over")


def test_stalemate_ends_the_round_as_a_draw() -> None:
    """SP-17: no card of either hand is next in rank to any of the centre: a draw, and nobody pays."""
    (flip,) = steps(laid(("2h 2d", "5h"), "9c 8c", "Js 9d", stocks=("8h", "8d"), stake=5), NOW)
    assert types(flip.events) == ["flip", "settled"]
    assert table(flip.position)["result"] == {
        "winner": None,
        "reason": "stalemate",
        "cards_left": [3, 2],
        "payout": 0,
    }
    assert [hand["balance"] for hand in table(flip.position)["hands"]] == [0, 0]
    assert inside(flip.position).totals[1].drawn == 1


@pytest.mark.parametrize("centre", [("9c Ac", "Js"), ("9c", "Js 3d"), ("9c 4c", "Js"), ("9c", "Js 9s 6c")])
def test_one_card_of_the_centre_that_fits_a_hand_is_no_stalemate(centre: tuple[str, str]) -> None:
    """SP-17: a card in either side stock that would fit either hand is enough to go on."""
    (flip,) = steps(laid(("2h 2d", "5h"), *centre, stocks=("8h", "8d")), NOW)
    assert types(flip.events) == ["flip", "countdown"]


def test_buried_cards_and_tops_count_against_a_stalemate() -> None:
    """SP-17: what lies under a top comes back one day, and a top that fits is no stalemate though both pass."""
    position = opened(("Th 2h", "2c"), "9c", "5s")
    after = choose(position, 0, slot=0, pile="left")
    assert types(after.events) == ["play", "settled"]
    buried = choose(opened(("Th 8h", "2c"), "9c", "5s"), 0, slot=0, pile="left")
    assert types(buried.events) == ["play", "countdown"]
    assert types(choose(position, 0, **{"pass": True}).events) == ["passed", "countdown"]


def test_score_tells_the_round_and_the_totals() -> None:
    """SP-16, C-8: the round in play is not final; the settled one is, and stays until the next is dealt."""
    position = opened(("Th 2s", "2c 8h"), "9c 5c", "4s 6s", stake=2)
    position = chosen(choose(position, 1, slot=0, prefer="left").position, 0, slot=0, prefer="left")
    running = plain(play.score(position, None))
    assert (running["round"], running["final"]) == (1, False)
    assert running["sheet"] | {"totals": 0} == {
        "game": "speed",
        "winner": None,
        "reason": None,
        "cards_left": [1, 2],
        "payout": 0,
        "stake": 2,
        "flips": 1,
        "plays": [1, 0],
        "penalties": [0, 1],
        "totals": 0,
    }
    over = leave(position, 1, NOW + 1).position
    final = plain(play.score(over, 0))
    assert (final["final"], final["sheet"]["winner"], final["sheet"]["payout"]) == (True, 0, 4)
    assert final["standings"] == [{"seat": 0, "place": 1, "score": 4}, {"seat": 1, "place": 2, "score": -4}]
    assert [list(tally.values()) for tally in final["sheet"]["totals"]] == [
        [0, 1, 0, 0, 1, 0, 4],
        [1, 0, 0, 1, 0, 1, -4],
    ]


def test_totals_run_on_over_rounds() -> None:
    """SP-16, C-6: round after round adds up, and the chips always come to nothing."""
    position = new(stake=7)
    for number in range(1, 6):
        position = dealt(position)
        while position.state.playing:
            position, _ = forward(position)
        totals = inside(position).totals
        assert sum(tally.balance for tally in totals) == 0
        assert [tally.won + tally.drawn + tally.lost for tally in totals] == [number, number]
        assert totals[0].won == totals[1].lost
    assert play.score(position, None).round == 5


# What is shown.


def test_view_shows_the_own_hand_the_tops_and_counts() -> None:
    """SP-14: of the other seat only how many cards it holds; stocks are secret, the own one too."""
    position = opened(("Th 2s", "2c 8h 5d"), "9c 5c", "4s 6s 7s", stocks=("Kd Kh", "Qd"))
    seen = table(position, 1)
    assert [hand["slots"] for hand in seen["hands"]] == [[None] * 5, ["2c", "8h", "5d", None, None]]
    assert [(hand["hand"], hand["stock"]) for hand in seen["hands"]] == [(2, 2), (3, 1)]
    assert seen["piles"] == {
        "left": {"top": "9c", "size": 1, "seq": 1, "side": 1},
        "right": {"top": "4s", "size": 1, "seq": 1, "side": 2},
    }
    drawn = GAME.draw(play.view(position, 1).table)
    text = f"{seen} {play.offers(position, 1)} {drawn} {play.score(position, 1)}"
    for hidden in ("Th", "2s", "5c", "6s", "7s", "Kd", "Kh", "Qd"):
        assert hidden not in text


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_nobody_sees_a_stock(viewer: int | None) -> None:
    """SP-14: the faces of stocks and side stocks are for no eyes at all, and a hand's for its owner's."""
    state, look = inside(dealt(new())), look_as(viewer)
    for pile in (*(hand.stock for hand in state.hands), state.left.side, state.right.side):
        assert set(look(pile)) == {None}
    for seat, hand in enumerate(state.hands):
        assert all((None in look(slot)) == (viewer != seat) for slot in hand.slots)


def test_both_are_to_act_while_play_is_open() -> None:
    """SP-9: whether they can play or not; not in a countdown, and not who has passed by choice, as everyone sees."""
    assert [GAME.to_act(laid(("Th", "2c"), "9c", "4s").state, seat) for seat in (0, 1)] == [False, False]
    position = opened(("Th", "5c"), "9c", "4s")
    assert [GAME.to_act(position.state, seat) for seat in (0, 1)] == [True, True]
    passed = choose(position, 0, **{"pass": True}).position
    assert [GAME.to_act(passed.state, seat) for seat in (0, 1)] == [False, True]
    assert [GAME.to_act(deal(new(), 0).position.state, seat) for seat in (0, 1)] == [False, True]


def test_table_is_drawn_with_its_slots() -> None:
    """A person can play from the text: numbered slots, tops, counts, marks."""
    position = choose(opened(("Th 2s", "2c 8h 5d"), "9c 5c", "4s 6s", stake=2), 0, slot=1, prefer="left").position
    lines = GAME.draw(play.view(position, 1).table)
    assert lines == [
        "Both play at once   (stake 2 a card)",
        "",
        "Left   [9c]   number 1   pile  1   side stock 1",
        "Right  [4s]   number 1   pile  1   side stock 1",
        "",
        "Seat 0: 2 in hand, 0 in stock, no play until 08:00:01.500 UTC",
        "",
        "Seat 1: 3 in hand, 0 in stock",
        "  slot   0   1   2   3   4",
        "  card  2c  8h  5d  --  --",
        "  fits       l   r   (l left, r right)",
    ]
    over = leave(position, 0).position
    assert (
        GAME.draw(play.view(over, 1).table)[-1] == "Seat 1 wins: the other seat has left; seat 0 has 2 left and pays 4"
    )


def test_no_cards_are_worth_anything() -> None:
    """C-12: a stateless evaluate has nothing to say."""
    with pytest.raises(Illegal) as refused:
        play.evaluate("speed", ("Th",), {})
    assert refused.value.code == "nothing-to-evaluate"


def test_keys_are_the_slots_for_everyone() -> None:
    """C-13, SP-2: the keys 1 to 5 are slots 0 to 4, preferring the left pile."""
    keys = GAME.info()["keys"]
    assert [(each["key"], each["slot"], each["prefer"]) for each in keys] == [
        (str(slot + 1), slot, "left") for slot in range(5)
    ]


# Playing on.


def test_first_examples_settle_every_round_within_the_bound() -> None:
    """Two deals, at most 39 plays, and a pass at most between two of them: 80 moves and never more."""
    most = 0
    for seed in range(300):
        position, sent = new(secret=seed.to_bytes(64, "big")), 0
        while position.state.round == 0 or position.state.playing:
            for seat in (0, 1):
                (first, *_) = play.offers(position, seat)
                if first.verb in ("deal", "choose"):
                    move = Move(seat, Action(first.verb, first.example), inside(position).changed_at + sent)
                    made = play.advance(position, move)
                    assert made.refusal is None
                    position, sent = made.position, sent + 1
            if inside(position).phase == "countdown":
                position = at(position, inside(position).countdown_until or 0)
            assert all_cards(position) == sorted(pack())
        most = max(most, sent)
    assert 40 < most <= GAME.spec.bound == 80


def test_examples_claim_what_the_view_shows() -> None:
    """SP-7: a client that only sends examples loses races and is never penalised."""
    position = opened(("Th 2h", "8d 2c"), "9c", "4s")
    mine, _, _ = (offer.example for offer in play.offers(position, 0)[:3])
    assert mine == {"slot": 0, "prefer": "left", "seen": SEEN}
    theirs = chosen(position, 1, NOW + 1, **play.offers(position, 1)[0].example)
    assert refusal(theirs, 0, NOW + 2, **mine).code == "pile-changed"


@pytest.mark.parametrize(
    ("hand", "tops", "longest", "choice"),
    [
        ("2h 4h 6h 8h Th", "Kc Qs", 0, None),
        ("Th 8h 7h 2d 2s", "9c Ks", 2, (1, "left")),
        ("5h Th 8h 7h 2d", "9c 4s", 3, (0, "right")),
        ("3h 8h 7h 6h 2d", "9c 4s", 5, (0, "right")),
        ("Ah Kh Qh Jh Th", "2c 9s", 5, (0, "left")),
        ("9h 8h -- -- --", "Tc Ts", 2, (0, "left")),
    ],
)
def test_best_play_keeps_the_longest_run(hand: str, tops: str, longest: int, choice: tuple[int, str] | None) -> None:
    """SP-15: of the plays the one after which the hand goes on longest by itself."""
    held = [None if card == "--" else card for card in hand.split()]
    sides = dict(zip(("left", "right"), tops.split(), strict=True))
    assert run(held, sides) == longest
    assert best(held, sides) == choice


@pytest.mark.parametrize("phase", ["countdown", "settled"])
def test_race_is_lost_also_where_the_winner_stopped_the_play(phase: str) -> None:
    """SP-7: the verdict is the same when the faster card left nothing to play, or was the winner's last."""
    hands = ("Th 2h", "8d 2c") if phase == "countdown" else ("Th 2h", "8d")
    made = choose(opened(hands, "9c 3c", "4s"), 1, NOW + 1, slot=0, prefer="left")
    assert table(made.position)["phase"] == phase
    refused = refusal(made.position, 0, NOW + 2, slot=0, prefer="left", seen=SEEN)
    assert (refused.code, refused.facts) == ("pile-changed", {"pile": "left", "by": 1, "ms": 1})
    assert refusal(made.position, 0, NOW + 2, slot=1, prefer="left", seen=SEEN).code == "not-now"
