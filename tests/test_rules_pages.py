"""The rules pages: complete, in CommonMark with tables, and true to the tables of the rules."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from engine import play
from engine.games import GAMES
from engine.games.skulls_and_swords import Use
from engine.games.skulls_and_swords_values import DRINKS, POINTS
from engine.phrases import said

PAGES = Path(__file__).parent.parent / "engine" / "games"
RULINGS = {
    "beat-the-dealer": [f"BD-{number}" for number in range(1, 17)],
    "jackpot": [f"JP-{number}" for number in range(1, 19)],
    "spice-island-poker": [f"SI-{number}" for number in range(1, 17)],
    "skulls-and-swords": [f"SK-{number}" for number in range(1, 21)],
    "speed": [f"SP-{number}" for number in range(1, 20)],
}
COMMON = ["C-1", "C-3", "C-5", "C-6", "C-7", "C-8", "C-10", "C-12", "C-13"]


def page(slug: str, language: str = "en") -> str:
    """Return a game's rules page, in English if no language is given."""
    return (PAGES / f"{slug.replace('-', '_')}.{language}.md").read_text(encoding="utf-8")


def named(text: str) -> set[str]:
    """Return the rulings that a page names, each inside square brackets or a table."""
    return set(re.findall(r"\b(?:BD|SI|SK|JP|SP|C)-\d+\b", text))


def rows(text: str) -> list[list[str]]:
    """Return the cells of every row of every table."""
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_page_names_every_ruling_of_its_game(slug: str) -> None:
    """Each ruling of a game, and each common one that concerns it, is on the game's page by its id."""
    assert set(RULINGS[slug] + COMMON) - named(page(slug)) == set()


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_page_names_no_ruling_that_does_not_exist(slug: str) -> None:
    """A page names no ruling of another game and none beyond the last."""
    assert named(page(slug)) <= {*RULINGS[slug], *(f"C-{number}" for number in range(1, 14))}


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_page_renders_its_tables(slug: str) -> None:
    """Every table becomes one in HTML, and no line of it is left as text."""
    html = MarkdownIt("commonmark").enable("table").render(page(slug))
    assert html.count("<tr>") == sum(
        not re.fullmatch(r"[|\-]+", line) for line in page(slug).splitlines() if line[:1] == "|"
    )
    assert html.startswith(f"<h1>{GAMES[slug].spec.title.replace('&', '&amp;')}</h1>")


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_page_gives_every_option_with_its_default(slug: str) -> None:
    """The page's table of options has every option of the game and its default."""
    given = {cells[0]: cells[2] for cells in rows(page(slug)) if len(cells) == 4}
    for option in GAMES[slug].spec.options.options:
        default = f'"{option.default}"' if isinstance(option.default, str) else str(option.default).lower()
        assert given[option.name] == default


@pytest.mark.parametrize("slug", sorted(GAMES))
def test_page_shows_every_verb(slug: str) -> None:
    """Every verb that the game has is shown on its page."""
    assert [verb for verb in GAMES[slug].spec.verbs if f"`{verb}" not in page(slug)] == []


TRANSLATED = [(slug, each) for slug, game in GAMES.items() for each in game.spec.languages[1:]]


@pytest.mark.parametrize(("slug", "language"), TRANSLATED)
def test_page_says_the_same_in_every_language(slug: str, language: str) -> None:
    """BD-14: part by part a translated page names the same rulings, codes and numbers."""
    english, other = page(slug), page(slug, language)
    assert outline(other) == outline(english)
    assert len(outline(english)) > 40
    title = said(GAMES[slug].spec.title, play.dictionary(slug, language))
    assert other.startswith(f"# {title}\n")
    assert other.splitlines()[2] != english.splitlines()[2]


def outline(text: str) -> list[tuple[str, list[str], list[str]]]:
    """Return of every paragraph, list item and table row what it is, and the codes and numbers that it names."""
    parts = [part.strip() for part in re.split(r"\n(?=\n|- |\| )", text) if part.strip()]
    return [
        (
            re.sub(r"[^#|-]", "", part[:1]),
            sorted(re.findall(r"`[^`]*`", part)),
            sorted(re.findall(r"\b(?:[A-Z]+-)?\d+\b", re.sub(r"(?<=\d)[.,](?=\d{3})", "", part))),
        )
        for part in parts
    ]


def test_languages_are_those_of_the_pages() -> None:
    """A game has a page for each language that it speaks, and for no other."""
    for slug, game in GAMES.items():
        pages = {path.name.split(".")[1] for path in PAGES.glob(f"{slug.replace('-', '_')}.*.md")}
        assert pages == set(game.spec.languages)


def test_pay_table_is_the_one_that_pays() -> None:
    """SI-9: the page's pay table is the one of the game's info."""
    paid = {
        cells[0]: cells[1]
        for cells in rows(page("spice-island-poker"))
        if cells[1:] and re.fullmatch(r"\d+ to 1", cells[1])
    }
    info = GAMES["spice-island-poker"].info()["pay_table"]
    assert [int(pays.removesuffix(" to 1")) for pays in paid.values()] == [line["pays"] for line in info]


def test_point_values_are_the_ones_that_score() -> None:
    """SK-15: the page's points are those that a row scores."""
    scored = {cells[0].replace(" ", "-"): cells[-1] for cells in rows(page("skulls-and-swords"))}
    assert {category: int(scored[category]) for category in POINTS} == POINTS


def test_drinks_are_as_their_decks_hold_them() -> None:
    """SK-2, SK-8: the page gives every drink's points, its copies and the cards it moves."""
    cells = {line[0]: line[1:] for line in rows(page("skulls-and-swords"))}
    for code, drink in DRINKS.items():
        held = [drink.value, drink.positive, drink.negative, drink.dealt_in]
        assert cells[code] == [drink.name, *map(str, held)]
        assert cells[drink.name] == [str(drink.deals_in), str(drink.brings)]


def test_every_use_of_chance_is_on_the_page() -> None:
    """C-7: the page gives every label that a shuffle is derived by."""
    assert {use.value for use in Use} <= {cells[0] for cells in rows(page("skulls-and-swords"))}
    assert "label `deal`" in page("spice-island-poker")


@pytest.mark.parametrize(
    ("slug", "rulings"), [("spice-island-poker", ("SI-15", "SI-16")), ("skulls-and-swords", ("SK-20",))]
)
def test_page_says_what_this_version_leaves_out(slug: str, rulings: tuple[str, ...]) -> None:
    """SI-15, SI-16, SK-20: odds and advice are said to come in a later version."""
    paragraphs = re.split(r"\n(?:\n|- )", page(slug))
    for ruling in rulings:
        told = " ".join(" ".join(each.split()) for each in paragraphs if f"[{ruling}]" in each)
        assert "not part of this version" in told
        assert "worked out in a later version" in told
