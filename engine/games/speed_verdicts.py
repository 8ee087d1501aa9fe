"""Speed: the verdict on a play that is not legal now: too late, sent twice, or wrong (SP-6, SP-7, SP-8)."""

from collections.abc import Mapping

from msgspec.structs import replace

from engine.cards import Card
from engine.game import Event, Illegal, Invalid, Move
from engine.games.speed_plays import lands, sides_of
from engine.games.speed_race import seat_of
from engine.games.speed_state import Racing


def must_exist(state: Racing, seen: Mapping[str, int]) -> None:
    """Raise `Invalid` for a number that no top has had yet (SP-6)."""
    for side, number in seen.items():
        if number > state.centre[side].seq:
            raise Invalid(f"the {side} pile has not come to number {number}", f"/seen/{side}")


def barred(until: int, at: int) -> Illegal:
    """Return the refusal of a play under penalty (SP-8)."""
    detail = f"A penalty bars your plays for another {until - at} ms."
    return Illegal("penalized", detail, facts={"penalty_until": until}, retry_ms=until - at)


def must_be_meant(state: Racing, move: Move) -> None:
    """Raise `Illegal` for a play that was meant for the card which the seat itself has played from the slot since.

    The one that was drawn in its place cannot have been seen, whether it fits or not: a double tap (SP-7).
    """
    body, seat = move.action.body, seat_of(move)
    laid, seen = state.hands[seat].laid[body["slot"]], body.get("seen")
    if laid is None or seen is None or seen[laid.side] >= laid.seq:
        return
    late = move.at - laid.at
    facts = {"pile": laid.side, "by": seat, "ms": late}
    detail = f"You have played the card of slot {body['slot']} on the {laid.side} pile yourself {late} ms before."
    raise Illegal("pile-changed", detail, facts=facts)


def must_not_be_late(state: Racing, card: Card, move: Move) -> None:
    """Raise `Illegal` with who was faster, and by how much, if the play was legal as seen (SP-7)."""
    body = move.action.body
    seen = body.get("seen") or {}
    tops = {side: centre.as_seen(seen.get(side, centre.seq), move.at) for side, centre in state.centre.items()}
    side = lands(card, tops, sides_of(body))
    past = state.centre[side].covering(seen[side]) if side and seen else None
    if side is None or past is None:
        return
    late = move.at - past.at
    who = "the table" if past.by is None else f"seat {past.by}"
    facts = {"pile": side, "by": past.by, "ms": late}
    raise Illegal(
        "pile-changed", f"The {side} pile was covered by {who} {late} ms before: look at it again.", facts=facts
    )


def penalized(state: Racing, move: Move) -> tuple[Racing, tuple[Event, ...], Illegal]:
    """Bar the seat's plays for a while (SP-8)."""
    seat, wait = seat_of(move), state.house.penalty_ms
    until = move.at + wait
    hand = state.hands[seat]
    waits = replace(hand, penalty_until=until, penalties=hand.penalties + 1)
    facts = {"penalty_until": until}
    piles = " or ".join(f"the {side} pile" for side in sides_of(move.action.body))
    detail = f"The card does not fit on {piles}: your plays are barred for {wait} ms."
    refusal = Illegal("illegal-play", detail, facts=facts, retry_ms=wait)
    return state.with_hand(seat, waits), (Event("penalty", seat, facts),), refusal
