"""A table that was left alone may owe more than one request has time for; and no request takes longer than it may."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service import reading, sessions
from service.sessions import MOST_RACES, Sessions
from service.store import Deadline
from tests.routes import outcome
from tests.scene import JACKPOT, OPERATIONS, SPEED, Ask, Opened, Scene
from tests.shelf import Shelf

PORTION = 5
ALONE_MS = 30 * 60 * 1000
CATCHING_UP = (503, "catching-up")
CALLS = ("open", "load", "commit", "log", "marks", "now", "ticket", "put_ticket", "enlist", "delist", "lobby")


class Calls(Deadline):
    """A deadline that comes after so many questions whether it has come."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self._left = left

    def allows_a_call(self) -> bool:
        """Return whether there are any left."""
        self._left -= 1
        return self._left >= 0


@pytest.fixture(name="scene")
def _scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.close()


@pytest.fixture(name="alone")
def _alone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Return a race that both have left lying for half an hour: many portions, and no end of it by itself."""
    monkeypatch.setattr(sessions, "PORTION", PORTION)
    session = scene.open(SPEED, options={"idle_ms": 10_000, "countdown_ms": 1000})
    for seat in (0, 1):
        assert scene.act(session, "deal", seat=seat).status_code == 200
    scene.shelf.time += ALONE_MS
    return session


@pytest.fixture(name="lasting")
def _lasting(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let every request last for so many questions whether there is time."""
    return lambda calls: monkeypatch.setattr(sessions, "Deadline", lambda: Calls(calls))


def version(scene: Scene, session: Opened) -> int:
    """Return the version that is stored."""
    return scene.shelf._states[session.path.rpartition("/")[2]][0]


def look(scene: Scene, session: Opened) -> TestResponse:
    return scene.client.get(session.path, headers=session.seat)


WAYS: dict[str, Callable[[Scene, Opened], TestResponse]] = {
    "a view": look,
    "a score": lambda scene, session: scene.client.get(f"{session.path}/score"),
    "a poll": lambda scene, session: scene.client.get(f"{session.path}/events?after=0"),
    "a move": lambda scene, session: scene.act(session, "seed", {"client_seed": "luck"}),
    "a ticket": lambda scene, session: scene.act(session, "ticket"),
    "an end": lambda scene, session: scene.client.delete(session.path, headers=session.host),
}
all_ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@all_ways
def test_a_debt_that_the_time_is_enough_for_is_paid_at_once(
    scene: Scene, alone: Opened, lasting: Callable[[int], None], way: Callable[[Scene, Opened], TestResponse]
) -> None:
    """Portions that are written down are no lost races, however many they are."""
    lasting(10_000)
    before = version(scene, alone)
    assert way(scene, alone).status_code in (200, 204)
    assert version(scene, alone) > before + PORTION * MOST_RACES


@all_ways
def test_who_comes_while_much_is_due_is_told_to_come_again(
    scene: Scene, alone: Opened, lasting: Callable[[int], None], way: Callable[[Scene, Opened], TestResponse]
) -> None:
    """503 `catching-up`: nothing of the request is done, and each does as much of the work as it has time for."""
    lasting(4)
    before, refused = version(scene, alone), 0
    while outcome(answer := way(scene, alone)) == CATCHING_UP:
        assert answer.headers["Retry-After"] == "1"
        refused += 1
        assert version(scene, alone) == before + 2 * PORTION * refused
    assert (refused > 1, answer.status_code in (200, 204)) == (True, True)


def test_what_is_paid_in_parts_is_the_same(scene: Scene, alone: Opened, lasting: Callable[[int], None]) -> None:
    """The log of a session that was caught up with by many is that of its twin, which one look settled."""
    name, shelf = alone.path.rpartition("/")[2], scene.shelf
    stored = shelf._states[name], list(shelf._logs[name])
    lasting(3)
    while look(scene, alone).status_code != 200:
        pass
    in_parts = shelf._states[name], shelf._logs[name]
    shelf._states[name], shelf._logs[name] = stored
    lasting(10_000)
    assert look(scene, alone).status_code == 200
    assert (shelf._states[name], shelf._logs[name]) == in_parts


def test_a_move_that_had_to_wait_happens_once(scene: Scene, alone: Opened, lasting: Callable[[int], None]) -> None:
    """A request that is refused so leaves no record of its key behind: sent again it is made, and then repeated."""
    lasting(4)
    headers = alone.seat | {"Idempotency-Key": "once"}

    def sent() -> TestResponse:
        return scene.client.post(f"{alone.path}/seed", json={"client_seed": "luck"}, headers=headers)

    while outcome(first := sent()) == CATCHING_UP:
        pass
    again = sent()
    assert (first.status_code, again.data) == (200, first.data)
    assert ["Idempotency-Replayed" in each.headers for each in (first, again)] == [False, True]


def test_a_portion_that_another_was_faster_with_is_no_lost_race(
    scene: Scene, alone: Opened, lasting: Callable[[int], None]
) -> None:
    """Whoever wrote it down, it is done: only the time ends the work, and a race for less is lost as ever."""
    scene.shelf.races = True
    lasting(100)
    assert outcome(look(scene, alone)) == CATCHING_UP
    scene.shelf.races = False
    lasting(10_000)
    assert look(scene, alone).status_code == 200
    scene.shelf.races = True
    assert outcome(WAYS["a move"](scene, alone)) == (503, "busy")


# One deadline a request.


@pytest.fixture(name="deadlines")
def _deadlines(monkeypatch: pytest.MonkeyPatch) -> list[Deadline]:
    """Return a list that grows by the deadline of each call to the store."""
    asked: list[Deadline] = []

    def keeping(call: Callable[..., Any]) -> Callable[..., Any]:
        def kept(shelf: Shelf, *words: Any) -> Any:  # noqa: ANN401 - handed on
            asked.append(next(word for word in words if isinstance(word, Deadline)))
            return call(shelf, *words)

        return kept

    for name in CALLS:
        monkeypatch.setattr(Shelf, name, keeping(getattr(Shelf, name)))
    return asked


def followed(scene: Scene) -> Ask:
    """Return a request that asks the store most: by a ticket, for what came since, with something due."""
    session = scene.open(JACKPOT, [{"bot": "easy"}, "Anna"], visibility="public")
    ticket = scene.act(session, "ticket").get_json()["ticket"]
    scene.act(session, "deal")
    scene.shelf.time += 1000
    return Ask("GET", f"{session.path}/events?after=0&ticket={ticket}")


def check_one_deadline(scene: Scene, ask: Ask, deadlines: list[Deadline]) -> int:
    """Fail unless all calls of a request have one deadline; return how many there were."""
    deadlines.clear()
    assert scene.send(ask).status_code < 300
    assert len(set(map(id, deadlines))) <= 1
    return len(deadlines)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_request_has_one_deadline(scene: Scene, deadlines: list[Deadline], name: str) -> None:
    """Whatever it asks of the store has to end by the same moment."""
    check_one_deadline(scene, scene.accepted(name), deadlines)


def test_a_poll_has_one_deadline(scene: Scene, deadlines: list[Deadline]) -> None:
    """Its ticket, what was due, what it missed: all of it."""
    assert check_one_deadline(scene, followed(scene), deadlines) > 4


def test_each_request_has_its_own(scene: Scene, deadlines: list[Deadline]) -> None:
    """It begins when the request does, not when the service did."""
    session = scene.open(JACKPOT)
    deadlines.clear()
    look(scene, session)
    look(scene, session)
    assert len(set(map(id, deadlines))) == 2


# Planted faults.


def test_portions_that_count_as_lost_races_are_found_out(
    scene: Scene, alone: Opened, lasting: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that gives up after so many tries gives up too early."""
    tries = iter(range(MOST_RACES))
    catch_up = Sessions._catch_up

    def counting(self: Sessions, *change: Any) -> None:  # noqa: ANN401 - handed on
        if next(tries, None) is None:
            raise sessions.Busy
        catch_up(self, *change)

    monkeypatch.setattr(Sessions, "_catch_up", counting)
    with pytest.raises(AssertionError):
        test_a_debt_that_the_time_is_enough_for_is_paid_at_once(scene, alone, lasting, look)


def test_a_second_deadline_is_found_out(
    scene: Scene, deadlines: list[Deadline], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that are made anew each time that they are asked for have the time anew."""
    monkeypatch.setattr(reading, "sessions", lambda: Sessions(scene.shelf))
    with pytest.raises(AssertionError):
        test_a_poll_has_one_deadline(scene, deadlines)
