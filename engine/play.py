"""Open, advance, settle, replay, view: the only doors into and out of a game."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Union

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.fields import CLIENT_SEED, Shape
from engine.game import Action, Event, Game, Illegal, Invalid, Move, NotYours, Offer, Score, State
from engine.games import GAMES
from engine.piles import Viewer, look_as
from engine.shuffle import Chance, commitment, round_seed

if TYPE_CHECKING:
    AnyState = State
else:  # one typed codec for every game: each state carries its game's slug as its tag
    AnyState = Union[tuple(game.state_type for game in GAMES.values())]  # noqa: UP007

LEAVE = Offer("leave", "Leave the table for good")
SEED = Offer(
    "seed",
    "Add a seed of your own to the next round's shuffles",
    Shape((replace(CLIENT_SEED, required=True),)),
    {"client_seed": "my own luck"},
)
COMMON_VERBS = {offer.verb: (offer.shape,) for offer in (SEED, LEAVE)}


class Seat(Struct, frozen=True):
    """A place at the table; `level` is a bot's."""

    name: str
    kind: str = "person"
    level: str | None = None
    left: bool = False


class Position(Struct, frozen=True):
    """Where a session's game stands: all that its next move depends on."""

    game: str
    session: str
    secret: bytes
    seats: tuple[Seat, ...]
    state: AnyState
    counters: dict[str, int] = {}
    client_seeds: tuple[str, ...] = ()
    next_client_seeds: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """A move and what came of it."""

    move: Move
    events: tuple[Event, ...]
    position: Position


class View(Struct, frozen=True):
    """What a viewer may know of a position."""

    status: str
    reason: str | None
    round: int
    seats: tuple[dict[str, Any], ...]
    table: Struct
    commitment: str | None
    next_commitment: str | None
    deadline_at: int | None


Bot = Callable[[View, tuple[Offer, ...]], Action]
"""Chooses from its seat's own view; handed in by level, so that play depends on no bot."""


def game_of(position: Position) -> Game[Any]:
    """Return the rules that a position is played by."""
    return GAMES[position.game]


def chosen_options(game: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with defaults filled in; raise `Invalid` for one out of bounds."""
    options = GAMES[game].spec.options
    if unknown := given.keys() - {option.name for option in options.options}:
        raise Invalid("unknown option", f"/options/{min(unknown)}")
    filled = options.filled(given)
    for option in options.options:
        if found := option.field.objection(filled[option.name]):
            raise Invalid(found, f"/options/{option.name}")
    return filled


def open_table(game: str, session: str, secret: bytes, seats: tuple[Seat, ...], options: Mapping[str, Any]) -> Position:
    """Return the position before the first round; raise `Invalid` for bad options."""
    state = GAMES[game].open(chosen_options(game, options), len(seats))
    return Position(game, session, secret, seats, state, next_client_seeds=("",) * len(seats))


def offers(position: Position, seat: int) -> tuple[Offer, ...]:
    """Return all legal actions of a seat: the first carries the round on, ways out come last."""
    state, game = position.state, game_of(position)
    if state.finished or position.seats[seat].left:
        return ()
    ways_out = (LEAVE,) if game.may_leave(state, seat) else ()
    return (*game.offers(state, seat), SEED, *ways_out)


def advance(position: Position, move: Move) -> Step:
    """Return what comes of an action that is offered; raise `Illegal` or `NotYours` for another."""
    if move.seat is None or not 0 <= move.seat < len(position.seats):
        raise NotYours("This token holds no seat.")
    _must_be_offered(position, move.seat, move.action)
    if move.action.verb == SEED.verb:
        return Step(move, (), _seeded(position, move))
    return _apply(_seeded(position, move), move)


def settle(position: Position, now: int, bots: Mapping[str, Bot]) -> tuple[Step, ...]:
    """Return the steps that are due up to `now` (ms), in order, each at its own time (C-5).

    A bot's move must be one that its seat is offered, as anyone's; raises `Illegal` for another.
    """
    steps: list[Step] = []
    while (due := game_of(position).due(position.state)) and due.at <= now:
        if due.action:
            steps.append(_apply(position, Move(None, due.action, due.at)))
        else:
            steps.append(advance(position, Move(due.seat, _bot_action(position, due.seat, bots), due.at)))
        position = steps[-1].position
    return tuple(steps)


def replay(position: Position, moves: Iterable[Move]) -> Position:
    """Return the position after the logged moves; what was settled is among them."""
    for move in moves:
        position = (_apply if move.seat is None else advance)(position, move).position
    return position


def view(position: Position, viewer: Viewer) -> View:
    """Return what a viewer may know: built up through his own eyes, never stripped down."""
    state, game = position.state, game_of(position)
    seats = tuple(_seat_view(position, number) for number in range(len(position.seats)))
    due = game.due(state)
    return View(
        status=status(position),
        reason=state.finished,
        round=state.round,
        seats=seats,
        table=game.table(state, look_as(viewer)),
        commitment=_commitment(position, state.round) if state.round else None,
        next_commitment=None if state.finished else _commitment(position, state.round + 1),
        deadline_at=due.at if due and due.action else None,  # a bot's moment is nobody's to know
    )


def score(position: Position, viewer: Viewer) -> Score:
    """Return the score sheet as this viewer may see it; raise `Illegal` where there is none."""
    return game_of(position).score(position.state, look_as(viewer))


def evaluate(game: str, cards: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what cards are worth in a game; raise `Invalid`, or `Illegal` where nothing is (C-12)."""
    return GAMES[game].evaluate(cards, chosen_options(game, options))


def status(position: Position) -> str:
    """Return waiting, ready, playing, settled or finished."""
    state = position.state
    if state.finished:
        return "finished"
    if state.playing:
        return "playing"
    if any(seat.kind == "open" for seat in position.seats):
        return "waiting"
    return "settled" if state.round else "ready"


def _must_be_offered(position: Position, seat: int, action: Action) -> None:
    """Refuse an action that no offer holds, and say why: the one place where legality is asked."""
    game, verb = game_of(position), action.verb
    if verb not in game.spec.verbs and verb not in COMMON_VERBS:
        raise Illegal("not-in-this-game", f"{game.spec.title} has no {verb}.")
    if position.state.finished:
        raise Illegal("finished", f"The session is finished: {position.state.finished}.")
    if position.seats[seat].left:
        raise Illegal("left", "This seat has left the table.")
    offered = [offer for offer in offers(position, seat) if offer.verb == verb]
    if any(offer.shape.objection(action.body) is None for offer in offered):
        return
    if reason := game.why_not(position.state, seat, action):
        raise Illegal("not-now", reason)
    if not offered:
        raise Illegal("not-now", f"There is nothing to {verb} now.")
    likeliest = max(offered, key=lambda offer: len(offer.example.keys() & action.body.keys()))
    raise Illegal("out-of-bounds", f"Now {likeliest.shape.objection(action.body)}.")


def _seeded(position: Position, move: Move) -> Position:
    """Return the position with the seat's own seed for the round to come, where one is given."""
    text = move.action.body.get(CLIENT_SEED.name)
    if text is None or move.seat is None:
        return position
    seeds = list(position.next_client_seeds)
    seeds[move.seat] = text
    return replace(position, next_client_seeds=tuple(seeds))


def _apply(position: Position, move: Move) -> Step:
    """Return what comes of a legal move, with the chance of the round that it belongs to."""
    before, game = position.state, game_of(position)
    chance = _chance(position)
    if move.action.verb == LEAVE.verb and move.seat is not None:
        state, events = game.leave(before, move.seat, chance)
        seats = list(position.seats)
        seats[move.seat] = replace(seats[move.seat], left=True)
        position = replace(position, seats=tuple(seats))
    else:
        state, events = game.play(before, move, chance)
    if state.round != before.round:
        position = replace(
            position,
            client_seeds=position.next_client_seeds,
            next_client_seeds=("",) * len(position.seats),
        )
    position = replace(position, state=state, counters=chance.counters if state.round else {})
    return Step(move, events, position)


def _chance(position: Position) -> Chance:
    """Return the chance of the round in play, or else of the round to come."""
    state = position.state
    if state.playing:
        seed = round_seed(position.secret, position.session, state.round)
        return Chance(seed, position.client_seeds, position.counters)
    seed = round_seed(position.secret, position.session, state.round + 1)
    return Chance(seed, position.next_client_seeds, {})


def _bot_action(position: Position, seat: int | None, bots: Mapping[str, Bot]) -> Action:
    """Ask the seat's bot, which sees no more than the seat's own view (C-11)."""
    if seat is None:
        raise ValueError("a due move without an action needs a bot's seat")
    return bots[position.seats[seat].level or ""](view(position, seat), offers(position, seat))


def _seat_view(position: Position, number: int) -> dict[str, Any]:
    """Return a seat as everyone sees it."""
    seat, state = position.seats[number], position.state
    to_act = not state.finished and not seat.left and game_of(position).to_act(state, number)
    return {"seat": number, **msgspec.structs.asdict(seat), "to_act": to_act}


def _commitment(position: Position, number: int) -> str:
    """Return what binds the session to the seed of round `number`."""
    return _committed(position.secret, position.session, number)


@lru_cache(maxsize=4096)  # asked for at every look, and the same for a whole round
def _committed(secret: bytes, session: str, number: int) -> str:
    return commitment(round_seed(secret, session, number))
