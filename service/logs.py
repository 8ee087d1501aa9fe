"""Logs: one JSON line an event, on standard error; never a token, a seed or a hidden card."""

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any

import structlog
from msgspec.json import Encoder
from structlog.processors import JSONRenderer, TimeStamper, format_exc_info
from structlog.stdlib import ProcessorFormatter, add_log_level

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43,}", re.ASCII)
_encode = Encoder(enc_hook=str).encode


def _render(logger: object, level: str, event: MutableMapping[str, Any]) -> bytes:
    """Return the line."""
    event["level"] = level
    event["timestamp"] = datetime.now(UTC)
    return _encode(format_exc_info(logger, level, event) if "exc_info" in event else event)


def unspoken(text: str) -> str:
    """Return a text without what has a token's form: some clients take one for an id, or a path."""
    return _TOKEN.sub("[left out]", text)


def formatter() -> ProcessorFormatter:
    """Return what writes a server's own lines in the form of the service's."""
    return ProcessorFormatter(
        foreign_pre_chain=[add_log_level, TimeStamper(fmt="iso"), format_exc_info],
        processors=[ProcessorFormatter.remove_processors_meta, _unspoken, JSONRenderer()],
    )


def _unspoken(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event["event"] = unspoken(str(event["event"]))
    return event


def configure(level: str) -> Callable[[dict[str, Any]], None]:
    """Set the least level that is written; return what writes a request's line, by a shorter way than the others go."""
    least, out = logging.getLevelName(level), structlog.BytesLogger(sys.stderr.buffer)
    structlog.configure(
        processors=[_render],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *_args: out,
        cache_logger_on_first_use=True,
    )
    return lambda told: out.msg(_render(out, "info", told)) if least <= logging.INFO else None


log: Any = structlog.get_logger()
