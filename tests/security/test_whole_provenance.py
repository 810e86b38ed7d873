"""The view of whole records shows nobody more than the table of provenance does."""

from __future__ import annotations

import psycopg
import pytest

from .conftest import Store


@pytest.mark.parametrize("group", ["agent", "curator", "auditor"])
def test_a_grant_on_the_view_of_whole_records_opens_no_table(store: Store, group: str) -> None:
    """Not to who has every right on it: its table asks its own policies.

    Proves: Z1
    """
    world = store.world
    insider = world.agent("/org/acme/user/ana", groups=(f"memwarden_{group}",))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute("TABLE memwarden_data.whole_provenance")
    world.grant_tables(str(insider.info.user))
    every = world.value("SELECT count(*) FROM memwarden_data.whole_provenance")
    ids = "SELECT array_agg(p.provenance_id ORDER BY 1) FROM memwarden_data.{} AS p"
    shown = insider.execute(ids.format("whole_provenance")).fetchone()
    assert shown == insider.execute(ids.format("provenance")).fetchone()
    assert shown is not None
    assert len(shown["array_agg"] or []) < every
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute("SELECT record FROM memwarden_data.whole_provenance")
