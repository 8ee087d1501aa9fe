"""Of two things that are wrong with a request, the answer names the one that is checked first."""

from collections.abc import Callable, Mapping
from itertools import combinations

import pytest
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.test import TestResponse

from service import records, sessions
from service.records import DAY_MS
from service.store import Change
from tests.conftest import Clock
from tests.routes import Outcome, outcome
from tests.stored import Stored
from tests.tables import Table


class Asked(Struct, frozen=True):
    """A request; as it begins, one that is accepted."""

    path: str
    headers: Mapping[str, str]
    method: str = "POST"
    body: bytes = b'{"amount": 5}'
    content_type: str = "application/json"
    query: str = ""

    def having(self, name: str, value: str) -> "Asked":
        """Return the request with a header."""
        return replace(self, headers={**self.headers, name: value})

    def without(self, name: str) -> "Asked":
        """Return the request without a header."""
        return replace(self, headers={each: value for each, value in self.headers.items() if each != name})

    def sent(self, table: Table) -> TestResponse:
        """Send it."""
        return table.client.open(
            self.path,
            method=self.method,
            data=self.body,
            content_type=self.content_type,
            query_string=self.query,
            headers=dict(self.headers),
        )


class Scene(Struct, frozen=True):
    """A session in which the key `used` was used, and the id of one that is over."""

    table: Table
    over: str

    def elsewhere(self, asked: Asked, session: str) -> Asked:
        """Return the request to another session."""
        return replace(asked, path=asked.path.replace(self.table.id, session))


class Fault(Struct, frozen=True):
    """Something wrong with a request, where it sits, and what it is answered with."""

    place: str
    answer: Outcome
    put: Callable[[Asked, Scene], Asked]


TOO_LARGE = b"{" + b" " * 16384 + b"}"
INVALID = (422, "invalid")

FAULTS: dict[str, Fault] = {
    "no such path": Fault("path", (404, "not-found"), lambda asked, _: replace(asked, path=f"{asked.path}/x")),
    "no such method": Fault("method", (405, "method-not-allowed"), lambda asked, _: replace(asked, method="PUT")),
    "not acceptable": Fault("accept", (406, "not-acceptable"), lambda asked, _: asked.having("Accept", "image/png")),
    "too large": Fault("body", (413, "body-too-large"), lambda asked, _: replace(asked, body=TOO_LARGE)),
    "a page": Fault("type", (415, "unsupported-media-type"), lambda asked, _: replace(asked, content_type="text/html")),
    "no JSON": Fault("body", (400, "malformed-json"), lambda asked, _: replace(asked, body=b"{")),
    "no id": Fault("id", (404, "unknown-session"), lambda asked, scene: scene.elsewhere(asked, "short")),
    "an unknown id": Fault("id", (404, "unknown-session"), lambda asked, scene: scene.elsewhere(asked, "a" * 22)),
    "an old id": Fault("id", (410, "gone"), lambda asked, scene: scene.elsewhere(asked, scene.over)),
    "a wrong token": Fault("token", (401, "unauthorized"), lambda asked, _: asked.having("Authorization", "Bearer x")),
    "another scheme": Fault("token", (401, "unauthorized"), lambda asked, _: asked.having("Authorization", "Basic x")),
    "no token": Fault("token", (401, "unauthorized"), lambda asked, _: asked.without("Authorization")),
    "a used key": Fault("key", (422, "key-reused"), lambda asked, _: asked.having("Idempotency-Key", "used")),
    "no key": Fault("key", INVALID, lambda asked, _: asked.having("Idempotency-Key", "a b")),
    "a wrong field": Fault("body", INVALID, lambda asked, _: replace(asked, body=b'{"amount": "5"}')),
    "a parameter": Fault("query", INVALID, lambda asked, _: replace(asked, query="x=1")),
    "no seat": Fault(
        "token",
        (403, "forbidden"),
        lambda asked, scene: asked.having("Authorization", f"Bearer {scene.table.host}"),
    ),
    "another version": Fault(
        "match", (412, "version-mismatch"), lambda asked, _: asked.having("If-Match", '"9.s0.json.en.r2"')
    ),
    "the rules": Fault("body", (409, "out-of-bounds"), lambda asked, _: replace(asked, body=b'{"amount": 1000}')),
}
"""All that can be wrong with a move, in the order in which it is looked for."""

APART = {("a used key", "no seat")}
"""Faults that no request has together although they sit in different places: a key is its token's own."""


@pytest.fixture(name="scene")
def _scene(table: Table, clock: Clock) -> Scene:
    over = table.open("spice-island-poker").id
    clock.advance(DAY_MS)
    table.open("spice-island-poker").play("wager", {"amount": 6}, Idempotency_Key="used")
    return Scene(table, over)


def answered(scene: Scene, *names: str) -> Outcome:
    """Return what a request with these faults is answered."""
    table = scene.table
    asked = Asked(f"{table.path}/wager", headers=table.bearer())
    for name in names:
        asked = FAULTS[name].put(asked, scene)
    return outcome(asked.sent(table))


def test_a_request_without_a_fault_is_accepted(scene: Scene) -> None:
    """What is refused below is refused for its faults."""
    assert answered(scene) == (200, None)


@pytest.mark.parametrize("first", FAULTS)
def test_of_two_faults_the_first_is_answered(scene: Scene, stored: Stored, first: str) -> None:
    """Alone and with every fault that comes later, and nothing is changed."""
    before = stored.dump(scene.table.id)
    names = list(FAULTS)
    assert answered(scene, first) == FAULTS[first].answer
    for later in names[names.index(first) + 1 :]:
        if FAULTS[later].place != FAULTS[first].place and (first, later) not in APART:
            assert answered(scene, later, first) == FAULTS[first].answer, later
    assert stored.dump(scene.table.id) == before


def test_a_swapped_check_is_found_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the version were looked at before the body, two faults would tell."""
    worked_out = sessions._worked_out

    def swapped(seen: records.Seen, request: sessions.Request, field: str) -> tuple[sessions.Acted | None, Change]:
        if not request.matches(seen.record.version):
            raise sessions.VersionMismatch(seen)
        return worked_out(seen, request, field)

    monkeypatch.setattr(sessions, "_worked_out", swapped)
    assert answered(scene, "another version", "a wrong field") == FAULTS["another version"].answer


# Reading and deleting have fewer checks, in the same order.

READS = ("no id", "an unknown id", "an old id", "a wrong token", "another scheme", "a parameter")


@pytest.mark.parametrize("way", [("GET", ""), ("GET", "/score"), ("DELETE", "")], ids=" ".join)
def test_reads_and_the_deletion_check_in_the_same_order(scene: Scene, stored: Stored, way: tuple[str, str]) -> None:
    """The token after the session, the query after the token, the right after the query, the rules last."""
    table = scene.table.open("skulls-and-swords")
    asked = Asked(f"{table.path}{way[1]}", headers=table.bearer(), method=way[0], body=b"", content_type="")
    alone = {("GET", ""): (200, None), ("GET", "/score"): (409, "not-evaluated"), ("DELETE", ""): (403, "forbidden")}
    assert outcome(asked.sent(table)) == alone[way]
    for first, later in combinations(READS, 2):
        if FAULTS[first].place != FAULTS[later].place and (way[1], first) != ("/score", "an old id"):
            both = FAULTS[first].put(FAULTS[later].put(asked, scene), scene)
            assert outcome(both.sent(table)) == FAULTS[first].answer, (first, later)
    assert outcome(FAULTS["a parameter"].put(asked, scene).sent(table)) == INVALID
