"""What gunicorn refuses by itself, before the application sees it."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPResponse

import pytest

from tests.servers import ServiceProcess, StoreProcess

HOST = b"Host: table\r\n"
SECRET = "ticket-in-a-query"
REFUSED = {
    "no request line": (b"GET /\r\n\r\n", 400, "bad-request"),
    "no such version": (b"GET / HTTP/9.9\r\n" + HOST + b"\r\n", 400, "bad-request"),
    "two hosts": (b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400, "bad-request"),
    "no host": (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n", 400, "bad-request"),
    "no length": (b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n", 400, "bad-request"),
    "a long line": (b"GET /" + b"x" * 3000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "uri-too-long"),
    "a long field": (b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers-too-large"),
    "many fields": (b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 99 + b"\r\n", 431, "headers-too-large"),
    "an expectation": (
        b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Expect: luck\r\nContent-Length: 0\r\n\r\n",
        417,
        "expectation-failed",
    ),
}


@pytest.fixture(scope="module", name="service")
def _service(server: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path_factory.mktemp("server") / "var", REDIS_URL=server.url) as service:
        yield service.up()


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_cannot_be_read_is_answered_with_a_problem(service: ServiceProcess, name: str) -> None:
    """The answer is a problem with a code, for any origin, and its length is right."""
    sent, status, code = REFUSED[name]
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(sent)
        answer = HTTPResponse(line)
        answer.begin()
        problem = json.loads(answer.read())
        assert line.recv(1) == b""
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["type"] == f"urn:croupier:problem:{code}"


def test_an_old_request_needs_no_host(service: ServiceProcess) -> None:
    """HTTP/1.0 had none."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        answer = HTTPResponse(line)
        answer.begin()
        assert answer.status == 200


def test_clients_that_do_not_leave_keep_nobody_waiting(service: ServiceProcess) -> None:
    """Sixty refused requests whose connections stay open do not stop the worker: it would be killed after 30 s."""
    with ExitStack() as held:
        for _ in range(60):
            line = held.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=30))
            line.sendall(b"GET / HTTP/9.9\r\n\r\n")
        with socket.create_connection(("127.0.0.1", service.port), timeout=20) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
            assert line.recv(15) == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("body", [b"zz\r\n", b"2\r\n{}}}}}\r\n"])
def test_a_body_in_broken_chunks_is_a_bad_request(service: ServiceProcess, body: bytes) -> None:
    """The application takes a body that cannot be read for the client's fault, and the connection ends."""
    head = b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + body)
        answer = HTTPResponse(line)
        answer.begin()
        problem = json.loads(answer.read())
        assert line.recv(1) == b""
    assert (answer.status, problem["code"]) == (400, "bad-request")


def test_a_refused_request_is_logged_without_what_it_said(service: ServiceProcess) -> None:
    """Every line of gunicorn's own log is a JSON object, and none repeats the request."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(f"GET /v1/sessions?ticket={SECRET} HTTP/9.9\r\n\r\n".encode())
        assert line.recv(1)
    said = [json.loads(each) for each in service.said.splitlines()]
    assert "a request was refused: InvalidHTTPVersion" in [each["event"] for each in said]
    assert SECRET not in service.said
