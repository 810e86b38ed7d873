"""Many decisions at once: what was looked at, all of it and nothing else."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from races import together
from review.queue.desk import approve, events, propose, reject, reviewer_of

if TYPE_CHECKING:
    from conftest import World


def preview(connection: Connection[DictRow], **arguments: Any) -> DictRow:
    """See what would be decided."""
    casts = {"reasons": "::text[]"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in arguments)
    row = connection.execute(
        f"SELECT * FROM memwarden.preview_decisions({named})", arguments
    ).fetchone()
    assert row is not None
    return row


def decide_many(
    connection: Connection[DictRow],
    seen: DictRow,
    decision: str = "approve",
    reason: str | None = None,
    note: str | None = None,
) -> list[DictRow]:
    """Decide what was seen."""
    return connection.execute(
        "SELECT * FROM memwarden.decide_many(%s, %s, %s, %s, %s)",
        (decision, seen["proposal_ids"], seen["digest"], reason, note),
    ).fetchall()


def test_what_was_previewed_is_decided_and_nothing_else(
    shared_world: World,
    home: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """By agent, as any filter; what came since waits.

    Proves: H4
    """
    other = shared_world.agent(home)
    mine = {propose(agent, {"text": f"thing number {number}"}) for number in range(5)}
    theirs = propose(other, {"text": "something else"})
    seen = preview(reviewer, agent=agent.info.user)
    assert (seen["proposals"], set(seen["proposal_ids"])) == (5, mine)
    assert seen["agents"] == [agent.info.user]
    assert set(preview(reviewer)["proposal_ids"]) == mine | {theirs}
    later = propose(agent, {"text": "thing number 6"})
    decided = decide_many(reviewer, seen, note="as discussed")
    assert {each["proposal_id"] for each in decided} == mine
    assert {(each["outcome"], each["error"]) for each in decided} == {("COMMITTED", None)}
    for proposal in mine:
        last = events(shared_world, proposal)[-1]
        assert (last["event"], last["note"]) == ("approved", "as discussed")
        assert last["login"] == reviewer.info.user
    assert set(preview(reviewer)["proposal_ids"]) == {theirs, later}


def test_many_are_rejected_with_one_reason(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Each remembered as noise.

    Proves: H4, H5
    """
    for number in range(4):
        propose(agent, {"text": f"thing number {number}"})
    decided = decide_many(reviewer, preview(reviewer), "reject", "NOISE", "chatter")
    assert {(each["outcome"], each["reason"]) for each in decided} == {
        ("REJECTED", "REVIEW_REJECTED")
    }
    assert preview(reviewer)["proposals"] == 0
    assert len(reviewer.execute("SELECT * FROM memwarden.noise").fetchall()) == 4


def test_nothing_is_decided_when_one_is_no_longer_what_was_seen(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """One was decided meanwhile; or the set or its digest is not that of a preview.

    Proves: H4
    """
    first, second = (propose(agent, {"text": f"thing number {n}"}) for n in range(2))
    seen = preview(reviewer)
    reject(reviewer, first, "OTHER")
    for wrong in (
        seen,
        seen | {"proposal_ids": [second]},
        preview(reviewer) | {"proposal_ids": [second, uuid.uuid4()]},
        preview(reviewer) | {"proposal_ids": [second, second]},
        preview(reviewer) | {"digest": None},
        preview(reviewer) | {"digest": "0" * 64},
    ):
        with pytest.raises(psycopg.errors.SerializationFailure):
            decide_many(reviewer, wrong)
    assert preview(reviewer)["proposal_ids"] == [second]
    assert decide_many(reviewer, preview(reviewer))[0]["outcome"] == "COMMITTED"


def test_one_that_cannot_be_decided_harms_no_other(
    shared_world: World, home: str, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Four eyes hold for each; so does what is no longer applicable.

    Proves: H4, H6
    """
    own = shared_world.agent(home)
    shared_world.admin.execute(
        "UPDATE memwarden_data.principal AS p SET owner_id = o.principal_id"
        "  FROM memwarden_data.principal AS o WHERE p.name = %s AND o.name = %s",
        (own.info.user, reviewer.info.user),
    )
    fine = [propose(agent, {"text": f"thing number {number}"}) for number in range(3)]
    forbidden = propose(own, {"text": "of an agent of the reviewer's"})
    seen = preview(reviewer)
    assert set(seen["proposal_ids"]) == {*fine, forbidden}
    decided = {each["proposal_id"]: each for each in decide_many(reviewer, seen)}
    assert {decided[each]["outcome"] for each in fine} == {"COMMITTED"}
    assert (decided[forbidden]["outcome"], decided[forbidden]["error"]) == (None, "42501")
    assert preview(reviewer)["proposal_ids"] == [forbidden]


def test_a_digest_is_of_who_looked(
    shared_world: World,
    home: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
) -> None:
    """Another decides what it has looked at itself; an agent never does.

    Proves: H4
    """
    propose(agent, {"text": "thing"})
    seen = preview(reviewer)
    colleague = reviewer_of(shared_world, home)
    with pytest.raises(psycopg.errors.SerializationFailure):
        decide_many(colleague, seen)
    outsider = reviewer_of(shared_world, f"/org/{uuid.uuid4().hex[:12]}/user/eve")
    assert preview(outsider)["proposals"] == 0
    with pytest.raises(psycopg.errors.SerializationFailure):
        decide_many(outsider, seen)
    for call in (preview, lambda connection: decide_many(connection, seen)):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call(agent)
    assert preview(colleague)["proposals"] == 1


def test_malformed_decisions_are_refused(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Proves: H4."""
    propose(agent, {"text": "thing"})
    seen = preview(reviewer)
    for decision, reason in (
        ("delete", None),
        (None, None),
        ("reject", None),
        ("approve", "NOISE"),
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            decide_many(reviewer, seen, decision, reason)  # type: ignore[arg-type]
    for most in (0, 1001, None):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            preview(reviewer, max_rows=most)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        decide_many(reviewer, seen | {"proposal_ids": []})
    assert {each["error"] for each in decide_many(reviewer, seen, "reject", "BECAUSE")} == {"22023"}


def test_reviewers_at_once_decide_each_proposal_once(
    shared_world: World, home: str, org: str, agent: Connection[DictRow]
) -> None:
    """Eight of them: six approve or reject all, two take them one by one.

    Proves: H4
    """
    proposals = [propose(agent, {"text": f"thing number {number}"}) for number in range(12)]
    reviewers = [reviewer_of(shared_world, home) for _ in range(8)]

    def all_at_once(connection: Connection[DictRow], *decision: str) -> None:
        # All are decided already, or some since it looked.
        empty, changed = psycopg.errors.InvalidParameterValue, psycopg.errors.SerializationFailure
        with contextlib.suppress(empty, changed):
            decide_many(connection, preview(connection), *decision)

    def one_by_one(connection: Connection[DictRow]) -> None:
        for proposal in reversed(proposals):
            approve(connection, proposal)

    together(
        [lambda each=each: all_at_once(each) for each in reviewers[:3]]
        + [lambda each=each: all_at_once(each, "reject", "OTHER") for each in reviewers[3:6]]
        + [lambda each=each: one_by_one(each) for each in reviewers[6:]]
    )
    for proposal in proposals:
        said = [each["event"] for each in events(shared_world, proposal)]
        assert said in (["opened", "approved"], ["opened", "rejected"])
    assert shared_world.value(
        "SELECT count(*) FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s",
        org,
    ) == sum(events(shared_world, each)[-1]["event"] == "approved" for each in proposals)
