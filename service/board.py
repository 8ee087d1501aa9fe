"""A session's view drawn as text, for a terminal or a screen reader."""

import json
import textwrap
from typing import Any

from msgspec import UNSET

from engine import play
from engine.games import GAMES
from engine.phrases import Dictionary, Phrase, phrase, said
from service.languages import words
from service.views import Action, View

WIDTH = 72


def board(view: View, language: str) -> str:
    """Return the table, who sits at it, and what may be sent, with a body for each."""
    known = words(view.game, language)
    lines = [*_head(view, known), "-" * WIDTH, *play.draw(view.game, view.table, language)]
    if view.actions is not UNSET:
        lines += ["-" * WIDTH, *_actions(view.actions, known)]
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


def _actions(actions: list[Action], known: Dictionary) -> list[str]:
    """Return the actions as a list: the request, then what it does."""
    if not actions:
        return [said("Nothing to do here.", known)]
    lines = [said("You may send:", known)]
    for action in actions:
        body = "" if action.example is None else json.dumps(action.example)
        path = action.href if action.method == "DELETE" else action.verb
        lines.append(f"  {action.method} {path:<9} {body}".rstrip())
        lines += textwrap.wrap(action.label, WIDTH, initial_indent=" " * 7)
    return lines
