"""The log is the truth: what is stored is what the logged moves lead to, at every version."""

from collections.abc import Iterator

import msgspec
import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from engine.games import GAMES
from service.records import Record, as_of
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
    return Table(client).open(game, **dice(seed).choice(list(settings(game))))


def records(table: Table, stored: Stored, clock: Clock) -> Iterator[Record]:
    """Play at random to a leave; yield what is stored at every version."""
    random = dice(11)
    yield stored.record(table.id)
    for _ in range(MOVES):
        clock.advance(random.randrange(-500, 5000))
        if len(table.view()["actions"]) > 1:
            table.play_any(random)
            yield stored.record(table.id)
            assert msgspec.msgpack.encode(stored.record(table.id)) == stored.blob(table.id)
    while table.view()["actions"] and table.view()["actions"][-1]["verb"] != "leave":
        table.play_first()
        yield stored.record(table.id)
    if table.view()["actions"]:
        table.play("leave")
        yield stored.record(table.id)


def apart(session: str, kept: list[Record], stored: Stored) -> list[int]:
    """Return the versions at which what was stored is not what its log leads to."""
    entries = stored.entries(session)
    return [version for version, record in enumerate(kept) if as_of(session, kept[-1], entries[:version]) != record]


def test_the_log_leads_to_what_is_stored(table: Table, stored: Stored, clock: Clock) -> None:
    """The whole record, at every version; the log has a line for each, and bytes are read and written alike."""
    kept = list(records(table, stored, clock))
    assert [record.version for record in kept] == list(range(len(kept)))
    assert len(stored.entries(table.id)) == len(kept) - 1
    assert stored.command("HGET", key(table.id, "state"), "version") == str(len(kept) - 1).encode()
    assert len(kept) > 3
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
    assert as_of(table.id, after, stored.entries(table.id)).position == after.position
    assert as_of(table.id, after, stored.entries(table.id)[:-1]) == before


# Planted faults: each is found by the checks above.


@pytest.mark.parametrize("table", ONE_OF_EACH, indirect=True, ids=str)
def test_a_changed_state_is_found_out(table: Table, stored: Stored, clock: Clock) -> None:
    """Hidden cards that lie otherwise are not those that the seed dealt."""
    kept = list(records(table, stored, clock))
    position = kept[2].position
    kept[2] = replace(kept[2], position=permuted(position, None, dice(1)))
    assert apart(table.id, kept, stored) == [2]


@pytest.mark.parametrize("table", ONE_OF_EACH, indirect=True, ids=str)
def test_a_line_that_is_lost_is_found_out(
    table: Table, stored: Stored, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that leaves the log out leads nowhere."""
    commit_with(monkeypatch, {b"redis.call('RPUSH', KEYS[2], ARGV[entry])": b"local _ = entry"})
    with pytest.raises(AssertionError):
        test_the_log_leads_to_what_is_stored(table, stored, clock)
