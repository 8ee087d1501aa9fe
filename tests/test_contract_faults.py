"""Whatever breaks the contract is refused."""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from threading import Thread
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from flask import Flask
from werkzeug.serving import make_server
from werkzeug.test import TestResponse
from werkzeug.wrappers import Response

from service.browsers import GUARDS
from tests.contract import CONTRACT, Contract, ContractBreach, ContractClient, LiveClient, frames
from tests.documented import PROBLEM
from tests.frames import NDJSON, SSE, Frame

DOCUMENT = CONTRACT.document
EXAMPLES = DOCUMENT.tree["components"]["examples"]
SEAT_VIEW: dict[str, Any] = EXAMPLES["SeatView"]["value"]
LOOK = f"/v1/sessions/{SEAT_VIEW['id']}"


class Planted:
    """An answer of a stub: a documented one, until something is changed in it."""

    def __init__(self, status: int, body: Any, **headers: str) -> None:  # noqa: ANN401 - any JSON
        self.method, self.target, self.status = "GET", LOOK, status
        self.sent: Any = None
        self.headers = [
            ("Content-Type", PROBLEM if status >= 400 else "application/json"),
            ("X-Request-Id", "plant"),
            ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Expose-Headers", "ETag"),
            *GUARDS.items(),
            *((name.replace("_", "-"), value) for name, value in headers.items()),
        ]
        self.body = json.loads(json.dumps(body))
        self.raw: bytes | None = None

    def without(self, header: str) -> None:
        self.headers = [(name, value) for name, value in self.headers if name != header]

    def having(self, header: str, value: str) -> None:
        self.without(header)
        self.headers.append((header, value))

    def said(self) -> Response:
        if self.raw is None:
            self.raw = json.dumps(self.body).encode()
        response = Response(self.raw, self.status)
        response.headers.clear()
        response.headers.extend(self.headers)
        return response

    def send(self, contract: Contract) -> TestResponse:
        """Let a stub say it to a client of the contract."""
        app = Flask("stub")
        app.wsgi_app = self.said()  # type: ignore[method-assign]
        app.test_client_class = type("StubClient", (ContractClient,), {"contract": contract})
        return app.test_client().open(self.target, method=self.method, json=self.sent)

    def read(self, contract: Contract) -> list[Frame]:
        """Let a stub say it, and read the stream to its end."""
        answer = self.send(contract)
        with closing(answer):
            return list(frames(answer))


SEEN = {
    "ETag": '"2.s0.json.en.r2"',
    "Cache_Control": "private, no-cache",
    "Vary": "Authorization",
    "Content_Language": "en",
    "Croupier_Time": "5",
}


def view() -> Planted:
    return Planted(200, SEAT_VIEW, **SEEN)


def moved() -> Planted:
    planted = Planted(200, EXAMPLES["SpiceIslandPokerWagered"]["value"], **SEEN)
    planted.method, planted.target, planted.sent = "POST", f"{LOOK}/wager", {"amount": 25}
    return planted


def problem(code: str = "gone", status: int = 410) -> Planted:
    said = {"type": f"urn:croupier:problem:{code}", "title": "x", "status": status, "detail": "x", "instance": LOOK}
    return Planted(status, said | {"code": code}, Cache_Control="no-store", Content_Language="en")


def not_allowed() -> Planted:
    planted = problem("method-not-allowed", 405)
    planted.method = "PUT"
    planted.having("Allow", "GET, HEAD, OPTIONS, DELETE")
    return planted


def nowhere() -> Planted:
    planted = problem("not-found", 404)
    planted.target = planted.body["instance"] = "/v1/nowhere"
    return planted


def methods() -> Planted:
    planted = Planted(200, None, Allow="DELETE, GET, HEAD, OPTIONS")
    planted.method, planted.raw = "OPTIONS", b""
    planted.without("Content-Type")
    return planted


@pytest.mark.parametrize("sound", [view, moved, problem, not_allowed, nowhere, methods])
def test_a_documented_answer_is_accepted_and_remembered(sound: Callable[[], Planted]) -> None:
    """The answers that the faults below are planted in have none."""
    contract = Contract(DOCUMENT)
    sound().send(contract)
    assert len(contract.seen & contract.documented()) == 1


def put(planted: Planted, *path: str | int, value: Any) -> None:  # noqa: ANN401 - any JSON
    node = planted.body
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value


FAULTS: dict[str, tuple[Callable[[], Planted], Callable[[Planted], object]]] = {
    "getSession documents no 202": (view, lambda it: setattr(it, "status", 202)),
    "path documents no 410": (problem, lambda it: setattr(it, "target", "/v1/nowhere")),
    "method documents no 410": (not_allowed, lambda it: setattr(it, "status", 410)),
    "unread documents no 200": (view, lambda it: it.without("X-Request-Id")),
    "'extra' was unexpected": (view, lambda it: put(it, "extra", value=1)),
    "'hidden' was unexpected": (view, lambda it: put(it, "table", "hidden", value=1)),
    "'balance' is a required property": (view, lambda it: it.body["table"].pop("balance")),
    "'2' is not of type 'integer'": (view, lambda it: put(it, "version", value="2")),
    "2.0 is not of type 'integer'": (view, lambda it: put(it, "version", value=2.0)),
    "True is not of type 'integer'": (view, lambda it: put(it, "version", value=True)),
    "'Zz' does not match": (view, lambda it: put(it, "table", "player", "cards", 0, value="Zz")),
    "'showdown' is not one of": (view, lambda it: put(it, "table", "phase", value="showdown")),
    "'spice-island-poker' was expected": (view, lambda it: put(it, "table", "game", value="skulls-and-swords")),
    "('events' was unexpected)": (view, lambda it: put(it, "events", value=[])),
    "'events' is a required property": (moved, lambda it: it.body.pop("events")),
    "events[0].amount: '25' is not": (moved, lambda it: put(it, "events", 0, "amount", value="25")),
    "events[0].type: 'wagered' was expected": (moved, lambda it: put(it, "events", 0, "type", value="kept")),
    "the header etag is missing": (view, lambda it: it.without("ETag")),
    "the header x-content-type-options is missing": (view, lambda it: it.without("X-Content-Type-Options")),
    "the header access-control-allow-origin is missing": (view, lambda it: it.without("Access-Control-Allow-Origin")),
    "the header x-cache is not documented": (view, lambda it: it.having("X-Cache", "1")),
    "the header idempotency-replayed is not documented": (view, lambda it: it.having("Idempotency-Replayed", "true")),
    "headers given twice: ['vary']": (view, lambda it: it.headers.append(("Vary", "Accept"))),
    "header etag at $": (view, lambda it: it.having("ETag", 'W/"2.s0.json.en.r2"')),
    "header croupier-time at $": (view, lambda it: it.having("Croupier-Time", "5.5")),
    "the content type 'text/html' is not documented": (view, lambda it: it.having("Content-Type", "text/html")),
    "no JSON": (view, lambda it: setattr(it, "raw", b"{")),
    "a name occurs twice": (view, lambda it: setattr(it, "raw", b'{"id": 1, "id": 1}')),
    "NaN is no JSON": (view, lambda it: setattr(it, "raw", b"NaN")),
    "a body where there is none": (methods, lambda it: setattr(it, "raw", b"x")),
    "a content type, text/html, of no body": (methods, lambda it: it.having("Content-Type", "text/html")),
    "the code 'busy' is not one of ['gone']": (problem, lambda it: put(it, "code", value="busy")),
    "the problem must say {'status': 410": (problem, lambda it: put(it, "status", value=409)),
    "the problem must say {'type'": (problem, lambda it: put(it, "type", value="about:blank")),
    "the problem must say {'instance'": (problem, lambda it: put(it, "instance", value="/")),
    "'detail' is a required property": (problem, lambda it: it.body.pop("detail")),
    "Allow names": (not_allowed, lambda it: it.having("Allow", "GET, HEAD, OPTIONS")),
    "Allow names ['']": (not_allowed, lambda it: it.without("Allow")),
    "accepted the query parameter depth": (view, lambda it: setattr(it, "target", f"{LOOK}?depth=1")),
    "accepted query parameter actions at $": (view, lambda it: setattr(it, "target", f"{LOOK}?actions=yes")),
    "accepted path parameter id at $": (view, lambda it: setattr(it, "target", "/v1/sessions/short")),
    "accepted body at $": (moved, lambda it: setattr(it, "sent", {"amount": 25.0})),
    "accepted body at $: None": (moved, lambda it: setattr(it, "sent", None)),
}  # fmt: skip


@pytest.mark.parametrize("why", FAULTS)
def test_a_planted_fault_is_refused(why: str) -> None:
    """Each fault is refused for what it is, and nothing is remembered."""
    contract = Contract(DOCUMENT)
    sound, plant = FAULTS[why]
    planted = sound()
    plant(planted)
    with pytest.raises(ContractBreach) as breach:
        planted.send(contract)
    assert why in str(breach.value)
    assert not contract.seen


# Streams: what goes wrong in one is refused as it is read.

MOVE, SNAPSHOT, END = (EXAMPLES[f"{name}Frame"]["value"] for name in ("Move", "Snapshot", "End"))
LAST = {"event": "end", "version": MOVE["version"], "reason": "left"}


def sse(frame: dict[str, Any], name: object = None, number: object = None) -> bytes:
    """Return a frame as a server-sent event, under its own name and number or under others."""
    named = (number or frame["version"], name or frame["event"], json.dumps(frame))
    return "id: {}\nevent: {}\ndata: {}\n\n".format(*named).encode()


def line(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode() + b"\n"


def following(frame: dict[str, Any], **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return the frame after another, with what is changed in it."""
    made = frame | {"version": frame["version"] + 1} | changes
    return made | {"view": made["view"] | {"version": made["version"]}} if "view" in made else made


def stream(raw: bytes, kind: str = SSE) -> Planted:
    planted = Planted(200, None, Cache_Control="no-store", Vary="Accept", Content_Language="en", Croupier_Time="5")
    planted.target, planted.raw = f"{LOOK}/events", raw
    planted.having("X-Accel-Buffering", "no")
    planted.having("Content-Type", kind)
    return planted


SOUND = {
    SSE: b"retry: 1000\n\n" + sse(MOVE) + b":\n\n" + sse(following(MOVE)) + sse(following(LAST)),
    NDJSON: line(SNAPSHOT) + b"\n" + line(END),
}


@pytest.mark.parametrize("kind", SOUND)
def test_a_documented_stream_is_read_to_its_end(kind: str) -> None:
    """What is sent in silence, and how long to wait, are no frames."""
    told = stream(SOUND[kind], kind).read(Contract(DOCUMENT))
    assert [frame["event"] for frame in told][-1] == "end"


BROKEN: dict[str, tuple[str, bytes]] = {
    "an event beside its data": (SSE, sse(MOVE, number=7)),
    "an event beside its data: b'id: 5\\nevent: reset": (SSE, sse(MOVE, name="reset")),
    "no event of this service: b'id: 5\\ndata": (SSE, sse(MOVE).replace(b"event: move\n", b"")),
    "no event of this service: b'id: 5\\nid": (SSE, b"id: 5\n" + sse(MOVE)),
    "no event of this service: b'name": (SSE, b"name: x\n" + sse(MOVE)),
    "no event of this service: b'retry": (SSE, b"retry: soon\n\n"),
    "no JSON": (NDJSON, b"{\n"),
    "a name occurs twice": (NDJSON, b'{"event": "end", "event": "end"}\n'),
    "'rang' is not one of": (NDJSON, line(MOVE | {"event": "rang"})),
    "'hidden' was unexpected": (NDJSON, line(MOVE | {"hidden": 1})),
    "frame at $.reason": (NDJSON, line(LAST | {"reason": "whoops"})),
    "frame at $.events[0]: 'amount' is a required": (NDJSON, line(following(MOVE, view=SEAT_VIEW, version=2))),
    "a view of another version": (NDJSON, line(MOVE | {"version": 9})),
    "frame at $.events[0]": (NDJSON, line(MOVE | {"events": [{"type": "rang", "seat": 0}]})),
    "a gap": (NDJSON, line(MOVE) + line(following(MOVE, version=8))),
    "a gap: {'event': 'end'": (NDJSON, line(MOVE) + line(following(LAST))),
    "something after the end": (NDJSON, line(LAST) + line(following(MOVE))),
    "a beginning that is none": (NDJSON, line(MOVE) + line(following(SNAPSHOT, version=7))),
    "a beginning that is none: {'event': 'reset'": (NDJSON, line(MOVE | {"event": "reset"})),
    "ends in the middle of a message": (SSE, sse(MOVE)[:-1]),
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_planted_fault_in_a_stream_is_refused(why: str) -> None:
    """Each is refused for what it is, when it is read."""
    kind, raw = BROKEN[why]
    with pytest.raises(ContractBreach) as breach:
        stream(raw, kind).read(Contract(DOCUMENT))
    assert why in str(breach.value)


def test_a_head_with_a_body_is_refused() -> None:
    """An answer to HEAD has the headers of GET and no body."""
    contract = Contract(DOCUMENT)
    answered = view()
    answered.method, answered.raw = "HEAD", b""
    answered.send(contract)
    assert not contract.seen


def test_a_live_service_is_held_to_the_contract() -> None:
    """The client over the network accepts what is documented, and refuses what is not."""
    contract = Contract(DOCUMENT)
    sound = view()

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        return sound.said()(environ, start)

    server = make_server("127.0.0.1", 0, answer, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        client = LiveClient(f"http://127.0.0.1:{server.port}", contract)
        assert client.send("GET", LOOK).status == 200
        sound.having("X-Cache", "1")
        with pytest.raises(ContractBreach, match="x-cache is not documented"):
            client.send("GET", LOOK)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert len(contract.seen) == 1
