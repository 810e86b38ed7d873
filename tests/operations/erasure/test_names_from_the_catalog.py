"""A name wherever it can stand, and any name: the person goes, and nobody else.

Somebody may be called like a column, a code or a role.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from helpers import write_many
from operations.erasure.test_every_column import KEYS, NAMES, PROOFS, RECORDS, SETTINGS
from recovery.test_dump import seeded as seeded  # a database with something in every table

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World

WORDS = """
SELECT DISTINCT lower(w.word) AS word FROM (
    SELECT a.attname::text AS word
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
     WHERE c.relnamespace IN ('memwarden_data'::regnamespace, 'memwarden'::regnamespace)
       AND a.attnum > 0 AND NOT a.attisdropped
     UNION ALL
    SELECT c.relname FROM pg_class AS c
     WHERE c.relnamespace IN ('memwarden_data'::regnamespace, 'memwarden'::regnamespace)
       AND c.relkind IN ('r', 'p', 'v')
     UNION ALL SELECT e.enumlabel FROM pg_enum AS e
     UNION ALL SELECT unnest(ARRAY[r.reason, r.outcome, r.gate]) FROM memwarden.reasons() AS r
     UNION ALL SELECT p.gate FROM memwarden.pipeline AS p
     UNION ALL SELECT r.rolname FROM pg_roles AS r WHERE r.rolname ~ '^(memwarden|postgres)'
     UNION ALL SELECT r.name FROM memwarden_data.access_role AS r
     UNION ALL SELECT l.layer FROM memwarden_data.layer AS l
     UNION ALL SELECT c.name FROM memwarden_data.classification AS c
     UNION ALL SELECT t.type FROM memwarden_data.source_type AS t
     UNION ALL SELECT k.kind FROM memwarden_data.origin_kind AS k
     UNION ALL SELECT unnest('{auto,write,primary,secondary,derived,inferred,not_required}'::text[])
     UNION ALL
    SELECT unnest(ARRAY[e.key, CASE WHEN e.key <> 'us' THEN e.value END])
      FROM memwarden_data.write_request AS r,
           jsonb_array_elements(memwarden_internal.gates_of(r.gates)) AS g,
           jsonb_each_text(g) AS e) AS w
 WHERE length(w.word) BETWEEN 2 AND 100 ORDER BY 1"""
SAID = """
SELECT v.item_id, lower(string_agg(concat_ws(
           ' ', v.content, v.subject, v.predicate, v.kind, l.attributes, l.domains,
           jsonb_path_query_array(v.evidence, '$[*].keyvalue() ? (@.key != "type").value'),
           (SELECT string_agg(concat_ws(' ', c.source, c.content::text), ' ')
              FROM memwarden_data.capture AS c WHERE v.evidence::text ~ 'memwarden:capture'),
           p.record ->> 'source_agent', ((p.record -> 'origin') - 'kind')::text), ' ')) AS words
  FROM memwarden_data.version AS v
  JOIN memwarden_data.label AS l USING (label_id)
  LEFT JOIN memwarden_data.provenance AS p ON p.org_id = v.org_id AND p.version_id = v.version_id
 GROUP BY v.item_id"""
GROUP = 100


def mark(number: int) -> str:
    """What only the memory of that word holds."""
    return f"zq{number}qz"


def places_of(world: World, numbers: list[int]) -> set[str]:
    """The tables that hold one of the marks, in any column."""
    pattern = "|".join(map(mark, numbers))
    tables = world.rows(
        "SELECT c.relname AS name FROM pg_class AS c WHERE c.relkind = 'r'"
        " AND c.relnamespace = 'memwarden_data'::regnamespace"
    )
    found = world.rows(
        " UNION ALL ".join(
            f"SELECT '{table['name']}' AS name WHERE EXISTS (SELECT FROM ONLY"
            f" memwarden_data.{table['name']} AS t WHERE to_jsonb(t)::text ~ '{pattern}')"
            for table in tables
        )
    )
    return {row["name"] for row in found}


class Undone(Exception):
    """Ends a transaction whose work was looked at."""


@pytest.mark.one_version
@pytest.mark.timeout(1800)
def test_any_name_of_the_stores_own_is_erased_as_a_persons(seeded: World) -> None:
    """Nothing of the person is left in any column, and no memory goes that does not say the word.

    Asked of a database where every table holds something.

    Proves: R1 (direct matches)
    """
    words = [row["word"] for row in seeded.rows(WORDS)]
    assert len(words) > 900
    agent = seeded.agent("/org/acme/user/sweep")
    requests = [
        {"layer": "working", "content": {"zqx": f"zqx {word} {mark(n)}"}}
        for n, word in enumerate(words)
    ]
    answers = write_many(agent, requests)
    assert {answer["outcome"] for answer in answers} == {"COMMITTED"}
    items = [answer["item_id"] for answer in answers]
    said: dict[Any, str] = {row["item_id"]: row["words"] for row in seeded.rows(SAID)}
    for start in range(0, len(words), GROUP):
        numbers = list(range(start, min(start + GROUP, len(words))))
        names = [words[n] for n in numbers]
        with suppress(Undone), seeded.admin.transaction():
            seeded.admin.execute(
                "SELECT memwarden.erase_subject('nobody', 'a wish', %s, 'acme')", (names,)
            )
            assert places_of(seeded, numbers) == set()
            left = seeded.rows("SELECT item_id FROM memwarden_data.item")
            gone = said.keys() - {row["item_id"] for row in left}
            assert gone >= {items[n] for n in numbers}
            anywhere = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
            assert [said[item] for item in gone if not anywhere.search(said[item])] == []
            raise Undone


def test_a_code_of_a_record_is_no_trace_of_a_person(seeded: World) -> None:
    """Every memory has been written on some evidence: that is no reason to erase it.

    Proves: R1 (direct matches)
    """
    codes = ["none", "write", "auto", "primary", "inferred", "agent_reasoning", "not_required"]
    codes += ["agent_inferred", "memory_item", "human_input"]
    (counted,) = seeded.rows(
        "SELECT items FROM memwarden.erase_subject('nobody', 'asked', %s, 'acme', true)", codes
    )
    assert counted["items"] <= len(codes)


NAME, WORD = "Zora Zqkanari", "zqkanari"
# Every column that takes words, partitions one by one, beside those of tables that name no person.
COLUMNS = """
SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type,
       split_part(coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, '.', 2) AS root,
       EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = c.oid AND o.attname = 'org_id')
           AS has_org
  FROM memwarden_internal.columns_of_words() AS w
  JOIN pg_class AS c ON c.oid = w.relation AND c.relkind = 'r' AND NOT w.is_index
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = w.number
 WHERE a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype)
   AND c.relnamespace = 'memwarden_data'::regnamespace
 ORDER BY c.relname, a.attnum"""
INSERTED = {
    "text": "%(name)s || ' said'",
    "text[]": "array_append(coalesce({column}, '{{}}'), %(name)s::text)",
    "jsonb": "CASE jsonb_typeof({column}) WHEN 'object'"
    " THEN {column} || jsonb_build_object('note', %(name)s::text)"
    " ELSE coalesce({column}, '[]') || jsonb_build_array(%(name)s::text) END",
}
OF_ACME = " WHERE org_id = (SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme')"
# What nobody can say something in: names of places, people, services and rules, and codes.
LISTED = {
    "ablation": {"set_by"},
    "audit_sample": {"pack", "class", "login"},
    # Whom an erasure that waits is about.
    "blocked_erasure": {"subject", "identifiers", "login"},
    "candidate": {"fault"},
    "capture": {"source", "classification"},
    "capture_key": {"source"},
    "consent": {"purpose", "login"},
    "consent_state": {"purpose"},
    "consolidation": {"outcome", "reason", "decider"},
    "embedding_job": {"locked_by", "locked_login"},
    "entity": {"ceid", "type"},
    "evidence": {"type"},
    "extraction": {"fault"},
    "job": {"purpose", "plugin", "locked_by", "locked_login"},
    "job_run": {"job", "after", "paused_by"},
    "legal_hold": {"layers", "set_login", "lifted_login"},
    "noise": {"reason"},
    "personal_item": {"kinds"},
    "pin": {"login"},
    "probe": {"layers"},
    "probe_run": {"faults"},
    "pushed_memory": {"surface"},
    "recall_day": {"purpose"},
    "recall_log": {"login", "purpose", "scopes", "layers", "embedding_model", "surface"},
    "recall_outcome": {"login"},
    "review": {"class", "reasons", "factors"},
    "review_event": {"login", "reason"},
    "review_notice": {"channel", "event", "locked_by", "locked_login"},
    "sensitive_value": {"value_id", "kind"},
    "sensitivity_scan": {"findings"},
    "session": {"class"},
    "signal": {"class"},
    "thread": {"login_role"},
    "verdict": {"purpose", "plugin", "plugin_version", "given_by"},
    # Of another person who has the same identifier: tests/operations/subjects.
    "registered_subject": {"identifiers"},
    # What versions say, once more; they are searched.
    "item": {"kind", "subject", "predicate", "class", "subject_form", "predicate_form"},
    "memory_key": {"said"},
    "version": {"search_text", "class"},
}
# Of each table that PostgreSQL keeps for itself: whether a row of it holds the word.
CATALOGS = """
SELECT c.oid::regclass::text AS name FROM pg_class AS c
 WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r'
 UNION ALL
SELECT v.name FROM unnest(ARRAY['pg_stat_activity', 'pg_prepared_statements', 'pg_cursors',
    'pg_prepared_xacts', 'pg_settings', 'pg_seclabels']) AS v (name)"""


def insert_name(world: World, place: DictRow, number: int) -> bool:
    """Have a row of acme hold the name in that column; False where there is none."""
    table, column = f"memwarden_data.{place['table']}", place["column"]
    mine = OF_ACME if place["has_org"] else ""
    # What a deletion notes of itself is a word of the engine's own.
    mine += " AND operation <> 'ERASE'" if place["root"] == "log" else ""
    rows = world.rows(f"SELECT ctid::text AS row FROM {table}{mine} ORDER BY 1")
    if rows:
        world.admin.execute(
            f"UPDATE {table} SET {column} = {INSERTED[place['type']].format(column=column)}"
            " WHERE ctid = %(row)s::tid",
            {"name": NAME, "row": rows[number % len(rows)]["row"]},
        )
    return bool(rows)


def holders(world: World, *places: str) -> set[str]:
    """Which of these tables have a row with the word; of what goes on, not this session's own."""
    asked = "SELECT EXISTS (SELECT FROM {} AS t WHERE strpos(lower(t::text), %s) > 0{})"
    own = {"pg_stat_activity": " AND t.pid <> pg_backend_pid()"}
    return {name for name in places if world.value(asked.format(name, own.get(name, "")), WORD)}


def test_a_name_in_any_column_of_the_catalog_is_erased(seeded: World) -> None:
    """Each column that takes words holds it, a few at a time; then no table and no catalog does.

    Proves: R1 (everywhere content can sit)
    """
    seeded.admin.execute("SELECT memwarden.define_predicate('met', 'accumulate', org => 'acme')")
    tables: dict[str, list[DictRow]] = {}
    for place in seeded.rows(COLUMNS):
        judged = place["column"] in LISTED.get(place["root"], ())
        # What stays of a request is the subject of test_every_column.py.
        skipped = NAMES | SETTINGS - {"job_run"} | PROOFS | RECORDS | KEYS | {"write_request"}
        if not judged and place["root"] not in skipped:
            tables.setdefault(place["table"], []).append(place)
    everything = [
        row["name"]
        for row in seeded.rows(
            "SELECT c.oid::regclass::text AS name FROM pg_class AS c WHERE c.relkind = 'r'"
            "   AND c.relnamespace = 'memwarden_data'::regnamespace"
        )
    ]
    catalogs = [row["name"] for row in seeded.rows(CATALOGS)]
    filled: set[tuple[str, str]] = set()
    for number in range(max(map(len, tables.values()))):
        with suppress(Undone), seeded.admin.transaction():
            seeded.admin.execute("SET LOCAL session_replication_role = replica")
            given = [places[number] for places in tables.values() if number < len(places)]
            now = {
                (place["root"], place["column"])
                for place in given
                if insert_name(seeded, place, number)
            }
            seeded.admin.execute("SET LOCAL session_replication_role = origin")
            if number == 0:
                assert len(holders(seeded, *everything)) > 20
                seeded.admin.execute("ANALYZE")
            (done,) = seeded.rows(
                "SELECT status FROM memwarden.erase_subject('nobody', 'asked', %s, 'acme')",
                [NAME],
            )
            assert done["status"] == "COMPLETED"
            assert holders(seeded, *everything) == set(), sorted(now)
            assert holders(seeded, *catalogs) == set()
            filled |= now
            raise Undone
    roots = {(p["root"], p["column"]) for places in tables.values() for p in places}
    assert roots == filled
