"""What writes are allowed by shows nobody more than the tables do."""

from __future__ import annotations

import psycopg
import pytest

from helpers import recall, write

from .conftest import Store


@pytest.mark.parametrize("group", ["agent", "curator", "auditor"])
def test_a_grant_on_the_view_of_terms_opens_no_table(shared_store: Store, group: str) -> None:
    """Not to who has every right on it: its tables ask their own policies.

    Proves: Z1
    """
    world = shared_store.world
    insider = world.agent("/org/acme/user/ana", groups=(f"memwarden_{group}",))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute("TABLE memwarden_data.layer_terms")
    world.grant_tables(str(insider.info.user))
    own = world.value("SELECT org_id FROM memwarden_data.scope WHERE path = '/org/acme'")
    assert world.value("SELECT count(*) FROM memwarden_data.layer_terms") > 0
    seen = insider.execute(
        "SELECT DISTINCT (terms).org_id FROM memwarden_data.layer_terms"
    ).fetchall()
    assert {row["org_id"] for row in seen} <= ({own} if group != "agent" else set())
    with_labels = insider.execute(
        "SELECT DISTINCT org_id FROM memwarden_data.reader_terms"
    ).fetchall()
    assert {row["org_id"] for row in with_labels} <= {row["org_id"] for row in seen}
    homes = insider.execute(
        "SELECT DISTINCT home_scope_id FROM memwarden_data.layer_terms"
    ).fetchall()
    visible = insider.execute("SELECT home_scope_id FROM memwarden_data.principal").fetchall()
    assert {row["home_scope_id"] for row in homes} <= {row["home_scope_id"] for row in visible}


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor", "admin", "jobs"])
@pytest.mark.parametrize("table", ["kept_terms", "kept_reader", "settings_change"])
def test_what_is_kept_of_settings_is_shown_to_nobody(
    shared_store: Store, group: str, table: str
) -> None:
    """Not even to who has a grant on the table: it is the engine's.

    Proves: Z1
    """
    world = shared_store.world
    insider = world.agent("/org/acme/user/ana", groups=("memwarden_agent", f"memwarden_{group}"))
    said = f"Ana saw the lamp of {group} by {table}"
    assert write(insider, "episodic", said)["outcome"] == "COMMITTED"
    assert recall(insider, query="lamp")
    assert world.value(f"SELECT count(*) FROM memwarden_data.{table}") > 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute(f"TABLE memwarden_data.{table}")
    world.admin.execute(f"GRANT ALL ON memwarden_data.{table} TO {insider.info.user}")
    assert insider.execute(f"TABLE memwarden_data.{table}").fetchall() == []
    assert insider.execute(f"DELETE FROM memwarden_data.{table}").rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        insider.execute(
            f"INSERT INTO memwarden_data.{table} SELECT (jsonb_populate_record("
            f"""NULL::memwarden_data.{table}, '{{"org_id": 0, "weight": 1}}')).*"""
        )
