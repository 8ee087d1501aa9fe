"""The log: one JSON line a request, and nothing in it that was a secret."""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.contract import LiveClient
from tests.frames import SSE
from tests.servers import ServiceProcess, StoreProcess, eventually
from tests.wires import Wire

FIELDS = {
    "timestamp",
    "level",
    "event",
    "request_id",
    "operation",
    "session",
    "status",
    "code",
    "ms",
    "bytes",
    "token",
    "client",
}
BODY = {"Content-Type": "application/json"}


class Watched:
    """A service, and what it was sent that it must keep to itself."""

    def __init__(self, service: ServiceProcess) -> None:
        self.port = service.port
        self._service = service
        self.client = LiveClient(service.url)
        self.kept: list[str] = []

    def secret(self, text: str) -> str:
        """Return a text that must not be in the log."""
        self.kept.append(text)
        return text

    def send(self, method: str, target: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Send a request; return the line of the log about it."""
        name = secrets.token_hex(8)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answer = self.client.send(method, target, data, BODY | {"X-Request-Id": name} | named)
        return self.line(name)

    def line(self, request_id: str) -> dict[str, Any]:
        """Return the one line about a request."""
        (found,) = eventually(
            lambda: [each for each in self.lines() if each.get("request_id") == request_id], "it is logged"
        )
        return found

    def lines(self) -> list[dict[str, Any]]:
        """Return the whole log, which is JSON but for what the launcher says to whoever started it."""
        said = self._service.said
        whole = said[: said.rfind("\n") + 1].splitlines()
        return [json.loads(line) for line in whole if not line.startswith("croupier: ")]


@pytest.fixture(scope="module", name="service")
def _service(server: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    place = tmp_path_factory.mktemp("logs")
    with ServiceProcess(place / "var", REDIS_URL=server.url, LOG_LEVEL="DEBUG") as service:
        yield service.up()


@pytest.fixture(name="watched")
def _watched(service: ServiceProcess) -> Watched:
    return Watched(service)


def opened(watched: Watched) -> tuple[str, str]:
    """Open a session; return its path and the token of a seat."""
    watched.send("POST", "/v1/sessions", {"game": "spice-island-poker", "seats": [watched.secret("Hilda-Who-Sits")]})
    made = watched.answer.json()
    watched.secret(made["host_token"])
    return f"/v1/sessions/{made['session']['id']}", watched.secret(made["tokens"][0]["token"])


def test_a_request_is_one_line(watched: Watched) -> None:
    """It says what was asked by the contract's names, what came of it, how long it took, and who was told how much."""
    path, token = opened(watched)
    line = watched.send("POST", f"{path}/deal", {}, Authorization=f"Bearer {token}")
    assert line.keys() == FIELDS
    assert line["operation"] == "POST /v1/sessions/{id}/deal"
    assert line["session"] == path.rpartition("/")[2]
    assert (line["status"], line["code"], line["level"], line["event"]) == (409, "not-now", "info", "request")
    assert line["bytes"] == len(watched.answer.body)
    assert 0 < line["ms"] < 60_000
    assert (line["token"], line["client"]) == (True, "127.0.0.1")
    look = watched.send("GET", path)
    assert (look["operation"], look["code"], look["token"]) == ("GET /v1/sessions/{id}", None, False)


def test_what_is_nowhere_is_logged_without_its_name(watched: Watched) -> None:
    """A path, a query or a session's id that is none may be anything, a token for instance."""
    secret = watched.secret("a-token-in-the-wrong-place")
    for path in (f"/{secret}", f"/v1/sessions/{secret}", f"/v1/games/{secret}", f"/v1/games?{secret}={secret}"):
        line = watched.send("GET", path)
        assert (line["status"], line["session"]) in {(404, None), (422, None)}
        assert secret not in json.dumps(line)


def play(watched: Watched) -> None:
    """Send everything that is a secret, in its own place and in others."""
    path, token = opened(watched)
    bearer = {"Authorization": f"Bearer {token}"}
    seed, body = watched.secret("a-seed-of-my-own"), watched.secret("what-is-in-a-body")
    watched.send(
        "POST", f"{path}/seed", {"client_seed": seed}, Idempotency_Key=watched.secret("a-key-of-mine"), **bearer
    )
    watched.send("POST", f"{path}/seed", {"client_seed": seed + "x" * 99}, **bearer)
    watched.send("POST", f"{path}/wager", {"amount": body}, **bearer)
    watched.send("POST", f"{path}/wager", f'{{"{body}'.encode(), **bearer)
    watched.send("POST", f"{path}/wager?{body}=1", {"amount": 5}, **bearer)
    watched.send("GET", path, Authorization=f"Bearer {watched.secret('a-wrong-token')}")
    watched.send("GET", path, Authorization=watched.secret("aGFsZjpob2xk"), Cookie=watched.secret("a-cookie"))
    watched.send("POST", f"{path}/ticket", {}, **bearer)
    ticket = watched.secret(watched.answer.json()["ticket"])
    with closing(Wire(watched.port, f"{path}/events?ticket={ticket}", {}, SSE)) as wire:
        assert wire.status == 200
    watched.send("GET", f"{path}/events?ticket={watched.secret('no-such-ticket')}")
    with socket.create_connection(("127.0.0.1", watched.port), timeout=30) as line:
        line.sendall(f"GET {path}?ticket={ticket} HTTP/9.9\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        assert line.recv(1)


def test_no_secret_is_logged(watched: Watched) -> None:
    """No token, ticket, key, seed, name or body, by whatever way it came."""
    play(watched)
    assert found(watched) == []
    assert len(watched.kept) > 10


def found(watched: Watched) -> list[str]:
    """Return the secrets that the log gives away."""
    said = json.dumps(watched.lines())
    return [secret for secret in watched.kept if secret in said]


def test_a_secret_in_the_log_is_found_out(watched: Watched) -> None:
    """A planted one: the client's own name for its request is logged, as it wishes."""
    watched.client.send("GET", "/healthz", headers={"X-Request-Id": watched.secret("told-by-itself")})
    watched.line("told-by-itself")
    assert found(watched) == ["told-by-itself"]
