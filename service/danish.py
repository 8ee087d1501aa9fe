"""What the service itself says, in Danish: refusals, and a board's frame."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    "{title}: the rules": "{title}: reglerne",
    "End and delete this session": "Afslut og slet dette spil",
    # What may not be done.
    "The rules do not allow this now": "Det tillader reglerne ikke lige nu",
    "The token does not allow this": "Det rækker nøglen ikke til",
    "The session is at another version": "Spillet er nået til en anden version",
    "Read the session again, or decide by the actions given here.": (
        "Læs spillet igen, eller vælg blandt de handlinger, der står her."
    ),
    # A board's frame.
    "{title}, round {round}, {status}": "{title}, runde {round}, {status}",
    "waiting": "venter",
    "ready": "klar",
    "playing": "i gang",
    "settled": "afgjort",
    "finished": "slut",
    "session {id}, version {version}, {who}": "spil {id}, version {version}, {who}",
    "you watch": "du er tilskuer",
    "you are the host": "du er værten",
    "you are seat {seat}": "du er på plads {seat}",
    "Seats: {seats}": "Pladser: {seats}",
    "open": "ledig",
    "closed": "lukket",
    "{name} (left)": "{name} (gået)",
    "{name} (to act)": "{name} (har turen)",
    "{name} ({level} bot)": "{name} (robot, {level})",
    "{name} ({level} bot, to act)": "{name} (robot, {level}, har turen)",
    "easy": "let",
    "normal": "normal",
    "hard": "svær",
    "Nothing to do here.": "Her er intet at gøre.",
    "You may send:": "Du kan sende:",
}
