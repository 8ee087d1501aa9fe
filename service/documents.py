"""What is the same for everyone: catalogue, game info, rules and the contract, made once."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

import engine.games
from engine.fields import Shape
from engine.game import ENGLISH, Spec
from engine.games import GAMES
from engine.phrases import Dictionary, phrase, said
from engine.play import COMMON_EVENTS, COMMON_VERBS
from service.browsers import POLICY, styled
from service.languages import words
from service.limits import Pace
from service.views import encode

JSON = "application/json"
MARKDOWN = "text/markdown; charset=utf-8"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
YAML = "application/yaml"

_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Safe both, and the compiled one many times as fast."""
_CONTRACT = Path(__file__).parent.parent / "openapi.yaml"
_STYLE = """
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.6 Georgia, serif;
  color-scheme: light dark; }
table { border-collapse: collapse; }
td, th { padding: .2rem .8rem; border-bottom: 1px solid #8886; text-align: left; }
"""
_PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
{body}
</html>
"""


class Document(NamedTuple):
    """Bytes to send, their type, and a strong tag of both; all of it is public."""

    body: bytes
    media_type: str
    etag: str
    language: str
    guards: dict[str, str] = {}  # noqa: RUF012 - a tuple's default, which nothing changes


def _document(body: bytes, media_type: str, language: str = ENGLISH) -> Document:
    tag = hashlib.sha256(media_type.encode() + body).hexdigest()[:32]
    return Document(body, media_type, f'"{tag}"', language)


@cache
def catalogue() -> Document:
    """Return the list of games; not all of them speak another language, so it is in English."""
    games = [_card(game.spec, {}) | {"href": f"/v1/games/{slug}"} for slug, game in GAMES.items()]
    return _document(encode({"games": games}), JSON)


@cache
def info(slug: str, language: str, limits: tuple[Pace, ...]) -> Document:
    """Return all that a front end needs to know of a game before it opens a session."""
    game = GAMES[slug]
    here = f"/v1/games/{slug}"
    about = _card(game.spec, words(slug, language)) | {
        "options": _options(game.spec, words(slug, language)),
        "verbs": [_verb(slug, verb, shapes) for verb, shapes in (game.spec.verbs | COMMON_VERBS).items()],
        "events": [*game.spec.events, *COMMON_EVENTS],
        "settles_within": game.spec.bound,
        "limits": {each.name: {"per_second": each.per_second, "burst": each.burst} for each in limits} or None,
        "links": {"rules": f"{here}/rules", "evaluate": f"{here}/evaluate"},
    }
    return _document(encode(about | game.info()), JSON, language)


@cache
def rules(slug: str, media_type: str, language: str) -> Document:
    """Return a game's rules with every ruling, as Markdown, which is plain text too, or as a page."""
    name = f"{slug.replace('-', '_')}.{language}.md"
    text = (Path(engine.games.__file__).parent / name).read_text(encoding="utf-8")
    if media_type != HTML:
        return _document(text.encode(), media_type, language)
    body = MarkdownIt("commonmark").enable("table").render(text)
    title = said(phrase("{title}: the rules", title=phrase(GAMES[slug].spec.title)), words(slug, language))
    page = _PAGE.format(language=language, title=title, style=_STYLE, body=body)
    return _document(page.encode(), HTML, language)._replace(guards={POLICY: styled(_STYLE)})


@cache
def contract(media_type: str) -> Document:
    """Return the OpenAPI document, as it is written or as JSON."""
    text = _CONTRACT.read_bytes()
    parsed = yaml.load(text, _YAML)  # noqa: S506 - a safe loader under either name
    return _document(text if media_type == YAML else encode(parsed), media_type)


@cache
def version() -> str:
    """Return the release, as the contract has it."""
    found = re.search(r"^  version: (\S+)$", _CONTRACT.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def component(slug: str, verb: str) -> str:
    """Return the name of a verb's body in the contract: `SpiceIslandPokerWager`, or `Leave`."""
    words = [verb] if verb in COMMON_VERBS else [*slug.split("-"), verb]
    return "#/components/schemas/" + "".join(word.capitalize() for word in words)


def _card(spec: Spec, known: Dictionary) -> dict[str, Any]:
    """Return a game's card."""
    return {
        "game": spec.slug,
        "title": said(spec.title, known),
        "summary": said(spec.summary, known),
        "rules_version": spec.rules_version,
        "seats": {"least": spec.seats[0], "most": spec.seats[1]},
    }


def _options(spec: Spec, known: Dictionary) -> dict[str, Any]:
    """Return the JSON Schema of a game's options, what they mean said in a dictionary's language."""
    schema = spec.options.schema()
    for each in schema["properties"].values():
        each["description"] = said(each["description"], known)
    return schema


def _verb(slug: str, verb: str, shapes: tuple[Shape, ...]) -> dict[str, Any]:
    """Return a verb with the bodies it takes, in full and by their name in the contract."""
    bodies = [shape.schema() for shape in shapes]
    return {"verb": verb, "schema": component(slug, verb), "bodies": bodies}
