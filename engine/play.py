"""Open, advance, settle, replay, view: the only doors into and out of a game."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Union

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.danish import DANISH
from engine.fields import CLIENT_SEED, Amount, Choice, Name, Shape
from engine.game import (
    ENGLISH,
    LEVELS,
    NOBODY,
    PERSON,
    Action,
    Event,
    Game,
    Illegal,
    Invalid,
    Judge,
    Move,
    NotYours,
    Offer,
    Score,
    State,
    Teller,
)
from engine.games import GAMES
from engine.phrases import Dictionary, phrase, said
from engine.piles import Viewer, look_as
from engine.shuffle import Chance, commitment, round_seed

if TYPE_CHECKING:
    AnyState = State
else:  # one typed codec for every game: each state carries its game's slug as its tag
    AnyState = Union[tuple(game.state_type for game in GAMES.values())]  # noqa: UP007

MOST_SEATS = 12
OPEN, BOT, CLOSED = "open", "bot", "closed"
NO_SEAT = -1

LEAVE = Offer("leave", "Leave the table for good")
SEED = Offer(
    "seed",
    "Add a seed of your own to the next round's shuffles",
    Shape((replace(CLIENT_SEED, required=True),)),
    {"client_seed": "my own luck"},
)
SEED_AGAIN = Offer("seed", "Replace your own seed for the next round's shuffles", SEED.shape, SEED.example)
HOUSE: Mapping[str, Dictionary] = {"da": DANISH}
"""What the table says itself, for each language but English that some game speaks."""

FINISHED = "The session is finished: {reason}."

SEAT, HOST, TIME = "seat", "host", "time"
"""By whom a move is made: a seat, the host, or nobody, when it was due."""

COMMON_VERBS = {"seed": (SEED.shape,), "leave": (Shape((Amount("seat", 0, MOST_SEATS - 1, required=False),)),)}
"""What every game's seats may ask besides; `seat` in a leave names another's, which only the host may give up."""
SEAT_VERBS = {
    "join": (
        Shape((Amount("seat", 0, MOST_SEATS - 1, required=False), Name("name", required=False), CLIENT_SEED)),
        Shape((Amount("seat", 0, MOST_SEATS - 1), Choice("bot", LEVELS))),
    ),
    "token": (Shape((Amount("seat", 0, MOST_SEATS - 1),)),),
}
"""How seats are given away: to whoever asks for an open one, to a bot, and anew to who lost its token."""


COMMON_EVENTS = ("joined", "reissued", "host-left", "deleted")
"""What can happen at every table, whatever the game; each game says itself what comes of a seat that leaves."""


class Seat(Struct, frozen=True):
    """A place at the table: `kind` is person, open, bot or closed; `level` is a bot's."""

    name: str | None
    kind: str = PERSON
    level: str | None = None
    left: bool = False

    @property
    def holder(self) -> str:
        """Return who holds the seat, as the game's state says it."""
        if self.left or self.kind in (OPEN, CLOSED):
            return NOBODY
        return self.level or PERSON


class Position(Struct, frozen=True):
    """Where a session's game stands: all that its next move depends on.

    `host` is the seat that has the host's rights once the host has left, `NO_SEAT` once nobody has them any more;
    `None`: the host's own token has them.
    """

    game: str
    session: str
    secret: bytes
    seats: tuple[Seat, ...]
    state: AnyState
    counters: dict[str, int] = {}
    client_seeds: tuple[str, ...] = ()
    next_client_seeds: tuple[str, ...] = ()
    host: int | None = None


class Step(Struct, frozen=True):
    """A move and what came of it; one with a `refusal` is logged like any and answered with that."""

    move: Move
    events: tuple[Event, ...]
    position: Position
    refusal: Illegal | None = None


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
        if found := option.objection(filled[option.name]):
            raise Invalid(found, f"/options/{option.name}")
    return filled


def open_table(game: str, session: str, secret: bytes, seats: tuple[Seat, ...], options: Mapping[str, Any]) -> Position:
    """Return the position before the first round; raise `Invalid` for bad options."""
    state = GAMES[game].open(chosen_options(game, options), len(seats))
    position = Position(game, session, secret, (), state, next_client_seeds=("",) * len(seats))
    return _reseated(position, seats)


def offers(position: Position, seat: int, language: str = ENGLISH) -> tuple[Offer, ...]:
    """Return all legal actions of a seat: the first carries the round on, ways out come last."""
    return _labelled(_offers(position, seat), dictionary(position.game, language))


def _offers(position: Position, seat: int) -> tuple[Offer, ...]:
    """Return all legal actions of a seat, their labels as the game has made them."""
    state, game = position.state, game_of(position)
    if state.finished or position.seats[seat].left:
        return ()
    ways_out = (LEAVE,) if game.may_leave(state, seat) else ()
    seed = SEED_AGAIN if position.next_client_seeds[seat] else SEED
    return (*game.offers(state, seat), seed, *ways_out)


def open_seats(position: Position) -> tuple[int, ...]:
    """Return the seats that a newcomer may take."""
    if position.state.finished:
        return ()
    return tuple(number for number, seat in enumerate(position.seats) if seat.kind == OPEN)


def join(position: Position, move: Move) -> Step:
    """Seat a person, or a bot of the level in the body, in the move's seat (C-9)."""
    body, seat = move.action.body, move.seat
    if seat is None:
        raise ValueError("whoever joins takes a seat")
    level = body.get("bot")
    newcomer = Seat(body["name"], BOT if level else PERSON, level)
    event = Event("joined", seat, {"name": newcomer.name, "kind": newcomer.kind, "level": level})
    seats = _with(position.seats, seat, newcomer)
    return Step(move, (event,), _reseated(_seeded(position, move), seats))


def fits(offered: Iterable[Offer], action: Action) -> bool:
    """Return whether an action is in one of the offers: that is what makes it legal."""
    return any(offer.verb == action.verb and offer.shape.objection(action.body) is None for offer in offered)


def must_go_on(position: Position) -> None:
    """Raise `Illegal` for a session that is finished."""
    if position.state.finished:
        raise Illegal("finished", phrase(FINISHED, reason=phrase(position.state.finished)))


def host_offers(position: Position, language: str = ENGLISH) -> tuple[Offer, ...]:
    """Return what the host may do in the game itself, without a seat."""
    offered = () if position.state.finished else game_of(position).host_offers(position.state)
    return _labelled(offered, dictionary(position.game, language))


def must_be_hosts(position: Position, action: Action) -> None:
    """Raise `NotYours` for what the host never does in this game, and for what only a seat may do now."""
    if action.verb == LEAVE.verb or fits(host_offers(position), action):
        return
    seats = range(len(position.seats))
    if action.verb not in game_of(position).spec.hosts or any(fits(_offers(position, seat), action) for seat in seats):
        raise NotYours(phrase("The host's token cannot {verb} here; a seat's may.", verb=action.verb))


def host_acts(position: Position, move: Move) -> Step:
    """Return what comes of the host's own action: deal with seats open, end a round, leave; or refuse it.

    With `seat` in a leave the host takes that seat out; without one the host's rights pass on (C-10).
    """
    action = move.action
    if action.verb == LEAVE.verb:
        return _hosted_leave(position, move)
    must_be_hosts(position, action)
    must_go_on(position)
    if not fits(host_offers(position), action):
        raise Illegal("not-now", game_of(position).why_not(position.state, 0, action) or "Not now.")
    step = _apply(position, move)
    if action.verb != "deal":
        return step
    closed = tuple(replace(seat, kind=CLOSED) if seat.kind == OPEN else seat for seat in position.seats)
    return replace(step, position=_reseated(step.position, closed))


def advance(position: Position, move: Move) -> Step:
    """Return what comes of an action that is offered; of another, what the game's judgement makes of it.

    Raises `Illegal` or `NotYours` for what must not be done, `Invalid` for what this state makes no sense of.
    """
    if move.seat is None or not 0 <= move.seat < len(position.seats):
        raise NotYours("This token holds no seat.")
    _must_be_possible(position, move.seat, move.action.verb)
    offered = _offers(position, move.seat)
    if not fits(offered, move.action):
        return _judged(position, move, [offer for offer in offered if offer.verb == move.action.verb])
    if move.action.verb == SEED.verb:
        return Step(move, (), _seeded(position, move))
    return _apply(_seeded(position, move), move)


def settle(position: Position, now: int, bots: Mapping[str, Bot], most: int | None = None) -> tuple[Step, ...]:
    """Return the steps that are due up to `now` (ms), in order, each at its own time (C-5), or the first `most`.

    A bot's move must be one that its seat is offered, as anyone's; raises `Illegal` for another.
    """
    steps: list[Step] = []
    while len(steps) != most and (due := game_of(position).due(position.state)) and due.at <= now:
        if due.action:
            steps.append(_apply(position, Move(None, due.action, due.at)))
        else:
            steps.append(advance(position, Move(due.seat, _bot_action(position, due.seat, bots), due.at)))
        position = steps[-1].position
    return tuple(steps)


def next_due(position: Position, otherwise: int) -> int:
    """Return the moment (ms) of the next timed consequence, a bot's included: for whoever waits, not for a view."""
    due = game_of(position).due(position.state)
    return min(due.at, otherwise) if due else otherwise


def replay(position: Position, moves: Iterable[Move]) -> Position:
    """Return the position after the logged moves; what was settled is among them."""
    for move in moves:
        position = again(position, move).position
    return position


def again(position: Position, move: Move) -> Step:
    """Return what comes of a logged move: a seat's is looked up in the offers again, as when it was made."""
    verb, seat = move.action.verb, move.seat
    if verb == "join":
        return join(position, move)
    if seat is not None:
        return advance(position, move)
    if verb in game_of(position).spec.verbs | COMMON_VERBS:
        return host_acts(position, move)
    return _apply(position, move)


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
        deadline_at=(due.at if due.action else due.deadline) if due else None,  # a bot's moment is nobody's to know
    )


def shown(events: Iterable[Event], viewer: Viewer) -> list[dict[str, Any]]:
    """Return what happened as a viewer may know it: through the same eyes as the table."""
    look = look_as(viewer)
    return [event.seen(look) for event in events]


@cache
def dictionary(game: str, language: str) -> Dictionary:
    """Return what a game's and the table's sentences are in one of its languages; English needs no entry.

    `engine.phrases.said` says a sentence by it: a label, a refusal, a line of the board, a title, what an option
    means. Codes, verbs and types are in no dictionary.
    """
    own = GAMES[game].spec.dictionaries.get(language)
    return {} if own is None else {**HOUSE.get(language, {}), **own}


def draw(game: str, shown: Struct, language: str = ENGLISH) -> list[str]:
    """Return a table or a score sheet as lines of text for a terminal or a screen reader."""
    words = dictionary(game, language)
    return [said(line, words) for line in GAMES[game].draw(shown)]


def told(game: str, events: Iterable[Mapping[str, Any]], language: str = ENGLISH) -> list[str]:
    """Return the events of a move, as a viewer has seen them, in sentences where the table shows no trace of them."""
    rules, words = GAMES[game], dictionary(game, language)
    if not isinstance(rules, Teller):
        return []
    return [said(sentence, words) for event in events if (sentence := rules.tell(event))]


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
    if len(state.taken()) < game_of(position).spec.seats[0]:
        return "waiting"
    return "settled" if state.round else "ready"


def _labelled(offered: Iterable[Offer], words: Dictionary) -> tuple[Offer, ...]:
    """Return offers with their labels as plain text in a dictionary's language."""
    return tuple(replace(offer, label=said(offer.label, words)) for offer in offered)


def _must_be_possible(position: Position, seat: int, verb: str) -> None:
    """Refuse what the seat can never do here, or no more."""
    game = game_of(position)
    if verb not in game.spec.verbs and verb not in COMMON_VERBS:
        raise Illegal("not-in-this-game", phrase("{title} has no {verb}.", title=phrase(game.spec.title), verb=verb))
    must_go_on(position)
    if position.seats[seat].left:
        raise Illegal("left", "This seat has left the table.")


def _judged(position: Position, move: Move, offered: list[Offer]) -> Step:
    """Return the step that a game makes of a move that none of the offers holds, or refuse it and say why."""
    game, action = game_of(position), move.action
    well_formed = any(shape.objection(action.body) is None for shape in game.spec.verbs.get(action.verb, ()))
    if well_formed and isinstance(game, Judge) and (judged := game.judge(position.state, move)):
        state, events, refusal = judged
        return Step(move, events, replace(position, state=state), refusal)
    if move.seat is not None and (reason := game.why_not(position.state, move.seat, action)):
        raise Illegal("not-now", reason)
    if not offered:
        raise Illegal("not-now", phrase("There is nothing to {verb} now.", verb=action.verb))
    likeliest = max(offered, key=lambda offer: len(offer.example.keys() & action.body.keys()))
    raise Illegal("out-of-bounds", phrase("Now {objection}.", objection=likeliest.shape.objection(action.body)))


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
    leaver = move.seat if move.action.verb == LEAVE.verb else None
    if leaver is None:
        state, events = game.play(before, move, chance)
    else:
        state, events = game.leave(before, move, chance)
    if state.round != before.round:
        position = replace(
            position,
            client_seeds=position.next_client_seeds,
            next_client_seeds=("",) * len(position.seats),
        )
    position = replace(position, state=state, counters=chance.counters if state.round else {})
    if leaver is not None:
        position = _without(position, leaver)
    return Step(move, events, _with_seats_enough(position))


def _without(position: Position, leaver: int) -> Position:
    """Return the position when a seat has been left for good: nobody else is given it (C-9, C-10)."""
    seats = _with(position.seats, leaver, replace(position.seats[leaver], left=True))
    position = _reseated(position, seats)
    return _with_a_person(_host_passed(position) if position.host == leaver else position)


def _host_passed(position: Position) -> Position:
    """Return the position with the host's rights at the lowest seat that a person holds (C-10)."""
    held = position.state.held
    return replace(position, host=held.index(PERSON) if PERSON in held else NO_SEAT)


def _with_a_person(position: Position) -> Position:
    """Return the position, finished if no person is left: the open round stays unscored (C-10).

    A host without a seat is one, as long as somebody may still join.
    """
    hosted = position.host is None and open_seats(position)
    return position if PERSON in position.state.held or hosted else _finished(position)


def _with_seats_enough(position: Position) -> Position:
    """Return the position, finished if no round can follow: too few seats are taken or open (C-10)."""
    enough = len(position.state.taken()) + len(open_seats(position)) >= game_of(position).spec.seats[0]
    return position if position.state.playing or enough else _finished(position)


def _finished(position: Position) -> Position:
    """Return the position with its end, if it has none yet: the table was left."""
    state = position.state
    return replace(position, state=replace(state, playing=False, finished=state.finished or "left"))


def _hosted_leave(position: Position, move: Move) -> Step:
    """Return what comes of the host's leave, his own or another seat's."""
    seat = move.action.body.get("seat")
    if seat is None:
        return Step(move, (Event("host-left"),), _with_a_person(_host_passed(position)))
    return replace(_apply(position, Move(seat, Action(LEAVE.verb), move.at)), move=move)


def _with(seats: tuple[Seat, ...], number: int, seat: Seat) -> tuple[Seat, ...]:
    return (*seats[:number], seat, *seats[number + 1 :])


def _reseated(position: Position, seats: tuple[Seat, ...]) -> Position:
    """Return the position with these seats; the game's state is told who holds them."""
    held = tuple(seat.holder for seat in seats)
    return replace(position, seats=seats, state=replace(position.state, held=held))


def _chance(position: Position) -> Chance:
    """Return the chance of the round in play, or else of the round to come."""
    state = position.state
    if state.playing:
        seed = partial(round_seed, position.secret, position.session, state.round)
        return Chance(seed, position.client_seeds, position.counters)
    seed = partial(round_seed, position.secret, position.session, state.round + 1)
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
    seeded = bool(position.next_client_seeds[number])
    return {"seat": number, **msgspec.structs.asdict(seat), "to_act": to_act, "seeded": seeded}


def _commitment(position: Position, number: int) -> str:
    """Return what binds the session to the seed of round `number`."""
    return _committed(position.secret, position.session, number)


@lru_cache(maxsize=4096)  # asked for at every look, and the same for a whole round
def _committed(secret: bytes, session: str, number: int) -> str:
    return commitment(round_seed(secret, session, number))
