"""A body is JSON in UTF-8 by its Content-Type, or it is refused; an empty one needs none."""

import pytest
from flask import Flask

from tests.routes import Target, outcome, reading, send
from tests.stored import Stored
from tests.tables import Table


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


TAKEN = (
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json; charset=UTF-8",
    'application/json ; charset="utf-8"',
    "application/json;",
)
NOT_TAKEN = (
    None,
    "",
    "text/plain",
    "text/json",
    "application/x-json",
    "application/json-patch+json",
    "application/problem+json",
    "application/jsonx",
    "application",
    "*/*",
    "application/*",
    "application/json, text/plain",
    "application/json; charset=latin-1",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=latin-1",
    "application/json; boundary=x",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "application/msgpack",
    "application/json\xff",
    "\u0131pplication/json".encode().decode("latin-1"),
)


@pytest.mark.parametrize("content_type", TAKEN)
def test_json_in_utf_8_is_taken(table: Table, content_type: str) -> None:
    """However the type is written."""
    target = Target("POST", f"{table.path}/seed")
    assert outcome(send(table, target, b'{"client_seed": "gl\xc3\xbcck"}', content_type)) == (200, None)


@pytest.mark.parametrize("content_type", NOT_TAKEN)
def test_another_content_type_is_refused_everywhere(
    app: Flask, table: Table, stored: Stored, content_type: str | None
) -> None:
    """A form is refused as one, and nothing is done on defaults."""
    before = stored.dump(table.id), stored.command("DBSIZE")
    for target in reading(app, table):
        for raw in (b"{}", b"amount=5", b'--x\r\nContent-Disposition: form-data; name="amount"\r\n\r\n5\r\n--x--'):
            assert outcome(send(table, target, raw, content_type)) == (415, "unsupported-media-type"), target
    assert (stored.dump(table.id), stored.command("DBSIZE")) == before
