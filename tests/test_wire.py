"""Over real sockets: bytes that no client library would send, bodies in chunks, two processes, and the log."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from threading import Barrier
from typing import Any

import pytest

from tests.contract import CONTRACT, Answer
from tests.hostile import MALFORMED
from tests.servers import ServiceProcess, StoreProcess
from tests.stored import Stored

WRITERS, MOVES = 16, 20
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module", name="service")
def _service(server: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Run a service of two processes over the tests' store."""
    with ServiceProcess(tmp_path_factory.mktemp("wire") / "var", REDIS_URL=server.url, WORKERS="2") as service:
        yield service.up()


class Seat:
    """A new session's seat, on a connection of its own that is kept."""

    def __init__(self, service: ServiceProcess, session: str = "", token: str = "") -> None:
        self._connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
        self.session, self.token = session, token
        if not session:
            options = {"balance": 1_000_000, "max_ante": 300_000}
            made = self.send("POST", "/v1/sessions", {"game": "spice-island-poker", "options": options})[1]
            self.session, self.token = made["session"]["id"], made["tokens"][0]["token"]

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:  # noqa: ANN401
        """Return status and body of an answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        authorization = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        self._connection.request(method, path, json.dumps(body), JSON | authorization | named)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def act(self, verb: str, body: dict[str, Any], **headers: str) -> tuple[int, Any]:
        """Send an action."""
        return self.send("POST", f"/v1/sessions/{self.session}/{verb}", body, **headers)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


@pytest.fixture(name="seat")
def _seat(service: ServiceProcess) -> Iterator[Seat]:
    seat = Seat(service)
    yield seat
    seat.close()


def told(
    service: ServiceProcess, raw: bytes, method: str = "GET", path: str = "/", sent: bytes = b""
) -> tuple[int, dict[str, Any]]:
    """Send bytes as they are; return status and body of the answer, which is held to the contract."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(raw)
        line.shutdown(socket.SHUT_WR)
        answer = HTTPResponse(line, method=method)
        answer.begin()
        body = answer.read()
    CONTRACT.check(Answer(method, path, answer.status, tuple(answer.getheaders()), body, sent=sent))
    return answer.status, json.loads(body) if body else {}


def posted(
    service: ServiceProcess, seat: Seat, verb: str, head: bytes, body: bytes, sent: bytes = b"{}"
) -> tuple[int, dict[str, Any]]:
    """Send a move with a head and a body of one's own; what that body says is `sent`."""
    path = f"/v1/sessions/{seat.session}/{verb}"
    line = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {seat.token}\r\nConnection: close\r\n"
    return told(service, line.encode() + head + b"\r\n" + body, "POST", path, sent)


TYPED = b"Content-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def chunks(body: bytes, size: int) -> bytes:
    """Return a body in chunks."""
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_body_in_chunks_is_a_body(service: ServiceProcess, seat: Seat, size: int) -> None:
    """However it is cut."""
    body = b'{"amount": 5}'
    status, view = posted(service, seat, "wager", TYPED + CHUNKED, chunks(body, size), body)
    assert (status, view["table"]["ante"]) == (200, 5)


def test_no_chunk_is_an_empty_body(service: ServiceProcess, seat: Seat) -> None:
    """With and without a Content-Type it equals `{}`."""
    assert posted(service, seat, "deal", CHUNKED, b"0\r\n\r\n")[1]["code"] == "not-now"
    assert posted(service, seat, "leave", TYPED + CHUNKED, b"0\r\n\r\n")[0] == 200


def test_a_body_in_chunks_is_held_to_the_same_rules(service: ServiceProcess, seat: Seat) -> None:
    """Its type, its size and what is in it."""
    assert posted(service, seat, "wager", CHUNKED, chunks(b'{"amount": 5}', 5))[0] == 415
    for body in (b" " * 16_385, b'{"amount": 5}' + b" " * 16_400, b'{"amount": 5}' + b" " * 200_000):
        assert posted(service, seat, "wager", TYPED + CHUNKED, chunks(body, 4000))[0] == 413
    for name in ("a brace", "a name twice", "5,000 lists", "UTF-16", "half a surrogate pair, escaped"):
        assert posted(service, seat, "wager", TYPED + CHUNKED, chunks(MALFORMED[name], 4000))[0] == 400, name


def test_a_body_that_is_cut_off_is_a_bad_request(service: ServiceProcess, seat: Seat) -> None:
    """It is shorter than was said, and nothing is done."""
    status, problem = posted(service, seat, "wager", TYPED + b"Content-Length: 50\r\n", b'{"amount": 5}')
    assert (status, problem["code"]) == (400, "bad-request")
    assert seat.send("GET", f"/v1/sessions/{seat.session}")[1]["version"] == 0


def test_a_body_that_is_too_large_is_answered_before_it_is_read(service: ServiceProcess, seat: Seat) -> None:
    """A gigabyte is announced, and none of it is waited for."""
    status, problem = posted(service, seat, "wager", TYPED + b"Content-Length: 1073741824\r\n", b"{")
    assert (status, problem["code"]) == (413, "body-too-large")


PATHS = {
    b"//v1//games": (404, "/v1//games"),
    b"/v1//games": (404, "/v1//games"),
    b"/v1/games/": (404, "/v1/games/"),
    b"/v1/%67ames": (200, "/v1/games"),
    b"/v1%2Fgames": (200, "/v1/games"),
    b"/v1/games%00": (404, "/v1/games\x00"),
    b"/v1/%ff%fe": (404, "/v1/\ufffd\ufffd"),
    b"/v1/games?x=%ff": (422, "/v1/games"),
    b"/v1/games?": (200, "/v1/games"),
    b"/v1/games#x": (200, "/v1/games"),
    b"/v1/../v1/games": (404, "/v1/../v1/games"),
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_taken_as_it_is_written(service: ServiceProcess, path: bytes) -> None:
    """But for its escapes; nothing redirects."""
    status, decoded = PATHS[path]
    assert (
        told(service, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path=decoded)[0] == status
    )


RAW = {
    "no host": b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
    "HTTP/1.0": b"GET /healthz HTTP/1.0\r\n\r\n",
    "an odd host": b"GET /healthz HTTP/1.1\r\nHost: " + b"a" * 300 + b"\r\nConnection: close\r\n\r\n",
    "a host of signs": b"GET /healthz HTTP/1.1\r\nHost: <\xff>\r\nConnection: close\r\n\r\n",
    "bytes in a header": b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Odd: \xff\xfe\r\nConnection: close\r\n\r\n",
    "a whole address": b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "bytes in the query": b"GET /healthz?\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "bytes in the path": b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "a space in a field": b"GET /healthz HTTP/1.1\r\nHost : x\r\nConnection: close\r\n\r\n",
    "two lengths": b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "a length and chunks": b"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
    + CHUNKED
    + b"\r\n0\r\n\r\n",
    "a method in small letters": b"get /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "an empty line first": b"\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("name", RAW)
def test_odd_bytes_are_answered_and_never_with_500(service: ServiceProcess, name: str) -> None:
    """By the application or before it."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(RAW[name])
        answer = HTTPResponse(line)
        answer.begin()
        answer.read()
    assert answer.status in {200, 400, 404, 405, 422}


def test_a_token_is_taken_from_the_header_alone(service: ServiceProcess, seat: Seat) -> None:
    """In a query it is refused as an unknown parameter, and a cookie is of no account."""
    path = f"/v1/sessions/{seat.session}"
    bare = Seat(service, seat.session)
    assert bare.send("GET", f"{path}?access_token={seat.token}")[0] == 422
    assert bare.send("GET", path, Cookie=f"token={seat.token}")[1]["you"] is None
    bare.close()


# Two processes.


def test_two_processes_do_not_lose_or_double_a_move(service: ServiceProcess, seat: Seat, stored: Stored) -> None:
    """Writers on both of them: every accepted move is in the log once, in the place that its answer names."""
    start = Barrier(WRITERS)

    def write(writer: int) -> dict[int, int]:
        own, placed = Seat(service, seat.session, seat.token), {}
        start.wait()
        for number in range(MOVES):
            amount = 1 + writer * MOVES + number
            while (answer := own.act("wager", {"amount": amount}, Idempotency_Key=f"k{amount}"))[0] == 503:
                assert answer[1]["code"] in {"busy", "store-unavailable"}
            placed[amount] = answer[1]["version"]
        own.close()
        return placed

    with ThreadPoolExecutor(WRITERS) as pool:
        placed = {amount: place for each in pool.map(write, range(WRITERS)) for amount, place in each.items()}
    logged = [entry.move.action.body["amount"] for entry in stored.entries(seat.session)]
    assert {amount: place for place, amount in enumerate(logged, start=1)} == placed
    assert len(logged) == WRITERS * MOVES


# The log.


def leaked(service: ServiceProcess, words: list[str]) -> list[str]:
    """Return the words that the log repeats."""
    return [word for word in words if word in service.said]


def test_the_log_keeps_secrets(service: ServiceProcess, seat: Seat, stored: Stored) -> None:
    """Requests are in it by their ids, and neither a token nor a seed nor a card, hidden or open, is."""
    seat.act("seed", {"client_seed": "a seed to look for"}, X_Request_Id="looked-for-1")
    seat.act("wager", {"amount": 77_777}, Idempotency_Key="key-to-look-for")
    cards = seat.act("deal", {})[1]["table"]["player"]["cards"]
    seat.send("GET", f"/v1/sessions/{seat.session}?access_token={seat.token}")
    seat.send("GET", f"/v1/sessions/{seat.session}", Authorization=f"Bearer x{seat.token}")
    stored.put_blob(seat.session, stored.blob(seat.session) + b"\xc1")
    assert seat.send("GET", f"/v1/sessions/{seat.session}", X_Request_Id="looked-for-2")[0] == 500
    told = ["looked-for-1", "looked-for-2", "internal-error", seat.session]
    assert leaked(service, told) == told
    secret = [seat.token, "a seed to look for", "key-to-look-for", "access_token"]
    assert leaked(service, [*secret, *(quoted(card) for quoted in (repr, json.dumps) for card in cards)]) == []


def test_a_token_in_the_log_is_found_out(service: ServiceProcess, seat: Seat) -> None:
    """One that a client gives for the name of his request is there."""
    seat.act("deal", {}, X_Request_Id=seat.token)
    assert leaked(service, [seat.token]) == [seat.token]


def test_the_log_is_json_a_line(service: ServiceProcess) -> None:
    """What the service says of requests can be read by a program."""
    lines = [json.loads(line) for line in service.said.splitlines() if line.startswith("{")]
    requests = [line for line in lines if line.get("event") == "request"]
    assert requests
    assert all(line.keys() >= {"operation", "status", "ms", "request_id", "timestamp", "level"} for line in requests)
