"""What nearly every recall is has a search of its own: it finds what the search for all finds."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write_many

# Some are two words, or more: with accents and without, a path and its parts, a name and its own.
FORMS = ("word{}", "word{}", "wörd{}", "/srv/word{}", "Józef", "OrderOf{}", "TK-{}")
WORDS = [FORMS[n % len(FORMS)].format(n) for n in range(30)]
LAYERS = ["episodic", "semantic", "session", "durable"]
WEIGHTS: list[dict[str, float] | None] = [
    None,
    {"vector": 1},
    {"keyword": 1},
    {"relevance": 1, "hybrid": 0.3},
    {"vector": 0.5, "recency": 0.2, "freshness": 0.4},
    {"keyword": 1, "importance": 0.1, "confidence": 0.3, "authority": 0.2},
    {"recency": 1},
    {"vector": 1, "keyword": 1, "recency": 0.1, "neighbour": 0.5, "time": 0.3},
]
ARGUMENTS = """
    %(orgs)s::bigint[], %(scopes)s::bigint[], {layers} %(query)s, %(vector)s::real[]::halfvec,
    %(model)s::smallint, %(subject)s, %(predicate)s, %(kind)s, %(filter)s::jsonb,
    %(confidence)s::float8, %(valid_at)s::timestamptz, ARRAY(
        SELECT jsonb_populate_record(w, jsonb_build_object(
            'unread', %(unread)s::text, 'dates', %(dates)s::text,
            'dated', CASE WHEN %(dates)s::text IS NULL THEN 0 ELSE w.dated END))
          FROM unnest(memwarden_internal.recall_weights(
              (SELECT layers FROM memwarden_data.reader_terms LIMIT 1),
              %(layers)s::text[], %(weights)s::jsonb, 0.5, %(threshold)s::float8)) AS w), 0.5,
    %(exclude)s::uuid[], %(limit)s::integer, %(now)s::timestamptz, %(principal)s::bigint,
    memwarden_internal.readable_labels(%(principal)s)"""
PLAIN = f"memwarden_internal.search_plainly({ARGUMENTS.format(layers='')})"
PLAINLY = f"SELECT f.* FROM (SELECT {PLAIN} AS found OFFSET 0) AS s, unnest(s.found) AS f"
IS_PLAIN = f"SELECT {PLAIN} IS NOT NULL AS yes"
IN_FULL = (
    f"SELECT f.* FROM memwarden_internal.search({ARGUMENTS.format(layers='%(layers)s,')}) AS f"
)
ASKED = "SELECT lexeme FROM memwarden_internal.query_words('english', %(query)s)"
KNOWN = """
SELECT l.principal_id AS principal, ARRAY[0, s.org_id] AS orgs, now() AS now, m.model_id AS model,
       array_agg(i.item_id) AS items, array_agg(DISTINCT i.scope_id) AS places
  FROM memwarden_data.principal_login AS l, memwarden_data.embedding_model AS m,
       memwarden_data.scope AS s JOIN memwarden_data.item AS i USING (org_id)
 WHERE l.login_role = %s AND s.path = %s AND m.name = 'default'
 GROUP BY l.principal_id, s.org_id, m.model_id"""


def text(chance: random.Random, most: int) -> str:
    """Words, some of them often, and some of them said again."""
    return " ".join(WORDS[int(30 * chance.random() ** 2)] for _ in range(chance.randint(1, most)))


def vector(chance: random.Random) -> list[float]:
    """Any vector of the lexical model's dimension."""
    return [round(chance.gauss(0, 1), 4) for _ in range(384)]


def memory(chance: random.Random, number: int, scope: str) -> dict[str, Any]:
    """A request for a memory of any kind, with and without a vector, some of which expire."""
    request: dict[str, Any] = {
        "layer": chance.choice(LAYERS),
        "scope": scope,
        "content": {"text": f"{text(chance, 12)} {number}", "n": number % 3},
        "confidence": chance.choice([0.3, 0.9]),
        "importance": chance.random(),
        "classification": chance.choice(["public", "internal", "confidential"]),
    }
    if chance.random() < 0.7:
        request["embedding"] = vector(chance)
    if chance.random() < 0.5:
        request["origin"] = {"session": chance.choice("abc")}
    if chance.random() < 0.6:
        request["valid_from"] = f"2024-0{chance.randint(1, 4)}-05T00:00:00Z"
    if chance.random() < 0.3:
        request |= {"subject": chance.choice(["Ana", "Bo"]), "predicate": f"likes{number}"}
    return request


def question(chance: random.Random, scopes: list[int], items: list[Any]) -> dict[str, Any]:
    """Any arguments of the search."""

    def some(*values: Any) -> Any:
        return chance.choice(values) if chance.random() < 0.2 else None

    weights = chance.choice(WEIGHTS)
    return {
        "scopes": chance.sample(scopes, chance.randint(1, len(scopes))),
        "query": chance.choice([None, "", text(chance, 14), text(chance, 6), "nothing known"]),
        "vector": chance.choice([None, vector(chance), vector(chance)]),
        "layers": some(["episodic"], ["semantic", "session"]),
        "subject": some("ana", "Bo", "nobody"),
        "predicate": some("Likes4"),
        "kind": some("event"),
        "filter": Jsonb({"n": 1}) if chance.random() < 0.2 else None,
        "confidence": some(0.5, 0.95),
        "valid_at": some("2020-01-01Z", "2050-01-01Z"),
        "weights": None if weights is None else Jsonb(weights),
        "threshold": some(0.1, 0.3, 0.7),
        "exclude": chance.sample(items, 3) if chance.random() < 0.2 else None,
        # Words that the model cannot read: those with a 1, or all.
        "unread": chance.choice([None, None, "[1]", "."]),
        "dates": chance.choice([None, "{[2024-01-01, 2024-03-01)}", "{[2024-02-01,)}"]),
        "limit": chance.choice([None, 1, 20, 20, 50]),
    }


@pytest.fixture
def reader(shared_world: World, home: str) -> Connection[DictRow]:
    """An agent who may not read everything that lies in its scopes."""
    author = shared_world.agent(home, descendants=True, clearance="confidential")
    shared_world.scope(f"{home}/task/one")
    chance = random.Random(home)
    for scope in (home, f"{home}/task/one"):
        requests = [memory(chance, number, scope) for number in range(60)]
        assert sum(row["outcome"] == "COMMITTED" for row in write_many(author, requests)) > 20
    return shared_world.agent(home, descendants=True)


@pytest.mark.every_version
@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_the_search_for_all_finds(
    shared_world: World, reader: Connection[DictRow], home: str, seed: int
) -> None:
    """All columns, in the same order, whatever is asked."""
    chance = random.Random(seed)
    admin = shared_world.admin
    known = admin.execute(KNOWN, (reader.info.user, home)).fetchone()
    assert known is not None
    found = 0
    for _ in range(60):
        asked = known | question(chance, known["places"], known["items"])
        if len(admin.execute(ASKED, asked).fetchall()) > 8:
            assert admin.execute(IS_PLAIN, asked).fetchone() == {"yes": False}
            continue
        rows = admin.execute(PLAINLY, asked).fetchall()
        assert rows == admin.execute(IN_FULL, asked).fetchall(), asked
        found += len(rows)
    assert found > 100
