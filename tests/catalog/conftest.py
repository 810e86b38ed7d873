"""What an installation put into the catalog."""

from __future__ import annotations

import re

import pytest
from psycopg.rows import DictRow

from conftest import World

FUNCTIONS = """
SELECT p.oid, n.nspname AS schema, p.proname AS name,
       n.nspname || '.' || p.proname AS qualified,
       l.lanname AS language, p.provolatile AS volatility, p.proparallel AS parallel,
       p.prosecdef AS definer, pg_get_userbyid(p.proowner) AS owner, p.proconfig AS settings,
       p.prosqlbody IS NOT NULL AS bound, p.prokind AS kind, p.prosrc AS body,
       p.prorettype = 'trigger'::regtype AS is_trigger, p.pronargs AS arguments,
       coalesce(p.proargnames, '{}') AS names, p.proacl AS acl,
       obj_description(p.oid, 'pg_proc') AS comment
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
  JOIN pg_language AS l ON l.oid = p.prolang
 WHERE n.nspname IN ('memwarden', 'memwarden_internal')
 ORDER BY qualified
"""


@pytest.fixture
def functions(world: World) -> list[DictRow]:
    """Every function of the two schemas; `text` has no comments, `code` no literals either."""
    rows = world.rows(FUNCTIONS)
    for row in rows:
        row["text"] = re.sub(r"(\$\w*\$).*?\1|--.*?$", "", row["body"], flags=re.S | re.M)
        row["code"] = re.sub(r"'[^']*'", "''", row["text"])
    return rows
