"""Sessions as seat, spectator and host see and change them."""

import pytest
from flask.testing import FlaskClient

from engine.games import GAMES
from tests.routes import outcome
from tests.stored import Stored
from tests.tables import Table

games = pytest.mark.parametrize("game", GAMES)


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


@games
def test_who_watches_sees_the_table_and_can_do_nothing(client: FlaskClient, game: str) -> None:
    """A spectator is nobody, and is offered nothing where no seat is open."""
    table = Table(client).open(game)
    watched = table.watched()
    assert (watched["you"], watched["actions"]) == (None, [])
    for seat in table.tokens:
        own = table.at(seat).view()
        assert {name for name in own if own[name] != watched[name]} == {"you", "actions"}
        assert own["you"] == {"seat": seat, "host": False}
    for verb in ("deal", "leave", "seed", "token"):
        body = {"client_seed": "x"} if verb == "seed" else {"seat": 0} if verb == "token" else {}
        assert outcome(client.post(f"{table.path}/{verb}", json=body)) == (401, "unauthorized")
    assert outcome(client.delete(table.path)) == (401, "unauthorized")


@games
def test_who_watches_is_offered_an_open_seat(client: FlaskClient, game: str) -> None:
    """To join is all that he may do, and only where there is a seat that nobody holds."""
    made = client.post("/v1/sessions", json={"game": game}).get_json()["session"]
    offered = client.get(f"/v1/sessions/{made['id']}").get_json()["actions"]
    assert [action["verb"] for action in offered] == ["join"] * (GAMES[game].spec.seats[1] > 1)


OTHERS_TO_DO = {
    "spice-island-poker": ("wager", "choose"),
    "skulls-and-swords": ("choose", "swap", "confirm", "wager", "evaluate"),
    "jackpot": ("choose", "evaluate"),
    "speed": ("choose",),
    "beat-the-dealer": ("choose",),
}
"""The seats' own verbs, whatever the state."""
DEALS = {"jackpot", "beat-the-dealer"}
"""Where a host may deal for a table of several; in Speed everyone says himself when he is ready."""


def assert_offered(table: Table, *verbs: str) -> None:
    """Fail unless the host is offered this in the game, and after it what is every host's.

    Seats are taken out only where one may leave; that the host may leave itself comes last but one.
    """
    own = [action["verb"] for seat in table.tokens for action in table.at(seat).view()["actions"]]
    leaves = ["leave"] * (1 + ("leave" in own))
    offered = [(each["verb"], each["method"], each["href"]) for each in table.view(table.host)["actions"]]
    expected = [(verb, "POST", f"{table.path}/{verb}") for verb in (*verbs, "token", *leaves)]
    assert offered == [*expected, ("delete", "DELETE", table.path)]


@games
def test_the_host_sees_as_a_spectator_and_has_no_seats_rights(client: FlaskClient, game: str) -> None:
    """He may give seats away and take them out, end the session, and in some games deal: nothing else is his."""
    table = Table(client).open(game)
    assert_offered(table, *(["deal"] * (game in DEALS)))
    while table.watched()["status"] != "playing":
        table.play_first()
    view = table.view(table.host)
    assert view["you"] == {"seat": None, "host": True}
    assert view["table"] == table.watched()["table"]
    assert_offered(table, *(["evaluate"] * (game == "beat-the-dealer")))
    assert (view["actions"][-1]["schema"], view["actions"][-1]["example"]) == (None, None)
    before = table.watched()["version"]
    bodies = {action["verb"]: action["example"] for _, actions in table.able() for action in actions}
    for verb in ("deal", "seed", *OTHERS_TO_DO[game]):
        body = bodies.get(verb) or FITTING.get((game, verb), {"client_seed": "x"} if verb == "seed" else {})
        answer = client.post(f"{table.path}/{verb}", json=body, headers=table.bearer(table.host))
        later = verb == "deal" and game in DEALS | {"speed"}
        assert outcome(answer) == ((409, "not-now") if later else (403, "forbidden")), (verb, answer.text)
    assert table.watched()["version"] == before


FITTING = {
    ("spice-island-poker", "wager"): {"amount": 5},
    ("skulls-and-swords", "swap"): {"positions": [0, 1]},
    ("skulls-and-swords", "wager"): {"amount": 1},
    ("jackpot", "choose"): {"drop": []},
    ("speed", "choose"): {"pass": True},
}
"""A body that fits the verb, where it is offered to nobody just now."""


def test_who_leaves_finishes_a_session_of_one_seat(table: Table) -> None:
    """It is finished, not gone: it can be looked at, and every move is refused with no action left."""
    view = table.play("leave")
    assert (view["status"], view["reason"], view["actions"]) == ("finished", "left", [])
    assert (view["seats"][0]["left"], view["seats"][0]["to_act"], view["next_commitment"]) == (True, False, None)
    assert [event["type"] for event in view["events"]] == ["left"]
    for verb, body in (("leave", {}), ("deal", {}), ("seed", {"client_seed": "x"}), ("wager", {"amount": 5})):
        answer = table.act(verb, body)
        assert outcome(answer) == (409, "finished")
        assert (answer.get_json()["version"], answer.get_json()["actions"]) == (1, [])
    assert table.watched()["status"] == "finished"
    assert table.client.delete(table.path, headers=table.bearer(table.host)).status_code == 204


def test_a_refusal_teaches(table: Table) -> None:
    """It says why, at which version, and what is possible instead, as the view has it."""
    table.play("wager", {"amount": 5})
    table.play("deal")
    answer = table.act("leave")
    assert outcome(answer) == (409, "not-now")
    told = answer.get_json()
    assert (told["version"], told["actions"]) == (2, table.view()["actions"])
    assert told["detail"] == "The hand is undecided: bet or surrender first."


def test_a_seed_of_ones_own_is_for_the_next_round_only(table: Table, stored: Stored) -> None:
    """The last one given counts, in `seed` or in `deal`; the commitment was there before it."""
    before = table.view()
    table.play("seed", {"client_seed": "first"})
    view = table.play("seed", {"client_seed": "gl\u00fcck"})
    assert (view["version"], view["events"], view["next_commitment"]) == (2, [], before["next_commitment"])
    table.play("wager", {"amount": 5})
    assert table.play("deal")["commitment"] == before["next_commitment"]
    position = stored.record(table.id).position
    assert (position.client_seeds, position.next_client_seeds) == (("gl\u00fcck",), ("",))
    table.play("choose", {"action": "surrender"})
    table.play("wager", {"amount": 5})
    table.play("deal", {"client_seed": "other"})
    assert stored.record(table.id).position.client_seeds == ("other",)


def test_a_seed_has_64_bytes_at_most(table: Table) -> None:
    """Bytes of UTF-8, whatever the letters."""
    for text, status in (("", 200), ("x" * 64, 200), ("\u00e9" * 32, 200), ("x" * 65, 422), ("\u00e9" * 33, 422)):
        assert table.act("seed", {"client_seed": text}).status_code == status
