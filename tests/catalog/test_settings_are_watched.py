"""What is kept of settings holds until they change: no column that it is made of goes unwatched."""

from __future__ import annotations

import pytest

from conftest import World

VIEWS = ["layer_terms", "reader_terms"]
READ = """
SELECT c.relname AS relation,
       array_agg(DISTINCT a.attname::text ORDER BY a.attname::text) AS columns
  FROM pg_rewrite AS r
  JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                     AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  JOIN pg_class AS c ON c.oid = d.refobjid
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
 WHERE r.ev_class IN ('memwarden_data.layer_terms'::regclass,
                      'memwarden_data.reader_terms'::regclass)
   AND c.relkind <> 'c'
 GROUP BY c.oid, c.relname"""
WATCHED = """
SELECT c.relname AS relation, t.tgtype::integer AS kind, t.tgenabled::text AS enabled,
       (SELECT array_agg(convert_from(decode(p, 'escape'), 'UTF8') ORDER BY p)
          FROM string_to_table(encode(t.tgargs, 'escape'), '\\000') AS p WHERE p <> '') AS columns,
       t.tgattr = ''::int2vector AND t.tgqual IS NULL AND NOT t.tgdeferrable AS is_plain
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
 WHERE t.tgfoid = 'memwarden_internal.note_settings_change'::regproc"""
# After each row that is inserted, updated or deleted; after a statement that truncates.
ROW, TRUNCATE = 1 + 4 + 8 + 16, 32


def test_every_column_behind_the_terms_is_watched(world: World) -> None:
    """The catalog says which columns the view reads: those, no fewer and no others, have triggers.

    A view in between, or a row taken whole, would show as a relation without such columns. Types
    hold nothing.
    """
    read = {row["relation"]: row["columns"] for row in world.rows(READ)}
    assert len(read) > 10
    assert all(None not in columns for columns in read.values())
    watched = world.rows(WATCHED)
    assert {row["relation"]: row["columns"] for row in watched} == read
    assert sorted((row["relation"], row["kind"]) for row in watched) == sorted(
        (relation, kind) for relation in read for kind in (ROW, TRUNCATE)
    )


def test_the_watch_holds_whatever_a_session_says(world: World) -> None:
    """Its triggers fire in a session that only replicates, too, on every row and every column."""
    watched = world.rows(WATCHED)
    assert {row["enabled"] for row in watched} == {"A"}
    assert all(row["is_plain"] for row in watched)


@pytest.mark.parametrize("view", VIEWS)
def test_the_terms_are_made_of_tables_alone(world: World, view: str) -> None:
    """No function of anybody's stands in the view: it could read what nobody watches."""
    functions = world.rows(
        "SELECT d.refobjid::regprocedure::text AS function FROM pg_rewrite AS r JOIN pg_depend AS d"
        "    ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid"
        "   AND d.refclassid = 'pg_proc'::regclass"
        " WHERE r.ev_class = to_regclass('memwarden_data.' || %s)",
        view,
    )
    assert functions == []
    # Those of PostgreSQL leave no trace there. They would stand in the text.
    text = world.value("SELECT pg_get_viewdef(to_regclass('memwarden_data.' || %s))", view)
    for word in (
        "clock_timestamp",
        "now()",
        "CURRENT_",
        "random",
        "current_setting",
        "txid",
        "pg_",
    ):
        assert word not in text, word


def test_only_ordinary_tables_are_behind_the_terms(world: World) -> None:
    """A row that is put into a partition passes the triggers of that; a foreign table has none."""
    kinds = world.rows(
        "SELECT DISTINCT c.relkind::text AS kind, c.relhassubclass OR c.relispartition AS shares"
        "  FROM memwarden_internal.settings_sources() AS s"
        "  JOIN pg_class AS c ON c.oid = ('memwarden_data.' || s.relation)::regclass"
    )
    assert kinds == [{"kind": "r", "shares": False}]
