"""Speed: how a round goes: plays, passes, flips, bots' looks, and how it ends (SP-2 … SP-17)."""

from collections.abc import Iterator

from msgspec.structs import replace

from engine.game import Action, Due, Event, Move
from engine.games.speed_centre import Centre
from engine.games.speed_plays import best, fits, lands, plays, sides_of
from engine.games.speed_state import SEATS, Hand, Laid, Plan, Racing
from engine.games.speed_table import Result, Tally
from engine.piles import Pile, Sight
from engine.shuffle import Chance

REACTIONS = {"easy": (1667, 3333), "normal": (800, 1600), "hard": (400, 800)}
"""The least and greatest reaction time of a bot's play (SP-15)."""

Played = tuple[Racing, tuple[Event, ...]]


def seat_of(move: Move) -> int:
    """Return the seat of a move that only seats make."""
    if move.seat is None:
        raise ValueError("only a seat plays, passes or leaves")
    return move.seat


def play_card(state: Racing, move: Move, chance: Chance) -> Played:
    """Put the card on its pile and draw another; then see whether that ends the round, or play (SP-2, SP-11)."""
    seat, slot = seat_of(move), move.action.body["slot"]
    hand = state.hands[seat]
    card = hand.cards[slot]
    side = lands(card, state.tops, sides_of(move.action.body))
    if card is None or side is None:
        raise ValueError("a play must be legal")
    centre = state.centre[side].played(card, move.at, seat)
    after = hand.played(slot, Laid(side, centre.seq, move.at))
    state = _changed(replace(state.with_hand(seat, after), **{side: centre}), move.at)
    seen = {"card": Pile((card,), Sight.EVERYONE), "drawn": after.slots[slot]}
    event = Event("play", seat, {"pile": side, "seq": centre.seq}, seen)
    if not after.left:
        went, events = settled(state, seat, "out-of-cards")
    else:
        went, events = _went_on(state, move.at, chance)
    return went, (event, *events)


def pass_by(state: Racing, move: Move, chance: Chance) -> Played:
    """Pass by choice, until the seat plays or a pile changes (SP-9)."""
    seat = seat_of(move)
    state = state.with_hand(seat, replace(state.hands[seat], passed=True, plan=None))
    went, events = _went_on(state, move.at, chance)
    return went, (Event("passed", seat), *events)


def _changed(state: Racing, at: int) -> Racing:
    """Return the state when a pile has changed: no pass holds any longer (SP-9)."""
    first, second = (replace(hand, passed=False) for hand in state.hands)
    return replace(state, hands=(first, second), changed_at=at)


def _went_on(state: Racing, at: int, chance: Chance) -> Played:
    """Let the bots look, or the table stand still if neither seat goes on (SP-9)."""
    if all(_passes(state, hand) for hand in state.hands):
        return stand(state, at)
    for seat in SEATS:
        state = _looked(state, seat, at, chance)
    return state, ()


def _passes(state: Racing, hand: Hand) -> bool:
    """Return whether the seat counts as passed: by choice, or because nothing fits; no view tells (SP-9)."""
    return hand.passed or not plays(hand.cards, state.tops)


def _looked(state: Racing, seat: int, at: int, chance: Chance) -> Racing:
    """Return the state when a seat's bot, if one sits there, has its eye on a play (SP-15).

    It stays with a play that is still legal; another takes a reaction time of its own from now on.
    """
    hand, held = state.hands[seat], state.held[seat]
    if held not in REACTIONS or hand.passed:
        return state
    if hand.plan and fits(hand.cards[hand.plan.slot], state.tops[hand.plan.side]):
        return state
    play = best(hand.cards, state.tops)
    if play is None:
        return state.with_hand(seat, replace(hand, plan=None))
    least, most = REACTIONS[held]
    moment = at + least + chance.draw(most - least + 1, f"bot-{seat}")
    plan = Plan(play.slot, play.side, moment, _lot(state.hands[1 - seat].plan, moment, chance))
    return state.with_hand(seat, replace(hand, plan=plan))


def _lot(other: Plan | None, moment: int, chance: Chance) -> int:
    """Return a plan's lot: where the other bot plays at the same moment, chance says who is first (SP-18)."""
    if other is None or other.at != moment:
        return 0
    return other.lot + (1, -1)[chance.draw(2, "bot-tie")]


def timed(state: Racing) -> Iterator[Due]:
    """Yield what only time brings: penalties end, and a countdown or else the waiting (SP-3, SP-8, SP-9)."""
    for seat, hand in enumerate(state.hands):
        if hand.penalty_until is not None:
            yield Due(hand.penalty_until, action=Action("release", {"seat": seat}))
    if state.countdown_until is not None:
        yield Due(state.countdown_until, action=Action("flip"))
    elif state.house.idle_ms:
        yield Due(state.changed_at + state.house.idle_ms, action=Action("idle"))


def released(state: Racing, seat: int) -> Played:
    """End a seat's penalty (SP-8)."""
    hand = replace(state.hands[seat], penalty_until=None)
    return state.with_hand(seat, hand), (Event("penalty-over", seat),)


def stand(state: Racing, at: int) -> Played:
    """Start a countdown, or end a round that no flip can move any more (SP-9, SP-17)."""
    centre = (*state.left.pile.cards, *state.left.side.cards, *state.right.pile.cards, *state.right.side.cards)
    hands = [card for hand in state.hands for card in hand.cards]
    if any(fits(card, top) for card in hands for top in centre):
        return countdown(state, at)
    return settled(state, None, "stalemate")


def countdown(state: Racing, at: int) -> Played:
    """Start a countdown; in it nobody plays, and a bot looks again after it (SP-3)."""
    until = at + state.house.countdown_ms
    first, second = (replace(hand, plan=None) for hand in state.hands)
    waits = replace(state, countdown_until=until, hands=(first, second))
    return waits, (Event("countdown", None, {"countdown_until": until}),)


def flip(state: Racing, at: int, chance: Chance) -> Played:
    """Turn a card from each side stock, left before right, and open the play (SP-3, SP-10)."""
    events: list[Event] = []
    for side, centre in state.centre.items():
        fresh = () if centre.side else chance.shuffle(centre.pile.cards, f"reshuffle-{side}")
        if fresh:
            events.append(Event("reshuffled", None, {"pile": side, "cards": len(fresh)}))
        state = replace(state, **{side: centre.turned(at, fresh)})
    tops = {side: top_pile(centre) for side, centre in state.centre.items()}
    numbers = {side: centre.seq for side, centre in state.centre.items()}
    opened = replace(_changed(state, at), countdown_until=None, flips=state.flips + 1)
    went, more = _went_on(opened, at, chance)
    return went, (*events, Event("flip", None, {"seq": numbers}, tops), *more)


def settled(state: Racing, winner: int | None, reason: str) -> Played:
    """End the round and pay for the loser's cards (SP-11, SP-12)."""
    left = tuple(hand.left for hand in state.hands)
    payout = 0 if winner is None else state.house.stake * left[1 - winner]
    result = Result(winner, reason, left, payout)
    first, second = (replace(hand, passed=False, penalty_until=None, plan=None) for hand in state.hands)
    over = replace(
        state,
        playing=False,
        countdown_until=None,
        hands=(first, second),
        result=result,
        totals=(_tallied(state, 0, result), _tallied(state, 1, result)),
    )
    facts = {"winner": winner, "reason": reason, "cards_left": list(left), "payout": payout}
    return over, (Event("settled", None, facts),)


def _tallied(state: Racing, seat: int, result: Result) -> Tally:
    """Return the seat's totals with one more round (SP-16)."""
    tally, hand = state.totals[seat], state.hands[seat]
    won, drew = result.winner == seat, result.winner is None
    return Tally(
        seat=seat,
        won=tally.won + won,
        drawn=tally.drawn + drew,
        lost=tally.lost + (not won and not drew),
        plays=tally.plays + hand.plays,
        penalties=tally.penalties + hand.penalties,
        balance=tally.balance + (result.payout if won else -result.payout),
    )


def top_pile(centre: Centre) -> Pile:
    """Return the top of a centre pile alone."""
    return centre.pile.holding(centre.pile.cards[:1])
