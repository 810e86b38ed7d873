"""What a recall reads grows with the scopes that it searches, whatever the planner believes."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write_many

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]

LARGE = "/org/acme/user/large"
SMALL = [f"/org/acme/user/small{n}" for n in range(3)]
EACH = 20
READ = """
SELECT coalesce(sum(seq_tup_read), 0) AS walked, coalesce(sum(idx_tup_fetch), 0) AS fetched
  FROM pg_stat_xact_all_tables
 WHERE schemaname = 'memwarden_data' AND (relname = 'item' OR relname LIKE 'embedding_sh%')"""


def remember(agent: Agent, scope: str, count: int) -> None:
    """Write so many memories into a scope."""
    chance = random.Random(f"{scope} {count}")
    requests = [
        {
            "layer": "episodic",
            "scope": scope,
            "content": {"text": f"{scope} heard of {chance.random()} and word{n % 50}"},
            "embedding": [chance.gauss(0, 1) for _ in range(384)],
        }
        for n in range(count)
    ]
    for start in range(0, count, 500):
        rows = write_many(agent, requests[start : start + 500])
        assert {row["outcome"] for row in rows} == {"COMMITTED"}


def rows_read(agent: Agent, **asked: Any) -> tuple[int, int]:
    """Of memories and vectors: rows that a recall walked over, and rows that an index fetched."""
    vector = [random.Random(1).gauss(0, 1) for _ in range(384)]
    with agent.transaction():
        # What earlier transactions read may not have been reported yet.
        before = agent.execute(READ).fetchone()
        found = recall(agent, query="word7 heard", embedding=vector, **asked)
        assert found
        after = agent.execute(READ).fetchone()
    assert before is not None
    assert after is not None
    return after["walked"] - before["walked"], after["fetched"] - before["fetched"]


@pytest.fixture
def world(fresh_world: World) -> World:
    """A database that no other test left statistics in."""
    return fresh_world


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent of an organisation of few small scopes and one that holds nearly everything."""
    made = world.agent("/org/acme", descendants=True)
    for scope in (*SMALL, LARGE):
        world.scope(scope)
    # Autovacuum would change what the planner knows in the middle of a test.
    world.admin.execute("ALTER TABLE memwarden_data.item SET (autovacuum_enabled = off)")
    world.admin.execute(
        "ALTER TABLE memwarden_data.embedding_shared SET (autovacuum_enabled = off)"
    )
    for scope in SMALL:
        remember(made, scope, EACH)
    return made


def compare_answers(world: World) -> None:
    """Have recalls compare their answers with each other: those alone are to be read for it."""
    world.admin.execute("UPDATE memwarden_data.layer SET duplicate_similarity = 0.95")


@pytest.mark.parametrize("statistics", ["absent", "fresh", "stale"])
def test_a_small_scope_is_read_alone(world: World, agent: Agent, statistics: str) -> None:
    """Planned anew or prepared, with one scope or several, filtered or not.

    Proves: L6 (pull stays as quick as its scope is small)
    """
    if statistics == "stale":
        world.admin.execute("ANALYZE")
    remember(agent, LARGE, 20 * len(SMALL) * EACH)
    if statistics == "fresh":
        world.admin.execute("ANALYZE")
    compare_answers(world)
    for mode in ("auto", "force_generic_plan"):
        agent.execute(f"SET plan_cache_mode = {mode}")
        for prepare in (None, 0):
            agent.prepare_threshold = prepare
            for _ in range(6):
                asked: list[tuple[int, dict[str, Any]]] = [
                    (1, {"scopes": SMALL[:1]}),
                    (1, {"scope": SMALL[1]}),
                    (1, {"scopes": SMALL[:1], "min_confidence": 0.1}),
                    (3, {"scopes": SMALL}),
                ]
                for scopes, arguments in asked:
                    walked, fetched = rows_read(agent, **arguments)
                    # The ten answers are looked up once more for what else is told of them.
                    assert walked == 0, (mode, arguments)
                    assert fetched <= 2 * scopes * EACH + 40, (mode, arguments)


def test_a_grown_scope_reads_nothing_of_others(world: World, agent: Agent) -> None:
    """Its words and its nearest are looked up one by one, filtered or not.

    Proves: L6 (pull stays as quick as its scope is small)
    """
    few = 60
    for scope in SMALL[:2]:
        remember(agent, scope, few)
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (few,))
    world.admin.execute("CALL memwarden.arrange_shelves()")
    remember(agent, LARGE, 50 * few)
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") >= 2
    compare_answers(world)
    for arguments in ({}, {"min_confidence": 0.1}, {"kind": None, "k": 3}):
        walked, fetched = rows_read(agent, scopes=SMALL[:2], **arguments)
        assert walked + fetched <= 12 * 2 * (few + EACH), arguments


FILL = """
WITH made AS MATERIALIZED (
    SELECT gen_random_uuid() AS item_id, gen_random_uuid() AS version_id, t.words,
           -- Around one of twenty places: an index finds nothing in noise.
           (SELECT array_agg(sin(1.7 * k * (n %% 20 + 1)) + random() - 0.5)
              FROM generate_series(1, 384) AS k)::halfvec AS place
      FROM generate_series(1, %(count)s) AS n,
           LATERAL (SELECT coalesce(string_agg('word' || k, ' '), 'none') AS words
                      FROM generate_series(0, 39 + 0 * n) AS k WHERE random() < 0.6 / (1 + k)) AS t
), versions AS (
    INSERT INTO memwarden_data.version
    SELECT (jsonb_populate_record(v, jsonb_build_object(
               'item_id', m.item_id, 'version_id', m.version_id, 'search_text', m.words))).*
      FROM made AS m, memwarden_data.version AS v WHERE v.item_id = %(item)s
), items AS (
    INSERT INTO memwarden_data.item
    SELECT (jsonb_populate_record(i, jsonb_build_object(
               'item_id', m.item_id, 'version_id', m.version_id,
               'content_hash', sha256(uuid_send(m.item_id)),
               'fingerprint', sha256(uuid_send(m.item_id)),
               'search_vector', to_tsvector('english', m.words)))).*
      FROM made AS m, memwarden_data.item AS i WHERE i.item_id = %(item)s
)
INSERT INTO memwarden_data.embedding_shared (org_id, scope_id, model_id, item_id, embedding)
SELECT e.org_id, e.scope_id, e.model_id, m.item_id, m.place
  FROM made AS m, memwarden_data.embedding_shared AS e WHERE e.item_id = %(item)s"""


def test_words_that_many_have_are_not_all_looked_up(world: World, agent: Agent) -> None:
    """Of a scope that has grown: whoever has some, and nothing else, is reckoned with.

    What is found is what is found where every memory is scored, which weighs what no index knows.

    Proves: L6, L7
    """
    remember(agent, LARGE, 1)
    first = world.value(
        "SELECT i.item_id FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s"
        " USING (scope_id) WHERE s.path = %s",
        LARGE,
    )
    world.admin.execute("SELECT setseed(0.5)")
    world.admin.execute(FILL, {"count": 9000, "item": first})
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 9000")
    world.admin.execute("CALL memwarden.arrange_shelves()")
    world.admin.execute("ANALYZE")
    chance = random.Random(4)
    hits = 0
    for n in range(10):
        asked = {
            "query": " ".join(f"word{k}" for k in (0, 1, 2, 3 + n, 20 + n)),
            "embedding": [
                math.sin(1.7 * k * (n + 1)) + chance.random() - 0.5 for k in range(1, 385)
            ],
            "scopes": [LARGE],
        }
        every = {"vector": 0.55, "keyword": 0.45, "importance": 1e-9}
        exact = {row["item_id"]: row["score"] for row in recall(agent, weights=every, **asked)}
        found = recall(agent, **asked)
        # One that is as good counts as well.
        hits += sum(row["score"] >= min(exact.values()) - 1e-6 for row in found)
        for row in found:
            assert row["score"] == pytest.approx(exact.get(row["item_id"], row["score"]), abs=1e-6)
    assert hits >= 0.99 * 100
