"""One function says how firmly a memory may be said, by the last record of its version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import World

DOCUMENT: dict[str, Any] = {"held": True, "support": 1, "independent": True, "declared": False}
DOCUMENT |= {"registered": True, "authority": 0.9, "words_of": "document"}
PERSON = DOCUMENT | {"words_of": "person", "about_self": True}
MEMORY = DOCUMENT | {"words_of": "memory", "standing": "verified"}
LOOKED = [{"verifier": "retrieval", "score": 0.9, "looked": True}]

CASES: list[tuple[str, dict[str, Any]]] = [
    ("verified", DOCUMENT),
    ("verified", PERSON),
    # Its own capture, whatever the registry says of the source; its own application is declared.
    ("reported", PERSON | {"independent": False}),
    ("supported", PERSON | {"independent": False, "declared": True}),
    ("reported", DOCUMENT | {"independent": False}),
    ("supported", PERSON | {"about_self": False}),
    ("supported", DOCUMENT | {"authority": 0.89}),
    ("supported", DOCUMENT | {"registered": False}),
    ("supported", DOCUMENT | {"words_of": "tool"}),
    ("supported", DOCUMENT | {"words_of": "page"}),
    ("reported", DOCUMENT | {"words_of": "assistant"}),
    ("reported", DOCUMENT | {"words_of": "model"}),
    # What verifiers scored, and the rules do not find, supports and no more.
    ("supported", DOCUMENT | {"by_rules": 0}),
    ("reported", DOCUMENT | {"support": 0.79}),
    ("reported", DOCUMENT | {"held": False}),
    ("reported", DOCUMENT | {"believed": False}),
    ("reported", DOCUMENT | {"contradicts": True}),
    ("reported", DOCUMENT | {"restated": True}),
    ("supported", MEMORY),
    ("reported", MEMORY | {"standing": "reported"}),
    ("reported", MEMORY | {"independent": False, "declared": True}),
]


@pytest.mark.parametrize(("standing", "ground"), CASES)
def test_each_rule_by_itself(shared_world: World, standing: str, ground: dict[str, Any]) -> None:
    """Of one piece of evidence. What lowers it goes before. Proves: N7, Z15."""
    record = {"evidence": [ground]}
    found = "SELECT memwarden_internal.standing_of(%s)"
    assert shared_world.value(found, Jsonb(record)) == standing
    assert shared_world.value(found, Jsonb(record | {"lowered": ["refuted"]})) == "disputed"
    merged = record | {"merged": True, "approval_state": "APPROVED"}
    assert shared_world.value(found, Jsonb(merged)) == "reported"
    for firm in ({"approval_state": "APPROVED"}, {"verified_by": LOOKED}):
        assert shared_world.value(found, Jsonb(record | firm)) == "verified"
    for weak in ({"looked": False}, {"score": 0.79}):
        verdict = {"verified_by": [LOOKED[0] | weak]}
        assert shared_world.value(found, Jsonb(record | verdict)) == standing
    assert shared_world.value(found, Jsonb({"evidence": []})) == "inferred"
