"""The reader behind the streams: nothing is lost and nothing is kept, whatever the store does meanwhile."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service import streams
from service.connection import StoreAway, connect
from service.records import Entry, Seen
from service.sessions import Busy, Sessions
from service.store import Store
from service.streams import Reader
from service.wakes import Wakes, channel
from tests.feeds import PATIENCE, Feed, Silence, later, listen, reader_of, serving, taken
from tests.parties import HOST, Party, Who
from tests.servers import StoreProcess, eventually, start_store
from tests.stored import Stored

JACKPOT = "jackpot"
PLACES = 16
RACES = 500


@pytest.fixture(autouse=True)
def _no_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader try a lost store again soon."""
    monkeypatch.setattr(streams, "_NAP_SECONDS", 0.05)


@pytest.fixture(name="app")
def _app(store: Store) -> Iterator[Flask]:
    with serving(store, PLACES, FlaskClient) as app:
        yield app


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    return party_in(app)


def party_in(app: Flask) -> Party:
    return Party(app.test_client()).seat(JACKPOT, ["Anna", "Bo"])


def follow(party: Party, who: Who = 0, **query: Any) -> Feed:  # noqa: ANN401
    return listen(party.client, party.path, party.headers(who), **query)


def moves(party: Party, most: int = 1) -> int:
    """Make so many moves; return the version that the last one leads to."""
    made = [party.does(0, "seed", {"client_seed": f"luck {number}"})["version"] for number in range(most)]
    return int(made[-1])


def versions(feed: Feed, last: int) -> list[int]:
    """Return the versions that a feed tells, up to one."""
    return [told.frame["version"] for told in feed.until(last)]


# The race between a snapshot and the subscription that follows it.


def race(app: Flask, races: int) -> None:
    """Open streams while another client moves; hear of every version from each snapshot to the last move."""
    party, writer = party_in(app), Party(app.test_client())
    writer.game, writer.id, writer.host, writer.tokens = party.game, party.id, party.host, party.tokens
    for number in range(races):
        start = Barrier(2)
        writing = later(lambda start=start: (start.wait(), moves(writer, 2)))  # type: ignore[misc]
        start.wait()
        with follow(party, None, view="false") as feed:
            heard = versions(feed, 2 * number + 2)
        writing()
        assert heard == list(range(heard[0], 2 * number + 3))


def test_nothing_is_lost_between_a_snapshot_and_what_follows_it(app: Flask) -> None:
    """500 streams are opened while somebody moves; each tells every version from its snapshot on, to the last."""
    race(app, RACES)


def test_a_reader_that_does_not_look_again_is_found_out(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subscription alone, without a look at what came before it, loses moves."""
    follow_session = Wakes.follow

    def deaf(wakes: Wakes, session: str) -> None:
        follow_session(wakes, session)
        wakes.next(1)

    monkeypatch.setattr(Wakes, "follow", deaf)
    app.extensions["streams"].heartbeat = 0.5
    with pytest.raises((Silence, AssertionError)):
        race(app, RACES)


# A store that goes away.


def readers(stored: Stored) -> list[int]:
    """Return the store's connections that wait for news."""
    listed = stored.command("CLIENT", "LIST", "TYPE", "pubsub").decode()
    return [int(line.partition("id=")[2].split()[0]) for line in listed.splitlines()]


def test_a_lost_connection_costs_no_version(party: Party, stored: Stored) -> None:
    """The reader's own connection is killed again and again while somebody moves."""
    with follow(party) as feed, follow(party, None) as other:
        for number in range(10):
            eventually(lambda: readers(stored), "the reader waits for news", PATIENCE)
            for connection in readers(stored):
                stored.command("CLIENT", "KILL", "ID", connection)
            moves(party, 2)
            heard = [versions(each, 2 * number + 2) for each in (feed, other)]
            assert heard == [list(range(2 * number + (number > 0), 2 * number + 3))] * 2


@pytest.fixture(name="frail")
def _frail(tmp_path: Path) -> Iterator[StoreProcess]:
    """Run a store that may be killed."""
    store = start_store(tmp_path)
    yield store
    store.stop()


def test_a_store_that_was_away_costs_no_version(frail: StoreProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed, stays away while the reader tries in vain, and comes back with its data."""
    tries = counted(monkeypatch, Wakes, "reset")
    with serving(Store(connect(frail.url)), PLACES) as app:
        parties = [party_in(app) for _ in range(3)]
        feeds = [follow(party) for party in parties]
        for feed in feeds:
            feed.next()
        for _ in range(2):
            frail.kill()
            before = len(tries)
            eventually(lambda: len(tries) > before + 3, "the reader has tried", PATIENCE)  # noqa: B023
            frail.start()
            frail.wait()
            last = [moves(party, 2) for party in parties]
            assert [versions(*each) for each in zip(feeds, last, strict=True)] == [[n - 1, n] for n in last]
        for feed in feeds:
            feed.close()


def test_what_a_newcomer_missed_is_told_although_the_store_failed(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that looked before others were told is caught up though that fails at first; nobody is told twice."""
    subscribe, entries = Reader.subscribe, Sessions.entries
    with follow(party) as feed:
        feed.next()

        def late(reader: Reader, seen: Seen) -> streams.Subscription:
            versions(feed, moves(party, 2))
            monkeypatch.setattr(Sessions, "entries", away)
            return subscribe(reader, seen)

        def away(sessions: Sessions, session: str, first: int, last: int) -> list[Entry]:
            monkeypatch.setattr(Sessions, "entries", entries)
            raise StoreAway

        monkeypatch.setattr(Reader, "subscribe", late)
        with follow(party) as newcomer:
            assert versions(newcomer, 2) == [0, 1, 2]
            assert versions(feed, moves(party)) == versions(newcomer, 3) == [3]


def test_a_nudge_that_fails_is_no_reason_to_refuse(app: Flask, party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader finds the request by itself, and nothing is kept of it afterwards."""
    monkeypatch.setattr(Wakes, "nudge", raising(StoreAway()))
    with follow(party) as feed:
        assert versions(feed, moves(party)) == [0, 1]
    eventually(lambda: not reader_of(app)._watched, "the session is followed no more", PATIENCE)
    assert taken(app, PLACES) == 0


def test_one_faulty_session_silences_no_other(
    app: Flask, party: Party, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are told at once, and itself as soon as the fault is gone."""
    others = [party_in(app) for _ in range(5)]
    feeds = [follow(each) for each in (party, *others)]
    for feed in feeds:
        feed.next()
    look, resets = Sessions.follow, counted(monkeypatch, Wakes, "reset")
    for fault in (ZeroDivisionError(), Busy()):
        faults: list[str] = []

        def faulty(sessions: Sessions, session: str, faults: list[str] = faults, fault: Exception = fault) -> Seen:
            if session != party.id:
                return look(sessions, session)
            faults.append(session)
            raise fault

        monkeypatch.setattr(Sessions, "follow", faulty)
        last = moves(party)
        eventually(lambda: len(faults) > 2, "the reader tries again", PATIENCE)  # noqa: B023
        for other, feed in zip(others, feeds[1:], strict=True):
            assert versions(feed, moves(other)) == [last]
        monkeypatch.setattr(Sessions, "follow", look)
        assert versions(feeds[0], last) == [last]
    assert resets == []
    for feed in feeds:
        feed.close()


def test_a_wake_up_that_is_lost_costs_no_version(app: Flask, party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader looks at each session once in a while although it has heard nothing."""
    monkeypatch.setattr(streams, "_AGAIN_SECONDS", 0.1)
    with follow(party) as feed:
        feed.next()
        eventually(lambda: party.id in reader_of(app)._watched, "the session is watched", PATIENCE)
        monkeypatch.setattr(Wakes, "next", lambda _, seconds: time.sleep(min(seconds, 0.01)))
        assert versions(feed, moves(party)) == [1]


# What is kept.


def test_a_client_that_reads_too_slowly_is_let_go(app: Flask, party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for it is bounded; it ends without an `end`, and goes on with a `reset`; the others hear all."""
    monkeypatch.setattr(streams, "LONGEST_GAP", 5)
    with follow(party) as slow, follow(party, None) as other:
        slow.next()
        for last in range(2, 14, 2):
            assert versions(other, moves(party, 2))[-1] == last
        assert [told.frame["version"] for told in slow.rest()] == [1, 2, 3, 4, 5]
    with follow(party, after=5) as again:
        told = again.next().frame
        assert (told["event"], told["version"]) == ("reset", 12)
        assert versions(again, moves(party)) == [13]


def test_what_is_due_is_noted_once(app: Flask, party: Party) -> None:
    """However often a session changes, the list of what is due does not grow with it."""
    with follow(party, view="false") as feed:
        for _ in range(10):
            versions(feed, moves(party, 30))
        assert len(reader_of(app)._due) < 100


def test_a_session_that_nobody_follows_is_forgotten(app: Flask, party: Party, stored: Stored) -> None:
    """Its channel is given up, whether its clients went or it came to an end."""
    other, third = party_in(app), party_in(app)
    feeds = [follow(each) for each in (party, other, third)]
    for feed in feeds:
        feed.next()
    followed = {channel(each.id).encode() for each in (party, other, third)}
    eventually(lambda: followed <= channels(stored), "their channels are followed", PATIENCE)
    feeds[0].close()
    other.client.delete(other.path, headers=other.headers(HOST))
    stored.drop(third.id)
    stored.command("SPUBLISH", channel(third.id), "")
    feeds[1].rest()
    feeds[2].rest()
    eventually(lambda: not followed & channels(stored), "no channel is followed", PATIENCE)
    eventually(lambda: not reader_of(app)._watched, "nothing is watched", PATIENCE)


def channels(stored: Stored) -> set[bytes]:
    """Return the channels that somebody follows."""
    return set(stored.command("PUBSUB", "SHARDCHANNELS"))


def test_a_reader_that_cannot_reach_the_store_still_ends_its_streams(
    app: Flask, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that stops tells every client, whatever else fails, and those that have only just asked."""
    with follow(party) as feed:
        feed.next()
        eventually(lambda: party.id in reader_of(app)._watched, "the session is watched", PATIENCE)
        monkeypatch.setattr(Wakes, "next", raising(StoreAway()))
        monkeypatch.setattr(Wakes, "follow", raising(StoreAway()))
        with follow(party_in(app)) as other:
            other.next()
            streams.closing.set()
            assert feed.rest() == other.rest() == []


def raising(error: Exception) -> Any:  # noqa: ANN401 - stands in for anything
    """Return what raises an error."""

    def fail(*_args: object) -> None:
        raise error

    return fail


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[None]:
    """Count the calls of a method."""
    calls: list[None] = []
    method = getattr(owner, name)

    def call(*args: Any) -> Any:  # noqa: ANN401 - stands in for anything
        calls.append(None)
        return method(*args)

    monkeypatch.setattr(owner, name, call)
    return calls
