"""A toy game for what the registered games do not have yet: several seats, hidden hands, time, a bot.

Each seat has three cards that it alone sees. In turn each shows one and draws one from a random place
of the stock; after two turns each the highest sum of ranks wins. A turn lapses, a bell rings in
the round, and one seat may be a bot's.
"""

from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from engine.cards import Face, pack, rank
from engine.fields import CLIENT_SEED, Amount, Option, Options, Positions, Shape
from engine.game import Action, Due, Event, Illegal, Invalid, Move, Offer, Score, Spec, Standing, State
from engine.piles import Look, Pile, Sight
from engine.shuffle import Chance

SLUG = "toy"
STOCK = Pile(pack("hd"))
HAND_SIZE, TURNS = 3, 2
CHOICE = Shape((Positions("cards", tuple(range(HAND_SIZE)), 1, 1),))


class House(Struct, frozen=True):
    """The options, typed; times in ms."""

    turn_ms: int
    bell_ms: int
    bot_ms: int


class Showing(State, frozen=True, kw_only=True, tag=SLUG):
    """The state."""

    house: House
    hands: tuple[Pile, ...] = ()
    shown: tuple[Pile, ...] = ()
    stock: Pile = STOCK
    turn: int | None = None
    since: int = 0
    bell_at: int | None = None
    gone: frozenset[int] = frozenset()
    winner: int | None = None


class Table(Struct, frozen=True, tag_field="game", tag=SLUG):
    """What a viewer sees."""

    hands: tuple[tuple[Face | None, ...], ...]
    shown: tuple[tuple[Face | None, ...], ...]
    stock: int
    turn: int | None


class Toy:
    """The rules of the toy."""

    state_type = Showing
    spec = Spec(
        slug=SLUG,
        title="Toy",
        summary="Show cards.",
        rules_version=1,
        seats=(2, 4),
        verbs={"deal": (Shape((CLIENT_SEED,)),), "choose": (CHOICE,)},
        options=Options(
            (
                Option(Amount("turn_ms", 1, 60_000), 5000, "Time for a turn."),
                Option(Amount("bell_ms", 1, 60_000), 2500, "Time to the bell."),
                Option(Amount("bot_ms", 0, 60_000), 1000, "Time a bot takes."),
            )
        ),
        events=("dealt", "shown", "drew", "lapsed", "rang", "settled", "left"),
        reveals=("dealt", "shown", "drew"),
        scored="points",
        bound=9,
    )

    def __init__(self, bot_seat: int | None = None) -> None:
        self.bot_seat = bot_seat

    def open(self, options: dict[str, Any], seats: int) -> Showing:
        house = convert(options, House)
        if house.bell_ms == house.turn_ms == 1:
            raise Invalid("the bell and the turns must not be over at once", "/options/bell_ms")
        return _laid_out(Showing(house=house), seats)

    def offers(self, state: Showing, seat: int) -> tuple[Offer, ...]:
        if not state.playing:
            return (Offer("deal", "Deal", Shape((CLIENT_SEED,))),)
        if state.turn != seat:
            return ()
        return (Offer("choose", "Show a card", CHOICE, {"cards": [0]}),)

    def host_offers(self, state: Showing) -> tuple[Offer, ...]:
        return ()

    def why_not(self, state: Showing, seat: int, action: Action) -> str | None:
        if action.verb == "choose" and state.playing and state.turn != seat:
            return f"It is the turn of seat {state.turn}."
        return None

    def play(self, state: Showing, move: Move, chance: Chance) -> tuple[Showing, tuple[Event, ...]]:
        match move.action.verb:
            case "deal":
                return _dealt(state, move.at, chance)
            case "ring":
                return replace(state, bell_at=None), (Event("rang", None, {"at": move.at}),)
            case "lapse":
                after, events = _show(state, 0, move.at, chance)
                return after, (Event("lapsed", state.turn), *events)
            case _:
                return _show(state, move.action.body["cards"][0], move.at, chance)

    def may_leave(self, state: Showing, seat: int) -> bool:
        return state.turn != seat

    def leave(self, state: Showing, move: Move, chance: Chance) -> tuple[Showing, tuple[Event, ...]]:
        seat = move.seat
        assert seat is not None
        gone = state.gone | {seat}
        hand = state.hands[seat]
        after = replace(
            state,
            gone=gone,
            hands=_put(state.hands, seat, hand.holding(())),
            stock=state.stock.holding(state.stock.cards + hand.cards),
        )
        if len(state.hands) - len(gone) < 2:
            after = replace(after, playing=False, turn=None, bell_at=None, finished="left")
        return after, (Event("left", seat),)

    def due(self, state: Showing) -> Due | None:
        dues = [] if state.bell_at is None else [(state.bell_at, 0, Due(state.bell_at, None, Action("ring")))]
        if state.turn is not None:
            lapse = state.since + state.house.turn_ms
            dues.append((lapse, 1, Due(lapse, None, Action("lapse"))))
            if state.turn == self.bot_seat:
                moves = state.since + state.house.bot_ms
                dues.append((moves, 2, Due(moves, state.turn)))
        return min(dues)[2] if dues else None

    def to_act(self, state: Showing, seat: int) -> bool:
        return not state.playing or state.turn == seat

    def table(self, state: Showing, look: Look) -> Struct:
        return Table(tuple(map(look, state.hands)), tuple(map(look, state.shown)), len(state.stock), state.turn)

    def score(self, state: Showing, look: Look) -> Score:
        if state.winner is None:
            raise Illegal("not-evaluated", "No round is over.")
        return Score(state.round, not state.playing, (Standing(state.winner, 1, 1),), state.house)

    def piles(self, state: Showing) -> tuple[Pile, ...]:
        return *state.hands, *state.shown, state.stock

    def draw(self, table: Table) -> list[str]:
        return [str(table)]

    def info(self) -> dict[str, Any]:
        return {}

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        raise Illegal("nothing-to-evaluate", "There is nothing to evaluate.")


def _put(piles: tuple[Pile, ...], place: int, pile: Pile) -> tuple[Pile, ...]:
    return (*piles[:place], pile, *piles[place + 1 :])


def _laid_out(state: Showing, seats: int) -> Showing:
    return replace(
        state,
        hands=tuple(Pile((), Sight.OWNER, seat) for seat in range(seats)),
        shown=tuple(Pile((), Sight.EVERYONE, seat) for seat in range(seats)),
        stock=STOCK,
    )


def _dealt(state: Showing, at: int, chance: Chance) -> tuple[Showing, tuple[Event, ...]]:
    state = _laid_out(state, len(state.hands))
    stock = state.stock.holding(chance.shuffle(state.stock.cards, "deal"))
    hands = list(state.hands)
    for seat in range(len(hands)):
        if seat not in state.gone:
            taken, stock = stock.take(HAND_SIZE)
            hands[seat] = hands[seat].holding(taken)
    dealt = replace(
        state,
        round=state.round + 1,
        playing=True,
        hands=tuple(hands),
        stock=stock,
        since=at,
        bell_at=at + state.house.bell_ms,
    )
    dealt = replace(dealt, turn=_next(dealt, len(hands) - 1))
    return dealt, (Event("dealt", None, {}, {str(seat): hand for seat, hand in enumerate(hands)}),)


def _next(state: Showing, seat: int) -> int | None:
    """Return whose turn comes after a seat's, while anyone has one left."""
    seats = len(state.hands)
    for other in ((seat + step) % seats for step in range(1, seats + 1)):
        if other not in state.gone and len(state.shown[other]) < TURNS:
            return other
    return None


def _show(state: Showing, place: int, at: int, chance: Chance) -> tuple[Showing, tuple[Event, ...]]:
    seat = state.turn
    assert seat is not None
    hand, drawn = state.hands[seat], chance.draw(len(state.stock), f"draw-{seat}")
    new, old = state.stock.cards[drawn], hand.cards[place]
    shown = state.shown[seat].holding((*state.shown[seat].cards, old))
    after = replace(
        state,
        hands=_put(state.hands, seat, hand.holding((*hand.cards[:place], new, *hand.cards[place + 1 :]))),
        shown=_put(state.shown, seat, shown),
        stock=state.stock.holding((*state.stock.cards[:drawn], *state.stock.cards[drawn + 1 :])),
        since=at,
    )
    events = (
        Event("shown", seat, {}, {"card": shown.holding((old,))}),
        Event("drew", seat, {}, {"card": hand.holding((new,))}),
    )
    return _passed_on(replace(after, turn=_next(after, seat)), events)


def _passed_on(state: Showing, events: tuple[Event, ...]) -> tuple[Showing, tuple[Event, ...]]:
    if state.turn is not None:
        return state, events
    sums = [sum(map(rank, pile.cards)) for pile in state.shown]
    winner = sums.index(max(sums))
    settled = replace(state, playing=False, bell_at=None, winner=winner)
    return settled, (*events, Event("settled", winner))
