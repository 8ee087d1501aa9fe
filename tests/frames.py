"""What a stream sends, read strictly: server-sent events, or lines of JSON."""

import re
from typing import Any

from tests.answers import ContractBreach, strict_json

SSE, NDJSON = "text/event-stream", "application/x-ndjson"
STREAMS = (SSE, NDJSON)
FIELDS = {b"id", b"event", b"data"}
"""What a message is made of, each once."""

Frame = dict[str, Any]


class StreamReader:
    """Makes messages of the bytes as they come; raises `ContractBreach` for what is no message.

    A message is a frame, or `None` for what is sent in silence. `rest` are the bytes that make none yet.
    """

    def __init__(self, media_type: str) -> None:
        self.rest = b""
        self._lines = media_type == NDJSON
        self._before: Frame | None = None

    def feed(self, chunk: bytes) -> list[Frame | None]:
        """Return the messages that are complete with these bytes."""
        *whole, self.rest = (self.rest + chunk).split(b"\n" if self._lines else b"\n\n")
        if self._lines:
            return [self._next(_line(each)) for each in whole]
        return [self._next(_event(each)) for each in whole if not _is_retry(each)]

    def _next(self, frame: Frame | None) -> Frame | None:
        """Return a frame that may follow those before it."""
        if frame is not None:
            if wrong := _out_of_place(frame, self._before):
                raise ContractBreach(f"{wrong}: {frame}")
            self._before = frame
        return frame


def _line(line: bytes) -> Frame | None:
    return dict(strict_json(line)) if line else None


def _event(block: bytes) -> Frame | None:
    """Return the frame of a server-sent event; its id and name must say the same as its data."""
    if block == b":":
        return None
    pairs = [line.partition(b": ")[::2] for line in block.split(b"\n")]
    named = dict(pairs)
    if len(named) != len(pairs) or named.keys() != FIELDS:
        raise ContractBreach(f"no event of this service: {block!r}")
    frame = dict(strict_json(named[b"data"]))
    if (named[b"event"].decode(), named[b"id"].decode()) != (frame.get("event"), str(frame.get("version"))):
        raise ContractBreach(f"an event beside its data: {block!r}")
    return frame


def _is_retry(block: bytes) -> bool:
    """Return whether a block says how long a client is to wait, in ms, which is no message."""
    return bool(re.fullmatch(rb"retry: [1-9][0-9]*", block))


def _out_of_place(frame: Frame, before: Frame | None) -> str:
    """Return why a frame may not stand where it stands."""
    kind = frame.get("event")
    if "view" in frame and frame["view"]["version"] != frame.get("version"):
        return "a view of another version"
    if kind in ("snapshot", "reset") and (before or "view" not in frame or frame["events"]):
        return "a beginning that is none"
    if before is None:
        return ""
    if before["event"] == "end":
        return "something after the end"
    step = 0 if kind == "end" else 1
    return "" if frame.get("version") == before["version"] + step else "a gap"
