"""The floor: a bare WSGI application that does a move's two store calls and answers as many bytes, and nothing else."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.msgpack import Decoder
from redis import BlockingConnectionPool, Redis

from service.connection import key as stored_as
from service.limits import Limits
from service.settings import Settings
from service.store import COMMIT, LOAD, MARK_EVERY
from service.wakes import channel

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

SAMPLE = "FLOOR_SAMPLE"
"""The environment variable that names the file with the sample."""


class Sample(Struct, frozen=True):
    """What a real move left in the store and was answered with; `field` is its record's name without the key."""

    field: str
    record: bytes
    blob: bytes
    entry: bytes
    drop_at: int
    headers: list[tuple[str, str]]
    body: bytes


if SAMPLE in os.environ:
    _SAMPLE = Decoder(Sample).decode(Path(os.environ[SAMPLE]).read_bytes())
    _COUNTED: Any = Limits(Settings.read()).counted("moves", bytes.fromhex(_SAMPLE.field.partition(":")[0]))
    # The client as it comes, as Any, since it leaves the method untyped.
    _STORE: Any = Redis.from_pool(BlockingConnectionPool.from_url(os.environ["REDIS_URL"], protocol=2, timeout=1))


def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Load and commit under the request's key, which is the version that the move makes."""
    environ["wsgi.input"].read()
    session = environ["PATH_INFO"].split("/")[3]
    key = environ["HTTP_IDEMPOTENCY_KEY"]
    state, log, keys = (stored_as(session, part) for part in ("state", "log", "keys"))
    field = _SAMPLE.field + key
    call = _STORE.execute_command
    counter = stored_as(session, _COUNTED.name)
    call("EVALSHA", LOAD.sha, 3, state, keys, counter, field, "", _COUNTED.owner, *_COUNTED.paces)
    change = (
        int(key) - 1,
        _SAMPLE.blob,
        _SAMPLE.drop_at,
        field,
        _SAMPLE.record,
        MARK_EVERY,
        channel(session),
        _SAMPLE.entry,
    )
    verdict = call("EVALSHA", COMMIT.sha, 3, state, log, keys, *change)
    start_response("200 OK" if verdict == b"committed" else "409 Conflict", _SAMPLE.headers)
    return [_SAMPLE.body]
