"""Rounds of any game, played at the doors of `engine.play` by clients that know no game."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from random import Random
from typing import Any

import msgspec

from engine import play
from engine.cards import Card
from engine.fields import Amount, Body, Choice, Field, Group, Positions, Shape, Text
from engine.game import Action, Invalid, Move, Offer
from engine.games import GAMES
from engine.piles import Memory, Pile, Viewer, look_as

SESSION = "a-table-of-twenty-two-"
SECRET = bytes(range(64))

NO_OPTIONS: Mapping[str, Any] = {}
CLIENT_SEEDS = ("", "luck", "æøå", "💀" * 16, "x" * 64)


def dice(seed: int) -> Random:
    """Return a source of choices that comes out the same every time."""
    return Random(seed)  # noqa: S311 - what a test chooses is no secret


class Playthrough:
    """A session and how it came about; `now` is its clock in ms."""

    def __init__(self, game: str, options: Body = NO_OPTIONS, seats: int | None = None, secret: bytes = SECRET) -> None:
        taken = GAMES[game].spec.seats[0] if seats is None else seats
        names = tuple(play.Seat(f"Player {number}") for number in range(1, taken + 1))
        self.opening = play.open_table(game, SESSION, secret, names, options)
        self.position = self.opening
        self.steps: list[play.Step] = []
        self.now = 0

    @property
    def over(self) -> bool:
        """Return whether the session is finished."""
        return self.position.state.finished is not None

    @property
    def rounds(self) -> int:
        """Return how many rounds were played to their end."""
        state = self.position.state
        return state.round - state.playing

    @property
    def moves(self) -> tuple[Move, ...]:
        """Return the log."""
        return tuple(step.move for step in self.steps)

    @property
    def seats(self) -> range:
        """Return the numbers of the seats."""
        return range(len(self.position.seats))

    def own(self, seat: int) -> tuple[Offer, ...]:
        """Return what a seat is offered by its game: neither a seed nor the way out."""
        return tuple(offer for offer in play.offers(self.position, seat) if offer.verb not in play.COMMON_VERBS)

    def tick(self) -> None:
        """Let a millisecond pass, and whatever is due by then."""
        self.now += 1
        self._keep(*play.settle(self.position, self.now, {}))

    def act(self, seat: int, action: Action) -> None:
        """Make a move a millisecond later; raises what refuses it."""
        self.tick()
        self.send(seat, action)

    def wait(self) -> None:
        """Let time pass until the next consequence that is due."""
        due = play.game_of(self.position).due(self.position.state)
        assert due, "no seat can act and nothing is due"
        self.now = max(self.now, due.at)
        self._keep(*play.settle(self.position, self.now, {}))

    def forward(self) -> int:
        """Send the first example of every seat that has one, else wait; return the number of actions."""
        settled, sent = self.rounds, 0
        for seat in self.seats:
            self.tick()
            if self.rounds == settled and (offers := self.own(seat)):
                self.send(seat, Action(offers[0].verb, offers[0].example))
                sent += 1
        if not sent and self.rounds == settled and not self.over:
            self.wait()
        return sent

    def at_random(self, random: Random) -> None:
        """Send anything that is offered to any seat but the way out, else wait."""
        self.tick()
        if self.over:
            return None
        choices = [
            (seat, offer)
            for seat in self.seats
            if self.own(seat)
            for offer in play.offers(self.position, seat)
            if offer.verb != play.LEAVE.verb
        ]
        if not choices:
            return self.wait()
        seat, offer = random.choice(choices)
        return self.send(seat, Action(offer.verb, body_of(offer.shape, random)))

    def send(self, seat: int, action: Action) -> None:
        """Make a move at this very moment; raises what refuses it."""
        self._keep(play.advance(self.position, Move(seat, action, self.now)))

    def _keep(self, *steps: play.Step) -> None:
        for step in steps:
            self.steps.append(step)
            self.position = step.position


def body_of(shape: Shape, random: Random) -> dict[str, Any]:
    """Return a body that the shape takes, an optional field every other time."""
    return {each.name: _value(each, random) for each in shape.fields if each.required or random.random() < 0.5}


def _value(field: Field, random: Random) -> Any:  # noqa: ANN401 - whatever the field takes
    match field:
        case Amount(least=least, most=most):
            return random.choice((least, most, random.randint(least, most)))
        case Choice(values=values):
            return random.choice(values)
        case Positions(among=among, least=least, most=most):
            return random.sample(among, random.randint(least, most))
        case Text(most_bytes=most):
            return random.choice([text for text in CLIENT_SEEDS if len(text.encode()) <= most])
        case Group(shape=shape):
            return body_of(shape, random)


def settings(game: str) -> Iterator[dict[str, Any]]:
    """Yield options that the game opens with: every combination of choices, amounts pairwise.

    Each two of the amounts take each two of their least, default and greatest values together,
    wherever there are others that the game allows beside them.
    """
    options = GAMES[game].spec.options.options
    choices = {each.name: each.field.values for each in options if isinstance(each.field, Choice)}
    amounts = {
        each.name: tuple(dict.fromkeys((each.default, each.field.least, each.field.most)))
        for each in options
        if isinstance(each.field, Amount)
    }
    for chosen in _products(choices):
        opened = [amount for amount in _products(amounts) if _opens(game, chosen | amount)]
        covered: set[frozenset[tuple[str, Any]]] = set()
        for amount in opened:
            pairs = set(map(frozenset, combinations(amount.items(), min(2, len(amount)))))
            if pairs - covered:
                covered |= pairs
                yield chosen | amount


def _products(values: Mapping[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of one value for each name."""
    for combination in product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _opens(game: str, options: Body) -> bool:
    """Return whether the game takes these options together."""
    try:
        Playthrough(game, options)
    except Invalid:
        return False
    return True


def all_cards(position: play.Position) -> Counter[Card]:
    """Return how many there are of each card, wherever they lie."""
    return Counter(card for pile in play.game_of(position).piles(position.state) for card in pile.cards)


def piles_in(value: object, *, remembered: bool = False) -> Iterator[Pile]:
    """Yield every pile of a state, however deep it lies; those that are only remembered where they are asked for."""
    if isinstance(value, Memory):
        yield from (value.pile,) if remembered else ()
    elif isinstance(value, Pile):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from piles_in(getattr(value, name), remembered=remembered)
    elif isinstance(value, (tuple, list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from piles_in(each, remembered=remembered)


def faces_seen(position: play.Position, viewer: Viewer) -> set[str]:
    """Return the faces that a viewer sees, wherever they lie, or has seen and is still told of."""
    look = look_as(viewer)
    return {face for pile in piles_in(position.state, remembered=True) for face in look(pile) if face}


def words_in(value: object) -> Iterator[str]:
    """Yield every text of what is sent, names of fields included; the value is encoded first."""
    plain = value if isinstance(value, (str, dict, list, int, float, type(None))) else _plain(value)
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        yield from plain
        for each in plain.values():
            yield from words_in(each)
    elif isinstance(plain, list):
        for each in plain:
            yield from words_in(each)


def _plain(value: object) -> Any:  # noqa: ANN401 - plain data
    return msgspec.json.decode(msgspec.json.encode(value))


def blob(position: play.Position) -> bytes:
    """Return the position as it is stored."""
    return msgspec.msgpack.encode(position)


def restored(stored: bytes) -> play.Position:
    """Return the position that was stored."""
    return msgspec.msgpack.decode(stored, type=play.Position)
