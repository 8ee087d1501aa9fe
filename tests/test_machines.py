"""Any sequence of actions: a machine for each registered game looks for one that breaks what always holds."""

import contextlib
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engine import play
from engine.game import Action, Event, Illegal, Invalid, Move
from engine.games import GAMES
from engine.games.spice_island_poker import Hands, SpiceIslandPoker
from engine.piles import look_as
from engine.shuffle import Chance
from tests import toys
from tests.mutations import tried_actions
from tests.rounds import Playthrough, blob, dice, faces_seen
from tests.rounds import settings as settings_of
from tests.strategies import bodies
from tests.test_games import assert_conserved, assert_hidden, assert_within_the_spec, seen_in

STEPS = settings(max_examples=25, stateful_step_count=40)

HUNT = settings(STEPS, max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
"""For planted faults: the first sequence that shows one will do, however long."""


class Machine(RuleBasedStateMachine):
    """A session of a game that anything may happen to."""

    game = ""

    @initialize(data=st.data())
    def open(self, data: st.DataObject) -> None:
        """Open a session under some setting, with as few seats as the game needs or one more."""
        options = data.draw(st.sampled_from(list(settings_of(self.game))))
        least, most = GAMES[self.game].spec.seats
        seats = data.draw(st.sampled_from(sorted({least, min(least + 1, most)})))
        secret = data.draw(st.binary(min_size=64, max_size=64))
        self.playthrough = Playthrough(self.game, options, seats, secret)

    @property
    def position(self) -> play.Position:
        """Return where the session stands."""
        return self.playthrough.position

    def _is_open(self) -> bool:
        return not self.playthrough.over

    @precondition(_is_open)
    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Do what some seat is offered by its game."""
        self.playthrough.tick()
        if offered := [(seat, offer) for seat in self.playthrough.seats for offer in self.playthrough.own(seat)]:
            seat, offer = data.draw(st.sampled_from(offered))
            self._step(seat, Action(offer.verb, data.draw(bodies(offer.shape))))

    def _can_go_on(self) -> bool:
        """Return whether a seat can act or something is due: where all but one have left there is nothing."""
        if self.playthrough.over:
            return False
        able = any(self.playthrough.own(seat) for seat in self.playthrough.seats)
        return able or play.game_of(self.position).due(self.position.state) is not None

    @precondition(_can_go_on)
    @rule()
    def carry_on(self) -> None:
        """Send every seat's first example, or wait."""
        self.playthrough.forward()

    @precondition(_is_open)
    @rule(data=st.data(), text=st.text(st.characters(exclude_categories=["Cs"]), max_size=16))
    def seed(self, data: st.DataObject, text: str) -> None:
        """Add a seed of one's own."""
        self.playthrough.tick()
        seat = data.draw(st.sampled_from(self.playthrough.seats))
        if play.offers(self.position, seat):
            self._step(seat, Action("seed", {"client_seed": text}))

    @precondition(_is_open)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        """Leave, now and then, where that is offered."""
        self.playthrough.tick()
        seat = data.draw(st.sampled_from(self.playthrough.seats))
        offered = play.LEAVE in play.offers(self.position, seat)
        if offered and data.draw(st.integers(0, 3)) == 0:
            self._step(seat, Action("leave"))

    @rule(seed=st.integers(0, 10**6), data=st.data())
    def stray(self, seed: int, data: st.DataObject) -> None:
        """Try what is not offered: it changes nothing."""
        seat = data.draw(st.sampled_from(self.playthrough.seats))
        before = blob(self.position)
        for action in dice(seed).sample(list(tried_actions(self.position, seat, seed)), 5):
            with contextlib.suppress(Illegal, Invalid):
                play.advance(self.position, Move(seat, action, self.playthrough.now))
        assert blob(self.position) == before

    def _step(self, seat: int, action: Action) -> None:
        self.playthrough.send(seat, action)
        assert self.playthrough.steps[-1].move.action == action

    @invariant()
    def keeps_every_card_and_chip(self) -> None:
        """Make and lose no card and no chip."""
        assert_conserved(self.playthrough.opening, self.position)

    @invariant()
    def comes_out_the_same_again(self) -> None:
        """Give the very same position when the logged moves are replayed."""
        assert play.replay(self.playthrough.opening, self.playthrough.moves) == self.position

    @invariant()
    def offers_what_the_rules_have(self) -> None:
        """Offer only what lies within the fixed bounds, and nothing at the end."""
        for seat in self.playthrough.seats:
            for offer in play.offers(self.position, seat):
                assert self._is_open()
                assert_within_the_spec(self.game, offer)

    @invariant()
    def shows_nothing_hidden(self) -> None:
        """Show no viewer a card that he does not see, in a view, an offer or the last events."""
        for viewer in (None, *self.playthrough.seats):
            offers = () if viewer is None else play.offers(self.position, viewer)
            shown = [play.view(self.position, viewer), offers]
            assert_hidden(self.position, viewer, shown, faces_seen(self.position, viewer))
            if steps := self.playthrough.steps:
                before = steps[-2].position if len(steps) > 1 else self.playthrough.opening
                events = [event.seen(look_as(viewer)) for event in steps[-1].events]
                assert_hidden(self.position, viewer, events, seen_in(steps[-1], before, viewer))


def machine_of(name: str) -> type[Machine]:
    """Return the machine of a game."""
    return type("Machine", (Machine,), {"game": name})


@pytest.mark.parametrize("game", GAMES)
def test_no_sequence_of_actions_breaks_a_game(game: str) -> None:
    """Whatever seats do in whatever order, cards and chips are kept, replays agree and nothing hidden is shown."""
    run_state_machine_as_test(machine_of(game), settings=STEPS)


def test_the_machine_fits_a_game_of_seats_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy, with hidden hands and turns that lapse, holds as well."""
    monkeypatch.setitem(GAMES, toys.SLUG, toys.Toy())
    run_state_machine_as_test(machine_of(toys.SLUG), settings=STEPS)


class OverpaysTheTimid(SpiceIslandPoker):
    """Leaves a chip too many when a second hand running is surrendered."""

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        after, events = super().play(state, move, chance)
        again = events[0].type == "surrendered" and state.totals.hands > 0
        return (_changed(after, balance=after.balance + 1) if again else after), events


class LosesACard(SpiceIslandPoker):
    """Drops the last card of the stock when the same ante is laid twice."""

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        after, events = super().play(state, move, chance)
        if state.ante and after.ante == state.ante and not state.playing and not after.playing:
            after = _without_last(after)
        return after, events


class RemembersElsewhere(SpiceIslandPoker):
    """Counts wagers in the game itself, which has no memory of its own in a replay."""

    wagers = 0

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        self.wagers += move.action.verb == "wager"
        after, events = super().play(state, move, chance)
        return _renumbered(after, self.wagers), events


class ShowsTheHole(SpiceIslandPoker):
    """Names a hidden card in the event of a surrender."""

    def play(self, state: Hands, move: Move, chance: Chance) -> tuple[Hands, tuple[Event, ...]]:
        after, events = super().play(state, move, chance)
        if events[0].type == "surrendered":
            events = (Event("surrendered", 0, {"spared": state.hole.cards[0]}), *events[1:])
        return after, events


def _without_last(state: Hands) -> Any:  # noqa: ANN401
    return _changed(state, stock=state.stock.holding(state.stock.cards[:-1]))


def _renumbered(state: Hands, number: int) -> Any:  # noqa: ANN401
    return _changed(state, last_ante=number)


def _changed(state: Hands, **changes: object) -> Hands:
    fields = {name: getattr(state, name) for name in state.__struct_fields__}
    return Hands(**(fields | changes))


@pytest.mark.parametrize("broken", [OverpaysTheTimid, LosesACard, RemembersElsewhere, ShowsTheHole])
def test_a_broken_game_is_found(monkeypatch: pytest.MonkeyPatch, broken: type[SpiceIslandPoker]) -> None:
    """The machine finds a sequence that loses a card or a chip, does not replay, or shows what is hidden."""
    monkeypatch.setitem(GAMES, broken.spec.slug, broken())
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_of(broken.spec.slug), settings=HUNT)
