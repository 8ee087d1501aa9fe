"""A service behind either server keeps the contract too, also where it refuses what is no HTTP."""

import json
import socket
from collections.abc import Iterator
from http.client import HTTPResponse
from itertools import cycle
from logging import getLogger
from types import SimpleNamespace
from typing import cast

import pytest
from gunicorn.http.errors import UnsupportedTransferCoding

from engine.games import GAMES
from service.server import Worker
from tests.contract import CONTRACT, Answer, Contract, LiveClient, Occurrence
from tests.frames import STREAMS
from tests.servers import SERVERS, ServiceProcess, StoreProcess

HOST = b"Host: table\r\n"
UNREAD = {
    "400 bad-request": b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
    "414 uri-too-long": b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "417 expectation-failed": b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Expect: luck\r\nContent-Length: 0\r\n\r\n",
    "431 headers-too-large": b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"x" * 9000 + b"\r\n\r\n",
}


@pytest.fixture(scope="module", name="service", params=SERVERS)
def _service(
    server: StoreProcess, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ServiceProcess]:
    directory = tmp_path_factory.mktemp("live") / "var"
    with ServiceProcess(directory, REDIS_URL=server.url, SERVER=request.param) as service:
        yield service.up()


JSON_TYPE = {"Content-Type": "application/json"}
QUICK = {"speed": {"countdown_ms": 0}}
"""Options with which a round needs no waiting."""


def opened(client: LiveClient, slug: str) -> tuple[str, list[dict[str, str]]]:
    """Open a session for as many as the game needs: its path, and the headers of its seats."""
    names = [f"Player {number + 1}" for number in range(GAMES[slug].spec.seats[0])]
    asked = {"game": slug, "seats": names, "options": QUICK.get(slug, {})}
    answer = client.send("POST", "/v1/sessions", json.dumps(asked).encode(), JSON_TYPE).json()
    tokens = [each["token"] for each in answer["tokens"]]
    seats = [JSON_TYPE | {"Authorization": f"Bearer {token}"} for token in tokens]
    return f"/v1/sessions/{answer['session']['id']}", seats


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("slug", GAMES)
def test_a_client_that_knows_no_game_plays_a_round(service: ServiceProcess, slug: str, kind: str) -> None:
    """Each seat that is to act sends its first example; a stream tells it all, and the score is that of the round."""
    play_a_round(LiveClient(service.url), slug, kind)


def play_a_round(client: LiveClient, slug: str, kind: str) -> None:
    """Play by examples, and wait for each version to be told."""
    path, seats = opened(client, slug)
    with client.follow(f"{path}/events", seats[-1] | {"Accept": kind}) as told:
        frame = next(told)
        for seat in cycle(seats):
            view = client.send("GET", path, headers=seat).json()
            if view["seats"][view["you"]["seat"]]["to_act"]:
                first = view["actions"][0]
                view = client.send(first["method"], first["href"], json.dumps(first["example"]).encode(), seat).json()
            while frame["version"] < view["version"]:
                frame = next(told)
            if frame["view"]["status"] == "settled":
                break
    assert client.send("GET", f"{path}/score", headers=seats[0]).json()["final"]


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_ends_with_the_session(service: ServiceProcess, kind: str) -> None:
    """Whoever watches is told, and a finished session can be heard of once more."""
    client = LiveClient(service.url)
    path, (seat,) = opened(client, "spice-island-poker")
    with client.follow(f"{path}/events", {"Accept": kind}) as told:
        client.send("POST", f"{path}/leave", headers=seat)
        assert [frame["event"] for frame in told] == ["snapshot", "move", "end"]
    with client.follow(f"{path}/events", {"Accept": kind}) as told:
        assert [frame["event"] for frame in told] == ["snapshot", "end"]
    assert client.send("GET", f"{path}/events?after=1", headers={"Accept": kind}).status == 204


@pytest.mark.parametrize("path", ["/v1/games", "/openapi.yaml", "/openapi.json", "/healthz", "/readyz", "/v1/nowhere"])
def test_what_is_public_is_as_documented(service: ServiceProcess, path: str) -> None:
    """GET, HEAD, OPTIONS and another method are answered by the contract."""
    for method in ("GET", "HEAD", "OPTIONS", "PUT"):
        LiveClient(service.url).send(method, path)


@pytest.mark.parametrize("service", ["gunicorn"], indirect=True)
@pytest.mark.parametrize("why", UNREAD)
def test_what_is_no_http_is_refused_as_documented(service: ServiceProcess, why: str) -> None:
    """The answer knows nothing of what was asked, and is documented all the same."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(UNREAD[why])
        assert said(line) == {Occurrence("unread", *why.split())}


def test_an_unknown_transfer_coding_is_refused_as_documented() -> None:
    """Of gunicorn's parsers some tell it from a bad field, and then it is 501; so it is handed in."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = cast("Worker", SimpleNamespace(log=getLogger("gunicorn.error")))
        Worker.handle_error(worker, None, theirs, None, UnsupportedTransferCoding("luck"))
        assert said(ours) == {Occurrence("unread", "501", "not-implemented")}


def said(line: socket.socket) -> set[Occurrence]:
    """Return what the answer on a connection is in the contract."""
    contract = Contract(CONTRACT.document)
    found = HTTPResponse(line)
    found.begin()
    contract.check(Answer("GET", "", found.status, tuple(found.getheaders()), found.read()))
    return contract.seen


def test_nothing_documented_of_unread_requests_is_left_out() -> None:
    """These are all that the contract has."""
    documented = {f"{each.status} {each.code}" for each in CONTRACT.documented() if each.operation == "unread"}
    assert documented == UNREAD.keys() | {"501 not-implemented"}
