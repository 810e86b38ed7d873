"""An erasure finds what reviewers said, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewing import HOME, ask, decide, propose, queue, reviewer

if TYPE_CHECKING:
    from conftest import World


def test_a_person_is_erased_from_proposals_and_their_audit(world: World) -> None:
    """What waits is refused; of what was decided, who and when stays and no word.

    Proves: R1 (reviews)
    """
    ask(world)
    agent, ana = world.agent(HOME), reviewer(world)
    waits = propose(agent, "Petra Horvat lives in Zagreb", justification="Petra said so")
    noted = propose(agent, {"city": "Split"})
    decide(ana, "approve_with_edit", noted, {"city": "Zadar"}, "asked Petra Horvat")
    world.admin.execute(
        "SELECT * FROM memwarden.erase_subject('Petra Horvat', 'asked', ARRAY['Petra'], 'acme')"
    )
    assert queue(ana) == []
    assert world.value(
        "SELECT reason FROM memwarden_data.write_request WHERE request_id = %s", waits
    ) == ("SUBJECT_ERASED")
    left = str(world.rows("SELECT * FROM memwarden_data.review_event")) + str(
        world.rows("SELECT * FROM memwarden_data.review")
    )
    assert "Petra" not in left
    assert "Zadar" not in left
    assert ana.info.user in left
    assert [
        row["event"]
        for row in world.rows(
            "SELECT event FROM memwarden_data.review_event WHERE request_id = %s ORDER BY event_id",
            waits,
        )
    ] == ["opened", "not_applicable"]
