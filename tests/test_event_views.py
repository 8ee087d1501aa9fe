"""What each viewer is told of every version: his own view of it, and of what happened no more than he may know."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from engine.games import GAMES
from service import streams
from service.records import Viewer
from tests.conftest import Clock, ClockedStore
from tests.feeds import NDJSON, SSE, Told, listen, poll, serving
from tests.parties import HOST, Party, Who

JACKPOT = "jackpot"
STEPS = 24
FLIP = 4000
"""Long enough for any countdown, in ms."""


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    with serving(store, client=FlaskClient) as app:
        yield app


class Watched:
    """A session that every viewer follows, and what each of them reads at every version."""

    def __init__(self, party: Party, clock: Clock) -> None:
        self.party = party
        self.clock = clock
        self.viewers: tuple[Who, ...] = (*party.tokens, HOST, None)
        kinds = [SSE, NDJSON]
        self.feeds = {
            viewer: listen(party.client, party.path, party.headers(viewer), kinds[place % 2])
            for place, viewer in enumerate(self.viewers)
        }
        self.read: dict[tuple[Who, int], bytes] = {}
        self.answered: dict[tuple[Who, int], Any] = {}
        self.version = 0
        self.look()

    def look(self) -> None:
        """Let every viewer read."""
        for viewer in self.viewers:
            answer = self.party.read(viewer)
            self.version = answer.get_json()["version"]
            self.read[viewer, self.version] = answer.data

    def step(self) -> None:
        """Make the first move that any seat is offered, or let time pass."""
        self.clock.advance(7)
        for seat in self.party.tokens:
            first = self.party.seen(seat)["actions"][0]
            if first["verb"] not in ("seed", "leave"):
                made = self.party.does(seat, first["verb"], first["example"])
                self.answered[seat, made["version"]] = made["events"]
                return self.look()
        self.clock.advance(FLIP)
        return self.look()

    def heard(self) -> dict[Who, list[Told]]:
        """Return what each viewer was told, and let all go."""
        found = {viewer: feed.until(self.version) for viewer, feed in self.feeds.items()}
        for feed in self.feeds.values():
            feed.close()
        return found


def watched(app: Flask, clock: Clock, game: str) -> Watched:
    least = GAMES[game].spec.seats[0]
    party = Party(app.test_client()).seat(game, [f"Seat {number}" for number in range(least)])
    table = Watched(party, clock)
    for _ in range(STEPS):
        table.step()
    return table


def check_views(table: Watched, heard: Mapping[Who, list[Told]]) -> None:
    """Fail unless every frame holds the view that its viewer reads at that version, and his answer's events."""
    compared = 0
    for viewer, frames in heard.items():
        assert [told.frame["version"] for told in frames] == list(range(table.version + 1))
        for told in frames:
            place = viewer, told.frame["version"]
            if place in table.read:
                assert told.view == table.read[place]
                compared += 1
            if place in table.answered:
                assert told.frame["events"] == table.answered[place]
    assert compared > STEPS * len(heard) / 2


@pytest.mark.parametrize("game", GAMES)
def test_a_frame_holds_what_its_viewer_reads_at_that_version(app: Flask, clock: Clock, game: str) -> None:
    """Byte for byte, for every seat, the host and a spectator; its events are those of the mover's answer."""
    table = watched(app, clock, game)
    check_views(table, table.heard())


def test_a_former_host_is_told_as_the_host_what_he_was(app: Flask, clock: Clock) -> None:
    """Coming back after his rights have passed on, he is told each version as he read it then, and so is the heir."""
    party = Party(app.test_client()).seat(JACKPOT, ["Anna", "Bo"])
    table = Watched(party, clock)
    table.step()
    party.does(HOST, "leave")
    table.look()
    for viewer, frames in table.heard().items():
        with listen(party.client, party.path, party.headers(viewer), after=0) as feed:
            again = feed.until(table.version)
        assert [told.view for told in again] == [told.view for told in frames[1:]]
        assert [told.view for told in again] == [table.read[viewer, told.frame["version"]] for told in again]
    assert party.seen(HOST)["you"] is None


@pytest.mark.parametrize("game", GAMES)
def test_who_comes_later_is_told_the_same(app: Flask, clock: Clock, game: str) -> None:
    """The versions of a stream that begins at 0, and of a long poll, are those that were told as they came."""
    table = watched(app, clock, game)
    party = table.party
    for viewer, frames in table.heard().items():
        with listen(party.client, party.path, party.headers(viewer), after=0) as feed:
            again = feed.until(table.version)
        assert [told.timeless for told in again] == [told.timeless for told in frames[1:]]
        polled = poll(party.client, party.path, party.headers(viewer), after=0).data
        assert polled == b'{"version":%d,"frames":[%b]}' % (table.version, b",".join(told.raw for told in again))


def check_hidden(app: Flask, clock: Clock) -> None:
    """Fail if a card of a seat's hand is in anything that the others hear before all hands are shown."""
    table = watched(app, clock, JACKPOT)
    heard = table.heard()
    shown = next(told.frame["version"] for told in heard[None] if "flipped" in types(told))
    for seat in table.party.tokens:
        hands = {card for told in heard[seat][1:shown] for card in told.frame["view"]["table"]["hands"][seat]["cards"]}
        assert len(hands) >= 5
        for other in set(table.viewers) - {seat}:
            said = b"".join(told.raw for told in heard[other][:shown])
            assert [card for card in hands if f'"{card}"'.encode() in said] == []


def types(told: Told) -> list[str]:
    return [event["type"] for event in told.frame["events"]]


def test_a_hand_is_in_no_frame_of_another_viewer(app: Flask, clock: Clock) -> None:
    """Until the flip nobody but its owner is sent a card of it, not even one that was dropped (JP-14)."""
    check_hidden(app, clock)


# Planted faults: each is found by the checks above.


def test_a_frame_through_anothers_eyes_is_found_out(app: Flask, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that shows every viewer what seat 0 sees."""
    monkeypatch.setattr(sys.modules["service.events"], "viewing", lambda _viewer, _position: Viewer(0))
    with pytest.raises(AssertionError):
        check_hidden(app, clock)
    table = watched(app, clock, JACKPOT)
    with pytest.raises(AssertionError):
        check_views(table, table.heard())


def test_a_version_left_out_is_found_out(app: Flask, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One frame for all that was missed, as if nothing had come between."""
    between = streams._between
    monkeypatch.setattr(streams, "_between", lambda *gap: list(between(*gap))[-1:])
    with pytest.raises(AssertionError):
        test_who_comes_later_is_told_the_same(app, clock, JACKPOT)
