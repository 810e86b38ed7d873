"""What lies on a shelf is weighed there: what is found is what a look at every memory finds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import Filled, filled
from helpers import recall, write_many
from recall.search.test_grown_scopes import age

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
MANY = 700
WORDS = [f"word{n}" for n in range(150)]
CHANCES = [1 / (n + 1) for n in range(150)]
READER = """
SELECT l.principal_id AS principal, ARRAY[0, s.org_id] AS orgs, m.model_id AS model, now() AS now,
       (SELECT h.shelf FROM memwarden_data.shelf AS h WHERE h.shelf > 0) AS shelf,
       ARRAY(SELECT c.scope_id FROM memwarden_data.scope AS c WHERE c.scope_id = ANY (s.lineage))
           AS lineage, ARRAY[s.scope_id] AS home
  FROM memwarden_data.principal_login AS l, memwarden_data.embedding_model AS m,
       memwarden_data.scope AS s
 WHERE l.login_role = %s AND s.path = %s AND m.name = 'default'"""
WEIGHTS = """
memwarden_internal.recall_weights((SELECT layers FROM memwarden_data.reader_terms LIMIT 1),
    %(layers)s::text[], %(weights)s::jsonb, 0.5, %(threshold)s::float8)"""
LABELS = "memwarden_internal.readable_labels(%(principal)s)"
ON_SHELF = f"""
memwarden_internal.search_shelf(
    %(shelf)s, %(orgs)s::bigint[], %(scopes)s::bigint[], %(query)s, %(vector)s::real[]::halfvec,
    %(model)s::smallint, {WEIGHTS}, 0.5, 20, %(now)s::timestamptz, %(principal)s::bigint,
    {LABELS})"""
IN_FULL = f"""
SELECT f.* FROM memwarden_internal.search(
    %(orgs)s::bigint[], %(scopes)s::bigint[], %(layers)s, %(query)s, %(vector)s::real[]::halfvec,
    %(model)s::smallint, NULL, NULL, NULL, NULL, NULL, NULL, {WEIGHTS}, 0.5, NULL, NULL,
    %(now)s::timestamptz, %(principal)s::bigint, {LABELS}) AS f
 ORDER BY f.score DESC"""


def vector(chance: random.Random, centre: int) -> list[float]:
    """A vector near one of twenty."""
    towards = random.Random(centre)
    return [round(towards.gauss(0, 1) + 0.6 * chance.gauss(0, 1), 3) for _ in range(384)]


def memory(chance: random.Random, number: int, **more: Any) -> dict[str, Any]:
    """A request; one of ten has no vector of its own."""
    request: dict[str, Any] = {
        "layer": "episodic",
        "content": f"{' '.join(chance.choices(WORDS, CHANCES, k=10))} at {number}",
        **more,
    }
    if number % 10:
        request["embedding"] = vector(chance, number % 20)
    if number % 3 == 0:
        request["valid_from"] = f"20{10 + number % 14}-05-01T00:00:00Z"
    return request


def remember(agent: Agent, requests: list[dict[str, Any]]) -> None:
    """Write them all."""
    assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}


def arrange(world: World) -> None:
    """Give the home a shelf, and count its words."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (MANY,))
    world.admin.execute("CALL memwarden.arrange_shelves()")
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE counted_at IS NOT NULL")


@pytest.fixture(scope="module")
def full(server: Any) -> Iterator[Filled]:
    """A scope with a shelf; beside it another layer, and the same one in the scope above."""
    with filled(server) as made:
        agent = made.world.agent("/org/acme", descendants=True, clearance="restricted")
        made.world.scope(HOME)
        chance = random.Random(3)
        remember(agent, [memory(chance, n, scope=HOME) for n in range(MANY)])
        remember(agent, [memory(chance, n, layer="semantic", scope=HOME) for n in range(40)])
        remember(agent, [memory(chance, n, scope="/org/acme") for n in range(40)])
        made.world.admin.execute(
            "UPDATE memwarden_data.item SET fresh_until = now() - interval '1 day'"
            " WHERE get_byte(fingerprint, 0) % 10 = 0"
        )
        arrange(made.world)
        made.leave(agent)
        yield made


@pytest.fixture
def world(full: Filled) -> Iterator[World]:
    """A database with that shelf."""
    with full.copied() as copied:
        yield copied


@pytest.fixture
def agent(full: Filled, world: World) -> Agent:
    """Who reads all of it."""
    return world.connect(full.role)


def asked(chance: random.Random, known: dict[str, Any]) -> dict[str, Any]:
    """A question of up to eight words, rare and common, with or without a vector's weight."""
    weights = chance.choice([None, {"vector": 1}, {"vector": 0.5, "keyword": 0.5}])
    words = chance.sample(WORDS, chance.randint(0, 3)) + chance.sample(
        WORDS[:9], chance.randint(0, 5)
    )
    return known | {
        "scopes": chance.choice([known["home"], known["lineage"]]),
        "query": None if weights == {"vector": 1} else " ".join(words),
        "vector": vector(chance, chance.randrange(20)),
        "layers": chance.choice([None, None, ["episodic"], ["episodic", "semantic"]]),
        "weights": None if weights is None else Jsonb(weights),
        "threshold": chance.choice([None, None, 0.4]),
    }


def told(world: World, question: dict[str, Any]) -> list[DictRow] | None:
    """What the shelf tells; None where the search for all must be asked."""
    row = world.admin.execute(f"SELECT {ON_SHELF} IS NOT NULL AS yes", question).fetchone()
    if row is None or not row["yes"]:
        return None
    return world.admin.execute(f"SELECT f.* FROM unnest({ON_SHELF}) AS f", question).fetchall()


# Of how many of 256 the soft lifetime is over: of few, of all, and of nearly all.
@pytest.mark.parametrize(("seed", "over"), [(0, 0), (1, 0), (2, 256), (6, 248), (7, 252)])
def test_the_shelf_tells_what_a_look_at_all_finds(
    world: World, agent: Agent, seed: int, over: int
) -> None:
    """The best ten, and each with all its scores; what lies beside the shelf among them.

    Proves: L6
    """
    age(world, over)
    chance = random.Random(seed)
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    hits = wanted = beside = 0
    for _ in range(25):
        question = asked(chance, known)
        found = told(world, question)
        assert found is not None, question["query"]
        every = world.admin.execute(IN_FULL, question).fetchall()
        exact = {row["item_id"]: row for row in every}
        if question["threshold"] is not None:
            every = [row for row in every if row["relevance"] >= question["threshold"]]
        for row in found:
            for column, value in exact[row["item_id"]].items():
                close = pytest.approx(value, abs=1e-9) if isinstance(value, float) else value
                assert row[column] == close, (column, question)
        assert found == sorted(found, key=lambda row: -row["score"])
        ten = every[:10]
        wanted += len(ten)
        hits += sum(row["score"] >= ten[-1]["score"] - 1e-9 for row in found[: len(ten)])
        beside += sum(row["layer"] == "semantic" for row in found)
    assert wanted > 150
    assert hits >= 0.99 * wanted
    assert beside > 0


@pytest.mark.parametrize("over", [256, 248, 150, 60])
def test_what_is_fresh_is_told_by_name_or_by_its_share(
    world: World, agent: Agent, over: int
) -> None:
    """All of it where that is little beside what is asked for; else about how much it is.

    Proves: L6
    """
    age(world, over)
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    told = world.admin.execute(
        "SELECT f.* FROM memwarden_internal.fresh_of_shelf(%(shelf)s, %(model)s::smallint,"
        "       %(vector)s::real[]::halfvec, %(items)s, 1, %(now)s::timestamptz, %(principal)s,"
        f"      {LABELS}, NULL, NULL) AS f",
        known | {"vector": vector(random.Random(1), 3), "items": MANY},
    ).fetchone()
    assert told is not None
    fresh = world.rows(
        "SELECT i.item_id FROM memwarden_data.item AS i JOIN memwarden_data.shelf AS s"
        " USING (org_id, scope_id, layer) WHERE s.shelf > 0 AND i.status = 'ACTIVE'"
        "   AND coalesce(i.fresh_until, i.updated_at + interval '30 days') > now()"
    )
    if over > 200:
        assert set(told["item_ids"]) == {row["item_id"] for row in fresh}
        assert (told["share"], len(told["words"] or [])) == (1, len(fresh))
    else:
        assert told["item_ids"] is None
        assert told["share"] == pytest.approx(len(fresh) / MANY, abs=0.12)


def test_the_less_is_fresh_the_more_is_looked_at(world: World) -> None:
    """So that as many of what is fresh are among it as of a shelf that is young.

    Proves: L6
    """
    words = "ARRAY[ROW('w', 1, 'w', 400, 1, true)]::memwarden_internal.asked_word[]"
    rows = world.rows(
        "SELECT f.* FROM unnest(ARRAY[1, 0.5, 0.1]) WITH ORDINALITY AS s (share, place),"
        "       LATERAL memwarden_internal.looked_for("
        f"          ROW('1 episodic', 'english', 100000, 900000, 0, {words}, true), 0.5, 20,"
        "           s.share) AS f ORDER BY s.place"
    )
    assert [row["sure"] for row in rows] == [40, 80, 400]
    assert [row["compared"] for row in rows] == [1414, 2828, 10000]


def test_a_scope_that_is_named_twice_is_asked_for_once(world: World, agent: Agent) -> None:
    """What lies beside the shelf is neither told nor counted again.

    Proves: L6
    """
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    question = asked(random.Random(2), known) | {"query": "word0 word1 word30", "layers": None}
    question |= {"scopes": known["lineage"], "weights": None, "threshold": None}
    once = told(world, question)
    assert once is not None
    assert {row["layer"] for row in once} == {"episodic", "semantic"}
    assert told(world, question | {"scopes": known["lineage"] * 2}) == once


def test_it_tells_nothing_of_what_it_does_not_know(world: World, agent: Agent) -> None:
    """Of a part that somebody reads, of more words than eight, or while vectors are moved."""
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    question = asked(random.Random(1), known) | {"query": "word0 word70", "layers": None}
    question |= {"weights": None, "threshold": None}
    assert told(world, question) is not None
    assert told(world, question | {"query": " ".join(WORDS[:9])}) is None
    assert told(world, question | {"layers": ["semantic"]}) is None
    assert told(world, question | {"weights": Jsonb({"vector": 1})}) is None
    low = world.agent(HOME, clearance="public")
    part = world.admin.execute(READER, (low.info.user, HOME)).fetchone()
    assert part is not None
    assert told(world, question | {"principal": part["principal"]}) is None
    world.admin.execute("UPDATE memwarden_data.shelf SET cleared = false WHERE shelf > 0")
    assert told(world, question) is None


def test_where_most_is_over_all_is_looked_at(world: World, agent: Agent) -> None:
    """Nothing takes the place of what is nearest and gone: so the search for all is asked."""
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    question = asked(random.Random(1), known) | {"query": "word0 word70", "layers": None}
    question |= {"weights": None, "threshold": None}
    world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() - interval '1 day'"
        " WHERE get_byte(fingerprint, 1) % 5 > 0"
    )
    assert told(world, question) is None
    rows = recall(agent, query="word0 word70", embedding=question["vector"], scopes=[HOME])
    assert len(rows) == 10
    over = world.value(
        "SELECT count(*) FROM memwarden_data.item WHERE item_id = ANY (%s) AND expires_at < now()",
        [row["item_id"] for row in rows],
    )
    assert over == 0


def test_where_the_nearest_are_over_the_next_are_found(world: World, agent: Agent) -> None:
    """Few of all are over, and those were nearest: what comes after them is looked for.

    Proves: L6
    """
    known = world.admin.execute(READER, (agent.info.user, HOME)).fetchone()
    assert known is not None
    question = asked(random.Random(1), known) | {"query": "word0 word70", "layers": None}
    question |= {"weights": None, "threshold": None}
    assert told(world, question) is not None
    world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() - interval '1 day' WHERE item_id IN"
        " (SELECT e.item_id FROM memwarden_data.embedding AS e WHERE e.model_id = %(model)s"
        "   ORDER BY e.embedding <=> %(vector)s::real[]::halfvec LIMIT 40)",
        question,
    )
    assert told(world, question) is None
    weights = {"vector": 1}
    rows = recall(agent, embedding=question["vector"], scopes=[HOME], weights=weights)
    exact = recall(
        agent,
        embedding=question["vector"],
        scopes=[HOME],
        weights=weights | {"importance": 1e-9},
    )
    assert [row["item_id"] for row in rows] == [row["item_id"] for row in exact]


def test_words_that_few_have_are_found_among_very_many(world: World, agent: Agent) -> None:
    """However many have the other words, and though they are not near.

    Proves: L6
    """
    chance = random.Random(9)
    remember(
        agent,
        [memory(chance, n, scope=HOME, content=f"word0 word1 word2 no {n}") for n in range(900)],
    )
    remember(agent, [memory(chance, 1, scope=HOME, content="word0 word1 word2 lighthouse")])
    arrange(world)
    rows = recall(
        agent,
        query="word0 word1 word2 lighthouse",
        embedding=vector(chance, 15),
        scopes=[HOME],
        weights={"vector": 0.4, "keyword": 0.6},
    )
    assert rows[0]["text"] == "word0 word1 word2 lighthouse"
