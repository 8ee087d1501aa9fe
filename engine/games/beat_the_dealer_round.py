"""Beat the Dealer: the state, and what happens in a round from the deal to its end.

Every function returns the state after it and the events of it. Drinks are in units (sips or points), times in ms.
"""

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import Card, pack
from engine.game import Event, State
from engine.games.beat_the_dealer_ranks import HIGHEST, LOWEST, RANKS, Guess, Hint, value
from engine.games.beat_the_dealer_table import Longest, Outcome, Reason
from engine.piles import Pile, Sight
from engine.shuffle import Chance

LEAST_SEATS, MOST_SEATS = 2, 12
MOST_LOST = 3
RIGHT = (Outcome.FIRST, Outcome.SECOND)
FULL_DECK = Pile(pack())
NO_TOP = Pile(sight=Sight.OWNER)
NO_PILES = (Pile(sight=Sight.EVERYONE),) * len(RANKS)


class House(Struct, frozen=True):
    """The options, typed."""

    first_dealer: int
    units: str
    max_sips: int | None
    turn_seconds: int | None
    bot_ms: int


class Tally(Struct, frozen=True):
    """What a seat has come to: units drunk in each role, turns as guesser, longest time as dealer in turns (BD-11)."""

    guessing: int = 0
    dealing: int = 0
    won: int = 0
    lost: int = 0
    longest: int = 0


class Turn(Struct, frozen=True):
    """A turn that has ended; `laid` is the rank of its card, `None` where that was not laid."""

    dealer: int
    guesser: int
    guesses: tuple[Guess, ...]
    outcome: Outcome
    laid: str | None = None
    drinker: int | None = None
    amount: int = 0


class Guessing(State, frozen=True, kw_only=True, tag="beat-the-dealer"):
    """The state; `guesser` is whose turn it is or was last, at the very first the dealer's own seat.

    `reign` counts the turns of the present dealer, `streak` the lost turns in a row. `since` is when the turn began,
    or its first guess went wrong.
    """

    house: House
    players: tuple[int, ...] = ()
    dealer: int = 0
    reign: int = 0
    guesser: int = 0
    guesses: tuple[Guess, ...] = ()
    since: int = 0
    streak: int = 0
    deck: Pile = FULL_DECK
    top: Pile = NO_TOP
    piles: tuple[Pile, ...] = NO_PILES
    tallies: tuple[Tally, ...] = ()
    last_turn: Turn | None = None
    ending: Reason | None = None

    def with_tally(self, seat: int, tally: Tally) -> "Guessing":
        """Return the state with a seat's tally in place of the one it had."""
        return replace(self, tallies=(*self.tallies[:seat], tally, *self.tallies[seat + 1 :]))


Played = tuple[Guessing, tuple[Event, ...]]


def deal(state: Guessing, at: int, chance: Chance) -> Played:
    """Shuffle the deck and begin the first turn; the dealer stays, or the next seat that is taken follows (BD-2)."""
    players = state.taken()
    dealer = _next(players, state.dealer - 1)
    state = replace(
        state,
        round=state.round + 1,
        playing=True,
        players=players,
        dealer=dealer,
        reign=state.reign if dealer == state.dealer else 0,
        streak=0,
        deck=FULL_DECK.holding(chance.shuffle(pack(), "deal")),
        piles=NO_PILES,
        last_turn=None,
        ending=None,
    )
    state, turn = _next_turn(state, at)
    return state, (Event("dealt", dealer, {"players": list(players)}), *turn)


def guess(state: Guessing, rank: str, at: int) -> Played:
    """Answer a guess: a wrong first one with a hint, any other by the turn's end (BD-4)."""
    apart = value(state.top.cards[0]) - value(rank)
    hint = None
    if apart and not state.guesses:
        hint = Hint.HIGHER if apart > 0 else Hint.LOWER
    guesses = (*state.guesses, Guess(rank, hint))
    told = Event("guessed", state.guesser, {"guess": len(guesses), "rank": rank, "hint": hint})
    state = replace(state, guesses=guesses, since=at)
    if hint:
        return state, (told,)
    outcome = Outcome.LOST if apart else RIGHT[len(guesses) - 1]
    state, events = _over(state, outcome, at)
    return state, (told, *events)


def lapse(state: Guessing, at: int) -> Played:
    """End the turn of a guesser whose time is over: it is lost (BD-13)."""
    return _over(state, Outcome.LAPSED, at)


def end(state: Guessing, reason: Reason) -> Played:
    """End the round; a turn in progress is void, and its card goes back on the deck, unseen (BD-9)."""
    if state.top.cards:
        state = replace(state, last_turn=Turn(state.dealer, state.guesser, state.guesses, Outcome.VOID))
    state = replace(
        state,
        playing=False,
        guesses=(),
        deck=state.deck.holding(state.top.cards + state.deck.cards),
        top=NO_TOP,
        ending=reason,
    )
    named = longest(state)
    facts = {"reason": reason, "longest": {"turns": named.turns, "seats": list(named.seats)}}
    return state, (Event("settled", None, facts),)


def out(state: Guessing, seat: int, at: int) -> Played:
    """Take a seat out: a dealer's role passes at once, a guesser's turn is void (BD-9, BD-10)."""
    state = replace(state, players=tuple(other for other in state.players if other != seat))
    events: tuple[Event, ...] = ()
    if state.playing and len(state.players) < LEAST_SEATS:
        state, events = end(state, Reason.SEATS)
    if seat == state.dealer:
        state, passed = _inherited(state, seat)
        events += passed
    if state.playing and seat == state.guesser:
        state, over = _over(state, Outcome.LEFT, at)
        events += over
    return state, events


def longest(state: Guessing) -> Longest:
    """Return who has been dealer for most turns on end (BD-11)."""
    turns = max(tally.longest for tally in state.tallies)
    seats = tuple(seat for seat, tally in enumerate(state.tallies) if turns and tally.longest == turns)
    return Longest(turns, seats)


def drink(outcome: Outcome, card: int, guesses: tuple[Guess, ...], most: int | None) -> int:
    """Return what a turn costs whoever drinks, in units, for a card of that value (BD-5, BD-8, BD-13)."""
    match outcome:
        case Outcome.FIRST:
            amount = card
        case Outcome.SECOND:
            amount = (card + 1) // 2
        case Outcome.LOST:
            amount = abs(card - value(guesses[-1].rank))
        case Outcome.LAPSED:
            amount = max(card - LOWEST, HIGHEST - card)
        case _:
            return 0
    return amount if most is None else min(amount, most)


def _next(seats: tuple[int, ...], after: int, but: int | None = None) -> int:
    """Return the first of the seats after one, going round, leaving one of them out."""
    return min((seat for seat in seats if seat != but), key=lambda seat: (seat - after - 1) % MOST_SEATS)


def _next_turn(state: Guessing, at: int) -> Played:
    """Let the dealer look at the next card for the next guesser; with the deck used up the round ends (BD-3, BD-9)."""
    card, deck = state.deck.take(1)
    if not card:
        return end(state, Reason.DECK)
    state = replace(
        state,
        deck=deck,
        top=Pile(card, Sight.OWNER, state.dealer),
        guesser=_next(state.players, state.guesser, but=state.dealer),
        guesses=(),
        since=at,
    )
    return state, (Event("turn", state.guesser, {"dealer": state.dealer}, {"top_card": state.top}),)


def _over(state: Guessing, outcome: Outcome, at: int) -> Played:
    """Show the card and lay it, let somebody drink, pass the role on where that is due, and go on (BD-5 … BD-7)."""
    (card,) = state.top.cards
    shown = Event("revealed", state.guesser, {"outcome": outcome}, {"card": Pile((card,), Sight.EVERYONE)})
    state, drank = _drunk(_laid(state, card, outcome))
    state, passed = _passed_on(state)
    state, turn = _next_turn(state, at)
    return state, (shown, *drank, *passed, *turn)


def _laid(state: Guessing, card: Card, outcome: Outcome) -> Guessing:
    """Lay the top card on its rank's pile and write the turn down (BD-6)."""
    place = value(card) - LOWEST
    pile = state.piles[place]
    piles = (*state.piles[:place], pile.holding((card, *pile.cards)), *state.piles[place + 1 :])
    amount = drink(outcome, value(card), state.guesses, state.house.max_sips)
    drinker = (state.dealer if outcome in RIGHT else state.guesser) if amount else None
    turn = Turn(state.dealer, state.guesser, state.guesses, outcome, RANKS[place], drinker, amount)
    return replace(state, top=NO_TOP, piles=piles, last_turn=turn)


def _drunk(state: Guessing) -> Played:
    """Write the last turn into the tallies and counts; one where nobody drinks is void and counts nowhere (BD-11)."""
    turn = state.last_turn
    if turn is None or turn.drinker is None:
        return state, ()
    right, reign = turn.outcome in RIGHT, state.reign + 1
    mine, dealers = state.tallies[turn.guesser], state.tallies[turn.dealer]
    if right:
        mine = replace(mine, won=mine.won + 1)
        dealers = replace(dealers, dealing=dealers.dealing + turn.amount)
    else:
        mine = replace(mine, lost=mine.lost + 1, guessing=mine.guessing + turn.amount)
    dealers = replace(dealers, longest=max(dealers.longest, reign))
    state = state.with_tally(turn.guesser, mine).with_tally(turn.dealer, dealers)
    role = "dealer" if right else "guesser"
    drank = Event("drank", turn.drinker, {"as": role, "amount": turn.amount, "units": state.house.units})
    return replace(state, reign=reign, streak=0 if right else state.streak + 1), (drank,)


def _passed_on(state: Guessing) -> Played:
    """After three lost turns in a row pass the role to the next seat after the dealer (BD-7)."""
    if state.streak < MOST_LOST:
        return state, ()
    return _dealt_by(state, _next(state.players, state.dealer, but=state.dealer), "lost-turns")


def _inherited(state: Guessing, leaver: int) -> Played:
    """Pass a leaver's role to the next seat that is not guessing: it must never see that card (BD-10)."""
    seats = state.players if state.playing else state.taken()
    hidden_from = state.guesser if state.playing else leaver
    if not set(seats) - {hidden_from}:
        return state, ()
    return _dealt_by(state, _next(seats, leaver, but=hidden_from), "left")


def _dealt_by(state: Guessing, dealer: int, why: str) -> Played:
    """Make a seat the dealer, who sees the top card if one is being guessed; counts start anew (BD-7, BD-10)."""
    top = replace(state.top, owner=dealer) if state.top.cards else NO_TOP
    piles = {"top_card": top} if top.cards else {}
    state = replace(state, dealer=dealer, reign=0, streak=0, top=top)
    return state, (Event("dealer", dealer, {"why": why}, piles),)
