"""What a set of plain writes costs grows with the set, whatever the planner expects of it."""

from __future__ import annotations

import json
import random

from conftest import World
from helpers import write
from plans import plans_of, touched

SCOPES = 60
EACH = 5


def test_no_row_of_a_set_is_compared_with_all_others(world: World) -> None:
    """A planner expects one row, and joins by comparing each with each where nothing forbids it.

    Proves: W8 (the costs of a batch)
    """
    chance = random.Random(1)
    role = world.register("/org/acme", descendants=True)
    for setting in (
        "configure_layer('episodic', '{\"rate_limit\": 1000000}')",
        "set_approval_policy('episodic', approval => 'never')",
        "define_source('docs:*', 'document', authority => 1)",
    ):
        world.admin.execute(f"SELECT memwarden.{setting}")
    for number in range(SCOPES):
        world.scope(f"/org/acme/user/u{number}")
    # The first of all makes the label that the others bear.
    write(world.connect(role), "episodic", "the first", scope="/org/acme/user/u0")
    requests = [
        {
            "layer": "episodic",
            "scope": f"/org/acme/user/u{n % SCOPES}",
            "content": f"event {n} was {chance.random()}",
            "embedding": [round(chance.gauss(0, 1), 3) for _ in range(384)],
            "evidence": [{"uri": "docs:notes", "excerpt": f"event {n}"}],
        }
        for n in range(SCOPES * EACH)
    ]
    rows, nodes = plans_of(
        world, role, "SELECT outcome FROM memwarden.write_many(%s::json)", [json.dumps(requests)]
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    # They were decided together.
    assert any(node.get("CTE Name") == "formed" for node in nodes)
    # What tables hold of other tests is none of it.
    made = [node for node in nodes if not {"Index Name", "Relation Name"} & node.keys()]
    most = max(made, key=touched)
    # Ninety thousand, where each is compared with each.
    assert touched(most) <= 10_000, most
