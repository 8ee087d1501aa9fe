"""What is stored of a session: its record, its log, and how one entry leads to the next record."""

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, ValidationError, convert
from msgspec.msgpack import Decoder, Encoder, decode
from msgspec.structs import replace

from engine import play
from engine.game import Event, Move
from engine.play import TIME
from service.earlier import LAYOUT, brought_up

DAY_MS = 24 * 3600 * 1000
KEPT_MS = 7 * DAY_MS
"""How long a session's keys outlive it, so that its score still answers."""

_LAST_MS = 10**13 - 1


class Newer(Exception):
    """A later release stored this: what it means cannot be told, and is not guessed."""


class Entry(Struct, frozen=True, array_like=True):
    """One version's line in the log; `by` is seat, host, or time for what was due."""

    by: str
    move: Move
    events: tuple[Event, ...] = ()


class Record(Struct, frozen=True):
    """A session as stored. Times are in ms; of tokens only the SHA-256 is kept, and nothing where there is none."""

    version: int
    opened_at: int
    moved_at: int
    expires_at: int
    public: bool
    host: bytes
    tokens: tuple[bytes, ...]
    options: dict[str, Any]
    opening: tuple[play.Seat, ...]
    position: play.Position
    layout: int = LAYOUT
    rules: int = 1

    @property
    def end(self) -> str | None:
        """Return why nothing more can happen, if that is so: the host deleted the session, or the game's own reason."""
        return "deleted" if self.moved_at >= self.expires_at else self.position.state.finished

    def expired(self, now: int) -> bool:
        """Return whether the session is over at a time (ms); a clock that goes back revives nothing."""
        return max(now, self.moved_at) >= self.expires_at


class Repeat(Struct, frozen=True, array_like=True):
    """An idempotency record: the version that the request made, and the request's hash."""

    version: int
    request: bytes


class Viewer(Struct, frozen=True):
    """Who looks: a seat, the host (who may hold a seat as well), or neither; `opened` with the host's first token."""

    seat: int | None = None
    host: bool = False
    opened: bool = False


class Seen(Struct, frozen=True):
    """A session at one version, as one viewer is to see it; `events` after a move."""

    session: str
    record: Record
    viewer: Viewer
    now: int
    events: tuple[Event, ...] | None = None
    replayed: bool = False

    def over(self) -> bool:
        """Return whether the session is finished, has expired or was deleted."""
        return self.record.end is not None or self.expired()

    def expired(self) -> bool:
        """Return whether the session has expired or was deleted."""
        return self.record.expired(self.now)

    def view(self) -> play.View:
        """Return what the viewer may know."""
        return play.view(self.record.position, self.viewer.seat)


encode = Encoder().encode
_decode = Decoder(Record).decode
decode_entry = Decoder(Entry).decode
decode_repeat = Decoder(Repeat).decode


def decode_record(blob: bytes) -> Record:
    """Return a record as this release has it, also one that an earlier release stored.

    Raises Newer, and msgspec's DecodeError for what no release stored.
    """
    try:
        record = _decode(blob)
    except ValidationError:
        return _decode_earlier(blob)
    if record.layout > LAYOUT or record.rules > play.game_of(record.position).spec.rules_version:
        raise Newer
    return record


def _decode_earlier(blob: bytes) -> Record:
    stored = decode(blob, type=dict[str, Any])
    try:
        if stored.get("layout", 1) >= LAYOUT:
            raise Newer from None
        return convert(brought_up(stored), Record)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValidationError("No release stored this.") from error


def mark(game: str) -> bytes:
    """Return what is in a record's bytes if, and only if, it is of this game: no text that is stored can hold it."""
    return encode({"game": game})[1:]


def hashed(token: str) -> bytes:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode()).digest()


def place(session: str, record: Record) -> str:
    """Return a session's place in the lobby's index, which is in order of names: the newest comes first."""
    return f"{_LAST_MS - record.opened_at:013d}{session}"


def listed(place: str) -> str:
    """Return the session at a place of the lobby's index."""
    return place[len(str(_LAST_MS)) :]


def viewer_of(record: Record, digest: bytes) -> Viewer | None:
    """Return whose token has this hash, compared in constant time; nothing for a token of nobody here."""
    if hmac.compare_digest(digest, record.host):
        return viewing(Viewer(opened=True), record.position)
    for seat, known in enumerate(record.tokens):
        if hmac.compare_digest(digest, known):
            return Viewer(seat, host=record.position.host == seat)
    return None


def viewing(viewer: Viewer, position: play.Position) -> Viewer:
    """Return the same viewer as of another position: the host's rights may not, or no more, be his there (C-10)."""
    host = viewer.opened if position.host is None else position.host == viewer.seat
    return Viewer(viewer.seat, host, viewer.opened)


def moved(record: Record, entry: Entry, position: play.Position) -> Record:
    """Return the record after one more entry; only what a person asks for puts off its end, and a delete is it."""
    at = entry.move.at
    expires_at = at if entry.move.action.verb == "delete" else at + DAY_MS
    return replace(
        record,
        version=record.version + 1,
        moved_at=at,
        expires_at=record.expires_at if entry.by == TIME else expires_at,
        position=position,
    )


def stepped(record: Record, entry: Entry) -> tuple[Record, play.Step | None]:
    """Return the record after one more entry of its log, and the step that the rules make of it again."""
    if entry.move.action.verb in ("delete", "token"):
        return moved(record, entry, record.position), None
    step = play.again(record.position, entry.move)
    return moved(record, entry, step.position), step


def opening(session: str, record: Record) -> Record:
    """Return the record as it was when the session was opened."""
    now = record.position
    position = play.open_table(now.game, session, now.secret, record.opening, record.options)
    at = record.opened_at
    return replace(record, version=0, moved_at=at, expires_at=at + DAY_MS, position=position)


def after(record: Record, entries: Iterable[Entry]) -> Record:
    """Return the record after more entries of its log."""
    for entry in entries:
        record, _step = stepped(record, entry)
    return record
