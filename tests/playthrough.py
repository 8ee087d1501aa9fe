"""Golden playthroughs: one readable transcript a game, made again with `python -m tests.playthrough`.

A transcript has a block a move: the action; `>` what happened, as the seat sees it; `|` the lines of the
board that have changed; `=` the verbs that are then offered, in order; `+` offers that are met for the first time.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from engine.game import Action, Illegal, Move
from engine.games import GAMES
from engine.piles import look_as
from engine.play import Position, Seat, Step, advance, draw, offers, open_table, status, view

FOLDER = Path(__file__).parent / "playthroughs"
SESSION = "playthrough-----------"
SECRET = b"a secret that is none, for all to read, so that a deal comes out"
START_AT = 1_800_000_000_000

FIRST = "first"
"""In a script: send the first example that is offered; `first 3` does it three times."""

OPTIONS: dict[str, dict[str, Any]] = {"spice-island-poker": {"balance": 60, "min_ante": 5, "max_ante": 10}}
SCRIPTS = {
    "spice-island-poker": """
        deal
        wager {"repeat": true}
        wager {"amount": 15}
        wager {"amount": 10}
        deal {"client_seed": "luck"}
        wager {"amount": 5}
        leave
        choose {"action": "bet"}
        seed {"client_seed": "more luck"}
        wager {"repeat": true}
        first
        choose {"action": "surrender"}
        wager {"amount": 5}
        wager {"amount": 0}
        first 3
        leave
    """,
    "skulls-and-swords": """
        choose {"cards": [0, 1]}
        deal {"client_seed": "a lucky sword"}
        deal
        choose {"cards": [0, 2]}
        swap {"positions": [1, 0]}
        swap {"positions": [1, 2]}
        deal
        choose {"cards": [1, 2]}
        deal
        choose {"cards": [4, 0]}
        first 14
        deal
        choose {"cards": [4, 2]}
        first 8
        wager {"amount": 5}
        confirm
        swap {"positions": [0, 1]}
        wager {"amount": 100}
        wager {"amount": 90}
        evaluate
        first
        leave
    """,
}


def main() -> None:
    """Write every transcript anew."""
    FOLDER.mkdir(exist_ok=True)
    for slug in GAMES:
        path_of(slug).write_text("\n".join(transcript(slug)) + "\n", encoding="utf-8")


def path_of(slug: str) -> Path:
    """Return where a game's transcript is kept."""
    return FOLDER / f"{slug}.txt"


def transcript(slug: str) -> list[str]:
    """Play a game from its script, then by first examples until a round is settled, and tell it."""
    options = OPTIONS.get(slug, {})
    position = open_table(slug, SESSION, SECRET, (Seat("Player 1"),), options)
    script = _script(slug)
    met: set[str] = set()
    lines = [f"{GAMES[slug].spec.title} {json.dumps(options)}", *_board([], position), *_offered(met, position)]
    number = 0
    while script or status(position) == "playing" or not position.state.round:
        number += 1
        told, position = _played(position, script.pop(0) if script else FIRST, number)
        lines += [*told, *_offered(met, position)]
    return lines


def _script(slug: str) -> list[str]:
    """Return a script's lines, repeated ones written out."""
    lines: list[str] = []
    for line in filter(None, map(str.strip, SCRIPTS.get(slug, "").splitlines())):
        verb, _, times = line.partition(" ")
        lines += [FIRST] * int(times or 1) if verb == FIRST else [line]
    return lines


def _played(before: Position, line: str, number: int) -> tuple[list[str], Position]:
    """Return the block of one move, and the position after it."""
    action = _action(before, line)
    head = f"{number}. {action.verb} {json.dumps(action.body)}"
    try:
        step = advance(before, Move(0, action, START_AT + 1000 * number))
    except Illegal as refused:
        return [head, f"  > refused, {refused.code}: {refused.detail}"], before
    return [head, *_told(step), *_board(_lines(before), step.position)], step.position


def _action(position: Position, line: str) -> Action:
    """Return a script's line as an action: a verb and, where it has one, a body."""
    if line == FIRST:
        offer = offers(position, 0)[0]
        return Action(offer.verb, offer.example)
    verb, _, body = line.partition(" ")
    return Action(verb, json.loads(body or "{}"))


def _told(step: Step) -> list[str]:
    """Return a step's events as seat 0 sees them."""
    seen = [msgspec.to_builtins(event.seen(look_as(0))) for event in step.events]
    return [f"  > {event.pop('type')} {json.dumps(event)}" for event in seen]


def _lines(position: Position) -> list[str]:
    """Return the board as text, under its status."""
    seen = view(position, 0)
    head = f"{seen.status}, round {seen.round}" + (f": {seen.reason}" if seen.reason else "")
    return [head, *draw(position.game, seen.table)]


def _board(before: list[str], position: Position) -> list[str]:
    """Return the lines of the board that differ from those before."""
    return [
        f"  | {line}".rstrip()
        for number, line in enumerate(_lines(position))
        if number >= len(before) or before[number] != line
    ]


def _offered(met: set[str], position: Position) -> list[str]:
    """Return the verbs that are offered, and verb and label of each offer not met before."""
    now = offers(position, 0)
    verbs = ", ".join(dict.fromkeys(offer.verb for offer in now)) or "nothing"
    told = [f"  + {offer.verb:8} {offer.label}" for offer in now]
    fresh = [line for line in told if line not in met]
    met.update(told)
    return [f"  = {verbs}", *fresh]


if __name__ == "__main__":
    main()
