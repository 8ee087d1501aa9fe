"""Copies a running store's data into an archive: python deploy/backup.py ARCHIVE.tar.gz DIRECTORY URL."""

import sys
import tarfile
import time
from pathlib import Path

from redis import Redis

PARTS = "appendonlydir"
REWRITES = "auto-aof-rewrite-percentage"
PAUSE_SECONDS = 0.1


def back_up(archive: Path, directory: Path, url: str) -> None:
    """Write the log of all changes, as it is now, into a new file that only its owner reads (FileExistsError)."""
    archive.touch(mode=0o600, exist_ok=False)
    with Redis.from_url(url, decode_responses=True) as store:
        before = store.config_get(REWRITES)
        # A log that is written anew meanwhile would be copied half from the old parts and half from the new.
        store.config_set(REWRITES, 0)
        try:
            _await_rewrites(store)
            _copy(directory / PARTS, archive)
        finally:
            store.config_set(REWRITES, before[REWRITES])


def _await_rewrites(store: "Redis") -> None:
    while any(store.info("persistence")[f"aof_rewrite_{state}"] for state in ("in_progress", "scheduled")):
        time.sleep(PAUSE_SECONDS)


def _copy(parts: Path, archive: Path) -> None:
    """Copy each part as long as it is by then; a command that is cut short at its end is dropped on reading."""
    with tarfile.open(archive, "w:gz") as copy:
        copy.add(parts, PARTS)


if __name__ == "__main__":
    back_up(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
