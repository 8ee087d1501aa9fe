"""Cards: their codes, and what can be read off them."""

import re

import pytest

from engine.cards import FRENCH_SUITS, RANKS, SIX_SUITS, Card, cards, face, pack, rank, suit
from engine.game import HOW_TO_WRITE, Invalid, must_be_from

SPECIAL = ("B", "RC", "RC+", "RC-", "GT+", "GT-", "LI+", "LI-", "MA+", "MA-", "MA")


def test_a_pack_has_one_card_of_every_rank_and_suit() -> None:
    """A pack has 52 different cards, of six suits 78, and without the twos 72."""
    assert [len(set(each)) for each in (pack(), pack(SIX_SUITS), pack(SIX_SUITS, RANKS[1:]))] == [52, 78, 72]
    assert len(pack()) == 52
    assert {(rank(card), suit(card)) for card in pack()} == {(value, s) for value in range(2, 15) for s in "hdsc"}


def test_a_pack_runs_suit_by_suit() -> None:
    """A pack begins with the first suit from two to ace, then the next suit."""
    assert pack()[:14] == tuple("2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah 2d".split())  # noqa: SIM905 - reads as cards
    assert pack()[-1] == "Ac"


def test_a_code_is_rank_then_suit() -> None:
    """Every code is a rank of C-1 and then a suit of C-1."""
    assert all(re.fullmatch("[23456789TJQKA][hdsckw]", card) for card in pack(SIX_SUITS))
    assert set(SIX_SUITS) > set(FRENCH_SUITS)


@pytest.mark.parametrize(("card", "value", "letter"), [("2h", 2, "h"), ("Tk", 10, "k"), ("Ac", 14, "c")])
def test_a_ranked_card_has_a_rank_and_a_suit(card: str, value: int, letter: str) -> None:
    """The ace is 14, and the suit is the second letter."""
    assert (rank(card), suit(card)) == (value, letter)


@pytest.mark.parametrize("card", SPECIAL)
def test_a_special_card_has_neither(card: str) -> None:
    """A bonus card and a drink have no rank and no suit."""
    assert (rank(card), suit(card)) == (0, "")


def test_a_face_shows_all_but_a_sign() -> None:
    """A face is the code without the sign of a drink (SK-10)."""
    assert [face(Card(code)) for code in SPECIAL] == ["B", "RC", "RC", "RC", "GT", "GT", "LI", "LI", "MA", "MA", "MA"]
    assert all(face(card) == str(card) for card in pack(SIX_SUITS))


def test_codes_become_cards_as_they_are() -> None:
    """Codes become cards in their order."""
    assert cards(["Ah", "MA-"]) == ("Ah", "MA-")


def test_cards_of_a_pack_pass() -> None:
    """As many cards as asked for, each as often as the pack has it at most, pass."""
    must_be_from(("Ah", "B", "B"), ("B", "Ah", "B"), 3)


HOW = f": {HOW_TO_WRITE}"


@pytest.mark.parametrize(
    ("codes", "pointer", "detail"),
    [
        (("Ah",), "/cards", "cards must be 2 cards"),
        (("Ah", "B", "B"), "/cards", "cards must be 2 cards"),
        (("Ah", "Ah"), "/cards/1", "there are no more of 'Ah'"),
        (("Kh", "Ah"), "/cards/0", f"this game has no such card{HOW}"),
        (("Ah", "ah"), "/cards/1", f"this game has no such card{HOW}"),
        (("Ah", ""), "/cards/1", f"this game has no such card{HOW}"),
    ],
)
def test_other_cards_are_invalid(codes: tuple[str, ...], pointer: str, detail: str) -> None:
    """Cards that the pack has not, or not so many of, are invalid, and the first of them is pointed at (C-12)."""
    with pytest.raises(Invalid, match=f"^{detail}$") as refused:
        must_be_from(("Ah", "B", "B"), codes, 2)
    assert refused.value.pointer == pointer
