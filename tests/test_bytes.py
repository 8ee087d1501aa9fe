"""Whatever bytes come in, or lie in the store: a value that goes round, or a refusal that is written down."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from service import body
from service.body import MOST_BYTES, Malformed, WrongMediaType
from service.records import Entry, Newer, Record, Repeat, decode_entry, decode_record, decode_repeat, encode
from tests.hostile import MALFORMED, MISFITS, NO_OBJECTS
from tests.routes import outcome
from tests.stored import Stored
from tests.tables import Table

JSON = "application/json"
CORPUS = [raw for group in (MALFORMED, MISFITS, NO_OBJECTS) for raw in group.values() if len(raw) < 2000]
EVERY_TIME = settings(max_examples=300, derandomize=True, database=None, deadline=None)
LEAVES = st.none() | st.booleans() | st.integers(-(10**19), 10**19) | st.text()
READERS = {"record": decode_record, "entry": decode_entry, "repeat": decode_repeat}


def odd_bytes(right: list[bytes]) -> st.SearchStrategy[bytes]:
    """Return any bytes, and right ones of which a stretch is another's or nobody's."""
    piece = st.one_of(st.binary(max_size=8), st.sampled_from(right).map(lambda raw: raw[:40]))

    def cut(raw: bytes) -> st.SearchStrategy[bytes]:
        places = st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw))).map(sorted)
        return st.builds(lambda at, new: raw[: at[0]] + new + raw[at[1] :], places, piece)

    return st.one_of(st.binary(max_size=200), st.sampled_from(right).flatmap(cut))


# Bodies.


def goes_round_or_is_refused(raw: bytes) -> None:
    """Fail unless a body is what JSON says it is, can be carried on, and is so again; or is refused."""
    try:
        value = body.parse(raw, JSON)
    except Malformed:
        return
    assert value == (json.loads(raw) if raw else {})
    text = json.dumps(value, ensure_ascii=False).encode()
    if b"Infinity" not in text:
        assert body.parse(text, JSON) == value


@EVERY_TIME
@given(raw=odd_bytes(CORPUS))
@example(raw=b"")
@example(raw=b"[" * MOST_BYTES)
@example(raw=b'"' * MOST_BYTES)
@example(raw=b'"\\' * (MOST_BYTES // 2))
def test_a_body_goes_round_or_is_refused(raw: bytes) -> None:
    """Nothing else is raised, whatever its bytes."""
    goes_round_or_is_refused(raw)


@EVERY_TIME
@given(
    value=st.recursive(st.none() | st.booleans() | st.integers(-(10**19), 10**19) | st.text(), st.lists, max_leaves=9)
)
def test_json_within_the_bounds_is_read(value: Any) -> None:  # noqa: ANN401 - any JSON
    """What another encoder writes comes back as it was."""
    assert body.parse(json.dumps({"x": value}).encode(), JSON) == {"x": value}


@EVERY_TIME
@given(kind=st.one_of(st.none(), st.text(), st.from_regex(r"application/json *; *charset=.*")))
def test_a_content_type_is_json_or_is_refused(kind: str | None) -> None:
    """Whatever it says."""
    try:
        assert body.parse(b"{}", kind) == {}
    except WrongMediaType:
        return
    assert kind is not None
    assert kind.lower().strip().startswith("application/json")


# What is stored.


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    table.open("spice-island-poker").play("seed", {"client_seed": "x"}, Idempotency_Key="a")
    return table


def lines(stored: Stored, session: str) -> list[bytes]:
    """Return all that is stored of a session, each in its own encoding."""
    repeats = stored.command("HVALS", f"croupier:{{{session}}}:keys")
    return [stored.blob(session), *stored.command("LRANGE", f"croupier:{{{session}}}:log", 0, -1), *repeats]


@pytest.mark.parametrize("kind", READERS)
def test_a_stored_line_goes_round_or_is_refused(table: Table, stored: Stored, kind: str) -> None:
    """What is read is written as it was read; what cannot be read raises msgspec's error, or is of a later release."""
    read = READERS[kind]

    @EVERY_TIME
    @given(raw=odd_bytes(lines(stored, table.id)))
    @example(raw=b"\x91" * 20_000)
    @example(raw=b"\xdd\xff\xff\xff\xff")
    @example(raw=b"\xdf\xff\xff\xff\xff\xa1a")
    @example(raw=encode({"layout": 99}))
    @example(raw=encode([1]))
    @example(raw=encode({}))
    def check(raw: bytes) -> None:
        try:
            found = read(raw)
        except (msgspec.DecodeError, Newer, RecursionError):
            return
        assert isinstance(found, Record | Entry | Repeat)
        assert read(encode(found)) == found

    check()


def test_a_state_that_was_tampered_with_is_read_or_told(table: Table, stored: Stored) -> None:
    """Nothing but a view, a fault of our own or a later release's state is answered, and nothing of the bytes."""
    right = stored.blob(table.id)

    @settings(EVERY_TIME, max_examples=100, suppress_health_check=list(HealthCheck))
    @given(raw=odd_bytes([right]))
    def check(raw: bytes) -> None:
        stored.put_blob(table.id, raw)
        answer = table.client.get(table.path, headers=table.bearer())
        known = {(200, None), (401, "unauthorized"), (410, "gone"), (500, "internal-error"), (503, "newer-session")}
        assert outcome(answer) in known
        assert answer.status_code != 500 or len(answer.get_json()) == 6

    check()
