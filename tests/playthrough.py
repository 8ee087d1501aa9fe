"""Golden playthroughs: one readable transcript a game, made again with `python -m tests.playthrough`.

A transcript has a block a move: the action, and where there are several seats whose it was and when; `>` what
happened, as a spectator sees it, and below it what a seat sees otherwise; `|` the lines of the spectator's board
that have changed, and with a seat's number before it those of that seat's board that are its alone; `=` the verbs
that are then offered, in order, and of several seats those to which others were offered before; `+` offers that are
met for the first time. A game for one is told as its one seat sees it.
"""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import msgspec

from engine import play, seating
from engine.advice import BOTS
from engine.game import Action, Event, Illegal, Move, NotYours, Offer
from engine.games import GAMES
from engine.piles import Viewer, look_as
from engine.play import Position, Step
from tests.scripts import SCRIPTS, Script

FOLDER = Path(__file__).parent / "playthroughs"
SESSION = "playthrough-----------"
SECRET = b"a secret that is none, for all to read, so that a deal comes out"
START_AT = 1_800_000_000_000
PACE = 1000
"""How many ms a move comes after the one before it, if a script says nothing."""
NEVER = 2 * START_AT
HOST, FIRST, WAIT, NOTHING = "host", "first", "wait", "nothing"

Boards = dict[Viewer, list[str]]


def main() -> None:
    """Write every transcript anew."""
    FOLDER.mkdir(exist_ok=True)
    for slug in GAMES:
        path_of(slug).write_text("\n".join(transcript(slug)) + "\n", encoding="utf-8")


def path_of(slug: str) -> Path:
    """Return where a game's transcript is kept."""
    return FOLDER / f"{slug}.txt"


def transcript(slug: str) -> list[str]:
    """Play a game from its script, and tell it."""
    telling = Telling(slug, SCRIPTS[slug])
    for line in _written_out(SCRIPTS[slug].text):
        telling.go_on(line)
    return telling.lines


def _seated(script: Script) -> str:
    """Return who sits at a table for several."""
    seats = ", ".join(seat.name or seat.kind for seat in script.seats)
    return f", seats: {seats}" if len(script.seats) > 1 else ""


def _written_out(text: str) -> Iterator[str]:
    """Yield a script's lines, repeated ones as often as they say."""
    for line in filter(None, map(str.strip, text.splitlines())):
        verb, _, times = line.rpartition(" ")
        yield from [verb] * int(times) if times.isdigit() and verb.split(" ")[-1] in (FIRST, WAIT) else [line]


class Telling:
    """A session that is played, and what is told of it so far."""

    def __init__(self, slug: str, script: Script) -> None:
        self.position = play.open_table(slug, SESSION, SECRET, script.seats, script.options)
        self.now = START_AT
        self.lines = [f"{GAMES[slug].spec.title} {json.dumps(script.options)}{_seated(script)}"]
        self._several = len(script.seats) > 1
        self._number = 0
        self._boards: Boards = {}
        self._verbs: dict[int | str, str] = {}
        self._met: set[str] = set()
        self._tell_changes()

    def go_on(self, line: str) -> None:
        """Do what a line of a script says, after whatever is due by then."""
        pace, who, verb, body = _read(line)
        if verb == WAIT:
            pace = play.next_due(self.position, NEVER) - self.now
            assert self.now + pace < NEVER, f"nothing is due: {line}"
        self.now += pace
        self._settle(1 if verb == WAIT else None)
        if verb != WAIT:
            self._act(who, verb, body)

    def _settle(self, most: int | None) -> None:
        """Let what is due by now take place, one by one."""
        bots = BOTS.get(self.position.game, {})
        for step in play.settle(self.position, self.now, bots, most):
            self._tell(step, "the table")

    def _act(self, who: int | str, verb: str, body: dict[str, Any]) -> None:
        """Send an action, and tell what came of it or why it was refused."""
        action = Action(verb, body)
        if verb == FIRST:
            offer = play.offers(self.position, int(who))[0]
            action = Action(offer.verb, offer.example)
        move = Move(None if who == HOST else int(who), action, self.now)
        act = play.host_acts if who == HOST else play.join if verb == "join" else play.advance
        try:
            if verb == "join":
                asked = Action(verb, body | {"seat": move.seat})
                seating.must_be_offered(self.position, None, asked, host="bot" in body, bots=True)
            self._tell(act(self.position, move), HOST)
        except (Illegal, NotYours) as refused:
            code = refused.code if isinstance(refused, Illegal) else "forbidden"
            self._head(move, HOST)
            self.lines.append(f"  > refused, {code}: {refused.detail}")
            self._tell_changes()

    def _head(self, move: Move, whose: str) -> None:
        """Tell what is asked, and of several seats by whom and when."""
        self._number += 1
        by = whose
        if move.seat is not None:
            by = f"seat {move.seat}" + (" (bot)" if self.position.state.is_bot(move.seat) else "")
        asked = f"{self._number}. {move.action.verb} {json.dumps(move.action.body)}"
        when = f" by {by} at {(move.at - START_AT) / 1000:.3f} s" if self._several else ""
        self.lines.append(asked + when)

    def _tell(self, step: Step, whose: str) -> None:
        """Tell a move, its events and its refusal, and what they have changed."""
        self._head(step.move, whose)
        self.position = step.position
        for event in step.events:
            self.lines += _event(event, len(self.position.seats) if self._several else 0)
        if step.refusal:
            self.lines.append(f"  > refused, {step.refusal.code}: {step.refusal.detail}")
        self._tell_changes()

    def _tell_changes(self) -> None:
        """Tell what has changed on the boards, and what is offered otherwise than before."""
        seats = range(len(self.position.seats))
        boards = {viewer: _board(self.position, viewer) for viewer in ((None, *seats) if self._several else (0,))}
        shared = boards.get(None, [])
        for viewer, board in boards.items():
            mark = "" if viewer is None or not self._several else str(viewer)
            fresh = _fresh(self._boards.get(viewer, []), board)
            self.lines += [f" {mark:1}| {line}".rstrip() for line in fresh if viewer is None or line not in shared]
        self._boards = boards
        offered: dict[int | str, tuple[Offer, ...]] = {seat: play.offers(self.position, seat) for seat in seats}
        if self._several:
            offered[HOST] = play.host_offers(self.position)
        self._tell_offers(offered)

    def _tell_offers(self, offered: dict[int | str, tuple[Offer, ...]]) -> None:
        """Tell the verbs that are offered, where they are others, and verb and label of each offer not met before."""
        verbs = {who: self._verbs_of(offers) for who, offers in offered.items()}
        if not self._several:
            self.lines.append(f"  = {verbs[0]}")
        elif changed := [f"{who} {each}" for who, each in verbs.items() if self._verbs.get(who, NOTHING) != each]:
            self.lines.append(f"  = {'; '.join(changed)}")
        self._verbs = verbs
        told = [f"  + {offer.verb:8} {offer.label}" for offers in offered.values() for offer in offers]
        self.lines += [line for line in dict.fromkeys(told) if line not in self._met]
        self._met.update(told)

    def _verbs_of(self, offers: tuple[Offer, ...]) -> str:
        """Return the verbs of offers in order; where there are several seats those that each always has say nothing."""
        named = [offer.verb for offer in offers if not self._several or offer.verb not in play.COMMON_VERBS]
        return ", ".join(dict.fromkeys(named)) or NOTHING


def _read(line: str) -> tuple[int, int | str, str, dict[str, Any]]:
    """Return a line of a script as time that passes (ms), who asks, verb and body."""
    pace, who = PACE, "0"
    first, _, rest = line.partition(" ")
    if first.startswith("+"):
        pace = int(first)
        first, _, rest = rest.partition(" ")
    if first.isdigit() or first == HOST:
        who = first
        first, _, rest = rest.partition(" ")
    return pace, who, first, json.loads(rest or "{}")


def _event(event: Event, seats: int) -> Iterator[str]:
    """Yield an event as a spectator sees it, or seat 0 at a table for one, and what each seat sees otherwise."""
    seen = _seen(event, None if seats else 0)
    yield f"  > {seen['type']} {json.dumps({name: each for name, each in seen.items() if name != 'type'})}"
    for seat in range(seats):
        other = {name: each for name, each in _seen(event, seat).items() if each != seen[name]}
        if other:
            yield f"      seat {seat} sees {json.dumps(other)}"


def _seen(event: Event, viewer: Viewer) -> dict[str, Any]:
    return dict(msgspec.to_builtins(event.seen(look_as(viewer))))


def _board(position: Position, viewer: Viewer) -> list[str]:
    """Return the board as text, under its status."""
    seen = play.view(position, viewer)
    head = f"{seen.status}, round {seen.round}" + (f": {seen.reason}" if seen.reason else "")
    return [head, *play.draw(position.game, seen.table)]


def _fresh(before: list[str], board: list[str]) -> list[str]:
    """Return the lines of a board that were not there before."""
    changes = SequenceMatcher(None, before, board, autojunk=False).get_opcodes()
    return [line for kind, _, _, begin, end in changes if kind != "equal" for line in board[begin:end]]


if __name__ == "__main__":
    main()
