"""The unit for systemd, as systemd reads it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.front import installed
from tests.servers import ROOT

UNIT = (ROOT / "deploy" / "systemd" / "croupier.service").read_text(encoding="utf-8")
EXPOSED = 15
"""The most that systemd may find amiss, of 100."""


def amiss(directory: Path, unit: str) -> str:
    """Return what systemd says against a unit: what it does not understand, and whether it is confined too little."""
    here = unit.replace("/opt/croupier/.venv/bin/python", sys.executable).replace("/opt/croupier", str(ROOT))
    (directory / "croupier.service").write_text(here, encoding="utf-8")
    analyze = installed("systemd-analyze", "systemd")
    security = ["security", "--offline=true", "--no-pager", f"--threshold={EXPOSED}"]
    found = ""
    for task in (["verify", "--man=no"], security):
        command = [analyze, *task, str(directory / "croupier.service")]
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if task[0] == "verify" or said.returncode:
            found += said.stderr + said.stdout
    return found


def test_the_unit_is_understood_and_confined(tmp_path: Path) -> None:
    """Systemd has nothing to say against it."""
    assert amiss(tmp_path, UNIT) == ""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("ProtectClock=yes", "ProtectClocks=yes", "'ProtectClocks'"),
        ("NoNewPrivileges=yes", "NoNewPrivileges=perhaps", "Failed to parse boolean"),
        ("CapabilityBoundingSet=\n", "", "CAP_SYS_ADMIN"),
    ],
)
def test_a_unit_that_is_not_is_found_out(tmp_path: Path, old: str, new: str, found: str) -> None:
    """A word that systemd does not know, one that it cannot read, or a right too many."""
    assert UNIT.count(old) == 1
    assert found in amiss(tmp_path, UNIT.replace(old, new))
