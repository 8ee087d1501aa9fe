"""What earlier releases stored, as this one stores it: each layout is brought up to the next.

Layout 1: Croupier 0.1.0, whose sessions had one person each. Layout 2: since 0.2.0.
"""

from typing import Any

LAYOUT = 2
"""How a session is stored by this release."""


def brought_up(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a record of an earlier layout in the present one."""
    for layout in range(stored.get("layout", 1), LAYOUT):
        stored = _NEXT[layout](stored)
    return stored


def _seated(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a record of layout 1 in layout 2: it was unlisted, and the state now says who holds the seats."""
    position = stored["position"]
    held = ["" if seat["left"] else "person" for seat in position["seats"]]
    opening = [seat | {"left": False} for seat in position["seats"]]
    position = position | {"state": position["state"] | {"held": held}}
    return stored | {"layout": 2, "public": False, "opening": opening, "position": position}


_NEXT = {1: _seated}
