"""What the soak judges by: whether something grows, and whether a room's history is what the store has."""

import os
from random import Random

import pytest

from soak.growth import BOUNDS, Size, growths, size, slope_of
from soak.rooms import House
from tests.histories import Told
from tests.stored import Stored
from tests.tables import Table

SECONDS = 100


def sizes(**a_second: float) -> list[Size]:
    """Return what a worker holds that goes up and down, and of which something grows by so much a second."""
    random = Random(1)  # noqa: S311 - not for secrets
    steady = {"memory": 60_000, "descriptors": 60, "threads": 40, "connections": 20}
    return [
        Size(
            at,
            **{
                name: round(value + a_second.get(name, 0) * at + random.uniform(0, 10))
                for name, value in steady.items()
            },
        )
        for at in range(SECONDS)
    ]


def test_what_goes_up_and_down_does_not_grow() -> None:
    """Nor does what was far off for a moment, as after a fault."""
    steady = sizes()
    steady[SECONDS // 2 :: 10] = [each._replace(threads=400) for each in steady[SECONDS // 2 :: 10]]
    assert [each.name for each in growths(steady) if each.excessive] == []


@pytest.mark.parametrize("name", BOUNDS)
def test_what_grows_is_found(name: str) -> None:
    """A little beyond its bound over the run, each by itself."""
    grown = growths(sizes(**{name: 1.3 * BOUNDS[name] / SECONDS}))
    assert [each.name for each in grown if each.excessive] == [name]


def test_a_slope_is_that_of_the_line() -> None:
    """In units a second, also where points are too many to pair them all."""
    assert slope_of(range(1000), [3.0 * each for each in range(1000)]) == 3.0


def test_a_process_is_measured() -> None:
    """This one holds memory, files and a thread."""
    found = size(os.getpid(), 7, 1.0)
    assert (found.at, found.connections) == (1.0, 7)
    assert min(found.memory, found.descriptors, found.threads) > 0


@pytest.mark.parametrize("lost", [False, True])
def test_a_room_is_held_against_the_store_when_it_is_over(table: Table, stored: Stored, lost: bool) -> None:
    """By who leaves it last; a move that is not in the log is told."""
    table.open("spice-island-poker")
    house = House(stored)
    view = table.play("wager", {"amount": 5}, Idempotency_Key="a")
    house.add({"session": view | {"id": table.id}, "tokens": [{"token": table.token}]})
    with house.room() as room, house.room() as same:
        assert room is same
        assert room is not None
        room.history.move("a", iter([Told(200, view)]))
        if lost:
            room.history.move("b", iter([Told(200, {"version": 2})]))
        room.over = True
    assert (house.checked["sessions"], bool(house.faults)) == (1, lost)
    with house.room() as none:
        assert none is None
