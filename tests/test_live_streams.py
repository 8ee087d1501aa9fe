"""Streams of a real server: broken off anywhere, more than there is room for, and at its end."""

import json
import math
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from flask.testing import FlaskClient

from service import create_app
from service.connection import connect
from service.settings import Settings
from service.store import Store
from service.wakes import channel
from tests.contract import LiveClient
from tests.feeds import ended, later
from tests.parties import HOST, Party, Who
from tests.rounds import dice
from tests.servers import SERVERS, ServiceProcess, StoreProcess, eventually
from tests.stored import Stored
from tests.wires import NDJSON, SSE, Frame, Wire

PLACES = 4
CUTS = 50
LONGEST = 9000
"""More bytes than two frames have."""
AHEAD = 30


@pytest.fixture(scope="module", name="service", params=SERVERS)
def _service(
    server: StoreProcess, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ServiceProcess]:
    chosen = {"REDIS_URL": server.url, "LOG_LEVEL": "DEBUG", "SERVER": request.param}
    with ServiceProcess(tmp_path_factory.mktemp("live") / "var", **chosen) as service:
        yield service.up()


@pytest.fixture(name="cramped", params=SERVERS)
def _cramped(server: StoreProcess, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServiceProcess]:
    """Run one worker with few places for streams, and a single thread besides."""
    chosen = {"REDIS_URL": server.url, "STREAMS": str(PLACES), "THREADS": "1", "SERVER": request.param}
    with ServiceProcess(tmp_path / "var", **chosen) as service:
        yield service.up()


@pytest.fixture(name="party")
def _party(server: StoreProcess) -> Iterator[Party]:
    """Open a session that another process, this one, plays."""
    store = Store(connect(server.url))
    app = create_app(Settings(log_level="CRITICAL", limits=False), store)
    app.test_client_class = FlaskClient
    yield Party(app.test_client()).seat("jackpot", ["Anna", "Bo", "Cleo"])
    ended(app)


def follow(service: ServiceProcess, party: Party, who: Who = 0, kind: str = SSE, last: int | None = None) -> Wire:
    resumed = {} if last is None else {"Last-Event-ID": str(last)}
    return Wire(service.port, f"{party.path}/events", party.headers(who) | resumed, kind)


def move(party: Party, most: int = 1) -> int:
    """Make so many moves, some of the game and some that nobody hears of; return the version."""
    for number in range(most):
        party.does(0, "seed", {"client_seed": f"luck {number}"})
        party.forward()
    return int(party.seen(None)["version"])


# Broken off.


class Progress:
    """How far each viewer has come, so that whoever plays does not leave them behind."""

    def __init__(self, viewers: list[Who]) -> None:
        self._at: dict[Who, float] = dict.fromkeys(viewers, 0.0)
        self.done = Event()

    def has_come(self, who: Who, version: float) -> None:
        """Note that a viewer has heard of a version, or wants no more."""
        self._at[who] = version
        if min(self._at.values()) == math.inf:
            self.done.set()

    def play(self, party: Party) -> int:
        """Play until nobody wants more, always some versions ahead of the slowest; return the last version."""
        version = 0
        while not self.done.is_set():
            if version < min(self._at.values()) + AHEAD:
                version = move(party)
            else:
                self.done.wait(0.001)
        return version


def broken(service: ServiceProcess, party: Party, who: Who, cuts: int, progress: Progress) -> list[Frame]:
    """Follow a session over a line that is cut again and again, each time after some bytes."""
    heard: list[Frame] = []
    random = dice(sum(map(ord, str(who))))
    for _ in range(cuts):
        with follow(service, party, who, last=heard[-1]["version"] if heard else None) as wire:
            heard += wire.frames(random.randrange(1, LONGEST))
        progress.has_come(who, heard[-1]["version"] if heard else 0)
    progress.has_come(who, math.inf)
    return heard


def completed(service: ServiceProcess, party: Party, who: Who, heard: list[Frame], version: int) -> list[int]:
    """Return all versions that were heard, with those that are still missing at the end."""
    versions = [frame["version"] for frame in heard]
    with follow(service, party, who, last=versions[-1]) as wire:
        rest = wire.frames()
        while versions[-1] < version:
            versions.append(next(rest)["version"])
    return versions


def break_off(service: ServiceProcess, party: Party, cuts: int) -> dict[Who, list[int]]:
    """Break the streams of every seat and a spectator while the party plays; return the versions of each."""
    viewers: list[Who] = [*party.tokens, None]
    progress = Progress(viewers)
    playing = later(lambda: progress.play(party))
    with ThreadPoolExecutor() as pool:
        heard = list(pool.map(lambda who: broken(service, party, who, cuts, progress), viewers))
    version = playing()
    return {who: completed(service, party, who, each, version) for who, each in zip(viewers, heard, strict=True)}


def check_broken_off(service: ServiceProcess, party: Party, cuts: int = CUTS) -> None:
    """Fail unless everybody hears each version once, in order."""
    for versions in break_off(service, party, cuts).values():
        assert versions == list(range(versions[0], versions[-1] + 1))
        assert len(versions) > cuts / 2


def test_a_stream_that_is_broken_off_anywhere_is_gone_on_with(service: ServiceProcess, party: Party) -> None:
    """Four lines are cut 50 times each, at any byte; with the id heard last no version is missed or told twice."""
    check_broken_off(service, party)


def test_a_client_that_forgets_where_it_was_is_found_out(
    service: ServiceProcess, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the id heard last the versions between are lost."""
    begin = Wire.__init__

    def forgetful(wire: Wire, port: int, target: str, headers: dict[str, str], kind: str) -> None:
        begin(wire, port, target, {name: value for name, value in headers.items() if name != "Last-Event-ID"}, kind)

    monkeypatch.setattr(Wire, "__init__", forgetful)
    with pytest.raises(AssertionError):
        check_broken_off(service, party, 10)


# Room.


def test_a_full_worker_still_answers(cramped: ServiceProcess, party: Party) -> None:
    """With every place taken a stream is refused, and one thread answers everything else."""
    client = LiveClient(cramped.url)
    wires = [follow(cramped, party, who, kind) for who, kind in ((0, SSE), (1, NDJSON), (2, SSE), (None, NDJSON))]
    assert [wire.status for wire in wires] == [200] * PLACES
    refused = client.send("GET", f"{party.path}/events", headers={"Accept": SSE})
    assert (refused.status, refused.named["retry-after"]) == (503, "1")
    polled = client.send("GET", f"{party.path}/events?wait=30")
    assert (polled.status, polled.named["retry-after"], polled.json()["frames"]) == (200, "1", [])
    assert client.send("GET", "/healthz").status == 200
    assert client.send("GET", party.path).status == 200
    for wire in wires:
        wire.close()


def test_a_client_that_is_gone_frees_its_place(cramped: ServiceProcess, party: Party) -> None:
    """The server notices by what it writes: at the latest with the second frame, or heartbeat, after it went."""
    for _ in range(3):
        for wire in follow_all(cramped, party):
            assert next(wire.frames())["event"] == "snapshot"
            wire.close()
        assert room(cramped, party) == 0
        move(party)
        eventually(lambda: room(cramped, party) == PLACES, "every place is free")
        move(party)


def follow_all(service: ServiceProcess, party: Party) -> list[Wire]:
    """Ask for as many streams as there are places."""
    return [follow(service, party) for _ in range(PLACES)]


def room(service: ServiceProcess, party: Party) -> int:
    """Return how many streams there was room for; they are left, and the server can notice."""
    wires = follow_all(service, party)
    for wire in wires:
        wire.close()
    if found := sum(wire.status == 200 for wire in wires):
        move(party)
    return found


# The end.


@pytest.mark.parametrize("by", SERVERS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_stops_ends_its_streams(
    *, server: StoreProcess, party: Party, stored: Stored, tmp_path: Path, number: signal.Signals, by: str
) -> None:
    """Every stream ends properly, without an `end`, since the session goes on, a poll is answered, and all is well.

    It is told by an operator, or by ctrl-C in a terminal.
    """
    other = Party(party.client).seat("jackpot", ["Anna", "Bo"])
    with ServiceProcess(tmp_path / "var", REDIS_URL=server.url, WORKERS="2", SERVER=by) as service:
        service.up()
        wires = [follow(service, party, who, kind) for who in (0, 1, 2, HOST, None) for kind in (SSE, NDJSON) * 2]
        for wire in wires:
            next(wire.frames())
        polling = later(lambda: LiveClient(service.url).send("GET", f"{other.path}/events?wait=30"))
        eventually(lambda: stored.command("PUBSUB", "SHARDNUMSUB", channel(other.id))[1], "the poll waits")
        service.process.send_signal(number)
        assert [list(wire.frames()) for wire in wires] == [[]] * len(wires)
        assert all(wire.ended for wire in wires)
        assert polling().json()["frames"] == []
        for wire in wires:
            wire.close()
        assert service.ended() == 0
    said = [json.loads(line) for line in service.said.splitlines() if line.startswith("{")]
    warned = {line["event"].partition(" ")[0] for line in said if line["level"] == "warning"}
    assert {line["level"] for line in said} <= {"info", "warning"}
    assert warned <= (
        {"Configuration", "Killing"} if by == "granian" else set()
    )  # it finds threads many, and ends late


# What is said of it.


def test_no_ticket_and_no_token_is_in_a_log(service: ServiceProcess, party: Party) -> None:
    """Whether it is accepted, wrong, cut off in the middle or in a request that cannot be read."""
    made = party.does(0, "ticket")["ticket"]
    path = f"{party.path}/events?ticket={made}"
    for target in (path, f"{path}x", f"{path}&wait=x", f"{party.path}?ticket={made}", f"/{made * 60}"):
        with Wire(service.port, target) as wire:
            list(wire.frames(1))
    with Wire(service.port, path) as wire:
        next(wire.frames())
    move(party, 3)
    line = f'"operation":"GET /v1/sessions/{{id}}/events","session":"{party.path.rpartition("/")[2]}"'
    eventually(lambda: service.said.count(line) >= 3, "the requests are logged")
    for secret in (made, *party.tokens.values(), party.host):
        assert secret not in service.said
