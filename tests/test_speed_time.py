"""Speed: bots and what else takes place by itself, and what none of it may give away."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.cards import pack
from engine.game import LEVELS, Action, Due, Illegal, Invalid, Move, Offer
from engine.games import speed
from engine.games.speed_plays import SIDES, plays
from engine.games.speed_state import Racing
from engine.games.speed_table import HandView
from engine.piles import Look, Pile, Viewer, look_as
from tests.races import (
    GAME,
    NOW,
    PEOPLE,
    all_cards,
    at,
    bot,
    chosen,
    dealt,
    inside,
    new,
    opened,
    plain,
    steps,
)

PERSON_AND = {level: (play.Seat("Player 1"), bot(level)) for level in LEVELS}


def dice(seed: int) -> Random:
    """Return a source of choices that comes out the same every time."""
    return Random(seed)  # noqa: S311 - what a test chooses is no secret


def secret(number: int) -> bytes:
    """Return a session's secret."""
    return number.to_bytes(64, "big")


def due_of(position: play.Position) -> Due:
    """Return what is due next."""
    due = GAME.due(position.state)
    assert due
    return due


# Bots.


@pytest.mark.parametrize("level", LEVELS)
def test_reaction_time_is_uniform_between_its_bounds(level: str) -> None:
    """SP-15: over many rounds every whole number of ms from the least to the greatest is as likely as any other."""
    least, most = {"easy": (1667, 3333), "normal": (800, 1600), "hard": (400, 800)}[level]
    count = 4 * (most - least + 1)
    waits: Counter[int] = Counter()
    for number in range(count):
        position = opened(("2h", "Th"), "9c", "4s", seats=PERSON_AND[level], secret=secret(number))
        due = due_of(position)
        assert (due.seat, due.action) == (1, None)
        waits[due.at - NOW] += 1
    assert min(waits) >= least
    assert max(waits) <= most
    lots = 16
    shares = Counter((wait - least) * lots // (most - least + 1) for wait in waits.elements())
    unevenness = sum((shares[lot] - count / lots) ** 2 / (count / lots) for lot in range(lots))
    assert unevenness < 50, "a fair draw goes beyond it once in 100,000 times"


def test_each_play_takes_a_time_of_its_own() -> None:
    """SP-15: after its own play a bot takes another reaction time, by its own label, from that moment on."""
    position = opened(("2h", "Th Jh Qh Kh 2d"), "9c", "4s", seats=PERSON_AND["hard"])
    made = steps(position, NOW + 10_000)[:4]
    moments = [NOW, *(step.move.at for step in made)]
    waits = [later - earlier for earlier, later in pairwise(moments)]
    assert all(400 <= wait <= 800 for wait in waits)
    assert len(set(waits)) > 1
    assert [step.move.seat for step in made] == [1, 1, 1, 1]
    assert position.counters.keys() == {"bot-1"}


def test_a_change_that_leaves_the_play_legal_restarts_nothing() -> None:
    """SP-15: the bot plays what it has had its eye on when its time is over, though a better play has come up."""
    position = opened(("6d 2h", "Kd 7h 8h 9h 2c"), "5c", "Qs", seats=PERSON_AND["hard"])
    first = due_of(position)
    changed = chosen(position, 0, NOW + 399, slot=0, pile="left")
    assert due_of(changed) == replace(first, deadline=NOW + 399 + 15_000)
    (made,) = steps(changed, first.at)
    assert inside(made.position).right.top == "Kd"


def test_a_covered_play_restarts_the_time() -> None:
    """SP-15: when the play is covered the bot looks again, and counts from that moment."""
    position = opened(("Js 2h", "Kd Th 2c"), "5c", "Qs", seats=PERSON_AND["hard"])
    changed = chosen(position, 0, NOW + 399, slot=0, pile="right")
    assert NOW + 399 + 400 <= due_of(changed).at <= NOW + 399 + 800
    (made, *_) = steps(changed, due_of(changed).at)
    assert inside(made.position).right.top == "Th"
    nothing = chosen(opened(("Js 2h 5d", "Kd 2c"), "5c 9c", "Qs 9s", seats=PERSON_AND["hard"]), 0, slot=0, pile="right")
    assert inside(nothing).hands[1].plan is None


def test_a_countdown_makes_a_bot_look_again() -> None:
    """SP-15, SP-9: after a flip its time counts from the flip, whatever it had its eye on before."""
    looked = 0
    for number in range(40):
        seats = PERSON_AND["easy"]
        position = opened(("2h 7d", "Th 2c"), "9c 9s", "4s 4c", seats=seats, idle_ms=3000, secret=secret(number))
        if due_of(position).action == Action("idle"):
            plan = inside(at(position, NOW + 6000)).hands[1].plan
            assert plan
            assert NOW + 6000 + 1667 <= plan.at <= NOW + 6000 + 3333
            looked += 1
    assert looked > 3


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_never_passes_and_never_plays_what_does_not_fit(level: str) -> None:
    """SP-15: in whole rounds against a seat that only passes each of its moves is an offered play."""
    for number in range(20):
        position = dealt(new(PERSON_AND[level], secret(number)))
        while position.state.playing:
            (made,) = steps(position, due_of(position).at)[:1]
            if made.move.seat == 1:
                body = made.move.action.body
                offered = play.offers(position, 1)
                assert "slot" in body
                assert any(offer.shape.objection(body) is None for offer in offered if offer.verb == "choose")
            position = made.position
        assert inside(position).result


def test_a_bot_is_handed_its_own_seat_and_nothing_else() -> None:
    """SP-15, C-11: what is given to a bot is the view and the offers of its seat, and no hidden card is in them."""
    asked: list[str] = []

    def spy(view: play.View, offers: tuple[Offer, ...]) -> Action:
        asked.append(f"{view.table} {offers}")
        return BOTS["speed"]["hard"](view, offers)

    position = opened(("2h 6h", "Th Jh 2c"), "9c 7c", "4s 7s", ("Kd", "Ks"), seats=PERSON_AND["hard"])
    play.settle(position, NOW + 800, {"hard": spy})
    assert len(asked) == 1
    assert "Th" in asked[0]
    assert not [card for card in ("2h", "6h", "7c", "7s", "Kd", "Ks") if f"'{card}'" in asked[0]]


def test_two_bots_at_one_moment_are_drawn_and_not_ordered_by_seat() -> None:
    """SP-18: where both are due at the same millisecond each is first now and then, and the same one every time."""
    firsts: Counter[int | None] = Counter()
    for number in range(16_000):
        seats = (bot("hard"), bot("hard"))
        position = opened(("Th 2c", "8h 2d"), "9c", "4s", seats=seats, secret=secret(number))
        plans = [hand.plan for hand in inside(position).hands]
        if plans[0] and plans[1] and plans[0].at == plans[1].at:
            firsts[due_of(position).seat] += 1
            assert "bot-tie" in position.counters
        else:
            assert due_of(position).at == min(plan.at for plan in plans if plan)
            assert "bot-tie" not in position.counters
    assert sum(firsts.values()) > 20
    assert min(firsts[0], firsts[1]) > 5


def test_own_consequences_come_before_a_bots_at_one_moment() -> None:
    """C-5: at the moment when waiting ends the table turns cards, though a bot is due then too."""
    position = opened(("2h", "Th 2d"), "9c", "4s", seats=PERSON_AND["easy"])
    plan = inside(position).hands[1].plan
    assert plan
    same = plan.at - NOW
    tied = replace(position, state=replace(position.state, house=replace(inside(position).house, idle_ms=same)))
    assert due_of(tied) == Due(plan.at, action=Action("idle"))
    later = replace(position, state=replace(position.state, house=replace(inside(position).house, idle_ms=same + 1)))
    assert due_of(later) == Due(plan.at, 1, deadline=plan.at + 1)


# Time.


class Race:
    """A session that is driven by times and seats; `log` is what a store would keep."""

    def __init__(self, opening: play.Position) -> None:
        self.opening = opening
        self.position = opening
        self.log: list[tuple[Move, tuple[Any, ...]]] = []

    def look(self, now: int) -> None:
        """Let happen what is due."""
        self._keep(*steps(self.position, now))

    def act(self, seat: int, action: Action, now: int) -> Illegal | Invalid | None:
        """Make a move, and return what it is refused with."""
        self.look(now)
        try:
            made = play.advance(self.position, Move(seat, action, now))
        except (Illegal, Invalid) as refused:
            return refused
        self._keep(made)
        return made.refusal

    def _keep(self, *made: play.Step) -> None:
        for step in made:
            self.log.append((step.move, step.events))
            self.position = step.position


def asked_by_a_person(random: Random, position: play.Position, seat: int) -> Action:
    """Return what a careless player asks: an example now and then, else any play or pass."""
    offers = [offer for offer in play.offers(position, seat) if offer.verb in ("deal", "choose")]
    if offers and random.random() < 0.6:
        offer = random.choice(offers[:1] + offers[-1:])
        return Action(offer.verb, offer.example)
    body: dict[str, Any] = {"slot": random.randrange(5), random.choice(("prefer", "pile")): random.choice(SIDES)}
    if random.random() < 0.5:
        state = inside(position)
        body["seen"] = {side: max(0, centre.seq - random.randrange(3)) for side, centre in state.centre.items()}
    return Action("choose", body)


def script(seats: tuple[play.Seat, play.Seat], seed: int) -> list[tuple[int, int, Action]]:
    """Return times, seats and actions of two rounds, made up while they are played."""
    random, now = dice(seed), NOW
    race = Race(new(seats, secret(seed), idle_ms=4000, penalty_ms=700))
    asked = []
    while inside(race.position).round < 3 and now < NOW + 400_000:
        now += random.randrange(900) if random.random() < 0.9 else 4500
        race.look(now)
        for seat in (0, 1):
            if race.position.seats[seat].kind == "person":
                action = asked_by_a_person(random, race.position, seat)
                race.act(seat, action, now)
                asked.append((now, seat, action))
    return asked


@pytest.mark.parametrize("seats", [PEOPLE, *PERSON_AND.values()], ids=["people", *PERSON_AND])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_does_not_matter_how_often_anyone_looks(seats: tuple[play.Seat, play.Seat], seed: int) -> None:
    """C-5, C-6: looked at every 10 ms, every 70 ms or at each move alone, log and position are the same."""
    asked = script(seats, seed)
    races = []
    for every in (10, 70, 10**9):
        race = Race(new(seats, secret(seed), idle_ms=4000, penalty_ms=700))
        look = NOW
        for now, seat, action in asked:
            while look <= now:
                race.look(look)
                look += every
            race.act(seat, action, now)
        races.append(race)
    assert races[0].log == races[1].log == races[2].log
    assert msgspec.msgpack.encode(races[0].position) == msgspec.msgpack.encode(races[2].position)
    assert inside(races[0].position).round > 1


@pytest.mark.parametrize("seats", [PEOPLE, *PERSON_AND.values()], ids=["people", *PERSON_AND])
def test_a_log_with_penalties_and_bots_replays(seats: tuple[play.Seat, play.Seat]) -> None:
    """SP-8, C-5: from the opening and the logged moves alone, stored at every step, comes the same position."""
    race = Race(new(seats, secret(5), idle_ms=4000, penalty_ms=700))
    for now, seat, action in script(seats, 5):
        race.act(seat, action, now)
    assert {"penalty", "penalty-over", "idle", "settled"} <= {event.type for _, events in race.log for event in events}
    position = race.opening
    for move, events in race.log:
        stored = msgspec.msgpack.decode(msgspec.msgpack.encode(position), type=play.Position)
        assert stored == position
        made = play.again(stored, move)
        assert made.events == events
        position = made.position
        assert all_cards(position) == sorted(pack())
        assert sum(tally.balance for tally in inside(position).totals) == 0
    assert position == race.position


def test_two_bots_play_alone_to_the_end() -> None:
    """SP-15, SP-18: nobody has to look for a round between bots to go its way."""
    winners: Counter[int | None] = Counter()
    for number in range(40):
        made = steps(dealt(new((bot("easy"), bot("hard")), secret(number))), NOW + 600_000)
        result = inside(made[-1].position).result
        assert result
        winners[result.winner] += 1
    assert winners[1] > 35


# What is hidden.


def hidden(state: Racing, look: Look) -> Iterator[Pile]:
    """Yield the piles of a state that show no face to these eyes."""
    for pile in GAME.piles(state):
        if pile and None in look(pile):
            yield pile


def reshuffled(position: play.Position, viewer: Viewer, random: Random, sides: bool) -> play.Position:
    """Return the position with the cards that the viewer cannot see dealt to the same places in another order."""
    state, look = inside(position), look_as(viewer)
    kept = [] if sides else [state.left.side, state.right.side]
    unseen = [card for pile in hidden(state, look) if pile not in kept for card in pile.cards]
    random.shuffle(unseen)

    def other(pile: Pile) -> Pile:
        if pile in kept or not pile or None not in look(pile):
            return pile
        return pile.holding(tuple(unseen.pop() for _ in pile.cards))

    first, second = (
        replace(hand, slots=tuple(map(other, hand.slots)), stock=other(hand.stock)) for hand in state.hands
    )
    left, right = (replace(centre, side=other(centre.side)) for centre in (state.left, state.right))
    return replace(position, state=replace(state, hands=(first, second), left=left, right=right))


def traffic(position: play.Position, viewer: Viewer, now: int) -> bytes:
    """Return all that a viewer can come to know by asking, refusals included."""
    offered = () if viewer is None else play.offers(position, viewer)
    drawn = GAME.draw(play.view(position, viewer).table)
    probes = [] if viewer is None else [answer(position, viewer, now, body) for body in PROBES]
    told = [play.view(position, viewer), offered, drawn, play.score(position, viewer), probes]
    return msgspec.json.encode(told)


PROBES: tuple[dict[str, Any], ...] = (
    {"pass": True},
    {"slot": 0, "prefer": "left"},
    {"slot": 1, "pile": "right", "seen": {"left": 1, "right": 0}},
    {"slot": 2, "prefer": "right", "seen": {"left": 9, "right": 9}},
)


def answer(position: play.Position, seat: int, now: int, body: dict[str, Any]) -> object:
    """Return how an action would be refused, or that it would not."""
    try:
        refusal = play.advance(position, Move(seat, Action("choose", body), now)).refusal
    except (Illegal, Invalid) as refused:
        refusal = refused if isinstance(refused, Illegal) else Illegal("invalid", refused.detail)
    return refusal and [refusal.code, refusal.detail, refusal.facts, refusal.retry_ms]


def seen_by(race: Race, viewer: Viewer) -> list[Any]:
    """Return the log as the viewer is sent it."""
    look = look_as(viewer)
    return [[move.at, plain([event.seen(look) for event in events])] for move, events in race.log]


def leak(position: play.Position, viewer: Viewer, seed: int) -> str | None:
    """Play two rounds that differ in what the viewer cannot see; return what tells them apart too soon."""
    random, now = dice(seed), NOW
    twins = Race(position), Race(reshuffled(position, viewer, random, sides=bool(seed % 2)))
    while now < NOW + 60_000:
        now += random.randrange(1, 700)
        seat = random.randrange(2)
        for race in twins:
            race.look(now)
        if parting := parted(*(seen_by(race, viewer) for race in twins)):
            return None if parting & set(GAME.spec.reveals) else f"events {parting}"
        if len({traffic(race.position, viewer, now) for race in twins}) > 1:
            return f"traffic at {now - NOW}"
        if twins[0].position.seats[seat].kind == "person":
            action = asked_by_a_person(random, twins[0].position, seat)
            for race in twins:
                race.act(seat, action, now)
    return None


def parted(one: list[Any], other: list[Any]) -> set[str]:
    """Return the types of the events at the first place where two logs part, and nothing where they do not."""
    for place in range(max(len(one), len(other))):
        entries = [log[place] for log in (one, other) if place < len(log)]
        if len(entries) == 1 or entries[0] != entries[1]:
            return {event["type"] for _, events in entries for event in events}
    return set()


SEATINGS = [PEOPLE, PERSON_AND["easy"], PERSON_AND["hard"]]


def leaks(seeds: range) -> list[str]:
    """Return what leaks in rounds of every seating to every viewer."""
    found = []
    for seed in seeds:
        for seats in SEATINGS:
            position = dealt(new(seats, secret(seed), idle_ms=(0, 15_000)[seed % 3 > 0]), NOW - 3000)
            for viewer in (0, 1, None):
                if seats is PEOPLE or viewer != 1:
                    found += [told] if (told := leak(position, viewer, seed)) else []
    return found


def test_what_a_viewer_cannot_see_changes_nothing_for_it() -> None:
    """SP-9, SP-14, SP-15: two rounds that differ in hidden cards are one to a viewer, until the rules part them."""
    assert leaks(range(40)) == []


def forgetful_due(self: speed.Speed, state: Racing) -> Due | None:
    """Forget the deadline behind a bot's moment: `deadline_at` is then missing where a bot can play."""
    due = UNSPOILT_DUE(self, state)
    return due and replace(due, deadline=None)


def telling_passes(state: Racing, seat: int, look: Look) -> HandView:
    """Show a seat that cannot play as one that has passed."""
    stuck = not plays(state.hands[seat].cards, state.tops)
    return replace(UNSPOILT_VIEW(state, seat, look), passed=state.hands[seat].passed or stuck)


UNSPOILT_DUE, UNSPOILT_VIEW = speed.Speed.due, speed._hand_view


def test_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline that hides behind a bot's, a pass that is none, and an event not among the reveals are each found."""
    with monkeypatch.context() as planted:
        planted.setattr(speed.Speed, "due", forgetful_due)
        assert [found for found in leaks(range(12)) if found.startswith("traffic")]
    with monkeypatch.context() as planted:
        planted.setattr(speed, "_hand_view", telling_passes)
        assert [found for found in leaks(range(12)) if found.startswith("traffic")]
    with monkeypatch.context() as planted:
        planted.setattr(speed.Speed, "spec", replace(GAME.spec, reveals=("dealt",)))
        assert [found for found in leaks(range(12)) if found.startswith("events")]


def test_every_kind_of_event_comes_about() -> None:
    """The events that the game says it has are those that it has."""
    race = Race(new(PEOPLE, secret(9), idle_ms=3000, penalty_ms=100, countdown_ms=0))
    random, now = dice(9), NOW
    while inside(race.position).round < 12:
        now += random.randrange(50, 900)
        for seat in (0, 1):
            race.act(seat, asked_by_a_person(random, race.position, seat), now)
    race.act(0, Action("leave"), now)
    assert {event.type for _, events in race.log for event in events} == set(GAME.spec.events)


def test_a_round_is_small_enough_to_store() -> None:
    """A round in full swing is stored in under 4 kB, however long it has gone on."""
    position = dealt(new((bot("hard"), bot("hard"))))
    for made in steps(position, NOW + 60_000):
        assert len(msgspec.msgpack.encode(made.position)) < 4096
