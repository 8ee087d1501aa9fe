"""Logs: one JSON line an event, on standard error; never a token, a seed or a hidden card."""

import logging
import re
import sys
from typing import Any

import structlog
from msgspec.json import Encoder

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43,}", re.ASCII)
_encode = Encoder(enc_hook=str).encode


def _render(event: dict[str, Any], **_ignored: Any) -> bytes:  # noqa: ANN401 - structlog's own
    return _encode(event)


def unspoken(text: str) -> str:
    """Return a text without what has a token's form: some clients take one for an id, or a path."""
    return _TOKEN.sub("[left out]", text)


def configure(level: str) -> None:
    """Set the least level that is written."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_render),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )


log: Any = structlog.get_logger()
