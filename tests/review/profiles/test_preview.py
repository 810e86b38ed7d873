"""What a profile would have made of what was written before, from what is recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg.rows import DictRow

from review.profiles import test_each_cell as cells
from review.profiles.test_each_cell import CELLS, ELSE_SAID, PROFILES, use
from shipped import Shipped

Situation = Callable[[Shipped], DictRow]
CONTESTED: set[Situation] = {
    cells.against_weaker,
    cells.against_equal,
    cells.against_firmer,
    cells.another_agents_key,
}
UNPROVED: set[Situation] = {
    cells.no_evidence,
    cells.own_key,
    cells.a_procedure,
    cells.self_made,
    cells.end_of_session,
}
# What is recorded under one profile does not tell what another says.
UNTOLD: dict[tuple[str, str], set[Situation]] = {
    ("open", "balanced"): CONTESTED,
    ("open", "strict"): {cells.against_weaker},
    ("balanced", "balanced"): CONTESTED - {cells.against_firmer},
    ("balanced", "strict"): {cells.against_weaker},
    ("strict", "open"): CONTESTED | UNPROVED,
    ("strict", "balanced"): CONTESTED | UNPROVED,
    ("strict", "strict"): {cells.against_weaker, cells.unclear},
}


def preview(store: Shipped, profile: str, org: str | None = "acme") -> list[DictRow]:
    """What the profile would have made of it."""
    return store.world.rows("SELECT * FROM memwarden.preview_profile(%s, %s)", profile, org)


@pytest.mark.parametrize("present", PROFILES)
@pytest.mark.parametrize("situation", CELLS, ids=lambda each: each.__name__)
def test_what_it_tells_is_what_it_says(
    shipped: Shipped, situation: Situation, present: str
) -> None:
    """It tells what each profile says, or that it does not know. Proves: Z12."""
    if situation in ELSE_SAID:
        ELSE_SAID[situation](shipped)
    shipped.world.admin.execute("DELETE FROM memwarden_data.write_request")
    use(shipped, present)
    answer = situation(shipped)
    for profile in PROFILES:
        (row,) = (row for row in preview(shipped, profile) if row["layer"] != "session")
        outcome, reason = CELLS[situation][PROFILES.index(profile)][:2]
        assert (row["was"], row["requests"]) == (answer["outcome"], 1)
        if situation in UNTOLD.get((present, profile), ()):
            assert (row["would_be"], row["reason"]) == (None, "NOT_JUDGED")
        else:
            expected = (outcome, None if outcome == "COMMITTED" else reason)
            assert (row["would_be"], row["reason"]) == expected
