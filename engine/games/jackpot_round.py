"""Jackpot: the state, and what happens in a round from the deal to its settlement.

Every function returns the state after it and the events of it. Amounts are chips, times ms.
"""

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import Card, pack, rank
from engine.game import Event, State
from engine.games.jackpot_hands import category
from engine.games.jackpot_table import PASSES, By, Phase
from engine.piles import Memory, Pile, Sight
from engine.poker import HAND_SIZE
from engine.shuffle import Chance

FULL_STOCK = Pile(pack())
DISCARDS = Pile()


class House(Struct, frozen=True):
    """The options, typed."""

    card_value: int
    ante: int
    first_seat: int
    wheel: bool
    turn_seconds: int | None
    bot_ms: int


class Hand(Struct, frozen=True):
    """What a seat has: its cards, its drops of the round and their number in each pass, its chips, and its rounds."""

    cards: Pile
    drops: Memory
    dropped: tuple[int, ...] = ()
    owes: int = 0
    balance: int = 0
    won: int = 0
    rounds: int = 0

    def paying(self, amount: int) -> "Hand":
        """Return the hand after a payment into the jackpot."""
        return replace(self, owes=self.owes + amount, balance=self.balance - amount)


class Ending(Struct, frozen=True):
    """How a round ended; each draw of the card draw in seat order."""

    winner: int
    by: By
    tied: tuple[int, ...]
    draws: tuple[tuple[Memory, ...], ...]
    payout: int


class Passing(State, frozen=True, kw_only=True, tag="jackpot"):
    """The state; `order` are the seats still in the round, in seat order from the one that dropped first.

    `since` is when the turn began, or, once the passes are over, when the last one ended.
    """

    house: House
    hands: tuple[Hand, ...] = ()
    order: tuple[int, ...] = ()
    first: int | None = None
    pass_number: int = 0
    turn: int | None = None
    since: int = 0
    jackpot: int = 0
    stock: Pile = FULL_STOCK
    discards: Pile = DISCARDS
    shuffles: int = 0
    ending: Ending | None = None

    def with_hand(self, seat: int, hand: Hand) -> "Passing":
        """Return the state with a seat's hand in place of the one it had."""
        return replace(self, hands=(*self.hands[:seat], hand, *self.hands[seat + 1 :]))

    @property
    def phase(self) -> Phase:
        """Return where the round is."""
        if not self.playing:
            return Phase.SETTLED if self.round else Phase.DEAL
        return Phase.FLIP if self.turn is None else Phase.DROP

    def bots_alone(self) -> bool:
        """Return whether none but bots are still in the round (JP-6)."""
        return all(map(self.is_bot, self.order))


Played = tuple[Passing, tuple[Event, ...]]


def own(seat: int, cards: tuple[Card, ...] = ()) -> Pile:
    """Return a pile that the seat alone sees."""
    return Pile(cards, Sight.OWNER, seat)


def empty_hand(seat: int) -> Hand:
    """Return what a seat has before its first round (JP-13)."""
    return Hand(own(seat), Memory(own(seat)))


def deal(state: Passing, at: int, chance: Chance) -> Played:
    """Take the antes (JP-2) and deal five cards to each taken seat, from the first one on (JP-1, JP-3, C-7)."""
    order = _seat_order(state)
    cards = chance.shuffle(pack(), "deal")
    used = HAND_SIZE * len(order)
    state = replace(
        state,
        round=state.round + 1,
        playing=True,
        hands=tuple(_cleared(hand, seat) for seat, hand in enumerate(state.hands)),
        order=order,
        first=order[0],
        pass_number=1,
        turn=order[0],
        since=at,
        jackpot=state.house.ante * len(order),
        stock=FULL_STOCK.holding(cards[used:]),
        discards=DISCARDS,
        shuffles=0,
        ending=None,
    )
    for place, seat in enumerate(order):
        state = _dealt_in(state, seat, cards[HAND_SIZE * place : HAND_SIZE * (place + 1)])
    facts = {"ante": state.house.ante}
    return state, tuple(Event("dealt", seat, facts, {"cards": state.hands[seat].cards}) for seat in order)


def drop(state: Passing, seat: int, positions: tuple[int, ...], at: int, chance: Chance) -> Played:
    """Drop cards at their price, deal as many back, and pass the turn on (JP-4, JP-5)."""
    hand, cost = state.hands[seat], state.house.card_value * len(positions)
    dropped = tuple(hand.cards.cards[position] for position in sorted(positions))
    state, drawn, shuffled = _taken(state, len(dropped), chance)
    hand = replace(
        hand.paying(cost),
        cards=hand.cards.holding(_refilled(hand.cards.cards, positions, drawn)),
        drops=Memory(own(seat, hand.drops.pile.cards + dropped)),
        dropped=(*hand.dropped, len(dropped)),
    )
    state = replace(_laid(state, dropped), jackpot=state.jackpot + cost).with_hand(seat, hand)
    facts = {"pass": state.pass_number, "count": len(dropped), "jackpot": state.jackpot}
    events = [Event("dropped", seat, facts, {"cards": own(seat, dropped)}), *shuffled]
    if drawn:
        events.append(Event("drawn", seat, {"count": len(drawn)}, {"cards": own(seat, drawn)}))
    state, passed = _passed_on(state, at)
    return state, (*events, *passed)


def lapse(state: Passing, at: int, chance: Chance) -> Played:
    """Drop nothing for the seat whose time is over (JP-16)."""
    seat = state.turn
    if seat is None:
        return state, ()
    state, events = drop(state, seat, (), at, chance)
    return state, (Event("lapsed", seat), *events)


def flip(state: Passing, chance: Chance) -> Played:
    """Show all hands; the best takes the jackpot, by a card draw where several are (JP-6, JP-10)."""
    worth = {seat: category(state.hands[seat].cards.cards, wheel=state.house.wheel) for seat in state.order}
    events = []
    for seat in state.order:
        hand = state.hands[seat]
        hand = replace(hand, cards=hand.cards.seen_by(Sight.EVERYONE))
        state = state.with_hand(seat, hand)
        facts = {"category": worth[seat], "category_name": worth[seat].title}
        events.append(Event("flipped", seat, facts, {"cards": hand.cards}))
    best = tuple(seat for seat in state.order if worth[seat] == max(worth.values()))
    if len(best) == 1:
        state, settled = _settled(state, Ending(best[0], By.HAND, (), (), state.jackpot))
        return state, (*events, *settled)
    state, settled = _card_draw(state, best, chance)
    return state, (*events, *settled)


def out(state: Passing, seat: int, at: int) -> Played:
    """Take a seat out of the round: its cards go face down, its money stays, the rest go on (JP-15)."""
    if not state.playing or seat not in state.order:
        return state, ()
    hand = state.hands[seat]
    state = _laid(state, hand.cards.cards).with_hand(seat, replace(hand, cards=own(seat)))
    state = replace(state, order=tuple(other for other in state.order if other != seat))
    if len(state.order) == 1:
        return _settled(state, Ending(state.order[0], By.LAST, (), (), state.jackpot))
    if state.phase is Phase.DROP:
        return _passed_on(state, at)
    # The flip that bots alone make at once is not to come before the move that left them alone.
    return (replace(state, since=at) if state.bots_alone() else state), ()


def _seat_order(state: Passing) -> tuple[int, ...]:
    """Return the taken seats from the one that drops first: the next after the last round's (JP-3)."""
    start = state.house.first_seat if state.first is None else state.first + 1
    return tuple(sorted(state.taken(), key=lambda seat: (seat - start) % len(state.hands)))


def _cleared(hand: Hand, seat: int) -> Hand:
    """Return a seat's hand without the last round's cards and drops."""
    return replace(hand, cards=own(seat), drops=Memory(own(seat)), dropped=(), owes=0)


def _dealt_in(state: Passing, seat: int, cards: tuple[Card, ...]) -> Passing:
    hand = state.hands[seat].paying(state.house.ante)
    return state.with_hand(seat, replace(hand, cards=hand.cards.holding(cards), rounds=hand.rounds + 1))


def _taken(state: Passing, count: int, chance: Chance) -> tuple[Passing, tuple[Card, ...], tuple[Event, ...]]:
    """Take cards off the stock; where it is short, the discard pile is shuffled into a new one (JP-5)."""
    cards, stock = state.stock.take(count)
    if len(cards) == count:
        return replace(state, stock=stock), cards, ()
    shuffled = stock.holding(chance.shuffle(state.discards.cards, "reshuffle"))
    rest, stock = shuffled.take(count - len(cards))
    state = replace(state, stock=stock, discards=DISCARDS, shuffles=state.shuffles + 1)
    return state, cards + rest, (Event("shuffled", None, {"count": len(shuffled)}),)


def _laid(state: Passing, cards: tuple[Card, ...]) -> Passing:
    """Lay cards on the discard pile, the first of them on top."""
    return replace(state, discards=state.discards.holding(cards + state.discards.cards))


def _refilled(cards: tuple[Card, ...], positions: tuple[int, ...], drawn: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return a hand with drawn cards in the freed places, in ascending order (C-7)."""
    filled = dict(zip(sorted(positions), drawn, strict=True))
    return tuple(filled.get(position, card) for position, card in enumerate(cards))


def _passed_on(state: Passing, at: int) -> Played:
    """Give the turn to the next who has not dropped in this pass; end the passes where that is due (JP-3, JP-15)."""
    waiting = [seat for seat in state.order if len(state.hands[seat].dropped) < state.pass_number]
    if waiting:
        return (state if waiting[0] == state.turn else replace(state, turn=waiting[0], since=at)), ()
    dropped = any(state.hands[seat].dropped[-1] for seat in state.order)
    if dropped and state.pass_number < PASSES:
        return replace(state, pass_number=state.pass_number + 1, turn=state.order[0], since=at), ()
    over = Event("passes-over", None, {"passes": state.pass_number})
    return replace(state, turn=None, since=at), (over,)


def _card_draw(state: Passing, tied: tuple[int, ...], chance: Chance) -> Played:
    """Draw a card for each tied seat, again for those tied for the highest, until one is left (JP-11)."""
    draws: list[tuple[Memory, ...]] = []
    events: list[Event] = []
    left = tied
    while len(left) > 1:
        state, cards, shuffled = _taken(state, len(left), chance)
        shown = tuple(Pile((card,), Sight.EVERYONE, seat) for seat, card in zip(left, cards, strict=True))
        draws.append(tuple(map(Memory, shown)))
        facts = {"draw": len(draws)}
        events += [*shuffled, *(Event("card-draw", pile.owner, facts, {"cards": pile}) for pile in shown)]
        state = _laid(state, cards)
        highest = max(map(rank, cards))
        left = tuple(seat for seat, card in zip(left, cards, strict=True) if rank(card) == highest)
    state, settled = _settled(state, Ending(left[0], By.DRAW, tied, tuple(draws), state.jackpot))
    return state, (*events, *settled)


def _settled(state: Passing, ending: Ending) -> Played:
    """Pay the whole jackpot to the winner and end the round (JP-12)."""
    hand = state.hands[ending.winner]
    hand = replace(hand, balance=hand.balance + ending.payout, won=hand.won + 1)
    state = replace(state, playing=False, turn=None, jackpot=0, ending=ending)
    facts = {"by": ending.by, "tied": list(ending.tied), "payout": ending.payout}
    return state.with_hand(ending.winner, hand), (Event("settled", ending.winner, facts),)
