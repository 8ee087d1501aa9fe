"""Attacks by hand: what is another's, what is nobody's to set, and ways round the method, the path and the origin."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.game import State
from engine.games import GAMES
from engine.play import Position, Seat
from service.browsers import GUARDS
from service.records import Record, Viewer, hashed
from service.views import View
from tests.contract import CONTRACT
from tests.hostile import right_value
from tests.parties import HOST, Party
from tests.routes import JSON, Target, outcome, targets
from tests.stored import Stored
from tests.tables import Table

UNAUTHORIZED, INVALID = (401, "unauthorized"), (422, "invalid")


@pytest.fixture(name="party")
def _party(client: FlaskClient) -> Party:
    return Party(client).seat("jackpot", ["Anna", "Bo", {"open": True}])


def of_session(app: Flask, party: Party) -> list[Target]:
    """Return whatever may be asked of this session."""
    return [each for each in targets(app, party) if party.id in each.path and each.method != "OPTIONS"]


# What belongs to another (API1, API2, API5).


def strangers(party: Party, other: Party) -> dict[str, str]:
    """Return what might be taken for a token of a session by who does not look closely."""
    void = party.tokens[1]
    party.tokens[1] = party.does(HOST, "token", {"seat": 1})["token"]
    ticket = other.does(0, "ticket")["ticket"]
    return {
        "a seat's of another session": other.tokens[0],
        "the host's of another session": other.host,
        "a ticket of another session": ticket,
        "a ticket of this one": party.does(0, "ticket")["ticket"],
        "one that was replaced": void,
        "the hash that is stored of it": hashed(party.tokens[0]).hex(),
        "that hash itself": hashed(party.tokens[0]).decode("latin-1"),
        "the session's id": party.id,
        "its first half": party.tokens[0][:21],
        "in capitals": party.tokens[0].swapcase(),
        "another with it": f"{other.tokens[0]}{party.tokens[0]}",
    }


def opens_nothing(app: Flask, party: Party, token: str) -> None:
    """Fail unless every operation of the session refuses the token."""
    for method, path in of_session(app, party):
        given = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        answer = party.client.open(path, method=method, environ_overrides=given)
        assert answer.status_code == 401, (method, path, answer.status_code)


def test_what_is_of_another_session_opens_nothing(
    app: Flask, client: FlaskClient, party: Party, stored: Stored
) -> None:
    """No token, ticket, hash or id that is not this session's own token reads or does anything here."""
    other = Party(client).seat("jackpot", ["Cleo", "Dora"])
    found = strangers(party, other)
    before = stored.dump(party.id)
    for token in found.values():
        opens_nothing(app, party, token)
    for ticket in ("a ticket of another session", "the hash that is stored of it", "one that was replaced"):
        answer = client.get(f"{party.path}/events", query_string={"ticket": found[ticket]})
        assert outcome(answer) == UNAUTHORIZED, ticket
    assert stored.dump(party.id) == before


def test_a_seat_reads_no_other_seats_cards(party: Party) -> None:
    """Whatever it asks for: no parameter, header or field names another seat."""
    party.does(0, "deal")
    for query in ({"seat": "1"}, {"viewer": "1"}, {"token": party.tokens[1]}, {"as": "host"}):
        assert outcome(party.client.get(party.path, query_string=query, headers=party.headers(0))) == INVALID
    for name in ("X-Seat", "X-User", "X-Forwarded-User", "From", "Cookie"):
        answer = party.client.get(party.path, headers=party.headers(0) | {name: "seat=1; 1"})
        assert answer.get_json()["you"]["seat"] == 0


# What is nobody's to set (API3, API6).

INTERNAL = sorted(
    {name for kind in (Record, Position, State, Seat, View) for name in kind.__struct_fields__}
    - {"game", "options", "seats", "name", "seat"}
)
"""What the service itself writes into a session, or tells of it."""


@pytest.mark.parametrize("name", INTERNAL)
def test_what_the_service_writes_no_create_sets(client: FlaskClient, name: str) -> None:
    """Neither beside the fields of a create, nor among the options, nor in a seat."""
    for game in GAMES:
        inside: list[dict[str, Any]] = [{name: 1}, {"options": {name: 1}}]
        inside += [{"seats": [{kind: value, name: 1}, "Anna"]} for kind, value in (("open", True), ("bot", "easy"))]
        for more in inside:
            assert outcome(client.post("/v1/sessions", json={"game": game, **more})) == INVALID, more


@pytest.mark.parametrize("game", GAMES)
def test_what_the_service_writes_no_action_sets(client: FlaskClient, game: str) -> None:
    """Beside the right fields of every verb one more is refused, and nothing changes."""
    table = Table(client).open(game)
    for verb, shapes in GAMES[game].spec.verbs.items():
        for shape in shapes:
            right = {field.name: right_value(field) for field in shape.fields}
            for name in INTERNAL:
                assert outcome(table.act(verb, right | {name: 1})) == INVALID, (verb, name)
    assert table.view()["version"] == 0


# Ways round the method and the path.

OVERRIDES = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")
ADDRESSES = (
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Prefix",
    "X-Forwarded-Host",
    "X-Forwarded-Path",
    "Forwarded",
)


@pytest.mark.parametrize("name", OVERRIDES)
def test_no_header_stands_for_the_method(party: Party, name: str) -> None:
    """A read stays a read, and what is posted is posted."""
    host = party.headers(HOST) | {name: "DELETE"}
    assert party.client.get(party.path, headers=host).status_code == 200
    assert outcome(party.client.post(party.path, headers=host)) == (405, "method-not-allowed")
    assert outcome(party.client.get(party.path, query_string="_method=DELETE", headers=host)) == INVALID
    assert outcome(party.send(HOST, "deal", {"_method": "DELETE"})) == INVALID
    assert party.seen(0)["version"] == 0


@pytest.mark.parametrize("name", ADDRESSES)
def test_no_header_stands_for_the_path_or_the_host(client: FlaskClient, name: str) -> None:
    """Every address that is answered is a path of this service."""
    headers = {name: "//elsewhere.example/v1/nothing", "Host": "elsewhere.example"}
    made = client.post("/v1/sessions", json={"game": "jackpot"}, headers=headers)
    assert made.headers["Location"] == f"/v1/sessions/{made.get_json()['session']['id']}"
    assert "elsewhere" not in made.text + str(made.headers)


TRAVERSALS = (
    "..",
    "../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "..\\..\\etc\\passwd",
    "....//etc",
    "/etc/passwd",
    "jackpot.en.md",
    "jackpot/../speed",
    "jackpot\x00.md",
    "\xc0\xae\xc0\xae/etc",
    "file:///etc/passwd",
    "{0.__class__}",
    "%s%n",
)


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_name_leads_to_a_file(client: FlaskClient, name: str) -> None:
    """A game is one of a list, and nothing else is opened for a path."""
    for path in (f"/v1/games/{name}/rules", f"/v1/games/{name}", f"/{name}", f"/v1/sessions/{name}"):
        answer = client.open("/", environ_overrides={"PATH_INFO": path})
        assert outcome(answer)[0] == 404, path
        assert "root:" not in answer.text


def test_every_route_is_in_the_contract(app: Flask) -> None:
    """There is no operation that nobody has written down."""
    served = {(method, rule.rule) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    documented = {
        (method.upper(), path)
        for path, node in CONTRACT.document.tree["paths"].items()
        for method in node
        if method != "parameters"
    }
    verbs = re.compile(r"<any\((.*)\):verb>")
    for method, rule in served:
        if method not in ("HEAD", "OPTIONS"):
            plain, several = rule.replace("<game>", "{game}").replace("<session>", "{id}"), verbs.search(rule)
            names = several[1].split(", ") if several else [""]
            assert {(method, verbs.sub(name, plain)) for name in names} <= documented, rule


# Other origins, and browsers.


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://localhost", "\xff"])
def test_no_origin_is_told_apart(party: Party, origin: str) -> None:
    """Every one is answered `*`, and none may send credentials of a browser's own."""
    asked = {"HTTP_ORIGIN": origin, "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "DELETE"}
    asked["HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK"] = "true"
    for method in ("GET", "OPTIONS"):
        headers = party.client.open(party.path, method=method, environ_overrides=asked).headers
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in headers
        assert "Access-Control-Allow-Private-Network" not in headers


def test_a_form_of_another_page_is_refused(party: Party) -> None:
    """What a page can send without being asked about it first is no JSON, and carries no token."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        for path in (f"{party.path}/join", "/v1/sessions"):
            answer = party.client.post(path, data=b'{"game": "jackpot"}', content_type=kind)
            assert outcome(answer) == (415, "unsupported-media-type")


def test_every_answer_is_nothing_but_its_type(app: Flask, party: Party) -> None:
    """Whatever is asked: it is not sniffed, not run and not framed, the rules' page for people alone may be."""
    for method, path in targets(app, party):
        answer = party.client.open(path, method=method, headers={"Accept": "*/*"}, buffered=False)
        for name, guard in GUARDS.items():
            assert answer.headers.getlist(name) == [guard], (method, path)
        answer.close()


@pytest.mark.parametrize("game", GAMES)
def test_a_page_of_rules_runs_and_loads_nothing(client: FlaskClient, game: str) -> None:
    """It has one style sheet, known by its hash; no script, form, picture or event handler is on it."""
    page = client.get(f"/v1/games/{game}/rules", headers={"Accept": "text/html"})
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert page.text.count("<style>") == 1
    for word in ("<script", "<form", "<img", "<iframe", "<base", "<link", " style=", " on", "javascript:"):
        assert not any(word in tag for tag in (part.partition(">")[0] for part in page.text.split("<")[1:])), word


# What an answer tells.


def test_what_tells_a_token_is_kept_by_nobody(client: FlaskClient) -> None:
    """A create, a join, a reissue and a ticket."""
    party = Party(client)
    made = client.post("/v1/sessions", json={"game": "jackpot"})
    party.game, party.id, party.host = "jackpot", made.get_json()["session"]["id"], made.get_json()["host_token"]
    answers = (made, party.join(), party.send(HOST, "token", {"seat": 1}), party.send(HOST, "ticket"))
    for answer in answers:
        assert answer.status_code < 300
        assert answer.headers["Cache-Control"] == "no-store"


def misplaced(party: Party, word: str) -> Iterator[TestResponse]:
    """Yield the answers to requests that have a word as a value where it does not belong."""
    post, get, right = party.client.post, party.client.get, party.headers(0)
    yield get(party.path, headers={"Authorization": f"Bearer {word}"})
    yield get(party.path, headers={"Authorization": word})
    for name in ("actions", "token"):
        yield get(party.path, query_string={name: word}, headers=right)
    for name in ("after", "wait", "view", "ticket"):
        yield get(f"{party.path}/events", query_string={name: word})
    yield get("/v1/sessions", query_string={"cursor": word, "limit": word})
    yield post(f"{party.path}/deal", json={}, headers=right | {"Idempotency-Key": f"{word}!"})
    yield post(f"{party.path}/deal", json={}, headers=right | {"If-Match": word})
    bodies: list[Any] = [{"token": word}, {"client_seed": [word]}, {"client_seed": word * 2}, word, [word]]
    for body in bodies:
        yield post(f"{party.path}/seed", json=body, headers=right)
    for asked in ({"seat": word}, {"name": f"{word}\0"}, {"seat": 0, "name": word[:32]}, {"bot": word}):
        yield post(f"{party.path}/join", json=asked)
    for created in (
        {"game": word},
        {"game": "jackpot", "options": {"ante": word}},
        {"game": "jackpot", "seats": [word]},
    ):
        yield post("/v1/sessions", json=created)
    yield post("/v1/games/jackpot/evaluate", json={"cards": [word] * 5})
    yield post("/v1/sessions", data=f'{{"{word}'.encode(), content_type=JSON)
    yield post("/v1/sessions", data=b"{}", content_type=word)


def test_no_refusal_repeats_a_token(party: Party) -> None:
    """Whatever value it was sent as, by mistake or to see what comes back."""
    word = Party(party.client).seat("jackpot").tokens[0]
    for number, answer in enumerate(misplaced(party, word)):
        assert answer.status_code >= 400, (number, answer.text)
        assert word[:16] not in answer.text + str(answer.headers), (number, answer.text)


def test_a_token_is_compared_by_its_hash_and_in_constant_time(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it is right, all hashes of the session are looked at, each through the one comparison."""
    compared: list[tuple[int, int]] = []

    def counted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("service.records.hmac.compare_digest", counted)
    right = party.tokens[0]
    counts = []
    for wrong in ("x", right[:-1], f"{right[:-1]}~", "x" * 4000):
        compared.clear()
        assert outcome(party.client.get(party.path, headers=party.bearer(wrong))) == UNAUTHORIZED
        counts.append(list(compared))
    assert counts == [[(32, 32), (32, 32), (32, 32), (32, 0)]] * 4


def test_whatever_is_to_be_guessed_comes_from_the_system(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id has 16 bytes of the system's own chance, a token and a ticket 32, a session's secret 64."""
    drawn: list[int] = []

    class Chance:
        """Remembers how much is asked for."""

        @staticmethod
        def token_bytes(size: int) -> bytes:
            drawn.append(size)
            return bytes(size)

        @staticmethod
        def token_urlsafe(size: int) -> str:
            drawn.append(size)
            return f"{len(drawn):0{22 if size == 16 else 43}d}"

    monkeypatch.setattr("service.sessions.secrets", Chance)
    party = Party(client).seat("jackpot", ["Anna", "Bo"])
    party.does(0, "ticket")
    party.does(HOST, "token", {"seat": 1})
    assert sorted(drawn) == [16, 32, 32, 32, 32, 32, 64]


# A planted fault: it is found by the checks above.


def test_a_service_that_looks_at_no_token_is_found_out(
    app: Flask, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes whoever has any token for the first seat."""
    monkeypatch.setattr("service.records.viewer_of", lambda _record, _digest: Viewer(0))
    with pytest.raises(AssertionError):
        opens_nothing(app, party, "x")
