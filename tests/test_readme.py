"""The README does what it says: its walk-through is run as it stands."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT, ServiceProcess

README = (ROOT / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return a section of the README."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def walk_through() -> str:
    """Return every line that a reader of "Play by curl" types."""
    return "\n".join(re.findall(r"```sh\n(.*?)```", section("Play by curl"), re.DOTALL))


def commands(directory: Path, *, stand_in: bool) -> str:
    """Return a PATH on which there is a curl: the machine's, or what stands in for it."""
    if shutil.which("curl") and not stand_in:
        return os.environ["PATH"]
    program = directory / "curl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "tests" / "curl.py"}" "$@"\n')
    program.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def typed(script: str, directory: Path, *, stand_in: bool = False) -> str:
    """Return what a terminal shows when the script is typed into it."""
    with ServiceProcess(directory / "var").up() as service:
        shell = subprocess.run(
            ["/bin/sh", "-eu", "-c", script],
            env={"PATH": commands(directory, stand_in=stand_in), "CROUPIER": service.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert shell.returncode == 0, shell.stderr
    return shell.stdout


@pytest.fixture(scope="module", name="said", params=[False, True], ids=["curl", "stand-in"])
def _said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the walk-through shows, with the machine's own curl and without."""
    return typed(walk_through(), tmp_path_factory.mktemp("readme"), stand_in=request.param)


def sheets(said: str) -> list[dict[str, object]]:
    """Return the score sheets that were shown."""
    return [json.loads(line) for line in re.findall(r'\{"session":.*\}', said)]


def test_the_walk_through_plays_both_games_to_the_score(said: str) -> None:
    """Each game ends with a final score sheet, and nothing on the way is refused."""
    assert [(sheet["game"], sheet["final"]) for sheet in sheets(said)] == [
        ("spice-island-poker", True),
        ("skulls-and-swords", True),
    ]
    assert "urn:croupier:problem" not in said


def test_the_boards_of_the_walk_through_are_playable(said: str) -> None:
    """Every move answers with a board, which names what may be sent."""
    moves = walk_through().count("\nplay ") + 2 * 15
    assert said.count("session ") == moves
    assert said.count("You may send:") == moves


def test_the_board_in_the_readme_is_one_of_the_service(said: str) -> None:
    """The sample has the lines of the real one, but for ids and cards."""
    sample = re.search(r"```text\n(.*?)```", section("Play by curl"), re.DOTALL)
    assert sample
    shapes = [re.compile(_shape(line)) for line in sample[1].splitlines()]
    lines = said.splitlines()
    start = next(place for place, line in enumerate(lines) if shapes[0].fullmatch(line))
    for shape, line in zip(shapes, lines[start:], strict=False):
        assert shape.fullmatch(line)


def _shape(line: str) -> str:
    """Return a pattern of a board's line: ids, cards and a hand's category may be others."""
    if line.startswith("session"):
        return r"session [\w-]{22}, version \d+, you are seat 0"
    if line.startswith("You   "):
        return r"You      (\w\w ?){5}  [a-z -]+"
    return re.escape(line).replace("Kd", r"\w\w")


def test_a_wrong_line_would_show(tmp_path: Path) -> None:
    """A walk-through with a move that is refused does not pass for a right one."""
    wrong = walk_through().replace('"bet"', '"fold"')
    assert wrong != walk_through()
    said = typed(wrong, tmp_path)
    assert "urn:croupier:problem:invalid" in said
    assert sheets(said)[0]["final"] is False
