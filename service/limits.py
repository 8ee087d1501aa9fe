"""How often one may ask: so many at once, and then one each so often (GCRA, counted by the store's scripts).

Moves and reads are counted for each seat, the host and the spectators of a session, by the very script that loads the
session, which costs the store 4 µs. What has no session yet, or asks for much, is counted for each client by a script
of its own, in one more round trip: 70 µs of the service and 7 of the store, a third of what flask-limiter takes.
"""

import sys
from typing import NamedTuple

from engine.games import GAMES
from service import records
from service.settings import Settings

_SECOND, _MINUTE = 1_000_000, 60_000_000
_AT_ONCE = 3
"""Seconds' worth that a seat may ask for at once, where the operator says how often."""
_OWNER_BYTES = 8


class Pace(NamedTuple):
    """So many at once (`burst`), and then one each `interval` microseconds."""

    name: str
    burst: int
    interval: int

    @property
    def per_second(self) -> int:
        """Return how often a second, in the long run."""
        return _SECOND // self.interval

    @property
    def window(self) -> int:
        """Return the seconds after which all is forgotten."""
        return -(-self.burst * self.interval // _SECOND)


class Limited(Exception):
    """Too many requests: one more is counted after `wait` microseconds."""

    def __init__(self, pace: Pace, wait: int) -> None:
        super().__init__(f"At most {pace.burst} {pace.name} at once; all of them come back within {pace.window} s.")
        self.pace = pace
        self.wait = wait


class Counted(NamedTuple):
    """As what a load is counted: under which name, whose token's hash, and how often in which game."""

    name: str
    owner: bytes
    paces: tuple[bytes | int, ...]


class Limits:
    """The limits as they are set; where they are off, nothing is counted."""

    def __init__(self, settings: Settings) -> None:
        rates = {"moves": settings.moves_per_second, "reads": settings.reads_per_second}
        self._rates = rates if settings.limits else {}
        self._paces = {name: self._of_games(name) for name in self._rates}
        minutely = {
            "opens": settings.opens_per_minute,
            "joins": settings.joins_per_minute,
            "tickets": settings.tickets_per_minute,
            "events": settings.events_per_minute,
            "lobby": settings.lobby_per_minute,
        }
        paces = (Pace(name, most, _MINUTE // most) for name, most in minutely.items())
        self.of_client = {pace.name: pace for pace in paces} if settings.limits else {}
        """How often a client may ask for what."""
        share = settings.streams_per_address or max(1, settings.streams // 4)
        self.streams = share if settings.limits else sys.maxsize
        """Streams, and long polls that wait, that a client may hold open at each process."""

    def of_seat(self, name: str, game: str) -> Pace:
        """Return how often a seat may move, or read, in a game."""
        rate = self._rates[name]
        per_second, burst = (rate, rate * _AT_ONCE) if rate else GAMES[game].spec.pace
        return Pace(name, burst, _SECOND // per_second)

    def counted(self, name: str, owner: bytes | None) -> Counted | None:
        """Return as what a request of a token's owner, or of a spectator, is counted; nothing if it is not."""
        if name not in self._rates:
            return None
        who = "watching" if owner is None else owner[:_OWNER_BYTES].hex()
        return Counted(f"{name}:{who}", owner or b"", self._paces[name])

    def of_seats(self, game: str) -> tuple[Pace, ...]:
        """Return how often a seat may do what in a game."""
        return tuple(self.of_seat(name, game) for name in self._rates)

    def _of_games(self, name: str) -> tuple[bytes | int, ...]:
        """Return interval and burst of most games, and for each other one its mark in a blob and its own."""
        paces = {game: self.of_seat(name, game) for game in GAMES}
        usual = max(paces.values(), key=[*paces.values()].count)
        others = [(game, pace) for game, pace in paces.items() if pace != usual]
        marked = (each for game, pace in others for each in (records.mark(game), pace.interval, pace.burst))
        return (usual.interval, usual.burst, *marked)


OFF = Limits(Settings(limits=False))
