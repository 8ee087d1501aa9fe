"""What differs under granian: it is chosen by a setting, and what it refuses by itself is no problem document."""

import importlib.util
import json
import re
import signal
import socket
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path

import pytest

from service import launcher
from service.launcher import LaunchError
from service.settings import Settings
from tests.contract import LiveClient
from tests.counts import counts, risen
from tests.servers import ServiceProcess, StoreProcess, eventually
from tests.test_launcher import runs
from tests.wires import SSE, Wire

HOST = b"Host: table\r\n"
REFUSED = {
    "two hosts": (b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400, "bad-request"),
    "no host": (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n", 400, "bad-request"),
    "a long line": (b"GET /" + b"x" * 3000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "uri-too-long"),
    "a long field": (b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers-too-large"),
    "many fields": (
        b"GET / HTTP/1.1\r\n" + HOST + b"".join(b"A%d: b\r\n" % number for number in range(99)) + b"\r\n",
        431,
        "headers-too-large",
    ),
    "an expectation": (
        b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Expect: luck\r\nContent-Length: 0\r\n\r\n",
        417,
        "expectation-failed",
    ),
    "a body in chunks": (
        b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        501,
        "not-implemented",
    ),
}
BARE = {
    "no such version": b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
    "no length": b"POST /v1/sessions HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n",
}


@pytest.fixture(scope="module", name="service")
def _service(server: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    # A variable by such a name is no field of a request.
    chosen = {"SERVER": "granian", "REDIS_URL": server.url, "HTTP_IF_MATCH": '"0"', "HTTP_EXPECT": "luck"}
    with ServiceProcess(tmp_path_factory.mktemp("fast") / "var", None, **chosen) as service:
        yield service.up()


def answered(service: ServiceProcess, sent: bytes) -> tuple[int, bytes]:
    """Return status and body of an answer."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(sent)
        answer = HTTPResponse(line)
        answer.begin()
        return answer.status, answer.read()


@pytest.mark.parametrize("name", REFUSED)
def test_what_goes_beyond_the_limits_is_answered_with_a_problem(service: ServiceProcess, name: str) -> None:
    """The same one as under gunicorn."""
    sent, status, code = REFUSED[name]
    found, body = answered(service, sent)
    assert (found, json.loads(body)["code"]) == (status, code)


@pytest.mark.parametrize("name", BARE)
def test_what_granian_cannot_read_it_refuses_without_a_word(service: ServiceProcess, name: str) -> None:
    """This is where its answers differ from the contract: a 400 without a body."""
    assert answered(service, BARE[name]) == (400, b"")


def test_a_body_that_is_cut_short_is_not_acted_on(service: ServiceProcess) -> None:
    """A client that goes half-way through its body has asked for nothing."""
    client = LiveClient(service.url)
    made = client.send("POST", "/v1/sessions", b'{"game":"skulls-and-swords"}', {"Content-Type": "application/json"})
    path, token = f"/v1/sessions/{made.json()['session']['id']}", made.json()["tokens"][0]["token"]
    head = f"POST {path}/deal HTTP/1.1\r\nHost: table\r\nAuthorization: Bearer {token}\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{{}}".encode())
        line.shutdown(socket.SHUT_WR)
        while line.recv(4096):
            pass
    assert client.send("GET", path).json()["version"] == 0


def test_a_client_is_whom_a_trusted_proxy_names(server: StoreProcess, tmp_path: Path) -> None:
    """It is the last that it names; a field with underscores is the same to granian, so a proxy has to drop those."""
    chosen = {"SERVER": "granian", "REDIS_URL": server.url, "TRUSTED_PROXIES": "127.0.0.1"}
    with ServiceProcess(tmp_path / "var", None, **chosen) as service:
        client = LiveClient(service.up().url)
        client.send("GET", "/healthz", headers={"X-Forwarded-For": "198.51.100.7, 203.0.113.9"})
        eventually(lambda: '"client":"203.0.113.9"' in service.said, "the client is logged")
        client.send("GET", "/healthz", headers={"X_Forwarded_For": "198.51.100.8"})
        eventually(lambda: '"client":"198.51.100.8"' in service.said, "the other is logged")


def test_what_is_refused_is_counted(service: ServiceProcess) -> None:
    """By its code, though the application never hears of it."""
    sent, _, code = REFUSED["an expectation"]
    client = LiveClient(service.url)
    before = counts(client.send("GET", "/metrics").body.decode())
    answered(service, sent)
    rose = risen(before, counts(client.send("GET", "/metrics").body.decode()), "croupier_problems_total")
    assert rose == {(code,): 1}


def test_a_worker_stops_soon_with_a_stream_open(server: StoreProcess, tmp_path: Path) -> None:
    """The stream ends by itself, long before its next heartbeat, and the launcher ends well."""
    with ServiceProcess(tmp_path / "var", SERVER="granian", REDIS_URL=server.url) as service:
        client = LiveClient(service.up().url)
        made = client.send("POST", "/v1/sessions", b'{"game":"jackpot"}', {"Content-Type": "application/json"})
        with Wire(service.port, f"/v1/sessions/{made.json()['session']['id']}/events", {}, SSE) as wire:
            told = wire.frames()
            next(told)
            service.process.send_signal(signal.SIGTERM)
            assert list(told) == []
            assert wire.ended
        assert service.ended() == 0


def test_workers_end_with_their_master(server: StoreProcess, tmp_path: Path) -> None:
    """A master that is killed leaves no worker behind."""
    with ServiceProcess(tmp_path / "var", SERVER="granian", REDIS_URL=server.url) as service:
        service.up()
        (worker,) = map(int, re.findall(r"Spawning worker-1 with PID: (\d+)", service.said))
        service.process.kill()
        eventually(lambda: not runs(worker), "the worker has ended")


def test_without_granian_the_launcher_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(LaunchError, match="croupier\\[fast\\]"):
        launcher._server_command(Settings(server="granian"))
