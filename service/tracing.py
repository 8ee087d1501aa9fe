"""Traces, in OpenTelemetry's form: a span a request, and in it a span a call to the store; imported where asked for."""

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from typing import Any

from flask import Flask, Response, g, request
from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from service.sessions import Store
from service.watch import operation


def register(app: Flask, provider: trace.TracerProvider) -> Callable[[Store, str], Callable[..., Any]]:
    """Trace the requests of an application; return what to put around its store's calls."""
    tracer = provider.get_tracer("croupier")
    app.before_request(partial(_begin, tracer))
    app.after_request(_tell)
    app.teardown_request(_end)
    return partial(_spanned, tracer)


def exporting() -> TracerProvider:
    """Return a provider that sends its spans where the OTEL_* variables say, by default to a collector over HTTP."""
    named = os.environ.get("OTEL_TRACES_EXPORTER", "otlp")
    exporter = entry_points(group="opentelemetry_traces_exporter")["otlp_proto_http" if named == "otlp" else named]
    service = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "croupier")}
    provider = TracerProvider(resource=Resource.create(service))
    provider.add_span_processor(BatchSpanProcessor(exporter.load()()))
    return provider


def _begin(tracer: trace.Tracer) -> None:
    told = {"http.request.method": request.method, "croupier.request_id": g.request_id}
    caller = propagate.extract(request.headers)
    g.span = tracer.start_as_current_span(operation(request), caller, trace.SpanKind.SERVER, told)
    g.span.__enter__()


def _tell(response: Response) -> Response:
    span, status = trace.get_current_span(), response.status_code
    span.set_attribute("http.response.status_code", status)
    if f"{status}" >= "500":
        span.set_status(trace.StatusCode.ERROR)
    return response


def _end(_error: BaseException | None) -> None:
    if span := g.pop("span", None):
        span.__exit__(None, None, None)


def _spanned(tracer: trace.Tracer, store: Store, name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:  # noqa: ANN401 - whatever the call takes and returns
        if not trace.get_current_span().is_recording():  # of the reader of streams
            return getattr(store, name)(*args)
        with tracer.start_as_current_span(f"store {name}", kind=trace.SpanKind.CLIENT):
            return getattr(store, name)(*args)

    return call
