"""Scopes that have grown: their shelves have indexes of every model, and lose no vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers import recall, write, write_many
from operations.models.desk import (
    Agent,
    assert_filled,
    claim,
    embedded,
    fill,
    give,
    reembed,
    register,
    switch,
)
from races import together

if TYPE_CHECKING:
    from conftest import World

FEW = 20
ASTRAY = """
SELECT e.item_id FROM memwarden_data.embedding AS e
  JOIN memwarden_data.item AS i USING (org_id, item_id)
  LEFT JOIN memwarden_data.shelf AS s ON s.org_id = i.org_id AND s.scope_id = i.scope_id
   AND s.layer = i.layer AND s.vacated_at IS NULL
 WHERE e.shelf <> coalesce(s.shelf, 0)
    OR (e.words IS NOT DISTINCT FROM i.search_vector) <> (e.shelf > 0)"""


@pytest.fixture
def small(world: World) -> World:
    """A store in which few memories are many."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    return world


def grow(agent: Agent, count: int = FEW, word: str = "lamp") -> None:
    """Write so many memories of one layer."""
    rows = write_many(
        agent, [{"layer": "semantic", "content": f"{word} number {n}"} for n in range(count)]
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}


def arrange(world: World) -> None:
    """Run the job."""
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")


def indexes(world: World) -> list[str]:
    """Return the indexes of vectors, by what they are of."""
    rows = world.rows(
        "SELECT substring(indexdef FROM 'model_id = (.*)[)]$') AS of FROM pg_indexes"
        " WHERE indexdef LIKE '%%hnsw%%' ORDER BY 1"
    )
    return [row["of"] for row in rows]


def test_a_shelf_that_is_older_than_a_model_has_its_index(
    small: World, worker: Agent, agent: Agent
) -> None:
    """Before there is a vector in it; and recall goes by it.

    Proves: Z6
    """
    grow(agent, 60)
    arrange(small)
    assert indexes(small) == ["1", "2"]
    model = register(small)
    reembed(small, model)
    jobs = claim(worker, count=10)
    assert indexes(small) == ["1", "2", "3"]
    give(worker, jobs)
    fill(worker)
    assert_filled(small, model)
    assert small.rows(ASTRAY) == []
    switch(small, model)
    for text in ("lamp number 3", "lamp number 59"):
        found = recall(agent, embedding=embedded(text), k=5)
        assert found[0]["content"] == text
        # By its index, which only ever finds what is on the shelf.
        nearest = small.rows(
            "SELECT (n).item_id FROM memwarden_data.shelf AS s,"
            " LATERAL memwarden_internal.indexed_memories(s.shelf, 3::smallint,"
            "   %s::real[]::public.halfvec, 5, now(), 0, (SELECT array_agg(l * f) FROM (SELECT"
            "   label_id AS l FROM memwarden_data.label) AS x, (VALUES (1), (-1)) AS y (f)), true)"
            " AS n WHERE s.shelf > 0",
            embedded(text),
        )
        assert [row["item_id"] for row in nearest] == [row["item_id"] for row in found]


def test_a_model_without_an_embedder_gets_its_indexes_at_the_switch(
    small: World, agent: Agent
) -> None:
    """Whoever brought the vectors.

    Proves: Z6
    """
    grow(agent)
    arrange(small)
    model = register(small)
    switch(small, model, partial=True)
    assert indexes(small) == ["1", "2", "3"]


def test_vectors_wait_while_those_of_their_scope_are_moved(
    small: World, worker: Agent, agent: Agent
) -> None:
    """Writers do not; and none is lost.

    Proves: Z6
    """
    grow(agent, 30)
    model = register(small)
    reembed(small, model)
    jobs = claim(worker, count=10)
    moves = small.connect()
    moves.execute("SET ROLE memwarden_owner")
    where = small.rows("SELECT DISTINCT org_id, scope_id FROM memwarden_data.item")[0]
    with moves.transaction():
        moved = moves.execute(
            "SELECT shelf, seen::text"
            "  FROM memwarden_internal.prepare_shelf(%s, %s, 'semantic', 30)",
            (where["org_id"], where["scope_id"]),
        ).fetchone()
        assert moved is not None
        assert give(worker, jobs) == 0
        assert write(agent, "semantic", "meanwhile")["outcome"] == "COMMITTED"
        moves.execute(
            "SELECT memwarden_internal.finish_move(%(s)s, 0, %(s)s, %(n)s::pg_snapshot)",
            {"s": moved["shelf"], "n": moved["seen"]},
        )
    small.admin.execute("UPDATE memwarden_data.embedding_job SET run_at = now()")
    assert fill(worker) == 31
    arrange(small)
    assert_filled(small, model)
    assert small.rows(ASTRAY) == []


def test_shelves_come_and_go_while_vectors_are_made(
    small: World, worker: Agent, agent: Agent
) -> None:
    """And others write.

    Proves: Z6
    """
    grow(agent, FEW)
    model = register(small)
    reembed(small, model)
    workers = [small.connect(worker.info.user) for _ in range(2)]
    bob = small.agent("/org/acme/user/bob")

    def embeds(number: int) -> None:
        for _ in range(15):
            if jobs := claim(workers[number], name=f"w{number}", count=5):
                give(workers[number], jobs, name=f"w{number}")

    def writes() -> None:
        grow(bob, FEW, "tree")
        for n in range(20):
            write(agent, "semantic", f"value {n}", subject="Ana", predicate="thinks")

    def moves() -> None:
        for _ in range(3):
            arrange(small)

    together([writes, moves, *[lambda n=n: embeds(n) for n in range(2)]])
    arrange(small)
    small.admin.execute("UPDATE memwarden_data.embedding_job SET run_at = now()")
    fill(worker)
    arrange(small)
    assert_filled(small, model)
    assert small.rows(ASTRAY) == []
    small.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 100000")
    arrange(small)
    assert_filled(small, model)
    assert small.rows(ASTRAY) == []


def test_what_a_worker_makes_is_found_among_many_scopes(
    small: World, worker: Agent, agent: Agent
) -> None:
    """Its vectors come after the copies, and no log tells of them; each is wanted once."""
    paths = [f"/org/acme/user/ana/task/t{n}" for n in range(6)]
    for path in paths:
        small.scope(path)
    small.admin.execute(
        "SELECT memwarden.grant_scope(%s, '/org/acme/user/ana', true, true)", (agent.info.user,)
    )
    rows = write_many(
        agent,
        [
            {"layer": "semantic", "content": f"lamp number {n}", "scope": paths[n % 6]}
            for n in range(3 * FEW)
        ],
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    model = register(small)
    arrange(small)
    copies = (
        "SELECT count(*) FROM memwarden_data.embedding AS e JOIN memwarden_data.embedding_model"
        " AS m USING (model_id) WHERE e.shelf < 0 AND m.name = %s"
    )
    assert small.value(copies, "lexical") == 3 * FEW
    reembed(small, model)
    assert fill(worker) == 3 * FEW
    assert small.value(copies, model) == 3 * FEW
    switch(small, model)
    asked = {"embedding": embedded("lamp number 7"), "weights": {"vector": 1}, "k": 1}
    assert recall(agent, **asked)[0]["text"] == "lamp number 7"
    # The copy goes with what it was made of, and is no vector of what the memory says now.
    changed = write(agent, "semantic", 1, subject="Ana", predicate="has", scope=paths[0])
    reembed(small, model)
    assert fill(worker) == 1
    assert small.value(copies, model) == 3 * FEW + 1
    write(agent, "semantic", 2, subject="Ana", predicate="has", scope=paths[0])
    assert small.value(copies, model) == 3 * FEW
    reembed(small, model)
    assert [job["item_id"] for job in claim(worker)] == [changed["item_id"]]
