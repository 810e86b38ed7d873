"""The extension script is made from the tree alone: the same tree, the same bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from server_checkout import REPOSITORY, SOURCES, WorkingCopy

LOGIC = [p for p in sorted((REPOSITORY / "sql").rglob("*.sql")) if p.name.count(".") == 1]
STORAGE = [p for p in sorted((REPOSITORY / "sql").rglob("*.sql")) if p.name.count(".") == 2]


def version() -> str:
    """The version in the control file."""
    found = re.search(r"default_version = '(.+)'", (REPOSITORY / "memwarden.control").read_text())
    assert found
    return found[1]


def build(checkout: Path, out: Path, *options: str, **environment: str) -> str:
    """Build a checkout's scripts, return the install script's text."""
    subprocess.run(
        [sys.executable, checkout / "tools/build.py", "--out", out, *options],
        env=os.environ | environment,
        cwd=environment.get("PWD", "/"),
        umask=int(environment.get("UMASK", "022"), 8),
        check=True,
    )
    (script,) = [p for p in out.glob("memwarden--*.sql") if p.name.count("--") == 1]
    return script.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The install script of this tree."""
    return build(REPOSITORY, tmp_path_factory.mktemp("build"))


@pytest.mark.parametrize(
    "environment",
    [
        {"PWD": str(REPOSITORY / "sql")},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"UMASK": "077", "PYTHONHASHSEED": "7", "TZ": "Pacific/Apia"},
    ],
    ids=["folder", "locale", "umask"],
)
def test_the_same_tree_gives_the_same_bytes(
    script: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Whatever folder, locale, time zone or umask it is built in."""
    assert build(REPOSITORY, tmp_path, **environment) == script
    (built,) = tmp_path.iterdir()
    assert built.stat().st_mode & 0o777 == 0o644


def test_the_same_tree_in_another_place_gives_the_same_bytes(script: str, tmp_path: Path) -> None:
    """No path of the machine, and nothing that lies about in the tree, gets into the script."""
    copy = WorkingCopy(tmp_path / "a copy")
    (copy.directory / "plpython/memwarden_core/__pycache__").mkdir()
    (copy.directory / "plpython/memwarden_core/__pycache__/text.cpython-311.pyc").touch()
    assert build(copy.directory, tmp_path / "out") == script


@pytest.mark.parametrize("path", LOGIC, ids=lambda path: path.name)
def test_every_file_of_functions_is_in_the_script_once(script: str, path: Path) -> None:
    """With its name above it."""
    name = f"-- {path.relative_to(REPOSITORY)}\n"
    assert script.count(name) == 1
    first_line = path.read_text().split("\n", 1)[0]
    assert script.split(name)[1].startswith(first_line)


@pytest.mark.parametrize("path", STORAGE, ids=lambda path: path.name)
def test_every_file_of_storage_is_in_the_script_once(script: str, path: Path) -> None:
    """Word for word, as a text that setup() runs."""
    assert script.count(f", '{path.relative_to(REPOSITORY)}', $memwarden_part$") == 1
    assert script.count(f"$memwarden_part${path.read_text()}$memwarden_part$") == 1


def test_the_functions_come_in_the_order_of_their_names(script: str) -> None:
    """Folder by folder, file by file, privileges last."""
    names = re.findall(r"^-- (sql/\S+\.sql)$", script, re.MULTILINE)
    assert names == sorted(names)
    assert names[-1].startswith("sql/8_operations/90_privileges/")
    assert "@python_" not in script
    assert "@storage_" not in script


def test_the_version_is_stated_once() -> None:
    """In the control file; everything else reads it there."""
    stated = re.compile(rf"""(['"]|--){re.escape(version())}(['"]|\.sql)""")
    places = [*SOURCES, "bench", "python_client", "Dockerfile", "compose.yaml", "pyproject.toml"]
    listed = [REPOSITORY / place for place in places]
    files = {p for place in listed for p in (place.rglob("*") if place.is_dir() else [place])}
    texts = [
        p for p in files if p.suffix != ".pyc" and p.is_file() and stated.search(p.read_text())
    ]
    assert texts == [REPOSITORY / "memwarden.control"]


def test_an_unchanged_script_keeps_its_time(tmp_path: Path) -> None:
    """So that nothing is installed anew that has not changed."""
    build(REPOSITORY, tmp_path)
    (built,) = tmp_path.iterdir()
    os.utime(built, (1, 1))
    build(REPOSITORY, tmp_path)
    assert built.stat().st_mtime == 1


def test_migrations_say_where_an_update_starts(tmp_path: Path) -> None:
    """A file of drops for a pair of versions makes the update script; --from asks for another."""
    copy = WorkingCopy(tmp_path / "copy")
    drops = f"migrations/0.0.1--{version()}.drops.sql"
    (copy.directory / drops).write_text("DROP FUNCTION memwarden.gone();\n")
    built = tmp_path / "out"
    script = build(copy.directory, built, "--from", "0.0.2")
    names = {f"memwarden--{pair}{version()}.sql" for pair in ("", "0.0.1--", "0.0.2--")}
    assert {path.name for path in built.iterdir()} == names
    guard, update = (built / f"memwarden--0.0.1--{version()}.sql").read_text().split("\n", 1)
    assert guard.startswith("\\echo ")
    assert guard.endswith("\\quit")
    assert update == "DROP FUNCTION memwarden.gone();\n" + script.split("\n", 1)[1]


def test_migrations_are_numbered_without_a_gap(tmp_path: Path) -> None:
    """A number that is missing or twice would leave some storage behind for ever."""
    copy = WorkingCopy(tmp_path / "copy")
    (copy.directory / "migrations/0009_too_far.sql").write_text("SELECT 1;\n")
    with pytest.raises(subprocess.CalledProcessError):
        build(copy.directory, tmp_path / "out")
