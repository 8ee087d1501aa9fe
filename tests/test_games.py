"""What every game keeps: a game joins these tests by being registered."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from engine import play
from engine.cards import face
from engine.fields import Amount, Choice, Field, Group, Positions, Shape, Text
from engine.game import Action, Illegal, Invalid, Move, NotYours, Offer
from engine.games import GAMES
from engine.piles import Viewer, look_as
from tests.mutations import tried_actions
from tests.rounds import (
    SECRET,
    Playthrough,
    all_cards,
    blob,
    body_of,
    dice,
    faces_seen,
    piles_in,
    restored,
    settings,
    words_in,
)

ROUNDS = 1_000
ROUNDS_A_SESSION = 20
CODES = {"not-in-this-game", "not-now", "out-of-bounds", "finished", "left", "pile-changed", "illegal-play"}

CHIPS: Mapping[str, Callable[[Any], int]] = {
    "jackpot": lambda state: state.jackpot + sum(hand.balance for hand in state.hands),
    "spice-island-poker": lambda state: state.balance + state.playing * state.ante - state.totals.net,
}
"""What a game's seats and table hold, less what they have won from the house: it never changes."""
PURSES = {"ante", "balance", "balances", "chips", "jackpot", "stake"}
"""Names by which a state tells that there are chips in the game."""
RARE: Mapping[str, set[str]] = {"jackpot": {"lapsed", "shuffled"}, "speed": {"idle", "penalty", "penalty-over"}}
"""Types of event that random rounds hardly ever come to; the game's own tests bring them about."""

games = pytest.mark.parametrize("game", GAMES)


def viewers(position: play.Position) -> tuple[Viewer, ...]:
    """Return everyone who may look: a spectator and the seats."""
    return (None, *range(len(position.seats)))


def seat_counts(game: str) -> set[int]:
    """Return the least and the greatest number of seats."""
    return set(GAMES[game].spec.seats)


def steps_of(playthrough: Playthrough, seed: int, rounds: int = 1) -> Iterator[tuple[play.Position, play.Step]]:
    """Play at random until so many rounds are settled; yield every step with the position before it."""
    random = dice(seed)
    while playthrough.rounds < rounds and not playthrough.over:
        before, done = playthrough.position, len(playthrough.steps)
        playthrough.at_random(random)
        for step in playthrough.steps[done:]:
            yield before, step
            before = step.position


# Playing to the end.


@games
def test_a_round_settles_under_every_setting(game: str) -> None:
    """Random play comes to the round's end under every combination of options, and no card or chip is lost."""
    tried = list(settings(game))
    assert tried
    for number, options in enumerate(tried):
        for seats in seat_counts(game):
            playthrough = Playthrough(game, options, seats)
            for _, step in steps_of(playthrough, number):
                assert_conserved(playthrough.opening, step.position)
            assert playthrough.rounds == 1
            assert play.replay(playthrough.opening, playthrough.moves) == playthrough.position


@games
def test_every_choice_of_a_setting_is_tried(game: str) -> None:
    """Every value of every choice is among the settings tried, and every amount's default."""
    tried = list(settings(game))
    for option in GAMES[game].spec.options.options:
        values = {each[option.name] for each in tried}
        assert option.default in values
        assert not isinstance(option.field, Choice) or values == set(option.field.values)


@games
def test_first_examples_settle_a_round_within_the_bound(game: str) -> None:
    """Under every setting, sending first examples settles round after round in as many moves as the game says."""
    for options in settings(game):
        for seats in seat_counts(game):
            playthrough = Playthrough(game, options, seats)
            while playthrough.rounds < 3 and not playthrough.over:
                settled, sent = playthrough.rounds, 0
                while playthrough.rounds == settled:
                    sent += playthrough.forward()
                    assert sent <= GAMES[game].spec.bound
            assert playthrough.rounds


@games
@pytest.mark.parametrize("way", ["first examples", "random offers"])
def test_a_thousand_rounds_meet_no_refusal(game: str, way: str) -> None:
    """A client that knows no game plays 1,000 rounds by what it is offered, and is refused nothing."""
    random, played = dice(1), 0
    while played < ROUNDS:
        playthrough = Playthrough(game, secret=played.to_bytes(64, "big"))
        target = min(ROUNDS_A_SESSION, ROUNDS - played)
        while playthrough.rounds < target and not playthrough.over:
            if way == "first examples":
                playthrough.forward()
            else:
                playthrough.at_random(random)
        assert playthrough.rounds
        played += playthrough.rounds
    assert played == ROUNDS


# What is kept.


def assert_conserved(opening: play.Position, position: play.Position) -> None:
    """Fail unless every card and chip of the opening is still there."""
    assert all_cards(position) == all_cards(opening)
    if chips := CHIPS.get(position.game):
        assert chips(position.state) == chips(opening.state)


@games
def test_every_card_lies_in_a_pile_that_the_game_names(game: str) -> None:
    """The piles that are counted are all that a state has, so no card can hide from the count."""
    playthrough = Playthrough(game)
    for _, step in steps_of(playthrough, 2):
        named = sorted(map(blob_of, GAMES[game].piles(step.position.state)))
        assert named == sorted(map(blob_of, piles_in(step.position.state)))
    assert all_cards(playthrough.position)


def blob_of(value: object) -> bytes:
    """Return any value as bytes, so that it can be sorted."""
    return msgspec.msgpack.encode(value)


@games
def test_a_game_with_chips_counts_them(game: str) -> None:
    """A game whose state speaks of chips says how they are conserved."""
    assert (game in CHIPS) == bool(PURSES & set(GAMES[game].state_type.__struct_fields__))


@games
def test_a_position_is_stored_and_replayed_as_it_is(game: str) -> None:
    """At every step the stored position comes back equal, and the replayed moves give it at the end."""
    playthrough = Playthrough(game, seats=max(seat_counts(game)))
    for before, step in steps_of(playthrough, 3, rounds=2):
        assert restored(blob(step.position)) == step.position
        assert restored(blob(before)) == before
    assert play.replay(playthrough.opening, playthrough.moves) == playthrough.position
    assert blob(play.replay(restored(blob(playthrough.opening)), playthrough.moves)) == blob(playthrough.position)


@games
def test_a_replay_can_start_at_any_step(game: str) -> None:
    """What happens next depends on nothing but the position that was stored."""
    playthrough = Playthrough(game)
    for _ in steps_of(playthrough, 4):
        pass
    for done in range(0, len(playthrough.steps), 7):
        part_way = restored(blob(playthrough.steps[done].position))
        assert play.replay(part_way, playthrough.moves[done + 1 :]) == playthrough.position


# What is offered, and what is not.


@games
def test_every_example_and_every_body_that_is_offered_is_accepted(game: str) -> None:
    """Whatever a seat is offered is taken as it stands, and so is any body of its shape."""
    random = dice(5)
    for before, _ in steps_of(Playthrough(game, seats=max(seat_counts(game))), 5, rounds=2):
        for seat in range(len(before.seats)):
            for offer in play.offers(before, seat):
                for body in (offer.example, body_of(offer.shape, random)):
                    step = play.advance(before, Move(seat, Action(offer.verb, body), 10**6))
                    assert step.move.action.body == body


def admitted(position: play.Position, seat: int, action: Action) -> bool:
    """Return whether an offer's JSON Schema, read by an independent validator, admits the action."""
    return any(
        offer.verb == action.verb and _validator(msgspec.json.encode(offer.shape.schema())).is_valid(action.body)
        for offer in play.offers(position, seat)
    )


@cache
def _validator(schema: bytes) -> Draft202012Validator:
    return Draft202012Validator(msgspec.json.decode(schema))


def refusal_of(position: play.Position, move: Move) -> Illegal:
    """Return the refusal that a move must meet: raised, or logged with it."""
    try:
        refusal = play.advance(position, move).refusal
    except Illegal as raised:
        refusal = raised
    except Invalid as raised:
        refusal = Illegal("out-of-bounds", f"{raised.detail}.")
    assert refusal
    return refusal


@games
def test_what_no_offer_holds_is_refused_and_changes_nothing(game: str) -> None:
    """Of spoilt and misplaced actions those are refused that no offer's schema admits, and no others."""
    refused = 0
    for number, (before, _) in enumerate(steps_of(Playthrough(game), 6)):
        stored = blob(before)
        for seat in range(len(before.seats)):
            for action in tried_actions(before, seat, number):
                if admitted(before, seat, action):
                    play.advance(before, Move(seat, action, 10**6))
                    continue
                refusal = refusal_of(before, Move(seat, action, 10**6))
                assert refusal.code in CODES
                assert refusal.detail.endswith(".")
                refused += 1
        assert blob(before) == stored
    assert refused > 100


@games
def test_no_seat_means_no_move(game: str) -> None:
    """A move of a seat that is not at the table is nobody's, whatever it asks."""
    opening = Playthrough(game).opening
    for seat in (None, -1, len(opening.seats)):
        for action in (Action("leave"), Action("seed", {"client_seed": ""}), Action("cheat")):
            with pytest.raises(NotYours):
                play.advance(opening, Move(seat, action, 0))


@games
def test_a_finished_session_takes_nothing(game: str) -> None:
    """Once everyone has left there are no offers, nothing is due, and every action is refused as finished."""
    playthrough = Playthrough(game)
    for _ in steps_of(playthrough, 7):
        pass
    for seat in playthrough.seats:
        if not playthrough.over:
            playthrough.act(seat, Action("leave"))
    position = playthrough.position
    assert (play.status(position), play.view(position, None).next_commitment) == ("finished", None)
    assert GAMES[game].due(position.state) is None
    for seat in playthrough.seats:
        assert play.offers(position, seat) == ()
        for action in tried_actions(position, seat, 7):
            with pytest.raises(Illegal) as refusal:
                play.advance(position, Move(seat, action, 10**6))
            assert refusal.value.code in ("finished", "not-in-this-game")


@games
def test_ways_out_come_last_and_are_offered_when_they_are_open(game: str) -> None:
    """A seed and then the way out end every list, and the way out stands there exactly when it may be taken."""
    for before, _ in steps_of(Playthrough(game), 8):
        for seat in range(len(before.seats)):
            ways = [offer.verb for offer in play.offers(before, seat) if offer.verb in play.COMMON_VERBS]
            assert ways == ["seed", "leave"][: 1 + GAMES[game].may_leave(before.state, seat)]
            assert [offer.verb for offer in play.offers(before, seat)][-len(ways) :] == ways


def is_within(field: Field, bound: Field) -> bool:
    """Return whether whatever a field takes the other takes too."""
    match field, bound:
        case Amount(), Amount():
            return bound.least <= field.least and field.most <= bound.most
        case Choice(), Choice():
            return set(field.values) <= set(bound.values)
        case Positions(), Positions():
            return set(field.among) <= set(bound.among) and bound.least <= field.least and field.most <= bound.most
        case Text(), Text():
            return field.most_bytes <= bound.most_bytes
        case Group(), Group():
            return shape_is_within(field.shape, bound.shape)
    return False


def shape_is_within(shape: Shape, bound: Shape) -> bool:
    """Return whether whatever a shape takes the other takes too."""
    given = {each.name: each for each in shape.fields}
    bounds = {each.name: each for each in bound.fields}
    return (
        given.keys() <= bounds.keys()
        and all(is_within(each, bounds[name]) for name, each in given.items())
        and all(name in given and given[name].required for name, each in bounds.items() if each.required)
    )


def assert_within_the_spec(game: str, offer: Offer) -> None:
    """Fail unless the offer's verb and shape are of those that the game states for good."""
    bounds = (GAMES[game].spec.verbs | play.COMMON_VERBS)[offer.verb]
    assert any(shape_is_within(offer.shape, bound) for bound in bounds), offer


@games
def test_offers_lie_within_the_fixed_bounds(game: str) -> None:
    """Whatever an offer takes its verb's fixed bounds take, under every setting: it is never malformed."""
    for number, options in enumerate(settings(game)):
        for before, _ in steps_of(Playthrough(game, options), number):
            for seat in range(len(before.seats)):
                for offer in play.offers(before, seat):
                    assert_within_the_spec(game, offer)


@pytest.mark.parametrize(
    ("shape", "bound", "inside"),
    [
        (Shape((Amount("n", 2, 3),)), Shape((Amount("n", 2, 3),)), True),
        (Shape((Amount("n", 1, 3),)), Shape((Amount("n", 2, 3),)), False),
        (Shape((Amount("n", 2, 4),)), Shape((Amount("n", 2, 3),)), False),
        (Shape((Amount("n", 2, 3),)), Shape((Amount("m", 2, 3),)), False),
        (Shape((Amount("n", 2, 3),)), Shape(), False),
        (Shape(), Shape((Amount("n", 2, 3),)), False),
        (Shape(), Shape((Text("t", 3, required=False),)), True),
        (Shape((Text("t", 3),)), Shape((Text("t", 3, required=False),)), True),
        (Shape((Text("t", 3, required=False),)), Shape((Text("t", 3),)), False),
        (Shape((Choice("c", ("a",)),)), Shape((Choice("c", ("a", "b")),)), True),
        (Shape((Choice("c", ("a", "x")),)), Shape((Choice("c", ("a", "b")),)), False),
        (Shape((Positions("p", (0, 1), 1, 1),)), Shape((Positions("p", (0, 1, 2), 0, 2),)), True),
        (Shape((Positions("p", (0, 3), 1, 1),)), Shape((Positions("p", (0, 1, 2), 0, 2),)), False),
        (Shape((Positions("p", (0, 1), 1, 3),)), Shape((Positions("p", (0, 1, 2), 0, 2),)), False),
        (Shape((Text("n", 3),)), Shape((Amount("n", 2, 3),)), False),
    ],
)
def test_a_shape_that_sticks_out_is_found(shape: Shape, bound: Shape, *, inside: bool) -> None:
    """The comparison of shapes tells what lies within from what does not."""
    assert shape_is_within(shape, bound) == inside


# What is shown.


def assert_hidden(position: play.Position, viewer: Viewer, shown: object, seen: set[str]) -> None:
    """Fail if something shown names a card that the viewer does not see, or the sign of a drink."""
    cards = all_cards(position)
    faces, signed = set(map(face, cards)), [card for card in cards if face(card) != str(card)]
    for word in words_in(shown):
        assert word in seen or word not in faces, f"{viewer} is shown the hidden {word}"
        assert not any(card in word for card in signed), f"{viewer} is shown a sign: {word}"


def drawn_before(opening: play.Position) -> set[str]:
    """Return the lines that a board has before any card is dealt: a legend among them tells of no card in play."""
    return set(play.draw(opening.game, play.view(opening, None).table))


def seen_in(step: play.Step, before: play.Position, viewer: Viewer) -> set[str]:
    """Return the faces that a viewer sees before or after a step, or in its events."""
    look = look_as(viewer)
    turned = {face for event in step.events for pile in event.piles.values() for face in look(pile) if face}
    return faces_seen(before, viewer) | faces_seen(step.position, viewer) | turned


@games
def test_no_view_and_no_event_shows_a_hidden_card(game: str) -> None:
    """Views, offers, boards and events are plain JSON, and name no card but those that the viewer sees."""
    playthrough = Playthrough(game, seats=max(seat_counts(game)))
    legend = drawn_before(playthrough.opening)
    for before, step in steps_of(playthrough, 9, rounds=3):
        for viewer in viewers(step.position):
            seen = faces_seen(step.position, viewer)
            view = play.view(step.position, viewer)
            offers = () if viewer is None else play.offers(step.position, viewer)
            assert_hidden(step.position, viewer, [view, offers], seen)
            for line in set(GAMES[game].draw(view.table)) - legend:
                assert_hidden(step.position, viewer, [line, *line.split()], seen)
            for event in step.events:
                assert event.type in GAMES[game].spec.events
                assert_hidden(step.position, viewer, event.seen(look_as(viewer)), seen_in(step, before, viewer))


@games
def test_no_score_shows_a_hidden_card(game: str) -> None:
    """A score names no card that the viewer has not seen by then."""
    playthrough = Playthrough(game)
    legend = drawn_before(playthrough.opening)
    ever: dict[Viewer, set[str]] = {viewer: set() for viewer in viewers(playthrough.opening)}
    for before, step in steps_of(playthrough, 10, rounds=2):
        for viewer in viewers(step.position):
            ever[viewer] |= seen_in(step, before, viewer)
            try:
                score = play.score(step.position, viewer)
            except Illegal:
                continue
            assert_hidden(step.position, viewer, score, ever[viewer])
            for line in set(GAMES[game].draw(score.sheet)) - legend:
                assert_hidden(step.position, viewer, [line, *line.split()], ever[viewer])
            assert msgspec.json.encode(score)


def test_a_shown_card_is_found() -> None:
    """The search finds a hidden card and a sign in any depth of what is shown, and leaves seen cards alone."""
    playthrough = Playthrough("skulls-and-swords")
    playthrough.forward()
    position = playthrough.position
    for shown in ({"hand": ["MA"]}, {"Kh": 1}, [[{"note": "MA-"}]], "a MA+ it was"):
        with pytest.raises(AssertionError):
            assert_hidden(position, 0, shown, {"B"})
    assert_hidden(position, 0, [{"hand": ["B", None]}, "MAD", "Khan"], {"B"})


@games
def test_every_type_of_event_comes_about(game: str) -> None:
    """The events that a game says it has are those that it has, and what reveals is among them."""
    spec, happened = GAMES[game].spec, set()
    for seed in range(40):
        playthrough = Playthrough(game, secret=SECRET[seed:] + SECRET[:seed])
        for _ in steps_of(playthrough, seed):
            pass
        if not playthrough.over:
            playthrough.act(0, Action("leave"))
        happened |= {event.type for step in playthrough.steps for event in step.events}
    assert happened <= set(spec.events)
    assert set(spec.events) - happened == RARE.get(game, set())
    assert set(spec.reveals) <= set(spec.events)
