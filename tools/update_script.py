"""Find what an update has to drop: released functions, types and views that are otherwise today."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROUTINE = re.compile(
    r"^CREATE OR REPLACE (FUNCTION|PROCEDURE) ([\w.]+)\((.*?)\)\n(?:RETURNS (.*?)\n)?LANGUAGE",
    re.MULTILINE | re.DOTALL,
)
TYPE = re.compile(r"CREATE TYPE (memwarden_internal\.\w+) AS (.*?)\n *\);", re.DOTALL)
VIEW = re.compile(r"CREATE OR REPLACE VIEW (memwarden\w*\.\w+)\s")


class Routine(NamedTuple):
    """What CREATE OR REPLACE cannot change, and how many arguments may be left out."""

    kind: str
    arguments: tuple[str, ...]
    result: str
    optional: int


def parts(text: str) -> Iterator[str]:
    """What commas separate, outside parentheses and literals; spaces made one."""
    found, depth, quoted = "", 0, False
    for letter in f"{text},":
        quoted ^= letter == "'"
        depth += (letter in "([") - (letter in ")]") if not quoted else 0
        if letter == "," and not depth and not quoted:
            if found.strip():
                yield " ".join(found.split())
            found = ""
        else:
            found += letter


def routines(script: str) -> dict[str, Routine]:
    """The routines that a script makes, each by its name and the types of its arguments."""
    made = {}
    for kind, name, text, result in ROUTINE.findall(script):
        arguments = [re.split(r" (?:DEFAULT|=) ", part, maxsplit=1) for part in parts(text)]
        declared = tuple(argument[0] for argument in arguments)
        taken = [re.sub(r"^(?:INOUT|VARIADIC) ", "", a) for a in declared if a[:4] != "OUT "]
        types = ", ".join(argument.split(" ", 1)[1] for argument in taken)
        optional = sum(len(argument) > 1 for argument in arguments)
        made[f"{name}({types})"] = Routine(kind, declared, " ".join(result.split()), optional)
    return made


def types(script: str) -> dict[str, list[str]]:
    """The composite types that a script makes, each with its attributes."""
    return {name: list(parts(text.lstrip("( \n"))) for name, text in TYPE.findall(script)}


def quoted_list(names: list[str]) -> str:
    """The names as literals of SQL, one a line."""
    return ",".join(f"\n        '{name}'" for name in names)


def beginning(released: str, script: str, template: str) -> str:
    """The first part of the script that leads from a released script to this one."""
    now = routines(script)
    gone = [
        name
        for name, old in routines(released).items()
        if name not in now
        or old._replace(optional=0) != now[name]._replace(optional=0)
        or old.optional > now[name].optional
    ]
    known = types(script)
    other, added = [], ""
    for name, attributes in types(released).items():
        if (new := known.get(name, []))[: len(attributes)] != attributes:
            other.append(name)
        elif more := new[len(attributes) :]:
            changes = ", ".join(f"ADD ATTRIBUTE {attribute}" for attribute in more)
            added += f"ALTER TYPE {name} {changes};\n"
    # Of a released script also the views that its setup() made.
    views = sorted(set(VIEW.findall(released)) - set(VIEW.findall(script)))
    names_now = sorted(name.partition("(")[0] for name in now)
    lists = {"functions": gone, "types": other, "views": views, "names": names_now}
    for place, names in lists.items():
        template = template.replace(f"@{place}@", quoted_list(names))
    return template + added


def released_script(path: Path) -> str:
    """The install script of a release, as it was kept."""
    return lzma.decompress(path.read_bytes()).decode()
