"""The games: one line each."""

from typing import Any

from engine.game import Game
from engine.games.beat_the_dealer import BeatTheDealer
from engine.games.jackpot import Jackpot
from engine.games.skulls_and_swords import SkullsAndSwords
from engine.games.speed import Speed
from engine.games.spice_island_poker import SpiceIslandPoker

_ALL: tuple[Game[Any], ...] = (
    BeatTheDealer(),
    Jackpot(),
    SkullsAndSwords(),
    Speed(),
    SpiceIslandPoker(),
)

GAMES: dict[str, Game[Any]] = {game.spec.slug: game for game in _ALL}
