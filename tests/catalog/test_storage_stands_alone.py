"""The storage needs no function of the extension to exist, and shows nothing without one."""

from __future__ import annotations

import pytest

from conftest import World
from helpers import recall, write

TABLES = (
    "SELECT c.oid, c.relname AS name, c.relispartition AS is_partition, c.relacl AS acl,"
    " c.relrowsecurity AND c.relforcerowsecurity AS secured, pg_get_userbyid(c.relowner) AS owner"
    "  FROM pg_class AS c"
    " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
)

# Objects of the storage that depend on a function or a type of the extension.
DEPENDENT = """
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS what
  FROM pg_depend AS d
  JOIN pg_depend AS e ON e.classid = d.refclassid AND e.objid = d.refobjid AND e.deptype = 'e'
  JOIN pg_extension AS x ON x.oid = e.refobjid AND x.extname = 'memwarden'
  LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
  LEFT JOIN pg_constraint AS k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
  JOIN pg_class AS c ON c.oid = coalesce(a.adrelid, k.conrelid, d.objid)
 WHERE c.relnamespace = 'memwarden_data'::regnamespace
   AND d.classid IN ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_class'::regclass)
"""

UNINDEXED_FOREIGN_KEYS = """
SELECT k.conrelid::regclass::text AS relation, k.conname
  FROM pg_constraint AS k
 WHERE k.contype = 'f' AND k.connamespace = 'memwarden_data'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_index AS i
                    WHERE i.indrelid = k.conrelid AND i.indpred IS NULL
                      AND (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)
"""

FOREIGN_TYPES = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type
  FROM pg_attribute AS a
  JOIN pg_class AS c ON c.oid = a.attrelid
  JOIN pg_type AS t ON t.oid = a.atttypid
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
   AND a.attnum > 0 AND NOT a.attisdropped
   -- A type of the storage stands as long as its tables, if it stands on built-in ones itself.
   AND t.typnamespace <> 'pg_catalog'::regnamespace
   AND NOT (t.typnamespace = 'memwarden_data'::regnamespace AND CASE t.typtype
                WHEN 'd' THEN EXISTS (
                    SELECT FROM pg_type AS b
                     WHERE b.oid = t.typbasetype AND b.typnamespace = 'pg_catalog'::regnamespace)
                WHEN 'c' THEN NOT EXISTS (
                    SELECT FROM pg_attribute AS f JOIN pg_type AS b ON b.oid = f.atttypid
                     WHERE f.attrelid = t.typrelid AND f.attnum > 0
                       AND b.typnamespace <> 'pg_catalog'::regnamespace) END)
   AND NOT EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS x ON x.oid = d.refobjid
                    WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid
                      AND d.deptype = 'e' AND x.extname = 'vector')
"""

WITHOUT_IDENTITY = """
SELECT c.relname FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
   AND c.relreplident <> 'f'
   AND NOT EXISTS (SELECT FROM pg_index AS i
                    WHERE i.indrelid = c.oid AND (i.indisprimary OR i.indisreplident))
"""

# Every policy but the engine's, with the functions of the extension that it calls.
POLICIES = """
SELECT p.polrelid::regclass::text AS relation, p.polname AS name, p.polcmd AS command,
       p.polpermissive AS permissive,
       array_agg(f.proname) FILTER (WHERE e.objid IS NOT NULL) AS calls
  FROM pg_policy AS p
  JOIN pg_class AS c ON c.oid = p.polrelid
  LEFT JOIN pg_depend AS d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid
       AND d.refclassid = 'pg_proc'::regclass
  LEFT JOIN pg_proc AS f ON f.oid = d.refobjid
  LEFT JOIN pg_depend AS e
    ON e.classid = 'pg_proc'::regclass AND e.objid = f.oid AND e.deptype = 'e'
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND p.polname <> 'engine'
 GROUP BY 1, 2, 3, 4
"""

# What is append-only, with its partitions: a statement that names a partition fires no trigger of
# the table. 32 is TRUNCATE.
APPEND_ONLY = """
SELECT r.relid::text AS relation,
       coalesce(bool_or((t.tgtype & 32) <> 0 AND t.tgenabled = 'O'), false) AS refuses_truncate
  FROM pg_trigger AS a
 CROSS JOIN LATERAL (SELECT a.tgrelid::regclass AS relid
                      UNION SELECT p.relid FROM pg_partition_tree(a.tgrelid) AS p) AS r
  LEFT JOIN pg_trigger AS t ON t.tgrelid = r.relid AND t.tgname = 'append_only'
 WHERE a.tgname = 'append_only'
 GROUP BY 1
"""


@pytest.mark.parametrize(
    "query",
    [DEPENDENT, UNINDEXED_FOREIGN_KEYS, FOREIGN_TYPES],
    ids=["needs an extension function or type", "foreign key without index", "foreign type"],
)
def test_no_table_has(world: World, query: str) -> None:
    """A default that called the extension would go with it."""
    assert world.rows(query) == []


COMPILED = "memwarden_internal.python_code"
"""Compiled code, which CREATE EXTENSION makes anew; it must belong to a superuser."""


def test_extension_members_are_functions_types_and_schemas(world: World) -> None:
    """A table that is a member loses rows, partitions and policies in a dump."""
    kinds = world.rows(
        "SELECT DISTINCT d.classid::regclass::text AS catalog, c.relkind AS kind"
        "  FROM pg_depend AS d"
        "  JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'memwarden'"
        "  LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid"
        " WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass"
        "   AND c.oid IS DISTINCT FROM %s::regclass",
        COMPILED,
    )
    assert {row["catalog"] for row in kinds} == {"pg_proc", "pg_type", "pg_namespace"}


def test_the_public_schema_holds_functions_and_views_only(world: World) -> None:
    """Composite types live in memwarden_internal, tables in memwarden_data."""
    kinds = {
        schema: world.rows(
            "SELECT c.relkind FROM pg_class AS c WHERE c.relnamespace = %s::regnamespace"
            "   AND c.oid <> %s::regclass"
            "   AND NOT EXISTS (SELECT FROM pg_index AS i"
            "                    WHERE i.indexrelid = c.oid AND i.indrelid = %s::regclass)",
            schema,
            COMPILED,
            COMPILED,
        )
        for schema in ("memwarden", "memwarden_internal")
    }
    assert {row["relkind"] for row in kinds["memwarden"]} == {"v"}
    assert {row["relkind"] for row in kinds["memwarden_internal"]} == {"c"}
    for catalog, prefix in [("type", "typ"), ("operator", "opr"), ("opclass", "opc")]:
        views = "AND o.typrelid = 0 AND o.typelem = 0" if catalog == "type" else ""
        others = world.rows(
            f"SELECT o.oid FROM pg_{catalog} AS o"
            f" WHERE o.{prefix}namespace = 'memwarden'::regnamespace {views}"
        )
        assert others == [], catalog


def test_what_is_append_only_cannot_be_emptied(world: World) -> None:
    """Nor any of its partitions: a guard against DELETE alone would let TRUNCATE through."""
    refuses = {row["relation"]: row["refuses_truncate"] for row in world.rows(APPEND_ONLY)}
    assert "memwarden_data.log" in refuses
    assert [relation for relation, so in refuses.items() if not so] == []


def test_row_security_is_forced_on_every_table_and_partition(world: World) -> None:
    """Partitions carry no grant: they are reached through their parent only.

    Proves: A3 (the mechanism), Z1
    """
    tables = world.rows(TABLES)
    assert any(table["is_partition"] for table in tables)
    assert [t["name"] for t in tables if not t["secured"] or t["owner"] != "memwarden_owner"] == []
    engine = world.rows(
        "SELECT p.polrelid FROM pg_policy AS p"
        " WHERE p.polname = 'engine' AND p.polroles = ARRAY['memwarden_owner'::regrole::oid]"
    )
    assert {t["oid"] for t in tables} == {row["polrelid"] for row in engine}
    assert [t["name"] for t in tables if t["is_partition"] and t["acl"]] == []


def test_every_policy_for_others_than_the_engine_asks_the_extension(world: World) -> None:
    """DROP EXTENSION CASCADE takes these policies with it: what then remains shows nothing."""
    policies = world.rows(POLICIES)
    assert policies
    assert [p for p in policies if not p["calls"]] == []
    assert {(p["command"], p["permissive"]) for p in policies} == {("r", True)}


def test_views_run_with_the_rights_of_the_caller(world: World) -> None:
    """A view that did not would show its owner's rows to everyone."""
    views = world.rows(
        "SELECT c.relname, c.reloptions FROM pg_class AS c"
        " WHERE c.relkind = 'v' AND c.relnamespace = 'memwarden'::regnamespace"
    )
    assert views
    assert {tuple(view["reloptions"] or []) for view in views} == {("security_invoker=true",)}


def test_every_view_answers_in_a_new_store(world: World) -> None:
    """Whoever has every role may ask each before anything was written."""
    roles = ("agent", "reviewer", "curator", "auditor", "admin")
    everybody = world.agent(groups=[f"memwarden_{role}" for role in roles])
    views = world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relkind = 'v' AND c.relnamespace = 'memwarden'::regnamespace"
    )
    for view in views:
        everybody.execute(f"SELECT v.* FROM {view['name']} AS v")


def test_no_role_of_memwarden_can_bypass_row_security(world: World) -> None:
    """Neither by attribute nor by membership in a role that could."""
    mighty = world.rows(
        "SELECT r.rolname FROM pg_roles AS r, pg_roles AS g"
        " WHERE r.rolname LIKE 'memwarden%%' AND pg_has_role(r.oid, g.oid, 'MEMBER')"
        "   AND (g.rolsuper OR g.rolbypassrls OR g.rolcreaterole"
        "        OR (g.rolname = 'memwarden_owner' AND r.rolname <> 'memwarden_owner'))"
    )
    assert mighty == []


def test_a_publication_of_all_tables_stops_nobody(world: World) -> None:
    """PostgreSQL refuses changes of a published table that cannot say which row they change.

    A DBA may publish everything, to feed a warehouse. Settings change, an agent writes a fact, says
    it anew, and recalls it.
    """
    assert world.rows(WITHOUT_IDENTITY) == []
    agent = world.agent("/org/acme/user/ana")
    fact = {"subject": "Ana", "predicate": "lives in"}
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL client_min_messages = error")
        world.admin.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        world.admin.execute(f"SET LOCAL SESSION AUTHORIZATION {agent.info.user}")
        for city in ("Lisbon", "Porto"):
            written = write(world.admin, "semantic", f"Ana lives in {city}", **fact)
            assert written["outcome"] == "COMMITTED", written
            assert [row["text"] for row in recall(world.admin, query="Ana")]
            world.admin.execute("RESET SESSION AUTHORIZATION")
            world.admin.execute("UPDATE memwarden_data.layer SET max_pending = max_pending - 1")
            world.admin.execute(f"SET LOCAL SESSION AUTHORIZATION {agent.info.user}")
        world.admin.execute("RESET SESSION AUTHORIZATION")
