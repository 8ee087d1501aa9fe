"""The log is the truth: what is stored is what the logged moves lead to, at every version."""

from collections.abc import Iterator

import msgspec
import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from engine.games import GAMES
from engine.play import SEAT, TIME
from service.records import Record, opening, stepped
from service.records import after as replayed
from tests.conftest import Clock
from tests.planted import commit_with
from tests.rounds import dice, settings
from tests.stored import Stored, key
from tests.tables import Table
from tests.worlds import permuted

MOVES = 60


ONE_OF_EACH = [(game, 0) for game in GAMES]


@pytest.fixture(name="table", params=[(game, seed) for game in GAMES for seed in range(2)], ids=str)
def _table(request: pytest.FixtureRequest, client: FlaskClient) -> Table:
    """Return a session of each game, with other options every time."""
    game, seed = request.param
    options = dice(seed).choice(list(settings(game)))
    return Table(client).open(game, **{name: value for name, value in options.items() if value is not None})


def records(table: Table, stored: Stored, clock: Clock) -> Iterator[Record]:
    """Play at random, with every seat, until all have left; yield what was read as it is stored, at every version seen.

    What time has decided is written down by the reads, so that one read may find several versions on.
    """
    random = dice(11)
    yield stored.record(table.id)
    for _ in range(MOVES):
        clock.advance(random.randrange(-500, 5000))
        if table.able():
            yield stored.record(table.id)
            table.play_any(random)
            yield stored.record(table.id)
            assert msgspec.msgpack.encode(stored.record(table.id)) == stored.blob(table.id)
    for seat in table.tokens:
        yield from leaving(table, stored, clock, seat)


def leaving(table: Table, stored: Stored, clock: Clock, seat: int) -> Iterator[Record]:
    """Let a seat leave as soon as it may; yield as above."""
    own = table.at(seat)
    while (actions := own.view()["actions"]) and actions[-1]["verb"] != "leave":
        if table.able():
            table.play_first()
        clock.advance(1000)
        yield stored.record(table.id)
    if actions:
        own.play("leave")
        yield stored.record(table.id)


def apart(session: str, kept: list[Record], stored: Stored) -> list[int]:
    """Return the versions at which what was stored is not what its log leads to."""
    entries = stored.entries(session)
    replayed = opening(session, kept[-1])
    at = [replayed]
    for entry in entries:
        replayed, _step = stepped(replayed, entry)
        at.append(replayed)
    return [record.version for record in kept if at[record.version] != record]


def test_the_log_leads_to_what_is_stored(table: Table, stored: Stored, clock: Clock) -> None:
    """The whole record, at every version; the log has a line for each, and bytes are read and written alike."""
    kept = list(records(table, stored, clock))
    entries = stored.entries(table.id)
    moves = [number for number, entry in enumerate(entries, start=1) if entry.by != TIME]
    assert {*moves} <= {record.version for record in kept}
    assert len(entries) == kept[-1].version
    assert stored.command("HGET", key(table.id, "state"), "version") == str(len(entries)).encode()
    assert len(moves) > 3
    assert {entry.move.seat for entry in entries if entry.by == SEAT} == {*table.tokens}
    assert apart(table.id, kept, stored) == []


@pytest.mark.parametrize("table", ONE_OF_EACH, indirect=True, ids=str)
def test_a_deletion_changes_nothing_on_the_table(table: Table, stored: Stored, clock: Clock) -> None:
    """It is logged as a line that is no move, and the position is the one before it."""
    table.play_first()
    before = stored.record(table.id)
    clock.advance(1000)
    assert table.client.delete(table.path, headers=table.bearer(table.host)).status_code == 204
    after = stored.record(table.id)
    assert (after.position, after.version) == (before.position, before.version + 1)
    opened, entries = opening(table.id, after), stored.entries(table.id)
    assert replayed(opened, entries).position == after.position
    assert replayed(opened, entries[:-1]) == before


# Planted faults: each is found by the checks above.


@pytest.mark.parametrize("table", ONE_OF_EACH, indirect=True, ids=str)
def test_a_changed_state_is_found_out(table: Table, stored: Stored, clock: Clock) -> None:
    """Hidden cards that lie otherwise are not those that the seed dealt."""
    kept = list({record.version: record for record in records(table, stored, clock)}.values())
    dealt = next(place for place, record in enumerate(kept) if record.position.state.playing)
    kept[dealt] = replace(kept[dealt], position=permuted(kept[dealt].position, None, dice(1)))
    assert apart(table.id, kept, stored) == [kept[dealt].version]


@pytest.mark.parametrize("table", ONE_OF_EACH, indirect=True, ids=str)
def test_a_line_that_is_lost_is_found_out(
    table: Table, stored: Stored, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that leaves the log out leads nowhere."""
    commit_with(monkeypatch, {b"redis.call('RPUSH', KEYS[2], ARGV[entry])": b"local _ = entry"})
    with pytest.raises(AssertionError):
        test_the_log_leads_to_what_is_stored(table, stored, clock)
