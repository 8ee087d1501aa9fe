"""Speed: a play that was meant for a card which its seat has itself played since (SP-7)."""

from typing import Any

import pytest
from flask import Flask
from msgspec.structs import replace

from engine import play
from engine.games.speed_state import Laid
from tests.claims import Claim
from tests.conftest import Clock
from tests.parties import Party
from tests.races import NOW, at, choose, chosen, dealt, inside, opened, plain, refusal, table
from tests.routes import outcome
from tests.stored import Stored
from tests.test_speed_race import racing

TAP: dict[str, Any] = {"slot": 0, "prefer": "left", "seen": {"left": 1, "right": 1}}
"""The ten of slot 0 goes on the nine, of which the left pile's number 1 is the last that the player saw."""


def tapped(drawn: str) -> play.Position:
    """Return a table where seat 0 has tapped its ten at NOW + 5, and drawn another card in its place."""
    position = opened(("Th 8h 2h", "Jd 9d 5d"), "9c", "4s", stocks=(drawn, "2c"), idle_ms=0)
    return chosen(position, 0, NOW + 5, **TAP)


@pytest.mark.parametrize("drawn", ["Jh", "2d", "8d", ""], ids=["fits", "fits nowhere", "would have fitted", "none"])
@pytest.mark.parametrize("late", [0, 35, 2000, 2001, 60_000])
@pytest.mark.parametrize("way", [{"prefer": "left"}, {"prefer": "right"}, {"pile": "left"}, {"pile": "right"}])
def test_a_double_tap_costs_nothing(drawn: str, late: int, way: dict[str, str]) -> None:
    """SP-7: whatever was drawn, and however late it comes, the second tap moves no card and bars no play."""
    position = tapped(drawn)
    refused = refusal(position, 0, NOW + 5 + late, slot=0, seen=TAP["seen"], **way)
    assert (refused.code, refused.facts) == ("pile-changed", {"pile": "left", "by": 0, "ms": late})
    assert refused.retry_ms is None
    assert "slot 0" in refused.detail
    assert "yourself" in refused.detail


def test_a_double_tap_is_one_too_where_others_have_played_since() -> None:
    """SP-7: the own play took the card; who has covered the pile after it does not matter."""
    position = chosen(tapped("Qh"), 1, NOW + 6, slot=0, pile="left")
    assert refusal(position, 0, NOW + 9, **TAP).facts == {"pile": "left", "by": 0, "ms": 4}


def test_of_two_own_plays_from_a_slot_the_last_one_is_named() -> None:
    """SP-7: the card that lies in the slot came with the last play from it."""
    position = opened(("Th 2h", "2d 3d"), "9c", "4s", stocks=("Jh Qh", "2c"), idle_ms=0)
    for late in (5, 50):
        position = chosen(position, 0, NOW + late, slot=0, pile="left")
    assert refusal(position, 0, NOW + 70, **TAP).facts["ms"] == 20
    halfway = {"left": 2, "right": 1}
    assert refusal(position, 0, NOW + 70, slot=0, pile="left", seen=halfway).facts["ms"] == 20


def test_without_numbers_the_present_card_is_played() -> None:
    """SP-6: whoever does not say what was seen has seen what there is, for better or worse."""
    assert inside(chosen(tapped("Jh"), 0, NOW + 9, slot=0, prefer="left")).left.top == "Jh"
    worse = choose(tapped("2d"), 0, NOW + 9, slot=0, prefer="left")
    assert worse.refusal
    assert worse.refusal.code == "illegal-play"


@pytest.mark.parametrize("right", [0, 1])
def test_whoever_has_seen_the_own_play_plays_on(right: int) -> None:
    """SP-7: the number of the pile that was played on decides, and no other."""
    seen = {"left": 2, "right": right}
    assert inside(chosen(tapped("Jh"), 0, NOW + 9, slot=0, prefer="left", seen=seen)).left.top == "Jh"
    worse = choose(tapped("2d"), 0, NOW + 9, slot=0, prefer="left", seen=seen)
    assert worse.refusal
    assert worse.refusal.code == "illegal-play"


def test_a_quick_hand_plays_other_slots_before_it_sees_its_own_play() -> None:
    """SP-7: the card of a slot that was not played from is the one that was seen."""
    position = opened(("Th 3h 2h", "2d"), "9c", "4s", stocks=("Jh", "2c"), idle_ms=0)
    position = chosen(position, 0, NOW + 5, **TAP)
    assert inside(chosen(position, 0, NOW + 6, slot=1, prefer="left", seen=TAP["seen"])).right.top == "3h"


def test_offers_hold_no_double_tap() -> None:
    """SP-7: what is offered of a slot asks for numbers that show the own play; its example does."""
    offers = [offer for offer in play.offers(tapped("Jh"), 0) if "slot" in offer.example]
    assert [offer.example["slot"] for offer in offers] == [0, 0]
    assert all(offer.shape.objection(TAP) for offer in offers)
    fresh = TAP | {"seen": {"left": 2, "right": 0}}
    assert offers[0].shape.objection(fresh) is None


def test_a_penalty_bars_a_double_tap_like_any_play() -> None:
    """SP-8: under a penalty all plays are refused alike."""
    barred = choose(tapped("Jh"), 0, NOW + 6, slot=2, prefer="left").position
    assert refusal(barred, 0, NOW + 7, **TAP).code == "penalized"


@pytest.mark.parametrize(("hands", "phase"), [(("Th 2h", "2d 3h"), "countdown"), (("Th", "2d 3h"), "settled")])
def test_a_double_tap_is_one_too_where_the_first_stopped_the_play(hands: tuple[str, str], phase: str) -> None:
    """SP-7: in the countdown that the first tap began, or after the round that it won."""
    made = choose(opened(hands, "9c 3s", "6s"), 0, NOW + 5, **TAP)
    assert table(made.position)["phase"] == phase
    assert refusal(made.position, 0, NOW + 7, **TAP).facts == {"pile": "left", "by": 0, "ms": 2}


def test_a_new_round_begins_without_own_plays() -> None:
    """SP-7: what lies in the slots was dealt, and has been seen."""
    over = chosen(opened(("Th", "2d 3h"), "9c", "4s"), 0, NOW + 5, **TAP)
    assert inside(over).hands[0].laid[0]
    assert [hand.laid for hand in inside(dealt(over)).hands] == [(None,) * 5] * 2


@pytest.mark.parametrize("viewer", [1, None])
def test_from_which_slots_a_seat_has_played_is_told_nobody_else(viewer: int | None) -> None:
    """SP-8: tables that differ in that alone are one to the other seat and to who watches."""
    position = tapped("Jh")
    state = inside(position)
    elsewhere = replace(state.hands[0], laid=(None, None, Laid("left", 2, NOW + 5), None, None))
    other = replace(position, state=state.with_hand(0, elsewhere))
    told = [
        plain([play.view(each, viewer), () if viewer is None else play.offers(each, viewer), play.score(each, viewer)])
        for each in (position, other)
    ]
    assert told[0] == told[1]
    assert plain(play.offers(position, 0)) != plain(play.offers(other, 0))


def test_bots_never_tap_twice() -> None:
    """SP-15: a bot's play carries the numbers of the moment."""
    position = opened(("2h", "Th Jh"), "9c", "4s", seats=(play.Seat("Player 1"), play.Seat(None, "bot", "hard")))
    assert inside(at(position, NOW + 1600)).totals[1].won == 1


# Over HTTP.


def able(app: Flask, clock: Clock) -> tuple[Party, Claim]:
    """Return a round, and a play of seat 0 that fits."""
    while True:
        party = racing(app, clock)
        (first, *_) = party.seen(0)["actions"]
        if "slot" in first.get("example", {}):
            return party, first["example"]


def test_a_repeated_request_is_answered_again_and_a_second_one_refused(
    app: Flask, clock: Clock, stored: Stored
) -> None:
    """With the same key it is the first tap once more, byte for byte; with another it is a double tap (SP-7)."""
    party, claim = able(app, clock)
    first = party.send(0, "choose", claim, Idempotency_Key="a")
    assert first.status_code == 200
    version = stored.record(party.id).version
    clock.advance(80)
    again = party.send(0, "choose", claim, Idempotency_Key="a")
    assert (again.data, again.headers["Idempotency-Replayed"]) == (first.data, "true")
    for key in ({"Idempotency_Key": "b"}, {"Idempotency_Key": "b"}, {}):
        second = party.send(0, "choose", claim, **key)
        assert outcome(second) == (409, "pile-changed")
        told = second.get_json()
        assert (told["by"], told["ms"], told["version"]) == (0, 80, version)
        assert "Retry-After" not in second.headers
        assert "Idempotency-Replayed" not in second.headers
    assert stored.record(party.id).version == version
