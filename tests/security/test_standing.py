"""What the gate of identity looks up shows nobody more than the tables do."""

from __future__ import annotations

import psycopg
import pytest

from .conftest import Store


@pytest.mark.parametrize("group", ["agent", "curator", "auditor"])
def test_a_grant_on_the_view_of_standings_opens_no_table(store: Store, group: str) -> None:
    """Not to who has every right on it: its tables ask their own policies.

    Proves: Z1
    """
    world = store.world
    insider = world.agent("/org/acme/user/ana", groups=(f"memwarden_{group}",))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute("TABLE memwarden_data.standing")
    world.grant_tables(str(insider.info.user))
    own = world.value("SELECT org_id FROM memwarden_data.scope WHERE path = '/org/acme'")
    assert world.value("SELECT count(*) FROM memwarden_data.standing") > 0
    seen = insider.execute("SELECT DISTINCT (terms).org_id FROM memwarden_data.standing").fetchall()
    assert {row["org_id"] for row in seen} <= ({own} if group != "agent" else set())
    scopes = insider.execute("SELECT DISTINCT scope_id FROM memwarden_data.standing").fetchall()
    visible = insider.execute("SELECT scope_id FROM memwarden_data.scope").fetchall()
    assert {row["scope_id"] for row in scopes} <= {row["scope_id"] for row in visible}
