"""Nobody decides: the next one is told, level by level, once each."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from races import together
from review.queue.desk import (
    approve,
    claim,
    events,
    make_overdue,
    notices,
    propose,
    set_channel,
    wait_for_humans,
)

if TYPE_CHECKING:
    from conftest import World


def escalate(world: World) -> None:
    """Run the job."""
    world.admin.execute("CALL memwarden.escalate_reviews()")


def level_of(world: World, proposal: uuid.UUID) -> int:
    """How far a review has been escalated."""
    value = world.value(
        "SELECT escalated FROM memwarden_data.review WHERE request_id = %s", proposal
    )
    return int(value)


def chain(world: World, org: str, *levels: tuple[str, str | None], layer: str = "semantic") -> None:
    """Set the levels of an organisation's escalation: after what, and which channel."""
    for number, (after, channel) in enumerate(levels, 1):
        world.admin.execute(
            "SELECT memwarden.set_escalation(%s, %s, %s::interval, %s, org => %s)",
            (layer, number, after, channel, org),
        )


def test_a_breach_is_told_and_a_longer_one_to_the_next(
    shared_world: World, org: str, agent: Connection[DictRow], worker: Connection[DictRow]
) -> None:
    """Each level once, to the channel that it names and to no other.

    Proves: H2, Z9
    """
    desk, chief = f"k{uuid.uuid4().hex[:8]}", f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, "desk", kind=desk, events=["escalated"])
    set_channel(shared_world, org, "chief", kind=chief, events=["expired"])
    chain(shared_world, org, ("0", None), ("2 hours", "chief"))
    proposal = propose(agent, {"text": "tea"})
    escalate(shared_world)
    assert level_of(shared_world, proposal) == 0
    make_overdue(shared_world, proposal, "1 hour")
    escalate(shared_world)
    escalate(shared_world)
    assert level_of(shared_world, proposal) == 1
    [told] = claim(worker, desk)
    assert (told["notice"]["event"], told["notice"]["escalated"]) == ("escalated", 1)
    assert claim(worker, chief) == []
    make_overdue(shared_world, proposal, "3 hours")
    escalate(shared_world)
    escalate(shared_world)
    assert level_of(shared_world, proposal) == 2
    assert [each["notice"]["escalated"] for each in claim(worker, chief)] == [2]
    assert [each["detail"]["level"] for each in events(shared_world, proposal)[1:]] == [1, 2]


def test_a_review_that_was_long_forgotten_climbs_level_by_level(
    shared_world: World, org: str, agent: Connection[DictRow]
) -> None:
    """Nobody on the way is left out.

    Proves: H2
    """
    chain(shared_world, org, ("0", None), ("1 hour", None), ("2 hours", None), ("300 days", None))
    proposal = propose(agent, {"text": "tea"})
    make_overdue(shared_world, proposal, "3 hours")
    escalate(shared_world)
    assert level_of(shared_world, proposal) == 3


def test_what_is_decided_is_escalated_no_more(
    shared_world: World,
    org: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """However late.

    Proves: H2
    """
    chain(shared_world, org, ("0", None))
    proposal = propose(agent, {"text": "tea"})
    make_overdue(shared_world, proposal)
    assert approve(reviewer, proposal)["outcome"] == "COMMITTED"
    escalate(shared_world)
    assert level_of(shared_world, proposal) == 0


def test_two_jobs_at_once_escalate_once(
    shared_world: World, org: str, agent: Connection[DictRow]
) -> None:
    """Eight of them, twenty reviews, one event each.

    Proves: H2
    """
    set_channel(shared_world, org, events=["escalated"])
    chain(shared_world, org, ("0", None))
    proposals = [propose(agent, {"text": f"thing number {number}"}) for number in range(20)]
    for proposal in proposals:
        make_overdue(shared_world, proposal)
    jobs = [shared_world.connect(shared_world.role("memwarden_jobs")) for _ in range(8)]
    call = "CALL memwarden.escalate_reviews()"
    together([lambda each=each: each.execute(call) for each in jobs])  # type: ignore[misc]
    for proposal in proposals:
        named = [each["event"] for each in events(shared_world, proposal)]
        assert named == ["opened", "escalated"]
    assert len(notices(shared_world, org)) == 20


def test_a_chain_of_the_organisation_and_of_the_layer_goes_first(
    shared_world: World, org: str, agent: Connection[DictRow]
) -> None:
    """Everybody's holds where there is none; a level can be taken away.

    Proves: H2
    """
    wait_for_humans(shared_world, org, "procedural")
    semantic = propose(agent, {"text": "tea"})
    procedural = propose(agent, {"text": "how to make tea"}, layer="procedural")
    chain(shared_world, org, ("10 days", None), layer="*")
    chain(shared_world, org, ("0", None))
    for proposal in (semantic, procedural):
        make_overdue(shared_world, proposal)
    escalate(shared_world)
    assert (level_of(shared_world, semantic), level_of(shared_world, procedural)) == (1, 0)
    shared_world.admin.execute("SELECT memwarden.set_escalation('*', 1, NULL, org => %s)", (org,))
    escalate(shared_world)
    assert level_of(shared_world, procedural) == 1
    with pytest.raises(psycopg.errors.UndefinedObject):
        shared_world.admin.execute(
            "SELECT memwarden.set_escalation('*', 1, NULL, org => %s)", (org,)
        )


def test_what_cannot_be_is_refused(shared_world: World, home: str, org: str) -> None:
    """Unknown layers and channels, levels and times out of range; and callers without the right.

    Proves: H2, A1
    """
    for call, state in (
        ("'nowhere', 1, '1 hour'", "42704"),
        ("'semantic', 0, '1 hour'", "22023"),
        ("'semantic', 1, '-1 hour'", "22023"),
        ("'semantic', 1, '1 hour', 'nobody'", "42704"),
    ):
        with pytest.raises(psycopg.Error) as raised:
            shared_world.admin.execute(f"SELECT memwarden.set_escalation({call}, org => '{org}')")
        assert raised.value.sqlstate == state, call
    for group in ("agent", "reviewer", "auditor"):
        connection = shared_world.agent(home, groups=(f"memwarden_{group}",))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT memwarden.set_escalation('semantic', 1, '1 hour')")
