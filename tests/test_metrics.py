"""Metrics: what is counted under which labels, and that no client can make there be more of them."""

import os
import re
import secrets
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import Empty

import pytest
from redis import exceptions
from redis.exceptions import RedisError

from service import metrics, watch
from service.connection import StoreAway, store_errors
from service.metrics import CALLS
from service.sessions import MOST_RACES
from service.settings import Settings
from service.streams import Subscription
from tests.contract import CONTRACT, LiveClient
from tests.counts import FORMATS, Counts, counts, risen, told
from tests.frames import NDJSON, SSE
from tests.scene import JACKPOT, OPERATIONS, SPICE, Opened, Scene
from tests.servers import SERVERS, ServiceProcess, StoreProcess, eventually
from tests.wires import Wire

MOVES = "croupier_moves_total"
"""Its labels, in order of their names: game, result, verb."""
REQUESTS = "croupier_request_duration_seconds_count"
OPENED = "croupier_sessions_opened_total"
STREAMS = "croupier_streams_open"
BOOTING = r"(?:Booting worker with pid|Spawning worker-\d+ with PID): (\d+)"


@pytest.fixture(name="scene")
def _scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.close()


@pytest.fixture(name="session")
def _session(scene: Scene) -> Opened:
    return scene.open(SPICE)


# What is counted.


def test_a_move_is_counted_by_game_verb_and_what_came_of_it(scene: Scene, session: Opened) -> None:
    """Accepted, replayed to its key, or refused with the problem's code."""
    before = told(scene.client)
    keyed = session.seat | {"Idempotency-Key": "a"}
    for amount in (5, 5, 6):
        scene.client.post(f"{session.path}/wager", json={"amount": amount}, headers=keyed)
    scene.act(session, "wager", {"amount": "5"})
    scene.act(session, "choose", {"action": "bet"})
    scene.act(session, "deal")
    scene.client.delete(session.path, headers=session.host)
    assert risen(before, told(scene.client), MOVES) == {
        (SPICE, "accepted", "wager"): 1,
        (SPICE, "replayed", "wager"): 1,
        (SPICE, "key-reused", "wager"): 1,
        (SPICE, "invalid", "wager"): 1,
        (SPICE, "not-now", "choose"): 1,
        (SPICE, "accepted", "deal"): 1,
        (SPICE, "accepted", "delete"): 1,
    }


def test_a_move_that_reaches_no_session_is_of_no_game(scene: Scene, session: Opened) -> None:
    """What a client says about itself is not believed before it was checked."""
    before = told(scene.client)
    scene.client.post(f"/v1/sessions/{'A' * 22}/deal", headers=session.seat)
    scene.client.post(f"{session.path}/deal", data=b"{", content_type="application/json")
    assert risen(before, told(scene.client), MOVES) == {
        ("none", "unknown-session", "deal"): 1,
        ("none", "malformed-json", "deal"): 1,
    }


def test_a_seat_that_is_given_away_is_counted(scene: Scene) -> None:
    """Joining and issuing a token anew are moves like others."""
    session = scene.open(JACKPOT)
    before = told(scene.client)
    scene.client.post(f"{session.path}/join", json={"name": "Cleo"})
    scene.client.post(f"{session.path}/token", json={"seat": 0}, headers=session.host)
    assert risen(before, told(scene.client), MOVES) == {(JACKPOT, "accepted", verb): 1 for verb in ("join", "token")}


def test_a_session_is_counted_once_it_is_open(scene: Scene) -> None:
    """By its game; one that is refused is none."""
    before = told(scene.client)
    scene.open(SPICE)
    scene.client.post("/v1/sessions", json={"game": SPICE, "options": {"balance": -1}})
    assert risen(before, told(scene.client), OPENED) == {(SPICE,): 1}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_request_is_timed_under_its_name_in_the_contract(scene: Scene, name: str) -> None:
    """Each operation is one of the contract, by its method and path; the status counts by its class."""
    method, path = OPERATIONS[name]
    ask = scene.accepted(name)
    before = told(scene.client)
    scene.send(ask).close()
    rose = risen(before, told(scene.client), REQUESTS)
    assert rose.pop(("GET /metrics", "2xx"))
    assert rose == ({} if name == "getMetrics" else {(f"{method} {path}", "2xx"): 1})


@pytest.mark.parametrize(("accept", "kind"), [(SSE, "sse"), (NDJSON, "ndjson")])
def test_an_open_stream_is_counted_until_it_ends(scene: Scene, session: Opened, accept: str, kind: str) -> None:
    """By its kind."""
    before = told(scene.client)[STREAMS, kind]
    with closing(scene.client.get(f"{session.path}/events", headers={"Accept": accept})):
        assert told(scene.client)[STREAMS, kind] == before + 1
    assert told(scene.client)[STREAMS, kind] == before


def test_a_long_poll_is_counted_while_it_waits(scene: Scene, session: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds a place as a stream does."""
    seen = []

    def wait(_subscription: Subscription, _seconds: float) -> None:
        seen.append(told(scene.app.test_client())[STREAMS, "poll"])
        raise Empty

    monkeypatch.setattr(Subscription, "get", wait)
    before = told(scene.client)[STREAMS, "poll"]
    assert scene.client.get(f"{session.path}/events?wait=30").status_code == 200
    assert seen == [before + 1]
    assert told(scene.client)[STREAMS, "poll"] == before


def test_a_lost_race_is_counted(scene: Scene, session: Opened) -> None:
    """Each of them, of the many that one request may lose."""
    before = told(scene.client)
    scene.shelf.races = True
    assert scene.act(session, "wager", {"amount": 5}).status_code == 503
    after = told(scene.client)
    assert risen(before, after, "croupier_lost_races_total") == {(): MOST_RACES}
    assert risen(before, after, "croupier_problems_total") == {("busy",): 1}


def test_every_call_to_the_store_is_timed(scene: Scene, session: Opened) -> None:
    """By its name, also one that fails."""
    before = told(scene.client)
    scene.client.get(session.path)
    scene.shelf.fault = StoreAway("ordered")
    scene.client.get(session.path)
    rose = risen(before, told(scene.client), "croupier_store_call_duration_seconds_count")
    assert rose == {("load",): 2}
    assert {"open", "load", "commit", "log", "ready", "lobby"} <= set(CALLS)


FAULTS = {
    "timeout": exceptions.TimeoutError("no reply"),
    "connection": exceptions.ConnectionError("refused"),
    "refused": exceptions.ReadOnlyError("a replica"),
}


def away(cause: RedisError) -> StoreAway:
    """Return what a fault of the store becomes."""
    with pytest.raises(StoreAway) as raised, store_errors():
        raise cause
    return raised.value


@pytest.mark.parametrize(
    ("kind", "fault"), [("deadline", StoreAway("late")), *((k, away(f)) for k, f in FAULTS.items())]
)
def test_a_failed_call_to_the_store_is_counted_by_kind(
    scene: Scene, session: Opened, kind: str, fault: StoreAway
) -> None:
    """No time left, no reply in time, no connection, or a reply that refuses."""
    before = told(scene.client)
    scene.shelf.fault = fault
    assert scene.client.get(session.path).status_code == 503
    assert risen(before, told(scene.client), "croupier_store_errors_total") == {(kind,): 1}


def test_what_runs_is_told(scene: Scene) -> None:
    """The release is the contract's."""
    found = [each for each in told(scene.client) if each[0] == "croupier_build_info"]
    assert [version for _, _, version in found] == [CONTRACT.document.tree["info"]["version"]]


# Who is told, and how.


@pytest.mark.parametrize(
    ("accept", "told_as"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        ("text/plain", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
    ],
)
def test_prometheus_reads_it_in_either_format(scene: Scene, session: Opened, accept: str, told_as: str) -> None:
    """The format is the one that it likes best, and is named with its version."""
    scene.act(session, "deal")
    answer = scene.client.get("/metrics", headers={"Accept": accept})
    assert answer.content_type == told_as
    assert counts(answer.text, answer.mimetype or "")[MOVES, SPICE, "not-now", "deal"] >= 1
    assert set(FORMATS) == {each.partition(";")[0] for each in _offered()}


def _offered() -> list[str]:
    return list(CONTRACT.document.tree["paths"]["/metrics"]["get"]["responses"]["200"]["content"])


@pytest.mark.parametrize(
    ("environ", "readable"),
    [
        ({}, True),
        ({"HOST": "::1"}, True),
        ({"HOST": "0.0.0.0"}, False),  # noqa: S104 - what a container listens on
        ({"HOST": "0.0.0.0", "METRICS": "on"}, True),  # noqa: S104
        ({"METRICS": "off"}, False),
    ],
)
def test_metrics_are_told_beyond_this_machine_only_where_they_are_to_be(
    environ: dict[str, str], readable: bool
) -> None:
    """Unless METRICS says so, whoever listens on more than the loopback tells nothing."""
    assert Settings.read(environ).metrics is readable


# What no client can do.


def hostile(scene: Scene, session: Opened) -> None:
    """Send what might become a label: made up anew each time, and in every place that a client writes to."""
    odd = secrets.token_urlsafe(16)
    send = scene.client.open
    send(f"/{odd}")
    send(f"/v1/games/{odd}")
    send(f"/v1/games/{odd}/evaluate", method="POST", json={"cards": [odd]})
    send(f"/v1/sessions/{odd}")
    send(f"/v1/sessions/{odd}/deal", method="POST", headers={"Authorization": f"Bearer {odd}"})
    send(f"{session.path}/{odd}", method="POST")
    send(session.path, method=odd[:8].upper())
    send(session.path, headers={"Authorization": f"Bearer {odd}", "X-Request-Id": odd, "Accept": f"{odd}/{odd}"})
    send(session.path, query_string={odd: odd})
    send(f"{session.path}/deal", method="POST", json={odd: odd}, headers=session.seat | {"Idempotency-Key": odd})
    send("/v1/sessions", method="POST", json={"game": odd})
    send("/v1/sessions", method="POST", json={"game": SPICE, "seats": [odd], "options": {odd: odd}})


def grown(scene: Scene, session: Opened) -> set[tuple[str, ...]]:
    """Return the series that are new after hostile requests of kinds that there have been before."""
    hostile(scene, session)
    before = set(told(scene.client))
    hostile(scene, session)
    return set(told(scene.client)) - before


def test_hostile_requests_make_no_more_series(scene: Scene, session: Opened) -> None:
    """Nothing of a path, a method, a name, a header or a body becomes a label."""
    assert grown(scene, session) == set()


def test_a_label_that_a_client_writes_is_found_out(
    scene: Scene, session: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: the operation is the path as it was sent."""
    monkeypatch.setattr(watch, "operation", lambda asked: asked.path)
    assert grown(scene, session)


# Several processes.


@pytest.mark.parametrize("by", SERVERS)
def test_workers_count_together_and_those_that_died_are_not_forgotten(
    server: StoreProcess, tmp_path: Path, by: str
) -> None:
    """Counts stay, streams end with their worker, and what they were counted in is removed in the end."""
    chosen = {"REDIS_URL": server.url, "WORKERS": "2", "TMPDIR": str(tmp_path), "SERVER": by}
    with ServiceProcess(tmp_path / "var", None, **chosen) as service:
        client = LiveClient(service.up().url)
        opened = client.send("POST", "/v1/sessions", b'{"game": "speed"}', {"Content-Type": "application/json"})
        path = f"/v1/sessions/{opened.json()['session']['id']}"
        with closing(Wire(service.port, f"{path}/events", {}, SSE)) as wire:
            assert wire.status == 200
            assert _counted(client)[STREAMS, "sse"] == 1
            eventually(lambda: len(re.findall(BOOTING, service.said)) == 2, "both workers are there")
            for pid in re.findall(BOOTING, service.said):
                os.kill(int(pid), signal.SIGKILL)
            eventually(lambda: len(re.findall(BOOTING, service.said)) == 4, "other workers have taken over")
            service.up()
            assert _counted(client)[STREAMS, "sse"] == 0
        client.send("POST", "/v1/sessions", b'{"game": "speed"}', {"Content-Type": "application/json"})
        assert _counted(client)[OPENED, "speed"] == 2
        assert list(tmp_path.glob("croupier-metrics-*"))
        service.stop()
    assert not list(tmp_path.glob("croupier-metrics-*"))


def test_a_file_that_is_only_just_made_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that begins while somebody asks is no fault."""
    monkeypatch.setenv(metrics.DIRECTORY, str(tmp_path))
    tmp_path.joinpath("counter_1.db").touch()
    assert metrics.exposition(metrics.PLAIN) == b""


def _counted(client: LiveClient) -> Counts:
    return counts(client.send("GET", "/metrics").body.decode())
