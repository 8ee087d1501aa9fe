"""What time decides is told at its time, although nobody asks: countdowns, lapsed turns, bots."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from engine import play
from service.connection import connect
from service.store import Store
from service.wakes import channel
from tests.conftest import Clock, ClockedStore
from tests.feeds import Feed, Frame, Silence, listen, poll, serving
from tests.parties import HOST, Party
from tests.servers import StoreProcess
from tests.stored import Stored

BOT = {"bot": "normal"}
TABLES: dict[str, dict[str, Any]] = {
    "jackpot": {"seats": ["Anna", BOT, BOT], "options": {"first_seat": 1, "turn_seconds": 5, "bot_ms": 300}},
    "beat-the-dealer": {"seats": ["Anna", BOT, BOT], "options": {"turn_seconds": 5, "bot_ms": 300}},
    "speed": {"seats": ["Anna", BOT], "options": {"countdown_ms": 700, "idle_ms": 3000}},
}
SPAN = 4000
"""How long nobody asks, in ms."""


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    with serving(store, client=FlaskClient) as app:
        yield app


def opened(app: Flask, game: str) -> Party:
    """Return a table in play, at which bots and time will move."""
    party = Party(app.test_client()).seat(game, **TABLES[game])
    party.does(0, "deal")
    return party


def follow(party: Party, **query: Any) -> Feed:  # noqa: ANN401 - any parameter
    return listen(party.client, party.path, **query)


def nudge(stored: Stored, party: Party) -> None:
    """Make the reader look now, since it waits by a clock that a test does not set."""
    stored.command("SPUBLISH", channel(party.id), "")


def types(frame: Frame) -> list[str]:
    """Return what happened, by type."""
    return [event["type"] for event in frame["events"]]


@pytest.mark.parametrize("game", TABLES)
def test_what_fell_due_is_told_version_by_version(app: Flask, clock: Clock, stored: Stored, game: str) -> None:
    """Each consequence has a frame, at its own time, as if somebody had looked every moment."""
    party = opened(app, game)
    dealt = clock.now
    with follow(party) as feed:
        begun = feed.next().frame["version"]
        clock.advance(SPAN)
        nudge(stored, party)
        first = feed.next()
        last = stored.record(party.id).version
        frames = [first.frame, *(told.frame for told in feed.until(last))] if last > begun + 1 else [first.frame]
    entries = stored.entries(party.id)[begun:]
    assert [(frame["version"], frame["at"]) for frame in frames] == [
        (version, entry.move.at) for version, entry in enumerate(entries, start=begun + 1)
    ]
    assert {entry.by for entry in entries} == {"time"}
    assert len(entries) > 1
    assert dealt < frames[0]["at"] <= frames[-1]["at"] <= clock.now == frames[-1]["now"]
    assert frames[-1]["view"] == party.seen(None)


def test_nothing_is_told_before_it_is_due(app: Flask, clock: Clock, stored: Stored) -> None:
    """A countdown is over at its very millisecond and not one before."""
    party = opened(app, "speed")
    with follow(party) as feed:
        until = feed.next().frame["view"]["table"]["countdown_until"]
        clock.now = until - 1
        nudge(stored, party)
        party.does(0, "seed", {"client_seed": "luck"})
        assert feed.next().frame["events"] == []
        clock.now = until
        nudge(stored, party)
        frame = feed.next().frame
    assert (frame["at"], types(frame)[0]) == (until, "flip")


def test_every_process_tells_the_same_and_one_writes_it(store: ClockedStore, clock: Clock, stored: Stored) -> None:
    """Two readers of one session settle it at once: each consequence is in the log once, and both tell all."""
    with serving(store, client=FlaskClient) as one, serving(store, client=FlaskClient) as other:
        party = opened(one, "jackpot")
        feeds = [follow(party), listen(other.test_client(), party.path)]
        begun, _ = (feed.next().frame["version"] for feed in feeds)
        for _ in range(20):
            clock.advance(250)
            nudge(stored, party)
        clock.advance(SPAN)
        party.does(0, "seed", {"client_seed": "luck"})
        last = stored.record(party.id).version
        heard = [[told.timeless for told in feed.until(last)] for feed in feeds]
        for feed in feeds:
            feed.close()
    assert heard[0] == heard[1]
    assert len(heard[0]) == last - begun == len(stored.entries(party.id)) - begun
    times = [entry.move.at for entry in stored.entries(party.id)]
    assert times == sorted(times)


# By the store's own clock.


@pytest.fixture(name="timely")
def _timely(server: StoreProcess) -> Iterator[Flask]:
    """Run an application by the store's own clock."""
    store = Store(connect(server.url))
    with serving(store, client=FlaskClient) as app:
        yield app


@pytest.fixture(name="race")
def _race(timely: Flask) -> Party:
    """Open a race that two bots run by themselves."""
    options = {"countdown_ms": 20, "idle_ms": 3000}
    return Party(timely.test_client()).seat("speed", [{"bot": "hard"}, {"bot": "hard"}], options=options)


def test_what_falls_due_is_told_although_nobody_asks(race: Party) -> None:
    """The flip after a countdown, and the bots' plays after it, come by themselves at their time."""
    with follow(race, view="false") as feed:
        feed.next()
        race.does(HOST, "deal")
        assert types(feed.next().frame)[0] == "dealt"
        assert types(feed.next().frame)[0] == "flip"
        played = next(told.frame for told in feed if types(told.frame)[0] == "play")
    assert played["at"] <= played["now"]


def test_a_poll_waits_for_what_falls_due(race: Party) -> None:
    """It is answered when the countdown ends."""
    version = race.does(HOST, "deal")["version"]
    told = poll(race.client, race.path, after=version, wait=10).get_json()
    assert types(told["frames"][0])[0] == "flip"


def test_a_reader_that_waits_for_news_alone_is_found_out(
    timely: Flask, race: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a look at what is due nothing is told until somebody moves."""
    monkeypatch.setattr(play, "next_due", lambda _position, otherwise: otherwise)
    timely.extensions["streams"].heartbeat = 0.5
    with pytest.raises(Silence):
        test_what_falls_due_is_told_although_nobody_asks(race)
