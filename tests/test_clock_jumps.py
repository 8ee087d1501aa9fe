"""The store's clock, which is the only one the service asks, is set forward and back while games go on."""

from random import Random

import pytest

from tests.conftest import Clock
from tests.stored import Stored
from tests.tables import PERSONS, Table

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
MOVES = 25


@pytest.mark.parametrize("game", PERSONS)
def test_a_game_goes_on_whatever_the_clock_does(table: Table, stored: Stored, clock: Clock, game: str) -> None:
    """It jumps by up to an hour, either way: everybody is answered, and the times of the log never go back."""
    table.open(game)
    random, seen = Random(), 0  # noqa: S311 - not for secrets
    for _ in range(MOVES):
        clock.advance(random.choice((-HOUR_MS, -1000, -1, 0, 1, 1000, HOUR_MS)))
        version = table.view()["version"]
        assert version >= seen
        seen = table.play_any(random)["version"] if table.able() else version
    times = [entry.move.at for entry in stored.entries(table.id)]
    assert times == sorted(times)
    assert len(times) == stored.record(table.id).version


def test_a_clock_that_was_a_day_ahead_has_ended_nothing_that_nobody_touched(table: Table, clock: Clock) -> None:
    """While it is ahead the session is over, which is nowhere written down; when it is set right it goes on."""
    table.open("spice-island-poker").play("wager", {"amount": 5})
    clock.advance(DAY_MS)
    assert table.client.get(table.path).status_code == table.act("deal").status_code == 410
    clock.advance(-DAY_MS)
    assert table.play("deal")["version"] == 2


def test_a_move_at_the_clocks_own_time_is_found_out(
    table: Table, stored: Stored, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the time of the move before were not asked for, the log would go back with the clock."""
    monkeypatch.setattr("service.sessions.max", lambda now, _before: now, raising=False)
    with pytest.raises(AssertionError):
        test_a_game_goes_on_whatever_the_clock_does(table, stored, clock, "spice-island-poker")
