"""Piles: who sees their faces, and what taking from them leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import Card, cards, pack
from engine.games.skulls_and_swords_values import COCKTAIL_DECK, DEAL_IN_DECK
from engine.piles import Pile, Sight, Viewer, look_as

CARDS = cards(("Ah", "Kd", "MA-"))
FACES = ("Ah", "Kd", "MA")
HIDDEN = (None, None, None)

piles = st.builds(
    Pile,
    st.lists(st.sampled_from((*pack(), *COCKTAIL_DECK.cards))).map(tuple),
    st.sampled_from(Sight),
    st.none() | st.integers(0, 3),
)
viewers = st.none() | st.integers(0, 3)


@pytest.mark.parametrize(
    ("sight", "owner", "viewer", "sees"),
    [
        (Sight.EVERYONE, None, None, True),
        (Sight.EVERYONE, 1, None, True),
        (Sight.EVERYONE, 1, 0, True),
        (Sight.OWNER, 1, 1, True),
        (Sight.OWNER, 0, 0, True),
        (Sight.OWNER, 1, 0, False),
        (Sight.OWNER, 0, 1, False),
        (Sight.OWNER, 0, None, False),
        (Sight.OWNER, None, None, False),  # nobody's pile is not the spectator's
        (Sight.OWNER, None, 0, False),
        (Sight.NOBODY, 1, 1, False),
        (Sight.NOBODY, None, None, False),
        (Sight.NOBODY, None, 0, False),
    ],
)
def test_sight_decides_who_sees_a_pile(sight: Sight, owner: int | None, viewer: Viewer, *, sees: bool) -> None:
    """Everyone, the owner or nobody sees a pile's faces; an owner's pile without an owner is seen by nobody."""
    assert look_as(viewer)(Pile(CARDS, sight, owner)) == (FACES if sees else HIDDEN)


def test_a_pile_is_seen_by_nobody_unless_it_says_so() -> None:
    """A pile of which nothing is said is hidden."""
    assert look_as(0)(Pile(CARDS)) == HIDDEN


@pytest.mark.parametrize("deck", [COCKTAIL_DECK, DEAL_IN_DECK])
@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_a_sign_never_shows(deck: Pile, viewer: Viewer) -> None:
    """Whoever looks, and however open the pile lies, a drink's face has no sign (SK-10)."""
    for sight in Sight:
        seen = look_as(viewer)(Pile(deck.cards, sight, 0))
        assert set(seen) in ({None}, {"RC", "GT", "LI", "MA"})


@given(piles, viewers)
def test_a_look_has_a_place_for_every_card(pile: Pile, viewer: Viewer) -> None:
    """A hidden pile shows how many cards it has and nothing else."""
    seen = look_as(viewer)(pile)
    assert len(seen) == len(pile) == len(pile.cards)
    assert None not in seen or set(seen) == {None}


@given(piles, st.integers(0, 60))
def test_taking_loses_no_card_and_no_sight(pile: Pile, count: int) -> None:
    """The top cards come off in order, or what there is; the rest stays where and as hidden as it was."""
    taken, rest = pile.take(count)
    assert taken + rest.cards == pile.cards
    assert len(taken) == min(count, len(pile))
    assert (rest.sight, rest.owner) == (pile.sight, pile.owner)


@given(piles, st.sampled_from(Sight))
def test_turning_a_pile_moves_no_card(pile: Pile, sight: Sight) -> None:
    """A pile turned up or down holds the same cards of the same owner."""
    turned = pile.seen_by(sight)
    assert (turned.cards, turned.sight, turned.owner) == (pile.cards, sight, pile.owner)


def test_other_cards_in_the_same_place() -> None:
    """A place keeps its sight and owner when it holds other cards."""
    assert Pile(CARDS, Sight.OWNER, 2).holding((Card("2c"),)) == Pile((Card("2c"),), Sight.OWNER, 2)
