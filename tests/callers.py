"""A client of a running service as clients are: it keeps its connection, and knows no more than what it is told."""

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, Self

from tests.histories import Told


class Caller:
    """One connection, opened again when it was cut; what is asked twice is asked by whoever calls."""

    def __init__(self, port: int, seconds: float = 30) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, token: str = "", body: object = None, key: str = "") -> Told:
        """Send a request and return what is told, if the answer comes whole."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if key:
            headers["Idempotency-Key"] = key
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send(method, path, sent, headers)

    def send(self, method: str, path: str, sent: bytes | None, headers: dict[str, str]) -> Told:
        """Send bytes as they are."""
        try:
            self._connection.request(method, path, sent, headers)
            answer = self._connection.getresponse()
            received = answer.read()
            return Told(answer.status, _value(received))
        except (OSError, HTTPException):
            self._connection.close()
            return Told(0)


def _value(received: bytes) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(received) if received else None
