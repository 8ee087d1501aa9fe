"""Spice Island Poker: one seat against the house (SI-1 … SI-14).

`wager` lays an ante, `deal` gives five cards each and shows one of the dealer's (SI-4), `choose`
bets twice the ante (SI-6) or surrenders it (SI-5), and the hand is settled at once (SI-8).
Amounts are chips.
"""

from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from engine.cards import Card, Face, pack, rank
from engine.fields import CLIENT_SEED, Amount, Choice, Option, Options, Shape
from engine.game import Action, Event, Invalid, Move, Offer, Score, Spec, Standing, State, must_be_from
from engine.games.spice_island_poker_table import (
    DealerHand,
    Limits,
    PlayerHand,
    Result,
    Sheet,
    Stake,
    Table,
    Totals,
    drawn,
    in_range,
)
from engine.piles import Look, Pile, Sight
from engine.poker import HAND_SIZE, Category, Hand, Rules, rank_five
from engine.shuffle import Chance

MOST_CHIPS = 100_000_000
LOWEST_PAIR = "T"  # SI-10: below it the option `low_hand` decides
KING, ACE = 13, 14
PAYS = {  # SI-9: what a winning bet earns, times the bet
    Category.ONE_PAIR: 1,
    Category.TWO_PAIR: 2,
    Category.THREE_OF_A_KIND: 3,
    Category.STRAIGHT: 4,
    Category.FLUSH: 5,
    Category.FULL_HOUSE: 7,
    Category.FOUR_OF_A_KIND: 20,
    Category.STRAIGHT_FLUSH: 50,
    Category.ROYAL_FLUSH: 200,
}
CHIPS = (1, 5, 25, 100)  # C-13

OPTIONS = Options(
    (
        Option(Amount("balance", 1, 1_000_000_000), 1000, "Chips that the seat begins with."),
        Option(Amount("min_ante", 1, MOST_CHIPS), 1, "Least ante, in chips."),
        Option(Amount("max_ante", 1, MOST_CHIPS), 300, "Greatest ante, in chips."),
        Option(
            Choice("low_hand", ("push", "even_money")),
            "push",
            "What a winning bet earns below a pair of tens: nothing, or its own amount (SI-10).",
        ),
        Option(
            Choice("wheel", (False, True)),
            False,
            "Whether A-2-3-4-5 is a straight, the lowest (SI-12).",
        ),
    )
)


class House(Struct, frozen=True):
    """The options, typed."""

    balance: int
    min_ante: int
    max_ante: int
    low_hand: str
    wheel: bool


FULL_STOCK = Pile(pack())
PLAYER = Pile(sight=Sight.EVERYONE, owner=0)
HOLE = Pile(sight=Sight.NOBODY)
UPCARD = Pile(sight=Sight.EVERYONE)


class Hands(State, frozen=True, kw_only=True, tag="spice-island-poker"):
    """The state; `ante` is what lies on the table, taken from the balance only by `deal` (SI-3)."""

    house: House
    balance: int
    ante: int = 0
    last_ante: int | None = None
    stock: Pile = FULL_STOCK
    player: Pile = PLAYER
    hole: Pile = HOLE
    upcard: Pile = UPCARD
    result: Result | None = None
    totals: Totals = Totals()


AMOUNT = Amount("amount", 0, MOST_CHIPS)
REPEAT = Shape((Choice("repeat", (True,)),))
ACTION = Choice("action", ("bet", "surrender"))


class SpiceIslandPoker:
    """The rules of Spice Island Poker."""

    state_type = Hands
    spec = Spec(
        slug="spice-island-poker",
        title="Spice Island Poker",
        summary="Ante, then bet or surrender against the dealer's hand and its one open card.",
        rules_version=1,
        seats=(1, 1),
        verbs={
            "wager": (Shape((AMOUNT,)), REPEAT),
            "deal": (Shape((CLIENT_SEED,)),),
            "choose": (Shape((ACTION,)),),
        },
        options=OPTIONS,
        events=("wagered", "dealt", "surrendered", "showdown", "settled", "left"),
        reveals=("dealt", "showdown"),
        scored="chips",
        bound=3,
    )

    def open(self, options: dict[str, Any], seats: int) -> Hands:
        """Seat the player with the balance (SI-2); raise `Invalid` for limits that clash."""
        house = convert(options, House)
        if house.min_ante > house.max_ante:
            raise Invalid("max_ante must not be under min_ante", "/options/max_ante")
        if 3 * house.min_ante > house.balance:
            raise Invalid("balance must be at least three times min_ante", "/options/balance")
        return Hands(house=house, balance=house.balance)

    def offers(self, state: Hands, seat: int) -> tuple[Offer, ...]:
        """Return the way on first: ante, deal, bet."""
        if state.playing:
            return (
                _choice("bet", f"Bet {2 * state.ante} chips, twice the ante, that your hand is higher"),
                _choice("surrender", f"Surrender: lose the ante of {state.ante} chips and end the hand"),
            )
        deal = Offer("deal", f"Deal a hand for the ante of {state.ante} chips", Shape((CLIENT_SEED,)))
        return (*((deal,) if state.ante else ()), *_wagers(state))

    def host_offers(self, state: Hands) -> tuple[Offer, ...]:
        """Return nothing: the player plays alone."""
        return ()

    def why_not(self, state: Hands, seat: int, action: Action) -> str | None:
        """Return why the action must wait (SI-3)."""
        if state.playing and action.verb != "choose":
            return "The hand is undecided: bet or surrender first."
        if action.verb == "choose" and not state.playing:
            return "No hand is dealt: lay an ante and deal first."
        if action.verb == "deal" and not state.ante:
            return "No ante lies on the table: wager one first."
        if action.body.get("amount") == 0:
            return "No ante lies on the table, so there is none to take off."
        return _why_no_repeat(state) if "repeat" in action.body else None

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        """Play a wager, a deal or a choice."""
        body = move.action.body
        match move.action.verb:
            case "wager":
                return _wager(state, state.last_ante or 0 if "repeat" in body else body["amount"])
            case "deal":
                return _deal(state, chance)
            case _:
                return (_bet if body["action"] == "bet" else _surrender)(state)

    def may_leave(self, state: Hands, seat: int) -> bool:
        """Return whether no hand is undecided: a hand begun is finished first (SI-3)."""
        return not state.playing

    def leave(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        """End the session; an ante not yet dealt for was never taken (SI-14, C-10)."""
        return replace(state, ante=0), (Event("left", move.seat),)

    def due(self, state: Hands) -> None:
        """Nothing here waits for a clock."""

    def to_act(self, state: Hands, seat: int) -> bool:
        """Return true: the house never moves, so the table always waits for the player."""
        return True

    def table(self, state: Hands, look: Look) -> Table:
        """Return the table; four of the dealer's cards are hidden until the showdown (SI-4)."""
        return Table(
            phase=_phase(state),
            balance=state.balance,
            ante=state.ante,
            last_ante=state.last_ante,
            limits=_limits(state),
            player=_player(state, look),
            dealer=_dealer(state, look),
            result=state.result,
            totals=state.totals,
        )

    def score(self, state: Hands, look: Look) -> Score:
        """Return the hand in play or the last one, and the totals (SI-13)."""
        sheet = Sheet(
            state.balance,
            _player(state, look),
            _dealer(state, look),
            state.result,
            state.totals,
        )
        final = bool(state.round) and not state.playing
        return Score(state.round, final, (Standing(0, 1, state.balance),), sheet)

    def piles(self, state: Hands) -> tuple[Pile, ...]:
        """Return stock, both hands: 52 cards."""
        return state.stock, state.player, state.hole, state.upcard

    def info(self) -> dict[str, Any]:
        """Return the pack, the pay table and the chips; the odds are not worked out yet (SI-15)."""
        lowest = {Category.ONE_PAIR: LOWEST_PAIR}
        pays = [{"category": each, "lowest_rank": lowest.get(each), "pays": pays} for each, pays in PAYS.items()]
        return {
            "decks": [{"name": "stock", "cards": list(pack())}],
            "pay_table": pays,
            "chips": list(CHIPS),
            "odds": None,
        }

    def evaluate(self, cards: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return what five cards are, and what a bet on them earns if it wins (C-12)."""
        house = convert(options, House)
        must_be_from(pack(), cards, HAND_SIZE)
        hand = rank_five(cards, Rules(wheel=house.wheel))
        return {
            "category": hand.category,
            "order": list(hand.order),
            "qualifies": qualifies(hand),
            "pays": bet_pays(hand, house),
        }

    def draw(self, shown: Table | Sheet) -> list[str]:
        """Return the table or the score sheet as text."""
        return drawn(shown)


def qualifies(hand: Hand) -> bool:
    """Return whether a dealer's hand plays: a pair or better, or ace and king (SI-7)."""
    return hand.category is not Category.NOTHING or hand.order[:2] == (ACE, KING)


def bet_pays(hand: Hand, house: House) -> int:
    """Return what a winning bet earns, times the bet (SI-9, SI-10)."""
    low = hand.category is Category.ONE_PAIR and hand.order[0] < rank(LOWEST_PAIR)
    if low or hand.category is Category.NOTHING:
        return int(house.low_hand == "even_money")
    return PAYS[hand.category]


def settle(player: Hand, dealer: Hand, ante: int, house: House) -> Result:
    """Settle a bet of twice the ante, in the order of SI-8."""
    bet = 2 * ante
    if not qualifies(dealer):
        return _result("dnq", Stake(ante, ante, ante), Stake(bet, bet, 0))
    if dealer.strength > player.strength:
        return _result("lose", Stake(ante), Stake(bet))
    if dealer.strength == player.strength:
        return _result("push", Stake(ante, ante), Stake(bet, bet))
    earned = bet * bet_pays(player, house)
    return _result("win", Stake(ante, ante, ante), Stake(bet, bet, earned))


def _result(outcome: str, ante: Stake, bet: Stake) -> Result:
    return Result(outcome, ante, bet, ante.net + bet.net)


def _limits(state: Hands) -> Limits:
    """Return the antes that leave enough for the bet (SI-3); on the table they are paid already."""
    behind = state.balance + (state.ante if state.playing else 0)
    return Limits(state.house.min_ante, min(state.house.max_ante, behind // 3))


def _choice(action: str, label: str) -> Offer:
    return Offer("choose", label, Shape((Choice("action", (action,)),)), {"action": action})


def _wagers(state: Hands) -> list[Offer]:
    """Return the antes that may be laid: within the limits, the last one again, none in place of one."""
    limits, last, laid = _limits(state), state.last_ante, state.ante
    fits = last is not None and limits.min <= last <= limits.max
    amount = Shape((Amount("amount", limits.min, limits.max),))
    example = {"amount": last if fits else limits.min}
    put = f"Replace the ante of {laid} by one of" if laid else "Lay an ante of"
    wagers = [Offer("wager", f"{put} {in_range(limits)} chips", amount, example)]
    if fits:
        wagers.append(Offer("wager", f"Lay the last ante again, {last} chips", REPEAT, {"repeat": True}))
    if laid:
        nothing = Shape((Amount("amount", 0, 0),))
        wagers.append(Offer("wager", f"Take the ante of {laid} off the table", nothing, {"amount": 0}))
    return wagers


def _why_no_repeat(state: Hands) -> str:
    """Return why the last ante cannot be laid again."""
    if state.last_ante is None:
        return "No hand has been dealt, so there is no ante to repeat."
    return f"The last ante was {state.last_ante}; now it may be {in_range(_limits(state))}."


def _wager(state: Hands, amount: int) -> tuple[Hands, tuple[Event, ...]]:
    """Lay an ante in place of the one lying there (SI-3)."""
    return replace(state, ante=amount), (Event("wagered", 0, {"amount": amount}),)


def _deal(state: Hands, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
    """Take the ante and deal five each from a fresh shuffle, the dealer's last face up (SI-1, SI-4, C-7)."""
    cards = chance.shuffle(pack(), "deal")
    dealt = replace(
        state,
        round=state.round + 1,
        playing=True,
        balance=state.balance - state.ante,
        last_ante=state.ante,
        player=PLAYER.holding(cards[:5]),
        hole=HOLE.holding(cards[5:9]),
        upcard=UPCARD.holding(cards[9:10]),
        stock=FULL_STOCK.holding(cards[10:]),
        result=None,
    )
    piles = {"player": dealt.player, "hole": dealt.hole, "upcard": dealt.upcard}
    return dealt, (Event("dealt", 0, {"ante": state.ante}, piles),)


def _bet(state: Hands) -> tuple[Hands, tuple[Event, ...]]:
    """Take the bet, show the dealer's hand and settle (SI-6)."""
    shown = replace(state, hole=state.hole.seen_by(Sight.EVERYONE))
    rules = Rules(wheel=state.house.wheel)
    player = rank_five(shown.player.cards, rules)
    dealer = rank_five(_dealer_cards(shown), rules)
    settled, events = _settled(shown, settle(player, dealer, state.ante, state.house))
    hands = {"player": shown.player, "hole": shown.hole, "upcard": shown.upcard}
    return settled, (Event("showdown", 0, {"bet": 2 * state.ante}, hands), *events)


def _surrender(state: Hands) -> tuple[Hands, tuple[Event, ...]]:
    """Lose the ante; the dealer's cards stay hidden (SI-5)."""
    settled, events = _settled(state, _result("surrender", Stake(state.ante), Stake()))
    return settled, (Event("surrendered", 0), *events)


def _settled(state: Hands, result: Result) -> tuple[Hands, tuple[Event, ...]]:
    """Pay, count, and end the session of a player who can ante no more (SI-13, SI-14)."""
    balance = state.balance + state.ante + result.net  # the ante was taken at the deal
    broke = balance < 3 * state.house.min_ante
    settled = replace(
        state,
        playing=False,
        balance=balance,
        ante=0,
        result=result,
        totals=state.totals.adding(result.net),
        finished="out-of-chips" if broke else None,
    )
    facts = {"outcome": result.outcome, "net": result.net, "balance": balance}
    return settled, (Event("settled", 0, facts),)


def _dealer_cards(state: Hands) -> tuple[Card, ...]:
    return state.hole.cards + state.upcard.cards


def _phase(state: Hands) -> str:
    """Return where the hand is; the last one stays in view until the next is dealt."""
    if state.playing:
        return "decision"
    return "settled" if state.round and not state.ante else "ante"


def _player(state: Hands, look: Look) -> PlayerHand:
    hand = _seen_hand(look(state.player), state.house)
    return PlayerHand(look(state.player), hand.category if hand else None)


def _dealer(state: Hands, look: Look) -> DealerHand:
    """Return the dealer's hand; what it is worth follows from the faces that are seen alone."""
    faces = look(state.hole) + look(state.upcard)
    hand = _seen_hand(faces, state.house)
    return DealerHand(faces, hand.category if hand else None, qualifies(hand) if hand else None)


def _seen_hand(faces: tuple[Face | None, ...], house: House) -> Hand | None:
    """Return the hand of five faces that are all seen."""
    seen = [face for face in faces if face]
    return rank_five(seen, Rules(wheel=house.wheel)) if len(seen) == HAND_SIZE else None
