"""What was is worked out from a version nearby, however long a session has become."""

import pytest

from service import records, sessions
from service.records import Entry, Record
from service.store import MARK_EVERY, MARKS_BACK
from tests.stored import Stored
from tests.tables import Table

LONG = 2 * MARK_EVERY + 40


def long_session(table: Table) -> list[bytes]:
    """Play a session of many moves, each with its key, and return the answers."""
    table.open("spice-island-poker")
    return [table.act("wager", {"amount": each % 300}, Idempotency_Key=f"k{each}").data for each in range(1, LONG)]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Return a list that grows by each entry that is replayed."""
    replayed: list[Entry] = []
    stepped = records.stepped

    def counting(record: Record, entry: Entry) -> tuple[Record, object]:
        replayed.append(entry)
        return stepped(record, entry)

    monkeypatch.setattr(records, "stepped", counting)
    return replayed


def test_a_repeat_costs_no_more_in_a_long_session(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers come again byte for byte, each after at most two marks' worth of replay."""
    answers = long_session(table)
    replayed = counted(monkeypatch)
    for each in (1, 2, MARK_EVERY - 1, MARK_EVERY, MARK_EVERY + 1, 2 * MARK_EVERY, 2 * MARK_EVERY + 1, LONG - 1):
        replayed.clear()
        again = table.act("wager", {"amount": each % 300}, Idempotency_Key=f"k{each}")
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.data == answers[each - 1]
        assert len(replayed) <= MARK_EVERY


def test_without_marks_the_same_comes_out(table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark spares work and decides nothing; without it all is replayed."""
    answers = long_session(table)
    stored.command("HDEL", f"croupier:{{{table.id}}}:state", "mark:1", "mark:2")
    replayed = counted(monkeypatch)
    again = table.act("wager", {"amount": (LONG - 1) % 300}, Idempotency_Key=f"k{LONG - 1}")
    assert again.data == answers[-1]
    assert len(replayed) == LONG - 1


def test_what_one_commit_skips_is_looked_past() -> None:
    """The greatest commit leaves a mark within reach of every version."""
    assert MARKS_BACK * MARK_EVERY > sessions.PORTION + MARK_EVERY
