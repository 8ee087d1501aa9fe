"""How often a request asks the store: a move is loaded and committed, a refusal costs only the load."""

from typing import Any

import pytest

from service.store import MARK_EVERY, Deadline, Store
from tests.tables import Table

MOVE = ["EVALSHA", "EVALSHA"]
LOOK = ["EVALSHA"]


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    """Open a session, and let the store learn the scripts."""
    table.open("spice-island-poker")
    assert table.act("wager", {"amount": 5}).status_code == 200
    return table


@pytest.fixture(name="sent")
def _sent(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the commands that the store is sent from now on."""
    ask, found = Store._call, list[str]()

    def noting(store: Store, deadline: Deadline, *command: Any, **given: bool) -> Any:  # noqa: ANN401
        found.append(command[0])
        return ask(store, deadline, *command, **given)

    monkeypatch.setattr(Store, "_call", noting)
    return found


def test_a_move_costs_two(table: Table, sent: list[str]) -> None:
    """With a key and a token, as any."""
    assert table.act("wager", {"amount": 6}, Idempotency_Key="a").status_code == 200
    assert sent == MOVE


def test_a_refusal_costs_one(table: Table, sent: list[str]) -> None:
    """By the rules, by the version, by the shape, by the token or for a key of another request."""
    assert table.act("wager", {"amount": 6}, Idempotency_Key="a").status_code == 200
    sent.clear()
    assert table.act("choose", {"action": "bet"}).status_code == 409
    assert table.act("wager", {"amount": 7}, If_Match='"99.s0.json.en.r2"').status_code == 412
    assert table.act("wager", {"amount": "7"}).status_code == 422
    assert table.act("wager", {"amount": 7}, Authorization="Bearer x").status_code == 401
    assert table.act("wager", {"amount": 7}, Idempotency_Key="a").get_json()["code"] == "key-reused"
    assert sent == LOOK * 5


def test_a_look_costs_one(table: Table, sent: list[str]) -> None:
    """A read, whatever it is answered with."""
    assert table.client.get(table.path).status_code == 200
    assert table.client.get(f"{table.path}/score").status_code == 200
    assert sent == LOOK * 2


def test_a_repeat_costs_one_look_into_the_log_besides(table: Table, sent: list[str]) -> None:
    """The answer is made again from it; in a long game from the last mark."""
    for number in range(3):
        assert table.act("wager", {"amount": 6 + number}, Idempotency_Key=f"k{number}").status_code == 200
    sent.clear()
    assert "Idempotency-Replayed" in table.act("wager", {"amount": 8}, Idempotency_Key="k2").headers
    assert sent == ["EVALSHA", "LRANGE"]
    for number in range(MARK_EVERY):
        table.act("wager", {"amount": 5 + number % 9})
    assert table.act("wager", {"amount": 9}, Idempotency_Key="late").status_code == 200
    sent.clear()
    assert "Idempotency-Replayed" in table.act("wager", {"amount": 9}, Idempotency_Key="late").headers
    assert sent == ["EVALSHA", "HMGET", "LRANGE"]


def test_a_move_that_asks_twice_is_found_out(table: Table, sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another load before the commit is one too many."""
    commit = Store.commit

    def wary(store: Store, session: str, change: Any, deadline: Deadline) -> Any:  # noqa: ANN401
        store.load(session, "", deadline)
        return commit(store, session, change, deadline)

    monkeypatch.setattr(Store, "commit", wary)
    table.act("wager", {"amount": 6})
    assert sent != MOVE
