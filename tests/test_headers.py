"""Headers as they come from the open net: odd ones are refused, or of no account, and never 500."""

import sys

import pytest
from flask import request

from service import records
from tests.routes import outcome
from tests.tables import Table


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


ODD = (
    "",
    " ",
    ",",
    '"',
    "\xff\xfe",
    "\xc3\xa9",
    "\x00",
    "\x7f",
    "a" * 8000,
    "%00",
    "{}",
    "\ud7ff".encode().decode("latin-1"),
)
NO_TOKENS = (
    "",
    " ",
    "Bearer",
    "Bearer ",
    "Bearer  ",
    "Bearer x",
    "Bearer \xff\xfe",
    "Bearer \xc3\xa9",
    "Bearer a,b",
    "Basic dXNlcjpwYXNz",
    "\xff",
    "Bearer\t",
    "Bearer " + "a" * 8000,
)


@pytest.mark.parametrize("value", NO_TOKENS)
def test_a_token_that_is_none_is_refused(table: Table, value: str) -> None:
    """On every route of a session, with 401 and never with the spectator's view."""
    asked = {"environ_overrides": {"HTTP_AUTHORIZATION": value}}
    for answer in (
        table.client.get(table.path, **asked),
        table.client.get(f"{table.path}/score", **asked),
        table.client.post(f"{table.path}/leave", **asked),
        table.client.delete(table.path, **asked),
    ):
        assert outcome(answer) == (401, "unauthorized")


def test_the_scheme_is_written_as_one_likes(table: Table) -> None:
    """`bearer` in small letters is the same."""
    for scheme in ("bearer", "BEARER", "Bearer "):
        answer = table.client.get(table.path, headers={"Authorization": f"{scheme} {table.token}"})
        assert answer.get_json()["you"] == {"seat": 0, "host": False}


@pytest.mark.parametrize("token", ["{0} x", "{0}x", "x{0}", "{0},{0}", "Bearer {0}"])
def test_a_token_with_anything_beside_it_is_another(table: Table, token: str) -> None:
    """It is compared whole."""
    answer = table.client.get(table.path, headers={"Authorization": f"Bearer {token.format(table.token)}"})
    assert outcome(answer) == (401, "unauthorized")


@pytest.mark.parametrize(
    "name",
    [
        "ACCEPT",
        "ACCEPT_LANGUAGE",
        "IF_MATCH",
        "IF_NONE_MATCH",
        "IDEMPOTENCY_KEY",
        "ORIGIN",
        "X_REQUEST_ID",
        "X_FORWARDED_FOR",
        "COOKIE",
        "HOST",
    ],
)
@pytest.mark.parametrize("value", ODD)
def test_no_header_brings_the_service_down(table: Table, name: str, value: str) -> None:
    """Whatever its bytes: the answer is documented, and is not 500."""
    asked = {"headers": table.bearer(), "environ_overrides": {f"HTTP_{name}": value}}
    for answer in (
        table.client.get(table.path, **asked),
        table.client.post(f"{table.path}/seed", json={"client_seed": "x"}, **asked),
        table.client.get("/v1/games", **asked),
    ):
        assert answer.status_code != 500, answer.text


# Planted faults: each is found by the checks above.


def test_a_service_that_trips_over_a_token_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes every token for ASCII answers 500."""
    monkeypatch.setattr(records, "hashed", lambda token: token.encode("ascii"))
    with pytest.raises(AssertionError, match="500"):
        test_a_token_that_is_none_is_refused(table, "Bearer \xff\xfe")


def test_a_service_that_trips_over_a_tag_is_found_out(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that reads a number in whatever stands in If-Match answers 500."""
    monkeypatch.setattr(sys.modules["service.reading"], "if_match", lambda: int(request.headers["If-Match"]))
    with pytest.raises(AssertionError, match="500"):
        test_no_header_brings_the_service_down(table, "IF_MATCH", "\xff\xfe")
