"""Time decides the same whoever looks and however late: a session that is watched all the time, and its twin (C-5)."""

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from engine import play
from engine.game import Move
from service import create_app, records, sessions
from service.records import Entry
from service.settings import Settings
from service.wakes import channel
from tests.conftest import Clock, ClockedStore
from tests.feeds import ended, listen, poll, serving
from tests.parties import HOST, Party
from tests.servers import StoreProcess
from tests.shelf import MadeUp
from tests.stored import PARTS, Stored, key

EVERY = 10
"""How often the one session is looked at, in ms."""


class Case(NamedTuple):
    """A table, the first move that sets time going, and how long it is left to itself (ms)."""

    game: str
    seats: list[Any]
    options: dict[str, int]
    span: int


def bot(level: str) -> dict[str, str]:
    """Return a seat that a bot gets."""
    return {"bot": level}


CASES = {
    "jackpot": Case("jackpot", [bot("easy"), "Anna", bot("hard")], {"turn_seconds": 5, "bot_ms": 130}, 11_000),
    "beat-the-dealer": Case(
        "beat-the-dealer", [bot("easy"), bot("normal"), "Anna", bot("hard")], {"turn_seconds": 5, "bot_ms": 130}, 8_000
    ),
    "speed": Case("speed", ["Anna", bot("hard")], {"countdown_ms": 1000, "idle_ms": 3000}, 8_000),
    "speed of bots": Case("speed", [bot("normal"), bot("hard")], {"countdown_ms": 0}, 5_000),
}

all_cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


class World:
    """A store of its own, its clock, and the application over it."""

    def __init__(self, server: StoreProcess, number: int) -> None:
        url = f"{server.url}?db={number}"
        self.clock = Clock()
        self.stored = Stored(url)
        self.store = ClockedStore(url, self.clock)
        self.app = create_app(Settings(log_level="CRITICAL", limits=False), self.store)
        self.party = Party(FlaskClient(self.app, self.app.response_class))

    def close(self) -> None:
        """End the reader, and give the connections back."""
        ended(self.app)
        self.stored.close()
        self.store.close()

    def takes_over(self, other: "World") -> None:
        """Become another world's twin: the same session, secret and tokens, at the same time."""
        ours, theirs = self.party, other.party
        ours.game, ours.id, ours.host, ours.tokens = theirs.game, theirs.id, theirs.host, theirs.tokens
        self.clock.now = other.clock.now
        for part in PARTS:
            if dumped := other.stored.command("DUMP", key(ours.id, part)):
                self.stored.command("RESTORE", key(ours.id, part), 0, dumped)

    def kept(self) -> tuple[bytes, list[int]]:
        """Return all that is stored of the session, and when it will be dropped."""
        dropped = [self.stored.command("PEXPIRETIME", key(self.party.id, part)) for part in PARTS]
        return self.stored.dump(self.party.id), dropped


@pytest.fixture(name="worlds")
def _worlds(server: StoreProcess) -> Iterator[tuple[World, World]]:
    one, other = World(server, 4), World(server, 5)
    for world in (one, other):
        world.stored.command("FLUSHDB")
    yield one, other
    one.close()
    other.close()


def begun(worlds: tuple[World, World], case: Case) -> tuple[World, World]:
    """Open a session in the one world, make the move that sets time going, and let the other take it over.

    Its cards are the same in every run, so that bots and timers have something to do.
    """
    one, other = worlds
    with patch.object(sessions, "secrets", MadeUp("time")):
        one.party.seat(case.game, case.seats, options=case.options)
    one.party.does(next(iter(one.party.tokens), HOST), "deal")
    other.takes_over(one)
    return worlds


def ways_to_look(party: Party) -> list[Callable[[], Any]]:
    """Return the ways in which somebody may look at a session."""
    return [
        lambda: party.read(None),
        *(lambda seat=seat: party.read(seat) for seat in party.tokens),
        lambda: party.client.get(f"{party.path}/score"),
        lambda: poll(party.client, party.path, after=0, view="false"),
        lambda: party.read(HOST),
        lambda: party.client.get(party.path, headers={"Accept": "text/plain"}),
        lambda: listen(party.client, party.path, view="false").close(),
    ]


def look_often(world: World, span: int) -> None:
    """Look every few ms, each time in another way."""
    ways = cycle(ways_to_look(world.party))
    for _ in range(span // EVERY):
        world.clock.advance(EVERY)
        next(ways)()


def check_alike(worlds: tuple[World, World], case: Case) -> list[Entry]:
    """Fail unless it is all the same, to the last byte, how often somebody looked; return the log."""
    one, other = begun(worlds, case)
    before = len(one.stored.entries(one.party.id))
    look_often(one, case.span)
    other.clock.advance(case.span // EVERY * EVERY)
    other.party.read(None)
    assert one.kept() == other.kept()
    assert one.party.read(None).data == other.party.read(None).data
    return one.stored.entries(one.party.id)[before:]


@all_cases
def test_it_does_not_matter_how_often_somebody_looks(worlds: tuple[World, World], case: Case) -> None:
    """One session is looked at every 10 ms, in every way, its twin once at the end: all that is stored is the same."""
    entries = check_alike(worlds, case)
    assert {entry.by for entry in entries} == {"time"}
    movers = {entry.move.seat for entry in entries}
    assert len(entries) > 5
    assert movers - {None}, "no bot has moved"
    assert None in movers, "no timer has run out"


@all_cases
def test_a_move_comes_after_all_that_was_due_before_it(worlds: tuple[World, World], case: Case) -> None:
    """A person's move in a session that nobody looked at finds it as if somebody had, and leads to the same."""
    one, other = begun(worlds, case)
    answers = []
    for world in (one, other):
        for number in range(3):
            if world is one:
                look_often(world, case.span // 8)
            else:
                world.clock.advance(case.span // 8 // EVERY * EVERY)
            who = next(iter(world.party.tokens), HOST)
            asked = ("seed", {"client_seed": f"luck {number}"}) if world.party.tokens else ("deal", {})
            answers.append(world.party.send(who, *asked, Idempotency_Key=f"k{number}", X_Request_Id="same"))
    for mine, twin in zip(answers[:3], answers[3:], strict=True):
        assert (mine.status_code, mine.data, list(mine.headers)) == (twin.status_code, twin.data, list(twin.headers))
    assert one.party.read(None).data == other.party.read(None).data
    assert one.kept() == other.kept()


@all_cases
def test_it_does_not_matter_whether_a_stream_looks(worlds: tuple[World, World], case: Case) -> None:
    """The reader behind the streams settles what nobody asks for, and so does the lobby."""
    one, other = begun(worlds, case)
    with serving(one.store, client=FlaskClient) as app, listen(app.test_client(), one.party.path, view="false") as feed:
        version = feed.next().frame["version"]
        for _ in range(20):
            one.clock.advance(case.span // 20)
            one.stored.command("SPUBLISH", channel(one.party.id), "")
        one.party.client.get("/v1/sessions")
        other.clock.advance(case.span // 20 * 20)
        other.party.read(None)
        last = other.stored.record(other.party.id).version
        assert [told.frame["version"] for told in feed.until(last)] == list(range(version + 1, last + 1))
    assert one.kept() == other.kept()


# Planted faults: each is found by the check above.


@all_cases
def test_a_consequence_at_the_time_of_the_look_is_found_out(
    worlds: tuple[World, World], case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes place when somebody looks, and not when it was due, depends on who looks."""
    settle = play.settle

    def late(position: Any, now: int, *asked: Any) -> Any:  # noqa: ANN401 - handed on
        steps = settle(position, now, *asked)
        moves = [Move(step.move.seat, step.move.action, now) for step in steps]
        return tuple(replace(step, move=move) for step, move in zip(steps, moves, strict=True))

    monkeypatch.setattr(play, "settle", late)
    with pytest.raises(AssertionError):
        check_alike(worlds, case._replace(span=2000))


def test_a_look_that_counts_as_a_move_is_found_out(
    worlds: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session whose end every look puts off lives the longer the more often somebody looks."""
    settled = sessions._settled

    def looked(seen: records.Seen) -> Any:  # noqa: ANN401 - handed on
        seen, entries = settled(seen)
        record = replace(seen.record, expires_at=seen.now + records.DAY_MS) if entries else seen.record
        return replace(seen, record=record), entries

    monkeypatch.setattr(sessions, "_settled", looked)
    with pytest.raises(AssertionError):
        check_alike(worlds, CASES["jackpot"]._replace(span=2000))
