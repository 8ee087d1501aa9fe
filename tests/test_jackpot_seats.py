"""Jackpot's seats: who sees what, leaving, time, and the score (JP-14 … JP-16)."""

from typing import Any

import msgspec
import pytest

from engine import play
from engine.cards import pack
from engine.game import PERSON, Action, Illegal, Move
from engine.games.jackpot_hands import Category
from engine.play import open_seats
from tests.jackpots import (
    DOUBLES,
    GAME,
    NOTHING_A,
    NOTHING_B,
    NOTHING_C,
    NOW,
    OPEN,
    TRIO,
    all_cards,
    at,
    balances,
    bots,
    chips,
    dice,
    drawing,
    dropped,
    due,
    inside,
    laid,
    new,
    opened,
    people,
    plain,
    played_out,
    refused,
    send,
    sent,
    stood,
    swapped,
    table,
    told,
    traffic,
    types,
    with_secret,
)

# Who sees what.


def test_a_seat_sees_its_own_hand_and_drops() -> None:
    """JP-14: the own hand, its category and all own drops of the round are in the seat's view, and not in others'."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac Kc Qc 4s")
    position = dropped(position, (0, [0, 1, 2]), (1, []), (0, [4]))
    mine, others = table(position, 0)["hands"][0], table(position, 1)["hands"][0]
    assert (mine["cards"], mine["category"], mine["category_name"]) == (["Ac", "Kc", "Qc", "8c", "4s"], 2, "Trio")
    assert mine["discarded"] == ["2h", "3d", "7s", "Th"]
    assert (others["cards"], others["discarded"], others["category"]) == ([None] * 5, [None] * 4, None)
    for viewer in (None, 0, 1):
        assert table(position, viewer)["hands"][0]["dropped"] == [3, 1, None]
    assert table(position, None)["hands"] == [others, table(position, 0)["hands"][1]]


def test_own_drops_stay_in_view_when_they_are_shuffled_in() -> None:
    """JP-14, JP-5: the record of a seat's drops outlasts the discard pile."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac", short=True)
    position = dropped(position, (0, [0]), (1, [2, 3]), (0, [1]), (1, [4]))
    assert table(position)["shuffles"] == 1
    assert table(position, 0)["hands"][0]["discarded"] == ["2h", "3d"]
    assert table(position, 1)["hands"][0]["discarded"] == [None, None]


def test_discards_stay_secret_after_the_flip() -> None:
    """JP-14: a settled round shows all hands, and still nobody else's drops."""
    position = laid({0: NOTHING_A, 1: DOUBLES}, stock="Ac Kc Qc")
    position = sent(stood(stood(dropped(position, (0, [0, 1, 2])))), 1, "evaluate")
    assert table(position, 1)["hands"][0]["cards"] == ["Ac", "Kc", "Qc", "8c", "Th"]
    assert table(position, 1)["hands"][0]["discarded"] == [None] * 3
    assert b"3d" not in traffic(position, 1)
    assert b"3d" in traffic(position, 0)
    again = sent(position, 0, "deal")
    assert table(again, 0)["hands"][0]["discarded"] == []


@pytest.mark.parametrize("viewer", [None, 0, 1, 2])
def test_hidden_cards_change_nothing_that_a_viewer_sees(viewer: int | None) -> None:
    """JP-14: with any two cards exchanged that a viewer cannot see, he is told the same to the last byte."""
    random = dice(4)
    for number in range(10):
        position = sent(with_secret(new(people(3)), number), 0, "deal")
        mine = set(inside(position).hands[viewer].cards.cards) if viewer is not None else set()
        twin = swapped(position, *random.sample([card for card in pack() if card not in mine], 2))
        while inside(position).phase == "drop" and inside(position).pass_number < 3:
            turn = inside(position).turn
            drop = [] if turn == viewer else random.sample(range(5), random.randint(0, 3))
            steps = [send(each, turn, "choose", drop=drop) for each in (position, twin)]
            assert told(steps[0], viewer) == told(steps[1], viewer)
            position, twin = steps[0].position, steps[1].position
            assert traffic(position, viewer) == traffic(twin, viewer)


# Leaving.


def test_leaving_in_a_turn_passes_it_on() -> None:
    """JP-15: the hand goes face down on the discard pile, what was paid stays, and the next seat drops."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C}, stock="Ac Kc", turn_seconds=60)
    position = dropped(position, (0, [0, 1]))
    step = send(position, 1, "leave", NOW + 9000)
    state = inside(step.position)
    assert types(step.events) == ["left"]
    assert (state.turn, state.order, state.since) == (2, (0, 2), NOW + 9000)
    assert state.discards.cards == (*NOTHING_B.split(), "2h", "3d")
    assert (state.jackpot, balances(step.position)) == (20, [-20, 0, 0])
    assert table(step.position, 1)["hands"][1]["cards"] == []
    assert all_cards(step.position) == sorted(pack())
    assert play.view(step.position, None).deadline_at == NOW + 69_000


def test_leaving_out_of_turn_leaves_the_turn_where_it_is() -> None:
    """JP-15: another seat's turn and its clock go on."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C}, turn_seconds=60)
    for leaver in (1, 2):
        state = inside(sent(position, leaver, "leave", NOW + 9000))
        assert (state.turn, state.since) == (0, NOW)
    position = sent(dropped(position, (0, [1])), 0, "leave")
    assert (inside(position).turn, inside(position).jackpot, balances(position)) == (1, 10, [-10, 0, 0])


def test_leaving_can_end_a_pass_and_the_passes() -> None:
    """JP-15: a pass ends when the last who had to drop leaves, and the passes where none still in has dropped."""
    position = laid({0: NOTHING_A, 1: NOTHING_B, 2: NOTHING_C})
    on = sent(dropped(position, (0, [0]), (1, [])), 2, "leave")
    assert (inside(on).phase, inside(on).pass_number, inside(on).turn) == ("drop", 2, 0)
    step = send(dropped(position, (0, []), (1, [])), 2, "leave")
    assert types(step.events) == ["left", "passes-over"]
    assert inside(step.position).phase == "flip"
    gone = sent(dropped(position, (0, [0]), (1, [])), 0, "leave")
    assert inside(dropped(gone, (2, []))).phase == "flip"


def test_last_seat_left_wins_without_a_flip() -> None:
    """JP-15: with one seat left it takes the jackpot, and no hand is shown."""
    for viewer in (None, 0, 1):
        position = laid({0: NOTHING_A, 1: NOTHING_B}, stock="Ac Kc")
        step = send(dropped(position, (0, [0, 1])), 0, "leave")
        assert types(step.events) == ["left", "settled"]
        seen = table(step.position, viewer)
        assert seen["result"] == {"winner": 1, "by": "last", "tied": [], "draws": [], "payout": 20}
        assert seen["hands"][1]["cards"] == (NOTHING_B.split() if viewer == 1 else [None] * 5)
        assert seen["hands"][1]["category"] == (0 if viewer == 1 else None)
        assert seen["hands"][0]["cards"] == []
        assert balances(step.position) == [-20, 20]
        assert play.status(step.position) == "finished"  # nobody can take the seat that was left (C-9)


def test_leaving_before_the_flip_gives_up_the_hand() -> None:
    """JP-15: in the flip phase a leaver's hand is no longer ranked, and with one left there is no flip."""
    position = stood(laid({0: NOTHING_A, 1: TRIO, 2: DOUBLES}))
    position = sent(position, 1, "leave")
    assert inside(position).phase == "flip"
    assert table(sent(position, 0, "evaluate"))["result"]["winner"] == 2
    assert table(sent(position, 2, "leave"))["result"] == {
        "winner": 0,
        "by": "last",
        "tied": [],
        "draws": [],
        "payout": 0,
    }


def test_leaving_between_rounds_keeps_the_balance() -> None:
    """JP-15, C-9: the last round stays in view, the balance stays, and the seat is given to nobody."""
    position = sent(stood(laid({0: NOTHING_A, 1: TRIO, 2: NOTHING_C}, ante=5)), 0, "evaluate")
    shown, kept = table(position)["hands"], balances(position)
    position = sent(position, 1, "leave")
    assert (table(position)["hands"], balances(position)) == (shown, kept)
    assert open_seats(position) == ()
    position = sent(position, 0, "deal")
    assert inside(position).order == (2, 0)
    assert balances(position)[1] == kept[1]
    assert {each.seat for each in play.score(position, None).standings} == {0, 1, 2}


def test_a_bot_may_be_taken_out_of_a_round() -> None:
    """JP-15: the host takes out a seat whose turn it is; it is replayed like any move."""
    opening = new((*people(2), *bots("normal")), first_seat=2)
    dealt = sent(opening, 0, "deal", NOW)
    step = play.host_acts(dealt, Move(None, Action("leave", {"seat": 2}), NOW + 400))
    assert (inside(step.position).turn, inside(step.position).order) == (0, (0, 1))
    again = play.replay(opening, [Move(0, Action("deal"), NOW), step.move])
    assert again == step.position


def test_bots_flip_when_the_last_person_in_the_round_leaves() -> None:
    """JP-6, JP-15, C-10: with a newcomer at the table the bots left alone flip at once, at the time of the leaving."""
    position = new((*people(1), *bots("easy", "easy"), OPEN))
    position = sent(position, 0, "deal", NOW)
    position = play.join(position, Move(3, Action("join", {"name": "Newcomer"}), NOW)).position
    now = NOW
    while inside(position).phase == "drop":
        now += 5000
        position = at(position, now)
        if inside(position).turn == 0:
            position = sent(position, 0, "choose", now, drop=[])
    left = sent(position, 0, "leave", now + 777)
    (step,) = due(left, now + 777)
    assert (step.move.at, types(step.events)[0]) == (now + 777, "flipped")
    assert play.status(step.position) == "settled"


def test_the_round_of_a_table_without_persons_stays_unscored() -> None:
    """C-10: when the last person leaves two bots to themselves the session is finished, the jackpot where it lies."""
    position = sent(new((*people(1), *bots("easy", "easy")), ante=5), 0, "deal")
    position = sent(position, 0, "leave")
    assert (play.status(position), play.view(position, None).reason) == ("finished", "left")
    assert (inside(position).jackpot, chips(position), table(position)["result"]) == (15, 0, None)
    assert (table(position)["phase"], table(position)["turn"]) == ("settled", None)
    assert GAME.draw(play.view(position, None).table)[0] == "Jackpot 15   the round is over"
    assert due(position, NOW + 10**9) == ()


def test_a_single_bot_left_wins_before_the_session_ends() -> None:
    """JP-15, C-10: the last person's leaving gives one bot the jackpot, and then finishes the session."""
    position = sent(new((*people(1), *bots("easy")), ante=5), 0, "deal")
    position = sent(position, 0, "leave")
    assert (play.status(position), table(position)["result"]["winner"]) == ("finished", 1)
    assert (balances(position), inside(position).jackpot) == ([-5, 5], 0)


# Time.


def test_a_lapsed_turn_drops_nothing() -> None:
    """JP-16: at the end of its time a turn is over; a drop a moment earlier counts."""
    position = sent(new(people(3), turn_seconds=5), 0, "deal", NOW)
    assert play.view(position, None).deadline_at == NOW + 5000
    assert inside(sent(position, 0, "choose", NOW + 4999, drop=[0])).jackpot == 10
    assert refused(position, 0, "choose", NOW + 5000, drop=[0]) == ("not-now", "It is the turn of seat 1.")
    (step,) = due(position, NOW + 9999)
    assert (step.move, types(step.events)) == (Move(None, Action("lapse"), NOW + 5000), ["lapsed", "dropped"])
    assert (told(step, None)[0]["seat"], told(step, None)[1]["count"]) == (0, 0)
    assert play.view(step.position, None).deadline_at == NOW + 10_000
    made = due(position, NOW + 20_000)
    assert [(each.move.action.verb, each.move.at - NOW) for each in made] == [
        ("lapse", 5000),
        ("lapse", 10_000),
        ("lapse", 15_000),
        ("flip", 20_000),
    ]


def test_a_bot_takes_its_time_and_shows_no_moment_of_it() -> None:
    """C-11: a bot drops `bot_ms` after its turn began; only the turn's own limit is public."""
    for options, deadline in (({"bot_ms": 2500}, None), ({"bot_ms": 2500, "turn_seconds": 60}, NOW + 60_000)):
        position = sent(opened((*bots("easy"), *people(1)), options), 1, "deal", NOW)
        assert play.view(position, None).deadline_at == deadline
        assert due(position, NOW + 2499) == ()
        (step,) = due(position, NOW + 2500)
        assert (step.move.seat, step.move.at) == (0, NOW + 2500)


def test_a_bot_that_would_be_slower_than_the_limit_lapses() -> None:
    """JP-16, C-5: of equal moments the lapse comes before the bot."""
    position = sent(new((*bots("easy"), *people(1)), bot_ms=5000, turn_seconds=5), 1, "deal", NOW)
    (step,) = due(position, NOW + 5000)
    assert types(step.events) == ["lapsed", "dropped"]


PERSONS_MOVES: list[tuple[int, str, dict[str, Any], int]] = [
    (0, "deal", {}, 0),
    (0, "choose", {"drop": [0, 1]}, 1200),
    (3, "choose", {"drop": [2]}, 4321),
    (0, "choose", {"drop": []}, 9300),
    (3, "leave", {}, 12_000),
    *((0, "evaluate", {}, moment) for moment in range(14_000, 40_000, 777)),
    (0, "deal", {}, 41_005),
    (0, "choose", {"drop": [4]}, 46_004),
]
"""What persons try, and when; what is not theirs to do at the moment is refused and changes nothing."""


@pytest.mark.parametrize("pace", [10, 97, 1000, 7001])
def test_looking_changes_nothing(pace: int) -> None:
    """C-5: looked at every few ms or once at the end, a table has the same position and the same log."""
    opening = new((*people(1), *bots("easy", "normal"), *people(1)), turn_seconds=5, bot_ms=730, ante=3)
    end = NOW + 80_000
    often, once = Watched(opening), Watched(opening)
    waiting = list(PERSONS_MOVES)
    for now in range(NOW, end, pace):
        while waiting and NOW + waiting[0][3] <= now:
            often.tries(*waiting.pop(0))
        often.looks(now)
    often.looks(end)
    for move in PERSONS_MOVES:
        once.tries(*move)
    once.looks(end)
    assert often.position == once.position
    assert often.log == once.log
    assert play.replay(opening, often.log) == once.position
    assert {move.action.verb for move in often.log} == {"deal", "choose", "lapse", "leave", "evaluate", "flip"}


class Watched:
    """A table and its log, brought up to date whenever somebody looks or moves."""

    def __init__(self, opening: play.Position) -> None:
        self.position = opening
        self.log: list[Move] = []

    def looks(self, now: int) -> None:
        """Let take place what is due."""
        for step in due(self.position, now):
            self.log.append(step.move)
            self.position = step.position

    def tries(self, seat: int, verb: str, body: dict[str, Any], after: int) -> None:
        """Make a person's move after what was due, if it is not refused."""
        self.looks(NOW + after)
        try:
            step = play.advance(self.position, Move(seat, Action(verb, body), NOW + after))
        except Illegal:
            return
        self.log.append(step.move)
        self.position = step.position


def test_a_position_is_stored_and_replayed_as_it_is() -> None:
    """C-5, C-6: the stored position comes back equal at every step, and the log gives it again."""
    opening = new((*people(2), *bots("hard")), turn_seconds=30, ante=2)
    position, moves, random = opening, [], dice(3)
    for _ in range(4):
        for now in range(NOW + 100_000 * inside(position).round, NOW + 10**7, 2000):
            steps = list(due(position, now))
            position = steps[-1].position if steps else position
            turn = inside(position).turn
            if not inside(position).playing:
                steps.append(send(position, 0, "deal", now))
            elif turn in (0, 1):
                steps.append(send(position, turn, "choose", now, drop=random.sample(range(5), 2)))
            for step in steps:
                stored = msgspec.msgpack.encode(step.position)
                assert msgspec.msgpack.decode(stored, type=play.Position) == step.position
            moves += [step.move for step in steps]
            position = steps[-1].position if steps else position
            if any("settled" in types(step.events) for step in steps):
                break
    assert inside(position).round >= 4
    assert play.replay(opening, moves) == position


# The score, the board, the bound.


def test_score_shows_the_round_and_the_balances() -> None:
    """C-8: the sheet of the round in play is not final and shows no more than the view; the settled one is."""
    position = laid({0: NOTHING_A, 1: TRIO, 2: NOTHING_C}, stock="Ts", card_value=50)
    position = stood(dropped(position, (0, [1])))
    sheet = plain(play.score(position, 1))
    assert (sheet["round"], sheet["final"], sheet["sheet"]["jackpot"]) == (1, False, 50)
    assert sheet["sheet"]["hands"] == table(position, 1)["hands"]
    settled = plain(play.score(sent(stood(position), 0, "evaluate"), None))
    assert settled["final"]
    assert settled["standings"] == [
        {"seat": 1, "place": 1, "score": 50},
        {"seat": 2, "place": 2, "score": 0},
        {"seat": 0, "place": 3, "score": -50},
    ]
    assert settled["sheet"]["result"]["winner"] == 1
    opening = plain(play.score(new((*people(2), OPEN)), None))
    assert (opening["final"], [each["place"] for each in opening["standings"]]) == (False, [1, 1])


def test_board_can_be_played_from() -> None:
    """The text names turn, jackpot, own cards with their positions, and hides the others'."""
    position = dropped(laid({0: NOTHING_A, 1: TRIO}, stock="Ts Tc"), (0, [1, 2]), (1, [0]))
    board = "\n".join(GAME.draw(play.view(position, 0).table))
    assert "Jackpot 30   pass 2 of 3: seat 0 is to drop\nA dropped card costs 10" in board
    assert "> Seat 0   balance -20   put in 20   dropped 2\n" in board
    assert "    position   0   1   2   3   4\n    card      2h  Ts  Tc  8c  Th   Hat Trick\n" in board
    assert "    dropped   3d  7s\n" in board
    assert "  Seat 1   balance -10   put in 10   dropped 1\n    card      ??  ??  ??  ??  ??" in board
    settled = sent(stood(stood(position)), 0, "evaluate")
    assert "Seat 0 takes the jackpot of 30: the best hand" in GAME.draw(play.view(settled, None).table)
    tied = GAME.draw(play.view(drawing("3s 4s", NOTHING_A, NOTHING_B).position, None).table)
    assert "Card draw 1: seat 0 3s, seat 1 4s" in tied


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("first_seat", [0, 1])
def test_first_examples_settle_a_round_within_the_bound(seats: int, first_seat: int) -> None:
    """Sending each person's first example in turn, with a bot among them or not, settles round after round."""
    for sitting in (people(seats), (*people(seats - 1), *bots("normal"))):
        position, now, made = new(sitting, first_seat=first_seat), NOW, 0
        while table(position)["phase"] != "settled" or inside(position).round < 3:
            made = 0 if table(position)["phase"] == "settled" else made
            for seat in (number for number, each in enumerate(sitting) if each.kind == PERSON):
                now += 20_000
                position = at(position, now)
                first = play.offers(position, seat)[0]
                position = play.advance(position, Move(seat, Action(first.verb, first.example), now)).position
                made += 1
                assert made <= GAME.spec.bound
                if table(position)["phase"] == "settled":
                    break


def test_every_type_of_event_comes_about() -> None:
    """The events that the game says it has are those that happen."""
    happened: set[str] = set()
    random = dice(9)
    for number in range(30):
        position = sent(with_secret(new(people(5), turn_seconds=5), number), 0, "deal")
        happened |= set(types(send(new(people(5)), 0, "deal").events))
        for step in played_out(position, random):
            happened |= set(types(step.events))
    position = sent(new(people(2), turn_seconds=5), 0, "deal")
    happened |= set(types(due(position, NOW + 5000)[0].events)) | set(types(send(position, 0, "leave").events))
    assert happened == set(GAME.spec.events)
    assert set(GAME.spec.reveals) <= happened
    assert Category(10).title == "Royal Family"
