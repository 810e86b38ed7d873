"""The extension script is made from the tree alone: the same tree, the same bytes."""

from __future__ import annotations

import importlib.util
import json
import lzma
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
    # It finds its own modules there.
    sys.path.insert(0, str(REPOSITORY / "tools"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
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
    # There is no CREATE OR REPLACE TYPE: the build asks first.
    guard = r"(DO \$type\$\nBEGIN\n    IF to_regtype\('[\w.]+'\) IS NULL THEN\n)?"
    assert re.match(guard + re.escape(first_line), script.split(name)[1])


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
        p
        for p in files
        if p.suffix not in {".pyc", ".xz"} and p.is_file() and stated.search(p.read_text())
    ]
    assert texts == [REPOSITORY / "memwarden.control"]


def test_an_unchanged_script_keeps_its_time(tmp_path: Path) -> None:
    """So that nothing is installed anew that has not changed."""
    build(REPOSITORY, tmp_path)
    for built in tmp_path.iterdir():
        os.utime(built, (1, 1))
    build(REPOSITORY, tmp_path)
    assert {built.stat().st_mtime for built in tmp_path.iterdir()} == {1}


def test_a_kept_script_says_where_an_update_starts(tmp_path: Path) -> None:
    """The update script is the install script between two parts of its own."""
    copy = WorkingCopy(tmp_path / "copy")
    kept = copy.directory / "migrations/released"
    (kept / "memwarden--0.0.1.sql.xz").write_bytes(lzma.compress(EARLIER.encode()))
    built = tmp_path / "out"
    script = build(copy.directory, built)
    starts = ["", *(path.name[11:-7] + "--" for path in kept.glob("*.xz"))]
    names = {f"memwarden--{start}{version()}.sql" for start in starts}
    assert {path.name for path in built.iterdir()} == names
    guard, update = (built / f"memwarden--0.0.1--{version()}.sql").read_text().split("\n", 1)
    assert guard.startswith("\\echo ")
    assert guard.endswith("\\quit")
    begins, ends = update.split(script.split("\n", 1)[1])
    assert "'memwarden_internal.gone(integer)'" in begins
    assert ends.startswith("-- The last part")


EARLIER = """\
CREATE TYPE memwarden_internal.longer AS (
    one  integer
);
CREATE TYPE memwarden_internal.other AS (
    one  integer,
    two  text
);
CREATE OR REPLACE VIEW memwarden.shown AS SELECT 1;
CREATE OR REPLACE FUNCTION memwarden_internal.gone(p_n integer DEFAULT 1)
RETURNS void
LANGUAGE sql AS '';
CREATE OR REPLACE FUNCTION memwarden.same(
    "text" text, VARIADIC names text[] DEFAULT '{a,b}', OUT n integer)
LANGUAGE sql AS '';
CREATE OR REPLACE PROCEDURE memwarden.work()
LANGUAGE sql AS '';
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ("memwarden_internal.gone(p_n integer", "memwarden_internal.gone(p_m integer", ["gone"]),
        ("gone(p_n integer DEFAULT 1)", "gone(p_n bigint DEFAULT 1)", ["gone"]),
        ("DEFAULT 1", "DEFAULT 2", []),
        ("p_n integer DEFAULT 1", "p_n integer", ["gone"]),
        ("RETURNS void", "RETURNS  integer", ["gone"]),
        ("RETURNS void", "RETURNS  void", []),
        ("OUT n integer", "OUT n integer, OUT m integer", ["same"]),
        ("'{a,b}', OUT", "'{a,b,c}',  OUT", []),
        ("PROCEDURE", "FUNCTION", ["work"]),
        ("VIEW memwarden.shown", "VIEW memwarden.seen", ["shown"]),
        ("    one  integer\n", "    one  integer,\n    two text\n", ["+longer"]),
        ("    one  integer\n", "    one  bigint\n", ["longer"]),
        ("    one  integer,\n    two  text", "    one  integer", ["other"]),
        ("    one  integer,\n    two", "    three text,\n    one  integer,\n    two", ["other"]),
    ],
)
def test_an_update_drops_what_cannot_be_replaced(old: str, new: str, found: list[str]) -> None:
    """Names, types and results count; a default may change or come, and a type may grow."""
    begins = build_tool().beginning(EARLIER, EARLIER.replace(old, new), "@functions@@types@@views@")
    names = re.findall(r"'memwarden\w*\.(\w+)", begins)
    names += [f"+{name}" for name in re.findall(r"ALTER TYPE \w+\.(\w+) ADD", begins)]
    assert names == found


def test_migrations_are_numbered_without_a_gap(tmp_path: Path) -> None:
    """A number that is missing or twice would leave some storage behind for ever."""
    copy = WorkingCopy(tmp_path / "copy")
    (copy.directory / "migrations/0999_too_far.sql").write_text("SELECT 1;\n")
    with pytest.raises(subprocess.CalledProcessError):
        build(copy.directory, tmp_path / "out")
