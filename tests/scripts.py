"""What the golden playthroughs play: options, seats and a script a game.

A line of a script is `[+ms] [who] verb [body]`: who asks is a seat, 0 if nothing is said, or `host`; it happens so
many ms after the line before it, 1000 if nothing is said, and whatever is due by then comes first. The verb `first`
sends the first example that the seat is offered, `first 3` does it three times. `wait` lets the next thing that is
due take place, `wait 3` the next three.
"""

from typing import Any, NamedTuple

from engine.play import BOT, OPEN, Seat


class Script(NamedTuple):
    """What one game plays."""

    options: dict[str, Any]
    seats: tuple[Seat, ...]
    text: str


ONE = (Seat("Player 1"),)
NOBODY = Seat(None, OPEN)

SCRIPTS = {
    "spice-island-poker": Script(
        {"balance": 60, "min_ante": 5, "max_ante": 10},
        ONE,
        """
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
    ),
    "skulls-and-swords": Script(
        {},
        ONE,
        """
        choose {"cards": [0, 1]}
        deal {"client_seed": "a lucky sword"}
        deal
        choose {"cards": [0, 2]}
        swap {"positions": [1, 0]}
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
        wager {"amount": 90}
        evaluate
        first
        leave
        """,
    ),
    "jackpot": Script(
        {"ante": 5, "turn_seconds": 30},
        (Seat("Anna"), NOBODY, Seat("Bot 3", BOT, "normal"), NOBODY, NOBODY),
        """
        1 join {"name": "Bo"}
        3 join {"name": "Cleo"}
        0 choose {"drop": [0]}
        0 deal {"client_seed": "luck 18"}
        1 choose {"drop": []}
        0 choose {"drop": [0, 1, 2]}
        1 choose {"drop": [0, 1, 2]}
        wait
        3 choose {"drop": [0, 1, 2]}
        0 choose {"drop": [0, 1, 2]}
        1 choose {"drop": [0, 1, 2]}
        wait
        3 choose {"drop": [0, 1, 2]}
        0 choose {"drop": [0, 1, 2]}
        1 choose {"drop": [0, 1, 2]}
        wait
        3 choose {"drop": [0, 1, 2]}
        1 evaluate
        host deal
        4 join {"name": "Dora"}
        wait 2
        0 leave
        host leave {"seat": 3}
        1 leave
        """,
    ),
    "speed": Script(
        {"stake": 2, "countdown_ms": 2000, "idle_ms": 3000, "penalty_ms": 1000},
        (Seat("Anna"), Seat("Bot 2", BOT, "hard")),
        """
        0 deal {"client_seed": "luck 193"}
        +500 0 choose {"slot": 0, "prefer": "left"}
        wait
        +100 0 choose {"slot": 0, "prefer": "left"}
        +100 0 choose {"slot": 2, "pile": "left"}
        wait 6
        +100 0 choose {"slot": 2, "pile": "left", "seen": {"left": 2, "right": 4}}
        wait 18
        +100 0 first
        wait 3
        +500 0 choose {"pass": true}
        wait 4
        0 leave
        """,
    ),
    "beat-the-dealer": Script(
        {"turn_seconds": 30},
        (Seat("Anna"), Seat("Bo"), NOBODY, Seat("Bot 4", BOT, "hard"), NOBODY),
        """
        2 join {"name": "Cleo"}
        0 choose {"rank": "7"}
        0 deal {"client_seed": "luck"}
        4 join {"name": "Dora"}
        0 choose {"rank": "7"}
        4 choose {"rank": "7"}
        1 choose {"rank": "7"}
        1 choose {"rank": "9"}
        2 first
        2 first
        wait 2
        wait
        2 first
        2 first
        wait 2
        0 first
        0 first
        2 leave
        1 first
        1 choose {"rank": "A"}
        host evaluate
        host deal
        wait
        host leave {"seat": 0}
        host evaluate
        """,
    ),
}
