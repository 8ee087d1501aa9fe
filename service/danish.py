"""What the service itself says, in Danish: refusals, and a board's frame."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    "{title}: the rules": "{title}: reglerne",
    "End and delete this session": "Afslut og slet dette spil",
    # What may not be done.
    "The rules do not allow this now": "Det tillader reglerne ikke lige nu",
    "The token does not allow this": "Det rækker nøglen ikke til",
    "The session is at another version": "Spillet er nået til en anden version",
    "Read the session and send its ETag, quotes and all, in If-Match; or decide by the actions given here.": (
        "Læs spillet og send dets ETag, med anførselstegn, i If-Match, eller vælg blandt de handlinger, der står her."
    ),
    # A score's frame.
    "{title}, score of round {round}, {state}": "{title}, resultat af runde {round}, {state}",
    "final": "endeligt",
    "not final": "ikke endeligt",
    "session {id}": "spil {id}",
    "Place  Seat  {scored:>16}  Name": "   Nr. Plads {scored:>16}  Navn",
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
    "A seed of your own is set for the next round.": "Dit eget frø er sat til næste runde.",
    "Waiting for somebody to take a seat.": "Venter på, at nogen tager en plads.",
    "Waiting for seat {seat}.": "Venter på plads {seat}.",
    "Waiting for one of the seats {seats}.": "Venter på en af pladserne {seats}.",
    "Nothing to do here: the session is finished.": "Her er intet at gøre: spillet er slut.",
    "Nothing to do here: you watch, and no seat is open.": (
        "Her er intet at gøre: du er tilskuer, og ingen plads er ledig."
    ),
    "Nothing to do here: you have left this table.": "Her er intet at gøre: du har forladt bordet.",
    "You may send:": "Du kan sende:",
}
