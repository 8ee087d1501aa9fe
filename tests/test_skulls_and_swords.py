"""Skulls & Swords: every ruling by its id, every cell of the wager, and the drinks' secret."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from engine.cards import SIX_SUITS, cards, face
from engine.game import Illegal, Invalid
from engine.games import GAMES
from engine.games.skulls_and_swords import COLLECTION, HAND
from engine.piles import Pile
from engine.play import Position, Step, offers, status
from engine.shuffle import Chance, round_seed
from tests.seats import (
    SECRET,
    SESSION,
    act,
    all_cards,
    inside,
    refusal,
    seat_at,
    sheet,
    step,
    table,
    told,
    traffic,
    verbs,
    with_state,
)

SLUG = "skulls-and-swords"
GAME = GAMES[SLUG]
RANKS = "3456789TJQKA"
PLAIN = [rank + suit for suit in SIX_SUITS for rank in RANKS]
DRINKS = ("RC", "GT", "LI", "MA")
DECKS = ("game", "bonuses", "cocktail", "deal_in", "hand", "collection", "out")

NOTHING = [rank + SIX_SUITS[(row + place) % 6] for row in range(6) for place, rank in enumerate("3579J")]
"""Thirty cards of which every row scores nothing."""


def removed(deck: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """Return a deck without the cards that lie elsewhere."""
    return tuple((Counter(deck) - Counter(taken)).elements())


def holding(collection: list[str], hand: list[str] | None = None, **changes: Any) -> Position:  # noqa: ANN401
    """Return a table in play where these cards are kept, and these lie open."""
    position = replace(seat_at(SLUG), client_seeds=("",))
    taken = [*collection, *(hand or [])]
    decks: dict[str, Pile] = {name: getattr(inside(position), name) for name in DECKS[:4]}
    rest = {name: deck.holding(cards(removed(deck.cards, taken))) for name, deck in decks.items()}
    piles = {"collection": COLLECTION.holding(cards(collection)), "hand": HAND.holding(cards(hand or []))}
    phase = "choose" if hand else "deal"
    begun = {"round": 1, "playing": True, "phase": phase, "hand_number": len(collection) // 2 + bool(hand)}
    return with_state(position, **{**rest, **piles, **begun, **changes})


def confirmed(first: list[str]) -> Position:
    """Return a table whose confirmed collection begins with these cards and is worth nothing beyond."""
    return act(holding(first + NOTHING[len(first) :], phase="arrange", hand_number=15), "confirm")


def evaluated(first: list[str], wager: int | None = None) -> dict[str, Any]:
    """Return the result of a confirmed collection, with a wager or without."""
    position = confirmed(first)
    if wager is not None:
        position = act(position, "wager", amount=wager)
    result: dict[str, Any] = table(act(position, "evaluate"))["result"]
    return result


def dealt(hands: int = 1, keep: tuple[int, int] = (0, 1), **options: object) -> Position:
    """Return a table with this many hands dealt, the last of them open."""
    position = act(seat_at(SLUG, **options), "deal")
    for _ in range(hands - 1):
        position = act(act(position, "choose", cards=list(keep)), "deal")
    return position


def chance(position: Position) -> Chance:
    """Return the chance that the next move of round 1 will have."""
    return Chance(round_seed(SECRET, SESSION, 1), ("",), position.counters)


def pile(position: Position, name: str) -> tuple[str, ...]:
    """Return the cards of one pile, hidden or not."""
    found: Pile = getattr(inside(position), name)
    return found.cards


def counts(position: Position) -> tuple[int, int, int]:
    """Return the decks' sizes as everyone sees them."""
    decks = table(position)["decks"]
    return decks["game"], decks["cocktail"], decks["deal_in"]


def played_out(position: Position) -> Position:
    """Return the position after first examples have settled the round."""
    while status(position) != "settled":
        first = offers(position, 0)[0]
        position = act(position, first.verb, **first.example)
    return position


def test_game_deck_has_seventy_seven_cards() -> None:
    """SK-1: six suits of three to ace, and five bonus cards."""
    position = seat_at(SLUG)
    assert sorted(pile(position, "game")) == sorted(PLAIN)
    assert pile(position, "bonuses") == ("B",) * 5
    assert table(position)["decks"]["game"] == 77


def test_option_puts_the_twos_back() -> None:
    """SK-1: with `twos` the deck has 83 cards, in every round."""
    position = seat_at(SLUG, twos=True)
    assert sorted(pile(position, "game")) == sorted(PLAIN + ["2" + suit for suit in SIX_SUITS])
    assert table(position)["decks"]["game"] == 83
    begun = act(played_out(position), "deal")
    assert len(all_cards(begun)) == 83 + 32 + 60


@pytest.mark.parametrize("twos", [0, "false", None])
def test_twos_is_a_boolean(twos: object) -> None:
    """SK-1: the option is true or false and nothing else."""
    with pytest.raises(Invalid) as refused:
        seat_at(SLUG, twos=twos)
    assert refused.value.pointer == "/options/twos"


def test_cocktail_decks_are_as_ruled() -> None:
    """SK-2: both cocktail decks have the published composition."""
    position = seat_at(SLUG)
    assert Counter(pile(position, "cocktail")) == {
        "RC+": 7, "GT+": 7, "LI+": 6, "MA+": 6, "RC-": 1, "GT-": 1, "LI-": 2, "MA-": 2,
    }  # fmt: skip
    assert Counter(pile(position, "deal_in")) == {"RC-": 15, "GT-": 15, "LI-": 15, "MA-": 15}
    assert counts(position) == (77, 32, 60)


def test_info_shows_decks_and_point_values() -> None:
    """SK-2: the info tells what the decks hold and what everything is worth."""
    info = GAME.info()
    decks = {deck["name"]: deck for deck in info["decks"]}
    assert {name: len(deck["cards"]) for name, deck in decks.items()} == {"game": 77, "cocktail": 32, "deal_in": 60}
    assert [tuple(line.values()) for line in decks["cocktail"]["composition"]] == [
        ("RC", 7, 1), ("GT", 7, 1), ("LI", 6, 2), ("MA", 6, 2),
    ]  # fmt: skip
    assert [tuple(line.values()) for line in decks["deal_in"]["composition"]] == [(code, 0, 15) for code in DRINKS]
    assert [(drink["card"], drink["value"], drink["deals_in"], drink["brings"]) for drink in info["drinks"]] == [
        ("RC", 10, 1, 1), ("GT", 20, 2, 2), ("LI", 30, 3, 2), ("MA", 50, 5, 3),
    ]  # fmt: skip
    assert info["bonus"] == {"card": "B", "count": 5, "points": 5, "brings": 4}
    assert {line["combination"]: line["points"] for line in info["point_values"]} == POINTS


def test_cocktail_decks_are_shuffled_at_the_start() -> None:
    """SK-3: a round starts with both cocktail decks shuffled, each from a stream of its own."""
    before = seat_at(SLUG)
    begun, luck = act(before, "deal"), chance(before)
    assert pile(begun, "cocktail") == luck.shuffle(pile(before, "cocktail"), "cocktail")
    assert pile(begun, "deal_in") == luck.shuffle(pile(before, "deal_in"), "deal-in")
    assert pile(begun, "cocktail") != pile(before, "cocktail")


def test_game_deck_is_shuffled_before_every_hand() -> None:
    """SK-4: every hand comes from the top of a freshly shuffled game deck."""
    position = act(dealt(1), "choose", cards=[1, 2])
    for number in range(2, 16):
        deck = chance(position).shuffle(pile(position, "game"), "hand")
        position = act(position, "deal")
        fresh = 4 if number <= 5 else 5
        assert pile(position, "hand")[-fresh:] == deck[:fresh]
        assert pile(position, "game") == deck[fresh:]
        position = act(position, "choose", cards=[3, 4])


def test_kept_cards_take_the_first_free_places_in_the_order_given() -> None:
    """SK-4: two kept cards go to the collection in the order given."""
    position = holding(["3h", "4h"], ["5h", "6h", "7h", "8h", "9h"])
    made = step(position, "choose", cards=[3, 1])
    assert table(made.position)["collection"] == ["3h", "4h", "8h", "6h"] + [None] * 26
    assert table(made.position)["hand"] == []
    assert told(made)[0] == {
        "type": "kept", "seat": 0, "positions": [3, 1], "returned": 3, "out_of_game": 0, "cards": ["8h", "6h"],
    }  # fmt: skip


@pytest.mark.parametrize("chosen", [[1, 1], [0, 5], [-1, 0], [0], [0, 1, 2], [], ["0", "1"], [True, False], "01", None])
def test_choice_is_two_different_positions_of_the_hand(chosen: object) -> None:
    """SK-4, C-2: anything but two different positions from 0 to 4 is malformed."""
    assert all(shape.objection({"cards": chosen}) for shape in GAME.spec.verbs["choose"])


def test_bonus_cards_lead_the_first_five_hands_only() -> None:
    """SK-5: a bonus card is the first card of hands 1 to 5 and lies in no other place of any hand."""
    position = seat_at(SLUG)
    for number in range(1, 16):
        position = act(position, "deal")
        hand = table(position)["hand"]
        assert len(hand) == 5
        assert [place for place, code in enumerate(hand) if code == "B"] == ([0] if number <= 5 else [])
        position = act(position, "choose", cards=[0, 4])


def test_game_deck_counts_bonus_cards_apart_and_not_the_hand() -> None:
    """SK-5: 77 before the first hand, and 72 while it lies open."""
    position = seat_at(SLUG)
    assert counts(position)[0] == 77
    assert counts(act(position, "deal"))[0] == 72


def test_cards_not_kept_return_but_a_bonus_card() -> None:
    """SK-6: what is not kept goes back into the game deck, a bonus card out of the game."""
    position = dealt(1)
    hand = pile(position, "hand")
    made = step(position, "choose", cards=[1, 2])
    assert set(hand[3:]) <= set(pile(made.position, "game"))
    assert pile(made.position, "out") == ("B",)
    assert counts(made.position) == (74, 32, 60)
    assert (told(made)[0]["returned"], told(made)[0]["out_of_game"]) == (2, 1)


def test_bonus_card_brings_the_top_four_of_the_cocktail_deck() -> None:
    """SK-7, SK-9: what is not kept returns, the top four follow without a shuffle, the game deck is shuffled."""
    position = dealt(1)
    hand, cocktail = pile(position, "hand"), pile(position, "cocktail")
    made = step(position, "choose", cards=[0, 1])
    deck = pile(position, "game") + hand[2:] + cocktail[:4]
    assert pile(made.position, "game") == chance(position).shuffle(deck, "bonus")
    assert pile(made.position, "cocktail") == cocktail[4:]
    assert told(made)[1:] == [moved("cocktail", "game", 4)]
    assert counts(made.position) == (79, 28, 60)


def moved(source: str, target: str, count: int, missing: int = 0) -> dict[str, Any]:
    """Return the event that says so."""
    return {"type": "moved", "seat": 0, "from": source, "to": target, "count": count, "missing": missing}


@pytest.mark.parametrize(("drink", "deals_in", "brings"), [("RC", 1, 1), ("GT", 2, 2), ("LI", 3, 2), ("MA", 5, 3)])
@pytest.mark.parametrize("sign", "+-")
def test_drink_moves_cards_in_the_ruled_order(drink: str, sign: str, deals_in: int, brings: int) -> None:
    """SK-8: Deal-In to Cocktail Deck, shuffle, Cocktail to game deck, shuffle; the same for either sign."""
    position = holding([], [drink + sign, "5h", "6h", "7h", "8h"])
    luck = chance(position)
    made = step(position, "choose", cards=[0, 1])

    deal_in = pile(position, "deal_in")
    cocktail = luck.shuffle(pile(position, "cocktail") + deal_in[:deals_in], "drink-cocktail")
    game = luck.shuffle((*pile(position, "game"), "6h", "7h", "8h", *cocktail[:brings]), "drink-game")
    assert pile(made.position, "deal_in") == deal_in[deals_in:]
    assert pile(made.position, "cocktail") == cocktail[brings:]
    assert pile(made.position, "game") == game
    assert told(made)[1:] == [moved("deal_in", "cocktail", deals_in), moved("cocktail", "game", brings)]


@pytest.mark.parametrize(
    ("order", "events"),
    [
        ([0, 1], [moved("deal_in", "cocktail", 5), moved("cocktail", "game", 3),
                  moved("deal_in", "cocktail", 1, 1), moved("cocktail", "game", 2)]),
        ([1, 0], [moved("deal_in", "cocktail", 2), moved("cocktail", "game", 2),
                  moved("deal_in", "cocktail", 4, 1), moved("cocktail", "game", 3)]),
    ],
)  # fmt: skip
def test_kept_cards_take_effect_in_the_order_given(order: list[int], events: list[dict[str, Any]]) -> None:
    """SK-9: of two drinks kept, the one named first takes its cards first."""
    position = holding([], ["MA+", "GT+", "6h", "7h", "8h"], deal_in=Pile(cards(["RC-"] * 6)))
    assert told(step(position, "choose", cards=order))[1:] == events


def test_bonus_card_and_drink_take_effect_in_the_order_given() -> None:
    """SK-9: a bonus card named first takes the top four before the drink's shuffle, named last after it."""
    position = holding([], ["B", "RC+", "6h", "7h", "8h"])
    top = cards(["MA+", "MA+", "MA+", "MA+"])
    deck = Pile(top + cards(["RC-"] * 20))
    position = with_state(position, cocktail=deck)
    bonus_first, drink_first = (act(position, "choose", cards=order) for order in ([0, 1], [1, 0]))
    assert pile(bonus_first, "game").count("MA+") == 4
    luck = chance(position)
    shuffled = luck.shuffle(deck.cards + pile(position, "deal_in")[:1], "drink-cocktail")
    assert pile(drink_first, "cocktail") == shuffled[5:]


@pytest.mark.parametrize(
    ("hand", "cocktail", "deal_in", "events"),
    [
        ("B", 3, 9, [moved("cocktail", "game", 3, 1)]),
        ("B", 0, 9, [moved("cocktail", "game", 0, 4)]),
        ("MA+", 0, 0, [moved("deal_in", "cocktail", 0, 5), moved("cocktail", "game", 0, 3)]),
        ("MA-", 1, 1, [moved("deal_in", "cocktail", 1, 4), moved("cocktail", "game", 2, 1)]),
        ("LI+", 0, 60, [moved("deal_in", "cocktail", 3), moved("cocktail", "game", 2)]),
    ],
)
def test_short_deck_gives_what_it_has(hand: str, cocktail: int, deal_in: int, events: list[dict[str, Any]]) -> None:
    """SK-9: a deck that is short gives what it has, and the event says how many were missing."""
    short = {"cocktail": Pile(cards(["RC+"] * cocktail)), "deal_in": Pile(cards(["RC-"] * deal_in))}
    made = step(holding([], [hand, "5h", "6h", "7h", "8h"], **short), "choose", cards=[0, 1])
    assert told(made)[1:] == events


SIGNED = re.compile(r"(RC|GT|LI|MA)[+-]")


def resigned(position: Position, *, good_first: bool) -> Position:
    """Return the position with the signs of drinks that look alike dealt out anew, the kept ones first."""
    names = ("collection", "hand", "game", "cocktail", "deal_in")
    drinks = [card for name in names for card in pile(position, name) if card[:2] in DRINKS]
    signs = {code: sorted((card for card in drinks if card[:2] == code), reverse=good_first) for code in DRINKS}
    piles = {}
    for name in names:
        changed = [signs[card[:2]].pop() if card[:2] in DRINKS else card for card in pile(position, name)]
        piles[name] = getattr(inside(position), name).holding(cards(changed))
    return with_state(position, **piles)


def thirsty(hand: list[str]) -> list[int]:
    """Return the two positions to keep for as many drinks and bonus cards as can be had."""
    return sorted(range(5), key=lambda place: (hand[place] not in DRINKS, hand[place] != "B", place))[:2]


def test_signs_decide_nothing_before_the_evaluation() -> None:
    """SK-10: tables that differ only in signs answer alike, move by move, until the drinks are shown."""
    one = dealt(1)
    while "evaluate" not in verbs(one):
        verb = verbs(one)[0]
        body = {"cards": thirsty(table(one)["hand"])} if verb == "choose" else {}
        made = step(one, verb, **body)
        for good_first in (False, True):
            _must_look_alike(one, resigned(one, good_first=good_first), made, verb, body)
        one = made.position
    kept = [face(card) for card in cards(pile(one, "collection"))]
    assert sum(code in DRINKS for code in kept) > 10


def _must_look_alike(one: Position, other: Position, made: Step, verb: str, body: dict[str, Any]) -> None:
    """Hold two tables, and what a move makes of them, to look alike for everyone."""
    again = step(other, verb, **body)
    for viewer in (0, None):
        assert traffic(one, viewer) == traffic(other, viewer)
        assert traffic(made.position, viewer) == traffic(again.position, viewer)
        assert told(made, viewer) == told(again, viewer)
        assert not SIGNED.search(traffic(one, viewer).decode() + str(told(made, viewer)))
    assert refusal(one, "evaluate") == refusal(other, "evaluate")
    assert made.position.counters == again.position.counters
    assert all_cards(again.position) == all_cards(one)


def test_signs_are_first_told_by_the_drinks_of_the_evaluation() -> None:
    """SK-10, SK-14: of the evaluation's events the drinks' is the first that a sign decides."""
    good, bad = (told(step(confirmed([drink, "B"]), "evaluate")) for drink in ("MA+", "MA-"))
    assert good[:7] == bad[:7]
    assert good[7]["type"] == "drinks"
    assert good[7] != bad[7]


def test_event_of_moved_cards_names_none() -> None:
    """SK-10: of cards moved between decks the events give decks and counts alone."""
    made = step(dealt(1), "choose", cards=[0, 1])
    moves = [event for event in told(made) if event["type"] == "moved"]
    assert [set(event) for event in moves] == [{"type", "seat", "from", "to", "count", "missing"}]


def test_swap_exchanges_two_kept_cards() -> None:
    """SK-11: two kept cards change places, between hands and while a hand lies open."""
    for position in (holding(["3h", "B", "MA-"]), holding(["3h", "B", "MA-", "4h"], NOTHING[5:10])):
        made = step(position, "swap", positions=[2, 0])
        assert table(made.position)["collection"][:3] == ["MA", "B", "3h"]
        assert told(made) == [{"type": "swapped", "seat": 0, "positions": [2, 0]}]
        assert table(made.position)["hand"] == table(position)["hand"]


@pytest.mark.parametrize("positions", [[3, 3], [0, 30], [-1, 0], [0], [0, 1, 2], ["0", "1"], None])
def test_swap_takes_two_different_places(positions: object) -> None:
    """SK-11, C-2: anything but two different places of the thirty is malformed."""
    assert all(shape.objection({"positions": positions}) for shape in GAME.spec.verbs["swap"])


def test_empty_place_is_not_swapped() -> None:
    """SK-11: a place that is not filled cannot be swapped."""
    position = holding(["3h", "4h", "5h", "6h"])
    assert refusal(position, "swap", positions=[0, 4]) == (
        "out-of-bounds",
        "Now positions must be 2 different positions out of 0 to 3.",
    )


def test_swap_needs_two_cards() -> None:
    """SK-11: with fewer than two kept cards no swap is offered."""
    position = dealt(1)
    assert "swap" not in verbs(position)
    assert refusal(position, "swap", positions=[0, 1]) == ("not-now", "A swap needs two kept cards.")
    assert "swap" in verbs(act(position, "choose", cards=[1, 2]))


def test_nothing_is_swapped_after_confirmation() -> None:
    """SK-11, SK-12: once confirmed, or evaluated, the collection keeps its order."""
    position = confirmed([])
    assert "swap" not in verbs(position)
    assert refusal(position, "swap", positions=[0, 1])[0] == "not-now"
    assert refusal(act(position, "evaluate"), "swap", positions=[0, 1])[0] == "not-now"


def test_hand_number_goes_from_zero_to_fifteen() -> None:
    """SK-12: the hand number is 0 before the first deal and then 1 to 15; thirty cards are kept."""
    position = seat_at(SLUG)
    seen = [table(position)["hand_number"]]
    while verbs(position)[0] == "deal":
        position = act(position, "deal")
        seen.append(table(position)["hand_number"])
        assert refusal(position, "confirm")[0] == "not-now"
        position = act(position, "choose", cards=[0, 1])
    assert seen == list(range(16))
    assert table(position)["phase"] == "arrange"
    assert None not in table(position)["collection"]


@pytest.mark.parametrize(
    ("phase", "allowed"),
    [
        ("deal", {"deal", "swap"}),
        ("choose", {"choose", "swap"}),
        ("arrange", {"confirm", "swap"}),
        ("confirmed", {"evaluate", "wager"}),
        ("evaluated", {"deal"}),
    ],
)
def test_every_phase_refuses_what_it_does_not_offer(phase: str, allowed: set[str]) -> None:
    """SK-12: each verb is either offered in a phase or refused there with a sentence of its own."""
    full = ["MA+", *NOTHING[1:]]
    position = {
        "deal": lambda: holding(full[:4]),
        "choose": lambda: holding(full[:4], full[5:10]),
        "arrange": lambda: holding(full, phase="arrange"),
        "confirmed": lambda: confirmed(full),
        "evaluated": lambda: act(confirmed(full), "evaluate"),
    }[phase]()
    assert table(position)["phase"] == phase
    assert set(verbs(position)) == allowed | {"seed", "leave"}
    bodies: dict[str, dict[str, Any]] = {
        "choose": {"cards": [0, 1]},
        "swap": {"positions": [0, 1]},
        "wager": {"amount": 1},
    }
    for verb in GAME.spec.verbs.keys() - allowed:
        code, sentence = refusal(position, verb, **bodies.get(verb, {}))
        assert code == "not-now"
        assert sentence != f"There is nothing to {verb} now."


@pytest.mark.parametrize("amount", [-1, 1_000_001, 1.0, "5", True, None])
def test_wager_is_an_integer_from_nothing_to_a_million(amount: object) -> None:
    """SK-13, C-3: a wager outside 0 to 1,000,000, or no integer, is malformed."""
    assert all(shape.objection({"amount": amount}) for shape in GAME.spec.verbs["wager"])


def test_wager_may_be_replaced_and_left_out() -> None:
    """SK-13: the last wager before the evaluation counts, and none need be made."""
    position = confirmed(["MA+"])
    assert table(position)["wager"] is None
    assert table(act(position, "evaluate"))["result"]["wager"] is None
    made = step(act(position, "wager", amount=1_000_000), "wager", amount=50)
    assert told(made) == [{"type": "wagered", "seat": 0, "amount": 50}]
    assert table(made.position)["wager"] == 50
    assert table(act(made.position, "evaluate"))["result"]["wager"]["points"] == 50


def test_wager_needs_a_drink_kept_in_this_round() -> None:
    """SK-13: without a drink in the collection there is nothing to wager on; bonus cards are none."""
    position = confirmed(["B"])
    assert "wager" not in verbs(position)
    assert refusal(position, "wager", amount=0) == (
        "not-now",
        "No drink was kept in this round, so there is nothing to wager on.",
    )


def test_evaluation_tells_rows_bonuses_drinks_and_wager_in_order() -> None:
    """SK-14: six rows first, then bonus cards, every drink with its sign, the wager, the total."""
    position = act(confirmed(["3h", "3d", "B", "MA-", "RC+", "5h", "5d", "5s"]), "wager", amount=7)
    events = told(step(position, "evaluate"))
    assert [event["type"] for event in events] == [
        *["row"] * 6, "bonuses", "drinks", "wager-settled", "settled",
    ]  # fmt: skip
    assert events[0] == {
        "type": "row", "seat": 0, "row": 0,
        "cards": ["3h", "3d", "B", "MA", "RC"], "combination": "one-pair", "points": 5,
    }  # fmt: skip
    assert events[1]["combination"] == "three-of-a-kind"
    assert events[6] == {"type": "bonuses", "seat": 0, "count": 1, "points": 5}
    assert events[7]["drinks"] == [
        {"position": 3, "card": "MA", "value": -50},
        {"position": 4, "card": "RC", "value": 10},
    ]
    assert events[7]["net"] == -40
    assert events[8]["points"] == -7
    assert events[9] == {"type": "settled", "seat": 0, "total": 5 + 15 + 5 - 40 - 7}


def test_result_stays_in_view_until_the_next_round() -> None:
    """SK-14: after the evaluation collection and result stay in view, for a spectator too."""
    position = act(confirmed(["MA+"]), "evaluate")
    for viewer in (0, None):
        seen = table(position, viewer)
        assert seen["phase"] == "evaluated"
        assert seen["collection"] == ["MA", *NOTHING[1:]]
        assert seen["result"]["drinks"] == [{"position": 0, "card": "MA", "value": 50}]
    assert table(act(position, "deal"))["result"] is None


def test_score_before_the_first_evaluation_is_refused() -> None:
    """SK-14, C-8: while no round has been evaluated there is no score, and the refusal says so."""
    for position in (seat_at(SLUG), dealt(3), confirmed(["MA+"])):
        with pytest.raises(Illegal) as refused:
            sheet(position)
        assert refused.value.code == "not-evaluated"


POINTS = {
    "royal-flush": 75,
    "straight-flush": 60,
    "five-of-a-kind": 45,
    "four-of-a-kind": 30,
    "straight": 25,
    "flush": 25,
    "full-house": 20,
    "three-of-a-kind": 15,
    "two-pair": 10,
    "one-pair": 5,
    "nothing": 0,
}
ROWS = [
    ("Tk Jk Qk Kk Ak", "royal-flush"),
    ("9w Tw Jw Qw Kw", "straight-flush"),
    ("3h 4h 5h 6h 7h", "straight-flush"),
    ("4h 4d 4s 4c 4k", "five-of-a-kind"),
    ("4h 4d 4s 4w 5k", "four-of-a-kind"),
    ("4h 4d 4s 4w B", "four-of-a-kind"),
    ("4h 4d 4s 4w MA+", "four-of-a-kind"),
    ("7h 4d 6s 3c 5k", "straight"),
    ("Th Jd Qs Kc Aw", "straight"),
    ("3w 5w 7w 9w Jw", "flush"),
    ("4h 4d 4s 5c 5k", "full-house"),
    ("4h 4d 4s 5c 6k", "three-of-a-kind"),
    ("4h 4d 4s B B", "three-of-a-kind"),
    ("4h 4d 4s RC- 6k", "three-of-a-kind"),
    ("4h 4d 5s 5c 6k", "two-pair"),
    ("4h 4d 5s 5c LI+", "two-pair"),
    ("4h 4d 5s 6c 7k", "one-pair"),
    ("4h 4d B GT- MA+", "one-pair"),
    ("4h 5h 6h 7h B", "nothing"),
    ("4h 5h 6h 7h MA+", "nothing"),
    ("4h 5d 6s 7c 9k", "nothing"),
    ("B B B B B", "nothing"),
    ("MA+ MA+ MA+ MA+ MA+", "nothing"),
    ("RC+ RC- B GT+ 3h", "nothing"),
]


@pytest.mark.parametrize(("row", "combination"), ROWS)
def test_row_scores_its_best_combination(row: str, combination: str) -> None:
    """SK-15: a row scores its best combination; bonus cards and drinks take part in none."""
    scored = evaluated(row.split())["rows"][0]
    assert scored == {
        "cards": [face(card) for card in cards(row.split())],
        "combination": combination,
        "points": POINTS[combination],
    }


def test_every_combination_is_met() -> None:
    """SK-15: the rows above leave no combination out."""
    assert {combination for _, combination in ROWS} == POINTS.keys()


def test_rows_are_the_six_fives_of_the_collection() -> None:
    """SK-15: the rows are places 0-4, 5-9 and so on, and each scores for itself."""
    first, second = ["3h", "3d", "9s", "Tc", "Jk"], ["4h", "4d", "4s", "Ts", "Jc"]
    assert [row["points"] for row in evaluated([*first, *second])["rows"]] == [5, 15, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("row", "twos", "combination"),
    [
        ("3h 4d 5s 6c 7k", False, "straight"),
        ("Ah 3d 4s 5c 6k", False, "nothing"),
        ("2h 3d 4s 5c 6k", True, "straight"),
        ("2h 3h 4h 5h 6h", True, "straight-flush"),
        ("Ah 2d 3s 4c 5k", True, "nothing"),
        ("Ah 2h 3h 4h 5h", True, "flush"),
        ("Kh Ad 3s 4c 5k", False, "nothing"),
    ],
)
def test_ace_counts_high_only(row: str, twos: bool, combination: str) -> None:
    """SK-16: the lowest straight is 3-4-5-6-7, with the twos 2-3-4-5-6; an ace is never low."""
    answer = GAME.evaluate(tuple(row.split()), {"twos": twos})
    assert (answer["combination"], answer["points"]) == (combination, POINTS[combination])


WAGERS = [
    ("MA+ MA+", 110, -110),
    ("MA+ MA+", 101, -101),
    ("MA+ MA+", 100, 100),
    ("MA+ MA+", 99, 98),
    ("MA+ MA+", 90, 80),
    ("MA+ MA+", 51, 2),
    ("MA+ MA+", 50, 0),
    ("MA+ MA+", 40, 0),
    ("MA+ MA+", 1, 0),
    ("MA+ MA+", 0, 0),
    ("MA+ MA+", 1_000_000, -1_000_000),
    ("MA+ MA-", 0, 0),
    ("MA+ MA-", 1, -1),
    ("LI-", 0, 0),
    ("LI-", 1, -1),
    ("LI-", 30, -30),
    ("RC+", 10, 10),
    ("RC+", 9, 8),
]


@pytest.mark.parametrize(("drinks", "wager", "points"), WAGERS)
def test_wager_is_settled_on_the_net_of_the_drinks(drinks: str, wager: int, points: int) -> None:
    """SK-17: more than the net loses the wager, the net wins it, less wins what the shortfall leaves."""
    result = evaluated(drinks.split(), wager)
    assert (result["wager"]["amount"], result["wager"]["points"]) == (wager, points)
    assert result["total"] == result["net"] + points


@pytest.mark.parametrize(
    ("drinks", "wager", "explanation"),
    [
        ("MA+ MA+", 110, "The drinks came to 100 and you wagered 110, which is more: you lose the 110."),
        ("MA+ MA+", 100, "The drinks came to 100 and you wagered 100, which is exact: you win the 100."),
        ("MA+ MA+", 90, "The drinks came to 100 and you wagered 90, short by 10: you win 90 - 10 = 80."),
        (
            "MA+ MA+",
            50,
            "The drinks came to 100 and you wagered 50, short by 50, no less than the wager: nothing is won or lost.",
        ),
        ("LI-", 0, "The drinks came to -30 and you wagered 0: nothing is won or lost."),
        ("LI-", 5, "The drinks came to -30 and you wagered 5, which is more: you lose the 5."),
    ],
)
def test_wager_is_explained_in_words(drinks: str, wager: int, explanation: str) -> None:
    """SK-18: the result says in words why the wager brought what it did."""
    assert evaluated(drinks.split(), wager)["wager"]["explanation"] == explanation


def test_total_adds_rows_bonuses_net_and_wager() -> None:
    """SK-18: the total is everything added up, and may be below zero."""
    row = ["Tk", "Jk", "Qk", "Kk", "Ak"]
    good = evaluated([*row, "B", "B", "MA+", "RC-"], 40)
    assert (good["bonuses"], good["net"]) == ({"count": 2, "points": 10}, 40)
    assert good["total"] == 75 + 10 + 40 + 40
    assert evaluated(["MA-", "LI-"], 20)["total"] == -80 - 20


def test_next_round_starts_afresh_and_keeps_the_totals() -> None:
    """SK-19: `deal` after `evaluate` starts the next round; best, last, sum and count are kept."""
    first = act(confirmed(["MA-"]), "evaluate")
    assert sheet(first)["sheet"]["totals"] == {"rounds": 1, "best": -50, "last": -50, "summed": -50}
    second = act(first, "deal")
    assert counts(second) == (72, 32, 60)
    assert table(second)["collection"] == [None] * 30
    assert (table(second)["hand_number"], second.state.round) == (1, 2)
    assert len(all_cards(second)) == 169

    third = act(with_state(act(second, "choose", cards=[1, 2]), **_full(["RC+"])), "confirm")
    done = act(third, "evaluate")
    assert sheet(done)["sheet"]["totals"] == {"rounds": 2, "best": 10, "last": 10, "summed": -40}
    assert table(done)["totals"] == sheet(done)["sheet"]["totals"]


def _full(first: list[str]) -> dict[str, Any]:
    """Return a full collection for a round in play."""
    kept = COLLECTION.holding(cards(first + NOTHING[len(first) :]))
    return {"collection": kept, "phase": "arrange", "hand_number": 15}


def test_last_sheet_stays_while_the_next_round_is_played() -> None:
    """SK-19, C-8: during a later round `score` still gives the last evaluated one, and it is final."""
    first = act(act(confirmed(["MA+"]), "wager", amount=50), "evaluate")
    for position in (first, act(first, "deal"), act(act(first, "deal"), "leave")):
        scored = sheet(position, None)
        assert (scored["round"], scored["final"]) == (1, True)
        assert scored["standings"] == [{"seat": 0, "place": 1, "score": 100}]
        assert scored["sheet"]["result"] == table(first)["result"]


def test_wager_of_one_round_is_gone_in_the_next() -> None:
    """SK-19: a new round begins without a wager."""
    position = act(act(act(confirmed(["MA+"]), "wager", amount=50), "evaluate"), "deal")
    assert table(position)["wager"] is None


def test_leaving_ends_the_session_and_leaves_the_round_unscored() -> None:
    """C-10: `leave` is possible at any time; the open round is not scored."""
    left = step(dealt(4), "leave")
    assert (status(left.position), left.position.state.finished) == ("finished", "left")
    assert told(left) == [{"type": "left", "seat": 0}]
    with pytest.raises(Illegal, match="No round has been evaluated yet"):
        sheet(left.position)


def test_client_seed_counts_only_where_a_round_starts() -> None:
    """C-7: the first deal of a round takes a seed of the player's own, a later one does not."""
    plain, seeded = seat_at(SLUG), act(seat_at(SLUG), "deal", client_seed="luck")
    assert table(act(plain, "deal"))["hand"] != table(seeded)["hand"]
    between = act(seeded, "choose", cards=[0, 1])
    assert refusal(between, "deal", client_seed="luck") == (
        "not-now",
        "The round is begun: a seed of your own is for the next one.",
    )


@pytest.mark.parametrize("twos", [False, True])
def test_cards_are_conserved_and_the_bound_is_kept(twos: bool) -> None:
    """First examples settle a round in as many moves as the spec says, and no card is lost or made."""
    position = seat_at(SLUG, twos=twos)
    deck, moves = all_cards(position), 0
    while status(position) != "settled":
        first = offers(position, 0)[0]
        position, moves = act(position, first.verb, **first.example), moves + 1
        assert all_cards(position) == deck
    assert moves == GAME.spec.bound


def test_every_offer_comes_with_a_legal_example() -> None:
    """Every example that is offered in a round is accepted as it stands."""
    position = seat_at(SLUG)
    while status(position) != "settled":
        for offer in offers(position, 0):
            act(position, offer.verb, **offer.example)
        first = offers(position, 0)[0]
        position = act(position, first.verb, **first.example)


def test_evaluate_answers_drinks_without_a_sign() -> None:
    """C-12: a row is scored without a session; drinks give points and no sign."""
    answer = GAME.evaluate(("4h", "4d", "B", "MA", "RC"), {"twos": False})
    assert answer == {
        "combination": "one-pair",
        "points": 5,
        "bonuses": {"count": 1, "points": 5},
        "drinks": [
            {"position": 3, "card": "MA", "value": 50},
            {"position": 4, "card": "RC", "value": 10},
        ],
    }


@pytest.mark.parametrize(
    ("row", "twos"),
    [
        ("3h 4h 5h 6h", False),
        ("3h 4h 5h 6h 7h 8h", False),
        ("3h 3h 5h 6h 7h", False),
        ("2h 3h 4h 5h 6h", False),
        ("1h 3h 4h 5h 6h", True),
        ("MA+ 3h 4h 5h 6h", False),
        ("MA- 3h 4h 5h 6h", False),
        ("", False),
    ],
)
def test_evaluate_refuses_what_the_decks_do_not_hold(row: str, twos: bool) -> None:
    """C-12: not five cards, a card twice, a two without the option and a signed drink are refused."""
    with pytest.raises(Invalid):
        GAME.evaluate(tuple(row.split()), {"twos": twos})


def test_evaluate_allows_as_many_alike_as_there_are() -> None:
    """C-12: five bonus cards exist, and more than five of every drink."""
    assert GAME.evaluate(("B",) * 5, {"twos": False})["bonuses"] == {"count": 5, "points": 25}
    assert [drink["value"] for drink in GAME.evaluate(("LI",) * 5, {"twos": False})["drinks"]] == [30] * 5
