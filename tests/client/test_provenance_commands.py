"""`memwarden provenance` and `verify-provenance`, as a person and as a script run them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psycopg.conninfo import make_conninfo

from client.test_history_commands import prefers, shown
from memwarden import Client

if TYPE_CHECKING:
    from conftest import World


def test_provenance_tells_who_wrote_it_and_what_it_is_worth(shared_world: World, home: str) -> None:
    """As a table for people, and whole for scripts.

    Proves: P1
    """
    dsn = make_conninfo(shared_world.dsn, user=shared_world.register(home))
    with Client.connect(dsn) as memory:
        item = prefers(memory, "tea")
        (record,) = memory.provenance(item)
    assert record.event == "WRITE"
    assert record.evidence_quality == "INFERRED"
    table = shown("provenance", item, dsn=dsn)
    assert "adjusted confidence" in table
    (told,) = json.loads(shown("provenance", item, "--json", dsn=dsn))
    assert told["record"] == record.record


def test_verify_provenance_exits_by_what_it_finds(shared_world: World, home: str) -> None:
    """0 and `intact`, or 1 and the record that was altered.

    Proves: P4
    """
    dsn = make_conninfo(shared_world.dsn, user=shared_world.register(home))
    with Client.connect(dsn) as memory:
        item = prefers(memory, "gin")
    admin = make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_admin"))
    assert shown("verify-provenance", dsn=admin).strip() == "intact"
    with shared_world.admin.transaction():
        shared_world.admin.execute("SET LOCAL session_replication_role = replica")
        shared_world.admin.execute(
            "UPDATE memwarden_data.provenance SET record = record || %s::jsonb WHERE item_id = %s",
            ('{"source_agent": "somebody else"}', item),
        )
    (found,) = json.loads(shown("verify-provenance", "--json", dsn=admin, code=1))
    assert (found["finding"], found["item_id"]) == ("ALTERED", str(item))
