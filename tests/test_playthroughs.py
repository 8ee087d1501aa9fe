"""Golden playthroughs: a game plays as its transcript tells, line by line."""

import pytest

from engine.advice import BOTS
from engine.games import GAMES
from engine.play import COMMON_EVENTS
from tests.playthrough import FOLDER, path_of, transcript

MOST_LINES = 300


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_game_plays_as_its_transcript_tells(slug: str) -> None:
    """Every registered game has a transcript, and plays it again without a difference."""
    kept = path_of(slug).read_text(encoding="utf-8").splitlines()
    for number, (line, now) in enumerate(zip(kept, transcript(slug), strict=False), start=1):
        assert now == line, f"line {number} differs; if it should, run: python -m tests.playthrough"
    assert len(transcript(slug)) == len(kept)


def test_transcripts_are_short_enough_to_be_read() -> None:
    """A transcript has at most 300 lines, and each belongs to a registered game."""
    lengths = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in FOLDER.glob("*.txt")}
    assert lengths.keys() == GAMES.keys()
    assert max(lengths.values()) <= MOST_LINES


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_transcript_meets_every_event_and_every_verb(slug: str) -> None:
    """A transcript shows each type of event and each verb of its game, and a round that is settled."""
    lines = path_of(slug).read_text(encoding="utf-8").splitlines()
    events = {line.split()[1] for line in lines if line.startswith("  > ")} - {"refused,"}
    verbs = {line.split()[1] for line in lines if line[:1].isdigit()}
    assert events - set(COMMON_EVENTS) == set(GAMES[slug].spec.events)
    assert set(GAMES[slug].spec.verbs) <= verbs
    assert "  | settled, round 1" in lines


@pytest.mark.parametrize("slug", sorted(BOTS))
def test_transcript_of_several_seats_has_a_bot_and_tells_who_sees_what(slug: str) -> None:
    """A bot moves, a move comes by time alone, and an event is told as seats see it otherwise."""
    text = path_of(slug).read_text(encoding="utf-8")
    for told in (" (bot) at ", "by the table at ", " sees {"):
        assert told in text
