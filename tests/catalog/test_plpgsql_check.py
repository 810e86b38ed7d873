"""plpgsql_check reads every PL/pgSQL function and finds nothing that is not explained here."""

from __future__ import annotations

import re

import pytest
from psycopg.rows import DictRow

from conftest import World
from memwarden.langgraph import checkpointer

# Function, beginning of the message, and why it is no fault.
EXPECTED = {
    ("apply_storage", "text type variable is not sanitized"): "runs the extension's own statements",
    ("call_bound", "text type variable is not sanitized"): "runs the extension's own statements",
    ("make_bound", "text type variable is not sanitized"): "runs the extension's own statements",
    ("make_gate", "text type variable is not sanitized"): "runs the extension's own statements",
    ("give_month", "text type variable is not sanitized"): "names from the catalog, quoted bounds",
    ("refuse_statistics", "text type variable is not sanitized"): "names from the catalog, quoted",
    ("names_left", "text type variable is not sanitized"): "names from the catalog, quoted",
    ("month_of_strays", "text type variable is not sanitized"): "our tables, functions of theirs",
    ("partition_bound", "text type variable is not sanitized"): "an encoder that setup() has named",
    ("make_view_anew", "text type variable is not sanitized"): "words of the release, and a GRANT",
    ("wrap_functions", "text type variable is not sanitized"): "functions of the release",
    ("try_step", "text type variable is not sanitized"): "an expression of wanted_jobs()",
    ("delete_next_records", "text type variable is not sanitized"): "a condition of old_records()",
    ("sample_table", "text type variable is not sanitized"): "a condition of old_records()",
    ("sample_table", "OUT variable"): "the query that it executes returns them",
    ("schedule_jobs", 'relation "cron.job" does not exist'): "only called where pg_cron is there",
    ("schedule_jobs", 'schema "cron" does not exist'): "only called where pg_cron is there",
    ("enter", "control reached end of function"): "raise_error() never returns",
    ("hold_proposal", "control reached end of function"): "raise_error() never returns",
    ("move_scope", "control reached end of function"): "raise_error() never returns",
}

# Newer versions also compare a label with each expression, and complain of raise_error(), which
# only raises, and of clock_timestamp(), which is meant: labels are the last test's subject.
FUNCTIONS = """
  FROM pg_proc AS p
  JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
  LEFT JOIN (SELECT DISTINCT t.tgfoid, t.tgrelid, t.tgoldtable, t.tgnewtable
               FROM pg_trigger AS t WHERE t.tgparentid = 0) AS fired ON fired.tgfoid = p.oid
 CROSS JOIN LATERAL (
       SELECT CASE WHEN p.prorettype = 'trigger'::regtype
                   THEN coalesce(fired.tgrelid, 'memwarden_data.write_request'::regclass)
                   ELSE 0 END AS relation) AS r"""
CHECK = f"""
SELECT p.proname AS function, c.level, c.message, c.detail, c.lineno, c.query
{FUNCTIONS},
       LATERAL plpgsql_check_function_tb(
           p.oid, r.relation, oldtable => fired.tgoldtable, newtable => fired.tgnewtable,
           fatal_errors => false, other_warnings => true, extra_warnings => true,
           security_warnings => true, compatibility_warnings => true,
           -- A type of the storage is not there yet when a function is made that takes it. The
           -- argument's name is spelled so.
           anyelememttype => CASE WHEN p.proname = 'recall_weights'
                                  THEN 'memwarden_data.layer_scoring'::regtype
                                  ELSE 'integer'::regtype END) AS c
 WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)
   AND c.message NOT LIKE 'routine is marked as %%'
"""

# Who calls whom: PL/pgSQL as plpgsql_check sees it, SQL-standard bodies as the catalog has it.
CALLS = f"""
SELECT p.oid AS caller, d.oid AS callee
{FUNCTIONS},
       LATERAL plpgsql_show_dependency_tb(p.oid, r.relation) AS d
 WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)
   AND d.type = 'FUNCTION'
UNION
SELECT d.objid, d.refobjid
  FROM pg_depend AS d
 WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_proc'::regclass AND d.deptype = 'n'
"""

CHANGES = re.compile(
    r"\b(INSERT INTO|UPDATE memwarden|DELETE FROM|EXECUTE|LOCK TABLE|FOR .*UPDATE)\b"
)

# STABLE, so that PostgreSQL refuses whatever they would change: they name a table to read.
DYNAMIC_READERS = {
    "comparable_of_shelf",
    "find_threads",
    "fresh_of_shelf",
    "fresh_share",
    "indexed_memories",
    "measured_memories",
    "month_of_strays",
    "months_ahead",
    "months_over",
    "names_left",
    "nearest_on_shelf",
    "newer_references",
    "part_of_shelf",
    "partition_bound",
    "partition_status",
    "pool_of_shelf",
    "replaced_by",
    "sample_shelf",
    "sample_table",
    "stored_requests",
    "vectors_of",
    "vectors_on_shelf",
    "written_before",
}

STRICTER = {"s": 0, "r": 1, "u": 2}
LOOSER = {"i": 0, "s": 1, "v": 2}


@pytest.fixture
def checked(world: World) -> World:
    """A database with every table that has a trigger, in which plpgsql_check is at hand."""
    world.admin.execute("CREATE EXTENSION plpgsql_check")
    with checkpointer(world.dsn, setup=True):
        return world


def test_no_function_has_an_error_or_a_warning(checked: World) -> None:
    """Triggers are checked against their tables; security warnings count."""
    found = checked.rows(CHECK)
    unexpected = [
        row
        for row in found
        if not any(row["function"] == f and row["message"].startswith(m) for f, m in EXPECTED)
    ]
    assert unexpected == []
    met = {(f, m) for row in found for f, m in EXPECTED if row["function"] == f}
    assert met == EXPECTED.keys()


def test_a_mistake_would_be_found(checked: World) -> None:
    """The check above looks at what it says it looks at: one function of each language and kind."""
    checked.admin.execute(
        "CREATE FUNCTION memwarden_internal.mistaken() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN NEW.no_such_column := 1; RETURN NEW; END'"
    )
    messages = [row["message"] for row in checked.rows(CHECK) if row["function"] == "mistaken"]
    assert 'record "new" has no field "no_such_column"' in messages


def test_labels_hold_for_whatever_a_function_calls(
    checked: World, functions: list[DictRow]
) -> None:
    """A PARALLEL SAFE function calls safe ones only; what writes is PARALLEL UNSAFE.

    A writer that is merely RESTRICTED fails under a parallel plan with "cannot execute INSERT
    during a parallel operation".
    """
    by_oid = {f["oid"]: f for f in functions}
    wrong = []
    for row in checked.rows(CALLS):
        caller, callee = by_oid.get(row["caller"]), by_oid.get(row["callee"])
        # raise_error() only raises; a trigger function's label is never looked at.
        if not caller or not callee or callee["name"] == "raise_error" or caller["is_trigger"]:
            continue
        if (
            STRICTER[caller["parallel"]] < STRICTER[callee["parallel"]]
            or LOOSER[caller["volatility"]] < LOOSER[callee["volatility"]]
        ):
            wrong.append((caller["qualified"], callee["qualified"]))
    assert wrong == []
    writers = [
        f
        for f in functions
        if f["language"] == "plpgsql" and not f["is_trigger"] and CHANGES.search(f["code"])
    ]
    assert len(writers) > 10
    labelled = {f["name"] for f in writers if (f["volatility"], f["parallel"]) != ("v", "u")}
    assert labelled == DYNAMIC_READERS
