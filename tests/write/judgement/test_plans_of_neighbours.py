"""What a write is compared with is looked up by its keys, also before there are statistics."""

from __future__ import annotations

from psycopg.types.json import Json, Jsonb

from plans import plans_of, touched
from shipped import SCOPE, Shipped

WRITE = "SELECT outcome FROM memwarden.write('semantic', %s, scope => %s)"
WRITE_MANY = "SELECT count(*) FROM memwarden.write_many(%s::json)"
NOTES = 200


def test_no_memory_is_looked_at_that_is_not_near(shipped: Shipped) -> None:
    """To a plan from before the first memory, any index of the organisation looks as good.

    Proves: W8 (the costs of a write)
    """
    notes = [f"Box {n} of shelf {n * 7919 % 1000} holds the papers of {n}." for n in range(NOTES)]
    asked = [{"layer": "semantic", "scope": SCOPE, "content": note} for note in notes]
    rows, nodes = plans_of(
        shipped.world,
        shipped.agent.info.user,
        WRITE,
        [Jsonb("Box 4711 of the shelf holds a heron."), SCOPE],
        after=[
            (WRITE, [Jsonb("Ana likes tea."), SCOPE]),
            (WRITE_MANY, [Json(asked)]),
        ],
    )
    assert [row["outcome"] for row in rows] == ["COMMITTED"]
    # neighbours() calls them h.
    (looked_up,) = (
        node for node in nodes if (node.get("Relation Name"), node.get("Alias")) == ("item", "h")
    )
    assert looked_up["Actual Rows"] > 0
    assert touched(looked_up) <= NOTES / 2
