"""A session's view and its score sheet drawn as text, for a terminal or a screen reader."""

import json
import textwrap
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from engine import play
from engine.game import Score
from engine.games import GAMES
from engine.phrases import Dictionary, Phrase, phrase, said
from service.languages import words
from service.records import Seen
from service.views import Action, View, view

WIDTH = 72


def board(view: View, language: str) -> str:
    """Return the table, what the move did, who sits there, and what may be sent, with a body for each."""
    known = words(view.game, language)
    lines = [*_head(view, known), "-" * WIDTH, *play.draw(view.game, view.table, language)]
    if view.events is not UNSET and (told := play.told(view.game, view.events, language)):
        lines += ["", *told]
    if view.actions is not UNSET:
        lines += ["-" * WIDTH, *_actions(view, view.actions, known)]
    return "\n".join(lines) + "\n"


def score_board(seen: Seen, found: Score, language: str) -> str:
    """Return a score sheet: the standings, then what the game has to say of the round."""
    shown = view(seen, language, with_actions=False)
    known = words(shown.game, language)
    state = "final" if found.final else "not final"
    spec = GAMES[shown.game].spec
    title = phrase(
        "{title}, score of round {round}, {state}", title=phrase(spec.title), round=found.round, state=phrase(state)
    )
    heading = phrase("Place  Seat  {scored:>16}  Name", scored=phrase(spec.scored))
    lines = [said(title, known), said(phrase("session {id}", id=shown.id), known), "-" * WIDTH, said(heading, known)]
    for each in sorted(found.standings, key=lambda each: each.place):
        name = shown.seats[each.seat]["name"] or ""
        lines.append(f"{each.place:>5}  {each.seat:>4}  {each.score:>16}  {name}".rstrip())
    lines += ["-" * WIDTH, *play.draw(shown.game, found.sheet, language)]
    return "\n".join(lines) + "\n"


def _head(view: View, known: Dictionary) -> list[str]:
    """Return what is played and how far it has come, who looks, and where there are several who sits where."""
    title = phrase(
        "{title}, round {round}, {status}",
        title=phrase(GAMES[view.game].spec.title),
        round=view.round,
        status=phrase(view.status),
    )
    reason = f" ({said(phrase(view.reason), known)})" if view.reason else ""
    who = phrase("session {id}, version {version}, {who}", id=view.id, version=view.version, who=_who(view))
    lines = [said(title, known) + reason, said(who, known)]
    if len(view.seats) > 1:
        seats = ", ".join(f"{seat['seat']} {said(_seated(seat), known)}" for seat in view.seats)
        lines += textwrap.wrap(said(phrase("Seats: {seats}", seats=seats), known), WIDTH, subsequent_indent="  ")
    if view.you and view.you.seat is not None and view.seats[view.you.seat]["seeded"]:
        lines.append(said("A seed of your own is set for the next round.", known))
    return lines


def _who(view: View) -> Phrase:
    """Return who is looking."""
    if view.you is None:
        return phrase("you watch")
    return phrase("you are the host") if view.you.seat is None else phrase("you are seat {seat}", seat=view.you.seat)


def _seated(seat: dict[str, Any]) -> Phrase:
    """Return who sits at a seat, and whether the table waits for it."""
    name = seat["name"]
    match seat:
        case {"left": True}:
            return phrase("{name} (left)", name=name)
        case {"kind": "bot", "to_act": True}:
            return phrase("{name} ({level} bot, to act)", name=name, level=phrase(seat["level"]))
        case {"kind": "bot"}:
            return phrase("{name} ({level} bot)", name=name, level=phrase(seat["level"]))
        case {"kind": "person", "to_act": True}:
            return phrase("{name} (to act)", name=name)
        case {"kind": "person"}:
            return phrase("{name}", name=name)
    return phrase(seat["kind"])


def _actions(view: View, actions: Sequence[Action], known: Dictionary) -> list[str]:
    """Return what is waited for where it is another's move, then the actions: the request, and what it does."""
    lines = [said(waits, known)] if (waits := _waits(view)) else []
    if not actions:
        return [*lines, said(_why_nothing(view), known)]
    lines.append(said("You may send:", known))
    for action in actions:
        body = "" if action.example is None else json.dumps(action.example)
        path = action.href if action.method == "DELETE" else action.verb
        lines.append(f"  {action.method} {path:<9} {body}".rstrip())
        lines += textwrap.wrap(action.label, WIDTH, initial_indent=" " * 7, subsequent_indent=" " * 7)
    return lines


def _waits(view: View) -> Phrase | None:
    """Return for whom the table waits, unless it is for the viewer too."""
    waited_for = [seat["seat"] for seat in view.seats if seat["to_act"]]
    if view.status == "waiting":
        return phrase("Waiting for somebody to take a seat.")
    if not waited_for or (view.you and view.you.seat in waited_for):
        return None
    if len(waited_for) == 1:
        return phrase("Waiting for seat {seat}.", seat=waited_for[0])
    return phrase("Waiting for one of the seats {seats}.", seats=", ".join(map(str, waited_for)))


def _why_nothing(view: View) -> Phrase:
    """Return why a viewer can do nothing."""
    if view.status == "finished":
        return phrase("Nothing to do here: the session is finished.")
    if view.you is None:
        return phrase("Nothing to do here: you watch, and no seat is open.")
    return phrase("Nothing to do here: you have left this table.")
