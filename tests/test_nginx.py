"""nginx as it is delivered, in front of a running service: TLS, streams, limits, logs and what it refuses itself."""

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from itertools import count
from pathlib import Path

import pytest

from tests.answers import Answer
from tests.contract import CONTRACT, Contract, Occurrence
from tests.frames import SSE, STREAMS
from tests.front import Front, FrontClient, Recorder
from tests.servers import ServiceProcess, StoreProcess, eventually, free_port
from tests.test_live_contract import JSON_TYPE, opened, play_a_round

SPICE = "spice-island-poker"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Fault = tuple[str, str] | None
Planted = Callable[..., Front]
TICKET = "a-ticket-that-nobody-may-read"
SILENT = 50
HALF = b"POST /v1/sessions HTTP/1.1\r\nHost: table\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
addresses = (f"127.0.1.{number}" for number in count(1))
"""nginx counts by address, so each test comes from one of its own."""


@pytest.fixture(scope="module", name="service")
def _service(server: StoreProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """Run the service with very few threads."""
    var = tmp_path_factory.mktemp("behind") / "var"
    with ServiceProcess(var, REDIS_URL=server.url, THREADS="1", STREAMS="8") as service:
        yield service.up()


@pytest.fixture(scope="module", name="front")
def _front(service: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with Front(tmp_path_factory.mktemp("front"), [service.port]) as front:
        yield front


@pytest.fixture(name="client")
def _client(front: Front) -> FrontClient:
    return FrontClient(front, next(addresses))


def problem(answer: HTTPResponse | Answer) -> Occurrence:
    """Return which answer of nginx's own it is; the contract has it."""
    contract = Contract(CONTRACT.document)
    if isinstance(answer, HTTPResponse):
        answer = Answer("GET", "", answer.status, tuple(answer.getheaders()), answer.read())
    contract.check(answer)
    (seen,) = contract.seen
    return seen


def said_to(line: socket.socket, request: bytes) -> HTTPResponse:
    """Send bytes as they are and return the answer."""
    line.sendall(request)
    answer = HTTPResponse(line)
    answer.begin()
    return answer


# What a player has of it


@pytest.mark.parametrize("kind", STREAMS)
def test_a_round_is_played_over_tls_and_told_as_it_happens(client: FrontClient, kind: str) -> None:
    """Every version is waited for before the next move is made; every answer is as the contract has it."""
    play_a_round(client, SPICE, kind)


def test_http_2_is_spoken(front: Front) -> None:
    """A request in its frames is answered in them, by the service."""
    hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
    head = b"\x82\x87\x04\x08/healthz\x01\x05table"
    with front.raw(next(addresses), "h2") as line:
        assert line.selected_alpn_protocol() == "h2"
        line.sendall(hello + len(head).to_bytes(3, "big") + b"\x01\x05" + (1).to_bytes(4, "big") + head)
        told = b""
        while b'{"status":"ok"}' not in told:
            told += (chunk := line.recv(65_536))
            assert chunk, told


def test_json_is_compressed_and_streams_are_not(client: FrontClient) -> None:
    """What is compressed is the same, and says that it depends on what the client takes."""
    asked = {"Accept-Encoding": "gzip"}
    connection = client.connection()
    connection.request("GET", "/v1/games/jackpot", headers=asked)
    answer = connection.getresponse()
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"].endswith(", Accept-Encoding")
    assert json.loads(gzip.decompress(answer.read()))["game"] == "jackpot"
    path, _ = opened(client, SPICE)
    connection.request("GET", f"{path}/events", headers={**asked, "Accept": SSE})
    with connection.getresponse() as stream:
        assert stream.headers["Content-Encoding"] is None
    connection.close()


def test_a_body_may_be_as_large_as_the_contract_says(client: FrontClient) -> None:
    """16 KiB reach the service, and a byte more is refused here as it is there."""
    body = json.dumps({"game": SPICE}).encode()
    assert client.send("POST", "/v1/sessions", body.ljust(16 * 1024), JSON_TYPE).status == 201
    answer = client.send("POST", "/v1/sessions", body.ljust(16 * 1024 + 1), JSON_TYPE)
    assert problem(answer) == Occurrence("proxy", "413", "body-too-large")


def test_what_was_counted_is_for_the_operator_alone(client: FrontClient) -> None:
    """Whoever comes through nginx does not get it, although the service behind would answer."""
    assert problem(client.send("GET", "/metrics")) == Occurrence("proxy", "404", "not-found")


def test_plain_http_is_refused_to_a_call_and_leads_a_page_on(front: Front) -> None:
    """Nothing passes that could carry a token; who looks for a page is told where it is."""
    for port in (front.plain_port, front.port):
        plain = HTTPConnection("127.0.0.1", port, timeout=30, source_address=(next(addresses), 0))
        plain.request("GET", "/v1/games", headers={"Authorization": "Bearer mine"})
        assert problem(plain.getresponse()) == Occurrence("proxy", "400", "bad-request")
        plain.close()
    plain = HTTPConnection("127.0.0.1", front.plain_port, timeout=30, source_address=(next(addresses), 0))
    plain.request("GET", "/docs", headers={"Host": "table.example"})
    answer = plain.getresponse()
    assert (answer.status, answer.headers["Location"]) == (308, "https://table.example/docs")
    plain.close()


UNREAD = {
    "400 bad-request": b"GET / HTTP/9.9\r\n\r\n",
    "414 uri-too-long": b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: table\r\n\r\n",
    "431 headers-too-large": b"GET / HTTP/1.1\r\nHost: table\r\nA: " + b"x" * 9000 + b"\r\n\r\n",
    "501 not-implemented": b"POST /v1/sessions HTTP/1.1\r\nHost: table\r\nTransfer-Encoding: luck\r\n\r\n",
}


@pytest.mark.parametrize("why", UNREAD)
def test_what_nginx_cannot_read_it_refuses_as_documented(front: Front, why: str) -> None:
    """The service never hears of it, and the answer is a problem all the same."""
    with front.raw(next(addresses)) as line:
        assert problem(said_to(line, UNREAD[why])) == Occurrence("proxy", *why.split())


# What an attacker has of it


def test_a_flood_is_refused_and_others_are_not(front: Front, client: FrontClient) -> None:
    """Whoever asks too fast is told to wait, and another address is answered meanwhile."""
    with closing(client.connection()) as flooding:

        def ask() -> HTTPResponse:
            flooding.request("GET", "/healthz")
            return flooding.getresponse()

        while (answer := ask()).status == 200:
            answer.read()
        assert problem(answer) == Occurrence("proxy", "429", "rate-limited")
    assert FrontClient(front, next(addresses)).send("GET", "/healthz").status == 200


def test_slow_clients_stop_nobody(front: Front) -> None:
    """Many connections with half a body, half a head or half a handshake hold no thread of the service."""
    address = next(addresses)
    with ExitStack() as held:
        for _ in range(SILENT):
            held.enter_context(socket.create_connection(("127.0.0.1", front.port), 30)).sendall(b"\x16\x03\x01")
            held.enter_context(front.raw(address)).sendall(HALF[:60])
            held.enter_context(front.raw(address)).sendall(HALF)
        assert FrontClient(front, next(addresses)).send("GET", "/healthz").status == 200


def test_half_a_body_reaches_nobody(planted: Planted) -> None:
    """The service hears of a request when it is whole."""
    with Recorder(OK) as upstream:
        front = planted([upstream.port])
        with front.raw(next(addresses)) as slow, front.raw(next(addresses)) as quick:
            slow.sendall(HALF)
            assert said_to(quick, b"GET /quick HTTP/1.1\r\nHost: table\r\n\r\n").status == 200
            assert [heard[:10] for heard in upstream.heard] == [b"GET /quick"]
            slow.sendall(b" " * 97 + b"}")
            assert said_to(slow, b"").status == 200
        assert len(upstream.heard) == 2


def test_half_a_body_that_is_passed_on_is_found_out(planted: Planted) -> None:
    """If nginx did not wait for it, the service would have to."""
    with Recorder(OK) as upstream:
        front = planted([upstream.port], ("proxy_request_buffering on;", "proxy_request_buffering off;"))
        with front.raw(next(addresses)) as slow:
            slow.sendall(HALF)
            assert eventually(lambda: upstream.heard, "it is passed on")


def claims_are_replaced(front: Front, upstream: Recorder) -> None:
    """The service is told where a request comes from by nginx alone, and the client's name of it if it has one."""
    address = next(addresses)
    spoofed = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7", "X-Real-IP": "192.0.2.7"}
    connection = FrontClient(front, address).connection()
    for given in ("mine-1", 'not"mine'):
        connection.request("GET", "/", headers={**spoofed, "X-Request-Id": given})
        assert connection.getresponse().read() == b"ok"
    connection.close()
    for heard in upstream.heard:
        assert b"192.0.2.7" not in heard
        assert b"X-Forwarded-For: %s\r\n" % address.encode() in heard
        assert b"X-Forwarded-Proto: https\r\n" in heard
    assert b"X-Request-Id: mine-1\r\n" in upstream.heard[0]
    assert [b"not" in upstream.heard[1], b"X-Request-Id: " in upstream.heard[1]] == [False, True]


def nothing_secret_is_logged(front: Front) -> None:
    """A request that fails is in the log under its id, and neither log has its query or its token."""
    client = FrontClient(front, next(addresses))
    for path in (f"/v1/sessions/x/events?ticket={TICKET}", f"/v1/sessions/x?ticket={TICKET}", f"/?ticket={TICKET}"):
        with closing(client.connection()) as asked:
            asked.request("GET", path, headers={"Authorization": f"Bearer {TICKET}", "X-Request-Id": "named"})
            assert asked.getresponse().status == 502
    eventually(lambda: len(front.logged) == 3, "all are logged")
    assert [each["path"] for each in front.logged] == ["/v1/sessions/x/events", "/v1/sessions/x", "/"]
    assert {each["request_id"] for each in front.logged} == {"named"}
    assert TICKET not in json.dumps(front.logged) + front.said


def post_is_sent_once(front: Front, upstreams: list[Recorder]) -> None:
    """What was sent and not answered is not sent to another."""
    client = FrontClient(front, next(addresses))
    answer = client.send("POST", "/v1/sessions", b"{}", JSON_TYPE)
    assert problem(answer) == Occurrence("proxy", "502", "unreachable")
    assert len([each for one in upstreams for each in one.heard]) == 1


def streams_are_told_at_once(front: Front) -> None:
    """The beginning of a stream arrives, though it has no end and is small."""
    path, _ = opened(FrontClient(front, next(addresses)), SPICE)
    with closing(FrontClient(front, next(addresses)).connection(5)) as connection:
        connection.request("GET", f"{path}/events", headers={"Accept": SSE})
        with connection.getresponse() as stream:
            assert stream.headers["X-Accel-Buffering"] == "no"
            assert stream.read1(10) == b"retry: 100"


# Each, and with its planted fault


@pytest.fixture(name="planted")
def _planted(tmp_path: Path) -> Iterator[Planted]:
    """Start nginx over a configuration with a fault, or none, in front of what is at these ports."""
    with ExitStack() as started:

        def start(ports: list[int], fault: Fault = None) -> Front:
            return started.enter_context(Front(tmp_path / "planted", ports, fault))

        yield start


HELD_BACK = "proxy_buffering off;", "proxy_ignore_headers X-Accel-Buffering;"
TALKATIVE = "error_log stderr crit;", "error_log stderr error;"
QUERIES = '"path":"$uri"', '"path":"$request_uri"'


@pytest.mark.parametrize("fault", [None, HELD_BACK])
def test_a_stream_is_told_at_once(service: ServiceProcess, planted: Planted, fault: Fault) -> None:
    """Nothing is held back until there is more of it."""
    found_out(fault, lambda: streams_are_told_at_once(planted([service.port], fault)))


@pytest.mark.parametrize("fault", [None, TALKATIVE, QUERIES])
def test_no_log_has_a_secret(planted: Planted, fault: Fault) -> None:
    """Neither that of requests nor that of errors has a ticket or a token."""
    found_out(fault, lambda: nothing_secret_is_logged(planted([free_port()], fault)))


@pytest.mark.parametrize(
    "fault", [None, ("X-Forwarded-For $remote_addr", "X-Forwarded-For $proxy_add_x_forwarded_for")]
)
def test_a_client_cannot_say_where_it_comes_from(planted: Planted, fault: Fault) -> None:
    """What it claims is replaced, not added to."""
    with Recorder(OK) as upstream:
        found_out(fault, lambda: claims_are_replaced(planted([upstream.port], fault), upstream))


@pytest.mark.parametrize(
    "fault", [None, ("proxy_next_upstream error timeout;", "proxy_next_upstream error non_idempotent;")]
)
def test_a_move_is_sent_to_one_service_alone(planted: Planted, fault: Fault) -> None:
    """When that one ends without an answer, the client is told, who has the key to send it again."""
    with Recorder(b"") as one, Recorder(b"") as other:
        found_out(fault, lambda: post_is_sent_once(planted([one.port, other.port], fault), [one, other]))


def found_out(fault: object, check: Callable[[], None]) -> None:
    """Check, and expect to fail where a fault is planted."""
    if fault is None:
        check()
        return
    with pytest.raises((AssertionError, TimeoutError)):
        check()


def test_what_was_not_sent_yet_goes_to_another_service(planted: Planted) -> None:
    """A move that found nobody is taken by the next, and a read is also asked again of the next."""
    with Recorder(OK) as upstream, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen: nobody else can either
        front = planted([nobody.getsockname()[1], upstream.port])
        for method in ("POST", "GET"):
            connection = FrontClient(front, next(addresses)).connection()
            connection.request(method, "/v1/sessions", b"{}")
            assert connection.getresponse().read() == b"ok"
            connection.close()


def test_a_service_that_says_nothing_is_given_up(planted: Planted) -> None:
    """The answer is a problem, in a page's reach, and the move was sent once."""
    with Recorder(None) as silent, Recorder(None) as other:
        answer = FrontClient(planted([silent.port, other.port]), next(addresses)).send(
            "POST", "/v1/sessions", b"{}", JSON_TYPE
        )
    assert problem(answer) == Occurrence("proxy", "504", "unreachable")
    assert len(silent.heard + other.heard) == 1


def test_nothing_documented_of_the_proxy_is_left_out() -> None:
    """These are all that the contract has."""
    documented = {f"{each.status} {each.code}" for each in CONTRACT.documented() if each.operation == "proxy"}
    others = {"404 not-found", "413 body-too-large", "429 rate-limited", "502 unreachable", "504 unreachable"}
    assert documented == UNREAD.keys() | others
