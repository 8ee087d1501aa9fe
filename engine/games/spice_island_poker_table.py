"""Spice Island Poker: what a viewer is shown of the table and of the score, and both as text; amounts are chips."""

from msgspec import Struct

from engine.cards import Face
from engine.poker import Category


class Stake(Struct, frozen=True):
    """Chips put down, given back, and won on top."""

    staked: int = 0
    returned: int = 0
    won: int = 0

    @property
    def net(self) -> int:
        """Return what the stake brought."""
        return self.returned + self.won - self.staked


class Result(Struct, frozen=True):
    """A settled hand (SI-13)."""

    outcome: str
    ante: Stake
    bet: Stake
    net: int


class Totals(Struct, frozen=True):
    """The session's running totals (SI-13): a win is a hand that gained chips."""

    hands: int = 0
    wins: int = 0
    net: int = 0
    biggest_win: int = 0

    def adding(self, net: int) -> "Totals":
        """Return the totals with one more hand."""
        return Totals(self.hands + 1, self.wins + (net > 0), self.net + net, max(self.biggest_win, net))


class Limits(Struct, frozen=True):
    """The least and greatest ante now."""

    min: int
    max: int


class PlayerHand(Struct, frozen=True):
    """The player's cards, and their category once there are five."""

    cards: tuple[Face | None, ...]
    category: Category | None


class DealerHand(Struct, frozen=True):
    """The dealer's cards; category and qualification only at the showdown (SI-4)."""

    cards: tuple[Face | None, ...]
    category: Category | None
    qualifies: bool | None


class Table(Struct, frozen=True, tag_field="game", tag="spice-island-poker"):
    """What a viewer sees of a hand."""

    phase: str
    balance: int
    ante: int
    last_ante: int | None
    limits: Limits
    player: PlayerHand
    dealer: DealerHand
    result: Result | None
    totals: Totals


class Sheet(Struct, frozen=True, tag_field="game", tag="spice-island-poker"):
    """The score sheet: the hand, the balance and the totals."""

    balance: int
    player: PlayerHand
    dealer: DealerHand
    result: Result | None
    totals: Totals


OUTCOMES = {
    "dnq": "The dealer does not qualify",
    "lose": "The dealer's hand is higher",
    "push": "Push, the hands are equal",
    "win": "Your hand is higher",
    "surrender": "You have surrendered",
}


def drawn(shown: Table | Sheet) -> list[str]:
    """Return the table or the score sheet as text."""
    about = _drawn_stakes(shown) if isinstance(shown, Table) else f"Balance {shown.balance}"
    if not shown.player.cards:
        return [about, "", "No hand has been dealt yet."]
    lines = [
        about,
        "",
        *(["The last hand:"] if shown.result else []),
        f"Dealer   {_drawn(shown.dealer.cards)}   {_dealer_words(shown.dealer)}".rstrip(),
        f"You      {_drawn(shown.player.cards)}   {_in_words(shown.player.category)}",
        *(["", *_result_words(shown.result)] if shown.result else []),
    ]
    return lines if isinstance(shown, Table) else [*lines, "", _totals_words(shown.totals)]


def in_range(limits: Limits) -> str:
    """Return the limits in words."""
    return str(limits.min) if limits.min == limits.max else f"{limits.min} to {limits.max}"


def _drawn_stakes(table: Table) -> str:
    """Return the balance, and what lies on the table or may be laid there."""
    limits = table.limits
    if table.phase == "decision":
        ante = f"ante {table.ante}, paid"
    elif limits.max < limits.min:
        ante = f"too little for an ante: that takes {3 * limits.min}"
    else:
        ante = f"{f'ante {table.ante}' if table.ante else 'no ante'}   (it may be {in_range(limits)})"
    return f"Balance {table.balance}   {ante}"


def _drawn(faces: tuple[Face | None, ...]) -> str:
    return " ".join(face or "??" for face in faces)


def _in_words(category: Category | None) -> str:
    return (category or "").replace("-", " ")


def _dealer_words(dealer: DealerHand) -> str:
    if dealer.category is None:
        return ""
    return f"{_in_words(dealer.category)}, {'qualifies' if dealer.qualifies else 'does not qualify'}"


def _result_words(result: Result) -> list[str]:
    """Return why the hand ended as it did, and what became of ante and bet."""
    net = f"you win {result.net}" if result.net > 0 else f"you lose {-result.net}" if result.net else "nothing is lost"
    stakes = [("ante", result.ante), ("bet", result.bet)]
    return [f"{OUTCOMES[result.outcome]}: {net}", *(_stake_words(*each) for each in stakes if each[1].staked)]


def _stake_words(name: str, stake: Stake) -> str:
    back = f"{stake.returned} returned, {stake.won} won" if stake.returned else "lost"
    return f"  {name:4} {stake.staked} staked, {back}"


def _totals_words(totals: Totals) -> str:
    return f"Hands {totals.hands}   won {totals.wins}, net {totals.net:+}, biggest win {totals.biggest_win}"
