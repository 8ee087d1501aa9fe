"""Every operation, status and code in the contract occurs, and each is provoked by what it is for."""

from collections.abc import Callable
from unittest.mock import patch

import pytest

from service.sessions import DAY_MS
from service.store import StoreAway
from tests.contract import CONTRACT, Occurrence
from tests.scene import OPERATIONS, SKULLS, SPICE, VERBS, Ask, Scene, SeenClient

HAND_OPEN = ("wager", "leave")
"""What must wait, in Spice Island Poker, while a hand is undecided; the others must wait at first."""
UNREAD = {each for each in CONTRACT.documented() if each.operation == "unread"}
NO_SESSION = "/v1/sessions/" + "A" * 22


def accept(scene: Scene, ask: Ask) -> None:
    scene.send(ask)


def unchanged(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers=ask.headers | {"If-None-Match": "*"})


def malformed(scene: Scene, ask: Ask) -> None:
    scene.send(ask, data=b"{", content_type="application/json")


def cut_short(scene: Scene, ask: Ask) -> None:
    scene.send(ask, data=b"{}", content_type="application/json", environ_overrides={"CONTENT_LENGTH": "9"})


def unauthorized(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers={"Authorization": "Bearer of-another-session"})


def forbidden(scene: Scene, ask: Ask) -> None:
    session = scene.open(SPICE)
    viewer = session["seat" if ask.method == "DELETE" else "host"]
    ask.path = ask.path.replace(ask.path[: len(NO_SESSION)], session["path"])
    scene.send(ask, headers=viewer)


def no_such_game(scene: Scene, ask: Ask) -> None:
    ask.path = ask.path.replace(SPICE, "whist")
    scene.send(ask)


def no_such_session(scene: Scene, ask: Ask) -> None:
    ask.path = NO_SESSION + ask.path[len(NO_SESSION) :]
    scene.send(ask)


def not_acceptable(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers=ask.headers | {"Accept": "image/png"})


def too_early(scene: Scene, ask: Ask) -> None:
    verb = ask.path.rpartition("/")[2]
    scene.elsewhere(ask, VERBS[verb], *(("wager", "deal") if verb in HAND_OPEN else ()))
    scene.send(ask)


def out_of_bounds(scene: Scene, ask: Ask) -> None:
    scene.send(ask, json={"positions": [0, 29]} if "positions" in ask.json else {"amount": 100_000})


def in_another_game(scene: Scene, ask: Ask) -> None:
    scene.elsewhere(ask, SPICE)
    scene.send(ask)


def finished(scene: Scene, ask: Ask) -> None:
    scene.elsewhere(ask, VERBS[ask.path.rpartition("/")[2]], "leave")
    scene.send(ask)


def not_evaluated(scene: Scene, _ask: Ask) -> None:
    session = scene.open(SKULLS)
    scene.client.get(f"{session['path']}/score")


def gone(scene: Scene, ask: Ask) -> None:
    scene.shelf.time += DAY_MS
    scene.send(ask)


def mismatched(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers=ask.headers | {"If-Match": '"99.s0.json.en.r1"'})


def too_large(scene: Scene, ask: Ask) -> None:
    scene.send(ask, data=b" " * 20_000, content_type="application/json")


def wrong_type(scene: Scene, ask: Ask) -> None:
    scene.send(ask, data=b"{}", content_type="text/plain")


def invalid(scene: Scene, ask: Ask) -> None:
    scene.send(ask, query_string="depth=1")


def key_reused(scene: Scene, ask: Ask) -> None:
    named = ask.headers | {"Idempotency-Key": "once"}
    scene.send(ask, headers=named)
    scene.send(ask, headers=named, query_string="depth=1")


def broken(scene: Scene, ask: Ask) -> None:
    endpoint, _ = scene.app.url_map.bind("").match(ask.path, ask.method)
    with patch.dict(scene.app.view_functions, {endpoint: lambda **_: 1 / 0}):
        scene.send(ask)


def store_away(scene: Scene, ask: Ask) -> None:
    scene.shelf.fault = StoreAway("ordered")
    scene.send(ask)


def busy(scene: Scene, ask: Ask) -> None:
    scene.shelf.races = True
    scene.send(ask)


PROVOKED: dict[tuple[str, str | None], Callable[[Scene, Ask], None]] = {
    ("200", None): accept,
    ("201", None): accept,
    ("204", None): accept,
    ("304", None): unchanged,
    ("400", "malformed-json"): malformed,
    ("400", "bad-request"): cut_short,
    ("401", "unauthorized"): unauthorized,
    ("403", "forbidden"): forbidden,
    ("404", "unknown-game"): no_such_game,
    ("404", "unknown-session"): no_such_session,
    ("406", "not-acceptable"): not_acceptable,
    ("409", "not-now"): too_early,
    ("409", "out-of-bounds"): out_of_bounds,
    ("409", "not-in-this-game"): in_another_game,
    ("409", "finished"): finished,
    ("409", "not-evaluated"): not_evaluated,
    ("410", "gone"): gone,
    ("412", "version-mismatch"): mismatched,
    ("413", "body-too-large"): too_large,
    ("415", "unsupported-media-type"): wrong_type,
    ("422", "invalid"): invalid,
    ("422", "key-reused"): key_reused,
    ("500", "internal-error"): broken,
    ("503", "store-unavailable"): store_away,
    ("503", "busy"): busy,
}
OF_OPERATIONS = sorted((each for each in CONTRACT.documented() if each.operation in OPERATIONS), key=str)


@pytest.mark.parametrize("wanted", OF_OPERATIONS, ids=lambda each: " ".join(filter(None, each)))
def test_a_documented_answer_occurs(wanted: Occurrence) -> None:
    """The service answers so when it is given the reason to."""
    scene = Scene()
    ask = scene.accepted(wanted.operation)
    SeenClient.contract.seen.clear()
    PROVOKED[wanted.status, wanted.code](scene, ask)
    assert wanted in SeenClient.contract.seen


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_path_answers_options_and_refuses_other_methods(name: str) -> None:
    """OPTIONS and 405 name the methods of the contract."""
    scene = Scene()
    ask = scene.accepted(name)
    SeenClient.contract.seen.clear()
    scene.send(ask, method="OPTIONS", json=None)
    scene.send(ask, method="PATCH", json=None)
    assert SeenClient.contract.seen == {Occurrence("options", "200"), Occurrence("method", "405", "method-not-allowed")}


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/sessions/", NO_SESSION + "/fly", "//v1/games", "/v1/games/"])
def test_a_path_that_is_not_in_the_contract_is_not_found(path: str) -> None:
    """Nothing is redirected, and nothing is answered that is not documented."""
    SeenClient.contract.seen.clear()
    for method in ("GET", "POST", "OPTIONS", "PATCH"):
        assert Scene().client.open(path, method=method).status_code == 404
    assert SeenClient.contract.seen == {Occurrence("path", "404", "not-found")}


@pytest.mark.parametrize("name", [name for name, (method, _) in OPERATIONS.items() if method == "GET"])
def test_head_answers_as_get_does_without_the_body(name: str) -> None:
    """Status and headers are the same, and there is no body."""
    scene = Scene()
    ask = scene.accepted(name)
    get, head = scene.send(ask), scene.send(ask, method="HEAD")
    assert (head.status, head.data) == (get.status, b"")
    own = {"X-Request-Id"}
    assert {it for it in head.headers if it[0] not in own} == {it for it in get.headers if it[0] not in own}


def test_nothing_documented_is_left_out() -> None:
    """The answers of these tests, and what cannot be read as HTTP, are all that the contract has."""
    everywhere = {Occurrence("options", "200"), Occurrence("method", "405", "method-not-allowed")}
    everywhere |= {Occurrence("path", "404", "not-found")}
    assert {*OF_OPERATIONS} | everywhere | UNREAD == CONTRACT.documented()
