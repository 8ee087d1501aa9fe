"""The settings, read once from the environment; every one has a default, and none is a secret."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar, cast, get_args

from environs import Env, EnvValidationError
from marshmallow import ValidationError
from marshmallow.validate import OneOf, Range

from service.clients import ApiKey, Proxies, api_keys
from service.connection import Profile

PROFILES = get_args(Profile)
_RATE = Range(1, 100_000)
_SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel")
_SERVERS = ("gunicorn", "granian")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


T = TypeVar("T")


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
    """Where the store is (docs/store.md has the forms); None asks for the embedded one."""
    store_profile: Profile = "fast"
    """What an acknowledged move survives.

    `fast`: the end of any process. A machine that fails may take the last second with it, and a fail-over
    what no replica had yet. `durable`: those too. A move is then acknowledged when the store has it on
    disk and a replica has it as well; where none says so in time the answer is 503 `not-durable`.
    """
    store_unchecked: bool = False
    """Take the store as it is: neither its eviction nor its persistence is held to the profile."""
    var_dir: Path = Path("var")
    """Where the embedded store keeps its data."""
    log_level: str = "INFO"
    metrics: bool = True
    """Whether /metrics tells, to whoever reaches the port; unless it is set, only where nobody else's machine does."""
    otel: bool = False
    """Whether requests are traced, by OpenTelemetry's own variables."""
    limits: bool = True
    """Whether requests are limited at all."""
    moves_per_second: int | None = None
    """How often a seat may move, with three seconds' worth at once; None: as often as its game says."""
    reads_per_second: int | None = None
    """How often it may look, in the same way."""
    opens_per_minute: int = 120
    """How many sessions a client may open, a minute's worth at once."""
    joins_per_minute: int = 120
    tickets_per_minute: int = 120
    events_per_minute: int = 6000
    """How many streams and long polls a client may begin, a minute's worth at once."""
    lobby_per_minute: int = 120
    streams_per_address: int | None = None
    """How many of them a client may hold open at each process; None: a quarter of them all."""
    trusted_proxies: Proxies = field(default_factory=Proxies)
    """Whose `X-Forwarded-For` is believed: addresses, networks, or `unix` for whoever comes by a socket of files."""
    api_keys: tuple[ApiKey, ...] = ()
    """Who may open sessions; empty: everyone."""

    @property
    def address(self) -> str:
        """What to listen on, as host:port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the settings from `environ`, by default the process's own (SettingsError on the first bad one)."""
        env = _Given(os.environ if environ is None else environ)
        try:
            host = env.str("HOST", cls.host)
            return cls(
                host=host,
                port=env.int("PORT", cls.port, validate=Range(1, 65535)),
                server=env.str("SERVER", cls.server, validate=OneOf(_SERVERS)),
                workers=env.int("WORKERS", cls.workers, validate=Range(1, 256)),
                threads=env.int("THREADS", cls.threads, validate=Range(1, 4096)),
                streams=env.int("STREAMS", cls.streams, validate=Range(1, 16384)),
                redis_url=env.str("REDIS_URL", None, validate=_store_url),
                store_profile=cast("Profile", env.str("STORE_PROFILE", cls.store_profile, validate=OneOf(PROFILES))),
                store_unchecked=env.bool("STORE_UNCHECKED", cls.store_unchecked),
                var_dir=env.path("VAR_DIR", cls.var_dir),
                log_level=env.str("LOG_LEVEL", cls.log_level, validate=OneOf(_LEVELS)),
                metrics=env.bool("METRICS", host in _LOOPBACK),
                otel=env.bool("OTEL", cls.otel, validate=_installed),
                limits=env.bool("LIMITS", cls.limits),
                moves_per_second=env.int("MOVES_PER_SECOND", None, validate=_RATE),
                reads_per_second=env.int("READS_PER_SECOND", None, validate=_RATE),
                opens_per_minute=env.int("OPENS_PER_MINUTE", cls.opens_per_minute, validate=_RATE),
                joins_per_minute=env.int("JOINS_PER_MINUTE", cls.joins_per_minute, validate=_RATE),
                tickets_per_minute=env.int("TICKETS_PER_MINUTE", cls.tickets_per_minute, validate=_RATE),
                events_per_minute=env.int("EVENTS_PER_MINUTE", cls.events_per_minute, validate=_RATE),
                lobby_per_minute=env.int("LOBBY_PER_MINUTE", cls.lobby_per_minute, validate=_RATE),
                streams_per_address=env.int("STREAMS_PER_ADDRESS", None, validate=Range(1, 16384)),
                trusted_proxies=_read("TRUSTED_PROXIES", env.str("TRUSTED_PROXIES", ""), Proxies.read),
                api_keys=_read("API_KEYS", env.str("API_KEYS", ""), api_keys),
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


def _installed(otel: bool) -> None:
    if otel and not find_spec("opentelemetry"):
        raise ValidationError("Needs the extra: pip install 'croupier[otel]'.")


def _read(name: str, text: str, read: Callable[[str], T]) -> T:
    try:
        return read(text)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}") from None


def _store_url(url: str) -> None:
    # The message must not repeat the URL, which may hold a password.
    if url.partition("://")[0] not in _SCHEMES:
        raise ValidationError(f"Must start with one of: {', '.join(f'{scheme}://' for scheme in _SCHEMES)}.")
