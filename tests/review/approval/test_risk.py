"""Who is asked follows from risk, policy and reputation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import write
from reviewing import HOME, ask, decide, propose, queue, reviewer, status

if TYPE_CHECKING:
    from conftest import World


def test_risk_is_the_weighted_sum_of_its_factors(world: World) -> None:
    """Each factor by its stated rule, on a write whose every factor is known.

    Proves: H1
    """
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    propose(agent, "The sky is blue", confidence=0.5)
    [shown] = queue(ana)
    weights = world.value(
        "SELECT confidence_weights FROM memwarden_data.layer WHERE layer = 'semantic'"
    )
    expected = {
        "layer": 0.8,
        "contradiction": 0,
        "evidence": 1,
        "confidence_gap": 1 - weights[0] * 0.5,
        "blast_radius": math.log(2) / math.log(101),
        "novelty": 1,
    }
    found = {name: factor["value"] for name, factor in shown["factors"].items()}
    assert found == pytest.approx(expected, abs=1e-3)
    blast = shown["factors"]["blast_radius"]
    assert (blast["readers"], blast["consumers"], blast["recalls"]) == (1, 0, 0)
    shares = dict(zip(expected, (0.25, 0.2, 0.15, 0.15, 0.15, 0.1), strict=True))
    total = sum(shares[name] * value for name, value in expected.items())
    assert shown["risk"] == pytest.approx(total, abs=1e-3)


def test_who_is_given_memories_of_a_scope_says_how_far_a_write_goes(world: World) -> None:
    """In place of who may read it, once that is known; what the writer recalls itself is nothing.

    Proves: H1 (blast radius)
    """
    agent, ana = world.agent(HOME), reviewer(world)
    write(agent, "semantic", "The sky is blue")
    ask(world)
    readers = [world.agent(HOME) for _ in range(7)]

    def blast(text: str) -> dict[str, Any]:
        world.admin.execute("CALL memwarden.count_recalls()")
        proposal = propose(agent, text)
        [shown] = [each for each in queue(ana) if str(each["proposal_id"]) == proposal]
        factor = shown["factors"]["blast_radius"]
        return {**factor, "value": pytest.approx(factor["value"], abs=1e-4)}

    for _ in range(40):
        agent.execute("SELECT FROM memwarden.recall('sky')")
    for who in readers[:3]:
        for _ in range(9):
            who.execute("SELECT FROM memwarden.recall('sky')")
    # 27 recalls of others: what anybody could make in a minute is not yet believed.
    known = {"weight": 0.15, "readers": 8}
    assert blast("a") == known | {"recalls": 27, "consumers": 3, "value": math.log(9, 101)}
    for _ in range(3):
        readers[0].execute("SELECT FROM memwarden.recall('sky')")
    assert blast("b") == known | {"recalls": 30, "consumers": 3, "value": math.log(4, 101)}
    world.admin.execute(
        "UPDATE memwarden_data.recall_consumer SET day = day - 30;"
        "UPDATE memwarden_data.recall_reach SET counted_on = counted_on - 1"
    )
    assert blast("c") == known | {"recalls": 0, "consumers": 0, "value": math.log(9, 101)}


@pytest.mark.parametrize(
    ("auto_below", "sync_from", "outcome", "tier"),
    [
        (1.0, 1.0, "COMMITTED", None),
        (0.3, 1.0, "DEFERRED", "async"),
        (0.3, 0.5, "DEFERRED", "sync"),
    ],
)
def test_the_tier_follows_from_the_risk(
    world: World, auto_below: float, sync_from: float, outcome: str, tier: str | None
) -> None:
    """Under auto_below nobody is asked, and that is in the audit; from sync_from on it is waited.

    Proves: H1, W3 (by_risk)
    """
    ask(world, approval="by_risk", auto_below=auto_below, sync_from=sync_from)
    agent, ana = world.agent(HOME), reviewer(world)
    said = write(agent, "semantic", "The sky is blue")
    assert said["outcome"] == outcome
    assert [p["tier"] for p in queue(ana)] == ([tier] if tier else [])
    [event] = agent.execute(
        "SELECT * FROM memwarden.review_history(%s)", (said["request_id"],)
    ).fetchall()
    assert event["event"] == ("auto_approved" if tier is None else "opened")
    assert event["detail"]["risk"] == pytest.approx(
        said["detail"]["risk"] if tier else 0.6, abs=0.1
    )


@pytest.mark.every_version
def test_the_most_specific_policy_holds(world: World) -> None:
    """Of an agent before one of a class before one of the layer; an organisation's before all's.

    Proves: W3, H1 (configurable)
    """
    agent = world.agent(HOME)
    ask(world)
    assert write(agent, "semantic", "1")["outcome"] == "DEFERRED"
    ask(world, approval="never", org="acme")
    assert write(agent, "semantic", "2")["outcome"] == "COMMITTED"
    ask(world, approval="always", agent=agent.info.user, org="acme")
    assert write(agent, "semantic", "3")["detail"]["reasons"] == ["AGENT_POLICY"]
    world.admin.execute(
        "SELECT memwarden.drop_approval_policy('semantic', agent => %s, org => 'acme')",
        (agent.info.user,),
    )
    assert write(agent, "semantic", "4")["outcome"] == "COMMITTED"
    assert write(agent, "session", {"a": 1})["outcome"] == "COMMITTED"
    rows = agent.execute("SELECT org, layer, approval FROM memwarden.approval_policies")
    assert {(r["org"], r["layer"]): r["approval"] for r in rows}[("acme", "semantic")] == "never"


def test_a_class_has_a_due_time_of_its_own(world: World) -> None:
    """The policy of the class says how soon its reviews are due.

    Proves: F11 (review SLA per class), W3 (per class)
    """
    ask(world, sla="48 hours")
    ask(world, sla="4 hours", **{"class": "decision_outcome"})
    agent, ana = world.agent(HOME), reviewer(world)
    usual = propose(agent, "The sky is blue")
    urgent = propose(agent, "The bridge was closed", **{"class": "decision_outcome"})
    due = {str(row["proposal_id"]): row["due_at"] for row in queue(ana)}
    assert (due[usual] - due[urgent]).total_seconds() == pytest.approx(44 * 3600, abs=60)


@pytest.mark.parametrize(
    "policy",
    [
        {"approval": "sometimes"},
        {"auto_below": 0.8, "sync_from": 0.7},
        {"auto_below": -0.1},
        {"weights": [1.0, 0.0, 0.0, 0.0, 0.0]},
        {"weights": [0.5, 0.5, 0.5, -0.5, 0.0, 0.0]},
        {"layer_risk": 1.5},
        {"needed": 0},
        {"max_queue": 0},
        {"sla": "0 hours"},
        {"class": "*x"},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(world: World, policy: dict[str, Any]) -> None:
    """Proves: H1 (configurable)."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        ask(world, **policy)


def test_an_agent_of_little_reputation_always_needs_a_human(world: World) -> None:
    """In every layer that asks anything of a write, whatever its policy.

    Proves: X4 (the threshold)
    """
    agent, ana = world.agent(HOME), reviewer(world)
    world.admin.execute("SELECT memwarden.change_agent(%s, reputation => 0.2)", (agent.info.user,))
    for layer, content in (("episodic", "seen"), ("semantic", "true"), ("session", {"a": 1})):
        said = write(agent, layer, content)
        assert (said["outcome"], said["detail"]["reasons"]) == ("DEFERRED", ["REPUTATION"])
        assert decide(ana, "approve", str(said["request_id"]))["outcome"] == "COMMITTED"
    assert write(agent, "working", {"a": 1})["outcome"] == "COMMITTED"
    world.admin.execute("SELECT memwarden.set_reputation_threshold(0.1, 'acme')")
    assert write(agent, "episodic", "seen again")["outcome"] == "COMMITTED"


def test_a_full_queue_refuses(world: World) -> None:
    """What nobody will look at is not kept.

    Proves: Z9 (cap)
    """
    ask(world, max_queue=2)
    agent, ana = world.agent(HOME), reviewer(world)
    first = propose(agent, "1")
    propose(agent, "2")
    full = write(agent, "semantic", "3")
    assert (full["outcome"], full["reason"]) == ("REJECTED", "REVIEW_QUEUE_FULL")
    decide(ana, "reject", first, "NOISE")
    assert status(agent, propose(agent, "4"))["outcome"] == "DEFERRED"


def test_the_shipped_policies_ask_about_what_lasts(world: World) -> None:
    """Semantic, procedural and durable always; an event that contradicts nothing passes.

    Proves: W3
    """
    shipped = "".join(
        row["body"]
        for row in world.rows(
            "SELECT body FROM memwarden_internal.storage_parts() WHERE body ~ 'approval_policy'"
        )
    )
    for layer in ("semantic", "procedural", "durable"):
        assert f"(0, '{layer}', 'always'" in shipped
    assert "(0, 'episodic', 'by_risk', 0.5" in shipped
