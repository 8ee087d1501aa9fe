"""Plays of Speed picked from what the seats see: one that fits nowhere, and one card that two seats can cover."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from engine.games.speed_plays import SIDES, fits

Claim = dict[str, Any]


def misfit(view: Mapping[str, Any], seat: int = 0) -> Claim | None:
    """Return a play that fits on neither pile, if play is open and the seat's view has one.

    Where nobody can play after the deal, the next countdown runs already.
    """
    if view["table"]["phase"] != "open":
        return None
    tops = [view["table"]["piles"][side]["top"] for side in SIDES]
    slots = view["table"]["hands"][seat]["slots"]
    for slot, card in enumerate(slots):
        if card and not any(fits(card, top) for top in tops):
            return {"slot": slot, "prefer": "left", "seen": _seen(view)}
    return None


def contested(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[Claim, Claim] | None:
    """Return plays of seat 0 and of seat 1 on one pile, of which the second one to come is late."""
    hands = [view["table"]["hands"][seat]["slots"] for seat, view in enumerate((one, other))]
    for side, *slots in product(SIDES, range(5), range(5)):
        top = one["table"]["piles"][side]["top"]
        if all(fits(hand[slot], top) for hand, slot in zip(hands, slots, strict=True)):
            first, second = ({"slot": slot, "pile": side, "seen": _seen(one)} for slot in slots)
            return first, second
    return None


def _seen(view: Mapping[str, Any]) -> dict[str, int]:
    return {side: view["table"]["piles"][side]["seq"] for side in SIDES}
