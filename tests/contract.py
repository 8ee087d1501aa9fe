"""The contract, held against every answer: what openapi.yaml does not document is refused.

`ContractClient` is Flask's test client, and `LiveClient` a client of a running service; both hand
every answer to `CONTRACT`, which remembers what occurred, so that a last test can ask what never did.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from flask.testing import FlaskClient
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from werkzeug.test import TestResponse
from werkzeug.wsgi import ClosingIterator

from tests.answers import Answer, ContractBreach, strict_json
from tests.documented import PROBLEM, Document, Header, Operation, Reply, Route, read
from tests.frames import STREAMS, Frame, StreamReader

__all__ = ["CONTRACT", "Answer", "Contract", "ContractBreach", "ContractClient", "LiveClient", "Occurrence", "frames"]

TRANSPORT = {
    "connection",
    "content-length",
    "content-type",
    "date",
    "server",
    "strict-transport-security",
    "transfer-encoding",
}
"""Headers that belong to HTTP itself, and to no contract."""
EVERYWHERE = ("path", "method", "options", "unread", "proxy")
"""What is documented of requests that no operation answers."""
WITHOUT_ID = ("unread", "proxy")
"""Those of them that are answered before the service has named the request."""


class Occurrence(NamedTuple):
    """An operation, a status, and of a problem its code."""

    operation: str
    status: str
    code: str | None = None


@dataclass
class Contract:
    """Everything that openapi.yaml documents, and what of it has occurred."""

    document: Document = field(default_factory=read)
    seen: set[Occurrence] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._routes = self.document.routes()
        self._everywhere = {name: self.document.replies(f"/x-everywhere/{name}") for name in EVERYWHERE}
        self._always = self.document.headers("/x-everywhere/headers")

    def documented(self) -> set[Occurrence]:
        """Return everything that must occur in some test."""
        operations = [each for route in self._routes for each in route.operations.values()]
        named = self._everywhere | {each.name: each.replies for each in operations}
        return {
            Occurrence(name, status, code)
            for name, replies in named.items()
            for status, reply in replies.items()
            for code in reply.codes or {None}
        }

    def unseen(self) -> list[str]:
        """Return what is documented and has not occurred."""
        return sorted(" ".join(filter(None, each)) for each in self.documented() - self.seen)

    def check(self, answer: Answer) -> None:
        """Raise `ContractBreach` unless the answer, and a request that was accepted, are documented."""
        name, replies = self._expected(answer)
        reply = replies.get(str(answer.status))
        if reply is None:
            answer.refuse(f"{name} documents no {answer.status}")
        _check_headers(answer, reply.headers if name in WITHOUT_ID else {**self._always, **reply.headers})
        if answer.method == "HEAD":
            _check_no_body(answer)
            return
        code = _check_body(answer, reply)
        self.seen.add(Occurrence(name, str(answer.status), code))

    def passing(self, answer: Answer, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield a stream's bytes as they come; raise `ContractBreach` for a message that is not documented."""
        name, replies = self._expected(answer)
        validator = replies[str(answer.status)].bodies[answer.media_type]
        reader = StreamReader(answer.media_type)
        for chunk in chunks:
            _check_messages(answer, validator, reader, chunk)
            yield chunk
        if reader.rest:
            answer.refuse(f"{name} ends in the middle of a message: {reader.rest!r}")

    def _expected(self, answer: Answer) -> tuple[str, Mapping[str, Reply]]:
        """Return the name and the replies of what was asked."""
        if "x-request-id" not in answer.named:
            name = "proxy" if answer.named.get("server") == "nginx" else "unread"
            return name, self._everywhere[name]
        route = next((each for each in self._routes if each.pattern.fullmatch(answer.path)), None)
        if route is None:
            return "path", self._everywhere["path"]
        methods = set(route.operations) | {"OPTIONS"} | ({"HEAD"} if "GET" in route.operations else set())
        if answer.method == "OPTIONS" or answer.method not in methods:
            _check_allow(answer, methods)
            name = "options" if answer.method == "OPTIONS" else "method"
            return name, self._everywhere[name]
        operation = route.operations["GET" if answer.method == "HEAD" else answer.method]
        if answer.status < 400:
            _check_request(answer, route, operation)
        return operation.name, operation.replies


def _check_allow(answer: Answer, methods: set[str]) -> None:
    allowed = set(answer.named.get("allow", "").split(", "))
    if allowed != methods:
        answer.refuse(f"Allow names {sorted(allowed)}, and the contract has {sorted(methods)}")


def _check_request(answer: Answer, route: Route, operation: Operation) -> None:
    """Refuse an answer that accepts what the contract says is not accepted."""
    found = route.pattern.fullmatch(answer.path)
    for name, value in (found.groupdict() if found else {}).items():
        _validate(answer, route.parameters[name], value, f"accepted path parameter {name}")
    for name, value in parse_qsl(answer.query, keep_blank_values=True):
        if name not in operation.query:
            answer.refuse(f"accepted the query parameter {name}, which is not documented")
        validator = operation.query[name]
        _validate(answer, validator, _read(value, validator), f"accepted query parameter {name}")
    if operation.body is not None and (answer.sent or operation.body_required):
        _validate(answer, operation.body, strict_json(answer.sent or b"null"), "accepted body")


def _read(text: str, validator: Validator) -> object:
    """Return the value that a parameter's text stands for."""
    kind = validator.schema["type"]  # type: ignore[index]
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return int(text) if kind == "integer" and re.fullmatch("[0-9]+", text, re.ASCII) else text


def _check_headers(answer: Answer, documented: Mapping[str, Header]) -> None:
    names = [name.lower() for name, _ in answer.headers]
    if twice := {name for name in names if names.count(name) > 1}:
        answer.refuse(f"headers given twice: {sorted(twice)}")
    for name, header in documented.items():
        if header.required and name not in names:
            answer.refuse(f"the header {name} is missing")
    for name, value in answer.named.items():
        if name in TRANSPORT:
            continue
        if name not in documented:
            answer.refuse(f"the header {name} is not documented")
        whole = documented[name].integer and re.fullmatch("0|[1-9][0-9]*", value, re.ASCII)
        _validate(answer, documented[name].validator, int(value) if whole else value, f"header {name}")


def _check_no_body(answer: Answer) -> None:
    if answer.body:
        answer.refuse("a body where there is none")


def _check_body(answer: Answer, reply: Reply) -> str | None:
    """Refuse a body that is not as documented; return a problem's code."""
    if not reply.bodies:
        _check_no_body(answer)
        if answer.media_type:
            answer.refuse(f"a content type, {answer.media_type}, of no body")
        return None
    validator = reply.bodies.get(answer.media_type)
    if validator is None:
        answer.refuse(f"the content type {answer.media_type!r} is not documented")
    if answer.media_type in STREAMS:
        _check_messages(answer, validator, StreamReader(answer.media_type), answer.body)
        return None
    value = answer.json() if answer.media_type.endswith("json") else answer.body.decode()
    code = _check_problem(answer, answer.json(), reply) if answer.media_type == PROBLEM else None
    _validate(answer, validator, value, "body")
    return code


def _check_messages(answer: Answer, validator: Validator, reader: StreamReader, chunk: bytes) -> None:
    """Refuse a message that is not as documented."""
    for frame in filter(None, reader.feed(chunk)):
        _validate(answer, validator, frame, "frame")


def _check_problem(answer: Answer, problem: Mapping[str, Any], reply: Reply) -> str:
    """Refuse a problem that contradicts itself or its answer; return its code."""
    code = str(problem.get("code"))
    if code not in reply.codes:
        answer.refuse(f"the code {code!r} is not one of {sorted(reply.codes)}")
    told = {"status": answer.status, "type": f"urn:croupier:problem:{code}"}
    if "instance" in problem:
        told["instance"] = "/" + answer.path.lstrip("/")
    if wrong := {name: value for name, value in told.items() if problem.get(name) != value}:
        answer.refuse(f"the problem must say {wrong}")
    return code


def _validate(answer: Answer, validator: Validator, value: Any, what: str) -> None:  # noqa: ANN401 - any JSON
    error = next(validator.iter_errors(value), None)
    if error is not None:
        nearest = _nearest(error)
        answer.refuse(f"{what} at {nearest.json_path}: {nearest.message}")


def _nearest(error: ValidationError) -> ValidationError:
    """Return what is wrong by the branch that the value was meant for: the one it gets furthest in."""
    while error.context:
        branches: dict[object, list[ValidationError]] = {}
        for each in error.context:
            branches.setdefault(each.schema_path[0], []).append(each)
        meant = max(branches.values(), key=lambda found: min(_depth(each) for each in found))
        error = max(meant, key=_depth)
    return error


def _depth(error: ValidationError) -> tuple[bool, int]:
    return error.validator != "const", len(error.absolute_path)


CONTRACT = Contract()


class ContractClient(FlaskClient):
    """Flask's test client, every answer held to the contract (`app.test_client_class`), a stream as it is read."""

    contract = CONTRACT

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:  # noqa: ANN401 - Flask's own
        """Send a request; raise `ContractBreach` for an answer that is not documented."""
        response = super().open(*args, **kwargs)
        environ = response.request.environ
        environ["wsgi.input"].seek(0)
        goes_on = response.mimetype in STREAMS
        answer = Answer(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1").decode(errors="replace"),
            status=response.status_code,
            headers=tuple(response.headers),
            body=b"" if goes_on else response.get_data(),
            query=environ["QUERY_STRING"],
            sent=environ["wsgi.input"].read(),
        )
        self.contract.check(answer)
        if goes_on and answer.method != "HEAD":
            written: Any = response.response
            response.response = ClosingIterator(self.contract.passing(answer, written), written.close)
        return response


def frames(response: TestResponse) -> Iterator[Frame]:
    """Yield the frames of a long poll, or of a stream as they come, without what is sent in silence."""
    if response.mimetype not in STREAMS:
        yield from response.get_json()["frames"]
        return
    reader = StreamReader(response.mimetype or "")
    for chunk in response.iter_encoded():
        yield from filter(None, reader.feed(chunk))


class LiveClient:
    """A client of a running service, every answer held to the contract."""

    def __init__(self, base: str, contract: Contract = CONTRACT) -> None:
        self._address = urlsplit(base)
        self._contract = contract

    def send(self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request on a connection of its own; raise `ContractBreach` as above."""
        connection = self._connect(10)
        try:
            connection.request(method, target, body or None, dict(headers or {}))
            response = connection.getresponse()
            status, given, received = response.status, tuple(response.getheaders()), response.read()
        finally:
            connection.close()
        answer = _answer(method, target, status, given, received, body)
        self._contract.check(answer)
        return answer

    @contextmanager
    def follow(self, target: str, headers: Mapping[str, str] | None = None) -> Iterator[Iterator[Frame]]:
        """Open a stream; give its frames as they come, without what is sent in silence."""
        connection = self._connect(40)
        try:
            connection.request("GET", target, headers=dict(headers or {}))
            response = connection.getresponse()
            answer = _answer("GET", target, response.status, tuple(response.getheaders()))
            self._contract.check(answer)
            yield self._frames(answer, iter(lambda: response.read1(65_536), b""))
        finally:
            connection.close()

    def _connect(self, seconds: float) -> HTTPConnection:
        """Return a connection on which an answer may take so long."""
        return HTTPConnection(self._address.netloc, timeout=seconds)

    def _frames(self, answer: Answer, chunks: Iterator[bytes]) -> Iterator[Frame]:
        reader = StreamReader(answer.media_type)
        for chunk in self._contract.passing(answer, chunks):
            yield from filter(None, reader.feed(chunk))


def _answer(
    method: str, target: str, status: int, headers: tuple[tuple[str, str], ...], body: bytes = b"", sent: bytes = b""
) -> Answer:
    path, _, query = target.partition("?")
    return Answer(method, unquote(path), status, headers, body, query, sent)
