"""What reviewers say reaches the agent that it is about, and how it fares is counted."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from review.queue.desk import approve, edit, make_overdue, propose, reject, reviewer_of

if TYPE_CHECKING:
    from conftest import World


def feed(connection: Connection[DictRow], **arguments: Any) -> list[DictRow]:
    """Read the feedback."""
    casts = {"reasons": "::text[]", "since": "::timestamptz", "after": "::uuid"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in arguments)
    return connection.execute(f"SELECT * FROM memwarden.feedback({named})", arguments).fetchall()


def test_an_agent_learns_why_it_was_refused_and_what_was_changed(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Reason and note of a rejection; of a correction what was said before and after.

    Proves: H5
    """
    wrong = propose(agent, {"text": "Tea is blue"}, subject="tea", predicate="has colour")
    reject(reviewer, wrong, "FACTUAL_ERROR", "look at a cup")
    close = propose(agent, {"drink": "Tea", "hot": True}, subject="Ana", predicate="prefers")
    assert edit(reviewer, close, {"drink": "Green tea", "hot": True})["outcome"] == "COMMITTED"
    propose(agent, {"text": "nobody has looked at this yet"})
    write(agent, "semantic", {"text": "Tea is blue"}, subject="tea", predicate="has colour")
    rejected, corrected, noise = feed(agent)
    assert (rejected["event"], rejected["reason"]) == ("rejected", "FACTUAL_ERROR")
    assert (rejected["proposal_id"], rejected["note"]) == (wrong, "look at a cup")
    assert (rejected["subject"], rejected["content"]) == ("tea", {"text": "Tea is blue"})
    assert (corrected["event"], corrected["proposal_id"]) == ("edited", close)
    assert corrected["content"] == {"drink": "Green tea", "hot": True}
    assert corrected["changes"] == [
        {"path": "/drink", "change": "changed", "before": "Tea", "after": "Green tea"}
    ]
    assert (noise["event"], noise["reason"]) == ("noise", "FACTUAL_ERROR")


def test_an_agent_is_briefed_on_the_policies_that_it_met(
    shared_world: World, home: str, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Its own alone, the most frequent first; what else was wrong is no policy.

    Proves: H5
    """
    for number in range(2):
        said = propose(agent, {"text": f"Ana earns {number}000 a month"}, predicate="earns")
        reject(reviewer, said, "POLICY_VIOLATION", "no salaries")
    other = propose(agent, {"text": "Bob is ill"}, subject="Bob", predicate="health")
    reject(reviewer, other, "POLICY_VIOLATION", "no health")
    reject(reviewer, propose(agent, {"text": "Rome is in Spain"}), "FACTUAL_ERROR", "it is not")
    told = agent.execute("SELECT policy, layer, topic, times FROM memwarden.brief()").fetchall()
    assert [tuple(row.values()) for row in told] == [
        ("no salaries", "semantic", "earns", 2),
        ("no health", "semantic", "health", 1),
    ]
    colleague = shared_world.agent(home)
    assert colleague.execute("SELECT * FROM memwarden.brief()").fetchall() == []
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        agent.execute("SELECT * FROM memwarden.brief(max_rows => 0)")


def test_the_feed_is_read_on_from_where_it_was_left(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """By the number of the last event; or narrowed by reason, layer and time.

    Proves: H5
    """
    reasons = ["NOISE", "POLICY_VIOLATION", "OUTDATED"]
    for number, reason in enumerate(reasons):
        reject(reviewer, propose(agent, {"text": f"thing number {number}"}), reason)
    first, second = feed(agent, max_rows=2)
    [third] = feed(agent, after=second["event_id"])
    assert [each["reason"] for each in (first, second, third)] == reasons
    assert feed(agent, after=third["event_id"]) == []
    [violation] = feed(agent, reasons=["POLICY_VIOLATION"])
    assert violation == second
    assert feed(agent, layer="procedural") == []
    assert feed(agent, since=third["at"]) == [third]
    for most in (0, 1001, None):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            feed(agent, max_rows=most)


def test_an_agent_reads_what_is_about_itself_alone(
    shared_world: World,
    home: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """A reviewer what it may decide about, of every agent there; nobody elsewhere anything.

    Proves: H5, A1
    """
    other = shared_world.agent(home)
    reject(reviewer, propose(agent, {"text": "mine"}), "OTHER", "a word to you")
    reject(reviewer, propose(other, {"text": "yours"}), "OTHER")
    assert [each["content"]["text"] for each in feed(agent)] == ["mine"]
    assert [each["content"]["text"] for each in feed(other)] == ["yours"]
    assert [each["content"]["text"] for each in feed(reviewer)] == ["mine", "yours"]
    assert len(feed(reviewer, agent=other.info.user)) == 1
    assert feed(other, agent=agent.info.user) == []
    elsewhere = f"/org/{uuid.uuid4().hex[:12]}/user/eve"
    for outsider in (shared_world.agent(elsewhere), reviewer_of(shared_world, elsewhere)):
        assert feed(outsider) == []
        assert rates(outsider) == []
    beside = reviewer_of(shared_world, home.replace("/user/ana", "/user/bo"))
    assert feed(beside) == []


def rates(connection: Connection[DictRow]) -> list[DictRow]:
    """Read the approval rates."""
    return connection.execute("SELECT * FROM memwarden.approval_rates()").fetchall()


def test_approval_rates_are_counted_by_agent_layer_and_topic(
    shared_world: World,
    home: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """From what was decided; who may not read the words gets the numbers.

    Proves: H5
    """
    other = shared_world.agent(home)
    for number in range(3):
        approve(reviewer, propose(agent, {"drink": number}, subject="Ana", predicate=f"p{number}"))
    for number in range(2):
        text = {"drink": f"cup {number}"}
        reject(reviewer, propose(agent, text, subject=f"s{number}", predicate="prefers"))
    edited = propose(agent, {"drink": "tea"}, subject="Bo", predicate="prefers")
    edit(reviewer, edited, {"drink": "green tea"})
    propose(agent, {"drink": "milk"}, subject="Cy", predicate="prefers")
    write(agent, "semantic", {"drink": "cup 0"}, subject="s0", predicate="prefers")
    approve(reviewer, propose(other, {"text": "Danube"}, subject="rivers"))
    by_topic = {each["topic"]: each for each in rates(agent)}
    assert set(by_topic) == {"p0", "p1", "p2", "prefers"}
    assert by_topic["p0"]["approval_rate"] == 1
    row = by_topic["prefers"]
    assert (row["proposals"], row["pending"], row["noise"]) == (5, 1, 1)
    assert (row["edited"], row["rejected"]) == (1, 2)
    assert row["approval_rate"] == pytest.approx(1 / 3)
    assert {each["agent"] for each in rates(reviewer)} == {agent.info.user, other.info.user}
    auditor = shared_world.agent(home, groups=("memwarden_auditor",), role="executor")
    seen = {each["agent"]: each for each in rates(auditor)}
    assert {each["topic"] for each in seen.values()} == {None}
    assert (seen[agent.info.user]["proposals"], seen[agent.info.user]["approved"]) == (8, 3)


def test_the_load_and_who_carries_it_are_seen(
    shared_world: World,
    home: str,
    org: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """Ages and breaches of what waits; decisions by reviewer and day.

    Proves: H2, Z9, F11, Q7 (operator throughput)
    """
    proposals = [propose(agent, {"text": f"thing number {number}"}) for number in range(5)]
    for proposal in proposals[:3]:
        make_overdue(shared_world, proposal, "5 hours")
    approve(reviewer, proposals[0])
    reject(reviewer, proposals[4], "OTHER")
    auditor = shared_world.agent(home, groups=("memwarden_auditor",))
    for seer in (reviewer, auditor):
        [row] = seer.execute("SELECT * FROM memwarden.review_load").fetchall()
        assert (row["org"], row["layer"], row["tier"]) == (org, "semantic", "async")
        assert (row["pending"], row["overdue"], row["escalated"]) == (3, 2, 0)
        assert row["oldest_age"].total_seconds() >= 10 * 3600
        assert row["median_age"].total_seconds() >= 10 * 3600
    query = "SELECT * FROM memwarden.reviewer_throughput"
    for seer in (reviewer, auditor):
        [row] = seer.execute(query).fetchall()
        assert row["reviewer"] == reviewer.info.user
        assert (row["approved"], row["rejected"], row["decided"], row["late"]) == (1, 1, 2, 1)
    elsewhere = f"/org/{uuid.uuid4().hex[:12]}/user/eve"
    outsider = shared_world.agent(elsewhere, groups=("memwarden_auditor",))
    beside = reviewer_of(shared_world, home.replace("/user/ana", "/user/bo"))
    for stranger in (outsider, beside):
        assert stranger.execute("SELECT * FROM memwarden.review_load").fetchall() == []
        assert stranger.execute(query).fetchall() == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT * FROM memwarden.review_load")
