"""What a human has refused is not asked about again: not in those words, nor in others."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from review.queue.desk import approve, events, propose, reject, reviewer_of

if TYPE_CHECKING:
    from conftest import World

RIVER = "The Danube flows through Budapest and ends in the Black Sea."
SAME = "The Danube flows through Budapest, and it ends in the Black Sea."
OTHERWISE = "The Danube does not flow through Budapest and does not end in the Black Sea."


@pytest.fixture
def compared(shared_world: World) -> Any:
    """Have the layer look for the same in other words during a test."""
    was = shared_world.value(
        "SELECT duplicate_similarity FROM memwarden_data.layer WHERE layer = 'semantic'"
    )
    change = "UPDATE memwarden_data.layer SET duplicate_similarity = %s WHERE layer = 'semantic'"
    shared_world.admin.execute(change, (0.6,))
    yield
    shared_world.admin.execute(change, (was,))


def known(result: DictRow) -> bool:
    """Whether a write was refused as noise."""
    return (result["outcome"], result["reason"]) == ("REJECTED", "KNOWN_NOISE")


@pytest.mark.parametrize(
    "reason", ["FACTUAL_ERROR", "POLICY_VIOLATION", "NOISE", "SENSITIVE", "OUT_OF_SCOPE"]
)
def test_what_was_refused_is_refused_again_without_asking(
    shared_world: World,
    home: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
    reason: str,
) -> None:
    """To the same agent and to another of that scope, spelt otherwise too.

    Proves: H5
    """
    proposal = propose(agent, {"text": "Green Tea is blue"}, subject="tea")
    assert reject(reviewer, proposal, reason, "it is not")["reason"] == "REVIEW_REJECTED"
    other = shared_world.agent(home)
    for writer, text in ((agent, "Green Tea is blue"), (other, "green  tea IS blue")):
        again = write(writer, "semantic", {"text": text}, subject="tea")
        assert known(again)
        assert again["detail"]["rejected_as"] == reason
        assert again["detail"]["proposal_id"] == str(proposal)
    told = events(shared_world, again["request_id"])
    assert [(each["event"], each["reason"]) for each in told] == [("noise", reason)]
    assert propose(agent, {"text": "Green tea is green"}, subject="tea")


@pytest.mark.parametrize("reason", ["INSUFFICIENT_EVIDENCE", "DUPLICATE", "OUTDATED", "OTHER"])
def test_what_may_come_right_is_asked_about_again(
    agent: Connection[DictRow], reviewer: Connection[DictRow], reason: str
) -> None:
    """With better evidence, or at another time.

    Proves: H5
    """
    reject(reviewer, propose(agent, {"text": "Green tea is blue"}), reason)
    propose(agent, {"text": "Green tea is blue"})


@pytest.mark.usefixtures("compared")
def test_the_same_in_other_words_is_known_and_a_correction_is_not(
    agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """The judge says which is which.

    Proves: H5, V10
    """
    reject(reviewer, propose(agent, {"text": RIVER}))
    again = write(agent, "semantic", {"text": SAME})
    assert known(again)
    assert again["detail"]["by"] == "judge"
    propose(agent, {"text": OTHERWISE})
    propose(agent, {"text": "The Danube flows through Vienna and Bratislava."})


def test_noise_is_of_its_scope_and_layer(
    shared_world: World, org: str, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Elsewhere it may be right, and is asked about.

    Proves: H5
    """
    reject(reviewer, propose(agent, {"text": "Green tea is blue"}))
    elsewhere = shared_world.agent(f"/org/{org}/user/{uuid.uuid4().hex[:8]}")
    propose(elsewhere, {"text": "Green tea is blue"})
    assert write(agent, "episodic", {"text": "Green tea is blue"})["outcome"] == "COMMITTED"


def test_who_may_not_see_what_was_refused_is_told_nothing_of_it(
    shared_world: World, home: str, agent: Connection[DictRow]
) -> None:
    """A refusal would tell that somebody said it before.

    Proves: H5, A3
    """
    cleared = shared_world.agent(home, clearance="restricted")
    chief = reviewer_of(shared_world, home, clearance="restricted")
    content = {"text": "Bo is to be dismissed"}
    reject(chief, propose(cleared, content, classification="restricted"))
    assert known(write(cleared, "semantic", content, classification="restricted"))
    propose(agent, content)


def test_noise_ends_by_itself_and_by_a_reviewer(
    shared_world: World, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Who forgets it, and why, is in the audit; an agent cannot.

    Proves: H5
    """
    content = {"text": "Green tea is blue"}
    proposal = propose(agent, content)
    reject(reviewer, proposal)
    assert known(write(agent, "semantic", content))
    forget = "SELECT memwarden.forget_noise(%s, 'I was wrong') AS done"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute(forget, (proposal,))
    outsider = reviewer_of(shared_world, f"/org/{uuid.uuid4().hex[:12]}/user/eve")
    assert outsider.execute(forget, (proposal,)).fetchall() == [{"done": False}]
    [row] = reviewer.execute("SELECT * FROM memwarden.noise").fetchall()
    assert (row["proposal_id"], row["reason"], row["refused"]) == (proposal, "FACTUAL_ERROR", 1)
    assert reviewer.execute(forget, (proposal,)).fetchall() == [{"done": True}]
    assert reviewer.execute("SELECT * FROM memwarden.noise").fetchall() == []
    last = events(shared_world, proposal)[-1]
    assert (last["event"], last["note"], last["detail"]) == (
        "noise",
        "I was wrong",
        {"forgotten": True},
    )
    second = propose(agent, content)
    reject(reviewer, second)
    assert known(write(agent, "semantic", content))
    shared_world.admin.execute(
        "UPDATE memwarden_data.noise SET expires_at = clock_timestamp() WHERE request_id = %s",
        (second,),
    )
    propose(agent, content)
    shared_world.admin.execute("SELECT memwarden.maintain()")
    left = "SELECT count(*) FROM memwarden_data.noise WHERE request_id = %s"
    assert shared_world.value(left, second) == 0


def test_what_a_human_has_before_them_is_theirs_to_decide(
    shared_world: World, home: str, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Two agents proposed the same: the one that is approved is not refused for the other.

    Proves: H5, H4
    """
    first = propose(agent, {"text": "Green tea is blue"})
    second = propose(shared_world.agent(home), {"text": "green tea is blue"})
    reject(reviewer, first)
    assert approve(reviewer, second)["outcome"] == "COMMITTED"


def test_an_organisation_says_what_is_remembered_and_for_how_long(
    shared_world: World, org: str, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """None of it, or for other reasons.

    Proves: H5
    """
    policy = "SELECT memwarden.set_noise_policy(%s::interval, %s::text[], org => %s)"
    shared_world.admin.execute(policy, ("0", ["FACTUAL_ERROR"], org))
    content = {"text": "Green tea is blue"}
    reject(reviewer, propose(agent, content))
    reject(reviewer, propose(agent, content))
    shared_world.admin.execute(policy, ("1 day", ["OUTDATED"], org))
    reject(reviewer, propose(agent, content), "OUTDATED")
    assert known(write(agent, "semantic", content))


def test_what_is_kept_of_noise_is_a_keyed_hash_and_a_place(
    shared_world: World, agent: Connection[DictRow], reviewer: Connection[DictRow]
) -> None:
    """Of what is sensitive not even the place; and both go when its subject is erased.

    Proves: H5, R1
    """
    kept = "SELECT * FROM memwarden_data.noise WHERE request_id = %s"
    plain = propose(agent, {"text": "Ana lives in Rome"}, subject="Ana")
    [waiting] = shared_world.rows(
        "SELECT fingerprint FROM memwarden_data.write_request WHERE request_id = %s", plain
    )
    reject(reviewer, plain)
    [row] = shared_world.rows(kept, plain)
    assert row["embedding"] is not None
    assert row["fingerprint"] != waiting["fingerprint"]
    assert "Rome" not in str(row)
    secret = propose(agent, {"text": "Ana is ill"}, subject="Ana")
    reject(reviewer, secret, "SENSITIVE")
    assert shared_world.rows(kept, secret)[0]["embedding"] is None
    org = shared_world.value(
        "SELECT o.name FROM memwarden_data.write_request AS r"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE request_id = %s",
        plain,
    )
    shared_world.admin.execute(
        "SELECT memwarden.erase_subject('Ana', 'asked for it', org => %s)", (org,)
    )
    assert shared_world.rows(kept, plain) + shared_world.rows(kept, secret) == []
