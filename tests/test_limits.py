"""How often a seat may move and read, and what comes beyond that; the time is the test's."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from redis import Redis
from werkzeug.test import TestResponse

from engine.games import GAMES
from service import create_app, records, sessions
from service.limits import Counted, Limits
from service.settings import Settings
from service.store import LOAD, Store
from tests.conftest import Clock, ClockedStore
from tests.contract import ContractClient
from tests.feeds import ended, later, listen, poll
from tests.parties import HOST, Party, Who
from tests.servers import start_store
from tests.stored import Stored, patient
from tests.tables import PERSONS

SPICE, SPEED = "spice-island-poker", "speed"
LIMITED = (429, "rate-limited")

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(name="app")
def _app(store: ClockedStore) -> Iterator[Flask]:
    """Make the application with the limits that it has unless they are set."""
    app = create_app(Settings(log_level="CRITICAL"), store)
    app.test_client_class = ContractClient
    yield app
    ended(app)


@pytest.fixture(name="party")
def _party(app: Flask) -> Party:
    return opened(app, SPICE)


def opened(app: Flask, game: str) -> Party:
    """Open a session for as many persons as there may be, and none more than the game needs."""
    return Party(app.test_client()).seat(game, [f"Player {number}" for number in range(PERSONS[game])])


def pace(game: str) -> tuple[int, int]:
    return GAMES[game].spec.pace


def code(answer: TestResponse) -> str | None:
    told = answer.get_json(silent=True) or {}
    return told.get("code") if answer.status_code >= 400 else None


def move(party: Party, who: Who = 0, **headers: str) -> TestResponse:
    """Send a move that every game takes at any time."""
    return party.send(who, "seed", {"client_seed": "luck"}, **headers)


def read(party: Party, who: Who = 0) -> TestResponse:
    return party.client.get(party.path, headers=party.headers(who))


def is_limited(answer: TestResponse) -> bool:
    return (answer.status_code, code(answer)) == LIMITED


def passing(ask: Any, *asked: Any, most: int = 200) -> int:  # noqa: ANN401 - handed on
    """Return how many requests are taken before one is not, or so many."""
    return next((count for count in range(most) if is_limited(ask(*asked))), most)


def counters(stored: Stored, party: Party) -> set[str]:
    """Return what is counted of a session: moves or reads, and whose."""
    found = {name.decode().rpartition("}:")[2] for name in stored.command("KEYS", f"croupier:*{party.id}*")}
    return {name for name in found if name.startswith(("moves:", "reads:"))}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("ask", [move, read])
def test_a_seat_has_its_games_burst_and_then_its_pace(app: Flask, clock: Clock, game: str, ask: Any) -> None:  # noqa: ANN401
    """So many at once, then one each part of a second; after a rest all of them again."""
    party = opened(app, game)
    per_second, burst = pace(game)
    assert passing(ask, party) == burst
    clock.advance(1000 // per_second)
    assert passing(ask, party) == 1
    clock.advance(1000)
    assert passing(ask, party) == per_second
    clock.advance(60_000)
    assert passing(ask, party) == burst


def test_speed_takes_ten_a_second_and_the_others_more() -> None:
    """Nobody reacts ten times a second; scripted clients of the other games take their time in none."""
    assert {game: pace(game) for game in GAMES} == dict.fromkeys(GAMES, (20, 60)) | {SPEED: (10, 20)}


def test_a_refusal_says_when_to_come_again(party: Party, clock: Clock) -> None:
    """Whole seconds, one at least; whoever waits so long is taken, and what was refused has not happened."""
    passing(move, party)
    version = party.seen(0)["version"]
    refused = move(party)
    assert refused.headers["Retry-After"] == "1"
    assert refused.headers["RateLimit-Policy"] == '"moves";q=60;w=3'
    assert refused.headers["RateLimit"] == '"moves";r=0;t=1'
    assert "RateLimit-Policy" in refused.headers["Access-Control-Expose-Headers"]
    assert party.seen(0)["version"] == version
    clock.advance(1000 * int(refused.headers["Retry-After"]))
    assert move(party).get_json()["version"] == version + 1


def test_moves_and_reads_are_counted_apart(party: Party) -> None:
    """Whoever looks too often may still move, and the other way about."""
    passing(read, party)
    assert move(party).status_code == 200
    passing(move, party)
    assert is_limited(read(party))
    assert is_limited(party.client.get(f"{party.path}/score", headers=party.headers(0)))


def test_every_kind_of_reading_counts(party: Party) -> None:
    """A score, a copy that is still right, a poll and a ticket are reads."""
    tag = read(party).headers["ETag"]
    as_seat = party.headers(0)
    assert party.client.get(party.path, headers=as_seat | {"If-None-Match": tag}).status_code == 304
    party.client.get(f"{party.path}/score", headers=as_seat)
    poll(party.client, party.path, as_seat)
    party.send(0, "ticket")
    listen(party.client, party.path, as_seat).close()
    assert passing(read, party) == pace(SPICE)[1] - 6


def test_every_seat_is_counted_by_itself(app: Flask) -> None:
    """So is the host; spectators are one together, whoever they are."""
    party = opened(app, SPEED)
    burst = pace(SPEED)[1]
    for who in (0, 1, HOST, None):
        assert passing(read, party, who) == burst
    other = Party(app.test_client()).takes_over(party)
    assert is_limited(read(other, None))
    for seat in (0, 1, HOST):
        assert passing(move, party, seat) == burst


def test_sessions_are_counted_apart(app: Flask) -> None:
    """What is asked of one table is not missing at another."""
    one, other = opened(app, SPEED), opened(app, SPEED)
    passing(read, one, None)
    assert passing(read, other, None) == pace(SPEED)[1]


def test_a_refused_move_counts(app: Flask) -> None:
    """By the rules, by the right, by its body, by its version: a flood of refusals is one, too."""
    party = opened(app, SPEED)
    refusals = [
        party.send(0, "choose", {"pass": True}),
        party.send(0, "token", {"seat": 1}),
        party.send(0, "choose", {"slot": "one"}),
        party.send(0, "deal", If_Match='"99.s0.json.en.r2"'),
    ]
    assert [each.status_code for each in refusals] == [409, 403, 422, 412]
    assert passing(move, party) == pace(SPEED)[1] - len(refusals)


def test_a_move_that_is_sent_again_does_not_count(party: Party) -> None:
    """It gets its first answer, however often and though nothing is left; a new one with a key does not pass."""
    first = move(party, Idempotency_Key="once")
    again = [move(party, Idempotency_Key="once") for _ in range(100)]
    assert {each.data for each in again} == {first.data}
    assert passing(move, party) == pace(SPICE)[1] - 1
    assert move(party, Idempotency_Key="once").data == first.data
    assert is_limited(move(party, Idempotency_Key="twice"))


def test_a_move_that_had_to_wait_happens_later_with_its_key(party: Party, clock: Clock) -> None:
    """The refusal leaves no record."""
    passing(move, party)
    assert is_limited(move(party, Idempotency_Key="late"))
    clock.advance(1000)
    made = move(party, Idempotency_Key="late")
    assert (made.status_code, made.headers.get("Idempotency-Replayed")) == (200, None)


def strangers_use_up_nothing(party: Party, stored: Stored) -> None:
    """Fail unless wrong tokens, as many as one likes, cost a seat nothing and leave nothing behind."""
    for number in range(2 * pace(party.game)[1]):
        as_stranger = party.bearer(f"stranger-{number % 70}")
        answer = party.client.post(f"{party.path}/seed", json={"client_seed": ""}, headers=as_stranger)
        assert (answer.status_code, code(answer)) == (401, "unauthorized")
        assert party.client.get(party.path, headers=as_stranger).status_code == 401
        assert poll(party.client, party.path, ticket="stranger").status_code == 401
        assert party.client.post(f"{party.path}/seed").status_code == 401
    assert counters(stored, party) == set()
    for who in (0, HOST, None):
        assert passing(read, party, who) == pace(party.game)[1]
    assert passing(move, party) == pace(party.game)[1]


def test_strangers_use_up_no_seats_allowance(app: Flask, stored: Stored) -> None:
    """A wrong token is refused as that, and is not counted anywhere."""
    strangers_use_up_nothing(opened(app, SPEED), stored)


def test_a_token_comes_before_the_limit_and_the_limit_before_the_body(party: Party) -> None:
    """The order of the checks: 404, 401, 429, 422."""
    passing(move, party)
    assert party.client.post("/v1/sessions/" + "A" * 22 + "/seed", headers=party.headers(0)).status_code == 404
    assert party.client.post(f"{party.path}/seed", headers=party.bearer("x")).status_code == 401
    assert is_limited(party.send(0, "seed", {"client_seed": 5}))
    assert party.client.post(f"{party.path}/seed", data=b"{", headers=party.headers(0)).status_code == 415


def test_what_bots_and_time_do_is_not_counted(app: Flask, clock: Clock, stored: Stored) -> None:
    """One read writes down what a whole table of bots has done, and counts as one."""
    bots = Party(app.test_client()).seat("beat-the-dealer", [{"bot": "easy"}, {"bot": "easy"}, "Anna"])
    bots.send(HOST, "deal")
    clock.advance(60_000)
    assert bots.seen(None)["version"] > 1
    moved = {name for name in counters(stored, bots) if name.startswith("moves")}
    assert len(moved) == 1
    assert passing(read, bots, None) == pace("beat-the-dealer")[1] - 1


def test_a_long_poll_counts_once(app: Flask, clock: Clock, stored: Stored) -> None:
    """However long it waits, and whatever is looked at for it meanwhile."""
    party = opened(app, SPEED)
    with listen(party.client, party.path) as heard:
        heard.next()
        waited = later(lambda: poll(app.test_client(), party.path, party.headers(0), after=0, wait=30))
        for _ in range(5):
            move(party, 1)
        heard.take(5)
    assert waited().get_json()["frames"]
    assert passing(read, party) == pace(SPEED)[1] - 1


def loses_races_and_counts_once(party: Party, monkeypatch: pytest.MonkeyPatch, stored: Stored) -> None:
    """Fail unless a move that loses all its races counts as one."""
    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", lambda *_: "conflict")
        assert (move(party).status_code, sessions.MOST_RACES) == (503, 8)
    assert passing(move, party) == pace(party.game)[1] - 1


def test_a_lost_race_counts_once(app: Flask, monkeypatch: pytest.MonkeyPatch, stored: Stored) -> None:
    """Only the first time that the session is loaded."""
    loses_races_and_counts_once(opened(app, SPEED), monkeypatch, stored)


def test_of_many_at_the_same_moment_exactly_the_burst_passes(party: Party, app: Flask) -> None:
    """What the script counts no two requests can count at once."""
    burst = pace(SPICE)[1]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: read(Party(app.test_client()).takes_over(party)), range(burst + 40)))
    assert [is_limited(each) for each in answers].count(False) == burst


def test_a_clock_that_is_put_back_shuts_nobody_out(party: Party, clock: Clock) -> None:
    """Nor does it give more than the burst."""
    passing(read, party)
    clock.advance(-3_600_000)
    assert passing(read, party) == pace(SPICE)[1]


def test_limits_can_be_set(store: ClockedStore) -> None:
    """For all games alike, with three seconds' worth at once; what is set is told."""
    app = create_app(Settings(log_level="CRITICAL", moves_per_second=1, reads_per_second=5), store)
    app.test_client_class = ContractClient
    for game in (SPICE, SPEED):
        party = opened(app, game)
        assert (passing(move, party), passing(read, party)) == (3, 15)
        told = app.test_client().get(f"/v1/games/{game}").get_json()["limits"]
        assert told == {"moves": {"per_second": 1, "burst": 3}, "reads": {"per_second": 5, "burst": 15}}


def test_a_game_tells_its_limits(app: Flask) -> None:
    """As they are in force."""
    per_second, burst = pace(SPEED)
    told = app.test_client().get("/v1/games/speed").get_json()["limits"]
    assert told == {name: {"per_second": per_second, "burst": burst} for name in ("moves", "reads")}


def test_limits_can_be_off(store: ClockedStore, stored: Stored) -> None:
    """Then nothing is counted, nothing is kept, and the game says so."""
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = ContractClient
    party = opened(app, SPEED)
    for _ in range(2 * pace(SPEED)[1]):
        assert (move(party).status_code, read(party).status_code) == (200, 200)
    assert counters(stored, party) == set()
    assert app.test_client().get("/v1/games/speed").get_json()["limits"] is None


def test_a_counter_is_gone_soon(party: Party, stored: Stored) -> None:
    """It is of no use once it is full again."""
    read(party), read(party, None)
    assert len(counters(stored, party)) == 2
    for name in counters(stored, party):
        assert 0 < stored.command("PTTL", f"croupier:{{{party.id}}}:{name}") <= 63_000


@contextmanager
def of_its_own(directory: Path) -> Iterator[tuple[Party, Redis]]:
    """Give a session in a store that has no other, with a clock of its own, and a plain client of that."""
    server = start_store(directory)
    try:
        with closing(Store(patient(server.url))) as store, patient(server.url) as plain:
            yield opened(create_app(Settings(log_level="CRITICAL"), store), SPICE), plain
    finally:
        server.stop()


def reading_writes_nothing(party: Party, plain: Redis) -> None:
    """Fail unless reads are counted, and the log that the store writes does not grow by it."""
    before = plain.info("persistence")["aof_current_size"]
    assert {read(party, who).status_code for who in (0, None, HOST)} == {200}
    assert len(list(plain.scan_iter("croupier:*:reads:*"))) == 3
    assert plain.info("persistence")["aof_current_size"] == before
    move(party)
    assert plain.info("persistence")["aof_current_size"] > before


def test_counting_reads_writes_nothing_to_the_disk(tmp_path: Path) -> None:
    """Nobody needs it who takes over."""
    with of_its_own(tmp_path / "store") as (party, plain):
        reading_writes_nothing(party, plain)


def full_store_serves_reads(party: Party, plain: Redis) -> None:
    """Fail unless a store without room for a write still lets sessions be read."""
    plain.config_set("maxmemory", "1")
    assert read(party).status_code == 200
    assert move(party).status_code == 503


def test_a_store_that_takes_no_writes_serves_reads(tmp_path: Path) -> None:
    """What cannot be counted passes; what cannot be kept does not."""
    with of_its_own(tmp_path / "store") as (party, plain):
        full_store_serves_reads(party, plain)


@pytest.mark.parametrize("game", GAMES)
def test_a_stored_session_is_known_by_its_game(app: Flask, stored: Stored, game: str) -> None:
    """Its bytes hold the mark of its game alone, whatever names and seeds are chosen to look like another's."""
    names = [f"\u0124game\u0125{other}"[:24] for other in GAMES][: PERSONS[game]]
    party = Party(app.test_client()).seat(game, names)
    move(party)
    blob = stored.blob(party.id)
    assert [other for other in GAMES if records.mark(other) in blob] == [game]
    assert records.hashed(party.tokens[0]) in blob
    assert records.hashed(party.host) in blob


# Planted faults.


def test_counting_strangers_is_found_out(app: Flask, stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were whoever asks counted unseen, strangers would leave counters behind."""
    counted = Limits.counted

    def unseen(limits: Limits, name: str, owner: bytes | None) -> Counted | None:
        found = counted(limits, name, owner)
        return found and found._replace(owner=b"")

    monkeypatch.setattr(Limits, "counted", unseen)
    with pytest.raises(AssertionError):
        strangers_use_up_nothing(opened(app, SPEED), stored)


def test_counting_each_try_is_found_out(app: Flask, stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were every load counted, a lost race would cost eight moves."""
    load = ClockedStore.load
    kept: list[Counted | None] = []

    def always(store: ClockedStore, session: str, field: str, deadline: Any, counted: Any = None) -> Any:  # noqa: ANN401
        kept.append(counted or (kept[-1] if kept else None))
        return load(store, session, field, deadline, kept[-1])

    monkeypatch.setattr(ClockedStore, "load", always)
    with pytest.raises(AssertionError):
        loses_races_and_counts_once(opened(app, SPEED), monkeypatch, stored)


ANNOUNCED = b"#!lua\n" + LOAD.source
"""A store without room does not run what may write, if it is told so."""
LOGGED = LOAD.source.replace(b"REPL_NONE", b"REPL_ALL")


@pytest.mark.parametrize(("source", "holds"), [(ANNOUNCED, full_store_serves_reads), (LOGGED, reading_writes_nothing)])
def test_another_script_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: bytes, holds: Callable[[Party, Redis], None]
) -> None:
    """One that says that it writes, or one that has what it counts written down."""
    monkeypatch.setattr(LOAD, "source", source)
    monkeypatch.setattr(LOAD, "sha", hashlib.sha1(source, usedforsecurity=False).hexdigest())
    with of_its_own(tmp_path / "store") as (party, plain), pytest.raises(AssertionError):
        holds(party, plain)
