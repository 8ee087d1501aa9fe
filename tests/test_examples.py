"""Every example in the contract is an answer of the service, and fits its schema."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.capture_examples import captured
from tests.contract import CONTRACT
from tests.documented import OPENAPI
from tests.layout import rewritten

DOCUMENT = CONTRACT.document


def media(pointer: str = "", node: Any = DOCUMENT.tree) -> Iterator[str]:  # noqa: ANN401 - any part of the document
    """Yield where a body is described: each has a schema, and perhaps examples."""
    if isinstance(node, dict):
        if "examples" in node and "schema" in node:
            yield pointer
        for name, each in node.items():
            yield from media(f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", each)


def test_the_examples_are_what_the_service_answers() -> None:
    """The last section of openapi.yaml is what `python -m tests.capture_examples` writes."""
    text = OPENAPI.read_text(encoding="utf-8")
    assert rewritten(text, captured()) == text


def test_another_answer_is_told() -> None:
    """A document whose examples are changed is not what would be written."""
    text = OPENAPI.read_text(encoding="utf-8")
    changed = text.replace("phase: decision", "phase: settled")
    assert changed != text
    assert rewritten(changed, captured()) != changed


@pytest.mark.parametrize("pointer", [*media()])
def test_an_example_fits_its_schema(pointer: str) -> None:
    """Each example of an answer and of a body is valid by the schema beside it."""
    validator = DOCUMENT.validator(f"{pointer}/schema")
    for _, _, example in DOCUMENT.inside(f"{pointer}/examples"):
        validator.validate(example["value"])


def test_every_kind_of_answer_has_an_example() -> None:
    """Where JSON is answered there is an example, but for the contract itself and what cannot be read."""
    bare = [
        f"{operation['operationId']} {status}"
        for path in DOCUMENT.tree["paths"].values()
        for method, operation in path.items()
        if method != "parameters"
        for status in operation["responses"]
        if status[0] in "245" and _without_example(operation, status)
    ]
    assert bare == ["getContractAsJson 200"]


def _without_example(operation: dict[str, Any], status: str) -> bool:
    reply = operation["responses"][status]
    if "$ref" in reply:
        _, reply = DOCUMENT.at(reply["$ref"].removeprefix("#"))
    kinds = [body for kind, body in reply.get("content", {}).items() if kind.endswith("json")]
    return any("examples" not in body for body in kinds)
