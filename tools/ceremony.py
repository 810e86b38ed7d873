"""What the build writes around a definition, so that nobody has to: path, guard, right, view."""

from __future__ import annotations

import re
from collections import Counter

PATH = "SET search_path = pg_catalog, pg_temp\n"
# They name everything with its schema: what they call and make needs the caller's settings.
WITHOUT_PATH = {"memwarden.setup", "memwarden.maintain", "memwarden_internal.try_step"}

# A function up to its body. One of SQL-standard form is resolved when it is made and needs no path;
# a procedure that commits may have none.
_HEAD = re.compile(
    r"^CREATE OR REPLACE FUNCTION (?P<name>[\w.]+)\(.*?\)\n(?:RETURNS .*?\n)?"
    r"LANGUAGE [^\n]*\n(?P<settings>(?:(?!RETURN|BEGIN ATOMIC|AS )[^\n]+\n)*)(?=AS \$)",
    re.MULTILINE | re.DOTALL,
)
_TYPE = re.compile(r"^CREATE TYPE (?P<name>[\w.]+) AS \(\n.*?^\);\n", re.MULTILINE | re.DOTALL)


def with_paths(text: str) -> str:
    """Give each function the search path that all have."""

    def pinned(found: re.Match[str]) -> str:
        if found["name"] in WITHOUT_PATH:
            return found[0]
        if "SET search_path" in found["settings"]:
            raise SystemExit(f"{found['name']}: the build writes the search path")
        start = found.start("settings") - found.start()
        return found[0][:start] + PATH + found[0][start:]

    return _HEAD.sub(pinned, text)


def with_guards(text: str) -> str:
    """Have each composite type made where it is missing: there is no CREATE OR REPLACE TYPE."""
    return _TYPE.sub(
        lambda found: (
            f"DO $type$\nBEGIN\n    IF to_regtype('{found['name']}') IS NULL THEN\n"
            + f"{found[0]}    END IF;\nEND\n$type$;\n"
        ),
        text,
    )


_LISTED = re.compile(r"^COMMENT ON VIEW memwarden\.(?P<name>\w+) IS(?P<words>.*?');\n", re.M | re.S)


def listed_views(text: str) -> dict[str, str]:
    """The views that show what their list_ function gives, and no more: a comment declares one."""
    views = {}
    for name, words in _LISTED.findall(text):
        rights = rf"^GRANT EXECUTE ON FUNCTION memwarden_internal\.list_{name}\s+(TO [^;]*);"
        if not (readers := re.search(rights, text, re.MULTILINE)):
            raise SystemExit(f"memwarden.{name}: list_{name}() says nobody who may read it")
        views[name] = (
            f"CREATE OR REPLACE VIEW memwarden.{name} WITH (security_invoker = true) AS\n"
            f"SELECT v.* FROM memwarden_internal.list_{name}() AS v;\n"
            f"COMMENT ON VIEW memwarden.{name} IS{words};\n"
            f"GRANT SELECT ON memwarden.{name} {readers[1]};\n"
        )
    return views


def with_listed(text: str) -> str:
    """Have the list_ function of each such view say whose rows it gives."""
    return _LISTED.sub(
        r"COMMENT ON FUNCTION memwarden_internal.list_\g<name> IS"
        r" 'The rows of memwarden.\g<name>.';\n",
        text,
    )


def refuse_overloads(script: str) -> None:
    """Comments and rights name a function without its arguments, so a name may be there once."""
    made = re.findall(r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) ([\w.]+)\(", script, re.MULTILINE)
    if twice := [name for name, count in Counter(made).items() if count > 1]:
        raise SystemExit(f"two functions of one name: {', '.join(twice)}")


def with_ceremony(text: str) -> str:
    """What the install script has in place of a file of sql/."""
    return with_listed(with_guards(with_paths(text)))
