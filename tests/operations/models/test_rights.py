"""Who may have texts shown, who may change models, and who sees how far they are."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from helpers import write
from operations.models.desk import Agent, claim, fill, reembed, register, switch

if TYPE_CHECKING:
    from conftest import World

FOR_EMBEDDERS = [
    "SELECT * FROM memwarden.claim_embeddings('w', '{toy}')",
    "SELECT memwarden.give_embeddings('w', 'default', '{}', '{}')",
    "SELECT memwarden.fail_embeddings('w', 'default', '{}', 'e')",
]
FOR_ADMINISTRATORS = [
    "SELECT memwarden.register_embedding_model('x', 8)",
    "SELECT memwarden.set_embedder('default', 'toy')",
    "SELECT memwarden.set_model_languages('default', '{en}')",
    "SELECT memwarden.reembed('default')",
    "SELECT memwarden.switch_embedding_model('default')",
    "SELECT memwarden.drop_embedding_model('default')",
    "CALL memwarden.clear_models()",
]
OTHERS = ["agent", "reviewer", "curator", "auditor", "broker", "jobs", "worker"]


@pytest.mark.parametrize("group", [*OTHERS, "admin"])
def test_only_embedders_are_shown_texts(world: World, group: str) -> None:
    """Administrators are not, nor who judges; and only administrators change models.

    Proves: Z6
    """
    connection = world.connect(world.role(f"memwarden_{group}"))
    calls = FOR_EMBEDDERS + (FOR_ADMINISTRATORS if group not in ("admin", "jobs") else [])
    for call in calls:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(call)


def test_who_embeds_can_do_nothing_else(world: World, worker: Agent, agent: Agent) -> None:
    """It reads no table, recalls nothing, and writes nothing.

    Proves: Z6
    """
    write(agent, "semantic", "tea")
    for call in [
        "SELECT * FROM memwarden.recall('tea')",
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.embedding_models",
        "SELECT memwarden.claim_jobs('w', '{x}')",
        """SELECT memwarden.write('semantic', '"x"')""",
        *FOR_ADMINISTRATORS,
    ]:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            worker.execute(call)
    tables = world.rows(
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'memwarden_data'::regnamespace"
        " AND relkind IN ('r', 'p')"
    )
    for table in tables:
        query = sql.SQL("SELECT 1 FROM {}").format(sql.Identifier("memwarden_data", table["name"]))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            worker.execute(query)
    callable_functions = world.rows(
        "SELECT p.oid::regproc::text AS name FROM pg_proc AS p"
        " WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)"
        "   AND has_function_privilege('memwarden_embedder', p.oid, 'EXECUTE') ORDER BY 1"
    )
    assert [row["name"] for row in callable_functions] == [
        "memwarden.claim_embeddings",
        "memwarden.fail_embeddings",
        "memwarden.give_embeddings",
        # It raises what each view says between an update and setup().
        "memwarden_internal.await_setup",
    ]


def test_it_is_shown_only_what_lacks_a_vector_that_somebody_wants(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Nothing before reembed(), and nothing of what has ended.

    Proves: Z6
    """
    kept = write(agent, "semantic", "tea")
    gone = write(agent, "semantic", "milk")
    model = register(world)
    assert claim(worker) == []
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (gone["item_id"],))
    reembed(world, model)
    jobs = claim(worker)
    assert [job["item_id"] for job in jobs] == [kept["item_id"]]
    assert jobs[0].keys() >= {"content_text", "model", "dimension"}
    assert "tea" in jobs[0]["content_text"]


def test_an_auditor_sees_the_models_of_its_organisation(world: World, worker: Agent) -> None:
    """Numbers of others' memories are told to nobody else.

    Proves: Z6
    """
    model = register(world)
    for name in ("acme", "other"):
        world.scope(f"/org/{name}")
        write(world.agent(f"/org/{name}/user/ana"), "semantic", f"tea of {name}")
        reembed(world, model, name)
        fill(worker)
        switch(world, model, name)
    auditor = world.agent("/org/acme/user/bob", groups=("memwarden_auditor",))
    rows = auditor.execute("SELECT org, model, items FROM memwarden.embedding_models").fetchall()
    assert rows == [{"org": "acme", "model": model, "items": 1}]
    stranger = world.agent(f"/org/{uuid.uuid4().hex}/user/x", groups=("memwarden_auditor",))
    assert stranger.execute("SELECT * FROM memwarden.embedding_models").fetchall() == []


def test_vectors_of_others_are_not_seen_by_whoever_may_read_the_tables(
    world: World, worker: Agent
) -> None:
    """Of whatever model.

    Proves: Z6, A4
    """
    ana, eve = world.agent("/org/acme/user/ana"), world.agent("/org/other/user/eve")
    item = write(ana, "semantic", "tea")["item_id"]
    model = register(world)
    reembed(world, model)
    fill(worker)
    world.grant_tables(ana.info.user, eve.info.user)
    query = "SELECT item_id FROM memwarden_data.embedding WHERE model_id = 3"
    assert ana.execute(query).fetchall() == [{"item_id": item}]
    assert eve.execute(query).fetchall() == []


def test_erasing_takes_the_vectors_of_every_model_and_what_waits_for_one(
    world: World, worker: Agent, agent: Agent
) -> None:
    """Also what a worker is embedding just now.

    Proves: R1, Z6
    """
    subject = {"subject": "Ana", "predicate": "drinks"}
    write(agent, "semantic", "tea", **subject)
    model = register(world)
    reembed(world, model)
    fill(worker)
    write(agent, "semantic", "coffee", **subject)
    jobs = claim(worker)
    assert len(jobs) == 1
    world.admin.execute("SELECT * FROM memwarden.erase_subject('Ana', 'asked for', org => 'acme')")
    for table in ("embedding", "past_embedding", "embedding_job"):
        assert world.rows(f"SELECT FROM memwarden_data.{table}") == []
    items = [job["item_id"] for job in jobs]
    given = worker.execute(
        "SELECT memwarden.give_embeddings('one', %s, %s, %s::real[]) AS n",
        (model, items, [1.0] * 8),
    ).fetchone()
    assert given == {"n": 0}
    assert world.rows("SELECT FROM memwarden_data.embedding") == []
