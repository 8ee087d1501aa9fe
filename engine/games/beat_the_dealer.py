"""Beat the Dealer: two to twelve seats guess the dealer's top card, and whoever misses drinks (BD-1 … BD-16).

`deal` shuffles a deck, and the dealer alone sees its top card (BD-3). `choose` guesses that card's rank, at most twice
a turn, with a hint in between (BD-4); whoever lost the turn drinks (BD-5), the card is laid, and the next seat guesses.
Three lost turns in a row pass the dealer's role on (BD-7). The round ends with the deck, or by the host's `evaluate`
(BD-9). Drinks are in units: sips, or points for a dry table (BD-8).
"""

from collections.abc import Mapping
from typing import Any

from msgspec import convert

from engine.cards import pack
from engine.fields import CLIENT_SEED, Amount, Choice, Option, Options, Shape
from engine.game import PERSON, Action, Due, Event, Illegal, Invalid, Move, Offer, Score, Spec, Standing, ranked, sooner
from engine.games.beat_the_dealer_danish import DANISH
from engine.games.beat_the_dealer_ranks import COPIES, LOWEST, RANKS, likeliest, unseen
from engine.games.beat_the_dealer_round import (
    LEAST_SEATS,
    MOST_SEATS,
    Guessing,
    House,
    Played,
    Tally,
    deal,
    end,
    guess,
    lapse,
    longest,
    out,
)
from engine.games.beat_the_dealer_table import (
    HINTS,
    UNITS,
    LastTurn,
    Phase,
    PileView,
    Reason,
    Result,
    Sheet,
    Table,
    TallyView,
    drawn,
    drawn_sheet,
    name,
    told,
)
from engine.phrases import phrase
from engine.piles import Look, Pile
from engine.shuffle import Chance

TITLE = "Beat the Dealer"
SUMMARY = "Guess the dealer's hidden card in two guesses; whoever misses drinks, and who is guessed drinks more."
LAPSE = Action("lapse")

OPTIONS = Options(
    (
        Option(Amount("first_dealer", 0, MOST_SEATS - 1), 0, "The seat that deals first (BD-2)."),
        Option(Choice("units", UNITS), UNITS[0], "What is drunk: sips, or points for a game without drinks (BD-8)."),
        Option(Amount("max_sips", 1, len(RANKS)), None, "The most that one drink comes to; left out: no cap (BD-8)."),
        Option(
            Amount("turn_seconds", 5, 3600),
            None,
            "Seconds after which a turn is lost, anew from the first guess; left out: no limit (BD-13).",
        ),
        Option(Amount("bot_ms", 0, 10_000), 1000, "How long a bot takes over each guess, in ms (C-11)."),
    )
)

GUESS = Shape((Choice("rank", tuple(RANKS)),))
DEAL = Shape((CLIENT_SEED,))


class BeatTheDealer:
    """The rules of Beat the Dealer."""

    state_type = Guessing
    spec = Spec(
        slug="beat-the-dealer",
        title=TITLE,
        summary=SUMMARY,
        rules_version=1,
        seats=(LEAST_SEATS, MOST_SEATS),
        verbs={"deal": (DEAL,), "choose": (GUESS,), "evaluate": (Shape(),)},
        options=OPTIONS,
        events=("dealt", "turn", "guessed", "revealed", "drank", "dealer", "settled", "left"),
        reveals=("turn", "guessed", "revealed", "dealer"),
        scored=phrase("turns as dealer"),
        bound=1 + 2 * len(pack()),
        hosts=("deal", "evaluate"),
        dictionaries={"da": DANISH},
    )

    def open(self, options: dict[str, Any], seats: int) -> Guessing:
        """Give every seat an empty tally; raise `Invalid` for a first dealer not there (BD-2)."""
        house = convert(options, House)
        if house.first_dealer >= seats:
            raise Invalid(phrase("first_dealer must be one of the {seats} seats", seats=seats), "/options/first_dealer")
        return Guessing(house=house, dealer=house.first_dealer, guesser=house.first_dealer, tallies=(Tally(),) * seats)

    def offers(self, state: Guessing, seat: int) -> tuple[Offer, ...]:
        """Return the one way on: deal, or guess in turn; the example is the likeliest rank by what all can see."""
        if not state.playing:
            label = phrase("Deal round {round}", round=state.round + 1)
            return (Offer("deal", label, DEAL),) if _can_deal(state) else ()
        if seat != state.guesser:
            return ()
        first = state.guesses[0] if state.guesses else None
        label = phrase("Guess the rank of the dealer's top card")
        if first and first.hint:
            label = phrase(
                "Guess again: {rank} was wrong, the card is {hint}", rank=name(first.rank), hint=HINTS[first.hint]
            )
        return (Offer("choose", label, GUESS, {"rank": likeliest(unseen(map(len, state.piles), first))}),)

    def host_offers(self, state: Guessing) -> tuple[Offer, ...]:
        """Return the deal, which leaves open seats out of the session, or the end of the round (BD-9)."""
        if state.playing:
            return (Offer("evaluate", phrase("End the round for everyone; the turn in progress is void")),)
        label = phrase("Deal round {round}; seats still open are closed", round=state.round + 1)
        return (Offer("deal", label),) if _can_deal(state) else ()

    def why_not(self, state: Guessing, seat: int, action: Action) -> str | None:
        """Return why the action must wait."""
        match action.verb:
            case "deal" if state.playing:
                return phrase("A round is in play: it ends with the deck, or when the host ends it.")
            case "deal":
                return phrase("A round needs {least} seats that somebody holds.", least=LEAST_SEATS)
            case "choose" | "evaluate" if not state.playing:
                return phrase("No round is in play: deal first.")
            case "evaluate":
                return phrase("Only the host can end the round.")
            case "choose":
                return _why_no_guess(state, seat)
        return None

    def play(self, state: Guessing, move: Move, chance: Chance) -> Played:
        """Play a deal, a guess, the host's end of the round, or the lapse of a turn."""
        match move.action.verb:
            case "deal":
                return deal(state, move.at, chance)
            case "choose":
                return guess(state, move.action.body["rank"], move.at)
            case "evaluate":
                return end(state, Reason.ENDED)
            case _:
                return lapse(state, move.at)

    def may_leave(self, state: Guessing, seat: int) -> bool:
        """Return true: a seat may leave at any time (BD-9)."""
        return True

    def leave(self, state: Guessing, move: Move, chance: Chance) -> Played:
        """Take the seat out of the turn order; its tally stays (BD-9, BD-10)."""
        left = Event("left", move.seat)
        if move.seat is None:
            return state, (left,)
        state, events = out(state, move.seat, move.at)
        return state, (left, *events)

    def due(self, state: Guessing) -> Due | None:
        """Return the lapse of a turn (BD-13) or a bot's guess; of both at one moment the lapse."""
        if not state.playing:
            return None
        seconds, guesser = state.house.turn_seconds, state.guesser
        over = Due(state.since + 1000 * seconds, action=LAPSE) if seconds else None
        return sooner(over, Due(state.since + state.house.bot_ms, guesser) if state.is_bot(guesser) else None)

    def to_act(self, state: Guessing, seat: int) -> bool:
        """Return whether the seat is to guess, or may deal."""
        if state.playing:
            return seat == state.guesser
        return _can_deal(state) and state.held[seat] == PERSON

    def table(self, state: Guessing, look: Look) -> Table:
        """Return the table; the top card is the dealer's alone to see (BD-3)."""
        return Table(
            phase=_phase(state),
            units=state.house.units,
            max_sips=state.house.max_sips,
            players=state.players,
            dealer=state.dealer,
            dealer_turns=state.reign,
            guesser=state.guesser if state.playing else None,
            guesses=state.guesses,
            top_card=next(iter(look(state.top)), None),
            piles=tuple(map(_pile, RANKS, state.piles)),
            deck=len(state.deck) + len(state.top),
            streak=state.streak,
            last_turn=_last_turn(state, look),
            tallies=_tallies(state),
            result=_result(state),
        )

    def score(self, state: Guessing, look: Look) -> Score:
        """Return all tallies, the seats by their longest time as dealer; equals share a place (BD-11)."""
        sheet = Sheet(
            units=state.house.units,
            max_sips=state.house.max_sips,
            dealer=state.dealer,
            dealer_turns=state.reign,
            tallies=_tallies(state),
            longest=longest(state),
            result=_result(state),
        )
        final = bool(state.round) and not state.playing
        return Score(state.round, final, _standings(state), sheet)

    def piles(self, state: Guessing) -> tuple[Pile, ...]:
        """Return the deck, the top card and the thirteen piles: 52 cards."""
        return state.deck, state.top, *state.piles

    def info(self) -> dict[str, Any]:
        """Return the pack and the value of each rank (BD-1)."""
        ranks = [{"rank": rank, "value": number} for number, rank in enumerate(RANKS, LOWEST)]
        return {"decks": [{"name": "deck", "cards": list(pack())}], "ranks": ranks}

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Raise `Illegal`: no cards are worth anything here (C-12)."""
        raise Illegal("nothing-to-evaluate", phrase("In Beat the Dealer cards are guessed, and worth nothing."))

    def draw(self, shown: Table | Sheet) -> list[str]:
        """Return the table or the score sheet as text."""
        return drawn(shown) if isinstance(shown, Table) else drawn_sheet(shown)

    def tell(self, event: Mapping[str, Any]) -> str | None:
        """Return that the dealer's role has passed on, and why."""
        return told(event)


def _can_deal(state: Guessing) -> bool:
    return not state.playing and len(state.taken()) >= LEAST_SEATS


def _why_no_guess(state: Guessing, seat: int) -> str | None:
    if seat == state.dealer:
        return phrase("The dealer does not guess: it is the turn of seat {seat}.", seat=state.guesser)
    if seat not in state.players:
        return phrase("This seat plays from the next round on.")
    return None if seat == state.guesser else phrase("It is the turn of seat {seat}.", seat=state.guesser)


def _phase(state: Guessing) -> Phase:
    if state.playing:
        return Phase.GUESS
    return Phase.SETTLED if state.round else Phase.DEAL


def _pile(rank: str, pile: Pile) -> PileView:
    return PileView(rank, len(pile), len(pile) == COPIES)


def _last_turn(state: Guessing, look: Look) -> LastTurn | None:
    """Return the turn that ended last; its card lies on its pile, on top."""
    turn = state.last_turn
    if turn is None:
        return None
    card = None if turn.laid is None else look(state.piles[RANKS.index(turn.laid)])[0]
    return LastTurn(turn.dealer, turn.guesser, turn.guesses, turn.outcome, card, turn.drinker, turn.amount)


def _tallies(state: Guessing) -> tuple[TallyView, ...]:
    """Return what every seat has come to."""
    return tuple(
        TallyView(
            seat=seat,
            drunk=tally.guessing + tally.dealing,
            drunk_as_guesser=tally.guessing,
            drunk_as_dealer=tally.dealing,
            won=tally.won,
            lost=tally.lost,
            longest_deal=tally.longest,
        )
        for seat, tally in enumerate(state.tallies)
    )


def _result(state: Guessing) -> Result | None:
    return None if state.ending is None else Result(state.ending, longest(state))


def _standings(state: Guessing) -> tuple[Standing, ...]:
    """Return the seats that are taken or have played, the longest dealer first."""
    tallies = enumerate(state.tallies)
    return ranked({seat: tally.longest for seat, tally in tallies if state.held[seat] or tally != Tally()})
