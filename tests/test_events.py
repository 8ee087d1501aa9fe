"""What a session's events say, as a long poll, as server-sent events and as lines of JSON."""

from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest
from flask import Flask

from service import create_app, streams
from service.records import DAY_MS
from service.settings import Settings
from service.streams import Subscription
from service.wakes import channel
from tests.conftest import Clock, ClockedStore
from tests.feeds import NDJSON, PATIENCE, SSE, Feed, later, listen, poll, serving, taken
from tests.parties import HOST, Party
from tests.routes import outcome
from tests.servers import eventually
from tests.stored import Stored

JACKPOT, SPICE = "jackpot", "spice-island-poker"
PLACES = 3

both = pytest.mark.parametrize("kind", [SSE, NDJSON])


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    with serving(store, PLACES) as app:
        yield app


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    return Party(app.test_client()).seat(JACKPOT, ["Anna", "Bo"])


def follow(party: Party, who: Any = 0, kind: str = SSE, **query: Any) -> Feed:  # noqa: ANN401
    return listen(party.client, party.path, party.headers(who), kind, **query)


def resume(party: Party, last: str, **query: Any) -> Feed:  # noqa: ANN401
    return listen(party.client, party.path, party.headers(0) | {"Last-Event-ID": last}, **query)


def kinds(feed: Feed, count: int) -> list[tuple[str, int]]:
    """Return event and version of the next frames."""
    return [(told.frame["event"], told.frame["version"]) for told in feed.take(count)]


# Streams.


@both
def test_a_stream_begins_with_a_snapshot_and_goes_on_version_by_version(party: Party, kind: str) -> None:
    """The snapshot is the present view; then comes one frame a version, also one in which nothing happened."""
    party.does(0, "deal")
    with follow(party, kind=kind) as feed:
        assert kinds(feed, 1) == [("snapshot", 1)]
        party.does(0, "seed", {"client_seed": "luck"})
        party.does(0, "choose", {"drop": []})
        quiet, dropped = feed.take(2)
    assert (quiet.frame["event"], quiet.frame["version"], quiet.frame["events"]) == ("move", 2, [])
    assert (dropped.frame["version"], [each["type"] for each in dropped.frame["events"]]) == (3, ["dropped"])


def test_server_sent_events_say_first_how_long_to_wait(party: Party) -> None:
    """`retry:` comes before the first event; an id is a version, and nothing may be stored on the way."""
    with follow(party) as feed:
        assert feed.chunk() == b"retry: 1000\n\n"
        assert feed.chunk().startswith(b"id: 0\nevent: snapshot\ndata: {")
    assert feed.answer.headers["Cache-Control"] == "no-store"
    assert feed.answer.headers["X-Accel-Buffering"] == "no"


def test_a_frame_tells_its_own_time_and_the_clocks(party: Party, clock: Clock) -> None:
    """`at` is the move's time and `now` the store's, in ms."""
    with follow(party) as feed:
        feed.next()
        clock.advance(70)
        party.does(0, "deal")
        made = clock.now
        frame = feed.next().frame
        clock.advance(500)
    assert (frame["at"], frame["now"]) == (made, made)
    again = follow(party, after=0).next().frame
    assert (again["at"], again["now"]) == (made, made + 500)


@both
def test_a_stream_goes_on_after_a_version(party: Party, kind: str) -> None:
    """With `after` the versions missed come first, without a snapshot, then the new ones."""
    party.does(0, "deal")
    party.does(0, "choose", {"drop": []})
    with follow(party, kind=kind, after=1) as feed:
        assert kinds(feed, 1) == [("move", 2)]
        party.does(1, "choose", {"drop": []})
        assert kinds(feed, 1) == [("move", 3)]
    with follow(party, kind=kind, after=3) as feed:
        party.does(0, "seed", {"client_seed": "luck"})
        assert kinds(feed, 1) == [("move", 4)]


def test_the_last_event_id_counts_more_than_after(party: Party) -> None:
    """An EventSource comes back to the same address, with the id that it heard last."""
    for text in "abc":
        party.does(0, "seed", {"client_seed": text})
    with resume(party, "2", after=0) as feed:
        assert kinds(feed, 1) == [("move", 3)]
    with resume(party, "", after=1) as feed:
        assert kinds(feed, 1) == [("move", 2)]


@pytest.mark.parametrize("last", ["4", "9" * 15, "9" * 40, "-1", "1.5", "x", "²"])
def test_an_unknown_cursor_is_answered_with_a_reset(party: Party, last: str) -> None:
    """A snapshot of now stands in for what cannot be gone on from; then the stream goes on."""
    for text in "abc":
        party.does(0, "seed", {"client_seed": text})
    now = party.read(0).data
    with resume(party, last) as feed:
        first = feed.next()
        party.does(0, "deal")
        assert kinds(feed, 1) == [("move", 4)]
    assert (first.frame["event"], first.frame["version"], first.frame["events"]) == ("reset", 3, [])
    assert first.view == now


def test_who_missed_too_much_is_sent_a_reset(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """More versions than are told one by one are replaced by a snapshot."""
    monkeypatch.setattr(streams, "LONGEST_GAP", 2)
    for text in "abc":
        party.does(0, "seed", {"client_seed": text})
    with follow(party, after=0) as feed:
        assert kinds(feed, 1) == [("reset", 3)]
    with follow(party, after=1) as feed:
        assert kinds(feed, 2) == [("move", 2), ("move", 3)]


@both
def test_a_stream_may_leave_the_views_out(party: Party, kind: str) -> None:
    """With view=false only a beginning that stands for the past has one."""
    with follow(party, kind=kind, view="false") as feed:
        assert "view" in feed.next().frame
        party.does(0, "deal")
        assert feed.next().frame.keys() == {"event", "version", "at", "now", "events"}


def test_lines_begin_at_once(party: Party) -> None:
    """An empty line takes the headers along, so that a client is not kept waiting for them until something happens."""
    with follow(party, kind=NDJSON, after=0) as feed:
        assert feed.chunk() == b"\n"


@both
def test_silence_is_broken_by_a_heartbeat(party: Party, app: Flask, kind: str) -> None:
    """A comment, or an empty line, says that the stream is there."""
    app.extensions["streams"].heartbeat = 0.01
    with follow(party, kind=kind) as feed:
        chunks = [feed.chunk() for _ in range(5)]
        assert chunks[-3:] == [{SSE: b":\n\n", NDJSON: b"\n"}[kind]] * 3


def test_a_heartbeat_comes_every_15_seconds(store: ClockedStore) -> None:
    """Unless a test has set another pause."""
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    assert app.extensions["streams"].heartbeat == 15


# Ends.


@both
def test_a_stream_ends_with_its_session(party: Party, kind: str) -> None:
    """Behind the last version comes `end` with the reason, and then nothing."""
    with follow(party, kind=kind) as feed:
        feed.next()
        party.does(HOST, "leave")
        party.does(0, "leave")
        last = [told.frame for told in feed.rest()]
    assert [(frame["event"], frame["version"]) for frame in last] == [("move", 1), ("move", 2), ("end", 2)]
    assert last[-1] == {"event": "end", "version": 2, "reason": "left"}


def test_a_stream_of_what_is_over_tells_what_was_missed_and_ends(party: Party) -> None:
    """A finished session has no stream that goes on; who has heard all is told not to come back (204)."""
    party.does(HOST, "leave")
    party.does(0, "leave")
    assert [told.frame["event"] for told in follow(party).rest()] == ["snapshot", "end"]
    assert [told.frame["event"] for told in follow(party, after=1).rest()] == ["move", "end"]
    for kind in (SSE, NDJSON):
        heard_all = party.client.get(f"{party.path}/events?after=2", headers={"Accept": kind})
        assert (heard_all.status_code, heard_all.data) == (204, b"")
    back = party.client.get(f"{party.path}/events", headers={"Accept": SSE, "Last-Event-ID": "2"})
    assert back.status_code == 204


def test_a_deleted_session_ends_its_streams(party: Party) -> None:
    """The deletion is the last version; afterwards there is nothing to follow (410)."""
    with follow(party) as feed:
        feed.next()
        assert party.client.delete(party.path, headers=party.headers(HOST)).status_code == 204
        move, end = (told.frame for told in feed.rest())
    assert (move["view"]["status"], move["view"]["reason"], move["view"]["actions"]) == ("finished", "deleted", [])
    assert (move["events"], end["reason"]) == ([{"type": "deleted", "seat": None}], "deleted")
    assert outcome(poll(party.client, party.path)) == (410, "gone")


def test_a_session_that_expires_ends_its_streams(party: Party, clock: Clock, stored: Stored) -> None:
    """A day after the last move the stream ends by itself, and says so."""
    with follow(party) as feed:
        feed.next()
        clock.advance(DAY_MS)
        nudge(stored, party)
        assert [told.frame for told in feed.rest()] == [{"event": "end", "version": 0, "reason": "expired"}]


def test_a_session_that_is_dropped_ends_its_streams(party: Party, stored: Stored) -> None:
    """Where the keys are gone there is nothing to wait for."""
    with follow(party) as feed:
        feed.next()
        stored.drop(party.id)
        nudge(stored, party)
        assert [told.frame["event"] for told in feed.rest()] == ["end"]


def nudge(stored: Stored, party: Party) -> None:
    """Make the reader look, as it would by itself when the store's clock says so."""
    stored.command("SPUBLISH", channel(party.id), "")


def test_a_worker_that_stops_ends_its_streams_without_an_end(party: Party) -> None:
    """The session goes on elsewhere, so the client is to come back with what it heard last."""
    with follow(party) as feed:
        feed.next()
        streams.closing.set()
        assert feed.rest() == []


def test_a_token_issued_anew_ends_the_streams_of_the_old_one(party: Party) -> None:
    """Whoever listens with the old token hears of its end and no more; the others listen on."""
    with follow(party, 1) as old, follow(party, 0) as other, follow(party, None) as watching:
        for feed in (old, other, watching):
            feed.next()
        party.does(HOST, "token", {"seat": 1})
        party.does(0, "deal")
        assert [told.frame["event"] for told in old.rest()] == ["move", "end"]
        assert kinds(other, 2) == kinds(watching, 2) == [("move", 1), ("move", 2)]
    assert outcome(poll(party.client, party.path, party.headers(1))) == (401, "unauthorized")


# Long polls.


def test_a_poll_answers_at_once_with_what_was_missed(party: Party) -> None:
    """All versions after the cursor come together, and the last of them is the next cursor."""
    for text in "ab":
        party.does(0, "seed", {"client_seed": text})
    told = poll(party.client, party.path, party.headers(0), after=0, wait=30).get_json()
    assert (told["version"], [frame["version"] for frame in told["frames"]]) == (2, [1, 2])


def test_a_poll_without_a_wait_is_empty_when_nothing_is_new(party: Party) -> None:
    """The cursor comes back; without one it is the present version."""
    party.does(0, "deal")
    for query in ({"after": 1}, {}, {"wait": 0}):
        assert poll(party.client, party.path, party.headers(0), **query).get_json() == {"version": 1, "frames": []}


def test_a_poll_waits_for_the_next_version(party: Party, app: Flask) -> None:
    """It is answered when somebody moves, with the frame that a stream gets."""
    with follow(party) as feed:
        feed.next()
        waiting = later(lambda: poll(party.client, party.path, party.headers(0), after=0, wait=30))
        has_taken(app, 2)
        party.does(1, "deal")
        told, streamed = waiting(), feed.next()
    assert streamed.raw in told.data
    assert told.get_json()["version"] == 1
    has_taken(app, 0)


def test_a_poll_gives_up_when_its_time_is_over(party: Party, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits as many seconds as it was asked to, is answered empty, and its place is free again."""
    waited: list[float] = []

    def get(_subscription: Subscription, seconds: float) -> None:
        waited.append(seconds)
        raise Empty

    monkeypatch.setattr(Subscription, "get", get)
    answer = poll(party.client, party.path, party.headers(0), wait=25)
    assert (answer.get_json(), waited) == ({"version": 0, "frames": []}, [25.0])
    has_taken(app, 0)


def test_a_poll_of_a_void_token_hears_of_its_end_and_no_more(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes behind the new token in one go is not for the old one."""
    subscribe = streams.Reader.subscribe

    def late(reader: streams.Reader, seen: Any) -> Subscription:  # noqa: ANN401
        party.does(HOST, "token", {"seat": 0})
        party.does(1, "deal")
        return subscribe(reader, seen)

    monkeypatch.setattr(streams.Reader, "subscribe", late)
    told = poll(party.client, party.path, party.headers(0), wait=30).get_json()
    assert [frame["version"] for frame in told["frames"]] == [1]


# Places.


def test_a_stream_above_the_cap_is_refused_and_a_poll_is_answered_at_once(party: Party) -> None:
    """503 and an empty answer, both with Retry-After; a stream that closes gives its place back."""
    feeds = [follow(party, who) for who in (0, 1, None)]
    for kind in (SSE, NDJSON):
        refused = party.client.get(f"{party.path}/events", headers={"Accept": kind})
        assert outcome(refused) == (503, "too-many-streams")
        assert refused.headers["Retry-After"] == "1"
    empty = poll(party.client, party.path, party.headers(0), wait=30)
    assert (empty.status_code, empty.get_json()) == (200, {"version": 0, "frames": []})
    assert empty.headers["Retry-After"] == "1"
    assert "Retry-After" not in poll(party.client, party.path, party.headers(0)).headers
    assert party.read(0).status_code == 200
    for feed in feeds:
        feed.close()
        follow(party).close()


def test_a_client_that_goes_gives_its_place_back(party: Party, app: Flask) -> None:
    """Whether it goes before the first frame, in the middle or at the end."""
    for count in range(PLACES * 2):
        with follow(party) as feed:
            feed.take(count % 2)
    has_taken(app, 0)


def has_taken(app: Flask, places: int) -> None:
    """Return when so many places for streams are taken."""
    eventually(lambda: taken(app, PLACES) == places, f"{places} places are taken", PATIENCE)
