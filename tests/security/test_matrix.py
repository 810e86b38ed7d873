"""Every role really calls every public function and selects from every table and view.

privileges.txt says what the catalog grants; matrix.txt is what came of trying, as a login that has
the role. After a change that is meant, read the difference line by line:
MEMWARDEN_WRITE_SNAPSHOTS=1 pytest tests/security/test_matrix.py.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import join
from conftest import World

from .test_escalation import a_call

SNAPSHOT = Path(__file__).with_name("matrix.txt")
ROLES = ["agent", "reviewer", "curator", "auditor", "admin", "broker", "jobs", "none"]

FUNCTIONS = """
SELECT n.nspname || '.' || p.proname AS name, p.prokind AS kind,
       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t) AS types
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname IN ('memwarden', 'memwarden_internal') AND p.prokind IN ('f', 'p')
   AND p.prorettype <> 'trigger'::regtype
 ORDER BY 1
"""
RELATIONS = """
SELECT n.nspname || '.' || c.relname AS name, c.relispartition AS is_partition
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('memwarden', 'memwarden_internal', 'memwarden_data')
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 ORDER BY 1
"""
# The server's own words; memwarden's refusals say that something is not permitted, once one is in.
DENIED = re.compile("permission denied for (function|procedure|schema|table|view) ")


def gets_in(connection: Connection[DictRow], statement: str) -> bool:
    """Whether the server lets a login do something, whatever comes of it."""
    try:
        connection.execute(statement)
        # maintain_storage(), called by itself, leaves pg_partman's.
        connection.execute("RESET search_path")
    except psycopg.errors.InsufficientPrivilege as error:
        return not DENIED.match(error.diag.message_primary or "")
    except psycopg.Error:
        pass
    return True


def logins(world: World) -> list[Connection[DictRow]]:
    """Connect as a member of each role who is bound to a principal of every right."""
    standing: dict[str, Any] = {"role": "curator", "clearance": "restricted", "descendants": True}
    bound = {role: join(world, "/org/acme", role, **standing) for role in ROLES[:6]}
    return [*bound.values(), world.connect("memwarden_jobs"), world.connect(world.role())]


def line(name: str, found: list[bool]) -> str:
    """Write one row of the matrix."""
    return " ".join([f"  {name:54}", *(f"{'x' if one else '.':>8}" for one in found)])


def matrix(world: World) -> str:
    """Try everything, write down who got in."""
    connections = logins(world)
    lines = [
        "# What came of trying it: x the role got in, . the server denied it.",
        "# A function of memwarden_internal that is not listed let nobody in.",
        "# test_matrix.py says how this file is made.",
        "".join([f"{'':56}", *(f"{role:>9}" for role in ROLES)]),
        "functions",
    ]
    for row in world.rows(FUNCTIONS):
        found = [gets_in(connection, a_call(row)) for connection in connections]
        if any(found) or row["name"].startswith("memwarden."):
            lines.append(line(row["name"], found))
    lines.append("tables and views")
    for row in world.rows(RELATIONS):
        select = f"SELECT count(*) FROM {row['name']}"
        found = [gets_in(connection, select) for connection in connections]
        if any(found) or not row["is_partition"]:
            lines.append(line(row["name"], found))
    return "\n".join(lines) + "\n"


@pytest.mark.one_version
def test_each_role_gets_in_where_it_is_written_down(world: World) -> None:
    """By real logins, every function and relation that the catalog lists.

    Proves: A1, A3, Z1
    """
    found = matrix(world)
    if "MEMWARDEN_WRITE_SNAPSHOTS" in os.environ:
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()
