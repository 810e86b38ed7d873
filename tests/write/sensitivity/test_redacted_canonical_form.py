"""A request takes its canonical form from what a redaction leaves, in each of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from access import call
from helpers import write

if TYPE_CHECKING:
    from .conftest import House

MAIL = "ana.silva@example.org"
HOLDING: dict[str, Any] = {
    "content": {"text": f"write to {MAIL} today"},
    "evidence": [{"type": "document", "uri": "file:a", "excerpt": f"{MAIL} said so"}],
    "origin": {"task": MAIL},
    "trace_id": f"for {MAIL}",
}


@pytest.mark.parametrize("argument", HOLDING)
def test_an_argument_is_kept_as_the_redaction_leaves_it(house: House, argument: str) -> None:
    """Request, version and provenance have the name of the rule where the address was.

    Proves: L10
    """
    redact = {"action": "redact", "kind": "pii.email"}
    call(house.world.admin, "set_sensitivity_action", org=house.org, **redact)
    arguments = {"content": "tea", argument: HOLDING[argument]}
    answer = write(house.agent, "semantic", **arguments)
    assert answer["outcome"] == "COMMITTED"
    kept = house.world.value(
        "SELECT r::text || v::text || p::text FROM memwarden_data.write_request AS r"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        "  JOIN memwarden_data.provenance AS p USING (org_id, version_id) WHERE r.request_id = %s",
        answer["request_id"],
    )
    assert MAIL not in kept
    assert "[pii.email]" in kept
