"""Every operation, status and code in the contract occurs, and each is provoked by what it is for."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from unittest.mock import patch

import pytest

from service import sessions
from service.clients import api_keys
from service.connection import NotDurable, StoreAway
from service.gate import Gate
from service.limits import OFF, Limits
from service.records import DAY_MS
from service.sessions import Sessions
from service.settings import Settings
from service.store import Deadline
from service.streams import Streams
from tests.claims import contested, misfit
from tests.contract import CONTRACT, WITHOUT_ID, Occurrence, frames
from tests.frames import SSE, STREAMS
from tests.scene import JACKPOT, OPERATIONS, SKULLS, SPEED, SPICE, VERBS, Ask, Scene, SeenClient

HAND_OPEN = ("wager", "leave")
"""What must wait, in Spice Island Poker, while a hand is undecided; the others must wait at first."""
UNREAD = {each for each in CONTRACT.documented() if each.operation in WITHOUT_ID}
NO_SESSION = "/v1/sessions/" + "A" * 22
ONE_EACH = Settings(
    moves_per_second=1,
    reads_per_second=1,
    opens_per_minute=1,
    joins_per_minute=1,
    tickets_per_minute=1,
    events_per_minute=1,
    lobby_per_minute=1,
)
OTHER_SEAT = {"seat": 5}
"""A seat that nobody holds, and the host alone may speak of."""


@pytest.fixture(name="scene")
def _scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.close()


def accept(scene: Scene, ask: Ask) -> None:
    scene.send(ask)


def nothing_more(scene: Scene, ask: Ask) -> None:
    if ask.method != "GET":
        return accept(scene, ask)
    session = scene.open(SPICE)
    scene.act(session, "leave")
    scene.elsewhere(ask, session)
    scene.send(ask, headers=ask.headers | {"Accept": SSE}, query_string="after=1")
    return None


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
    scene.elsewhere(ask, session)
    hosts = {"join": {"seat": 0, "bot": "easy"}, "leave": OTHER_SEAT, "token": OTHER_SEAT}
    verb = verb_of(ask)
    if ask.method == "DELETE" or verb in hosts:
        scene.send(ask, json=hosts.get(verb))
    else:
        scene.send(ask, headers=session.host)


def verb_of(ask: Ask) -> str:
    return ask.path.rpartition("/")[2]


def no_such_game(scene: Scene, ask: Ask) -> None:
    ask.path = ask.path.replace(SPICE, "whist")
    scene.send(ask)


def not_told(scene: Scene, ask: Ask) -> None:
    with patch.dict(scene.app.config, METRICS=False):
        scene.send(ask)


def no_such_session(scene: Scene, ask: Ask) -> None:
    ask.path = NO_SESSION + ask.path[len(NO_SESSION) :]
    scene.send(ask)


def not_acceptable(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers=ask.headers | {"Accept": "image/png"})


def too_early(scene: Scene, ask: Ask) -> None:
    verb = verb_of(ask)
    if verb == "token":
        scene.send(ask, json=OTHER_SEAT)
        return
    session = scene.open(VERBS[verb])
    if verb in HAND_OPEN:
        scene.act(session, "wager", {"amount": 5})
        scene.act(session, "deal")
    scene.elsewhere(ask, session)
    scene.send(ask)


def out_of_bounds(scene: Scene, ask: Ask) -> None:
    scene.send(ask, json={"positions": [0, 29]} if "positions" in ask.json else {"amount": 100_000})


def in_another_game(scene: Scene, ask: Ask) -> None:
    if verb_of(ask) == "join":
        session = scene.open(SPICE)
        scene.elsewhere(ask, session)
        scene.send(ask, headers=session.host, json={"seat": 0, "bot": "easy"})
        return
    scene.elsewhere(ask, scene.open(SPEED))
    scene.send(ask)


def finished(scene: Scene, ask: Ask) -> None:
    session = scene.open(VERBS.get(verb_of(ask), SPICE))
    scene.act(session, "leave")
    scene.elsewhere(ask, session)
    if verb_of(ask) in ("join", "token"):
        ask.headers = session.host
    scene.send(ask)


def left(scene: Scene, ask: Ask) -> None:
    session = scene.open(JACKPOT, ["Anna", "Bo", "Cleo"])
    scene.act(session, "leave")
    scene.elsewhere(ask, session)
    bodies = {"choose": {"drop": []}, "seed": {"client_seed": ""}}
    scene.send(ask, json=bodies.get(verb_of(ask), {}))


def seat_taken(scene: Scene, ask: Ask) -> None:
    scene.send(ask)
    scene.send(ask)


def pile_changed(scene: Scene, ask: Ask) -> None:
    for session, view in scene.racing():
        if claims := contested(view, scene.client.get(session.path, headers=session.seats[1]).get_json()):
            scene.act(session, "choose", claims[0])
            scene.elsewhere(ask, session, seat=1)
            scene.send(ask, json=claims[1])
            return


def illegal_play(scene: Scene, ask: Ask) -> None:
    for session, view in scene.racing():
        if wrong := misfit(view):
            scene.elsewhere(ask, session)
            scene.send(ask, json=wrong)
            ask.json = wrong
            return


def penalized(scene: Scene, ask: Ask) -> None:
    illegal_play(scene, ask)
    scene.send(ask)


def not_evaluated(scene: Scene, _ask: Ask) -> None:
    scene.client.get(f"{scene.open(SKULLS).path}/score")


def nothing_to_evaluate(scene: Scene, ask: Ask) -> None:
    ask.path = ask.path.replace(SPICE, SPEED)
    scene.send(ask)


def gone(scene: Scene, ask: Ask) -> None:
    scene.shelf.time += DAY_MS
    scene.send(ask)


def mismatched(scene: Scene, ask: Ask) -> None:
    scene.send(ask, headers=ask.headers | {"If-Match": '"99.s0.json.en.r2"'})


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


def not_durable(scene: Scene, ask: Ask) -> None:
    scene.shelf.fault = NotDurable("ordered")
    scene.send(ask)


def busy(scene: Scene, ask: Ask) -> None:
    """A read writes down what is due, and loses its races as a move does."""
    if ask.method == "GET" or verb_of(ask) == "ticket":
        session = scene.open(JACKPOT, [{"bot": "easy"}, "Anna"])
        scene.act(session, "deal")
        scene.shelf.time += 1000
        scene.elsewhere(ask, session)
    scene.shelf.races = True
    scene.send(ask)


def catching_up(scene: Scene, ask: Ask) -> None:
    """More is due than one commit holds, and the request's time is used up."""
    session = scene.open(JACKPOT, [{"bot": "easy"}, "Anna"])
    scene.act(session, "deal")
    scene.shelf.time += 1000
    scene.elsewhere(ask, session)
    if ask.method == "DELETE" or verb_of(ask) == "token":
        ask.headers = session.host
    if verb_of(ask) == "choose":
        ask.json = {"drop": []}
    with patch.object(sessions, "PORTION", 1), patch.object(Deadline, "allows_a_call", return_value=False):
        scene.send(ask)


def newer_session(scene: Scene, ask: Ask) -> None:
    scene.shelf.outlive()
    scene.send(ask)


def rate_limited(scene: Scene, ask: Ask) -> None:
    """One request is within the limits; the session's end would come before the next."""
    limits = Limits(ONE_EACH)
    limited = {"sessions": partial(Sessions, scene.shelf, limits), "gate": Gate(Settings(), limits)}
    elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
    with patch.dict(scene.app.extensions, limited), patch.dict(scene.client.environ_base, elsewhere):
        for _ in range(3):
            if ask.method == "DELETE":
                scene.client.post(f"{ask.path}/leave", headers=ask.headers, json=OTHER_SEAT)
            else:
                scene.send(ask)
        scene.send(ask)


def key_needed(scene: Scene, ask: Ask) -> None:
    """A key that nobody has been given is none."""
    with patch.dict(scene.app.extensions, gate=Gate(Settings(api_keys=api_keys("0" * 64)), OFF)):
        scene.send(ask, headers={"X-API-Key": "x"})


def too_many_streams(scene: Scene, ask: Ask) -> None:
    full = Streams(scene.app.extensions["sessions"], scene.shelf.wakes(), 0)
    with patch.dict(scene.app.extensions, streams=full):
        scene.send(ask, headers=ask.headers | {"Accept": SSE})


PROVOKED: dict[tuple[str, str | None], Callable[[Scene, Ask], None]] = {
    ("200", None): accept,
    ("201", None): accept,
    ("204", None): nothing_more,
    ("304", None): unchanged,
    ("400", "malformed-json"): malformed,
    ("400", "bad-request"): cut_short,
    ("401", "unauthorized"): unauthorized,
    ("401", "api-key-needed"): key_needed,
    ("403", "forbidden"): forbidden,
    ("404", "not-found"): not_told,
    ("404", "unknown-game"): no_such_game,
    ("404", "unknown-session"): no_such_session,
    ("406", "not-acceptable"): not_acceptable,
    ("409", "not-now"): too_early,
    ("409", "out-of-bounds"): out_of_bounds,
    ("409", "not-in-this-game"): in_another_game,
    ("409", "left"): left,
    ("409", "finished"): finished,
    ("409", "seat-taken"): seat_taken,
    ("409", "pile-changed"): pile_changed,
    ("409", "illegal-play"): illegal_play,
    ("409", "penalized"): penalized,
    ("409", "not-evaluated"): not_evaluated,
    ("409", "nothing-to-evaluate"): nothing_to_evaluate,
    ("410", "gone"): gone,
    ("412", "version-mismatch"): mismatched,
    ("413", "body-too-large"): too_large,
    ("415", "unsupported-media-type"): wrong_type,
    ("422", "invalid"): invalid,
    ("422", "key-reused"): key_reused,
    ("429", "rate-limited"): rate_limited,
    ("500", "internal-error"): broken,
    ("503", "store-unavailable"): store_away,
    ("503", "not-durable"): not_durable,
    ("503", "busy"): busy,
    ("503", "catching-up"): catching_up,
    ("503", "newer-session"): newer_session,
    ("503", "too-many-streams"): too_many_streams,
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


def representations(name: str) -> list[str]:
    """Return the media types of an operation that is accepted."""
    method, path = OPERATIONS[name]
    here = f"/paths/{path.replace('/', '~1')}/{method.lower()}/responses"
    return [
        kind for status, reply in CONTRACT.document.replies(here).items() if status < "300" for kind in reply.bodies
    ]


REPRESENTATIONS = [(name, kind) for name in OPERATIONS for kind in representations(name)]


@pytest.mark.parametrize(("name", "kind"), REPRESENTATIONS)
def test_a_documented_representation_is_answered(scene: Scene, name: str, kind: str) -> None:
    """Whoever accepts nothing else is sent it, as it is documented; of a stream, its beginning."""
    ask = scene.accepted(name)
    with closing(scene.send(ask, headers=ask.headers | {"Accept": kind})) as answer:
        assert (answer.status_code // 100, answer.mimetype) == (2, kind)
        if kind in STREAMS:
            assert next(frames(answer))["event"] == "snapshot"


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
    own = {"X-Request-Id"} | ({"Content-Length"} if name == "getMetrics" else set())  # it counts itself
    assert {it for it in head.headers if it[0] not in own} == {it for it in get.headers if it[0] not in own}


def test_nothing_documented_is_left_out() -> None:
    """The answers of these tests, and what cannot be read as HTTP, are all that the contract has."""
    everywhere = {Occurrence("options", "200"), Occurrence("method", "405", "method-not-allowed")}
    everywhere |= {Occurrence("path", "404", "not-found")}
    assert {*OF_OPERATIONS} | everywhere | UNREAD == CONTRACT.documented()
