"""How relevant a memory is: by its age, its reads, what came of them, and what is said of it."""

from __future__ import annotations

import math
import random
from typing import Any

import psycopg
import pytest

from conftest import World
from helpers import recall

from .conftest import Agent, age, figures, remember, use

RATES = {"session": 12.0, "episodic": 0.01, "semantic": 0.001, "procedural": 0.0005, "durable": 0}
CURATION = {"confirmed": 1.5, "doubted": 0.5, "refuted": 0.25}


def annotate(agent: Agent, item: Any, verdict: str) -> None:
    """Say whether a memory holds."""
    (row,) = agent.execute(
        "SELECT outcome FROM memwarden.annotate(%s, %s)", (item, verdict)
    ).fetchall()
    assert row["outcome"] == "COMMITTED"


def test_the_figure_is_that_of_the_chapter(shared_world: World, ana: Agent) -> None:
    """For memories of every layer, of random ages, reads and outcomes, beside a model of its own.

    Proves: G1 (age, access and impact, by the table of layers)
    """
    world, draw = shared_world, random.Random(7)
    for number in range(25):
        layer = draw.choice(sorted(RATES))
        item = remember(ana, f"note {number}", layer)
        created, written = draw.uniform(0, 300), 0.0
        written = draw.uniform(0, created)
        age(world, item, created, "created_at")
        age(world, item, written, "updated_at")
        read, done, failed = draw.randrange(50), draw.randrange(5), draw.randrange(5)
        use(world, item, 3, given=read, succeeded=done, failed=failed)
        use(world, item, 40, given=1000)
        days = created if layer in ("session", "episodic") else written
        (head,) = world.rows(
            "SELECT i.adjusted_confidence::float8 AS trust, i.confidence::float8 AS confidence,"
            "       (SELECT p.validation_score::float8 FROM memwarden_data.provenance AS p"
            "         WHERE p.version_id = i.version_id) AS validation"
            "  FROM memwarden_data.item AS i WHERE i.item_id = %s",
            item,
        )
        trust = head["trust"]
        quality = trust if head["validation"] is None else head["validation"]
        initial = (quality + trust) / 2 if trust else head["confidence"]
        expected = (
            initial
            * math.exp(-min(RATES[layer] * days, 700))
            * (1 + math.log(1 + read))
            * ((done + 1) / (done + failed + 1))
        )
        assert figures(world, item)["relevance"] == pytest.approx(expected, rel=1e-3, abs=1e-300)


def test_each_part_is_shown_and_their_product_is_the_figure(
    shared_world: World, ana: Agent
) -> None:
    """To whoever sees the memory. Asking writes nothing. Proves: G1."""
    item = remember(ana, "the pump stands in hall 3")
    age(shared_world, item, 20)
    rows = ana.execute("SELECT * FROM memwarden.explain_relevance(%s)", (item,)).fetchall()
    parts = {row["part"]: row["value"] for row in rows}
    product = math.prod(
        parts[part] for part in ("initial", "decay", "reinforcement", "impact", "curation")
    )
    assert parts["relevance"] == pytest.approx(product)
    assert parts["decay"] == pytest.approx(math.exp(-0.2), rel=1e-3)
    assert all(row["detail"] for row in rows)
    ana.execute("BEGIN READ ONLY")
    ana.execute("SELECT * FROM memwarden.explain_relevance(%s)", (item,))
    ana.execute("COMMIT")
    stranger = shared_world.agent("/org/elsewhere")
    with pytest.raises(psycopg.Error) as raised:
        stranger.execute("SELECT * FROM memwarden.explain_relevance(%s)", (item,))
    assert raised.value.sqlstate == "42704"


@pytest.mark.parametrize("verdict", sorted(CURATION))
def test_what_others_say_of_it_counts(shared_world: World, home: str, verdict: str) -> None:
    """Of each the last word; not the writer's own; not of an earlier version.

    Proves: G4 (annotations change relevance)
    """
    writer, other = shared_world.agent(home), shared_world.agent(home)
    item = remember(writer, "red", "semantic", subject="door", predicate="colour")
    annotate(writer, item, "refuted")
    assert figures(shared_world, item)["curation"] == 1
    annotate(other, item, "doubted" if verdict != "doubted" else "confirmed")
    annotate(other, item, verdict)
    assert figures(shared_world, item)["curation"] == CURATION[verdict]
    writer.execute(
        "SELECT memwarden.write('semantic', '\"blue\"', subject => 'door', predicate => 'colour')"
    )
    assert figures(shared_world, item)["curation"] == 1


def test_what_is_confirmed_is_as_new_where_the_layer_counts_validity(
    shared_world: World, home: str
) -> None:
    """An event stays as old as it is. Proves: G1 (forcing function, validity window, exempt)."""
    writer, other = shared_world.agent(home), shared_world.agent(home)
    fact, event, stance = (
        remember(writer, f"kept {layer}", layer) for layer in ("semantic", "episodic", "durable")
    )
    for item in (fact, event, stance):
        age(shared_world, item, 100)
    assert figures(shared_world, fact)["decayed"] == pytest.approx(math.exp(-0.1), rel=1e-3)
    for item in (fact, event):
        annotate(other, item, "confirmed")
    assert figures(shared_world, fact)["decayed"] == pytest.approx(1, rel=1e-3)
    assert figures(shared_world, event)["decayed"] == pytest.approx(math.exp(-1), rel=1e-3)
    assert figures(shared_world, stance)["decayed"] == 1


def test_a_class_has_a_decay_of_its_own(shared_world: World, ana: Agent) -> None:
    """What holds of an entity does not decay, whatever its layer says. Proves: G1, G9."""
    fact = remember(ana, "Ana leads sales", "semantic", **{"class": "entity_fact"})
    age(shared_world, fact, 400, "updated_at")
    assert figures(shared_world, fact)["decayed"] == 1


def test_staleness_weighs_age_silence_and_contradiction(shared_world: World, ana: Agent) -> None:
    """0.4, 0.3 and 0.3; only what is contradicted comes over 0.7. Proves: G6 (staleness)."""
    one, other = remember(ana, "the line is closed"), remember(ana, "the line is open")
    age(shared_world, one, 365)
    use(shared_world, one, 15, given=1)
    alone = figures(shared_world, one)
    assert alone["staleness"] == pytest.approx(0.4 + 0.15, abs=0.02)
    assert not alone["is_stale"]
    shared_world.admin.execute(
        "SELECT memwarden_internal.record_disputes(i.org_id, i.scope_id, i.item_id, ARRAY[%s])"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %s",
        (other, one),
    )
    disputed = figures(shared_world, one)
    assert disputed["staleness"] == pytest.approx(0.85, abs=0.02)
    assert disputed["is_stale"]


def test_what_nobody_trusts_or_confirms_goes_stale(shared_world: World, home: str) -> None:
    """Under 0.3, for 60 days. Proves: G6 (low confidence, unverified)."""
    writer, other = shared_world.agent(home), shared_world.agent(home)
    item = remember(writer, "it may be so", confidence=0.2)
    age(shared_world, item, 59)
    assert not figures(shared_world, item)["is_stale"]
    age(shared_world, item, 2)
    assert figures(shared_world, item)["is_stale"]
    annotate(other, item, "confirmed")
    assert not figures(shared_world, item)["is_stale"]


def test_recall_weighs_relevance_where_it_is_asked_to(shared_world: World, ana: Agent) -> None:
    """By a call or by the layer, with either fusion. Without, it counts nothing.

    Proves: G1 (recall may weigh relevance)
    """
    words = "the boiler was checked in"
    old, new = (
        remember(ana, f"{words} March", "semantic"),
        remember(ana, f"{words} April", "semantic"),
    )
    age(shared_world, old, 5)
    use(shared_world, old, 0, given=20, succeeded=3)
    query = f"{words} April"
    assert recall(ana, query=query, k=1)[0]["item_id"] == new
    for fusion in ("weighted", "rrf"):
        weights = {"relevance": 0.01, "strength": 10}
        found = recall(ana, query=query, weights=weights, fusion=fusion, k=1)
        assert found[0]["item_id"] == old, fusion
    (answer,) = (
        row["facts"]
        for row in ana.execute(
            "SELECT * FROM memwarden.explain_recall(%s, weights => %s, k => 1)",
            (query, '{"relevance": 1, "strength": 0.5}'),
        )
        if row["step"] == "answer"
    )
    assert {part["part"] for part in answer["parts"]} >= {"strength"}
    total = sum(part["weight"] * part["component"] for part in answer["parts"])
    assert answer["sum"] == pytest.approx(total, rel=1e-4)
