"""What openapi.yaml documents, made ready to be checked: paths, operations, replies, validators."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

OPENAPI = Path(__file__).parent.parent / "openapi.yaml"
PROBLEM = "application/problem+json"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def _integer(_checker: object, value: object) -> bool:
    """Tell whether a value is an integer as this service has them: `5.0` is none."""
    return type(value) is int


def _one_of(validator: Validator, branches: list[Any], value: object, _schema: object) -> Iterator[ValidationError]:
    """Yield what `oneOf` finds, without trying the branches that a constant (a game, a type) rules out."""
    meant = [branch for branch in branches if not _ruled_out(branch, value)]
    yield from _ONE_OF(validator, meant or branches, value, {})


def _ruled_out(branch: Mapping[str, Any], value: object) -> bool:
    if value is None:
        return bool(branch.get("type", "null") != "null")
    if not isinstance(value, Mapping):
        return bool(branch.get("type") == "null")
    properties = branch.get("properties", {}).items()
    return any("const" in each and value.get(name) != each["const"] for name, each in properties)


_ONE_OF = Draft202012Validator.VALIDATORS["oneOf"]
Strict: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {"oneOf": _one_of},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _integer),
)


@dataclass(frozen=True)
class Header:
    """A documented header."""

    required: bool
    integer: bool
    validator: Validator


@dataclass(frozen=True)
class Reply:
    """One documented answer; `bodies` is empty where the answer has none."""

    headers: Mapping[str, Header]
    bodies: Mapping[str, Validator]
    codes: frozenset[str]


@dataclass(frozen=True)
class Operation:
    """One documented operation, its replies by status."""

    name: str
    replies: Mapping[str, Reply]
    query: Mapping[str, Validator]
    body: Validator | None = None
    body_required: bool = False


@dataclass(frozen=True)
class Route:
    """One documented path, its operations by method."""

    pattern: re.Pattern[str]
    parameters: Mapping[str, Validator]
    operations: Mapping[str, Operation]


class Document:
    """An OpenAPI document, every schema of it found by a JSON pointer."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.tree = document
        resource = DRAFT202012.create_resource(document)
        self._validators: dict[str, Validator] = {}
        self._resolver = Registry().with_resource("", resource).resolver()

    def schema(self, pointer: str) -> Any:  # noqa: ANN401 - any JSON
        """Return the schema at a pointer (`/components/schemas/View`), every `$ref` replaced by its schema."""
        return self._inlined({"$ref": f"#{pointer}"})

    def validator(self, pointer: str) -> Validator:
        """Return the validator of the schema at a pointer; one without references is three times as fast."""
        here, _ = self.at(pointer)
        if here not in self._validators:
            self._validators[here] = Strict(self.schema(here), format_checker=Strict.FORMAT_CHECKER)
        return self._validators[here]

    def at(self, pointer: str) -> tuple[str, Any]:
        """Return what a pointer leads to, through every `$ref`, and the pointer of that."""
        node: Any = self.tree
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            node = node[int(name)] if isinstance(node, list) else node[name]
        if isinstance(node, Mapping) and "$ref" in node:
            return self.at(str(node["$ref"]).removeprefix("#"))
        return pointer, node

    def inside(self, pointer: str) -> Iterator[tuple[str, str, Any]]:
        """Yield the name, pointer and value of everything at a pointer, through every `$ref`."""
        here, node = self.at(pointer)
        for name in node or ():
            yield (name, *self.at(f"{here}/{_escaped(name)}"))

    def routes(self) -> list[Route]:
        """Return all paths; those without a parameter come first."""
        paths = sorted(self.tree["paths"], key=lambda path: "{" in path)
        return [self._route(path) for path in paths]

    def replies(self, pointer: str) -> dict[str, Reply]:
        """Return the documented answers at a pointer, by status."""
        return {status: self._reply(here) for status, here, _ in self.inside(pointer)}

    def headers(self, pointer: str) -> dict[str, Header]:
        """Return the documented headers at a pointer, by their names in small letters."""
        return {name.lower(): self._header(here, node) for name, here, node in self.inside(pointer)}

    def _inlined(self, node: Any) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(node, Mapping):
            if "$ref" in node:
                return self._inlined(self._resolver.lookup(node["$ref"]).contents)
            return {name: self._inlined(value) for name, value in node.items()}
        return [self._inlined(value) for value in node] if isinstance(node, list) else node

    def _route(self, path: str) -> Route:
        here = f"/paths/{_escaped(path)}"
        found = {name.upper() for name, _, _ in self.inside(here)}
        return Route(
            pattern=re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)), re.ASCII),
            parameters=self._parameters(here, "path"),
            operations={method: self._operation(f"{here}/{method.lower()}") for method in METHODS if method in found},
        )

    def _operation(self, here: str) -> Operation:
        _, node = self.at(here)
        asked = dict(self._media(f"{here}/requestBody")) if "requestBody" in node else {}
        return Operation(
            name=node["operationId"],
            replies=self.replies(f"{here}/responses"),
            query=self._parameters(here, "query"),
            body=asked.get("application/json"),
            body_required=bool(asked) and bool(node["requestBody"]["required"]),
        )

    def _parameters(self, here: str, where: str) -> dict[str, Validator]:
        _, node = self.at(here)
        found = [self.at(f"{here}/parameters/{place}") for place in range(len(node.get("parameters", ())))]
        return {each["name"]: self.validator(f"{at}/schema") for at, each in found if each["in"] == where}

    def _reply(self, here: str) -> Reply:
        _, node = self.at(here)
        problem = self._inlined(node.get("content", {}).get(PROBLEM, {}).get("schema", {}))
        return Reply(
            headers=self.headers(f"{here}/headers") if "headers" in node else {},
            bodies=dict(self._media(here)),
            codes=frozenset(code for branch in problem.get("oneOf", [problem]) for code in _codes(branch)),
        )

    def _media(self, here: str) -> Iterator[tuple[str, Validator]]:
        _, node = self.at(here)
        for media_type in node.get("content", {}):
            yield media_type, self.validator(f"{here}/content/{_escaped(media_type)}/schema")

    def _header(self, here: str, node: Mapping[str, Any]) -> Header:
        _, schema = self.at(f"{here}/schema")
        return Header(
            required=node.get("required", False),
            integer=schema.get("type") == "integer",
            validator=self.validator(f"{here}/schema"),
        )


def read() -> Document:
    """Return openapi.yaml."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it is built
    return Document(yaml.load(OPENAPI.read_text(encoding="utf-8"), loader))  # noqa: S506 - both are safe


def _codes(schema: Mapping[str, Any]) -> list[str]:
    """Return the codes that a problem's schema takes."""
    code = schema.get("properties", {}).get("code", {})
    return [code["const"]] if "const" in code else code.get("enum", [])


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
