#!/usr/bin/env python3
"""Build the extension: sql/, plpython/ and migrations/ become one install script.

Deterministic: the same tree gives the same bytes. Order comes from the names of folders and files.

    *.sql        logic: functions, in the extension
    *.table.sql  storage: run once by setup()
    *.bound.sql  what hangs on tables (policies, triggers, views): run by every setup()

Beside it an update script from each earlier version that migrations/ knows a way from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from pathlib import Path

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


def storage_parts() -> tuple[str, int]:
    """Storage files and migrations as SQL rows, and the storage version they lead to."""
    migrations = sorted((ROOT / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql"))
    numbers = [int(path.name[:4]) for path in migrations]
    if numbers != list(range(2, 2 + len(numbers))):
        raise SystemExit("migrations/ must be numbered from 0002 without a gap")
    rows = []
    for phase in ("table", "bound"):
        files = sorted((ROOT / "sql").rglob(f"*.{phase}.sql"))
        rows += [(i, phase, path) for i, path in enumerate(files, start=1)]
    rows += [(number, "migration", path) for number, path in zip(numbers, migrations, strict=True)]
    literals = [
        f"({ordinal}, '{phase}', '{path.relative_to(ROOT)}', "
        f"{quoted(read(path), 'memwarden_part')})"
        for ordinal, phase, path in rows
    ]
    return ",\n".join(literals), 1 + len(migrations)


def function_areas(files: list[Path]) -> str:
    """The public functions as SQL rows, each with the wing of sql/ that defines it."""
    defined = re.compile(
        r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) memwarden\.(\w+)", re.MULTILINE
    )
    areas = {
        name: path.relative_to(ROOT / "sql").parts[0].split("_", 1)[1]
        for path in files
        for name in defined.findall(read(path))
    }
    return ",\n".join(f"    ('{name}', '{area}')" for name, area in sorted(areas.items()))


def logic(literal: str, key: str, parts: str, storage_version: int) -> str:
    """Every function of the extension, in the order of folders and files."""
    files = [p for p in sorted((ROOT / "sql").rglob("*.sql")) if p.name.count(".") == 1]
    script = "".join(f"-- {p.relative_to(ROOT)}\n{read(p)}\n" for p in files)
    # The sources hold no placeholder of their own, so the order of replacement does not matter.
    return (
        script.replace("@python_sources@", literal)
        .replace("@python_hash@", key)
        .replace("@storage_version@", str(storage_version))
        .replace("@storage_parts@", parts)
        .replace("@function_areas@", function_areas(files))
    )


def update_sources(target: str) -> list[str]:
    """The earlier versions that migrations/ knows a way from."""
    suffix = f"--{target}.drops.sql"
    return [p.name.removesuffix(suffix) for p in sorted((ROOT / "migrations").glob(f"*{suffix}"))]


def guard(command: str) -> str:
    """A line that PostgreSQL skips, and that stops psql from running the script by itself."""
    return f'\\echo Use "{command}" to load this file. \\quit\n'


def main() -> None:
    """Write the install script and the update scripts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    parser.add_argument("--version", default=version(ROOT / "memwarden.control"))
    parser.add_argument("--from", dest="sources", action="append", help="an update from there too")
    arguments = parser.parse_args()
    target: str = arguments.version

    script = logic(*python_sources(), *storage_parts())
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(arguments.out / f"memwarden--{target}.sql", guard("CREATE EXTENSION memwarden") + script)
    for source in sorted({*update_sources(target), *(arguments.sources or [])}):
        drops = ROOT / f"migrations/{source}--{target}.drops.sql"
        write(
            arguments.out / f"memwarden--{source}--{target}.sql",
            guard(f"ALTER EXTENSION memwarden UPDATE TO '{target}'")
            + (read(drops) if drops.exists() else "")
            + script,
        )


if __name__ == "__main__":
    main()
