"""What every game is made of: actions, moves, offers, events, and the contract it keeps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from engine.fields import Options, Shape
from engine.phrases import Dictionary, said
from engine.piles import Look, Pile
from engine.shuffle import Chance

ENGLISH = "en"
NOBODY = ""
PERSON = "person"
LEVELS = ("easy", "normal", "hard")
HOW_TO_WRITE = "a card is rank and suit, as in 'Ah', and the ten is T, as in 'Th'"


class Action(Struct, frozen=True, array_like=True):
    """What is asked: a verb and its body."""

    verb: str
    body: dict[str, Any] = {}


class Move(Struct, frozen=True, array_like=True):
    """An accepted action, with its seat (`None`: the table itself) and its time (ms, C-4)."""

    seat: int | None
    action: Action
    at: int


class Offer(Struct, frozen=True):
    """A family of legal actions: a verb, the bodies it takes, and one body that is legal; the label is English."""

    verb: str
    label: str
    shape: Shape = Shape()
    example: dict[str, Any] = {}


class Event(Struct, frozen=True, array_like=True):
    """What happened: public facts, and piles that each viewer sees with his own eyes."""

    type: str
    seat: int | None = None
    facts: dict[str, Any] = {}
    piles: dict[str, Pile] = {}

    def seen(self, look: Look) -> dict[str, Any]:
        """Return the event as the owner of these eyes may know it."""
        faces = {name: look(pile) for name, pile in self.piles.items()}
        return {"type": self.type, "seat": self.seat, **self.facts, **faces}


class Due(Struct, frozen=True):
    """The next timed consequence: when (ms), and what; no action: the seat's bot chooses (C-5).

    `deadline` is the game's own next moment behind a bot's, where it would give the bot away not to name it.
    """

    at: int
    seat: int | None = None
    action: Action | None = None
    deadline: int | None = None


def sooner(own: Due | None, bots: Due | None) -> Due | None:
    """Return what is due first; at one moment the game's own, which is the deadline behind a bot's (C-5)."""
    if bots is None or (own and own.at <= bots.at):
        return own
    return replace(bots, deadline=own.at if own else None)


class Standing(Struct, frozen=True):
    """A seat's place in a score, and its chips or points."""

    seat: int
    place: int
    score: int


def ranked(scores: Mapping[int, int]) -> tuple[Standing, ...]:
    """Return the seats by score, the highest first; equals share a place."""
    seats = sorted(scores, key=lambda seat: (-scores[seat], seat))
    falling = [scores[seat] for seat in seats]
    return tuple(Standing(seat, falling.index(scores[seat]) + 1, scores[seat]) for seat in seats)


class Score(Struct, frozen=True):
    """A round's score sheet; `final` says that it moves no more (C-8)."""

    round: int
    final: bool
    standings: tuple[Standing, ...]
    sheet: Struct


class State(Struct, frozen=True):
    """What every game's state has: rounds begun, whether one is in play, why the end came, who sits.

    `held` says of each seat who holds it: `PERSON`, a bot's level, or `NOBODY` (open, closed or left).
    Seats change hands between and during rounds; whoever joins during one plays from the next (C-9).
    """

    round: int = 0
    playing: bool = False
    finished: str | None = None
    held: tuple[str, ...] = ()

    def taken(self) -> tuple[int, ...]:
        """Return the seats that somebody holds."""
        return tuple(seat for seat, holder in enumerate(self.held) if holder)

    def is_bot(self, seat: int) -> bool:
        """Return whether a bot holds the seat."""
        return self.held[seat] not in (NOBODY, PERSON)


class Spec(Struct, frozen=True):
    """A game's card."""

    slug: str
    title: str
    summary: str
    rules_version: int
    seats: tuple[int, int]
    verbs: dict[str, tuple[Shape, ...]]
    """For each verb the bodies it takes within their fixed bounds; outside is malformed (C-3)."""
    options: Options
    events: tuple[str, ...]
    """Every type of event the game has."""
    reveals: tuple[str, ...]
    """The events in which the rules themselves show what was hidden."""
    scored: str
    """What a score counts, in words: `chips`."""
    bound: int
    """Sending every seat's first example settles a round in at most so many moves."""
    hosts: tuple[str, ...] = ()
    """The verbs that the host uses as well, without a seat, while it is offered them."""
    pace: tuple[int, int] = (20, 60)
    """How often a second a seat may move, or look, and how often at once."""
    dictionaries: dict[str, Dictionary] = {}
    """For each language but English that the game speaks, what its phrases and sentences are in it."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that the game speaks, English first."""
        return (ENGLISH, *self.dictionaries)


S = TypeVar("S", bound=State)


class Game(Protocol[S]):
    """The contract of a game: stateless, its rules in one module, its state handed in."""

    spec: Spec
    state_type: type[S]

    def open(self, options: dict[str, Any], seats: int) -> S:
        """Return the state before the first round, nobody seated; raise `Invalid` for options that clash."""

    def offers(self, state: S, seat: int) -> Sequence[Offer]:
        """Return what the seat may do but leave; the first carries the round forward."""

    def host_offers(self, state: S) -> Sequence[Offer]:
        """Return what the host may do in the game without a seat: deal with seats open, end it."""

    def why_not(self, state: S, seat: int, action: Action) -> str | None:
        """Return a sentence that says why the action must wait, if that is what is wrong with it."""

    def play(self, state: S, move: Move, chance: Chance) -> tuple[S, tuple[Event, ...]]:
        """Return the state after a move that was offered, and what happened."""

    def may_leave(self, state: S, seat: int) -> bool:
        """Return whether the seat may leave now."""

    def leave(self, state: S, move: Move, chance: Chance) -> tuple[S, tuple[Event, ...]]:
        """Return the state after the move's seat has left, and what happened (C-10)."""

    def due(self, state: S) -> Due | None:
        """Return the next timed consequence, if there is one; of equals the game's own before a bot's."""

    def to_act(self, state: S, seat: int) -> bool:
        """Return whether the table waits for this seat, from public facts only."""

    def table(self, state: S, look: Look) -> Struct:
        """Return what the owner of these eyes may know."""

    def score(self, state: S, look: Look) -> Score:
        """Return the score sheet; raise `Illegal` where there is none to show."""

    def piles(self, state: S) -> Sequence[Pile]:
        """Return all piles: together they hold every card of the game."""

    def draw(self, shown: Any) -> list[str]:  # noqa: ANN401 - each game's own types
        """Return a table or a score sheet as lines for a terminal or a screen reader.

        The lines are English, and phrases where the game speaks other languages.
        """

    def info(self) -> dict[str, Any]:
        """Return decks, point values and pay tables."""

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return what the cards are worth; raise `Invalid`, or `Illegal` where nothing is (C-12)."""


@runtime_checkable
class Judge(Protocol[S]):
    """What a game has besides, if an action that it does not offer can still come to something."""

    def judge(self, state: S, move: Move) -> "tuple[S, tuple[Event, ...], Illegal] | None":
        """Judge a well-formed move of one of the game's verbs that no offer holds.

        Return the state after it, what happened, and the refusal that it is answered with, if the move is
        to be logged all the same; else raise `Illegal` or `Invalid`, or return nothing to leave it to `why_not`.
        """


@runtime_checkable
class Teller(Protocol):
    """What a game has besides, if a move does what its table shows no trace of."""

    def tell(self, event: Mapping[str, Any]) -> str | None:
        """Return an event, as a viewer has seen it, in a sentence; nothing of one that the table shows."""


class RuleError(Exception):
    """A refusal by the rules; `detail` is a sentence for a person, in English."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = str(detail)
        self._sentence = detail

    def said(self, words: Dictionary) -> str:
        """Return the sentence in a dictionary's language."""
        return said(self._sentence, words)


class Invalid(RuleError):
    """Not an action of this game at all; `pointer` names the field (RFC 6901)."""

    def __init__(self, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.pointer = pointer


class Illegal(RuleError):
    """Not now: `code` is one of a closed set, `facts` are told with it, `retry_ms` says how long to wait."""

    def __init__(
        self, code: str, detail: str, *, facts: dict[str, Any] | None = None, retry_ms: int | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.facts = facts or {}
        self.retry_ms = retry_ms


class NotYours(RuleError):
    """Not this seat's to do."""


def must_be_from(pack: Sequence[str], codes: Sequence[str], count: int) -> None:
    """Raise `Invalid` unless the codes are `count` cards that the pack holds together (C-12)."""
    if len(codes) != count:
        raise Invalid(f"cards must be {count} cards", "/cards")
    left = Counter(pack)
    for place, code in enumerate(codes):
        left[code] -= 1
        if left[code] < 0:
            fault = f"there are no more of {code!r}" if code in pack else f"this game has no such card: {HOW_TO_WRITE}"
            raise Invalid(fault, f"/cards/{place}")
