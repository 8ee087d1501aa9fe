"""What may be done with seats is what is offered: whatever is listed is accepted, and nothing else."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from engine import play, seating
from engine.game import Action, Illegal, Move, NotYours
from tests.jackpots import OPEN, bots, new, people, sent
from tests.seats import act, seat_at


def tables() -> Iterator[play.Position]:
    """Yield tables with seats of every kind, between rounds, in one, and over; and one that may not be left now."""
    mixed = (*people(2), OPEN, *bots("easy"), OPEN)
    alone = new((*people(1), OPEN))
    yield from (alone, new(people(2)), new(mixed), sent(new(mixed), 0, "deal"), sent(alone, 0, "leave"))
    left = sent(new(mixed), 1, "leave")
    yield from (left, sent(left, None, "deal"), sent(left, None, "leave"))
    yield act(act(seat_at("spice-island-poker"), "wager", amount=5), "deal")


def actions(seats: int) -> Iterator[Action]:
    """Yield what can be asked with seats, those that there are not among them."""
    named: list[dict[str, Any]] = [{"seat": seat} for seat in range(seats + 2)]
    yield from (Action(verb, body) for verb in ("join", "leave") for body in ({}, *named))
    yield from (Action("token", body) for body in named)
    yield from (Action("join", body | more) for body in named for more in ({"bot": "hard"}, {"name": "Cleo"}))


def accepted(position: play.Position, seat: int | None, action: Action, *, host: bool, bots: bool) -> bool:
    """Return whether a viewer may do it, asked as sessions ask it."""
    try:
        if seating.asker(position, seat, action, host=host) == play.SEAT and action.verb == "leave":
            play.advance(position, Move(seat, Action("leave"), 0))
        else:
            seating.must_be_offered(position, seat, action, host=host, bots=bots)
    except (NotYours, Illegal):
        return False
    return True


def listed(position: play.Position, seat: int | None, action: Action, *, host: bool, bots: bool) -> bool:
    """Return whether it is in one of the viewer's offers; a seat's own leave may name the seat."""
    own = action.verb == "leave" and action.body.get("seat") == seat
    offered = seating.offers(position, seat, host=host, bots=bots)
    return play.fits(offered, Action("leave") if own else action)


def check_every_viewer(position: play.Position) -> None:
    """Fail unless of every action the same is said by the list and by the judgement."""
    seats = len(position.seats)
    for seat, host, with_bots in product((None, *range(seats)), (False, True), (False, True)):
        for action in actions(seats):
            asked = (position, seat, action)
            assert accepted(*asked, host=host, bots=with_bots) == listed(*asked, host=host, bots=with_bots), asked


def test_what_is_listed_is_what_is_accepted() -> None:
    """For whoever looks, host or not, with bots or without: a spectator, each seat, one that has left."""
    for position in tables():
        check_every_viewer(position)


def test_every_example_is_accepted() -> None:
    """What an offer of a seat shows can be sent as it stands."""
    found = 0
    for position in tables():
        for seat in (None, 0):
            for offer in seating.seat_offers(position, seat, host=True, bots=True):
                assert accepted(position, seat, Action(offer.verb, offer.example), host=True, bots=True)
                found += 1
    assert found > 20


def test_what_is_accepted_and_not_listed_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judgement that lets every action with seats pass accepts more than there is."""
    monkeypatch.setattr(seating, "must_be_offered", lambda *_asked, **_rights: None)
    with pytest.raises(AssertionError):
        check_every_viewer(next(tables()))
