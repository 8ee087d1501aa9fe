"""Speed: a centre pile with its side stock, its sequence number, and the tops that were covered lately (SP-6)."""

from msgspec import Struct
from msgspec.structs import replace

from engine.cards import Card
from engine.piles import Pile, Sight

SEEN_MS = 2000
"""How long a covered top still counts for a play that was sent before it was covered (SP-6)."""


class Covered(Struct, frozen=True, array_like=True):
    """A top that is no more: its number, and when (ms) and by which seat it was covered (`None`: by the table)."""

    number: int
    card: Card
    at: int
    by: int | None


class Centre(Struct, frozen=True, array_like=True):
    """A pile to play on and its side stock; all that was ever on the pile is public, the side stock nobody's."""

    pile: Pile = Pile(sight=Sight.EVERYONE)
    side: Pile = Pile()
    seq: int = 0
    covered: tuple[Covered, ...] = ()

    @property
    def top(self) -> Card | None:
        """Return the card to play on."""
        return self.pile.cards[0] if self.pile.cards else None

    def dealt(self, side: tuple[Card, ...]) -> "Centre":
        """Return the centre of a new round; the numbers go on (SP-6)."""
        return Centre(side=self.side.holding(side), seq=self.seq)

    def played(self, card: Card, at: int, seat: int) -> "Centre":
        """Return the centre with a seat's card on the pile."""
        return self._with_top(card, self.pile, at, seat)

    def turned(self, at: int, fresh: tuple[Card, ...] = ()) -> "Centre":
        """Return the centre with the top of the side stock on the pile.

        With `fresh`, the pile's own cards shuffled, those are the side stock, and the pile begins anew (SP-10).
        """
        (card,), side = self.side.holding(fresh or self.side.cards).take(1)
        under = self.pile.holding(()) if fresh else self.pile
        return replace(self._with_top(card, under, at, None), side=side)

    def as_seen(self, number: int, at: int) -> Card | None:
        """Return the top that had the number, unless it was covered too long ago to count at `at` (SP-6)."""
        if number == self.seq:
            return self.top
        past = self.covering(number)
        return past.card if past and at - past.at <= SEEN_MS else None

    def covering(self, number: int) -> Covered | None:
        """Return when and by whom the top with the number was covered, if that was lately."""
        return next((past for past in self.covered if past.number == number), None)

    def _with_top(self, card: Card, under: Pile, at: int, by: int | None) -> "Centre":
        """Return the centre with one more card; the numbers grow by one (SP-6)."""
        covered = tuple(past for past in self.covered if at - past.at <= SEEN_MS)
        if self.top is not None:
            covered += (Covered(self.seq, self.top, at, by),)
        return replace(self, pile=under.holding((card, *under.cards)), seq=self.seq + 1, covered=covered)
