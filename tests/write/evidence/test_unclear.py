"""Evidence that neither bears a claim out nor denies it waits for a person."""

from __future__ import annotations

from typing import Any

import pytest

from write.evidence.conftest import DOCS, Office, cite

CLAIM = "Mira runs the bakery at the harbour with her cousin"
UNCLEAR = "The bakery opens at six, says Mira."


def unclear(office: Office, **arguments: Any) -> Any:
    """Write a claim of which the evidence says a part."""
    return office.write(CLAIM, cite(f"{DOCS}bakery", UNCLEAR), **arguments)


def reviewer(office: Office) -> Any:
    """A person of the organisation who may decide."""
    role = office.world.register(
        f"/org/{office.org}",
        groups=("memwarden_reviewer",),
        kind="human",
        role="reviewer",
        descendants=True,
    )
    return office.world.connect(role)


def test_it_waits_whatever_the_approval_policy_says(office: Office) -> None:
    """With what was found of each reference; nothing is lost and nothing is remembered yet.

    Proves: V2, H2
    """
    answer = unclear(office)
    assert (answer["outcome"], answer["reason"]) == ("DEFERRED", "EVIDENCE_UNCLEAR")
    [told] = answer["detail"]["evidence"]
    assert (told["authority"], told["contradicts"]) == (1.0, False)
    assert 0 <= answer["detail"]["fact_score"] < answer["detail"]["threshold"]
    count = "SELECT count(*) FROM memwarden_data.item WHERE search_vector @@ to_tsquery('bakery')"
    assert office.world.value(count) == 0


def test_a_persons_yes_commits_it_and_leaves_the_score_as_it_is(office: Office) -> None:
    """The queue shows the evidence and its support; the same is not asked again.

    Proves: V2, H4
    """
    asked = unclear(office)
    person = reviewer(office)
    [shown] = person.execute(
        "SELECT reasons, evidence FROM memwarden.review_queue() WHERE proposal_id = %s",
        (asked["request_id"],),
    ).fetchall()
    assert "EVIDENCE_UNCLEAR" in shown["reasons"]
    assert 0 <= shown["evidence"][0]["support"] < 0.8
    row = person.execute("SELECT * FROM memwarden.approve(%s)", (asked["request_id"],)).fetchone()
    assert row is not None
    assert row["outcome"] == "COMMITTED"
    assert office.score(row) == pytest.approx(asked["detail"]["fact_score"])


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [cite(f"{DOCS}bakery")],
        [cite(f"{DOCS}bakery", "Mira does not run the bakery at the harbour with her cousin.")],
    ],
)
def test_none_a_denial_and_nothing_to_read_are_refused(office: Office, evidence: Any) -> None:
    """No person could find the claim in that. Proves: V2, V9."""
    answer = office.write(CLAIM, *evidence)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "INSUFFICIENT_EVIDENCE")
