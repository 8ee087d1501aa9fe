"""Starts the service: gunicorn alone over a store that REDIS_URL names, else an embedded store and gunicorn over it."""

import contextlib
import errno
import importlib.util
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from service import fitness, metrics
from service.cluster import reach
from service.connection import StoreAway, store_errors
from service.embedded import OLDEST, StoreError, StoreProcess, die_with_parent, start_store
from service.settings import Settings, SettingsError

GRACE = 12.0
"""Seconds that gunicorn has to end, more than its own graceful time-out."""
STEADY = 60.0
"""Seconds a store must have run for its death to count as the first."""
LONGEST_PAUSE = 30.0
"""Seconds between two attempts to start a store that keeps dying."""

_STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


class LaunchError(Exception):
    """The service cannot start; the message is for a person and says what to do."""


class _StoppedError(Exception):
    """A signal asked to stop before everything had started."""


def main() -> int:
    """Serve until told to stop and return the exit code: 0 when told, gunicorn's own, or 2 when nothing started."""
    try:
        settings = Settings.read()
        _require_free(settings)
        if settings.redis_url is None:
            _require_embeddable(settings)
            return _serve_embedded(settings)
        return _serve_alone(settings, settings.redis_url)
    except (SettingsError, LaunchError, StoreError) as error:
        _say(str(error))
        return 2


def _say(text: str) -> None:
    print(f"croupier: {text}", file=sys.stderr, flush=True)  # noqa: T201 - said to whoever started it


def _require_free(settings: Settings) -> None:
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address, family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            other = settings.port % 65535 + 1
            raise LaunchError(f"port {settings.port} is taken; try PORT={other} make run") from None
        raise LaunchError(f"cannot listen on {settings.address}: {error.strerror}") from None


def _require_embeddable(settings: Settings) -> None:
    if settings.store_profile == "durable":
        raise LaunchError("STORE_PROFILE=durable needs a store with replicas; name one in REDIS_URL")


def _require_fit(settings: Settings, url: str) -> None:
    """Refuse a store that is too old or not fit; one that does not answer may come later, and it is 503 until then."""
    try:
        with contextlib.closing(reach(url)) as client, store_errors():
            for node in client.nodes().values():
                _require_recent(str(node.info("server")["redis_version"]))
                if node.info("cluster")["cluster_enabled"] > client.clustered:
                    raise LaunchError("the store of REDIS_URL is run as a cluster; name it by redis+cluster://")
                _require_safe(
                    [*fitness.contradictions(node, settings.store_profile, unchecked=settings.store_unchecked)]
                )
    except ValueError as error:
        raise LaunchError(f"REDIS_URL: {error}") from None
    except fitness.Unfit as error:
        raise LaunchError(f"the store of REDIS_URL cannot be used: {error}") from None
    except StoreAway as error:
        why = str(error).partition(":")[0]
        _say(f"the store of REDIS_URL does not answer ({why}); starting all the same")


def _require_recent(version: str) -> None:
    if int(version.partition(".")[0]) < OLDEST:
        raise LaunchError(
            f"the store of REDIS_URL is Redis {version}; Croupier needs Redis {OLDEST} or newer, or Valkey"
        )


def _require_safe(wrong: list[str]) -> None:
    if wrong:
        raise LaunchError(f"the store of REDIS_URL is not safe: {'; '.join(wrong)}; or set STORE_UNCHECKED=1")


def _server_command(settings: Settings) -> list[str]:
    """Return how the server is started (LaunchError where it is not installed)."""
    if settings.server == "granian":
        if importlib.util.find_spec("granian") is None:
            raise LaunchError("SERVER=granian needs granian: pip install 'croupier[fast]'")
        return [sys.executable, "-m", "service.fast"]
    here = Path(__file__).parent
    # A wheel carries the file beside this one, a checkout has it where operators look for it.
    places = (here.parent / "deploy" / "gunicorn.conf.py", here / "gunicorn.conf.py")
    config = next(place for place in places if place.is_file())
    return [sys.executable, "-m", "gunicorn", "--config", f"file:{config}"]


def _serve_alone(settings: Settings, url: str) -> NoReturn:
    command = _server_command(settings)
    _require_fit(settings, url)
    os.environ[metrics.DIRECTORY] = metrics.fresh_directory()
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _serve_embedded(settings: Settings) -> int:
    command = _server_command(settings)
    signals = _Signals()
    try:
        store = start_store(settings.var_dir / "store", pause=signals.pause)
    except _StoppedError:
        return 0
    _say(f"the store runs; its data are in {store.directory}")
    try:
        return _serve_over(store, command, signals)
    finally:
        store.stop()


def _serve_over(store: StoreProcess, command: list[str], signals: "_Signals") -> int:
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "REDIS_URL": store.url, metrics.DIRECTORY: metrics.fresh_directory()},
        # Ctrl-C in a terminal reaches the launcher alone, which ends the two in their order.
        start_new_session=True,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, looked up before the fork
    )
    name = "granian" if "service.fast" in command else "gunicorn"
    keeper = _Keeper(store)
    stopped = False
    while server.poll() is None and not stopped:
        stopped = signals.wait(keeper.tend())
    _say("stopping" if stopped else f"{name} ended with {_code(server)}; stopping")
    _end(server, signals)
    return _code(server)


def _code(ended: subprocess.Popen[bytes]) -> int:
    """Return an exit code as a shell counts it."""
    code = ended.wait()
    return code if code >= 0 else 128 - code


def _end(server: subprocess.Popen[bytes], signals: "_Signals") -> None:
    """End the server and all its workers, gently at first."""
    server.terminate()
    deadline = time.monotonic() + GRACE
    while server.poll() is None and time.monotonic() < deadline:
        if signals.wait(deadline - time.monotonic()):
            _say("asked again: ending at once")
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)


class _Signals:
    """Signals as bytes to read, so that one wait hears a request to stop, and a child's end too."""

    def __init__(self) -> None:
        self._heard, told = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        for number in _STOPS:
            # What nohup or a shell's background has set to be ignored stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _nothing)

    def wait(self, seconds: float | None) -> bool:
        """Wait for a signal, at most so long, and tell whether one asked to stop."""
        select.select([self._heard], [], [], seconds)
        try:
            return not _STOPS.isdisjoint(os.read(self._heard, 4096))
        except BlockingIOError:
            return False

    def pause(self, seconds: float) -> None:
        """Sleep so long (_StoppedError when a signal asks to stop)."""
        if self.wait(seconds):
            raise _StoppedError


def _nothing(*_: object) -> None:
    """Let the signal be written to the wake-up pipe, which happens only where there is a handler."""


class _Keeper:
    """Starts the store again when it died, after a pause that doubles with every death in a row."""

    def __init__(self, store: StoreProcess) -> None:
        self._store = store
        self._since = time.monotonic()
        self._deaths = 0
        self._due: float | None = None
        self._awaited = False

    def tend(self) -> float | None:
        """Do what is due and return the seconds until the next thing is, or None when only a signal matters."""
        if self._store.alive():
            return self._greet()
        if self._due is None:
            self._due = time.monotonic() + self._mourn()
        if (left := self._due - time.monotonic()) > 0:
            return left
        self._due = None
        self._since = time.monotonic()
        return self._start()

    def _greet(self) -> float | None:
        if self._awaited and self._store.ready():
            self._awaited = False
            _say("the store runs again")
        return 0.1 if self._awaited else None

    def _mourn(self) -> float:
        """Count a death and return how many seconds to wait after it."""
        if time.monotonic() - self._since > STEADY:
            self._deaths = 0
        pause = min(0.1 * 2.0**self._deaths, LONGEST_PAUSE)
        self._deaths += 1
        _say(f"the store ended ({self._store.ending()}); starting it again in {pause:.1f} s")
        return pause

    def _start(self) -> float:
        self._awaited = True
        try:
            self._store.start()
        except StoreError as error:
            _say(str(error))
        return 0.1
