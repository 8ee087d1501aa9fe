"""Histories: what clients asked and were told, and when, held against the log that is left of it in the store."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from time import monotonic
from typing import Any, Literal, NamedTuple

from msgspec.msgpack import decode

from engine.play import TIME
from service.records import Entry, Repeat
from tests.stored import Stored, key

Kind = Literal["move", "repeat", "read", "frame"]
Log = Sequence[tuple[str, ...]]
"""Who claims each version, by the names of their moves: one, if all is well; TIME claims what it decided."""


class Told(NamedTuple):
    """A status and what came with it; 0 where the line was cut."""

    status: int
    body: Any = None

    @property
    def sure(self) -> bool:
        """Whether the client knows what has become of his request."""
        return self.status not in (0, 502, 503, 504)


class Call(NamedTuple):
    """What a client asked, and the version he was told: 0 where nothing was made, None where he cannot know.

    Times are in seconds by one clock.
    """

    kind: Kind
    began: float
    ended: float
    version: int | None
    name: str = ""


class History:
    """What was asked of one session, by however many at once."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def move(self, name: str, attempts: Iterable[Told]) -> Told:
        """Send a move, again while it is not known what became of it; its name is its key."""
        began, unsure, told = monotonic(), False, Told(0)
        for told in attempts:
            if told.sure:
                break
            unsure = True
        # One that was refused after all may still be on its way to the store, and one that costs a penalty is logged.
        unknown = unsure or (told.status == 409 and "penalty_until" in told.body)
        version = told.body["version"] if told.status == 200 else None if unknown else 0
        self.calls.append(Call("move", began, inf if version is None else monotonic(), version, name))
        return told

    def repeat(self, name: str, told: Told) -> None:
        """Note what an answered move was answered when it was sent again."""
        if told.status == 200:
            self.calls.append(Call("repeat", -inf, inf, told.body["version"], name))

    def read(self, began: float, told: Told) -> None:
        """Note what was seen by who began to ask then."""
        if told.status == 200:
            self.calls.append(Call("read", began, monotonic(), told.body["version"]))

    def frame(self, version: int) -> None:
        """Note what a stream has just told; it may have been on its way for long."""
        self.calls.append(Call("frame", -inf, monotonic(), version))

    def faults(self, log: Log) -> list[str]:
        """Return all that should not be."""
        places = _places(log)
        calls = [_placed(call, places) for call in self.calls]
        return [*_log_faults(log, places, calls), *_answer_faults(calls, places), *_order_faults(calls)]


def kept(stored: Stored, session: str) -> Log:
    """Return the log of a session, its moves named by the keys that they were sent with."""
    entries, claims = stored.entries(session), defaultdict[int, list[str]](list)
    for field, record in stored.command("HGETALL", key(session, "keys")).items():
        claims[decode(record, type=Repeat).version].append(field.decode().rpartition(":")[2])
    assert int(stored.command("HGET", key(session, "state"), "version")) == len(entries), "a version without a line"
    return [_claimed(entry, claims[version]) for version, entry in enumerate(entries, start=1)]


def _claimed(entry: Entry, names: list[str]) -> tuple[str, ...]:
    return (*names, *((TIME,) if entry.by == TIME else ()))


def _places(log: Log) -> dict[str, list[int]]:
    found = defaultdict[str, list[int]](list)
    for version, names in enumerate(log, start=1):
        for name in names:
            found[name].append(version)
    return found


def _placed(call: Call, places: dict[str, list[int]]) -> Call:
    """Return a call with the version that it made, also where the client was never told."""
    if call.version is not None or not places.get(call.name):
        return call
    return call._replace(version=places[call.name][0])


def _log_faults(log: Log, places: dict[str, list[int]], calls: Sequence[Call]) -> Iterator[str]:
    for version, names in enumerate(log, start=1):
        if len(names) != 1:
            yield f"version {version} is claimed by {' and '.join(names) or 'nobody'}"
    sent = {call.name for call in calls if call.kind == "move"} | {TIME}
    for name, found in places.items():
        if name not in sent:
            yield f"{name} was never sent, and is in the log"
        if name != TIME and len(found) > 1:
            yield f"{name} is in the log {len(found)} times"


def _answer_faults(calls: Sequence[Call], places: dict[str, list[int]]) -> Iterator[str]:
    for call in calls:
        if call.kind in ("move", "repeat") and call.version is not None:
            wanted = [call.version] if call.version else []
            if (found := places.get(call.name, [])) != wanted:
                yield f"{call.kind} {call.name} was answered {wanted}, and is at {found}"


def _order_faults(calls: Sequence[Call]) -> Iterator[str]:
    """Yield each move in or before a version that was known before it was sent, and each read of an earlier one."""
    known = sorted((call.ended, call.version) for call in calls if call.version and call.kind != "repeat")
    ends = [ended for ended, _ in known]
    highest = [0, *accumulate((version for _, version in known), max)]
    for call in calls:
        floor = highest[bisect_left(ends, call.began)]
        if call.kind == "move" and call.version and call.version <= floor:
            yield f"move {call.name} made version {call.version}, and {floor} was known before it was sent"
        if call.kind == "read" and call.version is not None and call.version < floor:
            yield f"a read told version {call.version}, and {floor} was known before"
