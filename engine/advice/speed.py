"""Speed: how a bot plays (SP-15)."""

from collections.abc import Mapping

from engine.game import LEVELS, Action, Offer
from engine.play import Bot, View


def choose(_view: View, offers: tuple[Offer, ...]) -> Action:
    """Return what the first offer shows: the play that the seat's bot has had its eye on.

    It is the best of the moment when the reaction time began, and comes when that is over: a better
    one that a pile has opened meanwhile would be played faster than a hand can move.
    """
    return Action(offers[0].verb, offers[0].example)


BOTS: Mapping[str, Bot] = dict.fromkeys(LEVELS, choose)
"""The levels differ in their reaction times alone, which the round's chance draws."""
