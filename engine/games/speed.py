"""Speed: two seats in real time get rid of their cards on two piles (SP-1 … SP-18).

Both call `deal` and a countdown runs (SP-3); then `choose` puts cards on the piles, both seats at once,
each card one rank from the top it covers (SP-4). What came too late or fits nowhere has its verdict
(SP-7, SP-8). When neither goes on, a card from each side stock is turned (SP-9). The first seat without
a card wins (SP-11). Times are in ms, amounts in chips.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from engine.cards import Card, pack
from engine.fields import CLIENT_SEED, Amount, Choice, Group, Option, Options, Shape
from engine.game import PERSON, Action, Due, Event, Illegal, Invalid, Move, Offer, Score, Spec, Standing, sooner
from engine.games.speed_centre import Centre
from engine.games.speed_plays import SIDES, Play, plays
from engine.games.speed_race import (
    REACTIONS,
    Played,
    countdown,
    flip,
    pass_by,
    play_card,
    released,
    seat_of,
    settled,
    stand,
    timed,
    top_pile,
)
from engine.games.speed_state import SEATS, SLOTS, Hand, House, Laid, Racing, dealt_hand
from engine.games.speed_table import (
    HandView,
    Phase,
    Piles,
    PileView,
    Result,
    Sheet,
    Table,
    drawn,
    drawn_sheet,
    told,
)
from engine.games.speed_verdicts import barred, must_be_meant, must_exist, must_not_be_late, penalized
from engine.piles import Look, Pile, Sight
from engine.shuffle import Chance

STOCK, SIDE_STOCK = 15, 6
LEAST_IDLE = 3000

OPTIONS = Options(
    (
        Option(Amount("countdown_ms", 0, 10_000), 3000, "How long a countdown runs, in ms (SP-3)."),
        Option(Amount("penalty_ms", 0, 10_000), 1500, "How long a play that fits nowhere bars the seat, in ms (SP-8)."),
        Option(
            Amount("idle_ms", 0, 120_000),
            15_000,
            f"After how long without a play both count as passed, in ms: 0 for never, or from {LEAST_IDLE} (SP-9).",
        ),
        Option(Amount("stake", 0, 1_000_000), 0, "Chips that the loser pays for each card left (SP-12)."),
    )
)

SLOT = Choice("slot", tuple(range(SLOTS)))
PREFER, PILE = Choice("prefer", SIDES), Choice("pile", SIDES)
MOST_SEQ = (1 << 31) - 1
"""A fixed bound of a number that a client claims to have seen: no session comes near it."""


def _seen(most: Mapping[str, int], laid: Laid | None = None) -> Group:
    """Return the field for the numbers on a player's screen, after the seat's last play from the slot (SP-6, SP-7)."""
    least = {laid.side: laid.seq} if laid else {}
    return Group("seen", Shape(tuple(Amount(side, least.get(side, 0), most[side]) for side in SIDES)), required=False)


SEEN = _seen(dict.fromkeys(SIDES, MOST_SEQ))
PASS = Shape((Choice("pass", (True,)),))


class Speed:
    """The rules of Speed."""

    state_type = Racing
    spec = Spec(
        slug="speed",
        title="Speed",
        summary="Two race to put all their cards on two piles, each card one rank from the one it covers.",
        rules_version=1,
        seats=(2, 2),
        verbs={
            "deal": (Shape((CLIENT_SEED,)),),
            "choose": (Shape((SLOT, PREFER, SEEN)), Shape((SLOT, PILE, SEEN)), PASS),
        },
        options=OPTIONS,
        events=(
            "ready",
            "dealt",
            "countdown",
            "reshuffled",
            "flip",
            "play",
            "passed",
            "idle",
            "penalty",
            "penalty-over",
            "settled",
            "left",
        ),
        reveals=("dealt", "countdown", "flip", "play", "penalty", "settled"),
        scored="chips",
        bound=80,
        hosts=("deal",),
        pace=(10, 20),
    )

    def open(self, options: dict[str, Any], seats: int) -> Racing:
        """Lay the pack on the table; raise `Invalid` for an idle time that is too short (SP-9)."""
        house = convert(options, House)
        if 0 < house.idle_ms < LEAST_IDLE:
            raise Invalid(f"idle_ms must be 0 or at least {LEAST_IDLE}", "/options/idle_ms")
        return Racing(house=house)

    def offers(self, state: Racing, seat: int) -> tuple[Offer, ...]:
        """Return the legal plays first, then the pass; between rounds the deal (SP-3, SP-9)."""
        if not state.playing:
            return (_deal_offer(state),) if _may_deal(state, seat) else ()
        if state.phase is not Phase.OPEN:
            return ()
        hand = state.hands[seat]
        ways = () if hand.penalty_until is not None else _play_offers(state, hand)
        passing = Offer("choose", "Pass until a pile changes", PASS, {"pass": True})
        return (*ways, *(() if hand.passed else (passing,)))

    def host_offers(self, state: Racing) -> tuple[Offer, ...]:
        """Return the deal where two bots sit: they are always ready, and somebody has to begin (SP-3)."""
        bots = len(state.taken()) == len(SEATS) and PERSON not in state.held
        return (Offer("deal", "Let the two bots play"),) if bots and not state.playing else ()

    def why_not(self, state: Racing, seat: int, action: Action) -> str | None:
        """Return why a deal, a play or a pass must wait."""
        if action.verb == "deal":
            return _why_no_deal(state)
        if not state.playing:
            return "No round is in play: both seats must deal first."
        if state.phase is Phase.COUNTDOWN:
            return "A countdown runs: play is open again when it ends."
        hand, slot = state.hands[seat], action.body.get("slot")
        if "pass" in action.body and hand.passed:
            return "You have passed already: it holds until you play or a pile changes."
        empty = [place for place, pile in enumerate(hand.slots) if not pile]
        return f"Slot {slot} is empty." if slot in empty else None

    def judge(self, state: Racing, move: Move) -> tuple[Racing, tuple[Event, ...], Illegal] | None:
        """Give a play that is not legal now its verdict: a lost race (SP-7), or a penalty (SP-8)."""
        body = move.action.body
        if "slot" not in body:
            return None
        must_exist(state, body.get("seen") or {})
        hand = state.hands[seat_of(move)]
        if hand.penalty_until is not None:
            raise barred(hand.penalty_until, move.at)
        must_be_meant(state, move)
        card = hand.cards[body["slot"]]
        if card is None:
            return None
        must_not_be_late(state, card, move)
        return penalized(state, move) if state.phase is Phase.OPEN else None

    def play(self, state: Racing, move: Move, chance: Chance) -> Played:
        """Play a verb, or a consequence of time."""
        match move.action.verb:
            case "deal":
                return _deal(state, move, chance)
            case "choose":
                return (pass_by if "pass" in move.action.body else play_card)(state, move, chance)
            case "flip":
                return flip(state, move.at, chance)
            case "idle":
                went, events = stand(state, move.at)
                return went, (Event("idle"), *events)
            case _:
                return released(state, move.action.body["seat"])

    def may_leave(self, state: Racing, seat: int) -> bool:
        """Return true: a seat may always leave, in a round by forfeit (SP-13)."""
        return True

    def leave(self, state: Racing, move: Move, chance: Chance) -> Played:
        """Give the round in play to the other seat (SP-13)."""
        seat = seat_of(move)
        events = (Event("left", seat),)
        if not state.playing:
            return replace(state, ready=(False, False)), events
        over, more = settled(state, 1 - seat, "forfeit")
        return over, events + more

    def due(self, state: Racing) -> Due | None:
        """Return the end of a countdown, of a penalty or of waiting, or before it a bot's play (SP-15, SP-18)."""
        if not state.playing:
            return None
        own = min(timed(state), key=lambda due: due.at, default=None)
        plans = [(hand.plan.at, hand.plan.lot, seat) for seat, hand in enumerate(state.hands) if hand.plan]
        return sooner(own, Due(min(plans)[0], min(plans)[2]) if plans else None)

    def to_act(self, state: Racing, seat: int) -> bool:
        """Return whether the seat may deal; while play is open true, whatever it holds, until it passes by choice."""
        if not state.playing:
            return _may_deal(state, seat)
        return state.phase is Phase.OPEN and not state.hands[seat].passed

    def table(self, state: Racing, look: Look) -> Table:
        """Return the table: the own slots, the tops, and how many cards lie where (SP-14)."""
        return Table(
            phase=state.phase,
            countdown_until=state.countdown_until if state.playing else None,
            piles=Piles(**{side: _pile_view(centre, look) for side, centre in state.centre.items()}),
            hands=tuple(_hand_view(state, seat, look) for seat in SEATS),
            stake=state.house.stake,
            result=state.result,
        )

    def score(self, state: Racing, look: Look) -> Score:
        """Return the round in play or the last one, and the totals (SP-16, C-8)."""
        left = tuple(hand.left for hand in state.hands)
        result = state.result or Result(None, "", left, 0)
        sheet = Sheet(
            winner=result.winner,
            reason=result.reason or None,
            cards_left=result.cards_left,
            payout=result.payout,
            stake=state.house.stake,
            flips=state.flips,
            plays=tuple(hand.plays for hand in state.hands),
            penalties=tuple(hand.penalties for hand in state.hands),
            totals=state.totals,
        )
        standings = tuple(Standing(seat, _place(state, seat), state.totals[seat].balance) for seat in SEATS)
        return Score(state.round, state.result is not None, standings, sheet)

    def piles(self, state: Racing) -> tuple[Pile, ...]:
        """Return the slots, the stocks, the centre and the pack: 52 cards."""
        hands = tuple(pile for hand in state.hands for pile in (*hand.slots, hand.stock))
        return *hands, state.left.pile, state.left.side, state.right.pile, state.right.side, state.pack

    def info(self) -> dict[str, Any]:
        """Return the pack, the bots' reaction times in ms, and the keys of the slots (C-13)."""
        return {
            "decks": [{"name": "pack", "cards": list(pack())}],
            "reactions": [{"level": level, "least": least, "most": most} for level, (least, most) in REACTIONS.items()],
            "keys": [{"key": str(slot + 1), "slot": slot, "prefer": "left"} for slot in range(SLOTS)],
        }

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Raise `Illegal`: no cards are worth anything here (C-12)."""
        raise Illegal("nothing-to-evaluate", "In Speed cards are worth nothing: the point is to be rid of them.")

    def draw(self, shown: Table | Sheet) -> list[str]:
        """Return the table or the score sheet as text."""
        return drawn(shown) if isinstance(shown, Table) else drawn_sheet(shown)

    def tell(self, event: Mapping[str, Any]) -> str | None:
        """Return which card was played where, and what else the table shows no trace of."""
        return told(event)


# Dealing


def _may_deal(state: Racing, seat: int) -> bool:
    """Return whether the seat's deal is waited for (SP-3)."""
    both = len(state.taken()) == len(SEATS)
    return both and not state.playing and not _ready(state, seat)


def _ready(state: Racing, seat: int) -> bool:
    """Return whether the seat has dealt for the round to come, or need not (SP-3)."""
    return not state.playing and (state.ready[seat] or state.is_bot(seat))


def _deal_offer(state: Racing) -> Offer:
    return Offer("deal", f"Be ready for round {state.round + 1}", Shape((CLIENT_SEED,)))


def _why_no_deal(state: Racing) -> str:
    if state.playing:
        return "A round is in play: it must end first."
    if len(state.taken()) < len(SEATS):
        return "Speed is for two: the other seat is not taken."
    return "You are ready: the round begins when the other seat deals too."


def _deal(state: Racing, move: Move, chance: Chance) -> Played:
    """Mark the seat as ready, and deal as soon as both are (SP-3)."""
    marked = state if move.seat is None else replace(state, ready=_marked(state, move.seat))
    events = () if move.seat is None else (Event("ready", move.seat),)
    if not all(_ready(marked, seat) for seat in SEATS):
        return marked, events
    begun = _dealt(state, chance.shuffle(pack(), "deal"))
    hands = [Event("dealt", seat, {}, {"hand": _open_hand(begun, seat)}) for seat in SEATS]
    waits, more = countdown(begun, move.at)
    return waits, (*events, *hands, *more)


def _marked(state: Racing, seat: int) -> tuple[bool, bool]:
    """Return who has dealt for the round to come, the seat among them."""
    return state.ready[0] or seat == 0, state.ready[1] or seat == 1


def _open_hand(state: Racing, seat: int) -> Pile:
    """Return the cards in a seat's slots as one pile, for its own eyes."""
    cards = tuple(card for slot in state.hands[seat].slots for card in slot.cards)
    return Pile(cards, Sight.OWNER, seat)


def _dealt(state: Racing, cards: tuple[Card, ...]) -> Racing:
    """Return the round dealt in blocks from the top: hand and stock of each seat, then the side stocks (SP-1, C-7)."""
    each = SLOTS + STOCK
    first, second, rest = cards[:each], cards[each : 2 * each], cards[2 * each :]
    return replace(
        state,
        round=state.round + 1,
        playing=True,
        ready=(False, False),
        pack=state.pack.holding(()),
        left=state.left.dealt(rest[:SIDE_STOCK]),
        right=state.right.dealt(rest[SIDE_STOCK:]),
        hands=(dealt_hand(0, first), dealt_hand(1, second)),
        flips=0,
        result=None,
    )


# Playing


def _play_offers(state: Racing, hand: Hand) -> Iterator[Offer]:
    """Yield the plays that are legal now, a bot's next one first; slots apart that ask for other numbers (SP-7)."""
    intended = hand.plan and Play(hand.plan.slot, hand.plan.side)
    alike: dict[Laid | None, list[Play]] = {}
    for play in sorted(plays(hand.cards, state.tops), key=lambda play: play != intended):
        alike.setdefault(hand.laid[play.slot], []).append(play)
    numbers = {side: centre.seq for side, centre in state.centre.items()}
    for laid, legal in alike.items():
        seen = _seen(numbers, laid)
        yield _play_offer("Play a card, on the preferred pile if it fits there", legal, PREFER, seen, numbers)
        for side in SIDES:
            if here := [play for play in legal if play.side == side]:
                yield _play_offer(f"Play a card on the {side} pile", here, Choice("pile", (side,)), seen, numbers)


def _play_offer(label: str, legal: Sequence[Play], where: Choice, seen: Group, numbers: dict[str, int]) -> Offer:
    """Return the offer of plays that differ in the slot; its example says what was seen."""
    slots = tuple(sorted({play.slot for play in legal}))
    example = {"slot": legal[0].slot, where.name: legal[0].side, "seen": numbers}
    return Offer("choose", label, Shape((Choice("slot", slots), where, seen)), example)


# Showing


def _place(state: Racing, seat: int) -> int:
    """Return 1 for the winner, or while nobody has won for the fewer cards; equals share the first place."""
    if state.result:
        return 1 + (state.result.winner == 1 - seat)
    return 1 + (state.hands[seat].left > state.hands[1 - seat].left)


def _pile_view(centre: Centre, look: Look) -> PileView:
    top = look(top_pile(centre))
    return PileView(top[0] if top else None, len(centre.pile), centre.seq, len(centre.side))


def _hand_view(state: Racing, seat: int, look: Look) -> HandView:
    hand = state.hands[seat]
    return HandView(
        seat=seat,
        slots=tuple(faces[0] if (faces := look(slot)) else None for slot in hand.slots),
        hand=hand.held,
        stock=len(hand.stock),
        passed=hand.passed,
        penalty_until=hand.penalty_until,
        ready=_ready(state, seat),
        balance=state.totals[seat].balance,
    )
