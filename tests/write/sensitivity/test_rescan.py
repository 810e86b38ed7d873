"""What was stored before a rule was there is found by it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, join
from helpers import recall, write, write_many

if TYPE_CHECKING:
    from conftest import World


def test_stored_memories_are_looked_at_again(world: World) -> None:
    """They are marked for who reads them and listed for who looks after them; nothing changes.

    Proves: Z3, L10, L11 (sensitivity)
    """
    agent = world.agent()
    auditor = join(world, "/org/acme", "auditor", descendants=True)
    badge = write(agent, "semantic", {"text": "badge AB-12345"}, subject="badge", predicate="is")
    mail = write(agent, "semantic", {"text": "mail to ana@example.org"}, subject="post")
    write_many(agent, [{"layer": "episodic", "content": {"n": n}} for n in range(20)])
    before = world.rows("SELECT content, content_hash FROM memwarden_data.version ORDER BY 2")
    call(
        world.admin,
        "define_sensitivity_rule",
        rule="badge",
        kind="pii.badge",
        definition=Jsonb({"pattern": r"\bAB-[0-9]{5}\b"}),
        tests=Jsonb({"positive": ["AB-12345"], "negative": ["AB-1"]}),
        level="high",
        action="block",
    )
    with world.connect("memwarden_jobs") as jobs:
        done = jobs.execute("CALL memwarden.rescan_sensitivity(7)").fetchall()
        again = jobs.execute("CALL memwarden.rescan_sensitivity()").fetchall()
    assert done == again == [{"scanned": 22, "marked": 1}]
    marks = {
        row["item_id"]: row["provenance"]["sensitivity"]
        for row in recall(agent, query="badge mail", k=2)
    }
    assert marks == {badge["item_id"]: "high", mail["item_id"]: "suspicious"}
    listed = auditor.execute(
        "SELECT source, item_id, rule, action, path FROM memwarden.sensitivity_findings"
        " WHERE source = 'rescan'"
    ).fetchall()
    assert listed == [
        {
            "source": "rescan",
            "item_id": badge["item_id"],
            "rule": "badge",
            "action": "block",
            "path": "/content/text",
        }
    ]
    after = world.rows("SELECT content, content_hash FROM memwarden_data.version ORDER BY 2")
    assert after == before
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    projections = world.rows("SELECT written FROM memwarden.rebuild_heads()")
    assert {row["written"] for row in projections} == {0}
    # A new value is judged by itself; and a rule that is gone marks no more.
    write(agent, "semantic", {"text": "no badge"}, subject="badge", predicate="is")
    assert call(agent, "get", item_id=badge["item_id"])[0]["provenance"]["sensitivity"] == "none"
    call(world.admin, "set_sensitivity_action", action="allow", kind="pii")
    world.admin.execute("CALL memwarden.rescan_sensitivity()")
    assert world.rows("SELECT FROM memwarden_data.sensitivity_scan") == []


def test_agents_do_not_call_it(world: World) -> None:
    """It looks at every organisation: the scheduler and administrators call it.

    Proves: L10
    """
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.agent().execute("CALL memwarden.rescan_sensitivity()")
