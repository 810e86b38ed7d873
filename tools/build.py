#!/usr/bin/env python3
"""Build the extension: sql/, plpython/ and migrations/ become one install script.

Deterministic: the same tree gives the same bytes. Order comes from the names of folders and files.

    *.sql        logic: functions, in the extension
    *.table.sql  storage: run once by setup()
    *.bound.sql  what hangs on tables (policies, triggers, views): setup() makes what differs

Beside it an update script from each release whose install script migrations/released/ keeps.

With --record-storage, first write the key of the tables as they are into migrations/storage.keys.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from pathlib import Path

from ceremony import listed_views, refuse_overloads, with_ceremony
from update_script import beginning, released_script

ROOT = Path(__file__).resolve().parent.parent


def read(path: Path) -> str:
    """The file's text, whatever the locale."""
    return path.read_text(encoding="utf-8")


def write(path: Path, text: str) -> None:
    """Put the file there, whole or not at all; one that holds the text already keeps its time."""
    content = text.encode()
    if path.exists() and path.read_bytes() == content:
        return
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_bytes(content)
    new.chmod(0o644)
    new.replace(path)


def version(control: Path) -> str:
    """The extension's version, kept in the control file alone."""
    found = re.search(r"^default_version = '([^']+)'$", read(control), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{control}: no default_version")
    return found[1]


def quoted(text: str, tag: str) -> str:
    """The text as a dollar-quoted literal."""
    if f"${tag}$" in text:
        raise SystemExit(f"${tag}$ occurs in an embedded file")
    return f"${tag}${text}${tag}$"


def python_sources() -> tuple[str, str]:
    """The embedded package as a literal of JSON, and a key that changes with it."""
    package = ROOT / "plpython/memwarden_core"
    files = {p.relative_to(package).with_suffix("").as_posix(): p for p in package.rglob("*.py")}
    sources = {name: read(files[name]) for name in sorted(files)}
    literal = quoted(json.dumps(sources, indent=1), "memwarden_modules")
    return literal, hashlib.sha256(literal.encode()).hexdigest()[:12]


def migrations() -> list[Path]:
    """The changes of the storage after its first version, in order."""
    found = sorted((ROOT / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql"))
    numbers = [int(path.name[:4]) for path in found]
    if numbers != list(range(2, 2 + len(numbers))):
        raise SystemExit("migrations/ must be numbered from 0002 without a gap")
    return found


def table_files() -> list[Path]:
    """The files that make the tables, in order."""
    return sorted((ROOT / "sql").rglob("*.table.sql"))


def storage_key() -> str:
    """A hash of everything that makes the tables; comments in the files and spaces do not count."""
    texts = (" ".join(re.sub(r"--[^\n]*", "", read(path)).split()) for path in table_files())
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def recorded_keys() -> list[tuple[int, str, str]]:
    """Storage version, its key and the release that brought it, from migrations/storage.keys."""
    lines = read(ROOT / "migrations/storage.keys").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [(int(number), key, release) for number, key, release in rows]


def record_storage() -> None:
    """Put the present version and key in the place of those that no release has brought yet."""
    path = ROOT / "migrations/storage.keys"
    remarks = [line for line in read(path).splitlines() if line.startswith("#")]
    rows = [row for row in recorded_keys() if row[2] != "unreleased"]
    now = (1 + len(migrations()), storage_key())
    if now[0] > rows[-1][0]:
        rows.append((*now, "unreleased"))
    elif now != rows[-1][:2]:
        raise SystemExit(
            f"storage {now[0]} went out with release {rows[-1][2]}: a change of a *.table.sql file"
            " needs a migration, see migrations/README.md"
        )
    lines = [*remarks, *(f"{number} {key} {release}" for number, key, release in rows)]
    write(path, "\n".join(lines) + "\n")


# What one statement of a *.bound.sql file makes: the kind, and the pattern of its first words.
BOUND = {
    "policy": r"CREATE POLICY (?P<name>\w+) ON (?P<relation>[\w.]+)\s",
    "trigger": r"CREATE OR REPLACE TRIGGER (?P<name>\w+)\s.*?\sON (?P<relation>[\w.]+)\s",
    "view": r"CREATE OR REPLACE VIEW (?P<relation>[\w.]+)\s",
    "comment": r"COMMENT ON VIEW (?P<relation>[\w.]+)\s",
    "rights": r"(?P<grant>GRANT SELECT ON) (?P<relations>[\w., \n]+?)(?P<to>\sTO .*)",
    "call": r"SELECT (?P<relation>memwarden_internal\.\w+)\(",
}


def statements(text: str) -> list[str]:
    """The statements of a *.bound.sql file, without comments; each ends a line with its `;`."""
    bare = re.sub(r"^ *--[^\n]*\n", "", text, flags=re.MULTILINE)
    return [part.strip() for part in re.split(r";[ ]*(?:\n|$)", bare) if part.strip()]


def kind_of(statement: str) -> tuple[str, dict[str, str | None]]:
    """What a statement of a *.bound.sql file makes, and the names in it."""
    for kind, pattern in BOUND.items():
        if found := re.match(pattern, statement, re.DOTALL):
            return kind, found.groupdict()
    raise SystemExit(f"not for a *.bound.sql file, see CONTRIBUTING.md: {statement}")


def bound_parts() -> dict[str, str]:
    """What each object that hangs on a table is made by: `kind relation name` to its statements."""
    parts: dict[str, str] = {}
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        bound = path.name.endswith(".bound.sql")
        listed = "" if path.name.count(".") > 1 else "".join(listed_views(read(path)).values())
        for statement in statements(read(path) if bound else listed):
            kind, named = kind_of(statement)
            if kind == "rights":
                for relation in re.split(r",\s*", (named["relations"] or "").strip()):
                    text = f"{named['grant']} {relation}{named['to']};\n"
                    name = f"rights {relation}"
                    parts[name] = parts.get(name, "") + text
            elif kind == "comment":
                parts[f"view {named['relation']}"] += f"{statement};\n"
            else:
                name = " ".join(filter(None, [kind, named["relation"], named.get("name")]))
                if name in parts:
                    raise SystemExit(f"{path}: {name} is made twice")
                parts[name] = f"{statement};\n"
    return parts


def storage_parts() -> str:
    """What makes the storage, as SQL rows."""
    rows = [
        (i, "table", str(path.relative_to(ROOT)), read(path))
        for i, path in enumerate(table_files(), start=1)
    ]
    rows += [
        (i, "bound", name, text) for i, (name, text) in enumerate(bound_parts().items(), start=1)
    ]
    rows += [
        (i, "migration", str(path.relative_to(ROOT)), read(path))
        for i, path in enumerate(migrations(), start=2)
    ]
    return ",\n".join(
        f"({ordinal}, '{phase}', '{name}', {quoted(text, 'memwarden_part')})"
        for ordinal, phase, name, text in rows
    )


def storage_keys() -> str:
    """The versions of the storage that setup() can start from, and this one, for a CASE in SQL."""
    released = [
        (number, key) for number, key, release in recorded_keys() if release != "unreleased"
    ]
    known = dict(released) | {1 + len(migrations()): storage_key()}
    return "\n".join(f"    WHEN {number} THEN '{number} {key}'" for number, key in known.items())


def function_areas(files: list[Path]) -> str:
    """The public functions as SQL rows, each with the wing of sql/ that defines it."""
    defined = re.compile(r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) memwarden\.(\w+)", re.M)
    areas = {
        name: path.relative_to(ROOT / "sql").parts[0].split("_", 1)[1]
        for path in files
        for name in defined.findall(read(path))
    }
    return ",\n".join(f"    ('{name}', '{area}')" for name, area in sorted(areas.items()))


def logic() -> str:
    """Every function of the extension, in the order of folders and files."""
    literal, key = python_sources()
    files = [p for p in sorted((ROOT / "sql").rglob("*.sql")) if p.name.count(".") == 1]
    script = "".join(f"-- {p.relative_to(ROOT)}\n{with_ceremony(read(p))}\n" for p in files)
    refuse_overloads(script)
    # The sources hold no placeholder of their own, so the order of replacement does not matter.
    return (
        script.replace("@python_sources@", literal)
        .replace("@python_hash@", key)
        .replace("@storage_version@", str(1 + len(migrations())))
        .replace("@storage_keys@", storage_keys())
        .replace("@storage_parts@", storage_parts())
        .replace("@function_areas@", function_areas(files))
    )


def released_scripts() -> dict[str, Path]:
    """The install script of each earlier version, by version."""
    found = sorted((ROOT / "migrations/released").glob("memwarden--*.sql.xz"))
    return {path.name.removeprefix("memwarden--").removesuffix(".sql.xz"): path for path in found}


def update(released: Path, script: str) -> str:
    """The script that leads from a released one to this one."""
    begins = read(ROOT / "sql/0_foundation/00_search_path.sql")
    begins += with_ceremony(read(ROOT / "sql/0_foundation/82_await_setup.sql"))
    template = read(ROOT / "migrations/update_begins.sql")
    begins += beginning(released_script(released), script, template)
    return begins + script + read(ROOT / "migrations/update_ends.sql")


def guard(command: str) -> str:
    """A line that PostgreSQL skips, and that stops psql from running the script by itself."""
    return f'\\echo Use "{command}" to load this file. \\quit\n'


def main() -> None:
    """Write the install script and the update scripts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    parser.add_argument("--version", default=version(ROOT / "memwarden.control"))
    parser.add_argument("--record-storage", action="store_true")
    arguments = parser.parse_args()
    target: str = arguments.version
    if arguments.record_storage:
        record_storage()

    script = logic()
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(arguments.out / f"memwarden--{target}.sql", guard("CREATE EXTENSION memwarden") + script)
    for source, released in released_scripts().items():
        write(
            arguments.out / f"memwarden--{source}--{target}.sql",
            guard(f"ALTER EXTENSION memwarden UPDATE TO '{target}'") + update(released, script),
        )


if __name__ == "__main__":
    main()
