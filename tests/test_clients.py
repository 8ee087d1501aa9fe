"""Who a client is, how often he may ask, how many streams he may hold, and who may open sessions."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from typing import Any
from unittest.mock import call, patch

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from service import create_app
from service.clients import Proxies, api_keys
from service.settings import Settings, SettingsError
from tests.conftest import Clock, ClockedStore
from tests.contract import ContractClient
from tests.feeds import ended, listen, poll
from tests.parties import Party
from tests.test_limits import code, is_limited, passing

KEY = "a-key-of-the-operators"
OTHER_KEY = "another-key"
KEYS = api_keys(
    ",".join(
        f"{name}:{hashlib.sha256(key.encode()).hexdigest()}" for name, key in (("arcade", KEY), ("kiosk", OTHER_KEY))
    )
)
SEATS: list[Any] = ["Anna", {"open": True}, {"open": True}]
OPENING = {"game": "jackpot", "seats": SEATS, "visibility": "public"}
FEW: dict[str, Any] = {
    "opens_per_minute": 4,
    "joins_per_minute": 2,
    "tickets_per_minute": 2,
    "events_per_minute": 6,
    "lobby_per_minute": 2,
    "streams_per_address": 2,
}
HERE, THERE = "192.0.2.1", "192.0.2.2"

pytestmark = pytest.mark.usefixtures("alone")


class Elsewhere(ContractClient):
    """Asks from another machine than the service's own."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - whatever Flask gives
        super().__init__(*given, **named)
        self.environ_base["REMOTE_ADDR"] = HERE


def serving(store: ClockedStore, **settings: Any) -> Flask:  # noqa: ANN401 - any setting
    app = create_app(Settings(log_level="CRITICAL", **FEW | settings), store)
    app.test_client_class = Elsewhere
    return app


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    app = serving(store)
    yield app
    ended(app)


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = "127.0.0.1"  # opened by the operator, so that nobody has asked yet
    party = Party(client).seat("jackpot", SEATS)
    client.environ_base["REMOTE_ADDR"] = HERE
    return party


def opening(app: Flask, peer: str = HERE, **headers: str) -> TestResponse:
    """Open a session from an address."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().post("/v1/sessions", json=OPENING, headers=named, environ_overrides={"REMOTE_ADDR": peer})


ASKS: dict[str, Callable[[Party, str], TestResponse]] = {
    "joins": lambda party, peer: party.client.post(f"{party.path}/join", environ_overrides={"REMOTE_ADDR": peer}),
    "tickets": lambda party, peer: party.client.post(
        f"{party.path}/ticket", headers=party.headers(0), environ_overrides={"REMOTE_ADDR": peer}
    ),
    "events": lambda party, peer: party.client.get(f"{party.path}/events", environ_overrides={"REMOTE_ADDR": peer}),
    "lobby": lambda party, peer: party.client.get("/v1/sessions", environ_overrides={"REMOTE_ADDR": peer}),
    "opens": lambda party, peer: opening(party.client.application, peer),
}


@pytest.mark.parametrize("name", ASKS)
def test_a_client_may_ask_so_often(party: Party, clock: Clock, name: str) -> None:
    """A minute's worth at once, then one each part of a minute; another address has its own."""
    most, ask = FEW[f"{name}_per_minute"], ASKS[name]
    assert passing(ask, party, HERE) == most
    refused = ask(party, HERE)
    assert refused.headers["RateLimit-Policy"] == f'"{name}";q={most};w=60'
    assert int(refused.headers["Retry-After"]) == 60 // most
    assert passing(ask, party, THERE) == most
    clock.advance(60_000 // most)
    assert passing(ask, party, HERE) == 1


def test_what_is_wrong_before_is_said_before(app: Flask, party: Party) -> None:
    """JSON, session and token are looked at before a client is counted; body and query after that."""
    for _ in range(10):
        assert app.test_client().post("/v1/sessions", data=b"{", content_type="application/json").status_code == 400
        assert app.test_client().post("/v1/sessions/" + "A" * 22 + "/join").status_code == 404
        assert party.client.post(f"{party.path}/ticket", headers=party.bearer("x")).status_code == 401
    assert party.client.post("/v1/sessions", json={"game": "whist"}).status_code == 422
    assert passing(ASKS["tickets"], party, HERE) == 2
    assert passing(ASKS["opens"], party, HERE) == 3  # the unknown game was counted


def test_a_join_that_loses_a_race_counts_once(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is worked out anew, and was asked for once."""
    with monkeypatch.context() as faults:
        faults.setattr(ClockedStore, "commit", lambda *_: "conflict")
        assert ASKS["joins"](party, HERE).status_code == 503
    assert passing(ASKS["joins"], party, HERE) == 1


def test_a_client_holds_so_many_streams(app: Flask, party: Party) -> None:
    """One more is refused, a poll is answered at once, and others find a place; who goes makes room."""
    streams = [listen(party.client, party.path), listen(party.client, party.path)]
    with ExitStack() as held:
        for each in streams:
            held.enter_context(each)
        refused = party.client.get(f"{party.path}/events", headers={"Accept": "text/event-stream"})
        assert is_limited(refused)
        assert refused.headers["RateLimit-Policy"] == '"streams";q=2;qu="concurrent-requests"'
        at_once = poll(party.client, party.path, wait=30)
        assert (at_once.status_code, at_once.headers["Retry-After"]) == (200, "1")
        other = {"headers": {"Accept": "text/event-stream"}, "environ_overrides": {"REMOTE_ADDR": THERE}}
        party.client.get(f"{party.path}/events", **other).close()
    listen(party.client, party.path).close()
    assert not app.extensions["streams"]._taken


def test_a_client_may_hold_a_quarter_of_the_places(store: ClockedStore) -> None:
    """Unless another number is set; one at least."""
    for places, share in ((1024, 256), (8, 2), (1, 1)):
        app = serving(store, streams=places, streams_per_address=None)
        assert app.extensions["streams"]._of_one == share


# Addresses.

BEHIND = Proxies.read("10.0.0.0/8, 2001:db8:1::/48")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        (HERE, None, HERE),
        (HERE, THERE, HERE),
        (HERE, "10.0.0.1", HERE),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", HERE, HERE),
        ("10.0.0.1", f"{THERE}, {HERE}", HERE),
        ("10.0.0.1", f"{THERE}, {HERE}, 10.1.2.3", HERE),
        ("10.0.0.1", f"{THERE},{HERE} , 2001:db8:1::5", HERE),
        ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
        ("10.0.0.1", "anything", "10.0.0.1"),
        ("10.0.0.1", f"{HERE}, ", "10.0.0.1"),
        ("10.0.0.1", f"{HERE}, unknown", "10.0.0.1"),
        ("10.0.0.1", f"{HERE}:5678", HERE),
        ("10.0.0.1", "[2001:db8:2:3::1]:5678", "2001:db8:2:3::/64"),
        ("2001:db8:2:3:4:5:6:7", None, "2001:db8:2:3::/64"),
        ("2001:db8:1::1", HERE, HERE),
        ("2001:db8:2::1", HERE, "2001:db8:2::/64"),
        ("::ffff:10.0.0.1", HERE, HERE),
        ("::ffff:192.0.2.1", THERE, HERE),
        ("fe80::1%eth0", None, "fe80::/64"),
        ("", HERE, "unix"),
        ("10.0.0.1", "\u0661\u0660.0.0.1", "10.0.0.1"),
    ],
)
def test_a_client_is_where_a_trusted_proxy_says(peer: str, forwarded: str | None, client: str) -> None:
    """From the right, as far as who says so is trusted; what a stranger says changes nothing."""
    assert BEHIND.client(peer, forwarded) == client


def test_nobody_is_believed_unless_it_is_said() -> None:
    """Not even this machine, or what comes by a socket of files."""
    assert Proxies().client("127.0.0.1", HERE) == "127.0.0.1"
    assert Proxies().client("", HERE) == "unix"
    assert Proxies.read("unix").client("", HERE) == HERE
    assert Proxies.read("unix").client("127.0.0.1", HERE) == "127.0.0.1"


def spoofing_changes_nothing(app: Flask) -> None:
    """Fail unless a client that claims to be another each time is counted as the one that he is."""
    claims = iter(range(200))
    assert passing(lambda: opening(app, X_Forwarded_For=f"198.51.100.{next(claims)}")) == 4


def test_a_spoofed_address_changes_nothing(store: ClockedStore) -> None:
    """Neither on a direct connection nor in front of what a proxy adds."""
    app = serving(store, trusted_proxies=Proxies.read("10.0.0.1"))
    spoofing_changes_nothing(app)
    claims = iter(range(100))
    through = lambda: opening(app, "10.0.0.1", X_Forwarded_For=f"198.51.100.{next(claims)}, {THERE}")  # noqa: E731
    assert passing(through) == 4
    assert opening(app, "10.0.0.1", X_Forwarded_For="198.51.100.200").status_code == 201


def test_believing_everyone_is_found_out(store: ClockedStore) -> None:
    """Were any peer a trusted proxy, a client could be a new one each time."""
    app = serving(store, trusted_proxies=Proxies.read("0.0.0.0/0"))
    with pytest.raises(AssertionError):
        spoofing_changes_nothing(app)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1"])
def test_who_asks_from_this_machine_is_not_counted(app: Flask, peer: str) -> None:
    """He is the operator's own, unless a proxy that is trusted says otherwise."""
    assert all(opening(app, peer).status_code == 201 for _ in range(20))


def test_whom_a_proxy_of_this_machine_asks_for_is_counted(store: ClockedStore) -> None:
    """It is believed as any other that is named."""
    app = serving(store, trusted_proxies=Proxies.read("127.0.0.1"))
    assert passing(lambda: opening(app, "127.0.0.1", X_Forwarded_For=THERE)) == 4


def test_a_network_of_64_bits_is_one_client(app: Flask) -> None:
    """Whoever has one has all of its addresses."""
    peers = iter(range(100))
    assert passing(lambda: opening(app, f"2001:db8::{next(peers):x}")) == 4
    assert opening(app, "2001:db8:0:1::1").status_code == 201


# API keys.


@pytest.fixture(name="closed")
def _closed(store: ClockedStore) -> Flask:
    """Make an application that opens sessions for those with a key."""
    return serving(store, api_keys=KEYS)


@pytest.mark.parametrize("given", [None, "", "x", KEY + "x", KEYS[0].digest.hex(), "arcade", "æ", f"arcade:{KEY}"])
def test_sessions_are_opened_with_a_key_where_keys_are_set(closed: Flask, given: str | None) -> None:
    """Neither its name nor its hash is one."""
    answer = opening(closed, **({} if given is None else {"X_API_Key": given}))
    assert (answer.status_code, code(answer)) == (401, "api-key-needed")
    assert answer.headers["WWW-Authenticate"].startswith("ApiKey")


def test_any_of_the_keys_opens_sessions(closed: Flask) -> None:
    """All else is as it was: who has a session's id or token needs none."""
    for key in (KEY, OTHER_KEY):
        assert opening(closed, X_API_Key=key).status_code == 201
    party = Party(closed.test_client())
    party.id = opening(closed, X_API_Key=KEY).get_json()["session"]["id"]
    assert party.join(name="Bo").status_code == 200
    assert party.seen(1)["you"]["seat"] == 1


def test_a_key_is_limited_wherever_it_comes_from(closed: Flask) -> None:
    """Each by itself; and a key that is none does not make anybody another."""
    peers = iter(range(100))
    assert passing(lambda: opening(closed, f"192.0.2.{next(peers)}", X_API_Key=KEY)) == 4
    assert passing(lambda: opening(closed, HERE, X_API_Key=OTHER_KEY)) == 4
    lobby = lambda: closed.test_client().get("/v1/sessions", headers={"X-API-Key": f"x{next(peers)}"})  # noqa: E731
    assert passing(lobby) == 2


def test_where_no_keys_are_set_a_key_changes_nothing(app: Flask) -> None:
    """Else anybody could be a new client each time."""
    made_up = iter(range(100))
    assert passing(lambda: opening(app, X_API_Key=f"x{next(made_up)}")) == 4


def test_the_log_names_whose_key_it_was(closed: Flask) -> None:
    """It never has the key."""
    with patch("service.gate.log") as log:
        opening(closed, X_API_Key=KEY, X_Request_Id="one")
        opening(closed, X_API_Key="wrong-key")
    assert log.mock_calls == [call.info("api-key", api_key="arcade", request_id="one")]


# Settings.


def test_limits_are_read_from_the_environment() -> None:
    """Each has the name that docs/limits.md gives it."""
    numbers = {
        "MOVES_PER_SECOND": 1,
        "READS_PER_SECOND": 2,
        "OPENS_PER_MINUTE": 3,
        "JOINS_PER_MINUTE": 4,
        "TICKETS_PER_MINUTE": 5,
        "EVENTS_PER_MINUTE": 6,
        "LOBBY_PER_MINUTE": 7,
        "STREAMS_PER_ADDRESS": 8,
    }
    others = {"LIMITS": "off", "TRUSTED_PROXIES": "10.0.0.0/8, ::1,unix", "API_KEYS": f"arcade:{'a' * 64}, {'B' * 64}"}
    settings = Settings.read({name: str(number) for name, number in numbers.items()} | others)
    assert {name: getattr(settings, name.lower()) for name in numbers} == numbers
    assert not settings.limits
    assert settings.trusted_proxies == Proxies((ip_network("10.0.0.0/8"), ip_network("::1")), unix=True)
    assert [(key.name, key.digest.hex()) for key in settings.api_keys] == [("arcade", "a" * 64), ("bbbbbbbb", "b" * 64)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIMITS", "perhaps"),
        ("MOVES_PER_SECOND", "0"),
        ("OPENS_PER_MINUTE", "0.5"),
        ("STREAMS_PER_ADDRESS", "0"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("TRUSTED_PROXIES", "2"),
        ("API_KEYS", KEY),
        ("API_KEYS", f"arcade:{KEY}"),
        ("API_KEYS", f"{'a' * 63}"),
        ("API_KEYS", f"two words:{'a' * 64}"),
    ],
)
def test_a_limit_that_cannot_be_used_is_refused_in_one_line(name: str, value: str) -> None:
    """The message begins with the setting's name, and does not repeat what may be a key."""
    with pytest.raises(SettingsError, match=rf"^{name}: [^\n]+\.?$") as refused:
        Settings.read({name: value})
    assert KEY not in str(refused.value)
