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
    """A spectator is nobody, and is offered nothing."""
    table = Table(client).open(game)
    watched = table.watched()
    assert (watched["you"], watched["actions"]) == (None, [])
    own = table.view()
    assert {name for name in own if own[name] != watched[name]} == {"you", "actions"}
    for verb in ("deal", "leave"):
        assert outcome(client.post(f"{table.path}/{verb}")) == (401, "unauthorized")
    assert outcome(client.delete(table.path)) == (401, "unauthorized")


def test_the_host_sees_as_a_spectator_and_may_end_the_session(table: Table) -> None:
    """Nothing else is his."""
    table.play("wager", {"amount": 5})
    table.play("deal")
    view = table.view(table.host)
    assert view["you"] == {"seat": None, "host": True}
    assert view["table"] == table.watched()["table"]
    assert [(each["verb"], each["method"], each["href"]) for each in view["actions"]] == [
        ("delete", "DELETE", table.path)
    ]
    assert (view["actions"][0]["schema"], view["actions"][0]["example"]) == (None, None)
    for verb, body in (("deal", {}), ("choose", {"action": "bet"}), ("seed", {"client_seed": "x"}), ("leave", {})):
        answer = table.client.post(f"{table.path}/{verb}", json=body, headers=table.bearer(table.host))
        assert outcome(answer) == (403, "forbidden")


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
