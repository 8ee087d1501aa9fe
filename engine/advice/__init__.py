"""What a seat's own view says about its options; bots choose with it."""

from collections.abc import Mapping

from engine.advice import beat_the_dealer, jackpot, speed
from engine.play import Bot

BOTS: dict[str, Mapping[str, Bot]] = {
    "beat-the-dealer": beat_the_dealer.BOTS,
    "jackpot": jackpot.BOTS,
    "speed": speed.BOTS,
}
"""For each game of several seats its bots by level."""
