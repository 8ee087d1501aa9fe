"""Sessions: opened, looked at, acted in and deleted; no HTTP and no Redis here.

Every change is worked out from what was loaded and committed against its version; a lost race is
worked out anew. Whatever is retried is behind the idempotency record.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder
from msgspec.structs import replace

from engine import play
from engine.game import Action, Event, Illegal, Move, Offer, Score
from service.store import Change, Deadline, Loaded, Verdict

DAY_MS = 24 * 3600 * 1000
KEPT_MS = 7 * DAY_MS
"""How long a session's keys outlive it (design: `score` and `proof` still answer)."""
MOST_RACES = 8
ID_BYTES = 16

Body = Mapping[str, Any]


class Store(Protocol):
    """What sessions ask of a store; every call may raise `StoreAway`."""

    def open(self, session: str, blob: bytes, drop_at: int, deadline: Deadline) -> bool: ...
    def load(self, session: str, field: str, deadline: Deadline) -> Loaded: ...
    def commit(self, session: str, change: Change, deadline: Deadline) -> Verdict: ...
    def log(self, session: str, count: int, deadline: Deadline) -> list[bytes]: ...
    def now(self, deadline: Deadline) -> int: ...


class UnknownSession(Exception):
    """No such session: never opened, or dropped long after its end."""


class Gone(Exception):
    """The session is over: expired or deleted."""


class Unauthorized(Exception):
    """A token is needed and missing, or given and wrong."""


class Forbidden(Exception):
    """The token is right and does not allow this."""


class KeyReused(Exception):
    """The idempotency key was used for another request."""


class Busy(Exception):
    """Too many races were lost; nothing was written."""


class VersionMismatch(Exception):
    """The session is at another version than `If-Match` asks for."""

    def __init__(self, seen: "Seen") -> None:
        super().__init__()
        self.seen = seen


class Refused(Exception):
    """The rules refuse the action; `seen` holds what is possible instead."""

    def __init__(self, illegal: Illegal, seen: "Seen") -> None:
        super().__init__(illegal.detail)
        self.illegal = illegal
        self.seen = seen


class Entry(Struct, frozen=True, array_like=True):
    """One version's line in the log; `by` is seat, host or time (what was due)."""

    by: str
    move: Move
    events: tuple[Event, ...] = ()


class Record(Struct, frozen=True):
    """A session as stored. Times are in ms; of tokens only the SHA-256 is kept."""

    version: int
    opened_at: int
    moved_at: int
    expires_at: int
    host: bytes
    tokens: tuple[bytes, ...]
    options: dict[str, Any]
    position: play.Position


class Repeat(Struct, frozen=True, array_like=True):
    """An idempotency record: the version that the request made, and the request's hash."""

    version: int
    request: bytes


class Viewer(Struct, frozen=True):
    """Who looks: a seat, the host, or neither."""

    seat: int | None = None
    host: bool = False


class Seen(Struct, frozen=True):
    """A session at one version, as one viewer is to see it; `events` after a move."""

    session: str
    record: Record
    viewer: Viewer
    now: int
    events: tuple[Event, ...] | None = None
    replayed: bool = False

    def over(self) -> bool:
        """Return whether the session has expired or was deleted."""
        return max(self.now, self.record.moved_at) >= self.record.expires_at

    def view(self) -> play.View:
        """Return what the viewer may know."""
        return play.view(self.record.position, self.viewer.seat)

    def offers(self) -> tuple[Offer, ...]:
        """Return what the viewer's seat may do."""
        seat = self.viewer.seat
        return () if seat is None else play.offers(self.record.position, seat)


class Opened(Struct, frozen=True):
    """A new session and its secrets, told this once."""

    seen: Seen
    tokens: tuple[str, ...]
    host_token: str


class Request(Struct, frozen=True):
    """An action asked of a session; `matches` says whether If-Match allows a version."""

    verb: str
    token: str | None
    body: Callable[[str], Body]
    """Gives the checked body for a game; raises for one that is malformed."""
    key: str | None
    digest: bytes
    matches: Callable[[int], bool]


_ENCODE = Encoder().encode
_RECORD: Decoder[Record] = Decoder(Record)
_ENTRY: Decoder[Entry] = Decoder(Entry)
_REPEAT: Decoder[Repeat] = Decoder(Repeat)


class Sessions:
    """All sessions of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, game: str, options: Body, names: tuple[str, ...]) -> Opened:
        """Open a session; raise `Invalid` for options that the game does not take."""
        deadline = Deadline()
        now = self._store.now(deadline)
        session = secrets.token_urlsafe(ID_BYTES)
        seats = tuple(play.Seat(name) for name in names)
        position = play.open_table(game, session, secrets.token_bytes(64), seats, options)
        tokens = tuple(secrets.token_urlsafe(32) for _ in seats)
        host = secrets.token_urlsafe(32)
        record = Record(
            version=0,
            opened_at=now,
            moved_at=now,
            expires_at=now + DAY_MS,
            host=_hash(host),
            tokens=tuple(map(_hash, tokens)),
            options=play.chosen_options(game, options),
            position=position,
        )
        if not self._store.open(session, _ENCODE(record), record.expires_at + KEPT_MS, deadline):
            raise Busy
        return Opened(Seen(session, record, Viewer(0), now), tokens, host)

    def look(self, session: str, token: str | None) -> Seen:
        """Return the session as the token's owner sees it, or a spectator."""
        loaded = self._store.load(session, "", Deadline())
        record = _live(loaded)
        return Seen(session, record, _viewer(record, token), loaded.now)

    def score(self, session: str, token: str | None, check: Callable[[], object]) -> tuple[Seen, Score]:
        """Return the score sheet, also after the session's end; raise `Refused` where none is.

        Raises UnknownSession, Unauthorized, what `check` raises, Refused.
        """
        loaded = self._store.load(session, "", Deadline())
        record = _record(loaded)
        seen = Seen(session, record, _viewer(record, token), loaded.now)
        check()
        try:
            return seen, play.score(record.position, seen.viewer.seat)
        except Illegal as illegal:
            raise Refused(illegal, seen) from illegal

    def act(self, session: str, request: Request) -> Seen:
        """Play an action, once for its key; return the mover's new view.

        Raises UnknownSession, Gone, Unauthorized, KeyReused, what `request.body` raises,
        Forbidden, VersionMismatch, Refused, Busy.
        """
        deadline = Deadline()
        field = _field(request)
        for _ in range(MOST_RACES):
            loaded = self._store.load(session, field, deadline)
            record = _live(loaded)
            seen = Seen(session, record, _holder(record, request.token), loaded.now)
            if loaded.record is not None:
                return self._again(seen, _REPEAT.decode(loaded.record), request, deadline)
            acted, change = _worked_out(seen, request, field)
            if self._committed(session, change, deadline):
                return acted
        raise Busy

    def delete(self, session: str, token: str | None, check: Callable[[], object]) -> Seen:
        """End a session for its host: it is over from now on.

        Raises UnknownSession, Gone, Unauthorized, what `check` raises, Forbidden, Busy.
        """
        deadline = Deadline()
        for _ in range(MOST_RACES):
            loaded = self._store.load(session, "", deadline)
            record = _live(loaded)
            viewer = _holder(record, token)
            check()
            if not viewer.host:
                raise Forbidden("Only the host's token may delete a session.")
            at = max(loaded.now, record.moved_at)
            ended = replace(record, version=record.version + 1, moved_at=at, expires_at=at)
            entry = Entry("host", Move(None, Action("delete"), at))
            change = Change(record.version, _ENCODE(ended), at + KEPT_MS, (_ENCODE(entry),))
            if self._committed(session, change, deadline):
                return Seen(session, ended, viewer, loaded.now)
        raise Busy

    def ready(self) -> None:
        """Raise `StoreAway` unless the store answers."""
        self._store.now(Deadline())

    def _committed(self, session: str, change: Change, deadline: Deadline) -> bool:
        """Commit; return false for a lost race, also one lost to the same request sent twice."""
        verdict = self._store.commit(session, change, deadline)
        if verdict == "missing":
            raise UnknownSession
        return verdict == "committed"

    def _again(self, seen: Seen, repeat: Repeat, request: Request, deadline: Deadline) -> Seen:
        """Make the first answer again from the log; raise `KeyReused` for another request."""
        if not hmac.compare_digest(repeat.request, request.digest):
            raise KeyReused
        lines = self._store.log(seen.session, repeat.version, deadline)
        if len(lines) < repeat.version:
            raise UnknownSession  # dropped in this very moment
        entries = [_ENTRY.decode(line) for line in lines]
        record = as_of(seen.session, seen.record, entries)
        return replace(seen, record=record, events=entries[-1].events, replayed=True)


def as_of(session: str, record: Record, entries: list[Entry]) -> Record:
    """Return the record as it was after these entries, replayed from the session's opening."""
    now = record.position
    seats = tuple(replace(seat, left=False) for seat in now.seats)
    opening = play.open_table(now.game, session, now.secret, seats, record.options)
    times = [entry.move.at for entry in entries]
    asked = [entry.move.at for entry in entries if entry.by == "seat"]
    return replace(
        record,
        version=len(entries),
        moved_at=(times or [record.opened_at])[-1],
        expires_at=(asked or [record.opened_at])[-1] + DAY_MS,
        position=play.replay(opening, (entry.move for entry in entries if entry.by != "host")),
    )


def _worked_out(seen: Seen, request: Request, field: str) -> tuple[Seen, Change]:
    """Return what a request comes to, and what to write for it; raise what refuses it."""
    record, seat = seen.record, seen.viewer.seat
    body = dict(request.body(record.position.game))
    if seat is None:
        raise Forbidden("The host's token holds no seat.")
    now = max(seen.now, record.moved_at)
    due = play.settle(record.position, now, {})
    if due:
        record = replace(record, version=record.version + len(due), position=due[-1].position)
    settled = replace(seen, record=record)
    if not request.matches(record.version):
        raise VersionMismatch(settled)
    try:
        step = play.advance(record.position, Move(seat, Action(request.verb, body), now))
    except Illegal as illegal:
        raise Refused(illegal, settled) from illegal
    entries = [Entry("time", each.move, each.events) for each in due]
    entries.append(Entry("seat", step.move, step.events))
    acted = replace(
        record,
        version=record.version + 1,
        moved_at=now,
        expires_at=now + DAY_MS,
        position=step.position,
    )
    change = Change(
        base=seen.record.version,
        blob=_ENCODE(acted),
        drop_at=acted.expires_at + KEPT_MS,
        entries=tuple(map(_ENCODE, entries)),
        field=field,
        record=_ENCODE(Repeat(acted.version, request.digest)),
    )
    return replace(seen, record=acted, events=step.events), change


def _record(loaded: Loaded) -> Record:
    """Return the stored record; raise `UnknownSession` where there is none."""
    if loaded.blob is None:
        raise UnknownSession
    return _RECORD.decode(loaded.blob)


def _live(loaded: Loaded) -> Record:
    """Return the record of a session that is not over; raise `Gone` for one that is."""
    record = _record(loaded)
    if max(loaded.now, record.moved_at) >= record.expires_at:  # a clock that goes back revives nothing
        raise Gone
    return record


def _viewer(record: Record, token: str | None) -> Viewer:
    """Return whose token it is, compared in constant time; none: a spectator."""
    if token is None:
        return Viewer()
    digest = _hash(token)
    if hmac.compare_digest(digest, record.host):
        return Viewer(host=True)
    for seat, known in enumerate(record.tokens):
        if hmac.compare_digest(digest, known):
            return Viewer(seat)
    raise Unauthorized("This token is not one of this session's.")


def _holder(record: Record, token: str | None) -> Viewer:
    """Return whose token it is where one is needed."""
    if token is None:
        raise Unauthorized("This needs a token of this session.")
    return _viewer(record, token)


def _field(request: Request) -> str:
    """Return the name of a request's idempotency record: its token, verb and key."""
    if request.key is None or request.token is None:
        return ""
    return f"{_hash(request.token).hex()}:{request.verb}:{request.key}"


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
