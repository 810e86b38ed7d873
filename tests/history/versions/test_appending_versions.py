"""What says again what an earlier version said rests on the memories on which that one rested."""

from __future__ import annotations

from uuid import UUID

from access import call
from history.versions.past import Agent, cites, rolled_back, say
from scope_calls import remember


def basis(agent: Agent, item: UUID) -> set[UUID]:
    """The memories that a memory rests on."""
    rows = call(agent, "lineage", item_id=item, depth=1)
    return {row["related_item"] for row in rows}


def test_what_a_rollback_brings_back_rests_on_what_it_did(home: str, curator: Agent) -> None:
    """And not on what the version cites that was taken back.

    Proves: P6
    """
    good, bad = (remember(curator, home, text) for text in ("a letter", "a rumour"))
    item = say(curator, "Lund", evidence=cites(good))["item_id"]
    say(curator, "Oslo", evidence=cites(bad))
    assert basis(curator, item) == {bad}
    rolled_back(curator, item)
    assert basis(curator, item) == {good}


def test_what_is_merged_rests_on_what_both_did(home: str, curator: Agent) -> None:
    """The words are those of one; the basis is of one and the other.

    Proves: P6
    """
    one, other = (remember(curator, home, text) for text in ("a letter", "a call"))
    kept = say(curator, "Lund", evidence=cites(one))["item_id"]
    gone = say(curator, "lund", evidence=cites(other), subject="A.")["item_id"]
    call(curator, "merge", item_id=kept, absorbed=gone, reason="the same")
    assert {one, other} <= basis(curator, kept)
