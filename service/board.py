"""A session's view drawn as text, for a terminal or a screen reader."""

import json
import textwrap

from msgspec import UNSET

from engine.games import GAMES
from service.views import Action, View

WIDTH = 72


def board(view: View) -> str:
    """Return the table and, numbered, what may be sent, with a body for each."""
    title = f"{GAMES[view.game].spec.title}, round {view.round}, {view.status}"
    if view.reason:
        title += f" ({view.reason})"
    lines = [title, f"session {view.id}, version {view.version}, {_who(view)}", "-" * WIDTH]
    lines += GAMES[view.game].draw(view.table)
    if view.actions is not UNSET:
        lines += ["-" * WIDTH, *_actions(view.actions)]
    return "\n".join(lines) + "\n"


def _who(view: View) -> str:
    """Return who is looking."""
    if view.you is None:
        return "you watch"
    return "you are the host" if view.you.seat is None else f"you are seat {view.you.seat}"


def _actions(actions: list[Action]) -> list[str]:
    """Return the actions as a list: the request, then what it does."""
    if not actions:
        return ["Nothing to do here."]
    lines = ["You may send:"]
    for action in actions:
        body = "" if action.example is None else json.dumps(action.example)
        path = action.href if action.method == "DELETE" else action.verb
        lines.append(f"  {action.method} {path:<9} {body}".rstrip())
        lines += textwrap.wrap(action.label, WIDTH, initial_indent=" " * 7)
    return lines
