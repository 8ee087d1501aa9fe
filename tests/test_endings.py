"""The end of a session: by its host, by the clock, and in the store."""

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace
from werkzeug.test import TestResponse

from service.records import DAY_MS, KEPT_MS, Seen
from service.sessions import Sessions
from service.store import Change, Deadline, Store, Verdict
from tests.conftest import Clock
from tests.planted import CONFLICT, MISSING, commit_with
from tests.routes import outcome
from tests.stored import PARTS, Stored, key
from tests.tables import Table

GONE, UNKNOWN = (410, "gone"), (404, "unknown-session")


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


def ended(table: Table) -> list[TestResponse]:
    """Return the answers to all that a live session would answer."""
    tokens = (table.token, table.host)
    answers = [
        table.client.get(table.path),
        *(table.client.get(table.path, headers=table.bearer(each)) for each in tokens),
    ]
    answers += [table.act(verb) for verb in ("deal", "leave")]
    return [*answers, table.client.delete(table.path, headers=table.bearer(table.host))]


def test_the_host_deletes_the_session(table: Table, stored: Stored, clock: Clock) -> None:
    """It is gone at once for everyone, also for a second deletion; the end is in the log."""
    table.play("wager", {"amount": 5})
    clock.advance(10)
    assert outcome(table.client.delete(table.path, headers=table.bearer())) == (403, "forbidden")
    answer = table.client.delete(table.path, headers=table.bearer(table.host))
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Croupier-Time"] == str(clock.now)
    assert [outcome(each) for each in ended(table)] == [GONE] * 6
    entries = stored.entries(table.id)
    assert [(each.by, each.move.action.verb) for each in entries] == [("seat", "wager"), ("host", "delete")]
    assert stored.record(table.id).version == 2


def test_a_session_is_over_a_day_after_its_last_move(table: Table, clock: Clock) -> None:
    """To the millisecond; a move puts it off, and the view says until when."""
    began = clock.now
    assert table.view()["expires_at"] == began + DAY_MS
    clock.advance(DAY_MS - 1)
    assert table.play("wager", {"amount": 5})["expires_at"] == clock.now + DAY_MS
    clock.advance(DAY_MS - 1)
    assert table.view()["version"] == 1
    clock.advance(1)
    assert [outcome(each) for each in ended(table)] == [GONE] * 6


ASKED: Mapping[str, Callable[[Table], object]] = {
    "the view": Table.view,
    "the spectator's view": Table.watched,
    "the score": Table.score,
    "a move that comes too early": lambda table: table.act("deal"),
    "a move that is none": lambda table: table.act("choose", {"action": "fold"}),
    "a move sent again": lambda table: table.act("wager", {"amount": 5}, Idempotency_Key="k"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_only_a_move_puts_the_end_off(table: Table, clock: Clock, asked: str) -> None:
    """Neither a read nor a refusal nor the repetition of a move does."""
    table.play("wager", {"amount": 5}, Idempotency_Key="k")
    table.play("wager", {"amount": 0})
    end = table.view()["expires_at"]
    clock.advance(DAY_MS - 1)
    ASKED[asked](table)
    assert table.view()["expires_at"] == end
    clock.advance(1)
    assert outcome(table.act("deal")) == GONE


def test_the_score_is_answered_after_the_end(table: Table, clock: Clock) -> None:
    """To seat, host and spectator, an open round's included, with what each may see."""
    table.play("wager", {"amount": 5})
    table.play("deal")
    before = table.score().get_json()
    clock.advance(DAY_MS)
    assert outcome(table.act("choose", {"action": "bet"})) == GONE
    for token in (table.token, table.host):
        assert table.client.get(f"{table.path}/score", headers=table.bearer(token)).get_json() == before
    assert table.client.get(f"{table.path}/score").get_json() == before
    assert before["final"] is False
    assert before["sheet"]["dealer"]["cards"][:4] == [None] * 4


def test_keys_are_dropped_a_week_after_the_end(table: Table, stored: Stored, clock: Clock) -> None:
    """All three, at the same moment, which every move puts off and the deletion puts forward."""

    def dropped_at() -> set[int]:
        return {stored.command("PEXPIRETIME", key(table.id, part)) for part in PARTS} - {-2}

    assert dropped_at() == {clock.now + DAY_MS + KEPT_MS}
    clock.advance(1000)
    table.play("wager", {"amount": 5}, Idempotency_Key="k")
    assert dropped_at() == {clock.now + DAY_MS + KEPT_MS}
    clock.advance(1000)
    table.play("deal")
    assert dropped_at() == {clock.now + DAY_MS + KEPT_MS}
    clock.advance(1000)
    table.client.delete(table.path, headers=table.bearer(table.host))
    assert dropped_at() == {clock.now + KEPT_MS}
    assert (DAY_MS, KEPT_MS) == (86_400_000, 7 * 86_400_000)


def test_the_store_drops_the_keys_itself(table: Table, stored: Stored) -> None:
    """By its own clock, once their moment has come; then there never was such a session."""
    table.play("wager", {"amount": 5}, Idempotency_Key="k")
    for part in PARTS:
        stored.command("PEXPIREAT", key(table.id, part), 1)
    assert stored.command("KEYS", f"*{table.id}*") == []
    assert outcome(table.act("deal")) == UNKNOWN


def test_nothing_is_made_again_once_the_keys_are_gone(table: Table, stored: Stored) -> None:
    """Whatever is asked is answered 404, and leaves no key behind."""
    table.play("wager", {"amount": 5}, Idempotency_Key="k")
    stored.drop(table.id)
    answers = [*ended(table), table.score(), table.act("wager", {"amount": 5}, Idempotency_Key="k")]
    assert [outcome(each) for each in answers] == [UNKNOWN] * 8
    assert stored.command("KEYS", f"*{table.id}*") == []


@pytest.mark.parametrize("act", ["move", "delete"])
def test_keys_that_go_during_a_request_stay_gone(
    table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """A change that was worked out before is not written after."""
    commit = Store.commit

    def late(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        stored.drop(session)
        return commit(store, session, change, deadline)

    monkeypatch.setattr(Store, "commit", late)
    if act == "move":
        answer = table.act("wager", {"amount": 5}, Idempotency_Key="k")
    else:
        answer = table.client.delete(table.path, headers=table.bearer(table.host))
    assert outcome(answer) == UNKNOWN
    assert stored.command("KEYS", f"*{table.id}*") == []


def test_a_log_that_goes_during_a_repetition_is_no_fault_of_ours(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is unknown from then on."""
    table.play("wager", {"amount": 5}, Idempotency_Key="k")
    monkeypatch.setattr(Store, "log", lambda *_: [])
    assert outcome(table.act("wager", {"amount": 5}, Idempotency_Key="k")) == UNKNOWN


# The clock.


def test_the_stores_clock_is_the_only_one(table: Table, stored: Stored, clock: Clock) -> None:
    """C-4: a move's time is the store's, in whole milliseconds, whatever time a client says it is."""
    for number, told in enumerate(("0", str(clock.now + DAY_MS), "Thu, 01 Jan 1970 00:00:00 GMT"), start=1):
        clock.advance(7)
        answer = table.act("wager", {"amount": number}, Date=told, Croupier_Time=told)
        assert answer.headers["Croupier-Time"] == str(clock.now)
        assert [entry.move.at for entry in stored.entries(table.id)][-1] == clock.now
    assert outcome(table.act("wager", {"amount": 5, "at": clock.now})) == (422, "invalid")
    assert {type(entry.move.at) for entry in stored.entries(table.id)} == {int}


def test_time_never_goes_back_in_a_session(table: Table, stored: Stored, clock: Clock) -> None:
    """C-5: when the store's clock does, a move is made at the time of the one before it; the answer tells the clock."""
    clock.advance(5000)
    table.play("wager", {"amount": 5})
    last = clock.now
    clock.advance(-3000)
    answer = table.act("wager", {"amount": 6})
    assert answer.headers["Croupier-Time"] == str(last - 3000)
    assert answer.get_json()["expires_at"] == last + DAY_MS
    clock.advance(4000)
    table.play("deal")
    times = [entry.move.at for entry in stored.entries(table.id)]
    assert times == [last, last, last + 1000]


def test_the_deletion_keeps_to_the_order_of_time(table: Table, stored: Stored, clock: Clock) -> None:
    """It is logged no earlier than the move before it, and the session is over all the same."""
    clock.advance(5000)
    table.play("wager", {"amount": 5})
    clock.advance(-3000)
    assert table.client.delete(table.path, headers=table.bearer(table.host)).status_code == 204
    times = [entry.move.at for entry in stored.entries(table.id)]
    assert times == sorted(times)
    assert outcome(table.act("deal")) == GONE


# Planted faults: each is found by the checks above.


def test_a_store_that_makes_a_session_again_is_found_out(
    table: Table, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that does not ask whether there is a session writes one."""
    commit_with(monkeypatch, {MISSING: b"version = version or 0", CONFLICT: b""})
    with pytest.raises(AssertionError, match="200"):
        test_keys_that_go_during_a_request_stay_gone(table, stored, monkeypatch, "move")


def test_a_read_that_puts_the_end_off_is_found_out(table: Table, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a look counted as a move, a session that is watched would never end."""

    def kept(sessions: Sessions, session: str, token: str | None) -> Seen:
        seen = look(sessions, session, token)
        return replace(seen, record=replace(seen.record, expires_at=seen.now + DAY_MS))

    look = Sessions.look
    monkeypatch.setattr(Sessions, "look", kept)
    with pytest.raises(AssertionError):
        test_only_a_move_puts_the_end_off(table, clock, "the view")
