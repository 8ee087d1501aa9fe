"""A request and its answer, as the contract is held against them."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn


class ContractBreach(AssertionError):
    """An answer that the contract does not document, or one to a request that it does not allow."""


@dataclass(frozen=True)
class Answer:
    """What was asked, and what came back; `path` is decoded."""

    method: str
    path: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    query: str = ""
    sent: bytes = b""

    @property
    def named(self) -> dict[str, str]:
        """Return the headers by their names in small letters."""
        return {name.lower(): value for name, value in self.headers}

    @property
    def media_type(self) -> str:
        """Return the content type without parameters."""
        return self.named.get("content-type", "").partition(";")[0]

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the body's value (ContractBreach for what is no JSON)."""
        return strict_json(self.body)

    def refuse(self, why: str) -> NoReturn:
        """Raise `ContractBreach`, with the answer."""
        shown = self.body[:2000].decode(errors="replace")
        raise ContractBreach(f"{self.method} {self.path} {self.status}: {why}\n{dict(self.headers)}\n{shown}")


def strict_json(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value; a name given twice, NaN and Infinity are no JSON (ContractBreach)."""
    try:
        return json.loads(body, object_pairs_hook=_once, parse_constant=_constant)
    except ValueError as error:
        raise ContractBreach(f"no JSON: {error}: {body[:2000]!r}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ContractBreach(f"a name occurs twice: {pairs}")
    return dict(pairs)


def _constant(name: str) -> NoReturn:
    raise ContractBreach(f"{name} is no JSON")
