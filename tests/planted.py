"""Faults to put into the store's scripts, so that the tests that must find them can be seen to."""

import copy
import hashlib
from collections.abc import Mapping

import pytest

from service import store

MISSING = b"if not version then return 'missing' end"
CONFLICT = b"if version ~= ARGV[1] then return 'conflict' end"
RECORDED = b"if ARGV[4] ~= '' and redis.call('HEXISTS', KEYS[3], ARGV[4]) == 1 then return 'recorded' end"
RECORD = b"if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[5]) end"


def commit_with(monkeypatch: pytest.MonkeyPatch, lines: Mapping[bytes, bytes]) -> None:
    """Put other lines in the place of some of the commit script's."""
    script = copy.copy(store.COMMIT)
    for line, other in lines.items():
        assert line in script.source, "the script has no such line any more"
        script.source = script.source.replace(line, other)
    script.sha = hashlib.sha1(script.source, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(store, "COMMIT", script)
