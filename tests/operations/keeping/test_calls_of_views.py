"""How often each public view calls the functions behind it, in a small store and a larger one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg.types.json import Jsonb

from helpers import write_many
from plans import calls_of

if TYPE_CHECKING:
    from shipped import Shipped

MORE = 12
GROUPS = ("memwarden_agent", "memwarden_reviewer", "memwarden_curator", "memwarden_auditor")
VIEWS = """
SELECT c.relname FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden'::regnamespace AND c.relkind = 'v'
   AND has_table_privilege(%s, c.oid, 'SELECT') ORDER BY 1"""
# What a row itself is asked for: its gates are read, its signature is checked.
OF_ROWS = {
    "requests": {"gates_of", "every_gate"},
    "gate_statistics": {"gates_of", "every_gate"},
}


def fill(shipped: Shipped, role: str, batch: str) -> None:
    """Memories, pinned and cited, with their requests; scopes, captures and records."""
    writer = shipped.world.connect(role)
    written = write_many(
        writer,
        [
            {
                "layer": "episodic",
                "content": {"seen": f"{batch} {n}: a lamp number {n} of the hall {batch}{n}"},
                "subject": f"Lamp {batch} {n}",
            }
            for n in range(MORE)
        ],
    )
    assert {row["outcome"] for row in written} == {"COMMITTED"}
    items = [row["item_id"] for row in written]
    writer.execute("SELECT memwarden.pin(u.id, 'kept') FROM unnest(%s::uuid[]) AS u (id)", (items,))
    versions = [row["version_id"] for row in written]
    writer.execute(
        "SELECT memwarden.link_action(u.id::text, ARRAY[u.id]) FROM unnest(%s::uuid[]) AS u (id)",
        (versions,),
    )
    shipped.world.admin.execute(
        "SELECT memwarden.create_scope(%s || n) FROM generate_series(1, %s) AS n",
        (f"/org/acme/user/{batch}", MORE),
    )
    writer.execute(
        "SELECT memwarden.capture('chat', %s, %s || n) FROM generate_series(1, %s) AS n",
        (Jsonb({"role": "user", "speaker": "Ana", "text": f"{batch}: good day"}), batch, MORE),
    )


@pytest.mark.every_version
def test_more_rows_are_no_more_calls(shipped: Shipped) -> None:
    """Whoever reads a view waits for its rows, and not for a function for each of them."""
    role = shipped.world.register("/org/acme", groups=GROUPS, role="curator", descendants=True)
    views = [row["relname"] for row in shipped.world.rows(VIEWS, role)]
    assert {"items", "pins", "retention_states", "requests", "scopes", "captures"} <= set(views)
    called = []
    for batch in ("a", "b"):
        fill(shipped, role, batch)
        called.append({v: calls_of(shipped.world, role, f"TABLE memwarden.{v}") for v in views})
    grown = {
        view: more
        for view in views
        if (
            more := {
                name
                for name, calls in called[1][view].items()
                if calls - called[0][view].get(name, 0) >= MORE
            }
            - OF_ROWS.get(view, set())
        )
    }
    assert grown == {}
