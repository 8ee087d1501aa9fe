"""Chance: held to a second implementation, to fixed vectors, and to statistics that biased shuffles fail."""

import hashlib
import hmac
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import pack
from engine.shuffle import SEED_BYTES, Chance, _framed, commitment, round_seed

SECRET = bytes(range(64))
SEED = round_seed(SECRET, "session-1", 7)
DECK = tuple(range(52))
HALF = 2**31 + 1
"""A bound for which nearly half of all words are thrown away."""

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


# The second implementation: HMAC and SHA from the standard library, the rest written anew.


def frame(*parts: bytes) -> bytes:
    """Put each part after its length, four bytes, the most significant first."""
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def words_of(seed: bytes, label: str, clients: Sequence[str], block: int = 0) -> Iterator[int]:
    """Yield a label's words: sixteen of 32 bits from every block, the blocks numbered in eight bytes."""
    head = frame(b"croupier/1/stream", label.encode(), frame(*(client.encode() for client in clients)))
    while True:
        mac = hmac.new(seed, head + struct.pack(">Q", block), hashlib.sha512)
        yield from struct.unpack(">16I", mac.digest())
        block += 1


def fair(bound: int, words: Iterator[int]) -> int:
    """Throw away the words of the last, incomplete stretch of `bound` numbers."""
    word = next(words)
    while word - word % bound + bound > 2**32:
        word = next(words)
    return word % bound


def dealt(items: Sequence[int], words: Iterator[int]) -> tuple[int, ...]:
    """Shuffle from the last place down, each place with one at or before it."""
    order = list(items)
    for place in reversed(range(1, len(order))):
        chosen = fair(place + 1, words)
        order[place], order[chosen] = order[chosen], order[place]
    return tuple(order)


# What is fixed for good.


def test_a_round_seed_and_its_commitment_are_as_ever() -> None:
    """The seed and commitment of a secret, a session and a round never change: old proofs stay valid."""
    assert SEED.hex() == (
        "0906ffe526859ca8b42545317a6cb0451534c7905ddf304f4727866f100e90f2"
        "da47e50d3e01c6934fe31f5a3e39d5d177d7819b846e1aa15388a0781fa0920d"
    )
    assert commitment(SEED) == "fadc2049641eeab718f5767c231a9b8bda1d5d8dc44f6904a0c22ea1a2893ddc"


def test_an_order_is_as_ever() -> None:
    """A seed, client seeds and a label give the order that they always gave."""
    chance = Chance(SEED, ("my own luck", "æ"), {})
    assert " ".join(chance.shuffle(pack(), "deal")) == (
        "Th Qh Qs 6h 3h Kd 9s Tc 5c 2d As 9h 8c 3c Kh Jc 8h 2h Td 4c 7d Qc 9c 2c Ks 4s "
        "6d 5h 4d 7h Kc 7s 3d Ts Jh 2s 6c Ah 5d 4h Ac Js 3s 7c 6s Jd Ad 8d 9d 5s 8s Qd"
    )
    assert [chance.draw(1_000, "draw") for _ in range(5)] == [596, 517, 464, 114, 553]


def test_a_round_seed_is_an_hmac_of_session_and_round() -> None:
    """A round's 64 bytes are HMAC-SHA-512 under the session's secret, and the commitment SHA-256 over them."""
    for session, number in (("session-1", 7), ("", 1), ("é", 1_000_000)):
        message = frame(b"croupier/1/round", session.encode(), str(number).encode())
        seed = round_seed(SECRET, session, number)
        assert seed == hmac.new(SECRET, message, hashlib.sha512).digest()
        assert len(seed) == SEED_BYTES
        assert commitment(seed) == hashlib.sha256(frame(b"croupier/1/commitment", seed)).hexdigest()


@given(st.binary(min_size=1, max_size=64), st.lists(texts, max_size=3), texts, st.integers(0, 90))
def test_a_shuffle_agrees_with_the_second_implementation(
    seed: bytes, clients: list[str], label: str, size: int
) -> None:
    """Any seed, client seeds and label give the order that an independent implementation gives."""
    shuffled = Chance(seed, tuple(clients), {}).shuffle(tuple(range(size)), label)
    assert shuffled == dealt(range(size), words_of(seed, label, clients))


@given(st.lists(st.tuples(st.sampled_from(("deal", "draw", "bot-1")), st.integers(1, 2**32)), max_size=12))
def test_draws_agree_with_the_second_implementation(draws: list[tuple[str, int]]) -> None:
    """Every draw begins at the first unused block of its own label, whatever was drawn in between."""
    chance, used = Chance(SEED, (), {}), {"deal": 0, "draw": 0, "bot-1": 0}
    for label, bound in draws:
        assert chance.draw(bound, label) == fair(bound, words_of(SEED, label, (), used[label]))
        used[label] = chance.counters[label]


# Words that would favour an outcome are thrown away.


def plant(monkeypatch: pytest.MonkeyPatch, *blocks: Sequence[int]) -> None:
    """Have the stream give these words, the rest of each block being zero."""
    padded = [struct.pack(">16I", *block, *[0] * (16 - len(block))) for block in blocks]
    monkeypatch.setattr("engine.shuffle.hmac.digest", lambda *_: padded.pop(0))


@pytest.mark.parametrize(
    ("bound", "words", "drawn"),
    [
        (3, (2**32 - 1, 7), 1),  # the one word over
        (3, (2**32 - 2, 7), 2),
        (HALF, (2**31 + 1, 2**31), 2**31),
        (HALF, (2**31, 5), 2**31),
        (2**31, (2**32 - 1, 5), 2**31 - 1),  # a divisor of 2**32: no word is over
        (2**32, (2**32 - 1, 5), 2**32 - 1),
        (1, (2**32 - 1, 5), 0),
        (6, (2**32 - 1, 2**32 - 2, 2**32 - 3, 2**32 - 4, 2**32 - 5), 5),
    ],
)
def test_a_word_over_the_last_whole_stretch_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch, bound: int, words: tuple[int, ...], drawn: int
) -> None:
    """Only words below the greatest multiple of the bound count, up to that very edge."""
    plant(monkeypatch, words)
    assert Chance(SEED, (), {}).draw(bound, "draw") == drawn


def test_a_block_without_a_fair_word_is_followed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all sixteen words are thrown away the next block is opened, and counted."""
    plant(monkeypatch, [2**32 - 1] * 16, [12])
    chance = Chance(SEED, (), {})
    assert (chance.draw(HALF, "draw"), chance.counters) == (12, {"draw": 2})


def test_real_streams_take_both_ways() -> None:
    """Of a hundred draws under a bound that wastes half of the words some throw words away and some do not."""
    chance, wasted = Chance(SEED, (), {}), 0
    for number in range(100):
        wasted += next(words_of(SEED, "draw", (), number)) >= HALF
        assert chance.draw(HALF, "draw") == fair(HALF, words_of(SEED, "draw", (), number))
    assert 20 < wasted < 80


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_a_bound_that_no_word_can_serve_is_an_error(bound: int) -> None:
    """A draw below nothing, or below more than a word holds, is refused rather than never answered."""
    with pytest.raises(ValueError, match="bound"):
        Chance(SEED, (), {}).draw(bound, "draw")


# Fairness.


def z_score(shuffle: Callable[[], Sequence[int]], shuffles: int = 20_000) -> float:
    """Return how far position by card is from even: chi-square, in standard deviations from its mean."""
    size = len(DECK)
    counts = [0] * size**2
    for _ in range(shuffles):
        for place, card in enumerate(shuffle()):
            counts[place * size + card] += 1
    even = shuffles / size
    chi_square = sum((count - even) ** 2 for count in counts) / even
    degrees = (size - 1) ** 2  # each row and each column adds up to the number of shuffles
    return (chi_square * (size - 1) / size - degrees) / sqrt(2 * degrees)


def fisher_yates(below: Callable[[int], int], *, others: Callable[[int], int] = lambda place: place + 1) -> list[int]:
    """Shuffle with another source of numbers, or another range of places to swap with."""
    order = list(DECK)
    for place in reversed(range(len(order))):
        chosen = below(others(place))
        order[place], order[chosen] = order[chosen], order[place]
    return order


def test_every_card_comes_to_every_place_alike() -> None:
    """Over 20,000 shuffles no card prefers a place."""
    chance = Chance(SEED, (), {})
    assert abs(z_score(lambda: chance.shuffle(DECK, "deal"))) < 6


def test_the_check_passes_another_fair_shuffle() -> None:
    """The frame that the biased shuffles below stand in passes when nothing in it is biased."""
    assert abs(z_score(lambda: fisher_yates(_RANDOM.randrange))) < 6


_RANDOM = Random(1)  # noqa: S311 - the biased shuffles need no secrets

BIASED: dict[str, Callable[[], Sequence[int]]] = {
    "a byte modulo the bound": lambda: fisher_yates(lambda bound: _RANDOM.randrange(256) % bound),
    "a swap with any place": lambda: fisher_yates(_RANDOM.randrange, others=lambda _: len(DECK)),
    "a swap with a lower place only": lambda: fisher_yates(_RANDOM.randrange, others=lambda place: place or 1),
}


@pytest.mark.parametrize("shuffle", BIASED.values(), ids=BIASED.keys())
def test_a_biased_shuffle_fails_the_same_check(shuffle: Callable[[], Sequence[int]]) -> None:
    """Modulo bias, the naive swap and Sattolo's cycle are each found out."""
    assert abs(z_score(shuffle)) > 6


# What an order depends on, and what it does not.


def order_of(seed: bytes = SEED, clients: tuple[str, ...] = ("luck", ""), label: str = "deal") -> tuple[int, ...]:
    """Return the order of 52 cards."""
    return Chance(seed, clients, {}).shuffle(DECK, label)


def test_every_bit_of_the_seed_counts() -> None:
    """Whichever of its 512 bits changes, the order is another."""
    flipped = [(int.from_bytes(SEED, "big") ^ 1 << bit).to_bytes(SEED_BYTES, "big") for bit in range(8 * SEED_BYTES)]
    assert len({order_of(), *map(order_of, flipped)}) == 513


def test_every_client_seed_and_the_label_count() -> None:
    """Another label, another client seed of any seat, or the same at another seat: another order."""
    orders = [
        order_of(),
        order_of(label="deal "),
        order_of(label="Deal"),
        order_of(label=""),
        order_of(clients=("Luck", "")),
        order_of(clients=("luck", "x")),
        order_of(clients=("", "luck")),
        order_of(clients=("luck",)),
        order_of(clients=("luck", "", "")),
        order_of(clients=()),
    ]
    assert len(set(orders)) == len(orders)


def test_the_secret_the_session_and_the_round_count() -> None:
    """No two rounds, sessions or secrets share a seed, though their names run into each other."""
    seeds = {
        round_seed(secret, session, number)
        for secret in (SECRET, SECRET[:-1] + b"\0")
        for session in ("a", "a1", "a11", "")
        for number in (1, 11, 111)
    }
    assert len(seeds) == 24
    assert len(set(map(commitment, seeds))) == 24


def unframed(message: bytes) -> list[bytes]:
    """Take joined parts apart again."""
    parts = []
    while message:
        end = 4 + int.from_bytes(message[:4], "big")
        parts.append(message[4:end])
        message = message[end:]
    return parts


@given(st.lists(st.binary(max_size=6)))
def test_joined_parts_can_be_taken_apart(parts: list[bytes]) -> None:
    """Two lists of parts never give the same bytes, since the parts can be read back from them."""
    assert unframed(_framed(*parts)) == parts


def test_parts_do_not_run_into_each_other() -> None:
    """Client seeds that read alike one after the other are not alike."""
    splits = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("abc",)]
    assert len({order_of(clients=clients) for clients in splits}) == len(splits)
    assert order_of(label="dealx", clients=("",)) != order_of(label="deal", clients=("x",))


# Counters.


def test_a_counter_goes_up_by_the_blocks_used() -> None:
    """Fifty-one words take four blocks of sixteen, a draw takes one, and nothing to decide takes none."""
    chance = Chance(SEED, (), {})
    chance.shuffle(DECK, "deal")
    chance.draw(2, "draw")
    chance.shuffle((), "empty")
    chance.shuffle((1,), "alone")
    assert chance.counters == {"deal": 4, "draw": 1}


def test_a_label_never_moves_another() -> None:
    """A shuffle comes out the same whatever other labels were used before it."""
    alone, busy = Chance(SEED, (), {}), Chance(SEED, (), {})
    for number in range(10):
        busy.draw(7, f"bot-{number}")
        busy.shuffle(DECK, "reshuffle")
    assert busy.shuffle(DECK, "deal") == alone.shuffle(DECK, "deal")
    assert busy.counters["deal"] == alone.counters["deal"]


def test_counters_go_on_from_what_is_handed_in() -> None:
    """Chance that is put away and taken up again goes on as if it had stayed out."""
    at_once = Chance(SEED, ("x",), {})
    expected = [at_once.shuffle(DECK, "deal") for _ in range(5)]
    counters: dict[str, int] = {}
    resumed = []
    for _ in range(5):
        chance = Chance(SEED, ("x",), counters)
        resumed.append(chance.shuffle(DECK, "deal"))
        counters = chance.counters
    assert resumed == expected
    assert all(one != other for one, other in pairwise(expected))


def test_counters_handed_in_stay_as_they_are() -> None:
    """What was handed in is not changed: a move that is not kept leaves no trace."""
    counters = {"deal": 3}
    Chance(SEED, (), counters).shuffle(DECK, "deal")
    assert counters == {"deal": 3}


def test_a_shuffle_keeps_what_it_shuffles() -> None:
    """Cards that look alike are all kept, and the input is not touched."""
    items = ("B", "B", "MA-", "MA+", "MA-")
    assert sorted(Chance(SEED, (), {}).shuffle(items, "deal")) == sorted(items)
    assert items == ("B", "B", "MA-", "MA+", "MA-")
