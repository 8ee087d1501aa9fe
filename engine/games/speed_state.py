"""Speed: a seat's hand and its marks, and the state of a round."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import Card, pack
from engine.game import State
from engine.games.speed_centre import Centre
from engine.games.speed_table import Phase, Result, Tally
from engine.piles import Pile, Sight

SEATS = (0, 1)
SLOTS = 5


class House(Struct, frozen=True):
    """The options, typed."""

    countdown_ms: int
    penalty_ms: int
    idle_ms: int
    stake: int


class Plan(Struct, frozen=True, array_like=True):
    """The play that a bot has its eye on, and when it comes; of two at one moment the lower lot first (SP-18)."""

    slot: int
    side: str
    at: int
    lot: int = 0


class Laid(Struct, frozen=True, array_like=True):
    """A seat's last play from a slot: the pile, the number that it gave the pile, and when (ms); no view tells."""

    side: str
    seq: int
    at: int


class Hand(Struct, frozen=True, array_like=True):
    """A seat's five slots, each a pile of one card or none, its stock, and its marks of the round.

    `laid` says of each slot what was played from it last: whoever saw less has not seen the card that is there (SP-7).
    """

    slots: tuple[Pile, ...]
    stock: Pile = Pile()
    passed: bool = False
    penalty_until: int | None = None
    plan: Plan | None = None
    plays: int = 0
    penalties: int = 0
    laid: tuple[Laid | None, ...] = (None,) * SLOTS

    @property
    def cards(self) -> tuple[Card | None, ...]:
        """Return the card of each slot."""
        return tuple(slot.cards[0] if slot.cards else None for slot in self.slots)

    @property
    def held(self) -> int:
        """Return how many cards are in the slots."""
        return sum(map(len, self.slots))

    @property
    def left(self) -> int:
        """Return how many cards the seat has to get rid of."""
        return self.held + len(self.stock)

    def played(self, slot: int, laid: Laid) -> "Hand":
        """Return the hand after a play, the slot filled again from the stock while it lasts (SP-2)."""
        fresh, stock = self.stock.take(1)
        return replace(
            self,
            slots=_with(self.slots, slot, self.slots[slot].holding(fresh)),
            stock=stock,
            plan=None,
            plays=self.plays + 1,
            laid=_with(self.laid, slot, laid),
        )


def dealt_hand(seat: int, cards: tuple[Card, ...] = ()) -> Hand:
    """Return a seat's hand with these cards, the first five in the slots."""
    slots = tuple(Pile(cards[slot : slot + 1], Sight.OWNER, seat) for slot in range(SLOTS))
    return Hand(slots, Pile(cards[SLOTS:]))


class Racing(State, frozen=True, kw_only=True, tag="speed"):
    """The state; `changed_at` is when a pile changed last, `pack` the cards before the first round."""

    house: House
    ready: tuple[bool, bool] = (False, False)
    countdown_until: int | None = None
    changed_at: int = 0
    pack: Pile = Pile(pack())
    left: Centre = Centre()
    right: Centre = Centre()
    hands: tuple[Hand, Hand] = (dealt_hand(0), dealt_hand(1))
    flips: int = 0
    result: Result | None = None
    totals: tuple[Tally, Tally] = (Tally(0), Tally(1))

    @property
    def phase(self) -> Phase:
        """Return where the round is."""
        if not self.playing:
            return Phase.SETTLED if self.round else Phase.READY
        return Phase.OPEN if self.countdown_until is None else Phase.COUNTDOWN

    @property
    def centre(self) -> dict[str, Centre]:
        """Return both piles by side."""
        return {"left": self.left, "right": self.right}

    @property
    def tops(self) -> dict[str, Card | None]:
        """Return the cards to play on by side."""
        return {"left": self.left.top, "right": self.right.top}

    def with_hand(self, seat: int, hand: Hand) -> "Racing":
        """Return the state with a seat's hand in place of the one it had."""
        return replace(self, hands=(hand, self.hands[1]) if seat == 0 else (self.hands[0], hand))


T = TypeVar("T")


def _with(each: tuple[T, ...], place: int, other: T) -> tuple[T, ...]:
    return (*each[:place], other, *each[place + 1 :])
