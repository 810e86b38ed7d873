"""recall, get and history return where a memory comes from, and change nothing by being asked."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from psycopg import Connection, IsolationLevel
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

EVIDENCE = [{"type": "document", "uri": "https://example.org/a", "excerpt": "tea"}]

COUNTERS = """
SELECT relname, n_tup_ins, n_tup_upd, n_tup_del, n_tup_hot_upd
  FROM pg_stat_xact_all_tables
 WHERE schemaname = 'memwarden_data' AND n_tup_ins + n_tup_upd + n_tup_del > 0
   -- A recall may append to its log, and nothing else where its reader is kept.
   AND NOT (relname LIKE 'recall_log_p%%' AND n_tup_upd + n_tup_del = 0)
"""


def versions(agent: Connection[DictRow]) -> list[DictRow]:
    """Write three values of one fact, return the answers."""
    key = {"subject": "Ana", "predicate": "drinks"}
    return [
        write(agent, "semantic", {"drink": drink}, evidence=EVIDENCE, confidence=sure, **key)
        for drink, sure in (("tea", 0.7), ("coffee", 0.8), ("water", 0.9))
    ]


def test_provenance_is_complete(reader: Connection[DictRow]) -> None:
    """Who wrote it, by which request, which version, when, when first, and on what evidence.

    Proves: L6 (provenance with each result)
    """
    first, _, last = versions(reader)
    (found,) = recall(reader, query="water")
    provenance = found["provenance"]
    assert provenance.keys() == {
        "agent", "request_id", "version", "recorded_at", "first_recorded_at", "evidence",
        "adjusted_confidence", "authority", "sensitivity",
    }  # fmt: skip
    assert provenance["agent"] == reader.info.user
    assert provenance["request_id"] == str(last["request_id"])
    assert provenance["version"] == 3
    assert provenance["evidence"] == EVIDENCE
    history = reader.execute("SELECT * FROM memwarden.history(%s)", (first["item_id"],)).fetchall()
    assert provenance["recorded_at"][:19] == history[0]["recorded_at"].isoformat()[:19]
    assert provenance["first_recorded_at"][:19] == history[2]["recorded_at"].isoformat()[:19]
    (item,) = reader.execute("SELECT * FROM memwarden.get(%s)", (first["item_id"],)).fetchall()
    assert item["provenance"] == provenance


def test_get_returns_the_item_as_it_stands(reader: Connection[DictRow], home: str) -> None:
    """Proves: L6."""
    first, _, last = versions(reader)
    (item,) = reader.execute("SELECT * FROM memwarden.get(%s)", (first["item_id"],)).fetchall()
    assert item["created_at"] < item["updated_at"]
    expected = {
        "item_id": first["item_id"],
        "version_id": last["version_id"],
        "version": 3,
        "layer": "semantic",
        "scope": home,
        "kind": None,
        "subject": "Ana",
        "predicate": "drinks",
        "content": {"drink": "water"},
        "confidence": 0.9,
        "importance": 0.5,
        "status": "ACTIVE",
        "expires_at": None,
        "valid_to": None,
        "classification": "internal",
        "domains": [],
        "attributes": {},
    }
    assert {name: item[name] for name in expected} == expected
    view = reader.execute("SELECT * FROM memwarden.items").fetchall()
    assert len(view) == 1
    same = view[0].keys() & item.keys()
    assert len(same) > 15
    assert {name: view[0][name] for name in same} == {name: item[name] for name in same}


def test_history_is_newest_first_and_without_gaps(reader: Connection[DictRow]) -> None:
    """Each version ends where the next begins; the first was an insert, the others updates.

    Proves: T1, T2
    """
    answers = versions(reader)
    history = reader.execute(
        "SELECT * FROM memwarden.history(%s)", (answers[0]["item_id"],)
    ).fetchall()
    assert [row["version"] for row in history] == [3, 2, 1]
    assert [row["version_id"] for row in reversed(history)] == [a["version_id"] for a in answers]
    assert [row["request_id"] for row in reversed(history)] == [a["request_id"] for a in answers]
    assert [row["operation"] for row in history] == ["UPDATE", "UPDATE", "INSERT"]
    assert [row["status"] for row in history] == ["ACTIVE", "SUPERSEDED", "SUPERSEDED"]
    assert [row["content"]["drink"] for row in history] == ["water", "coffee", "tea"]
    assert [row["superseded_at"] for row in history] == [
        None,
        history[0]["recorded_at"],
        history[1]["recorded_at"],
    ]
    assert {row["actor"] for row in history} == {reader.info.user}
    numbers = [row["log_seq"] for row in history]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("function", ["get", "history"])
@pytest.mark.parametrize("item", [None, uuid4()], ids=["null", "unknown"])
def test_no_item_is_no_row(reader: Connection[DictRow], function: str, item: UUID | None) -> None:
    """Not an error, and not a row of nulls."""
    rows = reader.execute(f"SELECT * FROM memwarden.{function}(%s::uuid)", (item,)).fetchall()
    assert rows == []


def test_reading_changes_nothing(shared_world: World, home: str) -> None:
    """At every isolation level, under statement-level counters; the log of recalls grows.

    Not in a READ ONLY transaction: there nothing at all is written. What settings make of a reader
    is kept by the first recall since they changed.
    """
    agent = shared_world.agent(home)
    item = versions(agent)[0]["item_id"]
    assert recall(agent, query="water")
    agent = shared_world.connect(agent.info.user)  # its counters start from nothing
    reads = [
        "SELECT * FROM memwarden.recall('water')",
        "SELECT * FROM memwarden.recall('water', fusion => 'rrf')",
        f"SELECT * FROM memwarden.get('{item}')",
        f"SELECT * FROM memwarden.history('{item}')",
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.requests",
        "SELECT * FROM memwarden.gate_statistics",
        "SELECT * FROM memwarden.pipeline",
        "SELECT * FROM memwarden.status()",
        "SELECT * FROM memwarden.reasons()",
    ]
    for level in IsolationLevel:
        for read_only in (True, False):
            agent.isolation_level = level
            agent.read_only = read_only
            with agent.transaction():
                for read in reads:
                    assert agent.execute(read).fetchall(), read
                counted = agent.execute(COUNTERS).fetchall()
                given = agent.execute("SELECT pg_current_xact_id_if_assigned() AS id").fetchone()
            assert counted == []
            # Not even a row was locked: that would have taken a transaction id, as the log does.
            assert (given == {"id": None}) == read_only, (level, read_only)


def test_the_definition_of_recall_names_every_column_once(shared_world: World) -> None:
    """What a client may rely on: the columns, in their order."""
    columns = shared_world.rows(
        "SELECT a.attname FROM pg_attribute AS a"
        " WHERE a.attrelid = 'memwarden_internal.recalled_item'::regclass ORDER BY a.attnum"
    )
    names = (re.sub("_score$", "", row["attname"]) for row in columns)
    assert " ".join(names) == (
        "item_id version_id layer scope kind subject predicate content text score vector keyword"
        " recency importance confidence authority similarity confidence low_confidence"
        " contradicted stale classification domains provenance freshness relevance same_as standing"
        " hedge suspicious origin recall_id contradicts neighbour time valid_from valid_to"
    )
