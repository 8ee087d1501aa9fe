"""What /metrics tells, read by Prometheus' own parsers."""

from collections import Counter
from typing import Any

from flask.testing import FlaskClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain

FORMATS = {"text/plain": plain, "application/openmetrics-text": openmetrics}
Counts = Counter[tuple[str, ...]]


def counts(text: str, media_type: str = "text/plain") -> Counts:
    """Return every value by the sample's name and, in order of their names, its labels' values."""
    parse: Any = FORMATS[media_type]
    samples = [sample for family in parse(text) for sample in family.samples]
    return Counter({(each.name, *(value for _, value in sorted(each.labels.items()))): each.value for each in samples})


def told(client: FlaskClient) -> Counts:
    """Return what a service tells."""
    return counts(client.get("/metrics").text)


def risen(before: Counts, after: Counts, name: str) -> Counts:
    """Return by how much the values of one name have risen, where they have."""
    return Counter({each[1:]: value for each, value in (after - before).items() if each[0] == name})
