"""Speed over HTTP: of two plays on one pile the first to arrive wins, and a wrong one is paid for once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.claims import Claim, contested, misfit
from tests.conftest import Clock
from tests.feeds import poll
from tests.parties import Party
from tests.planted import CONFLICT, commit_with
from tests.routes import outcome
from tests.stored import Stored

DUELS = 200
SEATS = (0, 1)
COUNTDOWN, PENALTY = 3000, 1500
"""How long a countdown and a penalty last, in ms, where nothing else was asked for."""


@pytest.fixture(name="app")
def _app(app: Flask) -> Flask:
    """Answer without holding every one of some thousand answers to the contract."""
    app.test_client_class = FlaskClient
    return app


def racing(app: Flask, clock: Clock) -> Party:
    """Return a round in which play has just become open."""
    party = Party(app.test_client()).seat("speed", ["Anna", "Bo"])
    for seat in SEATS:
        party.does(seat, "deal")
    clock.advance(COUNTDOWN)
    return party


def duels(app: Flask, clock: Clock) -> Iterator[tuple[Party, tuple[Claim, Claim]]]:
    """Yield rounds with a play for each seat, both on one pile; only one of them can be made."""
    while True:
        party = racing(app, clock)
        while (views := [party.seen(seat) for seat in SEATS])[0]["status"] == "playing":
            claims = contested(*views)
            if claims is None:
                break
            yield party, claims


def at_once(pool: ThreadPoolExecutor, party: Party, claims: tuple[Claim, Claim]) -> list[TestResponse]:
    """Send both plays at the same moment, each over a client of its own."""
    start = Barrier(len(SEATS))

    def send(seat: int) -> TestResponse:
        own = Party(party.client.application.test_client())
        own.takes_over(party)
        start.wait()
        return own.send(seat, "choose", claims[seat])

    return list(pool.map(send, SEATS))


def fight(app: Flask, clock: Clock, stored: Stored, most: int) -> list[int]:
    """Let so many pairs of plays race; fail unless one of each wins and the other loses nothing; return the winners."""
    winners = []
    with ThreadPoolExecutor(len(SEATS)) as pool:
        for (party, claims), _ in zip(duels(app, clock), range(most), strict=False):
            before, version = party.seen(None)["table"], stored.record(party.id).version
            answers = at_once(pool, party, claims)
            assert sorted(answer.status_code for answer in answers) == [200, 409]
            winner = answers[1].status_code == 200
            check_duel(party, claims, answers, before, version, int(winner))
            assert [(entry.move.seat, entry.move.action.body) for entry in stored.entries(party.id)[version:]] == [
                (winner, claims[winner])
            ]
            winners.append(int(winner))
    return winners


def check_duel(
    party: Party,
    claims: tuple[Claim, Claim],
    answers: list[TestResponse],
    before: dict[str, Any],
    version: int,
    winner: int,
) -> None:
    """Fail unless the winner has covered the pile, and the loser is told so and keeps all."""
    side, loser = claims[0]["pile"], 1 - winner
    refused, won = answers[loser].get_json(), answers[winner].get_json()
    assert refused["code"] == "pile-changed"
    assert (refused["pile"], refused["by"], refused["ms"]) == (side, winner, 0)
    assert (won["version"], refused["version"]) == (version + 1, version + 1)
    table = party.seen(None)["table"]
    assert table["piles"][side]["seq"] == before["piles"][side]["seq"] + 1
    assert table["hands"][loser] == before["hands"][loser] | {"passed": False}
    assert table["hands"][loser]["penalty_until"] is None
    assert "Retry-After" not in answers[loser].headers


def test_of_two_plays_on_one_pile_exactly_one_wins(app: Flask, clock: Clock, stored: Stored) -> None:
    """200 pairs arrive at once: each time one card lies on the pile, and who was late has lost nothing (SP-7)."""
    assert len(fight(app, clock, stored, DUELS)) == DUELS


def test_who_is_late_is_told_by_how_much(app: Flask, clock: Clock) -> None:
    """The refusal names the pile, who took it and how many ms before; the winner's event tells it too (SP-7)."""
    party, claims = next(duels(app, clock))
    won = party.does(1, "choose", claims[1])
    clock.advance(120)
    late = party.send(0, "choose", claims[0])
    assert outcome(late) == (409, "pile-changed")
    told = late.get_json()
    assert (told["pile"], told["by"], told["ms"]) == (claims[0]["pile"], 1, 120)
    played = next(event for event in won["events"] if event["type"] == "play")
    assert (played["seat"], played["pile"]) == (1, claims[0]["pile"])
    assert party.seen(0)["version"] == won["version"]


def test_who_saw_what_was_covered_long_ago_has_lost_no_race(app: Flask, clock: Clock) -> None:
    """Two seconds after a top was covered nobody can claim to have seen it any more (SP-6)."""
    for party, claims in duels(app, clock):
        if party.does(1, "choose", claims[1])["table"]["phase"] == "open":
            break
    clock.advance(2001)
    assert outcome(party.send(0, "choose", claims[0])) == (409, "illegal-play")


# The penalty.


def wrong(app: Flask, clock: Clock) -> tuple[Party, Claim]:
    """Return a round, and a play of seat 0 that fits nowhere."""
    while True:
        party = racing(app, clock)
        if claim := misfit(party.seen(0)):
            return party, claim


def test_a_penalty_happens_once_for_its_key(app: Flask, clock: Clock, stored: Stored) -> None:
    """The answer is made again byte for byte, also when the penalty is long over; the log has it once (SP-8)."""
    party, claim = wrong(app, clock)
    version = stored.record(party.id).version
    first = party.send(0, "choose", claim, Idempotency_Key="a")
    assert outcome(first) == (409, "illegal-play")
    assert (first.get_json()["penalty_until"], first.headers["Retry-After"]) == (clock.now + PENALTY, "2")
    assert "Idempotency-Replayed" not in first.headers
    for wait in (0, 700, PENALTY):
        clock.advance(wait)
        again = party.send(0, "choose", claim, Idempotency_Key="a")
        assert (again.status_code, again.data, again.headers["Retry-After"]) == (409, first.data, "2")
        assert again.headers["Idempotency-Replayed"] == "true"
    made = [entry.move.action.verb for entry in stored.entries(party.id)[version:] if entry.by == "seat"]
    assert made == ["choose"]
    assert party.does(0, "seed", {"client_seed": "luck"})["table"]["hands"][0]["penalty_until"] is None


def test_one_penalty_comes_of_a_play_that_is_sent_by_many_at_once(app: Flask, clock: Clock, stored: Stored) -> None:
    """Every sender is answered with the same bytes, one of them first."""
    party, claim = wrong(app, clock)
    start = Barrier(8)

    def send(_number: int) -> TestResponse:
        own = Party(app.test_client())
        own.takes_over(party)
        start.wait()
        return own.send(0, "choose", claim, Idempotency_Key="a")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert {outcome(answer) for answer in answers} == {(409, "illegal-play")}
    assert len({answer.data for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert [event.type for entry in stored.entries(party.id) for event in entry.events].count("penalty") == 1


def test_a_seat_under_penalty_is_told_how_long_to_wait(app: Flask, clock: Clock, stored: Stored) -> None:
    """Every play until then is refused, for whole seconds rounded up, and nothing more is lost by it (SP-8)."""
    party, claim = wrong(app, clock)
    until = party.send(0, "choose", claim).get_json()["penalty_until"]
    version = stored.record(party.id).version
    for elapsed, seconds in ((0, "2"), (499, "2"), (500, "1"), (1499, "1")):
        clock.now = until - PENALTY + elapsed
        barred = party.send(0, "choose", claim)
        assert outcome(barred) == (409, "penalized")
        assert (barred.headers["Retry-After"], barred.get_json()["penalty_until"]) == (seconds, until)
    assert stored.record(party.id).version == version
    clock.now = until
    assert outcome(party.send(0, "choose", claim)) == (409, "illegal-play")


def test_the_others_hear_of_a_penalty_and_not_of_the_play(app: Flask, clock: Clock, stored: Stored) -> None:
    """Its event names the seat and until when, and the play itself is told nobody (SP-8)."""
    party, claim = wrong(app, clock)
    version = stored.record(party.id).version
    until = party.send(0, "choose", claim).get_json()["penalty_until"]
    for seat in (1, None):
        told = poll(party.client, party.path, party.headers(seat), after=version).get_json()["frames"]
        assert [frame["events"] for frame in told] == [[{"type": "penalty", "seat": 0, "penalty_until": until}]]


# Planted faults: each is found by the checks above.


def test_a_store_that_takes_both_plays_is_found_out(
    app: Flask, clock: Clock, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of the version both cards are accepted, and one of them is lost."""
    commit_with(monkeypatch, {CONFLICT: b""})
    with pytest.raises(AssertionError):
        fight(app, clock, stored, DUELS)


def test_a_lost_race_that_costs_a_penalty_is_found_out(
    app: Flask, clock: Clock, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was late by nothing but bad luck must not pay."""
    monkeypatch.setattr("engine.games.speed.must_not_be_late", lambda *_: None)
    with pytest.raises(AssertionError):
        fight(app, clock, stored, 1)
