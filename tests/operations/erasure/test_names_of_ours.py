"""An identifier that is also a word of the store's own is erased like any other."""

from __future__ import annotations

import pytest

from helpers import write
from operations.erasure.conftest import Desk, cites, holding, remember

OURS = [
    *("gate", "reason", "subject", "predicate", "outcome", "evidence", "detail", "type", "uri"),
    *("COMMITTED", "REJECTED", "INVALID_CONFIDENCE", "12_schema", "origin", "kind", "internal"),
    *("request_id", "attempt", "authority", "semantic", "gated", "writes", "50"),
]


@pytest.mark.parametrize("word", OURS)
def test_a_word_of_the_stores_own_is_no_trace_of_a_person(desk: Desk, word: str) -> None:
    """What names a person of that name goes; no request and no memory beside it does.

    Proves: R1 (direct matches)
    """
    agent = desk.agent()
    base = remember(agent, {"note": "base"}, origin={"task": "greeting"})
    kept = [base, remember(agent, {"note": "the room is warm"}, evidence=cites(base))]
    for content, more in (({"note": "cold"}, {"confidence": 2.0}), ({"note": "of one"}, {})):
        write(agent, "semantic", content, **more)
    gone = remember(agent, {"note": f"They call her {word} at work"})
    done = desk.erase("zelda zqo", word)
    assert (done["items"], done["requests"]) == (1, 1)
    items = desk.world.rows(
        "SELECT item_id FROM memwarden_data.item AS i JOIN memwarden_data.organisation AS o"
        " USING (org_id) WHERE o.name = %s",
        desk.org,
    )
    left = {row["item_id"] for row in items}
    assert set(kept) <= left
    assert gone not in left
    assert desk.findings() == []


def test_a_name_in_an_objects_names_is_still_found(desk: Desk) -> None:
    """In a content names are the writer's words.

    Proves: R1 (direct matches)
    """
    remember(desk.agent(), {"Zelda Zqn": "likes tea"})
    assert desk.erase("nobody", "zelda zqn")["items"] == 1
    assert holding(desk.world, "zqn") == set()
