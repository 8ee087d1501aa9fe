"""Beat the Dealer in Danish: what its sentences are in it (BD-14)."""

from engine.phrases import Dictionary

DANISH: Dictionary = {
    # The game and its options.
    "Beat the Dealer": "Gæt dealerens kort",
    "Guess the dealer's hidden card in two guesses; whoever misses drinks, and who is guessed drinks more.": (
        "Gæt dealerens skjulte kort i to forsøg. Rammer du ved siden af, drikker du; rammer du plet, drikker dealeren."
    ),
    "The seat that deals first (BD-2).": "Den plads, der er dealer først (BD-2).",
    "What is drunk: sips, or points for a game without drinks (BD-8).": (
        "Hvad der drikkes: tårer (sips) eller, i et spil uden drikkeri, point (points) (BD-8)."
    ),
    "The most that one drink comes to; left out: no cap (BD-8).": (
        "Det meste, nogen skal drikke ad gangen; udelades det, er der intet loft (BD-8)."
    ),
    "Seconds after which a turn is lost, anew from the first guess; left out: no limit (BD-13).": (
        "Sekunder, før en tur er tabt, forfra efter det første gæt; udelades det, er der ingen grænse (BD-13)."
    ),
    "How long a bot takes over each guess, in ms (C-11).": "Hvor længe en robot er om hvert gæt, i ms (C-11).",
    "first_dealer must be one of the {seats} seats": "first_dealer skal være en af de {seats} pladser",
    # What may be done.
    "Deal round {round}": "Start runde {round}",
    "Deal round {round}; seats still open are closed": "Start runde {round}; pladser, der stadig er ledige, lukkes",
    "Guess the rank of the dealer's top card": "Gæt værdien af dealerens øverste kort",
    "Guess again: {rank} was wrong, the card is {hint}": "Gæt igen: {rank} var forkert, kortet er {hint}",
    "End the round for everyone; the turn in progress is void": (
        "Stop runden for alle; den tur, der er i gang, gælder ikke"
    ),
    # What may not.
    "A round is in play: it ends with the deck, or when the host ends it.": (
        "En runde er i gang: den slutter, når bunken er brugt op, eller når værten stopper den."
    ),
    "A round needs {least} seats that somebody holds.": "En runde kræver {least} pladser, som nogen sidder på.",
    "No round is in play: deal first.": "Der er ingen runde i gang: start en først.",
    "Only the host can end the round.": "Kun værten kan stoppe runden.",
    "The dealer does not guess: it is the turn of seat {seat}.": "Dealeren gætter ikke: det er plads {seat}s tur.",
    "This seat plays from the next round on.": "Denne plads er med fra næste runde.",
    "It is the turn of seat {seat}.": "Det er plads {seat}s tur.",
    "In Beat the Dealer cards are guessed, and worth nothing.": (
        "I Gæt dealerens kort skal kortene gættes; de er intet værd i sig selv."
    ),
    # The table.
    "ace": "es",
    "jack": "knægt",
    "queen": "dame",
    "king": "konge",
    "higher": "højere",
    "lower": "lavere",
    "Dealer: seat {seat}, {turns} so far": "Dealer: plads {seat}, {turns} indtil nu",
    "Deck: {deck}   lost turns in a row: {streak} of 3": "Bunke: {deck}   tabte ture i træk: {streak} af 3",
    "Rank  {cells}": "Værdi {cells}",
    "Laid  {cells}": "Lagt  {cells}",
    "No round is in play.": "Der er ingen runde i gang.",
    "Top card: {card}": "Øverste kort: {card}",
    "face down": "med bagsiden opad",
    "Seat {seat} is to guess.": "Plads {seat} skal gætte.",
    "Seat {seat} guessed {rank}: the card is {hint}. One more guess.": (
        "Plads {seat} gættede på {rank}: kortet er {hint}. Ét gæt mere."
    ),
    "Seat {units:>8}   as dealer   as guesser    won   lost   turns as dealer": (
        "Plads{units:>8}  som dealer   som gætter vundet   tabt   ture som dealer"
    ),
    "turns as dealer": "ture som dealer",
    "Three lost turns in a row: seat {seat} is the dealer now.": ("Tre tabte ture i træk: nu er plads {seat} dealer."),
    "The dealer has left: seat {seat} is the dealer now.": "Dealeren er gået: nu er plads {seat} dealer.",
    "sips": "tårer",
    "points": "point",
    "1 turn": "1 tur",
    "{count} turns": "{count} ture",
    "seat {seat}": "plads {seat}",
    # How a turn and a round end.
    "Last turn: seat {seat} guessed {guesses}, right at once.": (
        "Sidste tur: plads {seat} gættede på {guesses} og ramte plet i første forsøg."
    ),
    "Last turn: seat {seat} guessed {guesses}, right at the second guess.": (
        "Sidste tur: plads {seat} gættede på {guesses} og ramte plet i andet forsøg."
    ),
    "Last turn: seat {seat} guessed {guesses}, and the card was {card}.": (
        "Sidste tur: plads {seat} gættede på {guesses}, og kortet var {card}."
    ),
    "Last turn: seat {seat} let the time run out, and the card was {card}.": (
        "Sidste tur: plads {seat} lod tiden løbe ud, og kortet var {card}."
    ),
    "Last turn: seat {seat} left, and the card was {card}.": "Sidste tur: plads {seat} gik, og kortet var {card}.",
    "Last turn: seat {seat} guessed to no end, the turn is void.": (
        "Sidste tur: plads {seat} nåede ikke at gætte færdig, og turen gælder ikke."
    ),
    "Seat {seat} drinks {amount}.": "Plads {seat} drikker {amount}.",
    "Seat {seat} takes {amount}.": "Plads {seat} får {amount}.",
    "Nobody drinks.": "Ingen drikker.",
    "1 sip": "1 tår",
    "{count} sips": "{count} tårer",
    "1 point": "1 point",
    "{count} points": "{count} point",
    "The round is over: the deck is used up.": "Runden er slut: bunken er brugt op.",
    "The round is over: the host has ended it.": "Runden er slut: værten har stoppet den.",
    "The round is over: fewer than two seats are left.": "Runden er slut: der er færre end to pladser tilbage.",
    "Longest as dealer: {seats}, {turns}": "Længst tid som dealer: {seats}, {turns}",
}
