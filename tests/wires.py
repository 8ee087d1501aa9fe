"""A raw connection to a running service: a stream byte by byte, to be broken off where a test says."""

import socket
from collections.abc import Iterator, Mapping
from typing import Self

from tests.frames import NDJSON, SSE, Frame, StreamReader

TIMEOUT = 30.0
LAST_CHUNK = b"0\r\n\r\n"


class Wire:
    """A GET that was sent, and what comes back on it (TimeoutError when there is silence for longer)."""

    def __init__(
        self,
        port: int,
        target: str,
        headers: Mapping[str, str] | None = None,
        kind: str = SSE,
        silence: float = TIMEOUT,
    ) -> None:
        self.raw = b""
        self._body = Body()
        self._reader = StreamReader(kind)
        self._line = socket.create_connection(("127.0.0.1", port), silence)
        given = {"Host": "table", "Accept": kind, **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self._line.sendall(f"GET {target} HTTP/1.1\r\n{head}\r\n".encode())
        self.head = self._until_body()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def status(self) -> int:
        """Return the answer's status."""
        return int(self.head.split()[1])

    @property
    def ended(self) -> bool:
        """Return whether the body came to its proper end."""
        return self._body.ended

    def frames(self, most: int | None = None) -> Iterator[Frame]:
        """Yield frames until the body ends, the other side goes, or so many of its bytes have come."""
        passed = 0
        while True:
            found, self.raw = self.raw[: None if most is None else most - passed], b""
            passed += len(found)
            yield from filter(None, self._reader.feed(self._body.feed(found)))
            if self.ended or passed == most:
                return
            self.raw = self._line.recv(65_536)
            if not self.raw:
                return

    def close(self) -> None:
        """Go away."""
        self._line.close()

    def _until_body(self) -> str:
        while b"\r\n\r\n" not in self.raw:
            came = self._line.recv(65_536)
            assert came, f"no answer but {self.raw!r}"
            self.raw += came
        head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        return head.decode()


class Body:
    """Takes the chunks of a body apart as they come (RFC 9112, section 7.1)."""

    def __init__(self) -> None:
        self.ended = False
        self._size = b""
        self._left = 0

    def feed(self, came: bytes) -> bytes:
        """Return what the bytes say, a piece of a chunk too."""
        said = b""
        while came and not self.ended:
            if self._left > 0:
                piece, came = came[: self._left], came[self._left :]
                self._left -= len(piece)
                said += piece
            else:
                self._size, came = self._size + came[:1], came[1:]
                came = self._begin() + came
        return said

    def _begin(self) -> bytes:
        """Begin the next chunk, if its size has come whole; the line end of the one before comes first."""
        size = self._size.lstrip(b"\r\n")
        if not size.endswith(b"\r\n"):
            return b""
        self._size, self._left = b"", int(size, 16)
        self.ended = self._left == 0
        return b""


__all__ = ["NDJSON", "SSE", "Body", "Frame", "Wire"]
