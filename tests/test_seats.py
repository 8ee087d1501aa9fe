"""Seats over HTTP: who gets one, who leaves, what the host may do, and what is nobody's business."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from service.records import hashed
from tests.feeds import ended, listen
from tests.parties import HOST, Party, Who
from tests.planted import CONFLICT, commit_with
from tests.routes import outcome
from tests.stored import Stored

JACKPOT, SPEED, BEAT = "jackpot", "speed", "beat-the-dealer"
OPEN, BOT = {"open": True}, {"bot": "normal"}
UNAUTHORIZED, FORBIDDEN = (401, "unauthorized"), (403, "forbidden")
RACES = 25

Body = dict[str, Any]
SEATS_OWN: dict[str, Body] = {"deal": {}, "choose": {"drop": []}, "leave": {}, "seed": {"client_seed": "x"}}
HOSTS_OWN: dict[str, tuple[str, Body]] = {
    "a bot": ("join", {"seat": 1, "bot": "easy"}),
    "a token": ("token", {"seat": 0}),
    "another's leave": ("leave", {"seat": 0}),
}
"""What nobody but a seat, and nobody but the host, may ask for."""


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    """Return a table of Jackpot with one person and two open seats."""
    return Party(app.test_client()).seat(JACKPOT, ["Anna", OPEN, OPEN])


def seats(party: Party, who: Who = None) -> list[tuple[Any, ...]]:
    """Return name, kind, level and whether it was left, of each seat."""
    return [(each["name"], each["kind"], each["level"], each["left"]) for each in party.seen(who)["seats"]]


def verbs(party: Party, who: Who) -> list[str]:
    return [action["verb"] for action in party.seen(who)["actions"]]


# Joining.


def test_an_open_seat_is_taken_without_a_token(party: Party) -> None:
    """The newcomer gets the first open seat, its token and its view; everyone sees the seat taken (C-9)."""
    answer = party.join(name="Bo")
    joined = answer.get_json()
    assert (answer.status_code, joined["seat"], joined["session"]["you"]) == (200, 1, {"seat": 1, "host": False})
    assert joined["session"]["version"] == 1
    assert party.seen(1) == {name: value for name, value in joined["session"].items() if name != "events"}
    assert seats(party)[1] == ("Bo", "person", None, False)


def test_a_newcomer_may_choose_a_seat_and_needs_no_name(party: Party) -> None:
    """A seat without a name is called by its number; an open seat that was left out stays open."""
    assert party.join(seat=2).get_json()["seat"] == 2
    assert [seat[:2] for seat in seats(party)] == [("Anna", "person"), (None, "open"), ("Player 3", "person")]


@pytest.mark.parametrize("seat", [0, 5, 11])
def test_a_seat_that_is_not_open_is_refused(party: Party, seat: int) -> None:
    """Whether somebody sits there or it is none at all; the refusal says what is possible."""
    refused = party.join(seat=seat)
    assert outcome(refused) == (409, "seat-taken")
    assert [action["verb"] for action in refused.get_json()["actions"]] == ["join"]
    assert party.seen(None)["version"] == 0


def test_a_full_table_refuses(party: Party) -> None:
    """When no seat is open nobody is offered one."""
    party.join()
    party.join()
    assert outcome(party.join()) == (409, "seat-taken")
    assert verbs(party, None) == []


def test_who_joins_during_a_round_plays_from_the_next(party: Party) -> None:
    """The seat is there at once, has no cards, is not waited for, and is dealt to next time (C-9)."""
    party.join(name="Bo")
    party.does(0, "deal")
    party.join(name="Cleo")
    view = party.seen(2)
    assert view["table"]["hands"][2]["cards"] == []
    assert (view["status"], view["seats"][2]["to_act"]) == ("playing", False)
    while party.seen(None)["status"] == "playing":
        party.forward()
    party.does(2, "deal")
    assert len(party.seen(2)["table"]["hands"][2]["cards"]) == 5


def test_a_newcomer_may_add_a_seed(party: Party, stored: Stored) -> None:
    """It counts for the next round's shuffles, and is told nobody (C-7)."""
    party.join(client_seed="a horseshoe")
    assert stored.record(party.id).position.next_client_seeds == ("", "a horseshoe", "")
    assert "horseshoe" not in party.read(None).text + party.read(0).text + party.read(1).text


def race_for_the_last_seat(app: Flask, stored: Stored) -> None:
    """Let two ask for one seat at the same moment; fail unless exactly one of them gets it."""
    party = Party(app.test_client()).seat(JACKPOT, ["Anna", OPEN])
    start = Barrier(2)

    def ask(name: str) -> TestResponse:
        client = app.test_client()
        start.wait()
        return client.post(f"{party.path}/join", json={"name": name})

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, ("Bo", "Cleo")))
    assert sorted(map(outcome, answers)) == [(200, None), (409, "seat-taken")]
    given = next(answer.get_json() for answer in answers if answer.status_code == 200)
    party.tokens[given["seat"]] = given["token"]
    assert party.seen(1)["you"] == {"seat": 1, "host": False}
    assert len(stored.entries(party.id)) == 1
    assert seats(party)[1][0] == given["session"]["seats"][1]["name"]


def test_exactly_one_of_two_gets_the_last_seat(app: Flask, stored: Stored) -> None:
    """The other is told that it is taken, and the one's token holds the seat."""
    for _ in range(RACES):
        race_for_the_last_seat(app, stored)


# Spectators.


def test_a_spectator_watches_and_does_nothing(party: Party) -> None:
    """Without a token everyone may look and join, and nothing else."""
    party.join()
    party.does(0, "deal")
    view = party.seen(None)
    assert (view["you"], [hand["cards"] for hand in view["table"]["hands"][:2]]) == (None, [[None] * 5] * 2)
    assert verbs(party, None) == ["join"]
    for verb, body in SEATS_OWN.items():
        assert outcome(party.send(None, verb, body)) == UNAUTHORIZED
    for verb, body in HOSTS_OWN.values():
        assert outcome(party.send(None, verb, body)) == (FORBIDDEN if verb == "join" else UNAUTHORIZED)
    assert outcome(party.client.delete(party.path)) == UNAUTHORIZED


# Leaving.


def test_a_seat_is_left_for_good(party: Party) -> None:
    """Its token shows what is left to see, moves nothing, and nobody else is given the seat (C-9, C-10)."""
    party.join(name="Bo")
    party.does(1, "leave")
    assert seats(party)[1] == ("Bo", "person", None, True)
    assert party.seen(1)["you"] == {"seat": 1, "host": False}
    assert outcome(party.send(1, "deal")) == (409, "left")
    assert outcome(party.join(seat=1)) == (409, "seat-taken")
    assert party.join().get_json()["seat"] == 2


def test_leaving_twice_is_leaving_once(party: Party, stored: Stored) -> None:
    """With its key it is repeated, without one it is refused."""
    party.join()
    first = party.send(1, "leave", Idempotency_Key="a")
    again = party.send(1, "leave", Idempotency_Key="a")
    assert (first.data, again.data) == (again.data, first.data)
    assert outcome(party.send(1, "leave")) == (409, "left")
    assert [entry.move.action.verb for entry in stored.entries(party.id)] == ["join", "leave"]


def test_a_seat_may_name_itself_and_no_other(party: Party) -> None:
    """Another's seat is the host's to give up."""
    party.join()
    assert outcome(party.send(1, "leave", {"seat": 0})) == FORBIDDEN
    assert party.does(1, "leave", {"seat": 1})["seats"][1]["left"]


@pytest.mark.parametrize("game", [JACKPOT, BEAT, SPEED])
def test_a_table_that_the_last_person_leaves_is_finished(app: Flask, game: str) -> None:
    """Bots do not go on by themselves: the open round stays unscored, and nothing can be done any more (C-10)."""
    party = Party(app.test_client()).seat(game, ["Anna", BOT])
    party.does(0, "deal")
    party.does(0, "leave")
    view = party.seen(None)
    assert (view["status"], view["reason"]) == ("finished", "left")
    assert verbs(party, None) == []
    assert verbs(party, HOST) == ["delete"]
    assert outcome(party.join()) == (409, "finished")


def test_a_table_short_of_seats_waits_for_a_join(app: Flask) -> None:
    """With one of two left between rounds an open seat can still be filled, and then it goes on (C-10)."""
    party = Party(app.test_client()).seat(JACKPOT, ["Anna", "Bo", OPEN])
    party.does(1, "leave")
    assert (party.seen(None)["status"], outcome(party.send(0, "deal"))) == ("waiting", (409, "not-now"))
    party.join(name="Cleo")
    assert party.does(0, "deal")["status"] == "playing"


@pytest.mark.parametrize("game", [JACKPOT, BEAT, SPEED])
def test_a_table_where_no_round_can_follow_is_finished(app: Flask, game: str) -> None:
    """Nobody takes a seat that was left, so of two without an open one the other waits for nobody (C-9, C-10)."""
    party = Party(app.test_client()).seat(game, ["Anna", "Bo"])
    assert (party.does(1, "leave")["status"], party.seen(0)["reason"]) == ("finished", "left")
    assert outcome(party.send(0, "deal")) == (409, "finished")


def test_a_stranger_who_leaves_ends_no_table(app: Flask) -> None:
    """A host without a seat is somebody, as long as a seat is open (C-10)."""
    party = Party(app.test_client()).seat(JACKPOT, [OPEN, OPEN, OPEN])
    for seat, status in ((0, "waiting"), (1, "finished")):
        party.join(seat=seat)
        party.does(seat, "leave")
        assert party.seen(HOST)["status"] == status


def test_a_host_that_left_gets_no_rights_back(app: Flask) -> None:
    """When the seat that they passed on to is left as well, nobody has them (C-10)."""
    party = Party(app.test_client()).seat(JACKPOT, ["Anna", BOT])
    party.does(HOST, "leave")
    party.does(0, "leave")
    assert party.seen(HOST)["you"] is None
    assert party.client.delete(party.path, headers=party.headers(HOST)).status_code == 403


# The host.


def test_a_seat_takes_no_second_one(party: Party, stored: Stored) -> None:
    """A token that holds a seat takes no other, as the host neither, nor after it was left; without it anyone may."""
    party.join()
    party.does(HOST, "leave")
    party.does(1, "leave")
    before = stored.dump(party.id)
    for who in (0, 1):
        refused = party.send(who, "join", {"seat": 2})
        assert outcome(refused) == FORBIDDEN
        assert refused.get_json()["detail"].startswith("This token holds a seat already")
    assert stored.dump(party.id) == before
    assert party.join(seat=2).status_code == 200


def test_the_host_is_told_when_it_may_deal(party: Party) -> None:
    """Its deal waits for the round's end, for a second seat and no longer once all is over: 409, with the reason."""
    assert outcome(party.send(HOST, "deal")) == (409, "not-now")
    party.join()
    party.does(HOST, "deal")
    refused = party.send(HOST, "deal")
    assert outcome(refused) == (409, "not-now")
    assert refused.get_json()["detail"].startswith("A round is in play")
    assert outcome(party.send(HOST, "choose", {"drop": []})) == FORBIDDEN
    party.does(HOST, "leave", {"seat": 0})
    for verb, body in (("deal", {}), ("token", {"seat": 0}), ("join", {"seat": 2, "bot": "easy"}), ("leave", {})):
        assert outcome(party.send(HOST, verb, body)) == (409, "finished")


def test_the_host_seats_bots_in_open_seats(party: Party) -> None:
    """A bot gets no token, and a seat that is not open none either (C-11)."""
    answer = party.send(HOST, "join", {"seat": 1, "bot": "hard"}).get_json()
    assert ("token" in answer, answer["seat"]) == (False, 1)
    assert seats(party)[1] == ("Bot 2", "bot", "hard", False)
    assert outcome(party.send(HOST, "join", {"seat": 1, "bot": "easy"})) == (409, "seat-taken")
    assert outcome(party.send(HOST, "join", {"seat": 0, "bot": "easy"})) == (409, "seat-taken")


def test_the_host_deals_and_what_is_open_is_closed(party: Party) -> None:
    """Nobody joins a closed seat any more; a seat's own deal leaves open seats open."""
    party.join()
    assert party.does(HOST, "deal")["status"] == "playing"
    assert [seat[1] for seat in seats(party)] == ["person", "person", "closed"]
    assert outcome(party.join()) == (409, "seat-taken")
    assert outcome(party.send(HOST, "join", {"seat": 2, "bot": "easy"})) == (409, "seat-taken")


def test_a_seats_own_deal_leaves_open_seats_open(party: Party) -> None:
    """Whoever comes later may still sit down."""
    party.join()
    party.does(0, "deal")
    assert seats(party)[2][1] == "open"
    assert party.join().get_json()["seat"] == 2


def test_the_host_replaces_a_lost_token(party: Party, stored: Stored) -> None:
    """The new one is told once and kept as a hash; the old one opens nothing any more."""
    old = party.tokens[0]
    answer = party.does(HOST, "token", {"seat": 0})
    party.tokens[0] = answer["token"]
    assert answer["token"] != old
    assert answer["session"]["you"] == {"seat": None, "host": True}
    assert party.seen(0)["you"] == {"seat": 0, "host": False}
    assert outcome(party.client.get(party.path, headers=party.bearer(old))) == UNAUTHORIZED
    assert stored.record(party.id).tokens[0] == hashed(answer["token"])
    assert answer["token"].encode() not in stored.dump(party.id)


@pytest.mark.parametrize("seat", [1, 2, 7])
def test_a_seat_that_no_person_holds_has_no_token(app: Flask, seat: int) -> None:
    """Neither a bot's nor an open one, nor one that is none."""
    party = Party(app.test_client()).seat(JACKPOT, ["Anna", BOT, OPEN])
    assert outcome(party.send(HOST, "token", {"seat": seat})) == (409, "not-now")


def test_the_host_takes_a_seat_out(party: Party) -> None:
    """A player who has vanished, or a bot; the seat is left for good, its token sees and moves nothing."""
    party.join()
    party.does(HOST, "join", {"seat": 2, "bot": "easy"})
    party.does(0, "deal")
    party.does(HOST, "leave", {"seat": 1})
    assert outcome(party.send(1, "choose", {"drop": []})) == (409, "left")
    assert outcome(party.send(HOST, "leave", {"seat": 1})) == (409, "not-now")
    party.does(HOST, "leave", {"seat": 2})
    assert [seat[3] for seat in seats(party)] == [False, True, True]
    assert party.seen(0)["table"]["result"]["winner"] == 0


def test_the_host_ends_a_round_where_the_game_says_so(app: Flask) -> None:
    """In Beat the Dealer it is the host's, not a seat's (BD-9)."""
    party = Party(app.test_client()).seat(BEAT, ["Anna", "Bo"])
    party.does(0, "deal")
    refused = party.send(0, "evaluate")
    assert outcome(refused) == (409, "not-now"), refused.text
    assert party.does(HOST, "evaluate")["status"] == "settled"


def test_the_host_deletes_and_no_seat_does(party: Party) -> None:
    """Afterwards the session is gone for everybody (410); its score can still be read."""
    assert outcome(party.client.delete(party.path, headers=party.headers(0))) == FORBIDDEN
    assert party.client.delete(party.path, headers=party.headers(HOST)).status_code == 204
    for who in (0, HOST, None):
        assert outcome(party.client.get(party.path, headers=party.headers(who))) == (410, "gone")
    assert outcome(party.join()) == (410, "gone")
    assert party.client.get(f"{party.path}/score").status_code != 410


@pytest.mark.parametrize("name", HOSTS_OWN)
def test_what_is_the_hosts_is_no_seats(party: Party, name: str, stored: Stored) -> None:
    """A seat that asks for it is refused, and nothing is written."""
    party.join()
    before = stored.dump(party.id)
    assert outcome(party.send(1, *HOSTS_OWN[name])) == FORBIDDEN
    assert stored.dump(party.id) == before


def test_the_host_sees_as_a_spectator(party: Party) -> None:
    """Its token shows no hand, and plays none."""
    party.join()
    party.does(0, "deal")
    view = party.seen(HOST)
    assert view["you"] == {"seat": None, "host": True}
    assert view["table"] == party.seen(None)["table"]
    assert outcome(party.send(HOST, "choose", {"drop": []})) == FORBIDDEN


def test_the_hosts_rights_pass_on(party: Party) -> None:
    """A host that leaves leaves them to the lowest seat that a person holds; its token is a spectator's then (C-10)."""
    party.join()
    party.does(HOST, "leave")
    assert party.seen(HOST)["you"] is None
    assert [party.seen(seat)["you"]["host"] for seat in (0, 1)] == [True, False]
    assert outcome(party.send(HOST, "token", {"seat": 0})) == FORBIDDEN
    assert outcome(party.client.delete(party.path, headers=party.headers(HOST))) == FORBIDDEN
    assert {"join", "token", "leave", "delete"} <= set(verbs(party, 0))
    party.does(0, "join", {"seat": 2, "bot": "easy"})
    party.does(0, "leave")
    assert [party.seen(seat)["you"]["host"] for seat in (0, 1)] == [False, True]
    assert outcome(party.send(0, "token", {"seat": 1})) == FORBIDDEN
    party.does(1, "leave", {"seat": 2})
    assert party.client.delete(party.path, headers=party.headers(1)).status_code == 204


def test_a_stream_says_of_each_version_who_was_the_host(app: Flask, party: Party) -> None:
    """Whoever was the host is told so up to the version that passed the rights on, and then no more."""
    with listen(app.test_client(), party.path, party.headers(HOST)) as feed:
        party.join()
        party.does(HOST, "leave")
        told = feed.until(2)
    ended(app)
    assert [each.frame["view"]["you"] for each in told] == [{"seat": None, "host": True}] * 2 + [None]


# Names.


@pytest.mark.parametrize("name", ["x", "Å" * 32, "Kim 2", "山田", "O'Hara-λ", "a" * 32, "👩"])
def test_a_name_is_kept_as_it_is(party: Party, name: str) -> None:
    """1 to 32 characters of any script."""
    assert party.join(name=name).status_code == 200
    assert seats(party)[1][0] == name


BAD_NAMES = {
    "empty": "",
    "too long": "a" * 33,
    "not composed": "e\u0301",
    "a control": "a\nb",
    "a zero": "a\0b",
    "a format character": "a\u200bb",
    "a direction": "\u202eabc",
    "a soft hyphen": "a\u00adb",
    "a line separator": "a\u2028b",
    "no text": 7,
    "nothing": None,
}


@pytest.mark.parametrize("fault", BAD_NAMES)
def test_a_name_that_deceives_is_refused(party: Party, fault: str) -> None:
    """Where a seat is joined and where a session is opened; the refusal points at it."""
    name = BAD_NAMES[fault]
    joined = party.join(name=name)
    assert outcome(joined) == (422, "invalid")
    assert joined.get_json()["errors"][0]["pointer"] == "/name"
    opened = party.client.post("/v1/sessions", json={"game": JACKPOT, "seats": ["Anna", name]})
    assert outcome(opened) == (422, "invalid")


# Planted faults: each is found by the checks above.


def test_a_seat_given_twice_is_found_out(app: Flask, stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check of the version both get it, and the first one's token is void."""
    commit_with(monkeypatch, {CONFLICT: b""})
    with pytest.raises(AssertionError):
        test_exactly_one_of_two_gets_the_last_seat(app, stored)
