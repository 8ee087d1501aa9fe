"""Keep sessions as this release stores them, for later ones to read: `python -m tests.capture_sessions`.

Each game has two: one in the middle of a round, and one after a round, left by its first seat.
"""

import json
import re
import tempfile
from base64 import b85encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.games import GAMES
from service import create_app
from service.settings import Settings
from tests.conftest import Clock, ClockedStore
from tests.servers import start_store
from tests.stored import Stored, key
from tests.tables import IDLE, Table

KEPT = Path(__file__).with_name("released")
KEY = "captured"
"""The idempotency key of a leave, the last move of a session."""


def main() -> None:
    """Write this release's sessions beside those of the earlier ones."""
    version = re.search(r'^version = "(.+)"$', Path("pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version
    with tempfile.TemporaryDirectory() as directory:
        server = start_store(Path(directory))
        clock = Clock()
        app = create_app(Settings(log_level="CRITICAL", limits=False), ClockedStore(server.url, clock))
        stored = Stored(server.url)
        found = [kept for game in sorted(GAMES) for kept in _sessions(Table(app.test_client()), game, clock, stored)]
        stored.close()
        server.stop()
    KEPT.joinpath(f"v{version[1]}.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _sessions(table: Table, game: str, clock: Clock, stored: Stored) -> Iterator[dict[str, Any]]:
    """Play a session of a game, and yield it as it is stored in a round and after one."""
    table.open(game)
    while table.view()["status"] != "playing":
        _first(table)
    for _ in range(3):
        clock.advance(4000)  # beyond any countdown
        _first(table)
    yield _kept(table, clock, stored)
    while table.view()["status"] == "playing":
        clock.advance(4000)
        _first(table)
    table.act("leave", Idempotency_Key=KEY)
    yield _kept(table, clock, stored)


def _first(table: Table) -> None:
    """Send the first example of the first seat that has something to do, if there is one yet."""
    for seat in sorted(table.tokens):
        own = table.at(seat)
        first = own.view()["actions"][0]
        if first["verb"] not in IDLE:
            own.play(first["verb"], first["example"])
            return


def _kept(table: Table, clock: Clock, stored: Stored) -> dict[str, Any]:
    """Return a session as it is stored, with its tokens and what each seat sees of it."""
    return {
        "id": table.id,
        "now": clock.now,
        "tokens": {str(seat): token for seat, token in table.tokens.items()},
        "views": {str(seat): _told(table.at(seat).view()) for seat in table.tokens},
        "score": table.score().get_json(),
        "state": _hash(stored.command("HGETALL", key(table.id, "state"))),
        "log": [b85encode(line).decode() for line in stored.command("LRANGE", key(table.id, "log"), 0, -1)],
        "keys": _hash(stored.command("HGETALL", key(table.id, "keys"))),
    }


def _told(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view without the actions: what they are called may change."""
    return {name: value for name, value in view.items() if name != "actions"}


def _hash(found: dict[bytes, bytes]) -> dict[str, str]:
    return {field.decode(): b85encode(value).decode() for field, value in found.items()}


if __name__ == "__main__":
    main()
