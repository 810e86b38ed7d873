"""What a new store's layers ask of a write: the table of chapter 12.1.4, row by row, as data."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from scope_calls import promote, remember
from write.admission.conftest import configure
from write.gates.obedient import add_obedient_gate, answering, run_retries, status

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
MINUTES, HOUR, YEAR = timedelta(minutes=15), timedelta(hours=1), timedelta(days=365)

SHIPPED: dict[str, dict[str, Any]] = {
    "working": {"admission": "free", "writers": "any", "default_ttl": MINUTES},
    "session": {"admission": "schema", "writers": "owner", "default_ttl": HOUR},
    "episodic": {"admission": "full", "writers": "validated", "default_ttl": YEAR},
    "semantic": {"admission": "full", "writers": "validated", "default_ttl": None},
    "procedural": {"admission": "full", "writers": "validated", "default_ttl": None},
    "durable": {"admission": "full", "writers": "validated", "default_ttl": None},
}
PACE = {
    "working": (None, 0.0, 0),
    "session": (6000, 0.0, 0),
    "episodic": (6000, 0.6, 1),
    "semantic": (600, 0.8, 1),
    "procedural": (600, 0.9, 1),
    "durable": (600, 0.8, 1),
}


def test_the_shipped_layers_are_the_chapters_table(world: World) -> None:
    """Admission, writers, times to live; the longer it lasts, the slower and better grounded.

    Proves: W3
    """
    world.ship_layers()
    rows = world.rows("SELECT * FROM memwarden_data.layer")
    names = ("admission", "writers", "default_ttl")
    assert {r["layer"]: {name: r[name] for name in names} for r in rows} == SHIPPED
    assert {
        r["layer"]: (r["rate_limit"], r["fact_threshold"], r["min_external"]) for r in rows
    } == PACE
    assert all(r["direct_writes"] for r in rows)
    assert {r["rate_window"] for r in rows} == {timedelta(minutes=1)}
    limits = {r["layer"]: r["max_ttl"] for r in rows if r["max_ttl"] is not None}
    assert limits == {"working": HOUR, "session": timedelta(hours=24)}


def test_working_memory_of_a_new_store_takes_anything_from_anybody(world: World, home: str) -> None:
    """No validation, no evidence, no pace, no owner; it lasts minutes.

    Proves: W3
    """
    world.ship_layers()
    call = "SELECT memwarden.define_schema('working', 'default', %s)"
    world.admin.execute(call, ('{"required": ["goal"]}',))
    agents = [world.agent(home, validated=False) for _ in range(2)]
    for agent in agents:
        row = write(agent, "working", {"any": "thing"}, subject="it", predicate="is")
        assert row["outcome"] == "COMMITTED"
    assert world.value("SELECT max(expires_at - updated_at) FROM memwarden_data.item") == MINUTES


def test_session_memory_of_a_new_store_is_checked_for_form_and_owner(
    world: World, home: str
) -> None:
    """The schema holds, the key is its writer's; nobody validates, and no evidence is asked for.

    Proves: W3
    """
    world.ship_layers()
    world.admin.execute(
        """SELECT memwarden.define_schema('session', 'goal', '{"required": ["goal"]}')"""
    )
    owner, colleague = (world.agent(home, validated=False) for _ in range(2))
    # Who sees another's: a colleague does not, and has a key of its own.
    leader = world.agent(home, validated=False, role="orchestrator")
    key = {"subject": "this", "predicate": "aims at"}
    wrong = write(owner, "session", {"text": "tea"}, kind="goal", **key)
    assert wrong["reason"] == "SCHEMA_VIOLATION"
    assert write(owner, "session", {"goal": "tea"}, kind="goal", **key)["outcome"] == "COMMITTED"
    assert write(leader, "session", {"goal": "no"}, **key)["reason"] == "NOT_OWNER"
    assert write(colleague, "session", {"goal": "no"}, **key)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", ["episodic", "semantic", "procedural", "durable"])
def test_lasting_memory_of_a_new_store_goes_the_whole_way(
    world: World, home: str, layer: str
) -> None:
    """Validated agents, and every gate of the pipeline is asked.

    Proves: W3
    """
    add_obedient_gate(world)
    # Relaxed, so that it comes to the end of the way; what the evidence gate asks is tested there.
    stranger = world.agent(home, validated=False)
    assert write(stranger, layer, {"text": "x"})["reason"] == "AGENT_NOT_VALIDATED"
    agent = world.agent(home)
    done = write(agent, layer, {"text": "x"})
    row = agent.execute(
        "SELECT g.gates FROM memwarden.request_status(%s) AS g", (done["request_id"],)
    ).fetchone()
    assert row is not None
    asked = [entry["gate"] for entry in row["gates"]]
    full = ["20_admission", "25_schema", "30_sensitivity", "38_known", "40_evidence", "90_commit"]
    assert [gate for gate in asked if gate in full] == full
    assert "40_obedient" in asked


@pytest.fixture
def fed(world: World, home: str) -> tuple[Agent, str]:
    """An agent and its task; the layer durable is fed by promotion only."""
    task = f"{home}/task/t"
    world.scope(task)
    configure(world, "durable", direct_writes=False)
    return world.agent(home, descendants=True), task


def test_a_layer_without_direct_writes_is_fed_by_promotion(
    world: World, fed: tuple[Agent, str]
) -> None:
    """promote() and a move upwards by reclassify() enter it, through every gate; nothing else does.

    Proves: W3
    """
    agent, task = fed
    item = remember(agent, task, {"lesson": "measure"})
    assert write(agent, "durable", {"lesson": "measure"})["reason"] == "DIRECT_WRITE_OFF"
    up = promote(agent, item, layer="durable")
    assert up["outcome"] == "COMMITTED"
    assert world.value("SELECT count(*) FROM memwarden_data.promotion") == 0
    # Whoever knows the promotion's id gets no way in.
    again = write(agent, "durable", {"lesson": "cheat"}, request_id=up["request_id"])
    assert (again["outcome"], again["reason"]) == ("REJECTED", "REQUEST_ID_REUSED")
    other = remember(agent, task, {"lesson": "look first"})
    world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true)", (agent.info.user, task))
    world.admin.execute("SELECT memwarden.change_agent(%s, role => 'curator')", (agent.info.user,))
    moved = agent.execute(
        "SELECT * FROM memwarden.reclassify(%s, 'durable', 'it holds')", (other,)
    ).fetchone()
    assert moved is not None
    assert moved["outcome"] == "COMMITTED"
    configure(world, "episodic", direct_writes=False)
    down = agent.execute(
        "SELECT * FROM memwarden.reclassify(%s, 'episodic', 'it does not')", (moved["item_id"],)
    ).fetchone()
    assert down is not None
    assert down["reason"] == "DIRECT_WRITE_OFF"


def test_the_gates_refuse_a_promotion_as_any_write(world: World, fed: tuple[Agent, str]) -> None:
    """An agent nobody vouches for promotes nothing, and what is there is not promoted twice.

    Proves: W3
    """
    agent, task = fed
    first = remember(agent, task, {"lesson": "measure"})
    assert promote(agent, first, layer="durable")["outcome"] == "COMMITTED"
    assert promote(agent, first, layer="durable")["outcome"] == "ALREADY_COMMITTED"
    item = remember(agent, task, {"lesson": "wait"})
    world.admin.execute("SELECT memwarden.change_agent(%s, validated => false)", (agent.info.user,))
    assert promote(agent, item, layer="durable")["reason"] == "AGENT_NOT_VALIDATED"
    assert world.value("SELECT count(*) FROM memwarden_data.promotion") == 0


def test_a_deferred_promotion_is_one_when_it_is_tried_again(
    world: World, fed: tuple[Agent, str]
) -> None:
    """It waits with its mark, enters, and maintain() forgets the mark.

    Proves: W3
    """
    agent, task = fed
    item = remember(agent, task, answering("DEFER", until_attempt=2))
    add_obedient_gate(world)
    waiting = promote(agent, item, layer="durable")
    assert waiting["outcome"] == "DEFERRED"
    world.admin.execute("SELECT memwarden.maintain()")
    run_retries(world)
    assert status(world, waiting)["outcome"] == "COMMITTED"
    world.admin.execute("SELECT memwarden.maintain()")
    assert world.value("SELECT count(*) FROM memwarden_data.promotion") == 0
