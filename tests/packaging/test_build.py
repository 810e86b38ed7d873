"""The extension script is made from the tree alone: the same tree, the same bytes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from server_checkout import REPOSITORY, SOURCES, WorkingCopy

LOGIC = [p for p in sorted((REPOSITORY / "sql").rglob("*.sql")) if p.name.count(".") == 1]
TABLES = sorted((REPOSITORY / "sql").rglob("*.table.sql"))
BOUND = sorted((REPOSITORY / "sql").rglob("*.bound.sql"))


def build_tool() -> ModuleType:
    """tools/build.py, whose name another package has."""
    spec = importlib.util.spec_from_file_location("build_tool", REPOSITORY / "tools/build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    for built in tmp_path.iterdir():
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


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_file_of_tables_is_in_the_script_once(script: str, path: Path) -> None:
    """Word for word, as a text that setup() runs."""
    assert script.count(f", '{path.relative_to(REPOSITORY)}', $memwarden_part$") == 1
    assert script.count(f"$memwarden_part${path.read_text()}$memwarden_part$") == 1


@pytest.mark.parametrize("path", BOUND, ids=lambda path: path.name)
def test_every_object_that_hangs_on_a_table_is_in_the_script_once(script: str, path: Path) -> None:
    """Policies, triggers and views under their names, so that setup() makes those that differ."""
    made = re.findall(
        r"^CREATE (?:OR REPLACE )?(POLICY|TRIGGER|VIEW) (\S+)((?:.|\n)*?;)$",
        path.read_text(),
        re.MULTILINE,
    )
    for kind, name, rest in made:
        on = "" if kind == "VIEW" else re.findall(r"\sON (memwarden_data\.\w+)", rest)[0] + " "
        assert script.count(f", 'bound', '{kind.lower()} {on}{name}', $memwarden_part$") == 1


def test_a_bound_file_holds_what_setup_can_compare(tmp_path: Path) -> None:
    """A statement that makes nothing with a name is refused by the build."""
    copy = WorkingCopy(tmp_path / "copy")
    with (copy.directory / "sql/2_model/10_memory/80_model.bound.sql").open("a") as file:
        file.write("ALTER TABLE memwarden_data.item SET (fillfactor = 50);\n")
    with pytest.raises(subprocess.CalledProcessError):
        build(copy.directory, tmp_path / "out")


def test_tables_are_those_that_the_storage_version_stands_for() -> None:
    """A change of a table comes with a migration, and a release's storage never changes."""
    recorded = build_tool().recorded_keys()
    number = 1 + len(list((REPOSITORY / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql")))
    assert recorded[-1][:2] == (number, build_tool().storage_key()), (
        "the *.table.sql files are not those of the last line of migrations/storage.keys: write a"
        " migration (see migrations/README.md), then run: python3 tools/build.py --record-storage"
    )
    for number, key, release in recorded:
        if release != "unreleased":
            told = REPOSITORY / f"tests/packaging/releases/{release}.json"
            assert f"{number} {key}" == json.loads(told.read_text())["storage"], (
                f"storage {number} went out with release {release}: its line in"
                " migrations/storage.keys stays as it is, a change needs a migration"
            )


def test_a_table_of_a_release_is_not_recorded_anew(tmp_path: Path) -> None:
    """Without a migration the tool refuses; with one it writes the next line."""
    copy = WorkingCopy(tmp_path / "copy")
    keys = copy.directory / "migrations/storage.keys"
    keys.write_text(keys.read_text().replace(" unreleased\n", f" {version()}\n"))
    before = keys.read_text()
    with (copy.directory / "sql/2_model/10_memory/40_item.table.sql").open("a") as file:
        file.write("CREATE INDEX item_seen ON memwarden_data.item (updated_at);\n")
    with pytest.raises(subprocess.CalledProcessError):
        build(copy.directory, tmp_path / "out", "--record-storage")
    number = before.splitlines()[-1].split()[0]
    new = copy.directory / f"migrations/{int(number) + 1:04}_seen.sql"
    new.write_text("CREATE INDEX item_seen ON memwarden_data.item (updated_at);\n")
    build(copy.directory, tmp_path / "out", "--record-storage")
    *kept, added = keys.read_text().splitlines(keepends=True)
    assert "".join(kept) == before
    assert re.fullmatch(rf"{int(number) + 1} [0-9a-f]{{16}} unreleased\n", added)


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
    for built in tmp_path.iterdir():
        os.utime(built, (1, 1))
    build(REPOSITORY, tmp_path)
    assert {built.stat().st_mtime for built in tmp_path.iterdir()} == {1}


def test_migrations_say_where_an_update_starts(tmp_path: Path) -> None:
    """A file of drops for a pair of versions makes the update script; --from asks for another."""
    copy = WorkingCopy(tmp_path / "copy")
    drops = f"migrations/0.0.1--{version()}.drops.sql"
    (copy.directory / drops).write_text("DROP FUNCTION memwarden.gone();\n")
    built = tmp_path / "out"
    script = build(copy.directory, built, "--from", "0.0.2")
    names = {f"memwarden--{pair}{version()}.sql" for pair in ("", "0.0.1--", "0.0.2--")}
    shipped = {
        f"memwarden--{path.name.removesuffix('.drops.sql')}.sql"
        for path in (REPOSITORY / "migrations").glob(f"*--{version()}.drops.sql")
    }
    assert {path.name for path in built.iterdir()} == names | shipped
    guard, update = (built / f"memwarden--0.0.1--{version()}.sql").read_text().split("\n", 1)
    assert guard.startswith("\\echo ")
    assert guard.endswith("\\quit")
    assert update == "DROP FUNCTION memwarden.gone();\n" + script.split("\n", 1)[1]


def test_migrations_are_numbered_without_a_gap(tmp_path: Path) -> None:
    """A number that is missing or twice would leave some storage behind for ever."""
    copy = WorkingCopy(tmp_path / "copy")
    (copy.directory / "migrations/0999_too_far.sql").write_text("SELECT 1;\n")
    with pytest.raises(subprocess.CalledProcessError):
        build(copy.directory, tmp_path / "out")
