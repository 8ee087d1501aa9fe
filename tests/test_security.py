"""The page on security keeps its word: its tests are there, and what it says of the sources holds."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.test_imports import read_sources

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
LOCKS = sorted(ROOT.glob("requirements*.lock"))
CALLERS = {"http", "urllib.request", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "xmlrpc"}
"""What a program calls others by; `http.client` of it knows the words for a status."""
REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_PARSER: Any = importlib.import_module("re._parser")


def missing(page: str) -> list[str]:
    """Return the tests that a page names and that are nowhere."""
    named = re.findall(r"`(test_\w+)::(test_\w+)`", page)
    return [f"{file}::{test}" for file, test in named if test not in _tests(ROOT / "tests" / f"{file}.py")]


def _tests(path: Path) -> set[str]:
    if not path.exists():
        return set()
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


def test_every_test_that_the_page_names_is_there() -> None:
    """By its file and its name."""
    assert missing(PAGE) == []


def test_every_threat_of_the_list_has_a_test() -> None:
    """API1 to API10, each with one at least."""
    rows = {row.split()[1]: row for row in PAGE.splitlines() if row.startswith("| API")}
    assert list(rows) == [f"API{number}" for number in range(1, 11)]
    assert all("::test_" in row for row in rows.values())


def test_a_test_that_is_not_there_is_found_out() -> None:
    """Whether its file is missing or it is."""
    planted = "`test_wire::test_nothing_at_all` and `test_nowhere::test_the_log_keeps_secrets`"
    assert missing(planted) == ["test_wire::test_nothing_at_all", "test_nowhere::test_the_log_keeps_secrets"]


# Outgoing calls.


def imported(source: str) -> set[str]:
    """Return the modules that a source imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


def callers(source: str) -> set[str]:
    """Return what a source could call others by."""
    found = imported(source) - {"http.client.responses", "http.HTTPStatus"}
    return {name for name in found if any(f"{name}.".startswith(f"{each}.") for each in CALLERS)}


def test_the_service_calls_nobody_but_its_store() -> None:
    """No module of it has anything to call others by."""
    assert {name: found for name, source in read_sources().items() if (found := callers(source))} == {}


@pytest.mark.parametrize("source", ["import urllib.request", "from http.client import HTTPConnection", "import httpx"])
def test_a_module_that_could_call_is_found_out(source: str) -> None:
    """However it is imported."""
    assert callers(source)


def test_the_application_has_no_debugger(app: Flask) -> None:
    """It neither debugs nor tests, and has no secret for cookies that nobody sets."""
    assert (app.debug, app.testing, app.secret_key) == (False, False, None)


# Patterns.


def patterns(source: str) -> Iterator[str]:
    """Yield the patterns in a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            given = ast.literal_eval(node.args[0])
            yield given if isinstance(given, str) else given.decode()


def is_slow(pattern: str) -> bool:
    """Return whether a pattern repeats a repetition, or has two without an end side by side."""
    return _slow(_PARSER.parse(pattern), inside=False)


def _slow(parsed: Any, *, inside: bool) -> bool:  # noqa: ANN401 - of the parser of re
    endless = False
    for operator, given in parsed:
        before, endless = endless, _endless(operator, given)
        if endless and (inside or before):
            return True
        if any(_slow(part, inside=inside or endless) for part in _parts(given)):
            return True
    return False


def _endless(operator: Any, given: Any) -> bool:  # noqa: ANN401 - of the parser of re
    return str(operator) in REPEATS and given[1] == _PARSER.MAXREPEAT


def _parts(given: Any) -> Iterator[Any]:  # noqa: ANN401 - of the parser of re
    if isinstance(given, _PARSER.SubPattern):
        yield given
    elif isinstance(given, tuple | list):
        for each in given:
            yield from _parts(each)


def test_no_pattern_takes_longer_than_its_text() -> None:
    """Each goes through a text once, whatever that is."""
    found = [pattern for source in read_sources().values() for pattern in patterns(source)]
    assert len(found) > 5
    assert [pattern for pattern in found if is_slow(pattern)] == []


@pytest.mark.parametrize("pattern", ["(a+)+$", r"(?:\s*,\s*)*", "(a|b*)*c", r"\d+\d+x", "x*(y*z)*"])
def test_a_pattern_that_is_slow_is_found_out(pattern: str) -> None:
    """Whether it tries exponentially or quadratically many ways."""
    assert is_slow(pattern)


# Packages.


def unlocked(lock: str) -> list[str]:
    """Return the packages of a lock file without a version or without a hash."""
    entries = re.split(r"\n(?=[a-z0-9])", lock, flags=re.IGNORECASE)[1:]
    return [entry.split()[0] for entry in entries if "==" not in entry.split()[0] or "--hash=sha256:" not in entry]


def test_every_locked_package_has_its_hash() -> None:
    """And nothing is installed but by its hash."""
    assert len(LOCKS) == 3
    assert {path.name: found for path in LOCKS if (found := unlocked(path.read_text(encoding="utf-8")))} == {}
    for installer in ("venv.sh", "Dockerfile"):
        lines = (ROOT / "deploy" / installer).read_text(encoding="utf-8").splitlines()
        installs = [line for line in lines if " install " in line and " -r " in line]
        assert installs
        assert all("--require-hashes" in line for line in installs)


def test_a_package_without_its_hash_is_found_out() -> None:
    """Or without its version."""
    assert unlocked("# made\na==1 \\\n    --hash=sha256:00\nb==2\nc>=3 \\\n    --hash=sha256:00\n") == ["b==2", "c>=3"]
