"""Languages: what is said in English is said in Danish too where a game speaks it, and codes are said in neither."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest
from msgspec.structs import replace

from engine import play, seating
from engine.danish import DANISH
from engine.game import Action, Illegal, Move, NotYours, Offer, RuleError
from engine.games import GAMES
from engine.phrases import phrase, said
from tests.dealers import NOW, OPEN, SLUG, at, bot, dealt, ended, guessed, leave, lost, new, people, refusal

ENGINE = Path(__file__).parent.parent / "engine"
TABLES_OWN = ("play", "seating")
"""The modules that speak for the table, whatever the game."""
OTHERS = [slug for slug in GAMES if slug != SLUG]
WORDS = play.dictionary(SLUG, "da")
LETTERS = re.compile(r"[^\W\d_]")


# How a phrase is said.


def test_phrase_is_its_english_text() -> None:
    """A phrase reads as its template filled in; a sentence without facts as it stands."""
    drinks = phrase("Seat {seat} drinks {amount}.", seat=1, amount=phrase("{count} sips", count=3))
    assert drinks == "Seat 1 drinks 3 sips."
    assert said(phrase("{count} sips", count=3), {}) == "3 sips"
    assert type(said(phrase("3 sips"), {})) is str


def test_phrase_is_said_in_another_language_with_all_its_parts() -> None:
    """Template and facts that are phrases are looked up; a plain fact is left as it is, whatever it says."""
    words = {"{one} of {all}": "{all}: {one}", "ace": "es"}
    assert said(phrase("{one} of {all}", one=phrase("ace"), all="ace"), words) == "ace: es"
    assert said("ace", words) == "es"


def test_what_a_dictionary_lacks_is_said_in_english() -> None:
    """An unknown template is filled in as it is, its known parts still said in the language."""
    assert said(phrase("an {what} it is", what=phrase("ace")), {"ace": "es"}) == "an es it is"
    assert said("a king", {"ace": "es"}) == "a king"


def test_fact_cannot_reach_into_a_template() -> None:
    """Braces in a fact are text, in English and in any other language."""
    fact = "{verb} {0} {verb.__class__}"
    for words in ({}, {"no {verb}": "ikke {verb}"}):
        assert said(phrase("no {verb}", verb=fact), words).endswith(f" {fact}")


# Every sentence there is.


def constants(node: ast.AST) -> Iterator[str]:
    """Yield every string in an expression, joined ones whole."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from constants(child)


def sentences(source: str) -> set[str]:
    """Return what a module says: the templates of its phrases, labels of offers, and sentences of refusals."""
    tree, found = ast.parse(source), set()
    named = {
        target.id: list(constants(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        match node.func.id:
            case "phrase" | "NotYours" | "Invalid":
                said_by = node.args[0]
            case "Illegal" | "Offer":
                said_by = node.args[1]
            case _:
                continue
        said_by = said_by.value if isinstance(said_by, ast.Subscript) else said_by
        if isinstance(said_by, ast.Name):
            found |= set(named.get(said_by.id, ()))
        elif isinstance(said_by, ast.Constant) and isinstance(said_by.value, str):
            found.add(said_by.value)
        elif isinstance(said_by, ast.BoolOp):
            found |= {each for value in said_by.values if isinstance(value, ast.Constant) for each in constants(value)}
    return found


def spoken(slug: str) -> set[str]:
    """Return every sentence of a game: of its modules, its card and its options."""
    name = slug.replace("-", "_")
    found = {GAMES[slug].spec.title, GAMES[slug].spec.summary}
    found |= {option.help for option in GAMES[slug].spec.options.options}
    for path in (ENGINE / "games").glob(f"{name}*.py"):
        found |= sentences(path.read_text(encoding="utf-8"))
    return {template for template in found if LETTERS.search(re.sub(r"\{\w+\}", "", template))}


def test_every_sentence_of_the_game_is_in_its_dictionary() -> None:
    """BD-14: the Danish of Beat the Dealer has every sentence that the game has, and no other."""
    own = GAMES[SLUG].spec.dictionaries["da"]
    assert spoken(SLUG) == own.keys()
    assert len(own) > 50


def test_every_sentence_of_the_table_is_in_its_dictionary() -> None:
    """BD-14: what `play` and `seating` say themselves, whatever the game, is in Danish, and nothing else is."""
    found = set().union(*(sentences((ENGINE / f"{name}.py").read_text(encoding="utf-8")) for name in TABLES_OWN))
    assert {play.LEAVE.label, play.SEED.label, play.FINISHED, "Not now."} <= found
    assert found - DANISH.keys() == {"unknown option"}  # said where there is no session yet, with its pointer
    assert DANISH.keys() - found == {"left"}


def test_an_unsaid_sentence_is_found() -> None:
    """The search finds templates, labels and refusals, by name too, and neither codes nor verbs."""
    source = 'A = "Named {n}"\nphrase("One {n}", n=1)\nOffer("deal", "Two")\nIllegal("no", "Three")\nphrase(A, n=1)'
    assert sentences(source) == {"Named {n}", "One {n}", "Two", "Three"}
    assert sentences('B = {1: "Six {n}"}\nphrase(B[1], n=1)') == {"Six {n}"}
    assert sentences('Illegal("not-now", why() or "Four")\nNotYours("Five")\nOffer("deal", label)') == {"Four", "Five"}


@pytest.mark.parametrize("words", [DANISH, GAMES[SLUG].spec.dictionaries["da"]])
def test_translation_has_the_facts_of_its_template(words: Mapping[str, str]) -> None:
    """A translation names exactly the facts that its English has, each once."""
    for english, danish in words.items():
        assert facts_of(english) == facts_of(danish), english
        assert danish.endswith(".") == english.endswith(".") or " (" in english, english


def facts_of(template: str) -> list[str]:
    """Return the names in a template's braces, sorted."""
    return sorted(name for _, name, _, _ in Formatter().parse(template) if name)


# What is said where.


def positions() -> Iterator[play.Position]:
    """Yield positions of every kind."""
    waiting = new((play.Seat("A"), OPEN))
    yield from (waiting, new())
    for units in ("sips", "points"):
        position = dealt("7 A K T 3 9", seats=3, units=units, turn_seconds=5)
        for ranks in ("", "9", "97", "AA", "7", "7 A", "7 A A", "7 2K 9T"):
            after = guessed(position, ranks)
            yield from (after, lost(after, 3), ended(after).position, leave(after, 1).position)
            yield from (at(after, NOW + 5000), leave(leave(after, 2).position, 0).position)
    yield guessed(dealt("7", last=1), "7")


def test_every_line_of_the_board_is_in_danish() -> None:
    """BD-14: no line of words is the same in both languages, and none has a part left in English."""
    seen: set[str] = set()
    for position in positions():
        for viewer in (None, 0):
            table = play.view(position, viewer).table
            english, danish = play.draw(SLUG, table), play.draw(SLUG, table, "da")
            assert len(english) == len(danish)
            seen.update(danish)
            assert all(one != other or not LETTERS.search(one) for one, other in zip(english, danish, strict=True))
    text = " ".join(seen)
    assert re.findall(r"\b(?:seat|guess\w*|card|turns?|sips?|points|the|jack|ace|higher|lower|is|drinks)\b", text) == []
    assert {"es", "konge", "højere", "lavere", "tår", "tårer", "point"} <= set(re.findall(r"\w+", text))


def labels(offers: tuple[Offer, ...]) -> list[str]:
    """Return the labels of offers, each of which must be plain text."""
    assert {type(offer.label) for offer in offers} <= {str}
    return [offer.label for offer in offers]


def test_every_label_is_in_danish() -> None:
    """BD-14: offers are the same in both languages but for their labels, and each of those is another."""
    seen: set[str] = set()
    for position in positions():
        for seat in range(len(position.seats)):
            english, danish = play.offers(position, seat), play.offers(position, seat, "da")
            assert [replace(each, label="") for each in english] == [replace(each, label="") for each in danish]
            assert not set(labels(english)) & set(labels(danish))
            seen.update(labels(danish))
        assert not set(labels(play.host_offers(position))) & set(labels(play.host_offers(position, "da")))
        seen.update(labels(play.host_offers(position, "da")))
    assert {"Start runde 1", "Gæt igen: 9 var forkert, kortet er lavere", "Forlad bordet for altid"} <= seen


def refusals() -> Iterator[RuleError]:
    """Yield refusals of every kind that a game at the table meets."""
    playing, over = dealt("7", seats=(*people(3), OPEN)), leave(dealt("7", seats=(play.Seat("A"), bot("easy"))), 0)
    asked = [
        (new((play.Seat("A"), OPEN)), 0, "deal"),
        (new(), 0, "choose"),
        (new(), 0, "wager"),
        (playing, 0, "deal"),
        (playing, 0, "choose"),
        (playing, 2, "choose"),
        (playing, 0, "evaluate"),
        (leave(playing, 2).position, 2, "deal"),
        (over.position, 0, "deal"),
        (new(), 5, "deal"),
    ]
    for position, seat, verb in asked:
        with pytest.raises((Illegal, NotYours)) as refused:
            play.advance(position, Move(seat, Action(verb, {"rank": "7"} if verb == "choose" else {}), NOW))
        yield refused.value
    for move in (Move(None, Action("wager"), NOW), Move(None, Action("deal"), NOW)):
        with pytest.raises((Illegal, NotYours)) as hosts:
            play.host_acts(playing, move)
        yield hosts.value
    for verb, body in (("join", {"seat": 0}), ("token", {"seat": 3}), ("leave", {"seat": 3})):
        with pytest.raises(Illegal) as unoffered:
            seating.must_be_offered(playing, None, Action(verb, body), host=True, bots=True)
        yield unoffered.value
    with pytest.raises(Illegal) as worthless:
        play.evaluate(SLUG, (), {})
    yield worthless.value


def test_every_refusal_is_in_danish() -> None:
    """BD-14: a refusal's sentence has another in Danish; its code is the same, whoever reads it."""
    told = list(refusals())
    danish = [each.said(WORDS) for each in told]
    assert len(told) == 16
    assert all(one != each.detail == str(each) == each.said({}) for one, each in zip(danish, told, strict=True))
    assert {type(each) for each in (*danish, *(refused.detail for refused in told))} == {str}
    assert "Dealeren gætter ikke: det er plads 1s tur." in danish
    assert "Gæt dealerens kort har ikke wager." in danish
    assert "Spillet er slut: alle har forladt det." in danish
    assert refusal(dealt("7"), 0, "choose", rank="7")[0] == "not-now"


def test_card_of_the_game_is_in_danish() -> None:
    """BD-14: title, summary and what each option means."""
    spec = GAMES[SLUG].spec
    assert spec.languages == ("en", "da")
    assert said(spec.title, WORDS) == "Gæt dealerens kort"
    assert all(said(each, WORDS) != each for each in (spec.summary, *(each.help for each in spec.options.options)))


@pytest.mark.parametrize("slug", OTHERS)
def test_other_games_speak_english(slug: str) -> None:
    """A game without a dictionary says everything in English, the table's own sentences too: never half and half."""
    position = play.open_table(slug, "s" * 22, bytes(64), people(GAMES[slug].spec.seats[0]), {})
    assert GAMES[slug].spec.languages == ("en",)
    assert play.dictionary(slug, "da") == {}
    assert play.offers(position, 0, "da") == play.offers(position, 0)
    table = play.view(position, 0).table
    assert play.draw(slug, table, "da") == play.draw(slug, table) == GAMES[slug].draw(table)


def test_unknown_language_is_english() -> None:
    """A language that nobody speaks has an empty dictionary."""
    assert play.dictionary(SLUG, "fr") == play.dictionary(SLUG, "en") == {}
