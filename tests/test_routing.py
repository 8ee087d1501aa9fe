"""The look-up of a session's verbs finds what werkzeug's own matching finds, and nothing else."""

from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import MapAdapter, Rule

from service import create_app
from service.problems import VERBS
from service.routing import Adapter
from service.settings import Settings
from tests.shelf import Shelf

ID = "a" * 22
VERBS_AND_OTHERS = (*VERBS, "", "events", "score", "ticket", "evaluate", "deal ", "DEAL", "Deal", "dealt", "%64eal")
PATHS = (
    *(f"/v1/sessions/{session}/{verb}" for session in (ID, "x", "æ y", "..", "\n") for verb in VERBS_AND_OTHERS),
    *(f"/v1/sessions/{ID}/{verb}/" for verb in VERBS),
    *(
        f"{before}/{verb}"
        for before in ("", "/v1", "/v1/sessions", "/v1/sessions/", f"/v1/sessions/{ID}/x")
        for verb in VERBS
    ),
    *(f"/v1//sessions/{ID}/deal", f"//v1/sessions/{ID}/deal", f"/v1/sessions//{ID}/deal", "/v1/sessions//deal"),
    f"v1/sessions/{ID}/deal",
)


@pytest.fixture(name="app", scope="module")
def _app() -> Flask:

    return create_app(Settings(log_level="CRITICAL"), Shelf())


def matched(adapter: MapAdapter) -> tuple[Any, ...]:
    """Return what an adapter finds, or how it refuses."""
    try:
        rule, arguments = adapter.match(return_rule=True)
    except HTTPException as refusal:
        return refusal.code, refusal.get_headers()
    return rule.endpoint, arguments


def differences(app: Flask) -> list[tuple[str, str]]:
    """Return for which requests the two find something else."""
    found = []
    for method in ("POST", "GET", "PUT", "OPTIONS"):
        for path in PATHS:
            with app.test_request_context("/", method=method) as context:
                context.request.path = path
                ours = app.create_url_adapter(context.request)
            assert isinstance(ours, Adapter)
            if matched(ours) != matched(MapAdapter(app.url_map, "", "/", None, "http", path, method)):
                found.append((method, path))
    return found


def test_a_verb_is_found_as_werkzeug_finds_it(app: Flask) -> None:
    """Whatever the path: endpoint and arguments are the same, or the refusal is, with the methods that it allows."""
    assert not differences(app)


def test_a_look_up_that_takes_any_path_is_found_out(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb alone does not make an address of a session's."""

    def hasty(adapter: Adapter, **_named: Any) -> tuple[Rule, dict[str, str]]:  # noqa: ANN401
        here, _, verb = adapter.path_info.rpartition("/")
        rule = adapter._verbs.get(verb)
        if rule is None:
            return MapAdapter.match(adapter, return_rule=True)  # type: ignore[return-value]
        return rule, {"session": here.rpartition("/")[2], "verb": verb}

    monkeypatch.setattr(Adapter, "match", hasty)
    assert differences(app)
