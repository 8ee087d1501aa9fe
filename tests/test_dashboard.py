"""What deploy/ watches by: every metric and label in a query is one that /metrics tells."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from service.connection import StoreAway
from tests.frames import SSE
from tests.scene import SPICE, Scene
from tests.servers import ROOT

DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"\bcroupier_\w+")
MATCHED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
GROUPED = re.compile(r"\bby\s*\(([^)]*)\)")


def panels() -> list[str]:
    """Return the queries of the dashboard."""
    board = json.loads((DEPLOY / "grafana.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def rules() -> list[dict[str, object]]:
    """Return Prometheus' rules."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    return list(group["rules"])


QUERIES = [*panels(), *(str(rule["expr"]) for rule in rules())]


@pytest.fixture(scope="module", name="known")
def _known() -> dict[str, set[str]]:
    """Return the labels of every sample that is told once everything has occurred, by its name."""
    scene = Scene()
    session = scene.open(SPICE)
    stream = scene.client.get(f"{session.path}/events", headers={"Accept": SSE})
    scene.act(session, "deal")
    scene.shelf.fault = StoreAway("ordered")
    scene.act(session, "deal")
    text = scene.client.get("/metrics").text
    stream.close()
    scene.close()
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(croupier_\w+)(\{.*\})? ", text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r"(\w+)=\"", labels))
    return found


def unknown(query: str, known: dict[str, set[str]]) -> Iterator[str]:
    """Yield the metrics and labels of a query that are not told."""
    metrics = METRIC.findall(query)
    yield from (name for name in metrics if name not in known)
    labels = {name for group in GROUPED.findall(query) for name in re.findall(r"\w+", group)}
    told = set[str]().union(*(known.get(name, set()) for name in metrics))
    yield from (labels | set(MATCHED.findall(query))) - told


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_what_is_told(query: str, known: dict[str, set[str]]) -> None:
    """Names and labels alike."""
    assert METRIC.search(query)
    assert list(unknown(query, known)) == []


def test_every_metric_is_looked_at(known: dict[str, set[str]]) -> None:
    """What nobody looks at need not be counted; a histogram is looked at by its buckets or its count."""
    looked_at = {re.sub("_(bucket|count|sum)$", "", name) for query in QUERIES for name in METRIC.findall(query)}
    assert {re.sub("_(bucket|count|sum)$", "", name) for name in known} == looked_at


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("sum(rate(croupier_moves[5m]))", ["croupier_moves"]),
        ("sum by (table) (rate(croupier_moves_total[5m]))", ["table"]),
        ('rate(croupier_moves_total{outcome="accepted"}[5m])', ["outcome"]),
    ],
)
def test_a_query_for_what_is_not_told_is_found_out(query: str, missing: list[str], known: dict[str, set[str]]) -> None:
    """Planted faults: a name without its ending, and labels that are not there."""
    assert list(unknown(query, known)) == missing


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_says_what_to_do(rule: dict[str, dict[str, str]]) -> None:
    """It waits, has a severity, and tells a person what is wrong and where to look."""
    assert re.fullmatch(r"\d+m", str(rule["for"]))
    assert rule["labels"]["severity"] in {"page", "warn"}
    assert {"summary", "description"} == rule["annotations"].keys()


def test_every_metric_and_alert_is_explained(known: dict[str, set[str]]) -> None:
    """In docs/watch.md, by its name."""
    page = Path(ROOT / "docs" / "watch.md").read_text()
    names = {re.sub("_(bucket|count|sum)$", "", name) for name in known} | {str(rule["alert"]) for rule in rules()}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
