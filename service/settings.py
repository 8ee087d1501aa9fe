"""The settings, read once from the environment; every one has a default, and none is a secret."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from environs import Env, EnvValidationError
from marshmallow import ValidationError
from marshmallow.validate import OneOf, Range

_SCHEMES = ("redis://", "rediss://", "unix://")
_SERVERS = ("gunicorn", "granian")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class SettingsError(ValueError):
    """A setting that cannot be used; the message is one line and names it."""


@dataclass(frozen=True)
class Settings:
    """What an operator may decide."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8080
    server: str = "gunicorn"
    """What speaks HTTP: `gunicorn`, or `granian` where the extra `fast` is installed (docs/capacity.md)."""
    workers: int = 2
    """Processes that answer requests."""
    threads: int = 32
    """Requests of sessions that each process works on at once, however many streams are open.

    More wait for their turn, 2 s at most (503 `busy`); a request takes one when it is here as a whole, and a long
    poll gives it back before it waits.
    """
    streams: int = 1024
    """Streams, and long polls that wait, that each process holds open; each takes a thread, some 100 KB in all."""
    redis_url: str | None = None
    """Where the store is; None asks for the embedded one."""
    var_dir: Path = Path("var")
    """Where the embedded store keeps its data."""
    log_level: str = "INFO"

    @property
    def address(self) -> str:
        """What to listen on, as host:port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the settings from `environ`, by default the process's own (SettingsError on the first bad one)."""
        env = _Given(os.environ if environ is None else environ)
        try:
            return cls(
                host=env.str("HOST", cls.host),
                port=env.int("PORT", cls.port, validate=Range(1, 65535)),
                server=env.str("SERVER", cls.server, validate=OneOf(_SERVERS)),
                workers=env.int("WORKERS", cls.workers, validate=Range(1, 256)),
                threads=env.int("THREADS", cls.threads, validate=Range(1, 4096)),
                streams=env.int("STREAMS", cls.streams, validate=Range(1, 16384)),
                redis_url=env.str("REDIS_URL", None, validate=_store_url),
                var_dir=env.path("VAR_DIR", cls.var_dir),
                log_level=env.str("LOG_LEVEL", cls.log_level, validate=OneOf(_LEVELS)),
            )
        except EnvValidationError as error:
            name = str(error).split('"')[1]
            raise SettingsError(f"{name}: {' '.join(map(str, error.error_messages))}") from None


class _Given(Env):
    """An Env over a mapping; a variable that is set to nothing counts as unset, as compose files leave them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        self._given = {name: value for name, value in environ.items() if value}

    def _get_value(self, env_key: str, default: Any) -> Any:  # noqa: ANN401 - the signature of Env
        return self._given.get(env_key, default)


def _store_url(url: str) -> None:
    # The message must not repeat the URL, which may hold a password.
    if not url.startswith(_SCHEMES):
        raise ValidationError(f"Must start with one of: {', '.join(_SCHEMES)}.")
