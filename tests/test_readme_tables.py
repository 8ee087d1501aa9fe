"""The README's tables for several: every line of them is typed as it stands, in as many terminals as they need."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.servers import ServiceProcess
from tests.terminals import Terminal, blocks, typed
from tests.test_readme import commands, section, sheets

JACKPOT, PARTY, SPEED = TITLES = (
    "Two people play Jackpot",
    "A party on one phone: Beat the Dealer",
    "Speed against a bot",
)
Said = dict[str, dict[str, str]]
"""By section, what each of its terminals shows."""


@pytest.fixture(scope="module", name="said", params=[False, True], ids=["curl", "stand-in"])
def _said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Type all three sections, with the machine's own curl and without."""
    directory = tmp_path_factory.mktemp("tables")
    with ServiceProcess(directory / "var").up() as service:
        environ = {"PATH": commands(directory, stand_in=request.param), "CROUPIER": service.url}
        environ["TMPDIR"] = str(directory)
        return {title: typed(section(title), directory, environ) for title in TITLES}


def test_every_table_is_played_without_a_refusal(said: Said) -> None:
    """Whoever types what stands there is refused nothing."""
    for terminals in said.values():
        for shown in terminals.values():
            assert shown
            assert "urn:croupier:problem" not in shown


@pytest.mark.parametrize("title", TITLES)
def test_every_move_draws_a_board(said: Said, title: str) -> None:
    """Who plays from a terminal sees the table after each move, and who sits at it."""
    for name, shown in said[title].items():
        lines = "".join(block.text for block in blocks(section(title)) if block.terminal == name).splitlines()
        moves = sum(line.startswith(("play ", "look")) and "()" not in line for line in lines)
        assert shown.count("\nsession ") >= moves
        assert shown.count("\nSeats: 0 Anna") == shown.count("\nsession ")


def test_two_people_play_jackpot(said: Said) -> None:
    """Each sees the own hand alone until the flip; then the best takes both antes and what was paid."""
    anna, bo = said[JACKPOT]["Anna's terminal"], said[JACKPOT]["Bo's terminal"]
    (sheet,) = sheets(anna)
    assert (sheet["game"], sheet["final"]) == ("jackpot", True)
    (told,) = (json.loads(line) for line in bo.splitlines() if line.startswith('{"version"'))
    assert [frame["version"] for frame in told["frames"]] == [2, 3]
    dealt = {each["seat"]: each["cards"] for each in told["frames"][0]["events"]}
    assert (dealt[0], None in dealt[1]) == ([None] * 5, False)
    assert re.search(r"Seat [01] takes the jackpot of 40: ", bo)


def test_the_board_in_the_readme_is_one_of_the_service(said: Said) -> None:
    """The sample has the lines of the real one, but for ids, cards, and what they are worth."""
    sample = re.findall(r"```text\n(.*?)```", section(JACKPOT), re.DOTALL)[0].splitlines()
    shapes = [re.compile(_shape(line)) for line in sample]
    lines = said[JACKPOT]["Anna's terminal"].splitlines()
    start = next(place for place, line in enumerate(lines) if shapes[0].fullmatch(line))
    for shape, line in zip(shapes, lines[start:], strict=False):
        assert shape.fullmatch(line)


def _shape(line: str) -> str:
    """Return a pattern of a board's line."""
    if line.startswith("session"):
        return r"session [\w-]{22}, version 2, you are seat 0"
    if line.startswith("    card      4c"):
        return r"    card    (  \w\w){5}   [A-Z][\w -]+"
    return re.escape(line)


def test_a_party_plays_beat_the_dealer_on_one_phone(said: Said) -> None:
    """The dealer sees the card, the guesser its back; the host ends the round, and all of it exists in Danish."""
    (shown,) = said[PARTY].values()
    dealer, guesser = shown.split("\nsession ")[1:3]
    assert re.search(r"\nTop card: \w\w\n", dealer)
    assert re.search(r"\nTop card: face down\n", guesser)
    (sheet,) = sheets(shown)
    assert (sheet["game"], sheet["final"]) == ("beat-the-dealer", True)
    assert "\nThe round is over: the host has ended it.\n" in shown
    assert "# Gæt dealerens kort\n" in shown
    assert "\nGæt dealerens kort, runde 1, afgjort\n" in shown
    assert "\nRunden er slut: værten har stoppet den.\n" in shown


def test_a_spectator_follows_speed(said: Said) -> None:
    """The stream begins with a snapshot, tells each move as it comes, and ends with the session."""
    stream = said[SPEED]["second terminal"]
    assert re.findall(r"^event: (\w+)$", stream, re.MULTILINE)[0] == "snapshot"
    assert stream.rstrip().splitlines()[-2] == "event: end"
    told = re.findall(r'"type":"([\w-]+)"', stream)
    assert {"dealt", "countdown", "flip", "passed", "settled", "left"} <= set(told)
    board = said[SPEED]["first terminal"]
    assert "Both play at once" in board
    assert "Seat 1 wins: the other seat has left" in board


def test_a_line_that_fails_is_found_out(tmp_path: Path) -> None:
    """A terminal stops at it, and so does the test."""
    environ = {"PATH": os.environ["PATH"]}
    with Terminal(tmp_path, environ) as terminal:
        terminal.type("echo one\n")
        terminal.wait()
        assert terminal.said == "one\n"
        terminal.type("false\necho two\n")
        with pytest.raises(AssertionError, match="one"):
            terminal.wait()
