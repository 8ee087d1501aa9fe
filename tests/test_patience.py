"""No client holds a thread for nothing: those that say nothing, half of something, or stop in the middle."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

from tests.servers import ServiceProcess, eventually

HALVES = {
    "nothing": b"",
    "half a request line": b"GET /heal",
    "half the headers": b"GET /healthz HTTP/1.1\r\nHo",
    "half a body": b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{",
}
THREADS = 2
POOL = 1 + 2 * THREADS
"""All threads that answer, the one for a stream included."""


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Run the service with very few threads."""
    with ServiceProcess(tmp_path_factory.mktemp("patience") / "var", THREADS=str(THREADS), STREAMS="1") as service:
        yield service.up()


def asked(service: ServiceProcess, path: str, **headers: str) -> tuple[int, bytes]:
    """Send a GET and return status and body."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("half", HALVES)
def test_clients_that_fall_silent_stop_nobody(service: ServiceProcess, half: str) -> None:
    """Ten times as many connections as threads that say nothing, or as many that stop half-way, only make it wait."""
    with ExitStack() as held:
        for _ in range(POOL if HALVES[half] else 10 * POOL):
            silent = held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            silent.sendall(HALVES[half])
        assert asked(service, "/healthz")[0] == 200


def test_a_client_that_fell_silent_is_let_go(service: ServiceProcess) -> None:
    """The connection of half a request is closed, or refused, without an answer that means success."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as silent:
        silent.sendall(HALVES["half the headers"])
        assert silent.recv(1000) == b""
    assert eventually(lambda: "a client was too slow" in service.said, "it is logged as what it is")


@pytest.mark.parametrize("half", [b"GET /healthz HTTP/1.1\r\nX-Long: ", HALVES["half a body"]])
def test_a_client_that_never_comes_to_an_end_is_let_go(service: ServiceProcess, half: bytes) -> None:
    """It drips on, never silent for long, and is refused long before it has sent all that it may."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=0.5) as dripping:
        dripping.sendall(half)
        answer = next(said for said in (drip(dripping) for _ in range(80)) if said is not None)
    assert answer == b"" or b" 400 " in answer


def drip(line: socket.socket) -> bytes | None:
    """Say a little more; return what the other side says, or nothing while it listens."""
    try:
        line.sendall(b" ")
        return line.recv(1000)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""


def test_a_wish_to_upgrade_is_ignored(service: ServiceProcess) -> None:
    """A request that would speak another protocol is answered in this one."""
    wish = {"Connection": "Upgrade", "Upgrade": "websocket"}
    for path in ("/healthz", "/v1/games", "/openapi.json"):
        assert asked(service, path, **wish)[0] == 200
    status, body = asked(service, f"/v1/sessions/{'a' * 22}", **wish)
    assert (status, json.loads(body)["code"]) == (404, "unknown-session")
