"""What a client may ask for, whichever sessions it is about: so much from one place; and who may open sessions."""

import hashlib
from collections.abc import Callable
from typing import TypeVar

from flask import current_app, g, request

from service import reading
from service.clients import OWN, KeyNeeded, holder
from service.limits import Limits
from service.logs import log
from service.settings import Settings

API_KEY = "X-API-Key"
T = TypeVar("T")


class Gate:
    """The gate of one application."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self._keys = settings.api_keys
        self._proxies = settings.trusted_proxies
        self._paces = limits.of_client
        self.limits = limits

    def client(self) -> str:
        """Return a name for whoever asks: the hash of his API key's name, or of his address.

        Whoever asks from this very machine has none, and is not counted: it is the operator's own.
        """
        name = holder(self._keys, reading.header(API_KEY)) if self._keys else None
        who = f"key {name}" if name else self.address()
        if who.startswith(OWN):
            return ""
        return hashlib.sha256(who.encode()).hexdigest()[:32]

    def address(self) -> str:
        """Return from where a request comes, as far as whoever says so is believed."""
        peer = request.environ.get("REMOTE_ADDR") or ""
        return self._proxies.client(peer, reading.header("X-Forwarded-For"))

    def may_open(self) -> None:
        """Raise `KeyNeeded` for a client without an API key, where one is needed; the log names whose it is."""
        if not self._keys:
            return
        name = holder(self._keys, reading.header(API_KEY))
        if name is None:
            raise KeyNeeded
        log.info("api-key", api_key=name, request_id=g.request_id)

    def count(self, name: str) -> None:
        """Count a request of the client's, once; raise `Limited`."""
        if name in self._paces and "counted" not in g and (client := self.client()):
            g.counted = name
            reading.sessions().count(client, self._paces[name])


def gate() -> Gate:
    """Return the gate of this application."""
    found: Gate = current_app.extensions["gate"]
    return found


def counting(name: str, check: Callable[..., T]) -> Callable[..., T]:
    """Return a check that counts the request before."""

    def counted(*asked: str) -> T:
        gate().count(name)
        return check(*asked)

    return counted
