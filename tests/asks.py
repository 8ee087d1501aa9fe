"""What a service asks of its store, each as one request, and what it answers when the store is away."""

from collections.abc import Callable
from time import monotonic

from werkzeug.test import TestResponse

from tests.routes import outcome
from tests.tables import Table

AWAY = (503, "store-unavailable")
HANG = 30.0
"""Seconds after which an answer is no answer; the service's own bound is 2."""

Ask = Callable[[Table], TestResponse]

READS: dict[str, Ask] = {
    "a look": lambda table: table.client.get(table.path),
    "a score": Table.score,
}
WRITES: dict[str, Ask] = {
    "an opening": lambda table: table.client.post("/v1/sessions", json={"game": "skulls-and-swords"}),
    "a move": lambda table: table.act("deal", Idempotency_Key="a"),
    "a deletion": lambda table: table.client.delete(table.path, headers=table.bearer(table.host)),
}
READY: Ask = lambda table: table.client.get("/readyz")  # noqa: E731 - one of the same kind
ALL: tuple[Ask, ...] = (*READS.values(), *WRITES.values(), READY)


def is_away(answer: TestResponse) -> None:
    """Fail unless the answer says to come again."""
    assert outcome(answer) == AWAY, answer.text
    assert answer.headers["Retry-After"] == "1"


def timed(ask: Ask, table: Table) -> TestResponse:
    """Return an answer that came before anyone would call it a hang."""
    began = monotonic()
    answer = ask(table)
    assert monotonic() - began < HANG
    return answer


def plays_on(table: Table, version: int) -> None:
    """Fail unless the session is at a version, and a move with a key is made there, once."""
    assert table.view()["version"] == version
    first = table.act("deal", Idempotency_Key="a")
    assert (first.status_code, first.get_json()["version"]) == (200, 2)
    assert table.act("deal", Idempotency_Key="a").data == first.data
    assert table.view()["version"] == 2
