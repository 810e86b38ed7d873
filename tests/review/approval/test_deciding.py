"""A write waits for a human; a human agrees, edits or refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

from helpers import recall, write
from reviewing import (
    HOME,
    ask,
    decide,
    events,
    let_time_pass,
    propose,
    queue,
    reviewer,
    status,
)

if TYPE_CHECKING:
    from conftest import World


def test_what_waits_is_seen_by_its_writer_and_reviewers_alone(world: World) -> None:
    """Neither recall nor another agent meets it; the queue shows what is needed to decide.

    Proves: H2, F3
    """
    ask(world)
    agent, other, ana = world.agent(HOME), world.agent(HOME), reviewer(world)
    number = propose(
        agent, "The sky is blue", subject="sky", predicate="colour", justification="I looked up"
    )
    assert recall(agent, query="sky") == recall(other, query="sky") == []
    assert other.execute("SELECT * FROM memwarden.requests").fetchall() == []
    [shown] = queue(ana)
    assert (str(shown["proposal_id"]), shown["content"]) == (number, "The sky is blue")
    assert (shown["subject"], shown["justification"]) == ("sky", "I looked up")
    assert (shown["tier"], shown["reasons"], shown["needed"]) == ("async", ["LAYER_POLICY"], 1)
    assert set(shown["factors"]) == {
        "layer",
        "contradiction",
        "evidence",
        "confidence_gap",
        "blast_radius",
        "novelty",
    }
    assert shown["expires_at"] > shown["due_at"] > shown["opened_at"]


def test_an_approved_proposal_is_remembered_in_its_writers_name(world: World) -> None:
    """The signed record names who approved, when and why, and the human's word counts.

    Proves: H4 (approve), P1 (who approved), P3 (human approval)
    """
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    number = propose(agent, subject="sky", predicate="colour")
    done = decide(ana, "approve", number, "looked up myself")
    assert done["outcome"] == "COMMITTED"
    assert status(agent, number)["outcome"] == "COMMITTED"
    [found] = recall(agent, query="sky")
    assert found["provenance"]["agent"] == agent.info.user
    record = agent.execute("SELECT * FROM memwarden.provenance(%s)", (done["item_id"],)).fetchone()
    assert record is not None
    assert (record["approval_state"], record["approver"]) == ("APPROVED", ana.info.user)
    assert record["approval_justification"] == "looked up myself"
    assert record["approved_at"] is not None
    weights = world.value(
        "SELECT confidence_weights FROM memwarden_data.layer WHERE layer = 'semantic'"
    )
    assert record["adjusted_confidence"] == pytest.approx(weights[0] * 0.6 + weights[3])
    assert events(world, number) == ["opened", "approved"]
    assert queue(ana) == []
    [old] = queue(ana, state="approved")
    assert old["content"] == "The sky is blue"


def test_a_rejection_tells_the_writer_why(world: World) -> None:
    """Reason and note are in the detail; the decision is final and in the audit.

    Proves: H4 (reject), H5
    """
    ask(world)
    agent, ana, bob = world.agent(HOME), reviewer(world), reviewer(world)
    number = propose(agent)
    done = decide(ana, "reject", number, "FACTUAL_ERROR", "it is grey today")
    assert (done["outcome"], done["reason"]) == ("REJECTED", "REVIEW_REJECTED")
    assert done["detail"] == {"reason": "FACTUAL_ERROR", "note": "it is grey today"}
    assert status(agent, number)["detail"] == done["detail"]
    late = decide(bob, "approve", number)
    assert (late["outcome"], late["detail"]["state"]) == ("ALREADY_DECIDED", "rejected")
    assert events(world, number) == ["opened", "rejected"]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        decide(ana, "reject", number, "BECAUSE")
    # Nor is it asked about again: what was refused is remembered.
    again = write(agent, "semantic", "The sky is blue")
    assert (again["outcome"], again["reason"]) == ("REJECTED", "KNOWN_NOISE")


def test_an_edited_proposal_passes_every_gate_again(world: World) -> None:
    """An edit that a gate refuses leaves the proposal; another is what is remembered.

    Proves: H4 (edit)
    """
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    number = propose(agent, {"colour": "blue"})
    secret = Jsonb("password: hunter2hunter2hunter2 AKIAIOSFODNN7EXAMPLE")
    refused = decide(ana, "approve_with_edit", number, secret)
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "SENSITIVE_CONTENT")
    [still] = queue(ana)
    assert still["content"] == {"colour": "blue"}
    done = decide(ana, "approve_with_edit", number, {"colour": "grey"}, "it rains")
    assert done["outcome"] == "COMMITTED"
    assert recall(agent, query="colour")[0]["content"] == {"colour": "grey"}
    [change] = world.rows(
        "SELECT detail, note FROM memwarden_data.review_event WHERE event = 'edited'"
    )
    assert change["detail"]["changes"] == [
        {"path": "/colour", "change": "changed", "before": "blue", "after": "grey"}
    ]
    assert len(change["detail"]["original_hash"]) == 64


def test_nobody_answered_is_a_no(world: World) -> None:
    """By the job, by who asks, and by who would approve too late; never by luck.

    Proves: H3 (fail closed), Z9 (expiry)
    """
    ask(world, sync_from=0.0, auto_below=0.0)
    agent, ana = world.agent(HOME), reviewer(world)
    for call in ("job", "await", "approve", "retry"):
        number = propose(agent, f"The sky of {call} is blue")
        assert queue(ana)[0]["tier"] == "sync"
        let_time_pass(world, number)
        if call == "job":
            world.admin.execute("CALL memwarden.expire_reviews()")
        elif call == "approve":
            assert decide(ana, "approve", number)["reason"] == "APPROVAL_TIMEOUT"
        elif call == "retry":
            world.admin.execute(
                "UPDATE memwarden_data.write_request SET retry_at = '-infinity'"
                " WHERE request_id = %s",
                (number,),
            )
            world.admin.execute("CALL memwarden.retry_deferred()")
        assert status(agent, number)["reason"] == "APPROVAL_TIMEOUT", call
        assert events(world, number) == ["opened", "expired"]
    ask(world, sync_from=1.0, auto_below=0.0)
    number = propose(agent)
    let_time_pass(world, number)
    assert status(agent, number)["reason"] == "REVIEW_EXPIRED"


def test_a_sync_proposal_ends_with_the_writers_deadline(world: World) -> None:
    """The smaller of the request's deadline and the configured maximum.

    Proves: H3
    """
    ask(world, sync_from=0.0, auto_below=0.0)
    agent, ana = world.agent(HOME), reviewer(world)
    deadline = world.value("SELECT clock_timestamp() + interval '3 minutes'")
    propose(agent, "The sky is blue", deadline=deadline)
    propose(agent, "The grass is green")
    soon, later = queue(ana)
    assert soon["expires_at"] == deadline == soon["due_at"]
    assert (later["expires_at"] - later["opened_at"]).total_seconds() == pytest.approx(900, abs=2)


def test_several_humans_must_agree_where_the_policy_says_so(world: World) -> None:
    """By different principals and logins; one alone, twice, is one.

    Proves: H6 (n of m)
    """
    ask(world, needed=2)
    agent, ana, bob = world.agent(HOME), reviewer(world), reviewer(world)
    number = propose(agent)
    for _ in range(2):
        waits = decide(ana, "approve", number)
        assert (waits["outcome"], waits["detail"]["approvals"]) == ("DEFERRED", 1)
    done = decide(bob, "approve", number)
    assert done["outcome"] == "COMMITTED"
    [record] = agent.execute(
        "SELECT record FROM memwarden.provenance(%s)", (done["item_id"],)
    ).fetchall()
    assert [one["name"] for one in record["record"]["approvers"]] == [
        ana.info.user,
        bob.info.user,
    ]


def test_an_edit_asks_those_who_had_agreed_again(world: World) -> None:
    """What others agreed to were other words.

    Proves: H4, H6
    """
    ask(world, needed=2)
    agent, ana, bob = world.agent(HOME), reviewer(world), reviewer(world)
    number = propose(agent)
    decide(ana, "approve", number)
    waits = decide(bob, "approve_with_edit", number, Jsonb("The sky is grey"))
    assert (waits["outcome"], waits["detail"]["approvals"]) == ("DEFERRED", 1)
    [shown] = queue(ana)
    assert (shown["content"], shown["approvals"]) == ("The sky is grey", 1)
    assert decide(ana, "approve", number)["outcome"] == "COMMITTED"


def test_approval_says_when_it_no_longer_applies(world: World) -> None:
    """A duplicate meanwhile, a deadline that passed, a scope that closed, a disabled agent.

    Proves: H4 (checks again), Z9
    """
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    twice = propose(agent, "The sky is blue")
    ask(world, approval="never")
    assert write(world.agent(HOME), "semantic", "The sky is blue")["outcome"] == "COMMITTED"
    ask(world)
    late = propose(agent, "Late", deadline=world.value("SELECT now() + interval '1 hour'"))
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET deadline = now() - interval '1 hour'"
        " WHERE request_id = %s",
        (late,),
    )
    disabled = propose(agent, "Disabled")
    answers = [decide(ana, "approve", twice), decide(ana, "approve", late)]
    world.admin.execute("SELECT memwarden.change_agent(%s, enabled => false)", (agent.info.user,))
    answers.append(decide(ana, "approve", disabled))
    assert [(a["outcome"], a["reason"]) for a in answers] == [
        ("REJECTED", "EXACT_DUPLICATE"),
        ("DEADLINE_EXCEEDED", "DEADLINE_PASSED"),
        ("REJECTED", "PRINCIPAL_DISABLED"),
    ]
    for number, answer in zip((twice, late, disabled), answers, strict=True):
        assert events(world, number) == ["opened", "approved", "not_applicable"]
        [said] = queue(ana, state="not_applicable", max_rows=1000, after=None)[:1]
        assert said["state"] == "not_applicable", (number, answer)


def test_what_the_approver_did_not_see_goes_back_to_the_queue(world: World) -> None:
    """Another value of the same thing came meanwhile: shown, and asked again.

    Proves: H4 (checks again)
    """
    agent, ana = world.agent(HOME), reviewer(world)
    ask(world)
    number = propose(agent, "blue", subject="sky", predicate="colour")
    ask(world, approval="never")
    write(agent, "semantic", "red", subject="sky", predicate="colour")
    ask(world)
    again = decide(ana, "approve", number)
    assert (again["outcome"], again["detail"]["reopened"]) == ("DEFERRED", True)
    [shown] = queue(ana)
    assert (shown["current"]["content"], shown["approvals"]) == ("red", 0)
    assert decide(ana, "approve", number)["outcome"] == "COMMITTED"
    assert recall(agent, query="colour")[0]["content"] == "blue"
    assert events(world, number) == ["opened", "approved", "opened", "approved"]


def test_a_yes_carries_out_what_the_contradiction_gate_proposes(world: World) -> None:
    """One queue: reasons of gates and of policies meet in it, and superseding is what is agreed to.

    Proves: V5, F6, H2 (contradictions)
    """
    world.ship_layers()
    world.admin.execute(
        "UPDATE memwarden_data.layer SET fact_threshold = 0, min_authority = 0, min_external = 0,"
        " self_reference = 'allow'"
    )
    agent, other, ana = world.agent(HOME), world.agent(HOME), reviewer(world)
    old = write(other, "semantic", "The door is open", confidence=0.6)
    new = write(agent, "semantic", "The door is not open", confidence=0.9)
    assert (new["outcome"], new["reason"]) == ("DEFERRED", "CONTRADICTION_REVIEW")
    [shown] = queue(ana)
    assert shown["reasons"] == ["CONTRADICTION_REVIEW"]
    [against] = shown["contradictions"]
    assert (against["item_id"], against["becomes"]) == (str(old["item_id"]), "superseded")
    assert against["content"] == "The door is open"
    assert shown["factors"]["contradiction"]["value"] == 1
    done = decide(ana, "approve", str(new["request_id"]))
    assert done["outcome"] == "COMMITTED"
    assert world.value(
        "SELECT status FROM memwarden_data.item WHERE item_id = %s", old["item_id"]
    ) == ("SUPERSEDED")


def test_every_value_of_a_key_that_accumulates_can_be_approved(world: World) -> None:
    """There is no memory that it would renew, and none is shown.

    Proves: H4 (approve)
    """
    world.admin.execute("SELECT memwarden.define_predicate('visited', 'accumulate')")
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    for city in ("Rome", "Oslo"):
        number = propose(agent, city, subject="Ana", predicate="visited")
        assert queue(ana)[0]["current"] is None
        assert decide(ana, "approve", number)["outcome"] == "COMMITTED"
    assert {r["content"] for r in recall(agent, query="Ana visited")} == {"Rome", "Oslo"}
