"""What the service itself says, in Danish: what the host and a newcomer may do, refusals, and a board's frame."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    "{title}: the rules": "{title}: reglerne",
    # What the host and a newcomer may do.
    "Take a seat": "Tag en plads",
    "Seat a bot": "Sæt en robot på en plads",
    "Issue a seat's token anew; the old one is void": "Udsted en plads' nøgle på ny; den gamle gælder ikke længere",
    "Take a seat out": "Tag en plads ud af spillet",
    "Leave, and pass the host's rights on": "Gå, og giv værtens rettigheder videre",
    "End and delete this session": "Afslut og slet dette spil",
    # What may not be done.
    "Only the host may do this.": "Det kan kun værten gøre.",
    "This game has no bots.": "Dette spil har ingen robotter.",
    "No seat is open.": "Ingen plads er ledig.",
    "Seat {seat} is not open.": "Plads {seat} er ikke ledig.",
    "No person holds seat {seat}.": "Ingen person har plads {seat}.",
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
