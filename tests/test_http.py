"""HTTP itself: methods, origins, paths, headers and the representations there are."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from engine.games import GAMES
from service.connection import StoreAway
from tests.routes import outcome, targets
from tests.tables import Table

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW")


@pytest.fixture(name="table")
def _table(table: Table) -> Table:
    return table.open("spice-island-poker")


def names(header: str | None) -> set[str]:
    """Return the members of a list in a header."""
    return set((header or "").split(", "))


# Methods.


def test_a_path_names_its_methods(app: Flask, table: Table) -> None:
    """405 and OPTIONS carry Allow, and it lists what the path has: no more, no less."""
    has: dict[str, set[str]] = {}
    for method, path in targets(app, table):
        has.setdefault(path, set()).add(method)
    for path, allowed in has.items():
        assert names(table.client.options(path).headers["Allow"]) == allowed, path
        for method in set(METHODS) - allowed:
            answer = table.client.open(path, method=method)
            assert answer.status_code == 405, (method, path)
            assert names(answer.headers["Allow"]) == allowed, (method, path)


def test_head_is_get_without_the_body(app: Flask, table: Table) -> None:
    """Status and headers are the same, the length of the body among them; /metrics grows by being asked."""
    read = [path for method, path in targets(app, table) if method == "GET" and path != "/metrics"]
    assert len(read) >= 9
    for path in read:
        asked = {"headers": table.bearer() | {"X-Request-Id": "one"}}
        got, headed = table.client.get(path, **asked), table.client.head(path, **asked)
        assert (headed.status_code, list(headed.headers)) == (got.status_code, list(got.headers)), path
        assert (bool(got.data), headed.data) == (True, b"")


# Origins.

EXPOSED = {
    "ETag",
    "Location",
    "Retry-After",
    "RateLimit",
    "RateLimit-Policy",
    "Croupier-Time",
    "Idempotency-Replayed",
    "Content-Language",
    "X-Request-Id",
}


def one_of_each(table: Table, monkeypatch: pytest.MonkeyPatch) -> dict[int, TestResponse]:
    """Return an answer of every kind, asked from a page of another origin."""
    client, page = table.client, {"Origin": "https://play.example"}
    seat = table.bearer() | page
    tag = client.get(table.path, headers=seat).headers["ETag"]

    def away(*_: object) -> None:
        raise StoreAway("told to be")

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    answers = [
        client.get("/v1/games", headers=page),
        client.post("/v1/sessions", json={"game": "spice-island-poker"}, headers=page),
        client.post(f"{table.path}/leave", data=b"{", content_type="application/json", headers=seat),
        client.get(table.path, headers=seat | {"If-None-Match": tag}),
        client.get(table.path, headers=page | {"Authorization": "Bearer wrong"}),
        client.delete(table.path, headers=seat),
        client.get("/nowhere", headers=page),
        client.put(table.path, headers=seat),
        client.get(table.path, headers=seat | {"Accept": "image/png"}),
        client.post(f"{table.path}/deal", headers=seat),
        client.post(f"{table.path}/seed", json={"client_seed": "x"}, headers=seat | {"If-Match": '"9."'}),
        client.post(f"{table.path}/deal", data=b" " * 20_000, content_type="application/json", headers=seat),
        client.post(f"{table.path}/deal", data=b"{}", content_type="text/plain", headers=seat),
        client.post(f"{table.path}/wager", json={}, headers=seat),
        client.delete(table.path, headers=table.bearer(table.host) | page),
        client.get(table.path, headers=seat),
    ]
    monkeypatch.setattr("service.store.Store.ready", away)
    answers.append(client.get("/readyz", headers=page))
    monkeypatch.setattr("tests.conftest.ClockedStore.load", broken)
    answers.append(client.get(table.path, headers=page))
    return {answer.status_code: answer for answer in answers}


def test_every_answer_may_be_read_by_any_origin(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Successes and refusals alike; no cookie is set and no credentials are asked for."""
    answers = one_of_each(table, monkeypatch)
    known = {200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 415, 422, 500, 503}
    assert set(answers) == known
    for status, answer in answers.items():
        headers = answer.headers
        assert headers["Access-Control-Allow-Origin"] == "*", status
        assert names(headers["Access-Control-Expose-Headers"]) == EXPOSED, status
        assert "Access-Control-Allow-Credentials" not in headers
        assert "Set-Cookie" not in headers


def test_problems_are_json_whatever_is_asked_for(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer of 400 and over is a problem, and says the same in its status and its path."""
    text = table.client.get(table.path, headers={"Authorization": "Bearer x", "Accept": "text/plain"})
    assert text.status_code == 401
    for answer in (text, *one_of_each(table, monkeypatch).values()):
        if answer.status_code >= 400:
            assert answer.content_type == "application/problem+json"
            told = answer.get_json()
            assert (told["status"], told["instance"]) == (answer.status_code, answer.request.path)


def test_what_passes_asks_to_come_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 says when; 401 says what is needed."""
    answers = one_of_each(table, monkeypatch)
    assert {status for status, answer in answers.items() if "Retry-After" in answer.headers} == {503}
    assert answers[503].headers["Retry-After"] == "1"
    assert {status for status, answer in answers.items() if "WWW-Authenticate" in answer.headers} == {401}
    assert answers[401].headers["WWW-Authenticate"].startswith("Bearer")


def test_a_fault_of_our_own_tells_nothing_of_itself(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong is for the log."""
    told = one_of_each(table, monkeypatch)[500]
    assert "Zero" not in told.text
    assert "Traceback" not in told.text


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_page_may_send_a_token_and_the_headers_of_a_move(table: Table, method: str) -> None:
    """The browser's question beforehand is answered for every method and header."""
    wanted = ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-request-id"]
    asked = {
        "Origin": "https://play.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ", ".join(wanted),
    }
    path = f"{table.path}/deal" if method == "POST" else table.path
    answer = table.client.options(path, headers=asked)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert method in names(answer.headers["Access-Control-Allow-Methods"])
    assert names(answer.headers["Access-Control-Allow-Headers"].lower()) == set(wanted)
    assert answer.headers["Access-Control-Max-Age"] == "600"
    assert "Access-Control-Allow-Credentials" not in answer.headers


# Paths.

NOWHERE = (
    "/",
    "//v1//games",
    "/v1//games",
    "/v1/games/",
    "/V1/games",
    "/v1/Games",
    "/v2/games",
    "/v1",
    "/v1/sessions/",
    "/v1/games/spice-island-poker/",
    "/v1/games//rules",
    "/v1/games/spice-island-poker//rules",
    "/v1/games/../games",
    "/v1/./games",
    "/healthz/",
    "/openapi.yml",
    "/static/x",
    "/v1/games\x00",
    "/v1/\xc3\xa6",
    "/\xff\xfe",
)


@pytest.mark.parametrize("path", NOWHERE)
def test_no_path_leads_elsewhere(client: FlaskClient, path: str) -> None:
    """What is not a path to the letter is 404 and never a redirect."""
    assert outcome(client.open("/", environ_overrides={"PATH_INFO": path})) == (404, "not-found")


IDS = (
    "a",
    "a" * 21,
    "a" * 23,
    "a" * 21 + "/",
    "a" * 21 + ".",
    "}" + "a" * 21,
    "a" * 21 + "\n",
    "\xc3\xa9" * 11,
    "*",
    "%2e",
)


@pytest.mark.parametrize("session", IDS)
@pytest.mark.parametrize("tail", ["", "/score", "/deal"])
def test_an_id_of_another_form_is_nobodys(client: FlaskClient, session: str, tail: str) -> None:
    """No key is built of it: the store is not asked."""
    path = f"/v1/sessions/{session}{tail}"
    answer = client.open("/", method="POST" if tail == "/deal" else "GET", environ_overrides={"PATH_INFO": path})
    assert outcome(answer)[0] == 404


# What every answer carries.


def test_a_request_keeps_its_plain_name(client: FlaskClient) -> None:
    """The client's own id comes back."""
    for name in ("a", "A-z_0", "x" * 64):
        assert client.get("/healthz", headers={"X-Request-Id": name}).headers["X-Request-Id"] == name


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a,b", "a\x7f", "\xe9", "a:b", "<script>"])
def test_a_request_is_given_a_name_where_its_own_is_odd(client: FlaskClient, name: str) -> None:
    """A fresh one every time."""
    given = [client.get("/healthz", headers={"X-Request-Id": name}).headers["X-Request-Id"] for _ in range(2)]
    assert name not in given
    assert given[0] != given[1]


def test_what_is_a_sessions_is_its_viewers_own(table: Table) -> None:
    """Views, boards, scores and moves are private, ask again, and say what they vary by; all is English."""
    seat = table.bearer()
    plain = seat | {"Accept": "text/plain"}
    for answer in (
        table.client.get(table.path, headers=seat),
        table.client.get(table.path, headers=plain),
        table.client.get(f"{table.path}/score", headers=seat),
        table.act("wager", {"amount": 5}),
        table.client.post(f"{table.path}/deal", headers=plain),
    ):
        assert answer.headers["Cache-Control"] == "private, no-cache"
        assert names(answer.headers["Vary"]) == {"Authorization", "Accept", "Accept-Language"}
        assert answer.headers["Content-Language"] == "en"


def test_what_is_the_same_for_all_may_be_kept(client: FlaskClient) -> None:
    """Catalogue, facts, rules and contract are public for five minutes; the rest is of the moment."""
    published = ["/v1/games", "/openapi.yaml", "/openapi.json"]
    published += [f"/v1/games/{game}{tail}" for game in GAMES for tail in ("", "/rules")]
    for path in published:
        headers = client.get(path).headers
        assert (headers["Cache-Control"], headers["Content-Language"]) == ("public, max-age=300", "en")
        assert names(headers["Vary"]) == {"Accept", "Accept-Language"}
    for path in ("/healthz", "/readyz"):
        assert client.get(path).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("language", ["da", "en", "", "*", "xx;q=1", "\xff", "en;q=nonsense, ;;"])
def test_everything_can_be_read_in_english(table: Table, language: str) -> None:
    """Whatever language is asked for."""
    answer = table.client.get(table.path, headers=table.bearer() | {"Accept-Language": language})
    assert (answer.status_code, answer.headers["Content-Language"]) == (200, "en")


# Planted faults: each is found by the checks above.


def test_a_redirect_is_found_out(app: Flask, client: FlaskClient) -> None:
    """A path that sends a client elsewhere is documented nowhere."""
    app.url_map.add(Rule("/v2/games", endpoint="api.games", redirect_to="/v1/games"))
    with pytest.raises(AssertionError):
        test_no_path_leads_elsewhere(client, "/v2/games")


def test_a_405_without_allow_is_found_out(app: Flask, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler of one's own easily drops it."""
    monkeypatch.setattr(MethodNotAllowed, "get_headers", HTTPException.get_headers)
    with pytest.raises(AssertionError):
        test_a_path_names_its_methods(app, table)
