"""A classifier outside the database has a word about what the rules find suspicious."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from helpers import write
from traces import traces

if TYPE_CHECKING:
    from conftest import World

MAIL = "ana.silva@example.org"


@pytest.fixture
def worker(world: World) -> Connection[DictRow]:
    """The layer semantic asks one classifier; this is the login of its worker."""
    call(world.admin, "require_verifier", layer="semantic", purpose="classify", plugin="careful")
    return world.connect(world.role("memwarden_worker"))


def answer(worker: Connection[DictRow], verdict: dict[str, Any]) -> DictRow:
    """Answer the one question that is waiting; return it."""
    jobs = call(worker, "claim_jobs", worker="w", plugins=["careful"])
    assert len(jobs) == 1
    call(worker, "complete_job", job_id=jobs[0]["job_id"], worker="w", verdict=Jsonb(verdict))
    return jobs[0]


def test_suspicious_content_waits_for_the_classifier(
    world: World, worker: Connection[DictRow]
) -> None:
    """It is asked about what was flagged and nothing else; accepted, the write commits, marked.

    Proves: L10
    """
    agent = world.agent()
    assert write(agent, "semantic", {"text": "tea is ready"})["outcome"] == "COMMITTED"
    waiting = write(agent, "semantic", {"text": f"home of {MAIL}"})
    assert (waiting["outcome"], waiting["reason"]) == ("DEFERRED", "AWAITING_VERDICT")
    job = answer(worker, {"decision": "accept", "score": 0.1})
    assert MAIL in job["payload"]["text"]
    assert [finding["kind"] for finding in job["payload"]["findings"]] == ["pii.email"]
    status = call(agent, "request_status", request_id=waiting["request_id"])[0]
    assert status["outcome"] == "COMMITTED"
    item = call(agent, "get", item_id=status["item_id"])[0]
    assert item["provenance"]["sensitivity"] == "suspicious"


def test_what_a_classifier_refuses_is_blocked_and_forgotten(
    world: World, worker: Connection[DictRow]
) -> None:
    """Its kind is listed, its words are not, and no copy stays, in its question neither.

    Proves: L10
    """
    agent = world.agent()
    waiting = write(agent, "semantic", {"text": f"home of {MAIL}"})
    answer(
        worker,
        {"decision": "reject", "score": 0.9, "detail": {"kind": "pii.home", "why": f"{MAIL}!"}},
    )
    status = call(agent, "request_status", request_id=waiting["request_id"])[0]
    assert (status["outcome"], status["reason"]) == ("REJECTED", "SENSITIVE_CONTENT")
    assert [(f["rule"], f["kind"]) for f in status["detail"]["findings"]] == [
        ("classifier.careful", "pii.home")
    ]
    kept = world.rows("SELECT content, subject, evidence FROM memwarden_data.write_request")
    assert kept == [{"content": None, "subject": None, "evidence": None}]
    assert set(traces(world, MAIL)) <= {"job", "verdict"}


def test_the_classifier_sees_what_is_left(world: World, worker: Connection[DictRow]) -> None:
    """What is redacted is not sent to it.

    Proves: L10, F7
    """
    call(world.admin, "set_sensitivity_action", action="redact", kind="pii.email")
    agent = world.agent()
    waiting = write(agent, "semantic", {"text": f"{MAIL} or +49 30 901820"})
    assert waiting["reason"] == "AWAITING_VERDICT"
    assert traces(world, MAIL) == []
    job = answer(worker, {"decision": "accept"})
    assert "[pii.email] or +49" in job["payload"]["text"]
    status = call(agent, "request_status", request_id=waiting["request_id"])[0]
    assert status["outcome"] == "COMMITTED"
    found = world.rows("SELECT rule, action FROM memwarden.sensitivity_findings ORDER BY rule")
    assert [(row["rule"], row["action"]) for row in found] == [
        ("pii.email", "redact"),
        ("pii.phone", "flag"),
    ]
