"""Non-interference: what a viewer cannot see decides nothing that he is sent, until the rules show it."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import pytest
from msgspec.structs import replace

from engine import play
from engine.game import Action, Due, Event, Game, Move, Offer, Standing
from engine.games import GAMES
from engine.games.skulls_and_swords import Collecting, SkullsAndSwords
from engine.games.spice_island_poker import Hands, SpiceIslandPoker
from engine.piles import Look, Viewer, look_as
from engine.poker import Rules, rank_five
from engine.shuffle import Chance
from tests import toys
from tests.rounds import Playthrough, all_cards, dice, piles_in
from tests.worlds import REFUSAL, VIEW, known, permuted, told_apart_by

SPICE, SKULLS = "spice-island-poker", "skulls-and-swords"
BEAT, JACKPOT, SPEED = "beat-the-dealer", "jackpot", "speed"
RUNS = 25

FRESH: Mapping[str, set[str]] = {game: {"dealt"} for game in (SPICE, JACKPOT, SPEED, toys.SLUG)}
"""Reveals of cards from a pack that is made anew, whatever lay hidden before: worlds agree on them."""
OWN: Mapping[str, set[str]] = {BEAT: {"turn"}, JACKPOT: {"drawn"}}
"""Reveals to one seat, of what no spectator sees."""
LATE: Mapping[str, set[str]] = {BEAT: {"dealer"}, JACKPOT: {"card-draw"}, SPEED: {"settled"}}
"""Reveals that others hardly ever leave anything to tell, or that need a seat to leave."""


@pytest.fixture(name="toy")
def _toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the toy, whose hands are hidden from the other seats."""
    monkeypatch.setitem(GAMES, toys.SLUG, toys.Toy())
    return toys.SLUG


def seats_and_nobody(game: str) -> tuple[Viewer, ...]:
    return (None, *range(GAMES[game].spec.seats[0]))


def all_apart(game: str, viewer: Viewer) -> set[str]:
    """Return everything that told two worlds apart in some runs."""
    return reduce(set.union, (told_apart_by(game, viewer, seed) for seed in range(RUNS)))


def is_found(game: str, viewer: Viewer, leak: str) -> bool:
    """Return whether one of those runs is told apart by a leak, which no rule names."""
    assert leak not in GAMES[game].spec.reveals
    return any(leak in told_apart_by(game, viewer, seed) for seed in range(RUNS))


def assert_blind(game: str, viewer: Viewer) -> None:
    """Fail unless the reveals that the rules name, and nothing else, tell the worlds apart."""
    reveals, late = set(GAMES[game].spec.reveals), LATE.get(game, set())
    others = OWN.get(game, set()) if viewer is None else set()
    assert all_apart(game, viewer) - late == reveals - late - FRESH.get(game, set()) - others
    assert late <= reveals


@pytest.mark.parametrize(("game", "viewer"), [(game, viewer) for game in GAMES for viewer in seats_and_nobody(game)])
def test_only_the_reveals_of_the_rules_tell_two_worlds_apart(game: str, viewer: Viewer) -> None:
    """All that the viewer is sent is the same byte for byte until a reveal, and every reveal is one."""
    assert_blind(game, viewer)


@pytest.mark.parametrize(("viewer", "reveals"), [(None, {"shown"}), (0, {"shown", "drew"}), (1, {"shown", "drew"})])
def test_another_seats_hand_decides_nothing(toy: str, viewer: Viewer, reveals: set[str]) -> None:
    """With hidden hands at several seats a spectator is told by shown cards, a seat by what it draws as well."""
    assert all_apart(toy, viewer) == reveals


# The permutation itself.


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("viewer", [None, 0])
def test_a_permuted_position_looks_the_same_and_is_not(game: str, viewer: Viewer) -> None:
    """The same cards lie in piles of the same size, seen faces and all but cards stay, and cards have moved."""
    random, moved = dice(1), 0
    playthrough = Playthrough(game)
    while not playthrough.rounds:
        playthrough.at_random(random)
        here = playthrough.position
        other = permuted(here, viewer, random)
        look = look_as(viewer)
        assert all_cards(other) == all_cards(here)
        assert list(map(look, piles_in(other.state))) == list(map(look, piles_in(here.state)))
        assert replace(other, state=here.state) == here
        assert known(other, viewer) == known(here, viewer)
        moved += other != here
    assert moved


def test_hands_that_a_seat_does_not_see_are_dealt_anew(toy: str) -> None:
    """A seat's own hand stays; the other's hand and the stock exchange cards; a spectator's world moves both hands."""
    playthrough = Playthrough(toy)
    playthrough.forward()
    here, random = playthrough.position, dice(2)
    hands = [Counter[Any]() for _ in range(3)]
    for _ in range(50):
        for count, viewer in zip(hands, (0, 1, None), strict=True):
            count[permuted(here, viewer, random).state.hands] += 1  # type: ignore[attr-defined]
    assert {hand[0] for hand in hands[0]} == {here.state.hands[0]}  # type: ignore[attr-defined]
    assert {hand[1] for hand in hands[1]} == {here.state.hands[1]}  # type: ignore[attr-defined]
    assert min(map(len, hands)) > 40
    assert len({hand[0] for hand in hands[2]}) > 40


def test_the_sign_of_a_drink_that_lies_open_is_dealt_anew() -> None:
    """In another world a kept drink has the other sign, and its face stays (SK-10)."""
    playthrough, random = Playthrough(SKULLS), dice(3)
    while not any(card[-1] in "+-" for card in playthrough.position.state.collection.cards):  # type: ignore[attr-defined]
        playthrough.at_random(random)
    worlds = [permuted(playthrough.position, 0, random).state.collection.cards for _ in range(50)]  # type: ignore[attr-defined]
    assert len(set(worlds)) > 1


# Planted leaks: each must be found.


def first_hidden(state: Hands) -> str:
    """Return the dealer's first hidden card, if a hand is undecided."""
    return state.hole.cards[0] if state.playing else ""


class TellsCategory(SpiceIslandPoker):
    """Shows what the dealer's hidden hand is worth, and not one of its cards."""

    def table(self, state: Hands, look: Look) -> Any:  # noqa: ANN401
        table = super().table(state, look)
        if not state.playing:
            return table
        category = rank_five(state.hole.cards + state.upcard.cards, Rules()).category
        return replace(table, dealer=replace(table.dealer, category=category))


class TellsByLabel(SpiceIslandPoker):
    """Advises by the hidden card in the label of an offer."""

    def offers(self, state: Hands, seat: int) -> tuple[Offer, ...]:
        offers = super().offers(state, seat)
        good = first_hidden(state) > "A"
        return (replace(offers[0], label="Bet, by all means"), *offers[1:]) if good else offers


class TellsByOrder(SpiceIslandPoker):
    """Puts the better choice first."""

    def offers(self, state: Hands, seat: int) -> tuple[Offer, ...]:
        offers = super().offers(state, seat)
        return offers[::-1] if first_hidden(state) > "A" else offers


class TellsByAbsence(SpiceIslandPoker):
    """Offers to surrender only against a hidden ace."""

    def offers(self, state: Hands, seat: int) -> tuple[Offer, ...]:
        offers = super().offers(state, seat)
        return offers[:1] if state.playing and "A" not in "".join(state.hole.cards) else offers


class TellsByReason(SpiceIslandPoker):
    """Refuses in other words against a high hidden card."""

    def why_not(self, state: Hands, seat: int, action: Action) -> str | None:
        reason = super().why_not(state, seat, action)
        return f"{reason} Better surrender." if reason and first_hidden(state) > "A" else reason


class TellsByTheWayOut(SpiceIslandPoker):
    """Lets a seat leave when the hidden card is low."""

    def may_leave(self, state: Hands, seat: int) -> bool:
        return not first_hidden(state) > "A"


class TellsByEvent(SpiceIslandPoker):
    """Says in the event of a surrender what it was worth."""

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        after, events = super().play(state, move, chance)
        if events[0].type != "surrendered":
            return after, events
        return after, (replace(events[0], facts={"wise": first_hidden(state) > "A"}), *events[1:])


class TellsByNumberOfEvents(SpiceIslandPoker):
    """Sends one more event after a surrender to a high hidden card."""

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        after, events = super().play(state, move, chance)
        wise = events[0].type == "surrendered" and first_hidden(state) > "A"
        return after, (*events, Event("wagered", 0, {"amount": 0})) if wise else events


class TellsByScore(SpiceIslandPoker):
    """Counts the hidden ace in the score of the hand in play."""

    def score(self, state: Hands, look: Look) -> Any:  # noqa: ANN401
        aces = "".join(state.hole.cards).count("A")
        return replace(super().score(state, look), standings=(Standing(0, 1 + aces, 0),))


class TellsByWhoIsToAct(SpiceIslandPoker):
    """Says that the table waits for the seat when the hidden card is high."""

    def to_act(self, state: Hands, seat: int) -> bool:
        return first_hidden(state) > "A"


class TellsByDeadline(SpiceIslandPoker):
    """Gives more time against a high hidden card."""

    def due(self, state: Hands) -> Any:  # noqa: ANN401
        return Due(10**12 + (first_hidden(state) > "A"), None, Action("lapse"))


class TellsSigns(SkullsAndSwords):
    """Counts the drinks in the hand and the collection that count against."""

    def table(self, state: Collecting, look: Look) -> Any:  # noqa: ANN401
        table = super().table(state, look)
        against = sum(card.endswith("-") for card in state.hand.cards + state.collection.cards)
        return replace(table, decks=replace(table.decks, game=against))


class TellsTopOfTheDeck(SkullsAndSwords):
    """Says in the label whether the next hand has a drink on top."""

    def offers(self, state: Collecting, seat: int) -> tuple[Offer, ...]:
        first, *rest = super().offers(state, seat)
        return replace(first, label=f"{first.label}{state.game.cards[0] > 'K'}"), *rest


class TellsOthersHands(toys.Toy):
    """Lets the seat in turn leave if the next one holds an ace, and says so to everyone in `to_act`."""

    def to_act(self, state: toys.Showing, seat: int) -> bool:
        return any("A" in card for card in state.hands[seat].cards)


Leaky = Callable[[], Game[Any]]
EVERYONE_SEES = (
    (SPICE, TellsCategory, VIEW),
    (SPICE, TellsByEvent, "surrendered"),
    (SPICE, TellsByNumberOfEvents, "wagered"),
    (SPICE, TellsByScore, VIEW),
    (SPICE, TellsByWhoIsToAct, VIEW),
    (SPICE, TellsByDeadline, VIEW),
    (SKULLS, TellsSigns, VIEW),
    (toys.SLUG, TellsOthersHands, VIEW),
)
SEAT_SEES = (
    (SPICE, TellsByLabel, VIEW),
    (SPICE, TellsByOrder, VIEW),
    (SPICE, TellsByAbsence, VIEW),
    (SPICE, TellsByReason, REFUSAL),
    (SPICE, TellsByTheWayOut, VIEW),
    (SKULLS, TellsTopOfTheDeck, VIEW),
)


@pytest.mark.parametrize(("game", "leaky", "leak"), EVERYONE_SEES)
@pytest.mark.parametrize("viewer", [None, 0])
def test_a_planted_leak_to_everyone_is_found(
    monkeypatch: pytest.MonkeyPatch, game: str, leaky: Leaky, leak: str, viewer: Viewer
) -> None:
    """A fact worked out from hidden cards tells spectator and seat, and the check says what told them."""
    monkeypatch.setitem(GAMES, game, leaky())
    assert is_found(game, viewer, leak)


@pytest.mark.parametrize(("game", "leaky", "leak"), SEAT_SEES)
def test_a_planted_leak_to_the_seat_is_found(
    monkeypatch: pytest.MonkeyPatch, game: str, leaky: Leaky, leak: str
) -> None:
    """Offers, their order, their words, refusals and the way out are as telling as a view."""
    monkeypatch.setitem(GAMES, game, leaky())
    assert is_found(game, 0, leak)


def test_a_reveal_that_the_rules_do_not_name_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that forgets to name its showdown fails, and so does one that names what reveals nothing."""
    for reveals in (("dealt",), ("dealt", "showdown", "settled")):
        forgetful = SpiceIslandPoker()
        forgetful.spec = replace(forgetful.spec, reveals=reveals)
        monkeypatch.setitem(GAMES, SPICE, forgetful)
        with pytest.raises(AssertionError):
            assert_blind(SPICE, None)


def test_a_finished_session_keeps_what_was_hidden(toy: str) -> None:
    """The cards of a hand that was surrendered stay hidden in every later view and score (SI-5)."""
    playthrough = Playthrough(SPICE)
    playthrough.forward()
    playthrough.forward()
    playthrough.act(0, Action("choose", {"action": "surrender"}))
    playthrough.act(0, Action("leave"))
    here = playthrough.position
    assert play.status(here) == "finished"
    other = permuted(here, 0, dice(4))
    assert other != here
    assert known(other, 0) == known(here, 0)
