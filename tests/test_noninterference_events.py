"""What a viewer cannot see decides no byte of his streams and polls, until the rules themselves show it."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from engine.cards import face
from engine.games import GAMES
from engine.piles import Viewer
from service import sessions
from service.records import Seen
from tests.conftest import Clock
from tests.feeds import NDJSON, PATIENCE, SSE, Feed, Told, ended, listen, poll
from tests.rounds import dice
from tests.servers import StoreProcess
from tests.shelf import MadeUp
from tests.tables import PERSONS, random_value
from tests.test_noninterference import TOLD_BY, World, wander
from tests.worlds import permuted

MOVES, FORKS = 8, 6
LEAK = "the bytes"
"""What tells two worlds apart where no event does."""
JACKPOT = "jackpot"
EVERYONE = [(game, viewer) for game in GAMES for viewer in (*range(PERSONS[game]), None)]


@pytest.fixture(name="worlds")
def _worlds(server: StoreProcess, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[World]]:
    """Return a world to play in, the same in every run, and two to compare."""
    monkeypatch.setattr(sessions, "secrets", MadeUp("streams"))
    worlds = [World(server, number, clock) for number in (1, 2, 3)]
    for world in worlds:
        world.stored.command("FLUSHDB")
        app_of(world).extensions["streams"].heartbeat = PATIENCE
    yield worlds
    for world in worlds:
        ended(app_of(world))
        world.close()


def app_of(world: World) -> Any:  # noqa: ANN401 - Flask's client knows its application by no type
    return world.table.client.application


class Ear:
    """One world, as a viewer hears of it: by a stream, and by polls."""

    def __init__(self, world: World, viewer: Viewer, kind: str) -> None:
        self.world = world
        self.headers = {} if viewer is None else world.table.at(viewer).bearer()
        self.version = self._latest()
        self.feed: Feed = listen(world.table.client, world.table.path, self.headers, kind)
        self.snapshot = self.feed.next()

    def hear(self) -> tuple[list[Told], bytes]:
        """Return what is new, as the stream and as a poll tell it."""
        self.world.table.watched()
        known, self.version = self.version, self._latest()
        polled = poll(self.world.table.client, self.world.table.path, self.headers, after=known)
        return self.feed.until(self.version) if self.version > known else [], polled.data

    def _latest(self) -> int:
        return self.world.stored.record(self.world.table.id).version


def apart(heard: list[tuple[list[Told], bytes]]) -> set[str]:
    """Return the types of the first events that differ in what was heard, or that something else does."""
    (one, one_polled), (other, other_polled) = heard
    for place in range(max(len(one), len(other))):
        here = [frames[place] if place < len(frames) else None for frames in (one, other)]
        if found := _first_events([told.frame["events"] if told else [] for told in here]):
            return found
        if len({told.raw if told else b"" for told in here}) > 1:
            return {LEAK}
    return set() if one_polled == other_polled else {LEAK}


def _first_events(both: list[list[dict[str, Any]]]) -> set[str]:
    for place in range(max(map(len, both))):
        here = [events[place] if place < len(events) else None for events in both]
        if here[0] != here[1]:
            return {event["type"] for event in here if event}
    return set()


def listen_on(pair: list[World], viewer: Viewer, clock: Clock, seed: int) -> set[str]:
    """Let the same happen in two worlds; return what tells the viewer that they differ, or nothing."""
    random = dice(seed)
    ears = [Ear(world, viewer, (SSE, NDJSON)[seed % 2]) for world in pair]
    try:
        if ears[0].snapshot.raw != ears[1].snapshot.raw:
            return {LEAK}
        for _ in range(MOVES):
            clock.advance(random.randrange(2000))
            if found := apart([ear.hear() for ear in ears]):
                return found
            if not same_move(pair, random):
                return set()
            if found := apart([ear.hear() for ear in ears]):
                return found
    finally:
        for ear in ears:
            ear.feed.close()
    return set()


def same_move(pair: list[World], random: Any) -> bool:  # noqa: ANN401 - a source of choices
    """Let a seat do in both worlds what it is offered in the first; return whether it was the same for both."""
    able = pair[0].table.able()
    if not able:
        return True
    own, actions = random.choice(able)
    seat = next(seat for seat, token in own.tokens.items() if token == own.token)
    action = random.choice([actions[0], *actions])
    body = random_value(action["schema"], random)
    return len({world.table.at(seat).act(action["verb"], body).status_code for world in pair}) == 1


def told_apart_by(worlds: list[World], clock: Clock, game: str, viewer: Viewer) -> list[set[str]]:
    """Play at random, and from several places on in two worlds; return what told them apart each time."""
    random, found = dice(5), list[set[str]]()
    here, *pair = worlds
    here.table.open(game)
    while len(found) < FORKS:
        wander(here, clock, random)
        if (status := here.table.watched()["status"]) == "finished":
            here.table.open(game)
        if status != "playing":
            continue
        pair[0].becomes(here, lambda position: position)
        if pair[1].becomes(here, lambda position: permuted(position, viewer, random)):
            found.append(listen_on(pair, viewer, clock, len(found)))
    return found


@pytest.mark.parametrize(("game", "viewer"), EVERYONE)
def test_nothing_but_a_reveal_tells_two_streams_apart(
    worlds: list[World], clock: Clock, game: str, viewer: Viewer
) -> None:
    """Every frame and every poll is the same, byte for byte, up to the event that shows what was exchanged."""
    found = told_apart_by(worlds, clock, game, viewer)
    wrong = [told for told in found if told - set(GAMES[game].spec.reveals)]
    assert not wrong, f"told apart by {wrong}"
    assert set().union(*found) & TOLD_BY[game], "the worlds were never told apart: nothing was tested"


# Planted faults: each is found by the check above.


def assert_found_out(worlds: list[World], clock: Clock, viewer: Viewer) -> None:
    """Fail unless the streams are told apart by what they may not be told apart by."""
    with pytest.raises(AssertionError, match="told apart by"):
        test_nothing_but_a_reveal_tells_two_streams_apart(worlds, clock, JACKPOT, viewer)


@pytest.mark.parametrize("viewer", [1, None])
def test_events_through_anothers_eyes_are_found_out(
    worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch, viewer: Viewer
) -> None:
    """The view may be right, if the events of a frame show all cards."""
    views = sys.modules["service.views"]
    frame = views.frame

    def telling(event: str, seen: Seen, *asked: Any, **named: Any) -> Any:  # noqa: ANN401 - handed on
        all_seen = [each.seen(lambda pile: tuple(map(face, pile.cards))) for each in seen.events or ()]
        return replace(frame(event, seen, *asked, **named), events=all_seen)

    monkeypatch.setattr(views, "frame", telling)
    assert_found_out(worlds, clock, viewer)


@pytest.mark.parametrize("viewer", [1, None])
def test_a_frame_that_is_longer_for_a_high_card_is_found_out(
    worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch, viewer: Viewer
) -> None:
    """One space at the end is enough."""
    views = sys.modules["service.views"]
    frame = views.frame

    def telling(event: str, seen: Seen, *asked: Any, **named: Any) -> Any:  # noqa: ANN401 - handed on
        made = frame(event, seen, *asked, **named)
        hidden: Any = seen.record.position.state
        return replace(made, event=made.event + " " * (hidden.hands[0].cards.cards[:1] > ("7",)))

    monkeypatch.setattr(views, "frame", telling)
    assert_found_out(worlds, clock, viewer)
