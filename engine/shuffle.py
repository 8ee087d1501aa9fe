"""Chance: a secret seed a round, its commitment, and unbiased shuffles and draws from it (C-7).

A round's seed is HMAC-SHA-512 under the session's secret; every shuffle and draw is a stream of
HMAC-SHA-512 blocks under the round's seed, one stream a label. 512 bits, because 77 cards have
376 bits of orders. Words that would make one outcome likelier than another are thrown away.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

SEED_BYTES = 64
CLIENT_SEED_BYTES = 64

_DOMAIN = b"croupier/1/"
_WORD = 4
_WORDS = 1 << (8 * _WORD)

T = TypeVar("T")


def _framed(*parts: bytes) -> bytes:
    """Join parts so that no two lists of parts give the same bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def round_seed(secret: bytes, session: str, number: int) -> bytes:
    """Return the 64-byte seed of round `number` (1, 2, …) of a session."""
    message = _framed(_DOMAIN + b"round", session.encode(), str(number).encode())
    return hmac.digest(secret, message, "sha512")


def commitment(seed: bytes) -> str:
    """Return the SHA-256, in hex, that binds a round to its seed before it is dealt."""
    return hashlib.sha256(_framed(_DOMAIN + b"commitment", seed)).hexdigest()


class Chance:
    """The shuffles and draws of one round; its seed may be handed in as what works it out, since most moves use none.

    `counters` says how many blocks of each label are used up; it goes on from what is handed in,
    and is the only thing here that changes.
    """

    def __init__(
        self, seed: bytes | Callable[[], bytes], client_seeds: tuple[str, ...], counters: Mapping[str, int]
    ) -> None:
        self._seed = seed
        self._client_seeds = client_seeds
        self.counters = dict(counters)

    def shuffle(self, items: tuple[T, ...], label: str) -> tuple[T, ...]:
        """Return the items in an order of which every one is equally likely (Fisher-Yates)."""
        shuffled = list(items)
        words = self._words(label)
        for last in range(len(shuffled) - 1, 0, -1):
            other = _below(last + 1, words)
            shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
        return tuple(shuffled)

    def draw(self, bound: int, label: str) -> int:
        """Return a number from 0 to `bound` - 1, each equally likely; `bound` is 1 to 2**32, else ValueError."""
        if not 1 <= bound <= _WORDS:
            raise ValueError(f"no word gives a fair draw for the bound {bound}")
        return _below(bound, self._words(label))

    def _words(self, label: str) -> Iterator[int]:
        """Yield 32-bit words, first byte most significant, from the label's next unused block on."""
        clients = _framed(*(text.encode() for text in self._client_seeds))
        prefix = _framed(_DOMAIN + b"stream", label.encode(), clients)
        seed = self._seed() if callable(self._seed) else self._seed
        while True:
            counter = self.counters.get(label, 0)
            self.counters[label] = counter + 1
            block = hmac.digest(seed, prefix + counter.to_bytes(8, "big"), "sha512")
            for start in range(0, len(block), _WORD):
                yield int.from_bytes(block[start : start + _WORD], "big")


def _below(bound: int, words: Iterator[int]) -> int:
    """Return the first word under the greatest multiple of `bound`, reduced."""
    fair = _WORDS - _WORDS % bound
    while True:
        word = next(words)
        if word < fair:
            return word % bound
