"""Tickets: what an address can carry in place of a token, to read a session's events for an hour."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from service.records import hashed
from service.store import Store
from tests.conftest import Clock, ClockedStore
from tests.feeds import NDJSON, SSE, listen, poll, serving
from tests.parties import HOST, Party, Who
from tests.routes import outcome
from tests.stored import Stored, key

HOUR_MS = 3600 * 1000
UNAUTHORIZED = (401, "unauthorized")


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    with serving(store) as app:
        yield app


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    return Party(app.test_client()).seat("jackpot", ["Anna", "Bo"])


def ticket(party: Party, who: Who = 0) -> str:
    """Return a fresh ticket of somebody."""
    return str(party.does(who, "ticket")["ticket"])


def name_of(made: str, party: Party) -> str:
    """Return the key under which a ticket is kept."""
    return key(party.id, f"ticket:{hashed(made).hex()}")


@pytest.mark.parametrize("who", [0, 1, HOST])
def test_a_ticket_shows_what_its_token_does(party: Party, who: Who) -> None:
    """A stream, lines and a poll are the same by ticket and by token, as often as they are asked for."""
    made = ticket(party, who)
    party.does(0, "deal")
    for kind in (SSE, NDJSON):
        with (
            listen(party.client, party.path, None, kind, ticket=made) as by_ticket,
            listen(party.client, party.path, party.headers(who), kind) as by_token,
        ):
            assert by_ticket.next().raw == by_token.next().raw
    polled = poll(party.client, party.path, ticket=made, after=0)
    assert polled.data == poll(party.client, party.path, party.headers(who), after=0).data


def test_a_ticket_reads_and_does_nothing_else(party: Party) -> None:
    """It is no token, and no other route takes it."""
    made = ticket(party)
    as_token = party.bearer(made)
    assert outcome(party.client.get(party.path, headers=as_token)) == UNAUTHORIZED
    assert outcome(party.client.post(f"{party.path}/deal", headers=as_token)) == UNAUTHORIZED
    assert outcome(poll(party.client, party.path, as_token)) == UNAUTHORIZED
    for path in (party.path, f"{party.path}/score"):
        asked = party.client.get(f"{path}?ticket={made}")
        assert outcome(asked) == (422, "invalid")
    assert party.seen(None)["version"] == 0


def test_a_ticket_is_for_one_session(party: Party, app: Flask) -> None:
    """It opens no other, not even one of the same people."""
    other = Party(app.test_client()).seat("jackpot", ["Anna", "Bo"])
    assert outcome(poll(party.client, other.path, ticket=ticket(party))) == UNAUTHORIZED


@pytest.mark.parametrize("given", ["", "x", "æ", "%00", "a" * 43])
def test_a_wrong_ticket_is_refused(party: Party, given: str) -> None:
    """A token beside it does not make it good."""
    assert outcome(poll(party.client, party.path, party.headers(0), ticket=given)) == UNAUTHORIZED


def test_a_wrong_token_is_refused_whatever_the_ticket(party: Party, app: Flask) -> None:
    """A token that is given and wrong is never passed over; any right one of this session changes nothing."""
    other = Party(app.test_client()).seat("jackpot", ["Anna", "Bo"])
    good = ticket(party, 1)
    for wrong in ({"Authorization": "Basic x"}, party.bearer("x"), other.headers(0), party.bearer(good)):
        assert outcome(poll(party.client, party.path, wrong, ticket=good, after=0)) == UNAUTHORIZED
    alone = poll(party.client, party.path, ticket=good, after=0)
    for right in (0, 1, HOST):
        assert poll(party.client, party.path, party.headers(right), ticket=good, after=0).data == alone.data


def test_a_ticket_needs_a_token(party: Party) -> None:
    """A spectator needs none to watch, and gets none."""
    assert outcome(party.send(None, "ticket")) == UNAUTHORIZED
    assert outcome(party.client.post(f"{party.path}/ticket", headers=party.bearer("x"))) == UNAUTHORIZED


def test_a_ticket_is_kept_for_an_hour(party: Party, clock: Clock, stored: Stored) -> None:
    """The answer says until when; then the store drops it, and it is like one that never was."""
    answer = party.does(0, "ticket")
    assert answer["expires_at"] == clock.now + HOUR_MS
    name = name_of(answer["ticket"], party)
    assert HOUR_MS - 60_000 < stored.command("PTTL", name) <= HOUR_MS
    poll(party.client, party.path, ticket=answer["ticket"])
    assert stored.command("PTTL", name) <= HOUR_MS
    stored.command("PEXPIRE", name, 0)
    assert outcome(poll(party.client, party.path, ticket=answer["ticket"])) == UNAUTHORIZED


def test_a_ticket_itself_is_kept_nowhere(party: Party, stored: Stored) -> None:
    """Its hash names the key, which holds the hash of the token that it stands for; no version comes of it."""
    made = ticket(party)
    assert stored.command("GET", name_of(made, party)) == hashed(party.tokens[0])
    assert made.encode() not in stored.dump(party.id) + b"".join(stored.command("KEYS", f"*{party.id}*"))
    assert (party.seen(None)["version"], stored.entries(party.id)) == (0, [])


def test_a_ticket_is_void_with_its_token(party: Party) -> None:
    """A token issued anew ends the streams of the old one's tickets, and nobody gets in with them; others stay good."""
    made, other = ticket(party, 1), ticket(party, 0)
    with listen(party.client, party.path, ticket=made) as feed, listen(party.client, party.path, ticket=other) as good:
        feed.next()
        party.does(HOST, "token", {"seat": 1})
        party.does(0, "deal")
        assert [told.frame["event"] for told in feed.rest()] == ["move", "end"]
        assert [told.frame["event"] for told in good.take(3)] == ["snapshot", "move", "move"]
    assert outcome(poll(party.client, party.path, ticket=made)) == UNAUTHORIZED
    assert poll(party.client, party.path, ticket=other).status_code == 200


def test_a_ticket_of_a_session_that_is_over_opens_nothing(party: Party) -> None:
    """A deleted session is gone (410), one that never was unknown (404), whatever the ticket."""
    made = ticket(party)
    party.client.delete(party.path, headers=party.headers(HOST))
    for given in (made, "x"):
        assert outcome(poll(party.client, party.path, ticket=given)) == (410, "gone")
    assert outcome(poll(party.client, "/v1/sessions/" + "A" * 22, ticket=made)) == (404, "unknown-session")


# Planted fault.


def test_a_ticket_that_outlives_its_token_is_found_out(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that keeps the seat in place of the token's hash stays good for the old token's owner."""
    by_ticket = Store.ticket

    def of_the_seat(store: Store, *asked: Any) -> bytes | None:  # noqa: ANN401 - handed on
        owner = by_ticket(store, *asked)
        return owner if owner is None else hashed(party.tokens[1])

    monkeypatch.setattr(Store, "ticket", of_the_seat)
    does = Party.does

    def remembering(self: Party, who: Who, verb: str, *body: Any) -> dict[str, Any]:  # noqa: ANN401 - handed on
        answer = does(self, who, verb, *body)
        if verb == "token":
            self.tokens[answer["seat"]] = answer["token"]
        return answer

    monkeypatch.setattr(Party, "does", remembering)
    with pytest.raises(AssertionError):
        test_a_ticket_is_void_with_its_token(party)
