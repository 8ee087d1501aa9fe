"""Sessions: opened, looked at, acted in and deleted; no HTTP and no Redis here.

Every change is worked out from what was loaded and committed against its version; a lost race is
worked out anew. Whatever is retried is behind the idempotency record.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from engine import play, seating
from engine.advice import BOTS
from engine.game import PERSON, Action, Event, Illegal, Move, NotYours, Score
from engine.play import HOST, SEAT, TIME
from service import records
from service.connection import StoreAway
from service.limits import OFF, Counted, Limited, Limits, Pace
from service.records import KEPT_MS, Entry, Newer, Record, Repeat, Seen, Viewer
from service.schemas import Create
from service.store import Change, Deadline, Loaded, Verdict
from service.wakes import Wakes

MOST_RACES = 8
PORTION = 1000
"""How many consequences of time one commit writes down; a table left alone for a day may owe thousands."""
ID_BYTES, TOKEN_BYTES, SECRET_BYTES = 16, 32, 64
TICKET_MS = 3600 * 1000
NOTHING = b""

Body = Mapping[str, Any]
_Admit = Callable[[Loaded], Record]


class Store(Protocol):
    """What sessions ask of a store; every call may raise `StoreAway`."""

    def open(self, session: str, blob: bytes, drop_at: int, deadline: Deadline) -> bool: ...
    def load(self, session: str, field: str, deadline: Deadline, counted: Counted | None = None) -> Loaded: ...
    def count(self, client: str, pace: Pace, deadline: Deadline) -> int: ...
    def commit(self, session: str, change: Change, deadline: Deadline) -> Verdict: ...
    def log(self, session: str, first: int, last: int, deadline: Deadline) -> list[bytes]: ...
    def marks(self, session: str, version: int, deadline: Deadline) -> Sequence[bytes]: ...
    def confirm(self, session: str, field: str, deadline: Deadline) -> None: ...
    def ready(self, deadline: Deadline) -> None: ...
    def ticket(self, session: str, name: str, deadline: Deadline) -> bytes | None: ...
    def put_ticket(self, session: str, name: str, owner: bytes, keep: int, deadline: Deadline) -> None: ...
    def enlist(self, place: str, deadline: Deadline) -> None: ...
    def delist(self, place: str, deadline: Deadline) -> None: ...
    def lobby(self, after: str, most: int, deadline: Deadline) -> Sequence[str]: ...
    def wakes(self) -> Wakes: ...


class UnknownSession(Exception):
    """No such session: never opened, or dropped long after its end."""


class Gone(Exception):
    """The session is over: expired or deleted."""


class Unauthorized(Exception):
    """A token is needed and missing, or given and wrong."""


class Forbidden(Exception):
    """The token is right and does not allow this, in the session that was seen."""

    def __init__(self, refusal: NotYours, seen: Seen) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal
        self.seen = seen


class KeyReused(Exception):
    """The idempotency key was used for another request."""


class Busy(Exception):
    """Too many races were lost; nothing of the request was done."""


class CatchingUp(Busy):
    """More was due than one request has time for; what it wrote down of that stays, and nothing else was done."""


class VersionMismatch(Exception):
    """The session is at another version than `If-Match` asks for."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen


class Refused(Exception):
    """The rules refuse the action; `seen` holds what is possible instead."""

    def __init__(self, illegal: Illegal, seen: Seen) -> None:
        super().__init__(illegal.detail)
        self.illegal = illegal
        self.seen = seen


class Opened(Struct, frozen=True):
    """A new session and its secrets, told this once; a seat that is nobody's has no token."""

    seen: Seen
    tokens: dict[int, str]
    host_token: str


class Request(Struct, frozen=True):
    """An action asked of a session; `matches` says whether If-Match allows a version."""

    verb: str
    token: str | None
    body: Callable[[str], Body]
    """Gives the checked body for a game; raises for one that is malformed."""
    key: str | None = None
    digest: bytes = NOTHING
    matches: Callable[[int], bool] = lambda _version: True


class Acted(Struct, frozen=True):
    """What an action came to; `seat` and `token` are told when a seat was given to somebody."""

    seen: Seen
    refusal: Illegal | None = None
    seat: int | None = None
    token: str | None = None


class Sessions:
    """All sessions of one store, for one request: whatever is asked of the store has ended by the same deadline."""

    def __init__(self, store: Store, limits: Limits = OFF) -> None:
        self.game = "none"
        """The game of the session that is acted in or opened, once it is known."""
        self._store = store
        self._limits = limits
        self._deadline = Deadline()

    def open(self, asked: Create) -> Opened:
        """Open a session; raise `Invalid` for options that the game does not take."""
        session = secrets.token_urlsafe(ID_BYTES)
        now = self._store.load(session, "", self._deadline).now
        game, options, seats, public = asked
        self.game = game
        position = play.open_table(game, session, secrets.token_bytes(SECRET_BYTES), seats, options)
        persons = [number for number, seat in enumerate(seats) if seat.kind == PERSON]
        tokens = {seat: secrets.token_urlsafe(TOKEN_BYTES) for seat in persons}
        host = secrets.token_urlsafe(TOKEN_BYTES)
        record = Record(
            version=0,
            opened_at=now,
            moved_at=now,
            expires_at=now + records.DAY_MS,
            public=public,
            host=records.hashed(host),
            tokens=tuple(records.hashed(tokens[seat]) if seat in tokens else NOTHING for seat in range(len(seats))),
            options={name: value for name, value in play.chosen_options(game, options).items() if value is not None},
            opening=seats,
            position=position,
            rules=play.game_of(position).spec.rules_version,
        )
        if not self._store.open(session, records.encode(record), record.expires_at + KEPT_MS, self._deadline):
            raise Busy
        viewer = Viewer(persons[0]) if len(persons) == 1 else Viewer(host=True, opened=True)
        seen = Seen(session, record, viewer, now)
        self.keep_listed(seen)
        return Opened(seen, tokens, host)

    def look(self, session: str, token: str | None) -> Seen:
        """Return the session as the token's owner sees it, or a spectator; what was due is written down."""
        return self._read(session, _hash_of(token), _live)

    def look_by_ticket(self, session: str, ticket: str, token: str | None) -> Seen:
        """Return the session as the owner of the token sees it that the ticket was made with; raise `Unauthorized`.

        A token that comes beside the ticket decides nothing, but a wrong one is refused.
        """
        owner = self._store.ticket(session, records.hashed(ticket).hex(), self._deadline)
        if owner is None:
            self._read(session, None, _live, counted=False)  # no session at all, or one that is over, is said first
            raise Unauthorized("This ticket is not one of this session's, or is too old.")
        seen = self._read(session, owner, _live)
        _viewer(seen.record, _hash_of(token))
        return seen

    def ticket(self, session: str, token: str | None, check: Callable[[], object]) -> tuple[Seen, str]:
        """Return a fresh ticket: for an hour it reads what the token reads, as long as that is valid.

        Raises UnknownSession, Gone, Unauthorized, what `check` raises.
        """
        if token is None:
            self._read(session, None, _live, counted=False)
            raise Unauthorized("This needs a token of this session.")
        seen = self.look(session, token)
        check()
        ticket = secrets.token_urlsafe(TOKEN_BYTES)
        name = records.hashed(ticket).hex()
        self._store.put_ticket(session, name, records.hashed(token), TICKET_MS, self._deadline)
        return seen, ticket

    def lobby(self, after: str, most: int) -> tuple[list[Seen], str | None]:
        """Return a page of the public sessions that are not over, newest first, and where the next one begins.

        The index is a hint: what is over is dropped from it here, and what it lost a read puts back.
        """
        places = self._store.lobby(after, most, self._deadline)
        found = []
        for place in places:
            session = records.listed(place)
            with suppress(Newer):  # it stays listed, for those who know what it is
                seen = _as_stored(session, self._store.load(session, "", self._deadline))
                if seen and seen.record.public and not seen.over():
                    found.append(seen)
                else:
                    self._store.delist(place, self._deadline)
        return found, places[-1] if len(places) == most else None

    def score(self, session: str, token: str | None, check: Callable[[], object]) -> tuple[Seen, Score]:
        """Return the score sheet, also after the session's end; raise `Refused` where none is.

        Raises UnknownSession, Unauthorized, what `check` raises, Refused.
        """
        seen = self._read(session, _hash_of(token), _stored)
        check()
        try:
            return seen, play.score(seen.record.position, seen.viewer.seat)
        except Illegal as illegal:
            raise Refused(illegal, seen) from illegal

    def act(self, session: str, request: Request) -> Acted:
        """Play an action, once for its key; return the mover's new view.

        Raises UnknownSession, Gone, Unauthorized, Limited, KeyReused, what `request.body` raises,
        Forbidden, VersionMismatch, Refused, Busy, CatchingUp.
        """
        field = _field(request)
        counted = self._limits.counted("moves", _hash_of(request.token)) if request.token is not None else None
        lost = 0
        while lost < MOST_RACES:
            loaded, counted = self._store.load(session, field, self._deadline, counted), None
            record = _live(loaded)
            self.game = record.position.game
            seen = Seen(session, record, _asker(record, request), loaded.now)
            if loaded.record is not None:
                return self._again(seen, records.decode_repeat(loaded.record), request)
            self._must_not_wait("moves", seen, loaded)
            acted, change = _worked_out(seen, request, field)
            if acted is None:
                self._catch_up(session, change)
            elif self._committed(session, change):
                return acted
            else:
                lost += 1
        raise Busy

    def follow(self, session: str) -> Seen:
        """Return the session as a spectator sees it, over or not, with what was due written down."""
        return self._read(session, None, _stored, counted=False)

    def count(self, client: str, pace: Pace) -> None:
        """Count one more request of a client; raise `Limited`."""
        if wait := self._store.count(client, pace, self._deadline):
            raise Limited(pace, wait)

    def entries(self, session: str, first: int, last: int) -> list[Entry]:
        """Return the log from one version to another; raise `UnknownSession` if it was dropped in this very moment."""
        if last < first:
            return []
        lines = self._store.log(session, first, last, self._deadline)
        if len(lines) <= last - first:
            raise UnknownSession
        return [records.decode_entry(line) for line in lines]

    def at(self, seen: Seen, version: int) -> Record:
        """Return the record as it was at a version, replayed from the nearest that was kept before it."""
        base = self._kept(seen, version)
        return self._replayed(seen, base, self.entries(seen.session, base.version + 1, version))

    def _kept(self, seen: Seen, version: int) -> Record:
        """Return the nearest record that was kept before a version, or the opening's."""
        kept = map(records.decode_record, self._store.marks(seen.session, version, self._deadline))
        found = next((record for record in kept if record.version <= version), None)
        return found or records.opening(seen.session, seen.record)

    def _replayed(self, seen: Seen, base: Record, entries: Sequence[Entry]) -> Record:
        return replace(records.after(base, entries), tokens=seen.record.tokens)

    def keep_listed(self, seen: Seen) -> None:
        """Put a public session back into the lobby's index, should it have got lost."""
        if seen.record.public and not seen.over():
            with suppress(StoreAway):  # the index is a hint: the session lives on without it
                self._store.enlist(records.place(seen.session, seen.record), self._deadline)

    def ready(self) -> None:
        """Raise `StoreAway` unless the store answers, and as it should."""
        self._store.ready(self._deadline)

    def _read(self, session: str, owner: bytes | None, admit: _Admit, *, counted: bool = True) -> Seen:
        """Return the session with what is due settled, and committed if anything was (C-5); raise `Limited`."""
        as_what = self._limits.counted("reads", owner) if counted else None
        lost = 0
        while lost < MOST_RACES:
            loaded, as_what = self._store.load(session, "", self._deadline, as_what), None
            record = admit(loaded)
            seen = Seen(session, record, _viewer(record, owner), loaded.now)
            self._must_not_wait("reads", seen, loaded)
            seen, due = _settled(seen)
            if not due:
                return seen
            change = _change(record, seen.record, due)
            if len(due) == PORTION:
                self._catch_up(session, change)
            elif self._committed(session, change):
                return seen
            else:
                lost += 1
        raise Busy

    def _must_not_wait(self, name: str, seen: Seen, loaded: Loaded) -> None:
        """Raise `Limited` for a request beyond its limit."""
        if loaded.wait:
            raise Limited(self._limits.of_seat(name, seen.record.position.game), loaded.wait)

    def _catch_up(self, session: str, change: Change) -> None:
        """Write a portion of what is due down, unless another has; raise `CatchingUp` when the time is used up."""
        if self._deadline.allows_a_call():
            self._committed(session, change)
        if not self._deadline.allows_a_call():
            raise CatchingUp

    def _committed(self, session: str, change: Change) -> bool:
        """Commit; return false for a lost race, also one lost to the same request sent twice."""
        verdict = self._store.commit(session, change, self._deadline)
        if verdict == "missing":
            raise UnknownSession
        return verdict == "committed"

    def _again(self, seen: Seen, repeat: Repeat, request: Request) -> Acted:
        """Make the first answer again from the log; raise `KeyReused` for another request."""
        if not hmac.compare_digest(repeat.request, request.digest):
            raise KeyReused
        self._store.confirm(seen.session, _field(request), self._deadline)
        base = self._kept(seen, repeat.version - 1)
        *earlier, last = self.entries(seen.session, base.version + 1, repeat.version)
        before = self._replayed(seen, base, earlier)
        record, step = records.stepped(before, last)
        viewer = _viewer(record, _hash_of(request.token))
        seen = replace(seen, record=record, viewer=viewer, events=last.events, replayed=True)
        return Acted(seen, step.refusal if step else None)


def _worked_out(seen: Seen, request: Request, field: str) -> tuple[Acted | None, Change]:
    """Return what a request comes to, and what to write for it; raise what refuses it.

    Where more is due than one commit writes down, the request has to wait for the next: it comes to nothing yet.
    """
    base = seen.record
    body = dict(request.body(base.position.game))
    seen, entries = _settled(seen)
    if len(entries) == PORTION:
        return None, _change(base, seen.record, entries)
    by = _by(seen, Action(request.verb, body))
    if by == SEAT and request.verb == "leave":
        body.pop("seat", None)  # its own
    if not request.matches(seen.record.version):
        raise VersionMismatch(seen)
    at = max(seen.now, seen.record.moved_at)
    move = Move(seen.viewer.seat if by == SEAT else None, Action(request.verb, body), at)
    try:
        acted, entry = _ruled(seen, by, move)
    except Illegal as illegal:
        raise Refused(illegal, seen) from illegal
    return acted, _change(base, acted.seen.record, [*entries, entry], field, request.digest)


def _by(seen: Seen, action: Action) -> str:
    """Return whether the seat or the host asks; raise `Forbidden` where the viewer is not who may."""
    try:
        return seating.asker(seen.record.position, seen.viewer.seat, action, host=seen.viewer.host)
    except NotYours as refusal:
        raise Forbidden(refusal, seen) from refusal


def _ruled(seen: Seen, by: str, move: Move) -> tuple[Acted, Entry]:
    """Return what the rules, or the house, make of an action; raise `Illegal`."""
    position, verb = seen.record.position, move.action.verb
    if verb in play.SEAT_VERBS or (verb == "leave" and by == HOST):
        bots = position.game in BOTS
        seating.must_be_offered(position, seen.viewer.seat, move.action, host=seen.viewer.host, bots=bots)
    match verb:
        case "join":
            return _joined(seen, by, move)
        case "token":
            return _reissued(seen, move)
        case "delete":
            return _acted(seen, Entry(HOST, move, (Event("deleted"),)), position)
    step = (play.host_acts if by == HOST else play.advance)(position, move)
    acted, entry = _acted(seen, Entry(by, step.move, step.events), step.position)
    return replace(acted, refusal=step.refusal), entry


def _acted(seen: Seen, entry: Entry, position: play.Position) -> tuple[Acted, Entry]:
    """Return the session after an entry, for whoever caused it."""
    viewer = records.viewing(seen.viewer, position)
    record = records.moved(seen.record, entry, position)
    return Acted(replace(seen, record=record, viewer=viewer, events=entry.events)), entry


def _joined(seen: Seen, by: str, move: Move) -> tuple[Acted, Entry]:
    """Give an open seat away, the first if none is named: a person gets its token, a bot needs none (C-9)."""
    position, body = seen.record.position, dict(move.action.body)
    seat = body.pop("seat", play.open_seats(position)[0])
    kind = "Bot" if by == HOST else "Player"
    body.setdefault("name", f"{kind} {seat + 1}")
    step = play.join(position, Move(seat, Action("join", body), move.at))
    acted, entry = _acted(seen, Entry(by, step.move, step.events), step.position)
    if by == HOST:
        return replace(acted, seat=seat), entry
    return _with_token(replace(acted, seen=replace(acted.seen, viewer=Viewer(seat))), seat), entry


def _reissued(seen: Seen, move: Move) -> tuple[Acted, Entry]:
    """Give a person's seat a fresh token; the old one is void."""
    seat = move.action.body["seat"]
    acted, entry = _acted(seen, Entry(HOST, move, (Event("reissued", seat),)), seen.record.position)
    return _with_token(acted, seat), entry


def _with_token(acted: Acted, seat: int) -> Acted:
    """Return what came of an action, with a new token for the seat; the record keeps its hash."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    record = acted.seen.record
    tokens = (*record.tokens[:seat], records.hashed(token), *record.tokens[seat + 1 :])
    return Acted(replace(acted.seen, record=replace(record, tokens=tokens)), seat=seat, token=token)


def _settled(seen: Seen) -> tuple[Seen, list[Entry]]:
    """Return the session after what was due up to now, or up to its end, and the log of that (C-5)."""
    record = seen.record
    position = record.position
    until = min(seen.now, record.expires_at - 1)
    steps = play.settle(position, until, BOTS.get(position.game, {}), PORTION)
    entries = [Entry(TIME, step.move, step.events) for step in steps]
    for entry, step in zip(entries, steps, strict=True):
        record = records.moved(record, entry, step.position)
    return replace(seen, record=record), entries


def _change(base: Record, after: Record, entries: list[Entry], field: str = "", request: bytes = NOTHING) -> Change:
    """Return what to write so that the session goes from one record to the other."""
    return Change(
        base=base.version,
        blob=records.encode(after),
        drop_at=after.expires_at + KEPT_MS,
        entries=tuple(map(records.encode, entries)),
        field=field,
        record=records.encode(Repeat(after.version, request)) if field else NOTHING,
    )


def _as_stored(session: str, loaded: Loaded) -> Seen | None:
    """Return a session for a spectator as it is stored: what is due is left to whoever looks at that one."""
    return Seen(session, records.decode_record(loaded.blob), Viewer(), loaded.now) if loaded.blob else None


def _stored(loaded: Loaded) -> Record:
    """Return the stored record; raise `UnknownSession` where there is none."""
    if loaded.blob is None:
        raise UnknownSession
    return records.decode_record(loaded.blob)


def _live(loaded: Loaded) -> Record:
    """Return the record of a session that is not over; raise `Gone` for one that is."""
    record = _stored(loaded)
    if record.expired(loaded.now):
        raise Gone
    return record


def _hash_of(token: str | None) -> bytes | None:
    return None if token is None else records.hashed(token)


def _viewer(record: Record, owner: bytes | None) -> Viewer:
    """Return who looks: the owner of the token with this hash, or without one a spectator."""
    if owner is None:
        return Viewer()
    viewer = records.viewer_of(record, owner)
    if viewer is None:
        raise Unauthorized("This token is not one of this session's.")
    return viewer


def _asker(record: Record, request: Request) -> Viewer:
    """Return who asks; only a newcomer needs no token."""
    if request.token is None and request.verb != "join":
        raise Unauthorized("This needs a token of this session.")
    return _viewer(record, _hash_of(request.token))


def _field(request: Request) -> str:
    """Return the name of a request's idempotency record: its token, verb and key.

    A join and a reissue have none: their answer holds a token, which is kept nowhere.
    """
    if request.key is None or request.token is None or request.verb in ("join", "token"):
        return ""
    return f"{records.hashed(request.token).hex()}:{request.verb}:{request.key}"
