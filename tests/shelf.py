"""A store in memory, and made-up chance: a service over them answers the same in every run."""

import hashlib
from base64 import urlsafe_b64encode

from service.store import Change, Deadline, Loaded, Verdict

BEGAN = 1_767_225_600_000


class MadeUp:
    """Stands in for `secrets`."""

    def __init__(self, text: str = "croupier") -> None:
        self._text = text
        self._made = 0

    def token_bytes(self, count: int) -> bytes:
        """Return other bytes every time, and the same ones in every run."""
        self._made += 1
        return hashlib.shake_256(f"{self._text} {self._made}".encode()).digest(count)

    def token_urlsafe(self, count: int) -> str:
        """Return such bytes as text."""
        return urlsafe_b64encode(self.token_bytes(count)).rstrip(b"=").decode()


class Shelf:
    """A store in memory, with faults to order: an exception to raise, or races to lose."""

    def __init__(self) -> None:
        self.time = BEGAN
        self.fault: Exception | None = None
        self.races = False
        self._states: dict[str, tuple[int, bytes]] = {}
        self._logs: dict[str, list[bytes]] = {}
        self._records: dict[tuple[str, str], bytes] = {}

    def open(self, session: str, blob: bytes, _drop_at: int, _deadline: Deadline) -> bool:
        """Put a new session on the shelf."""
        if self.races:
            return False
        self.now(_deadline)
        self._states[session] = (0, blob)
        self._logs[session] = []
        return True

    def load(self, session: str, field: str, deadline: Deadline) -> Loaded:
        """Take a session from the shelf."""
        _, blob = self._states.get(session, (0, None))
        return Loaded(self.now(deadline), blob, self._records.get((session, field)))

    def commit(self, session: str, change: Change, _deadline: Deadline) -> Verdict:
        """Put a change on the shelf."""
        version, _ = self._states[session]
        if self.races or version != change.base:
            return "conflict"
        self._states[session] = (version + len(change.entries), change.blob)
        self._logs[session] += change.entries
        if change.field:
            self._records[session, change.field] = change.record
        return "committed"

    def log(self, session: str, count: int, _deadline: Deadline) -> list[bytes]:
        """Return the first entries."""
        return self._logs[session][:count]

    def now(self, _deadline: Deadline) -> int:
        """Return the time, or raise the fault that was ordered."""
        if self.fault:
            raise self.fault
        return self.time
