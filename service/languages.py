"""Languages: which of a game's own a request is answered in, and what is said in it.

Codes, verbs and types of events are the same in all of them; so is what tells a program that it asked wrongly.
"""

from collections.abc import Mapping
from functools import cache

from flask import request

from engine.games import GAMES
from engine.phrases import Dictionary
from engine.play import dictionary
from service.danish import DANISH

HOUSE: Mapping[str, Dictionary] = {"da": DANISH}
"""What the service says itself, for each language but English that some game speaks."""


def wanted(game: str) -> str:
    """Return the one of a game's languages that Accept-Language likes best; without a liking it is English."""
    spoken = GAMES[game].spec.languages
    if len(spoken) == 1:
        return spoken[0]
    liked: dict[str, float] = {}
    for tag, quality in request.accept_languages:
        if quality:
            liked.setdefault(tag.partition("-")[0].lower(), quality)
    order = (*liked, *spoken)
    return max(spoken, key=lambda each: (liked.get(each, liked.get("*", 0.0)), -order.index(each)))


@cache
def words(game: str, language: str) -> Dictionary:
    """Return what the sentences of a game, of its table and of the service are in one of the game's languages."""
    own = dictionary(game, language)
    return {**HOUSE.get(language, {}), **own} if own else own
