"""Generated pages are what the catalog and the tests say today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[2]


def run_tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tool of the project with this Python."""
    return subprocess.run(
        [sys.executable, ROOT / "tools" / name, *arguments], text=True, stdout=subprocess.PIPE
    )


def test_the_reference_is_what_the_catalog_says(world: World) -> None:
    """After a change of a signature, a comment or a grant: tools/reference.py --dsn ..."""
    world.ship_layers()
    done = run_tool("reference.py", "--check", "--dsn", world.dsn)
    assert done.returncode == 0, done.stdout


def test_a_stale_reference_is_noticed(world: World) -> None:
    """A comment that changes in the catalog, and on the page not."""
    world.admin.execute("COMMENT ON FUNCTION memwarden.get(uuid) IS 'Something else.'")
    done = run_tool("reference.py", "--check", "--dsn", world.dsn)
    assert done.returncode == 1
    assert "+Something else." in done.stdout


def test_every_public_function_is_listed_in_the_database(world: World) -> None:
    """memwarden.functions: area, main caller, and one line that is one sentence."""
    found = world.rows("SELECT name, area, audience, summary FROM memwarden.functions")
    named = world.rows(
        "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'memwarden'::regnamespace"
    )
    assert {row["name"] for row in found} == {row["name"] for row in named}
    assert len(found) == len(named)
    assert [row["name"] for row in found if not row["summary"].endswith(".")] == []


def test_every_public_object_is_described(world: World) -> None:
    """Functions, procedures, views and tables have comments, so that no section is empty."""
    found = world.rows(
        "SELECT p.oid::regprocedure::text AS name FROM pg_proc AS p"
        " WHERE p.pronamespace = 'memwarden'::regnamespace"
        "   AND obj_description(p.oid, 'pg_proc') IS NULL"
        " UNION ALL SELECT c.oid::regclass::text FROM pg_class AS c"
        " WHERE c.relnamespace IN ('memwarden'::regnamespace, 'memwarden_data'::regnamespace)"
        "   AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition"
        "   AND obj_description(c.oid, 'pg_class') IS NULL"
    )
    assert [row["name"] for row in found] == []


def test_the_requirements_page_is_what_the_tests_say() -> None:
    """After a change of a docstring's `Proves`: tools/requirements_page.py."""
    done = run_tool("requirements_page.py", "--check")
    assert done.returncode == 0, done.stdout


def test_the_roles_of_the_reference_are_those_of_the_server(world: World) -> None:
    """A role that may use the API has a line of its own."""
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    roles = world.rows(
        sql.SQL("SELECT rolname FROM pg_roles WHERE has_schema_privilege(oid, {}, 'USAGE')")
        .format(sql.Literal("memwarden"))
        .as_string()
        + " AND rolname ~ '^memwarden_' AND NOT rolsuper AND NOT rolcanlogin"
    )
    assert roles
    for role in roles:
        assert f"- **{role['rolname']}**" in page
