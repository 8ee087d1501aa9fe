"""Traces: a span a request, in it a span a call to the store, and nothing of it unless it is asked for."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from service import create_app, tracing
from service.connection import StoreAway
from service.settings import Settings, SettingsError
from tests.contract import ContractClient
from tests.scene import SPICE, Scene
from tests.servers import ROOT

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Traced(Scene):
    """A service whose spans are kept."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._kept = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        monkeypatch.setattr(tracing, "exporting", lambda: provider)
        self.app = create_app(Settings(log_level="CRITICAL", otel=True), self.shelf)
        self.app.test_client_class = ContractClient
        self.client = self.app.test_client()

    def spans(self) -> Sequence[ReadableSpan]:
        """Return the spans that ended since this was last asked."""
        ended = self._kept.get_finished_spans()
        self._kept.clear()
        return ended


@pytest.fixture(name="traced")
def _traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Traced]:
    traced = Traced(monkeypatch)
    yield traced
    traced.close()


def test_a_move_is_a_span_and_its_calls_to_the_store_are_spans_in_it(traced: Traced) -> None:
    """It has the operation's name and the request's id, and nothing of what the client sent."""
    session = traced.open(SPICE)
    traced.spans()
    traced.client.post(f"{session.path}/wager", json={"amount": 5}, headers=session.seat | {"X-Request-Id": "mine"})
    load, commit, move = traced.spans()
    assert [load.name, commit.name, move.name] == ["store load", "store commit", "POST /v1/sessions/{id}/wager"]
    assert move.kind is SpanKind.SERVER
    assert move.parent is None
    assert [each.parent for each in (load, commit)] == [move.context] * 2
    told = {"http.request.method": "POST", "http.response.status_code": 200, "croupier.request_id": "mine"}
    assert move.attributes == told
    assert not load.attributes


def test_a_caller_that_traces_is_gone_on_from(traced: Traced) -> None:
    """The span belongs to the trace that `traceparent` names."""
    traced.client.get("/readyz", headers={"traceparent": CALLER})
    *_, asked = traced.spans()
    assert asked.parent is not None
    assert f"{asked.parent.trace_id:032x}-{asked.parent.span_id:016x}" in CALLER


def test_a_failure_is_marked(traced: Traced) -> None:
    """A refusal by the rules is none; a store that is away is one, of the call and of the request."""
    session = traced.open(SPICE)
    traced.spans()
    traced.act(session, "deal")
    assert {each.status.status_code for each in traced.spans()} == {StatusCode.UNSET}
    traced.shelf.fault = StoreAway("ordered")
    traced.act(session, "deal")
    assert [each.status.status_code for each in traced.spans()] == [StatusCode.ERROR] * 2


SPOKEN = """
from service import tracing
provider = tracing.exporting()
provider.get_tracer("croupier").start_span("spoken").end()
provider.shutdown()
"""
WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from tests.scene import Scene
print(Scene().client.get("/readyz").status, "service.tracing" in sys.modules)
"""


def run(program: str, **environ: str) -> str:
    """Run a program and return what it says."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        check=True,
        timeout=120,
        text=True,
    )
    return done.stdout


def test_spans_go_where_the_variables_say() -> None:
    """The standard ones; the service is named unless they name it."""
    said = run(SPOKEN, OTEL_TRACES_EXPORTER="console")
    assert '"name": "spoken"' in said
    assert '"service.name": "croupier"' in said
    assert '"service.name": "table"' in run(SPOKEN, OTEL_TRACES_EXPORTER="console", OTEL_SERVICE_NAME="table")


def test_where_nothing_is_traced_nothing_of_it_is_needed() -> None:
    """Without the extra the service runs as well."""
    assert run(WITHOUT) == "200 OK False\n"


def test_the_extra_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setattr("service.settings.find_spec", lambda _name: None)
    with pytest.raises(SettingsError, match=r"^OTEL: Needs .*croupier\[otel\]"):
        Settings.read({"OTEL": "on"})
    assert Settings.read({"OTEL": "off"}).otel is False
