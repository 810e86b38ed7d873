"""A key is destroyed while somebody writes under it: no memory is left that nobody opens."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from operations.subject_keys.conftest import Vault, keep
from races import overlap


def delete(connection: Connection[Any], vault: Vault, item: UUID) -> Any:
    """Delete a memory for good, as retention does."""
    (row,) = connection.execute(
        "SELECT (memwarden_internal.delete_for_good(o.org_id, ARRAY[%s::uuid], 'RETENTION_OVER',"
        "        'RETENTION', false, clock_timestamp())).deleted AS deleted"
        "  FROM memwarden_data.organisation AS o WHERE o.name = %s",
        (item, vault.org),
    ).fetchall()
    return row["deleted"]


def said(vault: Vault) -> list[Any]:
    """What the memories that are left say."""
    agent = vault.agent()
    return [row["content"] for row in agent.execute("SELECT content FROM memwarden.items")]


def test_a_deletion_leaves_the_key_to_a_write_under_way(vault: Vault) -> None:
    """The last memory under it goes, and the one that comes can be read.

    Proves: R3 (deletion beside a write)
    """
    writer, collector = vault.agent(), vault.world.connect()
    old = keep(writer, {"illness": "gout"}, predicate="suffers from")
    with writer.transaction():
        keep(writer, {"illness": "flu"}, layer="episodic")
        assert delete(collector, vault, old["item_id"]) == [old["item_id"]]
    assert said(vault) == [{"illness": "flu"}]
    assert vault.findings() == []


def test_a_write_finds_another_key_after_a_deletion(vault: Vault) -> None:
    """It waits for the deletion that takes the key with the last memory.

    Proves: R3 (write beside a deletion)
    """
    writer, collector = vault.agent(), vault.world.connect()
    old = keep(writer, {"illness": "gout"}, predicate="suffers from")
    overlap(
        vault.world.admin,
        collector,
        partial(delete, collector, vault, old["item_id"]),
        writer,
        partial(keep, writer, {"illness": "flu"}, layer="episodic"),
    )
    assert said(vault) == [{"illness": "flu"}]
    assert vault.findings() == []


def test_an_erasure_takes_the_write_that_was_first(vault: Vault) -> None:
    """It waits for it, and destroys the key of both.

    Proves: R3 (erasure beside a write)
    """
    writer = vault.agent()
    keep(writer, {"illness": "gout"}, predicate="suffers from")
    done = overlap(
        vault.world.connect(),
        writer,
        partial(keep, writer, {"illness": "flu"}, layer="episodic"),
        vault.world.admin,
        partial(vault.erase, "Petra Horvat"),
    )
    assert (done["items"], done["places"]["subject_key"]) == (2, 1)
    assert said(vault) == []
    assert vault.findings() == []
