"""Who a client is: by an API key of the operator's, or else by the address from which he comes."""

import hmac
import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, Self

from service.records import hashed

UNIX = "unix"
"""Stands for a peer that has no address, since it comes by a socket in the file system."""
OWN = ("127.", "::/64")
"""How an address of this very machine begins."""
NETWORK_BITS = 64
"""Of an address in IPv6 so much is a site's; the rest anyone there may choose."""

_KEY = re.compile(r"(?:([A-Za-z0-9_.-]{1,64}):)?([0-9a-fA-F]{64})", re.ASCII)
_PORT = re.compile(r"\[(.+)\](?::[0-9]+)?|([0-9.]+):[0-9]+", re.ASCII)

Address = IPv4Address | IPv6Address


class ApiKey(NamedTuple):
    """An API key's name, for the log, and its SHA-256; the key itself nobody here knows."""

    name: str
    digest: bytes


class KeyNeeded(Exception):
    """Sessions are opened with an API key alone, and none was given that is known."""


def api_keys(text: str) -> tuple[ApiKey, ...]:
    """Read `name:hash` or `hash`, with commas between; raise ValueError, which does not repeat them."""
    found = [_KEY.fullmatch(each.strip()) for each in text.split(",") if each.strip()]
    keys = tuple(ApiKey(each[1] or each[2][:8].lower(), bytes.fromhex(each[2])) for each in found if each)
    if len(keys) != len(found):
        raise ValueError("Must be name:hash, with commas between, each hash a SHA-256 in hex.")
    return keys


def holder(keys: tuple[ApiKey, ...], given: str | None) -> str | None:
    """Return whose key is given, compared in constant time; nothing for none, or one of nobody's."""
    digest = hashed(given or "")
    names = [key.name for key in keys if hmac.compare_digest(key.digest, digest)]
    return names[0] if names and given else None


class Proxies(NamedTuple):
    """The proxies that are believed when they say for whom they ask."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    unix: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read addresses and networks (`10.0.0.0/8`) and `unix`, with commas between; raise ValueError."""
        given = [each.strip() for each in text.split(",") if each.strip()]
        return cls(tuple(ip_network(each) for each in given if each != UNIX), UNIX in given)

    def client(self, peer: str, forwarded: str | None) -> str:
        """Return from where a request comes: an IPv4 address, an IPv6 network of 64 bits, or `unix`.

        Each proxy adds the address from which it was asked at the right. So it is read from there,
        for as long as whoever says so is believed; what a stranger says is not looked at.
        """
        at = _address(peer)
        for said in reversed((forwarded or "").split(",")):
            if not self._believes(at):
                break
            before = _address(said)
            if before is None:
                break
            at = before
        return _place(at)

    def _believes(self, at: Address | None) -> bool:
        return self.unix if at is None else any(at in each for each in self.networks)


def _address(text: str) -> Address | None:
    """Return an address, without the port that some proxies add to it; nothing for what is none."""
    text = text.strip()
    if found := _PORT.fullmatch(text):
        text = found[1] or found[2]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _place(at: Address | None) -> str:
    if isinstance(at, IPv6Address):
        return str(IPv6Network((at, NETWORK_BITS), strict=False))
    return UNIX if at is None else str(at)
