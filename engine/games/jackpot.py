"""Jackpot: two to five seats pay for every card they drop, and the best hand takes it all (JP-1 … JP-17).

`deal` gives five cards each; in at most three passes `choose` drops up to three cards and draws as many
(JP-3, JP-4); `evaluate` flips all hands (JP-6), and the highest category wins, by a card draw among equals
(JP-10, JP-11). Amounts are chips.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import convert

from engine.cards import pack
from engine.fields import CLIENT_SEED, Amount, Choice, Option, Options, Positions, Shape
from engine.game import (
    PERSON,
    Action,
    Due,
    Event,
    Invalid,
    Move,
    Offer,
    Score,
    Spec,
    Standing,
    must_be_from,
    ranked,
    sooner,
)
from engine.games.jackpot_hands import TITLES, category
from engine.games.jackpot_round import Ending, House, Passing, Played, deal, drop, empty_hand, flip, lapse, out
from engine.games.jackpot_table import (
    MOST_DROPPED,
    PASSES,
    Drawn,
    HandView,
    Phase,
    Result,
    Sheet,
    Table,
    drawn,
    drawn_sheet,
    told,
)
from engine.piles import Look, Pile
from engine.poker import HAND_SIZE
from engine.shuffle import Chance

LEAST_SEATS, MOST_SEATS = 2, 5
MOST_CHIPS = 1_000_000
LAPSE, FLIP = Action("lapse"), Action("flip")

OPTIONS = Options(
    (
        Option(Amount("card_value", 1, MOST_CHIPS), 10, "Chips that each dropped card costs (JP-2)."),
        Option(Amount("ante", 0, MOST_CHIPS), 0, "Chips that each seat pays into the jackpot at each deal (JP-2)."),
        Option(Amount("first_seat", 0, MOST_SEATS - 1), 0, "The seat that drops first in the first round (JP-3)."),
        Option(Choice("wheel", (False, True)), False, "Whether A-2-3-4-5 of one suit is a Follow-up (JP-9)."),
        Option(
            Amount("turn_seconds", 5, 3600),
            None,
            "Seconds after which a turn lapses, and the flip comes by itself (JP-6, JP-16); left out: no limit.",
        ),
        Option(Amount("bot_ms", 0, 10_000), 1000, "How long a bot takes over its turn, in ms (C-11)."),
    )
)

DROP = Shape((Positions("drop", tuple(range(HAND_SIZE)), 0, MOST_DROPPED),))
DEAL = Shape((CLIENT_SEED,))


class Jackpot:
    """The rules of Jackpot."""

    state_type = Passing
    spec = Spec(
        slug="jackpot",
        title="Jackpot",
        summary="Pay for every card you drop, three times at most; the highest hand takes the jackpot.",
        rules_version=1,
        seats=(LEAST_SEATS, MOST_SEATS),
        verbs={"deal": (DEAL,), "choose": (DROP,), "evaluate": (Shape(),)},
        options=OPTIONS,
        events=(
            "dealt",
            "lapsed",
            "dropped",
            "shuffled",
            "drawn",
            "passes-over",
            "flipped",
            "card-draw",
            "settled",
            "left",
        ),
        reveals=("dealt", "drawn", "flipped", "card-draw"),
        scored="chips",
        bound=4 * MOST_SEATS + 1,
        hosts=("deal",),
    )

    def open(self, options: dict[str, Any], seats: int) -> Passing:
        """Give every seat an empty hand and a balance of 0 (JP-13); raise `Invalid` for a first seat not there."""
        house = convert(options, House)
        if house.first_seat >= seats:
            raise Invalid(f"first_seat must be one of the {seats} seats", "/options/first_seat")
        return Passing(house=house, hands=tuple(map(empty_hand, range(seats))))

    def offers(self, state: Passing, seat: int) -> tuple[Offer, ...]:
        """Return the one way on: deal, drop in turn, flip."""
        if not state.held[seat]:
            return ()
        if not state.playing:
            return (Offer("deal", f"Deal round {state.round + 1}", DEAL),) if _can_deal(state) else ()
        if state.phase is Phase.FLIP:
            return (Offer("evaluate", "Flip: show all hands and pay the jackpot"),)
        if seat != state.turn:
            return ()
        price = state.house.card_value
        label = f"Drop up to {MOST_DROPPED} cards by position, at {price} chips each, or none: []"
        return (Offer("choose", label, DROP, {"drop": []}),)

    def host_offers(self, state: Passing) -> tuple[Offer, ...]:
        """Return the deal, which leaves open seats out of the session."""
        if state.playing or not _can_deal(state):
            return ()
        return (Offer("deal", f"Deal round {state.round + 1}; seats still open are closed"),)

    def why_not(self, state: Passing, seat: int, action: Action) -> str | None:
        """Return why the action must wait."""
        match action.verb:
            case "deal":
                return _why_no_deal(state)
            case "choose" | "evaluate" if not state.playing:
                return "No round is in play: deal first."
            case "choose":
                return _why_no_drop(state, seat)
            case "evaluate" if state.phase is Phase.DROP:
                return f"The passes are not over: it is the turn of seat {state.turn}."
        return None

    def play(self, state: Passing, move: Move, chance: Chance) -> Played:
        """Play a deal, a drop, a flip, or the lapse of a turn."""
        match move.action.verb:
            case "deal":
                return deal(state, move.at, chance)
            case "choose" if move.seat is not None:
                return drop(state, move.seat, tuple(move.action.body["drop"]), move.at, chance)
            case LAPSE.verb:
                return lapse(state, move.at, chance)
            case _:
                return flip(state, chance)

    def may_leave(self, state: Passing, seat: int) -> bool:
        """Return true: a seat may leave at any time (JP-15)."""
        return True

    def leave(self, state: Passing, move: Move, chance: Chance) -> Played:
        """Take the seat out of the round; the last one left wins it without a flip (JP-15)."""
        left = Event("left", move.seat)
        if move.seat is None:
            return state, (left,)
        state, events = out(state, move.seat, move.at)
        return state, (left, *events)

    def due(self, state: Passing) -> Due | None:
        """Return the lapse of a turn, a bot's drop, or the flip that comes by itself (JP-6, JP-16, JP-17)."""
        if not state.playing:
            return None
        if state.phase is Phase.FLIP and state.bots_alone():
            return Due(state.since, action=FLIP)
        seconds, turn = state.house.turn_seconds, state.turn
        over = Due(state.since + 1000 * seconds, action=FLIP if turn is None else LAPSE) if seconds else None
        bots = Due(state.since + state.house.bot_ms, turn) if turn is not None and state.is_bot(turn) else None
        return sooner(over, bots)

    def to_act(self, state: Passing, seat: int) -> bool:
        """Return whether it is the seat's turn, or anyone's: to flip, to deal."""
        if state.phase is Phase.DROP:
            return seat == state.turn
        if state.phase is Phase.FLIP:
            return seat in state.order and state.held[seat] == PERSON
        return _can_deal(state) and state.held[seat] == PERSON

    def table(self, state: Passing, look: Look) -> Table:
        """Return the table; a seat sees its own hand and drops, of others what is flipped (JP-14)."""
        return Table(
            phase=state.phase,
            card_value=state.house.card_value,
            ante=state.house.ante,
            wheel=state.house.wheel,
            jackpot=state.jackpot,
            pass_=state.pass_number or None,
            first=state.first,
            turn=state.turn if state.playing else None,
            stock=len(state.stock),
            discards=len(state.discards),
            shuffles=state.shuffles,
            hands=_hands(state, look),
            result=_result(state.ending, look),
        )

    def score(self, state: Passing, look: Look) -> Score:
        """Return the round in play or the last one, and the seats by balance (C-8, JP-13)."""
        sheet = Sheet(
            phase=state.phase,
            card_value=state.house.card_value,
            ante=state.house.ante,
            jackpot=state.jackpot,
            hands=_hands(state, look),
            result=_result(state.ending, look),
        )
        final = bool(state.round) and not state.playing
        return Score(state.round, final, _standings(state), sheet)

    def piles(self, state: Passing) -> tuple[Pile, ...]:
        """Return stock, discard pile and hands: 52 cards."""
        return state.stock, state.discards, *(hand.cards for hand in state.hands)

    def info(self) -> dict[str, Any]:
        """Return the pack and the categories, lowest first (JP-1, JP-7)."""
        categories = [
            {"category": each, "category_name": title, "description": description}
            for each, (title, description) in TITLES.items()
        ]
        return {"decks": [{"name": "stock", "cards": list(pack())}], "categories": categories}

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return the category of five cards (C-12)."""
        must_be_from(pack(), cards, HAND_SIZE)
        found = category(cards, wheel=convert(options, House).wheel)
        return {"category": found, "category_name": found.title}

    def draw(self, shown: Table | Sheet) -> list[str]:
        """Return the table or the score sheet as text."""
        return drawn(shown) if isinstance(shown, Table) else drawn_sheet(shown)

    def tell(self, event: Mapping[str, Any]) -> str | None:
        """Return what the table shows no trace of: which cards were dropped and drawn, and a shuffle."""
        return told(event)


def _can_deal(state: Passing) -> bool:
    return not state.playing and len(state.taken()) >= LEAST_SEATS


def _why_no_deal(state: Passing) -> str | None:
    if state.playing:
        return "A round is in play: the next is dealt after its flip."
    return None if _can_deal(state) else f"A round needs {LEAST_SEATS} seats that somebody holds."


def _why_no_drop(state: Passing, seat: int) -> str | None:
    if seat not in state.order:
        return "This seat plays from the next round on."
    if state.phase is Phase.FLIP:
        return "The passes are over: flip."
    return None if seat == state.turn else f"It is the turn of seat {state.turn}."


def _hands(state: Passing, look: Look) -> tuple[HandView, ...]:
    """Return every seat's hand; what it is follows from the faces that are seen alone."""
    views = []
    for seat, hand in enumerate(state.hands):
        faces = look(hand.cards)
        seen = [face for face in faces if face]
        found = category(seen, wheel=state.house.wheel) if len(seen) == HAND_SIZE else None
        view = HandView(
            seat=seat,
            cards=faces,
            dropped=hand.dropped + (None,) * (PASSES - len(hand.dropped)),
            discarded=look(hand.drops.pile),
            owes=hand.owes,
            balance=hand.balance,
            category=found,
            category_name=None if found is None else found.title,
            won=hand.won,
        )
        views.append(view)
    return tuple(views)


def _result(ending: Ending | None, look: Look) -> Result | None:
    """Return how the round ended, the draws as they were shown."""
    if ending is None:
        return None
    draws = tuple(
        tuple(Drawn(seat, look(each.pile)[0]) for each in draw if (seat := each.pile.owner) is not None)
        for draw in ending.draws
    )
    return Result(ending.winner, ending.by, ending.tied, draws, ending.payout)


def _standings(state: Passing) -> tuple[Standing, ...]:
    """Return the seats that are taken or have played, the richest first."""
    return ranked({seat: hand.balance for seat, hand in enumerate(state.hands) if state.held[seat] or hand.rounds})
