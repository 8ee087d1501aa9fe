"""What the table itself says, in Danish: its own offers and refusals, whatever the game."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    "Leave the table for good": "Forlad bordet for altid",
    "Add a seed of your own to the next round's shuffles": "Tilføj dit eget frø til næste rundes blanding af kortene",
    "This seat is not open.": "Denne plads er ikke ledig.",
    "The host's token cannot {verb} here; a seat's may.": (
        "Værtens nøgle rækker ikke til {verb} her; en plads' nøgle gør måske."
    ),
    "This token holds no seat.": "Denne nøgle har ingen plads.",
    "{title} has no {verb}.": "{title} har ikke {verb}.",
    "The session is finished: {reason}.": "Spillet er slut: {reason}.",
    "left": "alle har forladt det",
    "This seat has left the table.": "Denne plads har forladt bordet.",
    "There is nothing to {verb} now.": "Lige nu er der intet at bruge {verb} til.",
    "Now {objection}.": "Nu gælder: {objection}.",
    "Nobody holds seat {seat}.": "Ingen har plads {seat}.",
    "Not now.": "Ikke nu.",
}
