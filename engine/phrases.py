"""Phrases: English sentences that remember how they were made, so that they can be said in another language."""

from collections.abc import Mapping
from typing import Self

Dictionary = Mapping[str, str]
"""What English templates and whole sentences are in another language."""


class Phrase(str):
    """An English text, made from a template and its facts; a fact may be a phrase itself."""

    __slots__ = ("facts", "template")

    template: str
    facts: Mapping[str, object]

    def __new__(cls, template: str, facts: Mapping[str, object]) -> Self:
        made = super().__new__(cls, template.format(**facts))
        made.template = template
        made.facts = facts
        return made


def phrase(template: str, **facts: object) -> Phrase:
    """Return the template in English, its `{names}` filled in, ready to be said in another language."""
    return Phrase(template, facts)


def said(text: str, words: Dictionary) -> str:
    """Return a phrase or a sentence in a dictionary's language, in English where the dictionary has none of it."""
    if not isinstance(text, Phrase):
        return words.get(text, text)
    facts = {name: said(fact, words) if isinstance(fact, Phrase) else fact for name, fact in text.facts.items()}
    return words.get(text.template, text.template).format(**facts)
