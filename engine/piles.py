"""Piles of cards, and the only code that turns a pile into faces for a viewer."""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import Card, Face, face

Viewer = int | None
"""The number of a seat, or `None` for everyone who has none: a spectator."""


class Sight(StrEnum):
    """Who sees the faces of a pile."""

    EVERYONE = "everyone"
    OWNER = "owner"
    NOBODY = "nobody"


class Pile(Struct, frozen=True, array_like=True):
    """Cards in one place, top first, and who sees their faces."""

    cards: tuple[Card, ...] = ()
    sight: Sight = Sight.NOBODY
    owner: int | None = None

    def __len__(self) -> int:
        return len(self.cards)

    def take(self, count: int) -> tuple[tuple[Card, ...], "Pile"]:
        """Return the top `count` cards, or what there is, and the pile without them."""
        return self.cards[:count], self.holding(self.cards[count:])

    def holding(self, cards: tuple[Card, ...]) -> "Pile":
        """Return this place with other cards in it."""
        return replace(self, cards=cards)

    def seen_by(self, sight: Sight) -> "Pile":
        """Return the same cards, seen by others: turned up, or down."""
        return replace(self, sight=sight)


class Memory(Struct, frozen=True, array_like=True):
    """A pile as it was, for those who saw it: its cards lie elsewhere by now, and are counted there."""

    pile: Pile


Look = Callable[[Pile], tuple[Face | None, ...]]
"""A viewer's eyes: a face for every card of a pile that he sees, else `None`."""


def look_as(viewer: Viewer) -> Look:
    """Return the eyes of a viewer."""

    def look(pile: Pile) -> "tuple[Face | None, ...]":  # quoted: worked out anew for every viewer otherwise
        owns = pile.owner is not None and pile.owner == viewer
        if pile.sight is Sight.EVERYONE or (pile.sight is Sight.OWNER and owns):
            return tuple(map(face, pile.cards))
        return (None,) * len(pile.cards)

    return look
