"""Beat the Dealer: ranks, guesses, and which ranks the top card can still be, from public facts alone."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

RANKS = "A23456789TJQK"
"""The ranks in order of their values, 1 to 13 (BD-1)."""
COPIES = 4
LOWEST, HIGHEST = 1, len(RANKS)


class Hint(StrEnum):
    """What the top card is against a wrong first guess (BD-4)."""

    HIGHER = "higher"
    LOWER = "lower"


class Guess(Struct, frozen=True):
    """A guess; only a wrong first one has a hint."""

    rank: str
    hint: Hint | None = None


def value(card: str) -> int:
    """Return the value of a card or rank, 1 to 13 (BD-1)."""
    return RANKS.index(card[0]) + 1


def within(first: Guess | None) -> tuple[int, int]:
    """Return the lowest and the highest value that the top card may have after such a first guess."""
    if first is None or first.hint is None:
        return LOWEST, HIGHEST
    number = value(first.rank)
    return (number + 1, HIGHEST) if first.hint is Hint.HIGHER else (LOWEST, number - 1)


def unseen(laid: Iterable[int], first: Guess | None = None) -> tuple[int, ...]:
    """Return how many cards of each rank, ace first, the top card may be, with so many laid and such a first guess."""
    lowest, highest = within(first)
    return tuple(COPIES - count if lowest <= number <= highest else 0 for number, count in enumerate(laid, LOWEST))


def likeliest(left: tuple[int, ...]) -> str:
    """Return the rank with most cards left; of equals the nearest to the middle of the ranks left, then the lower."""
    possible = [number for number, count in enumerate(left, LOWEST) if count]
    ends = possible[0] + possible[-1]
    best = min(possible, key=lambda number: (-left[number - LOWEST], abs(2 * number - ends), number))
    return RANKS[best - LOWEST]
