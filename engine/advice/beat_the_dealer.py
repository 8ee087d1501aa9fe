"""Beat the Dealer: what every guess comes to from the guesser's own view, exactly, and the bots that go by it."""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from engine.game import Action, Offer
from engine.games.beat_the_dealer_ranks import HIGHEST, LOWEST, RANKS, Guess, likeliest, unseen, within
from engine.games.beat_the_dealer_table import Table
from engine.play import Bot, View


class Prospect(Struct, frozen=True):
    """A rank, its chance to be the top card's, and what guessing it makes the guesser drink on the mean, in units."""

    rank: str
    chance: Fraction
    drink: Fraction


def prospects(table: Table) -> tuple[Prospect, ...]:
    """Return every guess there is now, ace first, each followed by the best second guess where it is the first (BD-12).

    Only the guesser drinks here: what the dealer drinks is nothing to him. Raises ValueError with no card to guess.
    """
    left = _left(table)
    cards = sum(left)
    if not cards:
        raise ValueError("no card is left to guess")
    costs = _second_costs(left, table.max_sips) if table.guesses else _first_costs(left, table.max_sips)
    return tuple(
        Prospect(rank, Fraction(count, cards), Fraction(cost, cards))
        for rank, count, cost in zip(RANKS, left, costs, strict=True)
    )


def best(found: tuple[Prospect, ...]) -> Prospect:
    """Return the guess with the least expected drink; of equals the lowest rank (BD-12)."""
    return min(found, key=lambda each: each.drink)


def easy(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Guess 7, then the middle of what the hint leaves, of two the lower (BD-15)."""
    lowest, highest = within(_first(_table(view)))
    return _guess(RANKS[(lowest + highest) // 2 - LOWEST])


def normal(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Guess the likeliest rank left, of equals the nearest to the middle of those left (BD-15)."""
    return _guess(likeliest(_left(_table(view))))


def hard(view: View, _offers: tuple[Offer, ...]) -> Action:
    """Guess for the least expected drink over both guesses (BD-12, BD-15)."""
    return _guess(best(prospects(_table(view))).rank)


BOTS: Mapping[str, Bot] = {"easy": easy, "normal": normal, "hard": hard}


def _second_costs(left: tuple[int, ...], most: int | None) -> list[int]:
    """Return for each guess what it costs, summed over the cards that are left, if no other follows (BD-5)."""
    apart = [min(distance, most or HIGHEST) for distance in range(HIGHEST)]
    numbers = range(len(left))
    return [sum(left[card] * apart[abs(card - guessed)] for card in numbers if left[card]) for guessed in numbers]


def _first_costs(left: tuple[int, ...], most: int | None) -> list[int]:
    """Return for each guess what it costs, summed over the cards that are left, if the best second guess follows.

    A hint parts the cards left: those under the guess and those above it cost what their own best guess does.
    """
    below = [min(_second_costs(left[:number] + (0,) * (HIGHEST - number), most)) for number in range(HIGHEST)]
    above = [min(_second_costs((0,) * (number + 1) + left[number + 1 :], most)) for number in range(HIGHEST)]
    return [one + other for one, other in zip(below, above, strict=True)]


def _table(view: View) -> Table:
    if not isinstance(view.table, Table):
        raise TypeError("this is no table of Beat the Dealer")
    return view.table


def _first(table: Table) -> Guess | None:
    """Return the first guess of the turn, where it was made."""
    return table.guesses[0] if table.guesses else None


def _left(table: Table) -> tuple[int, ...]:
    """Return how many cards of each rank the top card may be, by the piles and the hint."""
    return unseen((pile.count for pile in table.piles), _first(table))


def _guess(rank: str) -> Action:
    return Action("choose", {"rank": rank})
