"""A client that knows no game plays every game: over HTTP, by what is offered and nothing else."""

from itertools import cycle, islice
from random import Random
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from engine.advice import BOTS
from engine.game import LEVELS
from engine.games import GAMES
from tests.conftest import Clock
from tests.rounds import dice
from tests.strangers import Company, Stranger

LONGEST = 2000
"""Steps after which a round must be over, even one in which chance picks the moves."""
COUNTS = [(slug, count) for slug, game in GAMES.items() for count in range(game.spec.seats[0], game.spec.seats[1] + 1)]
SEVERAL = sorted(BOTS)

every_table = pytest.mark.parametrize(("game", "count"), COUNTS)
every_table_with_bots = pytest.mark.parametrize(("game", "count"), [each for each in COUNTS if each[0] in BOTS])
games_of_several = pytest.mark.parametrize("game", SEVERAL)


@pytest.fixture(name="plain")
def _plain(app: Flask) -> FlaskClient:
    """Return a client whose answers are not held to the contract: all others are, and a table of twelve takes long."""
    app.test_client_class = FlaskClient
    return app.test_client()


def people(count: int) -> list[Any]:
    """Return names for so many seats."""
    return [f"Guest {number}" for number in range(count)]


def with_bots(count: int) -> list[Any]:
    """Return one person's seat and bots of every level in the others."""
    return ["Guest", *({"bot": level} for level in islice(cycle(LEVELS), count - 1))]


def bound(client: FlaskClient, game: str) -> int:
    """Return within how many moves the game says that first examples settle a round."""
    return int(client.get(f"/v1/games/{game}").get_json()["settles_within"])


def play_by_first_examples(company: Company, rounds: int, most: int = LONGEST) -> None:
    """Play until so many rounds are over; fail after so many steps."""
    for _ in range(most):
        if company.rounds == rounds:
            return
        company.forward()
    raise AssertionError(f"round {rounds} is not over")


def assert_round_after_round(company: Company, most: int) -> None:
    """Fail unless a round is settled within so many moves, and the next one dealt."""
    play_by_first_examples(company, 1)
    assert company.view["status"] == "settled"
    assert 0 < company.sent <= most
    while company.view["round"] == 1:
        company.forward()
    assert company.view["status"] == "playing"


@every_table
def test_first_examples_settle_a_round(plain: FlaskClient, clock: Clock, game: str, count: int) -> None:
    """Within the game's bound, at every number of seats; the next round follows, and nothing is refused."""
    assert_round_after_round(Company(plain, clock, game, people(count)), bound(plain, game))


@every_table_with_bots
def test_first_examples_settle_a_round_against_bots(plain: FlaskClient, clock: Clock, game: str, count: int) -> None:
    """One person is enough to keep a table of bots going; the bots' moves come with time."""
    assert_round_after_round(Company(plain, clock, game, with_bots(count)), bound(plain, game))


def assert_anything_is_accepted(company: Company, random: Random) -> None:
    """Fail unless moves drawn by lot settle a round and begin the next, none of them refused."""
    for _ in range(LONGEST):
        company.at_random(random)
        if company.view["round"] == 2:
            return
    raise AssertionError("the second round is never dealt")


@every_table
def test_anything_that_is_offered_is_accepted(plain: FlaskClient, clock: Clock, game: str, count: int) -> None:
    """Bodies drawn from the schemas of actions drawn by lot play a round and begin the next, unrefused."""
    assert_anything_is_accepted(Company(plain, clock, game, people(count)), dice(count))


@every_table_with_bots
def test_anything_that_is_offered_beside_bots_is_accepted(
    plain: FlaskClient, clock: Clock, game: str, count: int
) -> None:
    """Whoever has just read the session is late for nothing, however fast the bots are."""
    assert_anything_is_accepted(Company(plain, clock, game, with_bots(count)), dice(count))


# Coming, and the host.


@games_of_several
def test_a_spectator_who_follows_his_action_plays(client: FlaskClient, clock: Clock, game: str) -> None:
    """All that a spectator is offered is a seat; taken as it is offered, it is played from, and gone for the next."""
    company = Company(client, clock, game, ["Guest", {"open": True}])
    (join,) = company.watching.view()["actions"]
    joined = company.watching.followed(join)
    assert (joined["seat"], joined["session"]["you"]) == (1, {"seat": 1, "host": False})
    company.seats[1] = Stranger(client, company.path, joined["token"])
    assert company.watching.view()["actions"] == []
    assert company.watching.follow(join).get_json()["code"] == "seat-taken"
    play_by_first_examples(company, 1)


@games_of_several
def test_whatever_the_host_is_offered_works(client: FlaskClient, clock: Clock, game: str) -> None:
    """Bots into open seats, a token anew, a seat taken out, the end: each as it is offered."""
    company = Company(client, clock, game, ["Guest", {"open": True}])
    host = company.host
    seat_bot, _ = host.offered("join")
    assert host.followed(seat_bot)["session"]["seats"][1]["kind"] == "bot"
    assert host.offered("join") == []
    (reissue,) = host.offered("token")
    fresh = host.followed(reissue)
    assert company.seats[0].follow(reissue).status_code == 401
    company.seats[0] = Stranger(client, company.path, fresh["token"])
    play_by_first_examples(company, 1)
    take_out, pass_on = host.offered("leave")
    assert pass_on["example"] == {}
    assert host.followed(take_out)["seats"][take_out["example"]["seat"]]["left"]
    (delete,) = host.offered("delete")
    assert host.follow(delete).status_code == 204
    assert host.follow(delete).status_code == 410


@games_of_several
def test_a_host_who_takes_the_seat_that_is_offered_plays(client: FlaskClient, clock: Clock, game: str) -> None:
    """Whoever opened a table of others may sit down at it; the host's token stays the host's."""
    company = Company(client, clock, game, ["Guest", {"open": True}])
    _, sit_down = company.host.offered("join")
    joined = company.host.followed(sit_down)
    assert (joined["seat"], joined["session"]["you"]) == (1, {"seat": 1, "host": False})
    company.seats[1] = Stranger(client, company.path, joined["token"])
    assert company.host.view()["you"] == {"seat": None, "host": True}
    assert company.host.offered("join") == []
    play_by_first_examples(company, 1)


@games_of_several
def test_the_rights_that_a_host_passes_on_work(client: FlaskClient, clock: Clock, game: str) -> None:
    """C-10: whoever is given them is offered what the host was, and plays on."""
    company = Company(client, clock, game, ["Guest", {"open": True}])
    (pass_on,) = [each for each in company.host.offered("leave") if each["example"] == {}]
    company.host.followed(pass_on)
    assert company.host.view()["actions"] == company.watching.view()["actions"]
    guest = company.seats[0]
    assert guest.view()["you"] == {"seat": 0, "host": True}
    (seat_bot,) = guest.offered("join")
    assert guest.followed(seat_bot)["session"]["seats"][1]["kind"] == "bot"
    play_by_first_examples(company, 1)


@pytest.mark.parametrize("game", [slug for slug in SEVERAL if GAMES[slug].spec.seats[1] > 2])
def test_the_hosts_deal_closes_what_is_open(client: FlaskClient, clock: Clock, game: str) -> None:
    """C-9: nobody is offered a closed seat any more, and the round is played without it."""
    company = Company(client, clock, game, ["Guest", "Visitor", {"open": True}])
    (deal,) = company.host.offered("deal")
    dealt = company.host.followed(deal)
    assert (dealt["status"], dealt["seats"][2]["kind"]) == ("playing", "closed")
    assert company.host.offered("join") == company.watching.view()["actions"] == []
    play_by_first_examples(company, 1)


@pytest.mark.parametrize("game", ["beat-the-dealer"])
def test_the_host_may_end_a_round_where_that_is_offered(client: FlaskClient, clock: Clock, game: str) -> None:
    """BD-9: the offer is there while a round is in play, and ends it."""
    company = Company(client, clock, game, people(3))
    assert company.host.offered("evaluate") == []
    company.seats[0].followed(company.seats[0].offered("deal")[0])
    (end,) = company.host.offered("evaluate")
    assert company.host.followed(end)["status"] == "settled"


# Planted faults.


def test_a_refusal_stops_the_client(client: FlaskClient, clock: Clock) -> None:
    """What is sent and not offered is refused, and the client notices."""
    company = Company(client, clock, "jackpot", people(2))
    deal = company.seats[0].offered("deal")[0]
    company.seats[0].followed(deal)
    with pytest.raises(AssertionError):
        company.seats[0].followed(deal)


def test_a_round_that_stands_still_is_found_out(client: FlaskClient, clock: Clock) -> None:
    """Without anybody's move no round is settled."""
    company = Company(client, clock, "jackpot", people(2))
    company.seats.clear()
    with pytest.raises(AssertionError):
        play_by_first_examples(company, 1, most=20)
