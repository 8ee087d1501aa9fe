"""Cards as codes: rank then suit, `Th` the ten of hearts, `Kk` the king of skulls (C-1)."""

from collections.abc import Iterable
from typing import NewType

Card = NewType("Card", str)
"""A card as the table holds it; of a drink the sign is part of it (`MA+`, `MA-`)."""

Face = NewType("Face", str)
"""What is printed on a card: the most that any viewer can read off it (`MA`)."""

RANKS = "23456789TJQKA"
FRENCH_SUITS = "hdsc"
SIX_SUITS = "hdsckw"

_VALUES = {code: value for value, code in enumerate(RANKS, start=2)}


def pack(suits: str = FRENCH_SUITS, ranks: str = RANKS) -> tuple[Card, ...]:
    """Return one card of every rank and suit, suit by suit."""
    return tuple(Card(rank + suit) for suit in suits for rank in ranks)


def rank(card: str) -> int:
    """Return 2 to 14, ace high, and 0 for a card without a rank (a bonus card, a drink)."""
    return _VALUES.get(card[0], 0)


def suit(card: str) -> str:
    """Return the suit's letter, and nothing for a card without a rank."""
    return card[1] if card[0] in _VALUES else ""


def face(card: Card) -> Face:
    """Return what is printed on the card: a drink's sign is not (SK-10)."""
    return Face(card.rstrip("+-"))


def cards(codes: Iterable[str]) -> tuple[Card, ...]:
    """Return the codes as cards; nothing is checked."""
    return tuple(Card(code) for code in codes)
