"""Speed: which plays are legal, and which is the best of them; functions of cards alone (SP-4, SP-5, SP-15)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engine.cards import RANKS

LEFT, RIGHT = "left", "right"
SIDES = (LEFT, RIGHT)
NEIGHBOURS = frozenset(
    pair for low, high in zip(RANKS, RANKS[1:] + RANKS[:1], strict=True) for pair in (low + high, high + low)
)
"""The ranks that are next to each other; they run in a circle, so that the ace lies between king and two (SP-4)."""

Slots = Sequence[str | None]
"""The cards by slot, `None` where a slot is empty (SP-2)."""
Tops = Mapping[str, str | None]
"""The cards to play on, by side."""


class Play(NamedTuple):
    """A card's slot and the pile it goes to."""

    slot: int
    side: str


def fits(card: str | None, top: str | None) -> bool:
    """Return whether the card may be put on the top: the one statement of the law (SP-4)."""
    return card is not None and top is not None and card[0] + top[0] in NEIGHBOURS


def lands(card: str | None, tops: Tops, sides: Iterable[str]) -> str | None:
    """Return the first of the sides where the card may go (SP-5)."""
    return next((side for side in sides if fits(card, tops[side])), None)


def sides_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the piles that a play may go to, the one it prefers first (SP-5)."""
    if "pile" in body:
        return (body["pile"],)
    return SIDES if body["prefer"] == SIDES[0] else SIDES[::-1]


def plays(hand: Slots, tops: Tops) -> tuple[Play, ...]:
    """Return all legal plays, by slot, left before right."""
    return tuple(Play(slot, side) for slot, card in enumerate(hand) for side in SIDES if fits(card, tops[side]))


def best(hand: Slots, tops: Tops) -> Play | None:
    """Return the play after which the hand can go on longest by itself; of equals the first (SP-15)."""
    options = plays(hand, tops)
    if len(options) < 2:  # noqa: PLR2004 - nothing to choose
        return options[0] if options else None
    return max(options, key=lambda play: run(*_after(hand, tops, play)))


def run(hand: Slots, tops: Tops) -> int:
    """Return how many cards the hand can play one after the other, if nobody else plays and none is drawn."""
    held = sum(card is not None for card in hand)
    longest = 0
    for play in plays(hand, tops):
        longest = max(longest, 1 + run(*_after(hand, tops, play)))
        if longest == held:
            break
    return longest


def _after(hand: Slots, tops: Tops, play: Play) -> tuple[Slots, Tops]:
    """Return the hand without the card, and the tops with it."""
    left = [None if slot == play.slot else card for slot, card in enumerate(hand)]
    return left, {**tops, play.side: hand[play.slot]}
