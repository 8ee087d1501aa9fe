"""Request smuggling: what two readers could take apart in two ways is refused, or read in the one way there is."""

import importlib.util
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from tests.servers import ServiceProcess, StoreProcess
from tests.smuggling import BROKEN, CHUNKED, CLEAR, DOUBTFUL, LAST, READ, REFUSED, post, taken, told

PARSERS = ("python", "fast") if importlib.util.find_spec("gunicorn_h1c") else ("python",)
STEP = 7
"""Bytes at a time, so that a field, a chunk's size and an end are cut in two."""
LONGEST_IN_STEPS = 5000


def service(parser: str, directory: Path, server: StoreProcess, *more: str) -> ServiceProcess:
    """Return a service whose gunicorn parses in this way."""
    arguments = " ".join((f"--http-parser={parser}", *more))
    return ServiceProcess(directory / "var", REDIS_URL=server.url, GUNICORN_CMD_ARGS=arguments)


@pytest.fixture(scope="module", name="port", params=PARSERS)
def _port(
    request: pytest.FixtureRequest, server: StoreProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    with service(request.param, tmp_path_factory.mktemp("smuggling"), server) as running:
        yield running.up().port


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_could_be_read_in_two_ways_is_refused(port: int, name: str) -> None:
    """It has one answer, and nothing behind it on the connection is read, however the bytes arrive."""
    raw = DOUBTFUL[name] + LAST
    replies = told(port, raw)
    assert taken(replies) == REFUSED
    assert replies[0].status != HTTPStatus.INTERNAL_SERVER_ERROR
    assert len(raw) > LONGEST_IN_STEPS or told(port, raw, STEP) == replies


@pytest.mark.parametrize("path", [b"/v1/sessions", b"/nothing"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_body_without_an_end_is_the_last_of_its_connection(port: int, name: str, path: bytes) -> None:
    """Whether the application reads it or not, its request is answered once, and nothing behind it is read."""
    replies = told(port, post(CHUNKED, b"Content-Type: application/json", path=path, body=BROKEN[name]) + LAST)
    assert taken(replies) == REFUSED
    assert replies[0].status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)


@pytest.mark.parametrize("name", CLEAR)
def test_what_is_inside_of_a_body_is_no_request(port: int, name: str) -> None:
    """It is passed over, and the request behind it is read, however the bytes arrive."""
    raw = CLEAR[name] + LAST
    replies = told(port, raw)
    assert taken(replies) == READ
    assert len(raw) > LONGEST_IN_STEPS or told(port, raw, STEP) == replies


# Planted faults: each is found by the checks above.


class Careless(StreamRequestHandler):
    """A server that takes every head for a request, and nothing for a body."""

    def handle(self) -> None:
        """Answer each head."""
        for head in self.rfile.read().split(b"\r\n\r\n"):
            if b" HTTP/" in head:
                named = re.search(rb"X-Request-Id: .*", head)
                name = named[0] if named else b"X-Odd: x"
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%b\r\n\r\n" % name.strip())


def test_a_server_without_bodies_is_found_out() -> None:
    """It takes what is inside of them for requests."""
    with ThreadingTCPServer(("127.0.0.1", 0), Careless) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        for check, names in (
            (test_what_could_be_read_in_two_ways_is_refused, DOUBTFUL),
            (test_what_is_inside_of_a_body_is_no_request, ("a length", "a chunk")),
        ):
            for name in names:
                with pytest.raises(AssertionError):
                    check(port, name)
        server.shutdown()


def test_a_service_that_mends_fields_is_found_out(server: StoreProcess, tmp_path: Path) -> None:
    """One that passes over a space before the colon reads a coding where another reader sees none."""
    with (
        service("python", tmp_path, server, "--strip-header-spaces") as running,
        pytest.raises(AssertionError),
    ):
        test_what_could_be_read_in_two_ways_is_refused(running.up().port, "a space before a length's colon")
