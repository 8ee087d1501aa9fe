"""The doors into and out of a game, tried with a toy of several seats, hidden hands, time and a bot."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import play
from engine.cards import pack
from engine.game import Action, Due, Event, Illegal, Invalid, Move, NotYours, Offer
from engine.games import GAMES
from engine.piles import look_as
from engine.play import Position, Seat, Step, View
from engine.shuffle import Chance, commitment, round_seed
from tests import test_games
from tests.rounds import SECRET, SESSION, all_cards
from tests.toys import SLUG, Showing, Toy

DEAL, LEAVE = Action("deal"), Action("leave")
FIRST, SECOND = Action("choose", {"cards": [0]}), Action("choose", {"cards": [1]})
PERSONS = (Seat("Ann"), Seat("Ben"))
BOT = Seat("Bot", kind="bot", level="easy")


@pytest.fixture(autouse=True, name="toy", scope="module")
def _toy() -> Iterator[Toy]:
    """Register the toy for these tests."""
    with pytest.MonkeyPatch.context() as patch:
        toy = Toy()
        patch.setitem(GAMES, SLUG, toy)
        yield toy


@pytest.fixture(name="with_bot")
def _with_bot(monkeypatch: pytest.MonkeyPatch) -> Position:
    """Return a table whose seat 1 is a bot's."""
    monkeypatch.setitem(GAMES, SLUG, Toy(bot_seat=1))
    return opened((Seat("Ann"), BOT), bell_ms=1500)


def opened(seats: tuple[Seat, ...] = PERSONS, **options: int) -> Position:
    """Return a new table."""
    return play.open_table(SLUG, SESSION, SECRET, seats, options)


def act(position: Position, seat: int, action: Action, at: int = 0) -> Position:
    """Return the position after a move."""
    return play.advance(position, Move(seat, action, at)).position


def inside(position: Position) -> Showing:
    """Return the toy's state."""
    assert isinstance(position.state, Showing)
    return position.state


def obedient(view: View, offers: tuple[Offer, ...]) -> Action:
    """Send the first example, as a bot."""
    return Action(offers[0].verb, offers[0].example)


BOTS: dict[str, play.Bot] = {"easy": obedient}


def played(position: Position, rounds: int = 1, start: int = 0) -> tuple[Position, list[Move]]:
    """Play whole rounds by first examples, 100 ms a move; return where they end, and the log."""
    now, log, target = start, list[Move](), position.state.round + rounds
    while position.state.round < target or position.state.playing:
        now += 100
        steps = list(play.settle(position, now, BOTS))
        position = steps[-1].position if steps else position
        seat = inside(position).turn if position.state.playing else 0
        if seat is not None and position.seats[seat].kind == "person" and not (steps and not position.state.playing):
            offer = play.offers(position, seat)[0]
            steps.append(play.advance(position, Move(seat, Action(offer.verb, offer.example), now)))
            position = steps[-1].position
        log += [step.move for step in steps]
    return position, log


# Opening.


def test_a_table_opens_with_what_it_is_given() -> None:
    """A new position has the session's id, secret and seats, no round, and an empty client seed a seat."""
    position = opened(turn_ms=7)
    assert (position.game, position.session, position.secret, position.seats) == (SLUG, SESSION, SECRET, PERSONS)
    assert (position.counters, position.client_seeds, position.next_client_seeds) == ({}, (), ("", ""))
    assert inside(position).house.turn_ms == 7
    assert inside(position).house.bell_ms == 2500


@pytest.mark.parametrize(
    ("options", "pointer", "detail"),
    [
        ({"nonsense": 1}, "/options/nonsense", "unknown option"),
        ({"turn_ms": 0}, "/options/turn_ms", "turn_ms must be an integer from 1 to 60000"),
        ({"turn_ms": "7"}, "/options/turn_ms", "turn_ms must be an integer from 1 to 60000"),
        ({"turn_ms": 1, "bell_ms": 1}, "/options/bell_ms", "the bell and the turns must not be over at once"),
    ],
)
def test_a_table_does_not_open_with_bad_options(options: dict[str, Any], pointer: str, detail: str) -> None:
    """An unknown option, one out of bounds, and options that clash are invalid, and the field is named."""
    with pytest.raises(Invalid, match=detail) as refused:
        opened(**options)
    assert refused.value.pointer == pointer


def test_the_stateless_evaluation_checks_its_options() -> None:
    """Options are checked before cards are judged, and a game that judges none says so (C-12)."""
    with pytest.raises(Invalid):
        play.evaluate(SLUG, (), {"nonsense": 1})
    with pytest.raises(Illegal) as refused:
        play.evaluate(SLUG, (), {})
    assert refused.value.code == "nothing-to-evaluate"


# Legality is membership.


def test_what_is_offered_ends_with_the_ways_out() -> None:
    """The game's own offers come first, then the seed, then the way out where there is one."""
    position = opened()
    assert [offer.verb for offer in play.offers(position, 0)] == ["deal", "seed", "leave"]
    dealt = act(position, 0, DEAL)
    assert [offer.verb for offer in play.offers(dealt, 0)] == ["choose", "seed"]
    assert [offer.verb for offer in play.offers(dealt, 1)] == ["seed", "leave"]


@pytest.mark.parametrize(
    ("seat", "action", "code", "detail"),
    [
        (0, Action("bet"), "not-in-this-game", "Toy has no bet."),
        (0, Action(""), "not-in-this-game", "Toy has no ."),
        (0, DEAL, "not-now", "There is nothing to deal now."),
        (1, FIRST, "not-now", "It is the turn of seat 0."),
        (0, Action("choose"), "out-of-bounds", "Now cards is missing."),
        (
            0,
            Action("choose", {"cards": [3]}),
            "out-of-bounds",
            "Now cards must be 1 different positions out of 0 to 2.",
        ),
        (0, Action("choose", {"cards": [0], "x": 1}), "out-of-bounds", "Now x is not asked for."),
        (0, LEAVE, "not-now", "There is nothing to leave now."),
        (1, Action("leave", {"x": 1}), "out-of-bounds", "Now x is not asked for."),
        (1, Action("seed"), "out-of-bounds", "Now client_seed is missing."),
        (1, Action("seed", {"client_seed": "x" * 65}), "out-of-bounds", "Now client_seed must be text of at most"),
    ],
)
def test_what_is_not_offered_is_illegal_and_the_reason_is_said(
    seat: int, action: Action, code: str, detail: str
) -> None:
    """A refusal has a code of a closed set and a sentence, and the position is as it was."""
    dealt = act(opened(), 0, DEAL)
    stored = msgspec.msgpack.encode(dealt)
    with pytest.raises(Illegal) as refused:
        act(dealt, seat, action)
    assert refused.value.code == code
    assert refused.value.detail.startswith(detail)
    assert msgspec.msgpack.encode(dealt) == stored


@pytest.mark.parametrize("seat", [None, -1, 2])
def test_who_holds_no_seat_moves_nothing(seat: int | None) -> None:
    """A move without a seat of this table is not its sender's to make, whatever it is."""
    for action in (DEAL, Action("bet"), LEAVE):
        with pytest.raises(NotYours):
            play.advance(opened(), Move(seat, action, 0))


def test_a_seat_that_has_left_is_offered_nothing_and_told_so() -> None:
    """A seat once left can do nothing more, and is told that it has left."""
    position = act(opened((*PERSONS, Seat("Cid"))), 1, LEAVE)
    assert play.offers(position, 1) == ()
    for action in (DEAL, LEAVE, Action("seed", {"client_seed": ""})):
        with pytest.raises(Illegal, match="This seat has left the table") as refused:
            act(position, 1, action)
        assert refused.value.code == "left"


def test_a_finished_session_takes_nothing_and_says_why() -> None:
    """When too few seats are left the session is finished: for the others too, and with the reason."""
    position = act(opened(), 1, LEAVE)
    assert (play.status(position), play.view(position, 0).reason) == ("finished", "left")
    for seat in (0, 1):
        assert play.offers(position, seat) == ()
        with pytest.raises(Illegal, match="finished: left") as refused:
            act(position, seat, DEAL)
        assert refused.value.code == "finished"
    assert play.settle(position, 10**9, {}) == ()


# Leaving.


def test_who_leaves_is_marked_and_skipped() -> None:
    """The seat of a leaver stays, is marked, is waited for no more, and gets no cards in the next round."""
    position = act(opened((*PERSONS, Seat("Cid"))), 0, DEAL)
    step = play.advance(position, Move(2, LEAVE, 50))
    assert [event.type for event in step.events] == ["left"]
    assert [seat.left for seat in step.position.seats] == [False, False, True]
    settled, _ = played(step.position, rounds=2, start=100)
    assert [seat["to_act"] for seat in play.view(settled, None).seats] == [True, True, False]
    assert [len(hand) for hand in inside(settled).hands] == [3, 3, 0]
    assert all_cards(settled) == all_cards(opened())


def test_leaving_draws_on_no_other_round() -> None:
    """Between rounds a leaver changes nothing of the deal to come."""
    three = (*PERSONS, Seat("Cid"))
    settled, _ = played(opened(three))
    left = act(settled, 2, LEAVE)
    hands = [inside(act(position, 0, DEAL)).hands[0] for position in (settled, left)]
    assert hands[0] == hands[1]


# Status and view.


def test_a_session_goes_from_waiting_to_finished() -> None:
    """A session waits for open seats, is ready, is playing, is settled between rounds, and ends finished."""
    assert play.status(opened((Seat("Ann"), Seat("", kind="open")))) == "waiting"
    ready = opened()
    settled, _ = played(ready)
    again = act(settled, 1, DEAL)
    over = act(again, 1, LEAVE)
    assert [play.status(each) for each in (ready, act(ready, 0, DEAL), settled, again, over)] == [
        "ready",
        "playing",
        "settled",
        "playing",
        "finished",
    ]


def test_a_view_is_built_for_its_viewer() -> None:
    """Each seat sees its own hand, a spectator none, and all of them the same seats and turn."""
    dealt = act(opened(), 0, DEAL)
    hands = [hand.cards for hand in inside(dealt).hands]
    nothing = (None, None, None)
    tables = [msgspec.to_builtins(play.view(dealt, viewer).table) for viewer in (0, 1, None)]
    assert [table["hands"] for table in tables] == [(hands[0], nothing), (nothing, hands[1]), (nothing, nothing)]
    views = [replace(play.view(dealt, viewer), table=inside(dealt).house) for viewer in (0, 1, None)]
    assert views[0] == views[1] == views[2]
    assert views[0].seats[1] == {
        "seat": 1, "name": "Ben", "kind": "person", "level": None, "left": False, "to_act": False, "seeded": False
    }  # fmt: skip


def test_an_event_is_seen_with_each_viewers_eyes() -> None:
    """A drawn card is shown to the seat that drew it and to nobody else."""
    shown, drew = play.advance(act(opened(), 0, DEAL), Move(0, SECOND, 10)).events
    assert shown.seen(look_as(None)) == shown.seen(look_as(1))
    assert drew.seen(look_as(0))["card"] == drew.piles["card"].cards
    assert drew.seen(look_as(1)) == drew.seen(look_as(None)) == {"type": "drew", "seat": 0, "card": (None,)}


# Chance and commitment.


def test_a_round_is_dealt_from_the_seed_committed_to_before_it() -> None:
    """Next commitment before the deal, commitment after it, and SHA-256 of the seed that the deal came from."""
    position, told = opened(), list[str | None]()
    for number in (1, 2, 3):
        promised = play.view(position, None).next_commitment
        dealt = act(position, 0, Action("deal", {"client_seed": f"luck {number}"}))
        seed = round_seed(SECRET, SESSION, number)
        assert play.view(dealt, None).commitment == promised == commitment(seed)
        framed = b"\0\0\0\x15croupier/1/commitment\0\0\0\x40" + seed
        assert promised == hashlib.sha256(framed).hexdigest()
        order = Chance(seed, (f"luck {number}", ""), {}).shuffle(pack("hd"), "deal")
        assert inside(dealt).hands[0].cards + inside(dealt).hands[1].cards + inside(dealt).stock.cards == order
        position, _ = played(dealt, rounds=0)
        told.append(promised)
    assert len(set(told)) == 3


def test_commitments_say_when_there_is_a_round() -> None:
    """Before the first round there is nothing committed to but the next one; after the end there is no next."""
    position = opened()
    assert play.view(position, None).commitment is None
    dealt = act(position, 0, DEAL)
    assert play.view(dealt, None).next_commitment not in (None, play.view(dealt, None).commitment)
    over = act(dealt, 1, LEAVE)
    assert play.view(over, 0).next_commitment is None
    assert play.view(over, 0).commitment == play.view(position, 0).next_commitment


def test_no_view_shows_a_secret_a_seed_or_a_client_seed() -> None:
    """A commitment is all that is shown of what a round is dealt from."""
    position = act(opened(), 1, Action("seed", {"client_seed": "my secret luck"}))
    for each in (position, act(position, 0, DEAL), played(position)[0]):
        for viewer in (None, 0, 1):
            text = msgspec.json.encode(play.view(each, viewer)).decode()
            for hidden in ("secret luck", SECRET.hex(), *(round_seed(SECRET, SESSION, n).hex() for n in (1, 2))):
                assert hidden not in text


def deal_order(position: Position, seat: int = 0, action: Action = DEAL) -> tuple[str, ...]:
    """Return the cards as the next deal lays them out."""
    state = inside(act(position, seat, action))
    return tuple(card for pile in (*state.hands, state.stock) for card in pile.cards)


def test_a_seats_own_seed_counts_for_one_round_only() -> None:
    """A client seed changes the next round's deal and no later one."""
    plain = opened()
    seeded = act(plain, 1, Action("seed", {"client_seed": "luck"}))
    assert seeded.next_client_seeds == ("", "luck")
    assert deal_order(plain) != deal_order(seeded)
    dealt = act(seeded, 0, DEAL)
    assert (dealt.client_seeds, dealt.next_client_seeds) == (("", "luck"), ("", ""))
    assert deal_order(played(plain)[0]) == deal_order(played(seeded)[0])


def test_the_last_seed_before_the_deal_counts() -> None:
    """A seat may change its mind, also in the deal itself; an empty seed takes it back (C-7)."""
    once = act(opened(), 0, Action("seed", {"client_seed": "first"}))
    twice = act(once, 0, Action("seed", {"client_seed": "second"}))
    assert deal_order(once, 0, Action("deal", {"client_seed": "second"})) == deal_order(twice)
    assert deal_order(twice, 0, Action("deal", {"client_seed": ""})) == deal_order(opened())
    assert deal_order(once, 1, Action("deal", {"client_seed": "second"})) != deal_order(twice)


def test_a_seed_given_in_a_round_is_for_the_next() -> None:
    """A seed never moves a round in play."""
    dealt = act(opened(), 0, DEAL)
    seeded = act(dealt, 0, Action("seed", {"client_seed": "luck"}))
    assert (seeded.client_seeds, seeded.next_client_seeds) == (("", ""), ("luck", ""))
    one, other = played(dealt, rounds=0)[0], played(seeded, rounds=0)[0]
    assert one.state == other.state
    assert deal_order(one) != deal_order(other)


def test_a_rounds_chance_is_its_own() -> None:
    """Counters run on within a round, and begin anew with the next."""
    dealt = act(opened(), 0, DEAL)
    assert dealt.counters == {"deal": 2}
    shown = act(dealt, 0, FIRST)
    assert shown.counters == {"deal": 2, "draw-0": 1}
    settled, _ = played(shown, rounds=0)
    assert settled.counters == {"deal": 2, "draw-0": 2, "draw-1": 2}
    assert act(settled, 0, DEAL).counters == {"deal": 2}


def test_looking_draws_nothing() -> None:
    """Views, offers, scores and refused moves leave the draws to come as they are."""
    looked = dealt = act(opened(), 0, DEAL)
    for viewer in (None, 0, 1):
        play.view(looked, viewer)
    with pytest.raises(Illegal):
        act(looked, 1, FIRST)
    with pytest.raises(Illegal):
        play.score(looked, 0)
    assert act(looked, 0, FIRST) == act(dealt, 0, FIRST)


# Time.


def times(steps: tuple[Step, ...]) -> list[tuple[int, str]]:
    """Return when each step was, and its first event."""
    return [(step.move.at, step.events[0].type) for step in steps]


def test_what_is_due_happens_in_order_each_at_its_own_time() -> None:
    """However late one looks, lapses and bell have come one after the other at their own moments (C-5)."""
    dealt = act(opened(), 0, DEAL, at=1000)
    steps = play.settle(dealt, 10**9, {})
    assert times(steps) == [(3500, "rang"), (6000, "lapsed"), (11000, "lapsed"), (16000, "lapsed"), (21000, "lapsed")]
    assert [step.move.seat for step in steps] == [None] * 5
    assert steps[0].events == (Event("rang", None, {"at": 3500}),)
    assert play.status(steps[-1].position) == "settled"


def test_what_is_due_at_this_moment_has_happened() -> None:
    """A consequence due at t is settled at t, and not a millisecond before."""
    dealt = act(opened(), 0, DEAL, at=1000)
    assert play.settle(dealt, 3499, {}) == ()
    assert times(play.settle(dealt, 3500, {})) == [(3500, "rang")]


def test_two_that_are_due_at_once_come_in_the_games_order() -> None:
    """At one moment the game's own consequences come before a bot's, and in the game's order."""
    dealt = act(opened(turn_ms=2500), 0, DEAL)
    assert times(play.settle(dealt, 2500, {})) == [(2500, "rang"), (2500, "lapsed")]


def test_a_consequence_comes_before_a_bot_that_is_due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that lapses at the very moment at which the bot would move has lapsed."""
    monkeypatch.setitem(GAMES, SLUG, Toy(bot_seat=0))
    dealt = act(opened((BOT, Seat("Ben")), turn_ms=1000, bot_ms=1000), 1, DEAL)
    assert times(play.settle(dealt, 1000, BOTS)) == [(1000, "lapsed")]


@given(st.lists(st.integers(0, 30_000), max_size=6))
def test_it_does_not_matter_who_looks_when(looks: list[int]) -> None:
    """Looking often or once gives the same steps and the same position."""
    dealt = act(opened(), 0, DEAL)
    position, steps = dealt, list[Step]()
    for now in (*sorted(looks), 30_000):
        steps += play.settle(position, now, {})
        position = steps[-1].position if steps else dealt
    assert tuple(steps) == play.settle(dealt, 30_000, {})


def test_a_turn_is_timed_from_the_move_before_it() -> None:
    """A move's own time sets what is due after it."""
    moved = act(act(opened(), 0, DEAL), 0, FIRST, at=4000)
    assert times(play.settle(moved, 9000, {})) == [(2500, "rang"), (9000, "lapsed")]
    assert play.settle(moved, 8999, {})[-1].move.at == 2500


def test_the_deadline_is_the_next_public_moment() -> None:
    """A view names the next consequence's moment, and no moment where nothing is due."""
    dealt = act(opened(), 0, DEAL, at=1000)
    rung = play.settle(dealt, 3500, {})[-1].position
    assert [play.view(each, None).deadline_at for each in (opened(), dealt, rung)] == [None, 3500, 6000]


# Bots.


def test_a_bot_moves_when_its_time_has_come(with_bot: Position) -> None:
    """A bot's move is made at its own moment, as its seat, and is logged like anyone's (C-11)."""
    moved = act(act(with_bot, 0, DEAL), 0, FIRST, at=100)
    assert play.settle(moved, 1099, BOTS) == ()
    (step,) = play.settle(moved, 1100, BOTS)
    assert step.move == Move(1, FIRST, 1100)
    assert [event.type for event in step.events] == ["shown", "drew"]


def test_a_bot_sees_its_own_seats_view_and_nothing_else(with_bot: Position) -> None:
    """A bot is handed the view and the offers that its seat would be sent."""
    given_to_it: list[tuple[View, tuple[Offer, ...]]] = []

    def curious(view: View, offers: tuple[Offer, ...]) -> Action:
        given_to_it.append((view, offers))
        return SECOND

    moved = act(act(with_bot, 0, DEAL), 0, FIRST)
    (step,) = play.settle(moved, 1000, {"easy": curious, "hard": obedient})
    assert step.move.action == SECOND
    assert given_to_it == [(play.view(moved, 1), play.offers(moved, 1))]
    assert msgspec.to_builtins(given_to_it[0][0].table)["hands"][0] == (None,) * 3


@pytest.mark.parametrize("action", [DEAL, LEAVE, Action("cheat"), Action("choose", {"cards": [3]})])
def test_a_bot_does_only_what_its_seat_is_offered(with_bot: Position, action: Action) -> None:
    """A bot that asks for anything else is refused like a person, and nothing is logged."""
    moved = act(act(with_bot, 0, DEAL), 0, FIRST)
    with pytest.raises(Illegal):
        play.settle(moved, 1000, {"easy": lambda _view, _offers: action})


def test_a_bots_moment_is_never_shown(with_bot: Position) -> None:
    """Nothing in a view tells when a bot will move."""
    moved = act(act(with_bot, 0, DEAL), 0, FIRST, at=100)
    for viewer in (None, 0, 1):
        assert play.view(moved, viewer).deadline_at != 1100


# Replay.


def test_the_moves_alone_give_the_position_again() -> None:
    """Replaying the log from the opening gives the same position, and settles nothing anew."""
    opening = opened(turn_ms=100, bell_ms=250)
    position, log = played(opening, rounds=3)
    assert {move.seat for move in log} == {None, 0, 1}
    assert play.replay(opening, log) == position


def test_a_replay_needs_no_bot(with_bot: Position) -> None:
    """A bot's moves are in the log, so that whoever replays it asks no bot."""
    position, log = played(with_bot, rounds=2)
    assert {move.seat for move in log} == {None, 0, 1}
    assert play.replay(with_bot, log) == position


def test_a_replay_with_leavers_and_seeds_is_the_same() -> None:
    """Seeds and leavers are moves like any other."""
    opening = opened((*PERSONS, Seat("Cid")))
    first, log = played(act(opening, 2, Action("seed", {"client_seed": "æ"})), rounds=1)
    log.insert(0, Move(2, Action("seed", {"client_seed": "æ"}), 0))
    left = Move(2, LEAVE, 10**6)
    second, more = played(play.advance(first, left).position, rounds=1, start=10**6)
    assert play.replay(opening, [*log, left, *more]) == second


def test_a_log_that_breaks_the_rules_does_not_replay(with_bot: Position) -> None:
    """A replay refuses a move that was not offered, a bot's like a person's."""
    for moves in ([Move(0, DEAL, 0), Move(0, DEAL, 1)], [Move(0, DEAL, 0), Move(1, FIRST, 1)]):
        with pytest.raises(Illegal):
            play.replay(with_bot, moves)


def test_a_consequence_is_the_tables_own_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """A consequence that befalls a person's seat is nobody's move, so a replay does not look for it in the offers."""

    class Naming(Toy):
        def due(self, state: Showing) -> Due | None:
            due = super().due(state)
            return due and replace(due, seat=state.turn)

    monkeypatch.setitem(GAMES, SLUG, Naming())
    dealt = act(opened(), 0, DEAL)
    steps = play.settle(dealt, 10**6, {})
    assert {step.move.seat for step in steps} == {None}
    assert play.replay(dealt, [step.move for step in steps]) == steps[-1].position


# The toy keeps what every game keeps, so that the suite is known to fit such games.

GENERIC: tuple[Callable[[str], None], ...] = (
    test_games.test_a_round_settles_under_every_setting,
    test_games.test_every_choice_of_a_setting_is_tried,
    test_games.test_first_examples_settle_a_round_within_the_bound,
    test_games.test_every_card_lies_in_a_pile_that_the_game_names,
    test_games.test_every_example_and_every_body_that_is_offered_is_accepted,
    test_games.test_what_no_offer_holds_is_refused_and_changes_nothing,
    test_games.test_no_seat_means_no_move,
    test_games.test_offers_lie_within_the_fixed_bounds,
    test_games.test_no_view_and_no_event_shows_a_hidden_card,
    test_games.test_no_score_shows_a_hidden_card,
)


@pytest.mark.parametrize("test", GENERIC, ids=lambda test: test.__name__)
def test_the_suite_fits_a_game_of_seats_and_time(test: Callable[[str], None]) -> None:
    """What every registered game is held to a game with several seats and timed consequences can keep."""
    test(SLUG)
