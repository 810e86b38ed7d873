"""The page on security judges every function by which who administers might decide alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import World

PAGE = Path(__file__).parents[2] / "docs" / "secure.md"
HEADING = "## Who administers does not decide alone"
ROLES = ["memwarden_reviewer", "memwarden_curator", "memwarden_admin"]


def judged() -> list[str]:
    """Return the functions that the table names, in its first column."""
    section = PAGE.read_text().split(HEADING, 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert all(len(row.split(" | ")) == 3 for row in rows)
    return [name for row in rows for name in re.findall(r"`(\w+)\(\)`", row.split(" | ")[0])]


def test_the_table_names_what_those_who_administer_may_execute(world: World) -> None:
    """Every function and procedure that may change something, once; none that they may not call.

    Proves: H6 (every way is considered)
    """
    named = judged()
    assert sorted(set(named)) == sorted(named)
    callable_by_them = world.rows(
        "SELECT DISTINCT p.proname FROM pg_proc AS p, unnest(%s::text[]) AS r (role)"
        " WHERE p.pronamespace = 'memwarden'::regnamespace AND p.provolatile = 'v'"
        "   AND has_function_privilege(r.role, p.oid, 'EXECUTE')",
        ROLES,
    )
    assert sorted(named) == sorted(row["proname"] for row in callable_by_them)
