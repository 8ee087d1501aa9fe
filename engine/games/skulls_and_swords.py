"""Skulls & Swords: one seat collects thirty cards of six suits (SK-1 … SK-19).

Fifteen times `deal` shows five cards and `choose` keeps two of them, which fill the collection's
thirty places (SK-4). Kept bonus cards (SK-7) and drinks (SK-8) bring drinks into the game deck; what
a drink is worth is known, but not whether it counts for or against (SK-10). `swap` orders the
collection at any time (SK-11), `confirm` ends that (SK-12), `wager` guesses what the drinks come
to (SK-13), and `evaluate` scores six rows of five (SK-14). Amounts are points.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from engine.cards import Card, Face, face
from engine.fields import CLIENT_SEED, Amount, Choice, Option, Options, Positions, Shape
from engine.game import Action, Event, Illegal, Move, Offer, Score, Spec, Standing, State, must_be_from
from engine.games.skulls_and_swords_table import HANDS, Decks, Phase, Sheet, Table, Totals, drawn, told
from engine.games.skulls_and_swords_values import (
    BONUS,
    BONUS_BRINGS,
    BONUS_PILE,
    COCKTAIL_DECK,
    DEAL_IN_DECK,
    DRINKS,
    GAME_DECKS,
    PLACES,
    ROW_SIZE,
    Poured,
    Result,
    appraise,
    count_bonuses,
    decks_info,
    is_drink,
    points_info,
    score_row,
)
from engine.piles import Look, Pile, Sight
from engine.shuffle import Chance

HAND_SIZE, KEPT = 5, 2
MOST_WAGER = 1_000_000


class Use(StrEnum):
    """What the chance of a round is used for: every shuffle, by its label (C-7)."""

    COCKTAIL = "cocktail"
    """The Cocktail Deck, at the start of the round (SK-3)."""
    DEAL_IN = "deal-in"
    """The Deal-In deck, after it (SK-3)."""
    HAND = "hand"
    """The game deck, before every hand (SK-4)."""
    BONUS = "bonus"
    """The game deck, after a kept bonus card (SK-7)."""
    DRINK_COCKTAIL = "drink-cocktail"
    """The Cocktail Deck, half-way through a kept drink (SK-8)."""
    DRINK_GAME = "drink-game"
    """The game deck, after a kept drink (SK-8)."""


HAND = Pile(sight=Sight.EVERYONE, owner=0)
COLLECTION = Pile(sight=Sight.EVERYONE, owner=0)
OUT_OF_GAME = Pile(sight=Sight.EVERYONE)

OPTIONS = Options(
    (
        Option(
            Choice("twos", (False, True)),
            False,
            "Whether the game deck has the six twos: 83 cards in place of 77 (SK-1).",
        ),
    )
)


class House(Struct, frozen=True):
    """The options, typed."""

    twos: bool


ARRANGEABLE = (Phase.DEAL, Phase.CHOOSE, Phase.ARRANGE)
"""When cards may be swapped: at any time of a round before `confirm` (SK-11)."""


class Collecting(State, frozen=True, kw_only=True, tag="skulls-and-swords"):
    """The state; drinks carry their sign (`MA-`), which no face shows (SK-10).

    `result` is that of the last evaluated round, also while a later one is in play.
    """

    house: House
    phase: Phase = Phase.DEAL
    hand_number: int = 0
    game: Pile = GAME_DECKS[False]
    bonuses: Pile = BONUS_PILE
    cocktail: Pile = COCKTAIL_DECK
    deal_in: Pile = DEAL_IN_DECK
    hand: Pile = HAND
    collection: Pile = COLLECTION
    out: Pile = OUT_OF_GAME
    wager: int | None = None
    result: Result | None = None
    totals: Totals = Totals()


TWO_OF_HAND = Positions("cards", tuple(range(HAND_SIZE)), KEPT, KEPT)
AMOUNT = Amount("amount", 0, MOST_WAGER)

ALREADY_CONFIRMED = "The collection is confirmed: its order stands."
ALREADY_EVALUATED = "The round is evaluated: deal to start the next one."
FILL_FIRST = "The collection is not full: thirty cards are kept in fifteen hands."
WAITS = {
    ("deal", Phase.CHOOSE): "A hand lies open: keep two of its cards first.",
    ("deal", Phase.ARRANGE): "All fifteen hands are dealt: confirm the collection.",
    ("deal", Phase.CONFIRMED): "All fifteen hands are dealt: evaluate the collection.",
    ("choose", Phase.DEAL): "No hand lies open: deal one first.",
    ("choose", Phase.ARRANGE): "All fifteen hands are played: confirm the collection.",
    ("choose", Phase.CONFIRMED): ALREADY_CONFIRMED,
    ("choose", Phase.EVALUATED): ALREADY_EVALUATED,
    ("swap", Phase.CONFIRMED): ALREADY_CONFIRMED,
    ("swap", Phase.EVALUATED): ALREADY_EVALUATED,
    ("confirm", Phase.DEAL): FILL_FIRST,
    ("confirm", Phase.CHOOSE): FILL_FIRST,
    ("confirm", Phase.CONFIRMED): ALREADY_CONFIRMED,
    ("confirm", Phase.EVALUATED): ALREADY_EVALUATED,
    ("wager", Phase.DEAL): "A wager comes after the collection is confirmed.",
    ("wager", Phase.CHOOSE): "A wager comes after the collection is confirmed.",
    ("wager", Phase.ARRANGE): "A wager comes after the collection is confirmed.",
    ("wager", Phase.EVALUATED): ALREADY_EVALUATED,
    ("evaluate", Phase.DEAL): FILL_FIRST,
    ("evaluate", Phase.CHOOSE): FILL_FIRST,
    ("evaluate", Phase.ARRANGE): "The collection must be confirmed before it is evaluated.",
    ("evaluate", Phase.EVALUATED): ALREADY_EVALUATED,
}
"""Why a verb must wait in a phase (SK-4, SK-11 … SK-14)."""


class SkullsAndSwords:
    """The rules of Skulls & Swords."""

    state_type = Collecting
    spec = Spec(
        slug="skulls-and-swords",
        title="Skulls & Swords",
        summary="Keep two cards of each of fifteen hands, mind the drinks, and arrange six rows of five.",
        rules_version=1,
        seats=(1, 1),
        verbs={
            "deal": (Shape((CLIENT_SEED,)),),
            "choose": (Shape((TWO_OF_HAND,)),),
            "swap": (Shape((Positions("positions", tuple(range(PLACES)), 2, 2),)),),
            "confirm": (Shape(),),
            "wager": (Shape((AMOUNT,)),),
            "evaluate": (Shape(),),
        },
        options=OPTIONS,
        events=(
            "dealt",
            "kept",
            "moved",
            "swapped",
            "confirmed",
            "wagered",
            "row",
            "bonuses",
            "drinks",
            "wager-settled",
            "settled",
            "left",
        ),
        reveals=("dealt", "drinks"),
        scored="points",
        bound=2 * HANDS + 2,
    )

    def open(self, options: dict[str, Any], seats: int) -> Collecting:
        """Lay out the decks; they are shuffled when the round begins."""
        return _laid_out(Collecting(house=convert(options, House)))

    def offers(self, state: Collecting, seat: int) -> tuple[Offer, ...]:
        """Return the way on first: deal, choose, confirm, evaluate; then the wager, the swap."""
        offered = [_way_on(state)]
        if state.phase is Phase.CONFIRMED and _drink_kept(state):
            put = "Lay a wager" if state.wager is None else "Replace the wager by one"
            label = f"{put} of 0 to {MOST_WAGER:,} points on what the drinks come to"
            offered.append(Offer("wager", label, Shape((AMOUNT,)), {"amount": 10}))
        kept = len(state.collection)
        if kept > 1 and state.phase in ARRANGEABLE:
            two = Positions("positions", tuple(range(kept)), 2, 2)
            offered.append(
                Offer("swap", "Swap two kept cards, by their positions", Shape((two,)), {"positions": [0, 1]})
            )
        return tuple(offered)

    def host_offers(self, state: Collecting) -> tuple[Offer, ...]:
        """Return nothing: the player plays alone."""
        return ()

    def why_not(self, state: Collecting, seat: int, action: Action) -> str | None:
        """Return why the action must wait."""
        if (action.verb, state.phase) in WAITS:
            return WAITS[action.verb, state.phase]
        if action.verb == "deal" and state.playing and action.body:
            return "The round is begun: a seed of your own is for the next one."
        if action.verb == "swap" and len(state.collection) <= 1:
            return "A swap needs two kept cards."
        if action.verb == "wager" and not _drink_kept(state):
            return "No drink was kept in this round, so there is nothing to wager on."
        return None

    def play(self, state: Collecting, move: Move, chance: Chance) -> tuple[Collecting, tuple[Event, ...]]:
        """Play one of the verbs."""
        body = move.action.body
        match move.action.verb:
            case "deal":
                return _deal(state if state.playing else _begun(state, chance), chance)
            case "choose":
                return _choose(state, tuple(body["cards"]), chance)
            case "swap":
                return _swap(state, *body["positions"])
            case "confirm":
                return replace(state, phase=Phase.CONFIRMED), (Event("confirmed", 0),)
            case "wager":
                return replace(state, wager=body["amount"]), (Event("wagered", 0, {"amount": body["amount"]}),)
            case _:
                return _evaluate(state)

    def may_leave(self, state: Collecting, seat: int) -> bool:
        """Nothing is at stake: the seat may leave at any time."""
        return True

    def leave(self, state: Collecting, move: Move, chance: Chance) -> tuple[Collecting, tuple[Event, ...]]:
        """End the session; an open round stays unscored (C-10)."""
        return state, (Event("left", move.seat),)

    def due(self, state: Collecting) -> None:
        """Nothing here waits for a clock."""

    def to_act(self, state: Collecting, seat: int) -> bool:
        """Only the player moves: the table always waits for him."""
        return True

    def table(self, state: Collecting, look: Look) -> Table:
        """Return the table; the result stays in view until the next round begins."""
        kept = look(state.collection)
        return Table(
            phase=state.phase,
            hand_number=state.hand_number,
            hand=look(state.hand),
            collection=kept + (None,) * (PLACES - len(kept)),
            decks=Decks(len(state.game) + len(state.bonuses), len(state.cocktail), len(state.deal_in)),
            wager=state.wager,
            result=state.result if state.phase is Phase.EVALUATED else None,
            totals=state.totals,
        )

    def score(self, state: Collecting, look: Look) -> Score:
        """Return the last evaluated round (SK-14, SK-19); raise `Illegal` while there is none."""
        result = state.result
        if result is None:
            raise Illegal("not-evaluated", "No round has been evaluated yet.")
        sheet = Sheet(result, state.totals)
        return Score(state.totals.rounds, final=True, standings=(Standing(0, 1, result.total),), sheet=sheet)

    def piles(self, state: Collecting) -> tuple[Pile, ...]:
        """Return all seven: 169 cards, or 175 with the twos."""
        decks = state.game, state.bonuses, state.cocktail, state.deal_in
        return *decks, state.hand, state.collection, state.out

    def info(self) -> dict[str, Any]:
        """Return what "See Decks" and "See Point Values" show (SK-2, C-13)."""
        return {"decks": decks_info(), **points_info()}

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return what a row of five is worth; a drink's points have no sign here (C-12)."""
        house = convert(options, House)
        decks = GAME_DECKS[house.twos], BONUS_PILE, COCKTAIL_DECK, DEAL_IN_DECK
        must_be_from([face(card) for deck in decks for card in deck.cards], cards, ROW_SIZE)
        row = score_row(tuple(map(Face, cards)))
        drinks = [Poured(place, each, DRINKS[each].value) for place, each in enumerate(row.cards) if is_drink(each)]
        return {
            "combination": row.combination,
            "points": row.points,
            "bonuses": to_builtins(count_bonuses(row.cards)),
            "drinks": to_builtins(drinks),
        }

    def draw(self, shown: Table | Sheet) -> list[str]:
        """Return the table or the score sheet as text."""
        return drawn(shown)

    def tell(self, event: Mapping[str, Any]) -> str | None:
        """Return what a kept bonus card or drink has moved, which no table shows."""
        return told(event) if event["type"] == "moved" else None


def _laid_out(state: Collecting) -> Collecting:
    """Return the table before a round: full decks, nothing kept, the totals as they were."""
    fresh = Collecting(house=state.house, held=state.held, game=GAME_DECKS[state.house.twos])
    return replace(fresh, round=state.round, result=state.result, totals=state.totals)


def _begun(state: Collecting, chance: Chance) -> Collecting:
    """Return a new round, both cocktail decks shuffled (SK-3)."""
    fresh = replace(_laid_out(state), round=state.round + 1, playing=True)
    fresh = _shuffled(fresh, "cocktail", Use.COCKTAIL, chance)
    return _shuffled(fresh, "deal_in", Use.DEAL_IN, chance)


def _way_on(state: Collecting) -> Offer:
    """Return the offer that carries the round forward."""
    match state.phase:
        case Phase.DEAL if state.playing:
            return Offer("deal", f"Show hand {state.hand_number + 1} of {HANDS}")
        case Phase.DEAL | Phase.EVALUATED:
            return Offer("deal", f"Start round {state.round + 1}: show its first hand", Shape((CLIENT_SEED,)))
        case Phase.CHOOSE:
            return Offer(
                "choose", "Keep two of the five cards, by their positions", Shape((TWO_OF_HAND,)), {"cards": [0, 1]}
            )
        case Phase.ARRANGE:
            return Offer("confirm", "Confirm the collection: no swap after it")
        case Phase.CONFIRMED:
            return Offer("evaluate", "Evaluate the six rows, the bonus cards and the drinks")


def _deal(state: Collecting, chance: Chance) -> tuple[Collecting, tuple[Event, ...]]:
    """Shuffle the game deck and show five cards, the first a bonus card while they last (SK-4, SK-5)."""
    first, bonuses = state.bonuses.take(1)
    state = _shuffled(state, "game", Use.HAND, chance)
    others, game = state.game.take(HAND_SIZE - len(first))
    number = state.hand_number + 1
    hand = HAND.holding(first + others)
    dealt = replace(state, phase=Phase.CHOOSE, hand_number=number, bonuses=bonuses, game=game, hand=hand)
    return dealt, (Event("dealt", 0, {"hand_number": number}, {"hand": hand}),)


def _choose(state: Collecting, positions: tuple[int, ...], chance: Chance) -> tuple[Collecting, tuple[Event, ...]]:
    """Put back what is not kept, then let the kept cards take effect in the order given (SK-6, SK-9)."""
    kept = HAND.holding(tuple(state.hand.cards[position] for position in positions))
    left = [card for place, card in enumerate(state.hand.cards) if place not in positions]
    returned = tuple(card for card in left if card != BONUS)
    out = tuple(card for card in left if card == BONUS)
    state = replace(
        state,
        phase=Phase.ARRANGE if state.hand_number == HANDS else Phase.DEAL,
        hand=HAND,
        game=state.game.holding(state.game.cards + returned),
        out=state.out.holding(state.out.cards + out),
        collection=state.collection.holding(state.collection.cards + kept.cards),
    )
    facts = {"positions": list(positions), "returned": len(returned), "out_of_game": len(out)}
    events: tuple[Event, ...] = (Event("kept", 0, facts, {"cards": kept}),)
    for card in kept.cards:
        state, moved = _take_effect(state, card, chance)
        events += moved
    return state, events


def _take_effect(state: Collecting, card: Card, chance: Chance) -> tuple[Collecting, tuple[Event, ...]]:
    """Move the cards that a kept bonus card (SK-7) or drink (SK-8) moves."""
    if card == BONUS:
        state, brought = _moved(state, "cocktail", "game", BONUS_BRINGS)
        return _shuffled(state, "game", Use.BONUS, chance), (brought,)
    if not is_drink(card):
        return state, ()
    drink = DRINKS[face(card)]
    state, dealt_in = _moved(state, "deal_in", "cocktail", drink.deals_in)
    state = _shuffled(state, "cocktail", Use.DRINK_COCKTAIL, chance)
    state, brought = _moved(state, "cocktail", "game", drink.brings)
    return _shuffled(state, "game", Use.DRINK_GAME, chance), (dealt_in, brought)


def _moved(state: Collecting, source: str, target: str, count: int) -> tuple[Collecting, Event]:
    """Move cards off the top of a deck, or what it has; the event names none of them (SK-9, SK-10)."""
    taken, rest = _deck(state, source).take(count)
    deck = _deck(state, target)
    moved = replace(state, **{source: rest, target: deck.holding(deck.cards + taken)})
    facts = {"from": source, "to": target, "count": len(taken), "missing": count - len(taken)}
    return moved, Event("moved", 0, facts)


def _shuffled(state: Collecting, name: str, use: Use, chance: Chance) -> Collecting:
    deck = _deck(state, name)
    return replace(state, **{name: deck.holding(chance.shuffle(deck.cards, use))})


def _deck(state: Collecting, name: str) -> Pile:
    deck: Pile = getattr(state, name)
    return deck


def _swap(state: Collecting, one: int, other: int) -> tuple[Collecting, tuple[Event, ...]]:
    """Exchange two cards of the collection (SK-11)."""
    kept = list(state.collection.cards)
    kept[one], kept[other] = kept[other], kept[one]
    swapped = replace(state, collection=state.collection.holding(tuple(kept)))
    return swapped, (Event("swapped", 0, {"positions": [one, other]}),)


def _drink_kept(state: Collecting) -> bool:
    return any(map(is_drink, state.collection.cards))


def _evaluate(state: Collecting) -> tuple[Collecting, tuple[Event, ...]]:
    """Score the collection, end the round and keep its sheet (SK-14, SK-18, SK-19)."""
    result = appraise(state.collection.cards, state.wager)
    totals = state.totals.adding(result.total)
    settled = replace(state, phase=Phase.EVALUATED, playing=False, result=result, totals=totals)
    return settled, (*_told(result), Event("settled", 0, {"total": result.total}))


def _told(result: Result) -> list[Event]:
    """Return the evaluation as events, in the order of SK-14."""
    events = [
        Event("row", 0, {"row": number, **to_builtins(row), "cards": list(row.cards)})
        for number, row in enumerate(result.rows)
    ]
    events.append(Event("bonuses", 0, to_builtins(result.bonuses)))
    events.append(Event("drinks", 0, {"drinks": to_builtins(list(result.drinks)), "net": result.net}))
    if result.wager:
        events.append(Event("wager-settled", 0, to_builtins(result.wager)))
    return events
