"""Beat the Dealer: lapsed turns, bots, and the clock, with nothing that sleeps."""

from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.advice.beat_the_dealer import Prospect, best, prospects
from engine.cards import pack
from engine.game import Action, Illegal, Move
from engine.games.beat_the_dealer_ranks import Guess, Hint
from engine.games.beat_the_dealer_table import Table
from tests.dealers import (
    GAME,
    NOW,
    RANKS,
    SLUG,
    at,
    bot,
    deal,
    dealt,
    drunk,
    ended,
    guess,
    guessed,
    leave,
    new,
    people,
    steps,
    table,
    told,
    turn,
    types,
)

WORST = {1: 12, 2: 11, 3: 10, 4: 9, 5: 8, 6: 7, 7: 6, 8: 7, 9: 8, 10: 9, 11: 10, 12: 11, 13: 12}


# Lapsed turns.


@pytest.mark.parametrize("card", RANKS)
@pytest.mark.parametrize("most", [None, 8])
def test_lapsed_turn_costs_what_the_worst_guess_would_have(card: str, most: int | None) -> None:
    """BD-13: the greater of v - 1 and 13 - v, capped last; the card is laid, the turn lost and marked."""
    position = dealt(card, turn_seconds=5, **({} if most is None else {"max_sips": most}))
    (step,) = steps(position, NOW + 5000)
    assert (step.move.seat, step.move.at, types(step)) == (None, NOW + 5000, ["revealed", "drank", "turn"])
    assert told(step.events)[0]["outcome"] == "lapsed"
    cost = min(WORST[RANKS.index(card) + 1], most or 13)
    turned = table(step.position)["last_turn"]
    assert (turned["outcome"], turned["drinker"], turned["amount"]) == ("lapsed", 1, cost)
    assert drunk(step.position)[1] == (cost, 0)
    assert (table(step.position)["streak"], table(step.position)["tallies"][1]["lost"]) == (1, 1)
    assert table(step.position)["piles"][RANKS.index(card)]["count"] == 1


def test_waiting_never_pays() -> None:
    """BD-13: no two wrong guesses cost more than a lapse."""
    for card, rank in product(RANKS, RANKS):
        if card != rank:
            cost = drunk(guessed(dealt(card), rank * 2))[1][0]
            assert cost <= drunk(at(dealt(card, turn_seconds=5), NOW + 5000))[1][0]


def test_clock_starts_with_the_turn_and_again_at_a_wrong_first_guess() -> None:
    """BD-13: the deadline is public, and moves with a wrong first guess, with a new turn, and with nothing else."""
    position = dealt("7 3", seats=4, turn_seconds=5)
    assert play.view(position, None).deadline_at == NOW + 5000
    hinted = guess(position, "9", NOW + 4999).position
    assert play.view(hinted, None).deadline_at == NOW + 9999
    assert at(hinted, NOW + 9998) == hinted
    lapsed = at(hinted, NOW + 9999)
    assert table(lapsed)["last_turn"]["guesses"] == [{"rank": "9", "hint": "lower"}]
    assert play.view(lapsed, None).deadline_at == NOW + 14_999
    for leaver in (0, 3):
        assert play.view(leave(hinted, leaver, NOW + 6000).position, None).deadline_at == NOW + 9999
    assert play.view(guessed(hinted, "7", NOW + 6000), None).deadline_at == NOW + 11_000
    assert play.view(ended(hinted, NOW + 6000).position, None).deadline_at is None
    assert play.view(dealt("7"), None).deadline_at is None


def test_guess_at_the_very_deadline_is_too_late() -> None:
    """C-5: the lapse takes place before a guess that comes at its moment; a millisecond sooner it is in time."""
    position = dealt("7 3", seats=3, turn_seconds=5)
    assert drunk(guess(position, "7", NOW + 4999).position)[0] == (0, 7)
    late = at(position, NOW + 5000)
    with pytest.raises(Illegal, match="It is the turn of seat 2"):
        play.advance(late, Move(1, Action("choose", {"rank": "7"}), NOW + 5000))


def test_three_lapsed_turns_pass_the_role() -> None:
    """BD-7, BD-13: lapsed turns are lost turns; each comes at its own time, however late somebody looks."""
    made = steps(dealt("2222", seats=3, turn_seconds=5), NOW + 17_000)
    assert [step.move.at - NOW for step in made] == [5000, 10_000, 15_000]
    assert [types(step)[2:] for step in made] == [["turn"], ["turn"], ["dealer", "turn"]]
    assert turn(made[-1].position) == (1, 2)


def test_nothing_lapses_without_the_option() -> None:
    """BD-13: by default a turn lasts as long as it takes."""
    assert steps(dealt("7"), NOW + 10**12) == ()


def test_whole_round_lapses_and_ends() -> None:
    """BD-9, BD-13: with nobody there a round ends by itself, after 52 turns."""
    made = steps(dealt("", seats=3, turn_seconds=5), NOW + 10**9)
    assert (len(made), made[-1].move.at) == (52, NOW + 52 * 5000)
    assert types(made[-1])[-1] == "settled"


# Bots.


def seen(laid: str = "", first: str = "", hint: str = "", *, most: int | None = None) -> play.View:
    """Return the guesser's view with cards of these ranks laid, and after this first guess, if one is given."""
    view = play.view(dealt(""), 1)
    assert isinstance(view.table, Table)
    counts = Counter(laid.replace(" ", ""))
    shown = replace(
        view.table,
        piles=tuple(replace(pile, count=counts[pile.rank]) for pile in view.table.piles),
        guesses=(Guess(first, Hint(hint)),) if first else (),
        max_sips=most,
    )
    return replace(view, table=shown)


def chosen(level: str, *facts: str) -> str:
    """Return what a bot of that level guesses at such a view."""
    action = BOTS[SLUG][level](seen(*facts), ())
    assert (action.verb, list(action.body)) == ("choose", ["rank"])
    return str(action.body["rank"])


@pytest.mark.parametrize(
    ("facts", "rank"),
    [
        (("",), "7"),
        (("7777",), "7"),
        (("", "7", "higher"), "T"),
        (("TTTT", "7", "higher"), "T"),
        (("", "7", "lower"), "3"),
    ],
)
def test_easy_bot_guesses_the_middle(facts: tuple[str, ...], rank: str) -> None:
    """BD-15: 7, then the middle of what the hint leaves, of two the lower, whatever is laid."""
    assert chosen("easy", *facts) == rank


@pytest.mark.parametrize(
    ("facts", "rank"),
    [
        (("",), "7"),
        (("7",), "6"),
        (("A23456789TJQ",), "K"),
        (("", "7", "higher"), "T"),
        (("T", "7", "higher"), "J"),
        (("8TJQ", "7", "higher"), "9"),
        (("AA2233445566778899TTJJQQKKK",), "7"),
        (("22223333444455556666777788889999TTTTJJJJQQQQ",), "A"),
        (("77", "6", "higher"), "T"),
        (("", "2", "lower"), "A"),
    ],
)
def test_normal_bot_guesses_the_likeliest_rank(facts: tuple[str, ...], rank: str) -> None:
    """BD-15: most cards left within the hint; of equals the nearest to the middle of those left, then the lower."""
    assert chosen("normal", *facts) == rank


def left_over(seed: int) -> str:
    """Return the ranks of a shuffled pack's first cards: a laid part, any number of them."""
    random = Random(seed)  # noqa: S311 - what a test chooses is no secret
    cards = [card[0] for card in pack()]
    random.shuffle(cards)
    return "".join(cards[: random.randrange(52)])


def unseen(laid: str) -> list[int]:
    """Return the values of the cards that are not laid, one for one."""
    left = Counter(dict.fromkeys(RANKS, 4)) - Counter(laid)
    return [RANKS.index(rank) + 1 for rank in left.elements()]


def cost(card: int, guesses: tuple[int, ...], most: int | None) -> int:
    """Return what a guesser drinks who guesses so."""
    return 0 if card in guesses else min(abs(card - guesses[-1]), most or 99)


def strategies(cards: list[int], first: int, most: int | None) -> int:
    """Return the least total over all cards of any answer to `higher` and any to `lower`."""
    return min(
        sum(cost(card, (first, high if card > first else low), most) for card in cards)
        for low, high in product(range(1, 14), repeat=2)
    )


@pytest.mark.parametrize("most", [None, 1, 3])
def test_prospects_are_exact(most: int | None) -> None:
    """BD-12: for each rank its chance, and the mean drink under the best of all pairs of second guesses."""
    for seed in range(6):
        laid = left_over(seed)
        cards = unseen(laid)
        for value, found in enumerate(prospects(table_of(seen(laid, most=most))), 1):
            assert found.rank == RANKS[value - 1]
            assert found.chance == Fraction(cards.count(value), len(cards))
            assert found.drink == Fraction(strategies(cards, value, most), len(cards))


@pytest.mark.parametrize("hint", ["higher", "lower"])
def test_prospects_of_a_second_guess_are_exact(hint: str) -> None:
    """BD-12: after a hint the cards on its other side are out, and one guess is left."""
    for seed, first in product(range(10), RANKS[1:-1]):
        laid, number = left_over(seed), RANKS.index(first) + 1
        cards = [card for card in unseen(laid) if (card > number) == (hint == "higher") and card != number]
        if not cards:
            with pytest.raises(ValueError, match="no card"):
                prospects(table_of(seen(laid, first, hint)))
            continue
        for value, found in enumerate(prospects(table_of(seen(laid, first, hint))), 1):
            assert found.chance == Fraction(cards.count(value), len(cards))
            assert found.drink == Fraction(sum(cost(card, (value,), None) for card in cards), len(cards))


def test_hard_bot_guesses_for_the_least_drink() -> None:
    """BD-12, BD-15: the least expected drink, of equals the lowest rank; with nothing laid a six."""
    assert (chosen("hard", ""), min(each.drink for each in prospects(table_of(seen())))) == ("6", Fraction(18, 13))
    for seed in range(40):
        found = prospects(table_of(seen(left_over(seed))))
        drinks = [each.drink for each in found]
        assert chosen("hard", left_over(seed)) == found[drinks.index(min(drinks))].rank
    assert best((Prospect("A", Fraction(1), Fraction(2)), Prospect("2", Fraction(0), Fraction(2)))).rank == "A"


def table_of(view: play.View) -> Table:
    """Return a view's table, typed."""
    assert isinstance(view.table, Table)
    return view.table


def test_bots_need_a_table_of_this_game() -> None:
    """BD-15: a bot that is shown another game's table says so."""
    other = play.view(play.open_table("speed", "s" * 22, bytes(64), people(2), {}), 0)
    with pytest.raises(TypeError):
        BOTS[SLUG]["hard"](other, ())


@pytest.mark.parametrize("bot_ms", [0, 1, 1000, 10_000])
def test_bot_takes_its_time_over_each_guess(bot_ms: int) -> None:
    """C-11: a bot guesses `bot_ms` after its turn began, and again after its wrong first guess; nobody sees when."""
    position = guess(dealt("7 K", seats=(*people(2), bot("easy")), bot_ms=bot_ms), "7", NOW + 50).position
    assert play.view(position, None).deadline_at is None
    assert at(position, NOW + 49 + bot_ms) == position
    made = steps(position, NOW + 10**6)
    assert [(step.move.seat, step.move.at - NOW - 50) for step in made] == [(2, bot_ms), (2, 2 * bot_ms)]
    assert [step.move.action.body["rank"] for step in made] == ["7", "T"]
    assert turn(made[-1].position) == (0, 1)


@pytest.mark.parametrize(("bot_ms", "lapses"), [(4999, False), (5000, True), (10_000, True)])
def test_lapse_comes_before_a_bots_guess(bot_ms: int, *, lapses: bool) -> None:
    """C-5, BD-13: of both at one moment the lapse; a bot slower than the clock loses its turn, by a public deadline."""
    position = guess(dealt("7 K", seats=(*people(2), bot("easy")), bot_ms=bot_ms, turn_seconds=5), "7").position
    assert play.view(position, None).deadline_at == NOW + 5000
    made = steps(position, NOW + 5000)
    assert [step.move.seat for step in made] == [None if lapses else 2]


@pytest.mark.parametrize("levels", [("easy", "hard"), ("normal",) * 12])
def test_bots_play_a_round_by_themselves(levels: tuple[str, ...]) -> None:
    """C-11: once the host has dealt, a table of bots plays on to the end of the deck."""
    opening = new(tuple(map(bot, levels)))
    dealt_by_host = play.host_acts(opening, Move(None, Action("deal"), NOW)).position
    made = steps(dealt_by_host, NOW + 10**6)
    assert types(made[-1])[-1] == "settled"
    assert len(made) < GAME.spec.bound
    assert play.replay(dealt_by_host, [step.move for step in made]) == made[-1].position


def test_bot_that_deals_sees_and_says_nothing() -> None:
    """BD-3: a bot may be the dealer; it has nothing to do but to be right."""
    position = dealt("7 3", seats=(bot("hard"), *people(2)))
    assert steps(position, NOW + 10**9) == ()
    assert turn(guessed(position, "7")) == (0, 2)


@pytest.mark.parametrize("granularity", [10, 777, 10**7])
def test_whoever_looks_and_however_late_the_round_is_the_same(granularity: int) -> None:
    """C-5: looked at every 10 ms, now and then, or once at the end: one log and one position."""
    opening = deal(new((*people(2), bot("easy"), bot("normal"), bot("hard")), turn_seconds=5)).position
    moves, position = [], opening
    end = NOW + 300_000
    for now in (*range(NOW, end, granularity), end):
        for step in steps(position, now):
            moves.append(step.move)
            position = step.position
    whole = steps(opening, end)
    assert moves == [step.move for step in whole]
    assert position == whole[-1].position
    assert not position.state.playing
    assert play.replay(opening, moves) == position
