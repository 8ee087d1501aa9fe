"""The page on capacity says what the kept figures come to."""

import json

import pytest

from bench import capacity


def kept() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return the kept figures."""
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = json.loads(capacity.RESULTS.read_text())
    return found


def test_the_page_is_worked_out_from_the_kept_figures() -> None:
    """Written anew it is the same."""
    text = capacity.PAGE.read_text()
    assert capacity.page(kept(), text) == text


@pytest.mark.parametrize("name", ["service", "granian"])
def test_figures_that_have_changed_are_found_out(name: str) -> None:
    """A page of other figures is another page."""
    text, figures = capacity.PAGE.read_text(), kept()
    figures["speed"]["64"][name]["server"] *= 2
    assert capacity.page(figures, text) != text
