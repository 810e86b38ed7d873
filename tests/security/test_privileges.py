"""Who may do what is written down in privileges.txt, and nobody may do anything else.

After a change that is meant: MEMWARDEN_WRITE_SNAPSHOTS=1 pytest tests/security/test_privileges.py,
and read the difference line by line.
"""

from __future__ import annotations

import os
from pathlib import Path

from conftest import World

SNAPSHOT = Path(__file__).with_name("privileges.txt")
ROLES = ["agent", "reviewer", "curator", "auditor", "admin", "broker", "jobs", "public"]

SCHEMAS = {"USAGE": "u", "CREATE": "c"}
FUNCTIONS = {"EXECUTE": "x"}
SEQUENCES = {"USAGE": "u", "SELECT": "r", "UPDATE": "w"}
TABLES = {
    "SELECT": "r",
    "INSERT": "a",
    "UPDATE": "w",
    "DELETE": "d",
    "TRUNCATE": "D",
    "REFERENCES": "f",
    "TRIGGER": "t",
    "MAINTAIN": "m",
}

KINDS = {
    "schema": (SCHEMAS, "SELECT n.nspname AS name, n.oid FROM pg_namespace AS n WHERE {schema}"),
    "function": (
        FUNCTIONS,
        "SELECT n.nspname || '.' || p.proname AS name, p.oid FROM pg_proc AS p"
        "  JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE {schema}",
    ),
    "table": (
        TABLES,
        "SELECT n.nspname || '.' || c.relname AS name, c.oid FROM pg_class AS c"
        "  JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition",
    ),
    "sequence": (
        SEQUENCES,
        "SELECT n.nspname || '.' || c.relname AS name, c.oid FROM pg_class AS c"
        "  JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE {schema} AND c.relkind = 'S'",
    ),
}
INTERNAL = "memwarden_internal."
OURS = "n.nspname IN ('memwarden', 'memwarden_internal', 'memwarden_data')"


def privileges(world: World) -> str:
    """One line an object, one column a role; internal functions only where a role holds one."""
    lines = [
        "# What each role may do. u USAGE, c CREATE, x EXECUTE, r SELECT, a INSERT, w UPDATE,",
        "# d DELETE, D TRUNCATE, f REFERENCES, t TRIGGER, m MAINTAIN, . nothing.",
        "# A function of memwarden_internal that is not listed is for nobody.",
        "# test_privileges.py says how this file is made.",
        " ".join([f"{'':56}", *(f"{role:>8}" for role in ROLES)]),
    ]
    for kind, (letters, query) in KINDS.items():
        lines.append(f"{kind}s")
        for row in world.rows(query.format(schema=OURS) + " ORDER BY name"):
            held = [
                "".join(
                    letter
                    for privilege, letter in letters.items()
                    if world.value(
                        f"SELECT has_{kind}_privilege(%s, %s::oid, %s)",
                        role if role == "public" else f"memwarden_{role}",
                        row["oid"],
                        privilege,
                    )
                )
                for role in ROLES
            ]
            if any(held) or not (kind == "function" and row["name"].startswith(INTERNAL)):
                columns = [f"  {row['name']:54}", *(f"{one or '.':>8}" for one in held)]
                lines.append(" ".join(columns))
    return "\n".join(lines) + "\n"


def test_privileges_are_those_written_down(world: World) -> None:
    """Schemas, functions, tables, views and sequences against every role.

    Proves: Z1
    """
    found = privileges(world)
    if "MEMWARDEN_WRITE_SNAPSHOTS" in os.environ:
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()


def test_nobody_may_pass_a_privilege_on_or_holds_one_column(world: World) -> None:
    """No grant option, no column privilege, no default privilege: the file above says it all."""
    grantable = world.rows(
        "SELECT a.* FROM (SELECT relacl AS acl, relowner AS owner FROM pg_class"
        "                  WHERE relnamespace::regnamespace::text LIKE 'memwarden%%'"
        "                 UNION ALL"
        "                 SELECT proacl, proowner FROM pg_proc"
        "                  WHERE pronamespace::regnamespace::text LIKE 'memwarden%%') AS o,"
        "       LATERAL aclexplode(o.acl) AS a"
        " WHERE a.is_grantable AND a.grantee <> o.owner"
    )
    assert grantable == []
    columns = world.rows(
        "SELECT a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid"
        " WHERE c.relnamespace::regnamespace::text LIKE 'memwarden%%' AND a.attacl IS NOT NULL"
    )
    assert columns == []
    assert world.rows("SELECT * FROM pg_default_acl") == []
