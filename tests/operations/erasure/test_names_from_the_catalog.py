"""Somebody may be called like a column, a code or a role: the person goes, and nobody else."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from helpers import write_many
from recovery.test_dump import seeded as seeded  # a database with something in every table

if TYPE_CHECKING:
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
                "SELECT memwarden.erase_subject('nobody', 'asked', %s, 'acme')", (names,)
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
