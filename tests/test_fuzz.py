"""Requests that schemathesis makes of the contract, and bytes that are nearly right: none is answered with 500.

`make fuzz` makes twenty times as many, other ones every time.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from service import schemas, sessions
from tests.contract import CONTRACT
from tests.fuzzing import Fuzz
from tests.scene import OPERATIONS, Scene
from tests.shelf import MadeUp

TIMES = int(os.environ.get("FUZZ", "1"))
STEPS = 20
POSTS = sorted(name for name, (method, _) in OPERATIONS.items() if method == "POST")


def bounded(examples: int) -> settings:
    """Return the settings of a run: the same in every run of the tests, and no time is spent on the least example."""
    return settings(
        max_examples=examples * TIMES,
        stateful_step_count=STEPS,
        phases=[Phase.generate],
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(name="scenes")
def _scenes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Scene]]:
    """Give a way to make services that answer the same, and let nobody wait for events."""
    monkeypatch.setattr(sys.modules["service.events"], "_waited", lambda _feed, _seconds: [])
    made = []

    def fresh() -> Scene:
        monkeypatch.setattr(sessions, "secrets", MadeUp())
        made.append(Scene())
        return made[-1]

    yield fresh
    for scene in made:
        scene.close()


@pytest.fixture(name="fuzz")
def _fuzz(scenes: Callable[[], Scene]) -> Fuzz:
    return Fuzz(lambda: scenes().app, CONTRACT.document)


def follow_the_links(fuzz: Fuzz) -> None:
    fuzz.machine().run(settings=bounded(8))


def ask_of(fuzz: Fuzz, name: str) -> None:
    """Ask for an operation, with values that fit the contract and with values that do not."""

    @bounded(6)
    @given(case=fuzz.cases(name))
    def check(case: Case[Any]) -> None:
        fuzz.send_everywhere(case)

    check()


def test_whoever_follows_the_links_is_answered_by_the_contract(fuzz: Fuzz) -> None:
    """In any order, as a seat, as the host or as nobody, with right and with wrong values."""
    follow_the_links(fuzz)
    assert fuzz.faults == []
    assert len({seen.operation for seen in fuzz.contract.seen}) > len(POSTS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_is_answered_by_the_contract(fuzz: Fuzz, name: str) -> None:
    """Whatever its values, in every game, whoever asks."""
    ask_of(fuzz, name)
    assert fuzz.faults == []
    assert {seen.operation for seen in fuzz.contract.seen} >= {name}


def nearly(body: bytes) -> st.SearchStrategy[bytes]:
    """Return bytes that differ from a body in a stretch of it."""
    places = st.tuples(st.integers(0, len(body)), st.integers(0, len(body))).map(sorted)
    odd = st.one_of(st.binary(max_size=4), st.sampled_from([b'"', b"\\", b"{", b"[", b"\x00", b"\xff", b"1e9", b"-"]))
    return st.builds(lambda cut, piece: body[: cut[0]] + piece + body[cut[1] :], places, odd)


@pytest.mark.parametrize("name", POSTS)
def test_a_body_that_is_nearly_right_is_answered_by_the_contract(scenes: Callable[[], Scene], name: str) -> None:
    """Whatever became of its bytes."""
    scene = scenes()
    ask = scene.accepted(name)

    @bounded(25)
    @given(raw=nearly(json.dumps(ask.json or {"client_seed": "x"}).encode()))
    def check(raw: bytes) -> None:
        assert scene.send(ask, data=raw, content_type="application/json").status_code != 500

    check()


# Planted faults: those that many values lead to are found; what one value leads to is left to the tests of that value.

Given = Mapping[str, Any]
FOUND: Mapping[str, Callable[[str, str, Given], bool]] = {
    "a seed that is not ASCII": lambda _game, _verb, body: not body.get("client_seed", "").isascii(),
    "amounts that 7 goes into": lambda _game, verb, body: verb == "wager" and body.get("amount", 1) % 7 == 0,
}


@pytest.mark.parametrize("fault", FOUND)
def test_a_500_behind_many_values_is_found_out(fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Whoever asks for an operation in every game meets it."""
    checked = schemas.verb_body

    def broken(game: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        found = checked(game, verb, body)
        if FOUND[fault](game, verb, found):
            raise ZeroDivisionError
        return found

    monkeypatch.setattr(schemas, "verb_body", broken)
    for name in ("seed", "wager"):
        ask_of(fuzz, name)
    assert any(each.startswith("500") for each in fuzz.faults)


def test_an_undocumented_answer_is_found_out(fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who follows the links comes to whatever is wrong with every answer of a kind."""
    monkeypatch.setitem(sys.modules["service.api"].__dict__, "_SECRET", {"Cache-Control": "no-store", "X-Odd": "x"})
    follow_the_links(fuzz)
    assert any("x-odd is not documented" in each for each in fuzz.faults)
