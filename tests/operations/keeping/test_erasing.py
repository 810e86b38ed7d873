"""What was said about pins, holds and actions names nobody who was erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operations.erasure.conftest import holding, remember

if TYPE_CHECKING:
    from operations.keeping.conftest import Office


def test_reasons_lifted_holds_and_actions_lose_the_name(office: Office) -> None:
    """Of memories that stay too; who held, pinned and acted, and when, stays.

    Proves: R1 (pins, holds, links), Z5
    """
    agent, curator = office.agent(), office.person()
    word = f"zz{office.org}"
    kept = remember(agent, "tea")
    gone = remember(agent, f"{word} likes tea", subject=word, predicate="likes")
    curator.execute("SELECT memwarden.pin(%s, %s)", (kept, f"for {word}"))
    curator.execute("SELECT memwarden.pin(%s, %s)", (gone, f"for {word}"))
    version = office.world.value(
        "SELECT version_id FROM memwarden_data.item WHERE item_id = %s", kept
    )
    agent.execute("SELECT memwarden.link_action(%s, %s)", (f"mail:{word}", [version]))
    in_force = office.hold(item_id=kept, reason=f"{word} against us")
    for arguments in ({"subject": word}, {"texts": [word, "other"]}):
        office.lift(office.hold(**arguments))
    asked = office.erase(word, word)
    assert asked["status"] == "COMPLETED"
    assert holding(office.world, word) == set()
    assert office.held(kept) == {kept}
    [pin] = curator.execute("SELECT item_id, reason FROM memwarden.pins").fetchall()
    assert (pin["item_id"], pin["reason"]) == (kept, "")
    holds = curator.execute("SELECT hold_id, lifted_at FROM memwarden.holds").fetchall()
    assert [h["hold_id"] for h in holds if h["lifted_at"] is None] == [in_force]
    assert len(holds) == 3
    [link] = agent.execute("SELECT action_id FROM memwarden.action_links").fetchall()
    assert link["action_id"].startswith("erased ")
