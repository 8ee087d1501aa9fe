"""What the table itself says, in Danish: its own offers and refusals, whatever the game."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    "Leave the table for good": "Forlad bordet for altid",
    "Add a seed of your own to the next round's shuffles": "Tilføj dit eget frø til næste rundes blanding af kortene",
    "Replace your own seed for the next round's shuffles": "Erstat dit eget frø til næste rundes blanding af kortene",
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
    # What the host and a newcomer may do.
    "Take a seat": "Tag en plads",
    "Seat a bot": "Sæt en robot på en plads",
    "Issue a seat's token anew; the old one is void": "Udsted en plads' nøgle på ny; den gamle gælder ikke længere",
    "Take a seat out": "Tag en plads ud af spillet",
    "Leave, and pass the host's rights on": "Gå, og giv værtens rettigheder videre",
    # What may not be done.
    "Only the host may do this.": "Det kan kun værten gøre.",
    "This token holds a seat already: whoever takes one asks without a token.": (
        "Denne nøgle har allerede en plads: den, der tager en ny, spørger uden nøgle."
    ),
    "This game has no bots.": "Dette spil har ingen robotter.",
    "No seat is open.": "Ingen plads er ledig.",
    "Seat {seat} is not open.": "Plads {seat} er ikke ledig.",
    "No person holds seat {seat}.": "Ingen person har plads {seat}.",
}
