"""tools/run_pgspot.py reads every statement, those behind an SQL-standard body included."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

# It reads a file, and no server.
pytestmark = pytest.mark.one_version

SAFE = "SET LOCAL search_path = pg_catalog, pg_temp;\nCREATE SCHEMA app;\n"
BOUND = "CREATE FUNCTION app.one() RETURNS int LANGUAGE sql IMMUTABLE RETURN abs(1);\n"
ATOMIC = "CREATE FUNCTION app.two() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT abs(2); END;\n"
DEFINER = "CREATE FUNCTION app.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';\n"


def lint(script: str, folder: Path) -> str:
    """Return what the linter says of a script."""
    pytest.importorskip("pgspot")
    (folder / "script.sql").write_text(script)
    done = subprocess.run(
        [sys.executable, ROOT / "tools/run_pgspot.py", folder / "script.sql"],
        text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 1  # whatever is expected of the real script is not met by this one
    return done.stdout


def test_a_faulty_function_is_found_behind_standard_bodies(tmp_path: Path) -> None:
    """Given the whole script, pgspot ends at the first such body, silently."""
    said = lint(SAFE + BOUND + ATOMIC + DEFINER, tmp_path)
    assert "app.f: PS003: SECURITY DEFINER function without explicit search_path" in said
    assert "PS016" not in said


def test_standard_bodies_are_read_with_the_search_path_of_the_script(tmp_path: Path) -> None:
    """They are resolved while it runs: without a pinned path an overload could slip in."""
    said = lint("CREATE SCHEMA app;\n" + BOUND + ATOMIC, tmp_path)
    assert "app.one: PS016: Unqualified function call: abs" in said
    assert "app.two: PS016: Unqualified function call: abs" in said


def test_what_pgspot_cannot_read_is_said(tmp_path: Path) -> None:
    """A function whose body does not parse is no clean function."""
    broken = "CREATE FUNCTION app.g() RETURNS int LANGUAGE plpgsql AS 'BEGIN SELEC 1; END';\n"
    assert "app.g: syntax error" in lint(SAFE + broken, tmp_path)


def test_an_expectation_that_nothing_meets_is_said(tmp_path: Path) -> None:
    """The list of what is expected stays as short as it can be."""
    assert "memwarden.setup: expected by run_pgspot.py, and not found" in lint(SAFE, tmp_path)


def test_the_extension_script_is_clean() -> None:
    """The script that this checkout builds, and the storage that setup() makes.

    Proves: Z1 (no function of the install can be shadowed)
    """
    pytest.importorskip("pgspot")
    control = (ROOT / "memwarden.control").read_text()
    version = re.search(r"^default_version = '(.*)'$", control, flags=re.M)
    assert version is not None
    done = subprocess.run(
        [sys.executable, ROOT / "tools/run_pgspot.py", ROOT / f"build/memwarden--{version[1]}.sql"],
        text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout == ""
    assert done.returncode == 0
