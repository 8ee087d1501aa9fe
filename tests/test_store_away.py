"""A store that is frozen, killed, mute or nowhere: 503 in time, and play goes on when it is back."""

import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from service import create_app
from service.connection import MOST_CONNECTIONS, connect
from service.settings import Settings
from service.store import Change, Deadline, Store, Verdict
from tests import ruins
from tests.asks import ALL, AWAY, READY, is_away, plays_on, timed
from tests.contract import ContractClient
from tests.routes import Outcome, outcome
from tests.servers import StoreProcess, eventually, free_port
from tests.stored import Stored
from tests.tables import Table

_server, _table = ruins.store_to_ruin, ruins.begun_table


@contextmanager
def over(url: str, like: Table | None = None) -> Iterator[Table]:
    """Yield a table in a store that is given no more time than the service gives it: another's, or nobody's."""
    store = Store(connect(url))
    app = create_app(Settings(log_level="CRITICAL", limits=False, threads=2 * MOST_CONNECTIONS), store)
    app.test_client_class = ContractClient
    table = Table(app.test_client())
    if like is None:
        table.id, table.token, table.host = "a" * 22, "seat", "host"
    else:
        table.takes_over(like)
    yield table
    store.close()


@pytest.fixture(name="hasty")
def _hasty(table: Table, server: StoreProcess) -> Iterator[Table]:
    """Return the same table, with the service's own time-outs; the store thaws in the end."""
    with over(server.url, table) as hasty:
        yield hasty
    server.thaw()


def test_a_frozen_store_is_away(table: Table, hasty: Table, server: StoreProcess) -> None:
    """Everything that asks it is answered 503, and what does not is answered."""
    server.freeze()
    for ask in ALL:
        is_away(timed(ask, hasty))
    assert hasty.client.get("/healthz").status_code == 200
    assert hasty.client.get("/v1/games").status_code == 200
    server.thaw()
    assert READY(table).status_code == 200


def test_a_move_that_froze_half_way_happens_once(
    table: Table, hasty: Table, server: StoreProcess, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store gets it when it thaws, and the same move sent again is not made again."""
    commit = Store.commit

    def freezing(store: Store, session: str, change: Change, deadline: Deadline) -> Verdict:
        server.freeze()
        return commit(store, session, change, deadline)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", freezing)
        is_away(hasty.act("deal", Idempotency_Key="a"))
    server.thaw()
    again = table.act("deal", Idempotency_Key="a")
    assert outcome(again) == (200, None)
    assert (again.get_json()["version"], len(stored.entries(table.id))) == (2, 2)


def test_an_answer_that_comes_late_is_nobody_elses(table: Table, hasty: Table, server: StoreProcess) -> None:
    """A connection on which one is still to come is not used again."""
    other = Table(table.client).open("skulls-and-swords")
    other.client = hasty.client
    server.freeze()
    is_away(hasty.client.get(hasty.path))
    server.thaw()
    for each in (other, hasty, other, hasty):
        answer = each.client.get(each.path)
        assert outcome(answer) == AWAY or (answer.status_code, answer.get_json()["game"]) == (200, each.game)


def test_more_clients_than_connections_do_not_hang(table: Table, hasty: Table, server: StoreProcess) -> None:
    """All of them are told to come again, whether they got a connection or not."""
    clients = [hasty.client.application.test_client() for _ in range(80)]
    server.freeze()
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = list(pool.map(lambda client: timed(lambda _: client.get(hasty.path), hasty), clients))
    server.thaw()
    assert {outcome(answer) for answer in answers} == {AWAY}
    assert table.view()["version"] == 1


def test_a_killed_store_is_away_until_it_runs_again(table: Table, server: StoreProcess, stored: Stored) -> None:
    """503 while it is gone; then every session is as it was acknowledged."""
    before = stored.dump(table.id)
    server.kill()
    for ask in ALL:
        is_away(timed(ask, table))
    server.start()
    server.wait()
    assert stored.dump(table.id) == before
    plays_on(table, 1)


@contextmanager
def mute(reply: bytes) -> Iterator[str]:
    """Yield the address of something that takes connections, and says one thing or nothing to all of them."""
    with tempfile.TemporaryDirectory(prefix="mute-") as directory, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{directory}/mute.sock")
        listener.listen(100)

        kept = list[socket.socket]()

        def answer() -> None:
            with suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])
                    kept[-1].sendall(reply)

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield f"unix://{directory}/mute.sock"
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for client in kept:
            client.close()


MUTTERINGS = (
    b"",
    b"\r\n",
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"\xff\xfe\r\n",
    b"$5\r\nab",
    b"-ERR unknown\r\n",
    b"-LOADING wait\r\n",
    b"-NOAUTH Authentication required.\r\n",
    b"-MASTERDOWN Link with MASTER is down\r\n",
    b"-BUSY Redis is busy running a script\r\n",
    b"-CLUSTERDOWN The cluster is down\r\n",
    b"-\r\n",
    b"-\xff\r\n",
    b"*-2\r\n",
    b"$99999999999999\r\n",
)


@pytest.mark.parametrize("reply", MUTTERINGS)
def test_what_is_no_store_is_away(reply: bytes) -> None:
    """One that says nothing, something else, or that it cannot serve."""
    with mute(reply) as url, over(url) as table:
        for ask in ALL:
            is_away(timed(ask, table))


@pytest.mark.parametrize("url", ["unix:///nowhere/store.sock", "redis://127.0.0.1:{port}/0"])
def test_a_store_that_is_nowhere_is_away(url: str) -> None:
    """No socket, or nobody who listens."""
    with over(url.format(port=free_port())) as table:
        for ask in ALL:
            is_away(timed(ask, table))


# It answers, and is not as it should be.


def ready(table: Table) -> tuple[Outcome, str]:
    """Return whether games can be played, and what is said of it."""
    answer = READY(table)
    return outcome(answer), answer.get_json().get("detail", "")


def test_a_store_that_cannot_save_is_not_ready(table: Table, server: StoreProcess, stored: Stored) -> None:
    """It says so itself, and is ready again when it can."""
    (server.directory / "dump.rdb").mkdir()  # where it would put its snapshot
    stored.command("CONFIG", "SET", "save", "3600 1")
    stored.command("BGSAVE")
    eventually(lambda: ready(table) == (AWAY, "It cannot write to its disk."), "the store has failed to save")
    is_away(table.act("deal"))
    stored.command("CONFIG", "SET", "save", "")
    (server.directory / "dump.rdb").rmdir()
    assert ready(table) == ((200, None), "")


def test_a_store_that_no_longer_keeps_what_it_is_told_is_not_ready(table: Table, stored: Stored) -> None:
    """However it came about; it is said which setting it is."""
    stored.command("CONFIG", "SET", "appendfsync", "no")
    why = "Appendfsync is no, and the profile fast needs everysec or always."
    assert ready(table) == (AWAY, why)
    stored.command("CONFIG", "SET", "appendfsync", "everysec")
    assert ready(table) == ((200, None), "")


# Planted faults: each is found by the checks above.


def test_an_answer_that_is_late_is_found_out(
    table: Table, hasty: Table, server: StoreProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a hang began after a tenth of a second, a frozen store would be one."""
    monkeypatch.setattr("tests.asks.HANG", 0.1)
    with pytest.raises(AssertionError):
        test_a_frozen_store_is_away(table, hasty, server)


def test_answers_that_are_mixed_up_are_found_out(
    table: Table, hasty: Table, server: StoreProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is kept while an answer is on its way gives it to the next who asks."""
    monkeypatch.setattr("redis.connection.AbstractConnection.disconnect", lambda *_args, **_kwargs: None)
    monkeypatch.setattr("redis.connection.AbstractConnection.can_read", lambda *_args, **_kwargs: False)
    with pytest.raises(AssertionError):
        test_an_answer_that_comes_late_is_nobody_elses(table, hasty, server)
