"""Sessions that earlier releases stored are read, played on, repeated and replayed by this one."""

import json
from base64 import b85decode
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service import records
from tests.capture_sessions import KEPT, KEY
from tests.conftest import Clock
from tests.stored import Stored, key
from tests.tables import IDLE, Table

SESSIONS = [
    pytest.param(kept, id=f"{path.stem}-{kept['views']['0']['game']}-{kept['views']['0']['status']}")
    for path in sorted(KEPT.glob("v*.json"))
    for kept in json.loads(path.read_text("utf-8"))
]


@pytest.fixture(name="kept", params=SESSIONS)
def _kept(request: pytest.FixtureRequest, stored: Stored, clock: Clock) -> dict[str, Any]:
    """Put a session into the store as its release left it there."""
    kept: dict[str, Any] = request.param
    stored.drop(kept["id"])
    for part in ("state", "keys"):
        for field, value in kept[part].items():
            stored.command("HSET", key(kept["id"], part), field, b85decode(value))
    for line in kept["log"]:
        stored.command("RPUSH", key(kept["id"], "log"), b85decode(line))
    clock.now = kept["now"]
    return kept


@pytest.fixture(name="table")
def _table(client: FlaskClient, kept: dict[str, Any]) -> Table:
    table = Table(client)
    table.id, table.game = kept["id"], kept["views"]["0"]["game"]
    table.tokens = {int(seat): token for seat, token in kept["tokens"].items()}
    table.token = table.tokens[0]
    return table


def test_every_release_is_kept() -> None:
    """There are sessions of each release whose contract is kept."""
    released = Path(__file__).parent.parent / "docs" / "released"
    assert {path.stem for path in KEPT.glob("v*.json")} >= {path.stem for path in released.glob("v*.yaml")}


def test_every_seat_still_sees_what_it_saw(kept: dict[str, Any], table: Table) -> None:
    """A view may have more fields by now, and those that it had say the same."""
    for seat, view in kept["views"].items():
        assert differences(view, told(table, int(seat))) == []
    if kept["score"].get("sheet"):
        assert differences(kept["score"], table.score().get_json()) == []


def told(table: Table, seat: int) -> dict[str, Any]:
    """Return what a seat is told, also of a session that is over."""
    return table.at(seat).view()


def differences(before: Any, after: Any, where: str = "") -> list[str]:  # noqa: ANN401 - any JSON
    """Return where a value no longer says what it said."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [found for name in before for found in differences(before[name], after.get(name), f"{where}/{name}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [found for place, pair in pairs for found in differences(*pair, f"{where}/{place}")]
    return [] if before == after else [f"{where}: {before!r} is now {after!r}"]


def test_a_round_is_played_on_to_its_end(kept: dict[str, Any], table: Table, clock: Clock) -> None:
    """Every seat's first examples settle the round that was in play."""
    if kept["views"]["0"]["status"] == "finished":
        return
    while table.view()["status"] == "playing":
        clock.advance(4000)
        for own, actions in table.able()[:1]:
            assert actions[0]["verb"] not in IDLE
            own.play(actions[0]["verb"], actions[0]["example"])
    assert table.score().get_json()["final"] is True


def test_a_move_is_not_made_twice(kept: dict[str, Any], table: Table) -> None:
    """A key that an earlier release wrote down is known."""
    if any(entry for entry in kept["keys"]):
        again = table.act("leave", Idempotency_Key=KEY)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
        assert again.get_json()["version"] == len(kept["log"])


def test_the_log_replays_to_what_is_stored(kept: dict[str, Any], stored: Stored) -> None:
    """State replayed from the log equals the state in the blob."""
    record = records.decode_record(stored.blob(kept["id"]))
    opening = records.opening(kept["id"], record)
    entries = [records.decode_entry(b85decode(line)) for line in kept["log"]]
    assert records.after(opening, entries).position == record.position


# Planted fault: it is found by the check above.


def test_a_view_that_changed_is_found_out() -> None:
    """A field that is gone, or says something else, is a difference; one more is none."""
    assert differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ["/a/1/b: 2 is now 3"]
    assert differences({"a": 1}, {}) == ["/a: 1 is now None"]
    assert differences({"a": 1}, {"a": 1, "b": 2}) == []
