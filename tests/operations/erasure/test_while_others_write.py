"""Writers and erasers at the same moment: nothing derived slips past, nobody waits for ever."""

from __future__ import annotations

import psycopg
import pytest

from helpers import write
from operations.erasure.conftest import Desk, cites, remember
from races import overlap

CALL = "SELECT * FROM memwarden.erase_subject('Ana', 'asked for', org => %s)"


def test_a_writer_that_was_first_is_erased_too(desk: Desk) -> None:
    """Its transaction is still open when the erasure begins: the erasure waits, then sees it.

    Proves: R1 (transitive closure), R2
    """
    agent, admin = desk.agent(), desk.world.connect()
    basis = remember(agent, "tea", subject="Ana", predicate="likes")
    done = overlap(
        desk.world.admin,
        agent,
        lambda: remember(agent, "hot drinks sell", evidence=cites(basis)),
        admin,
        lambda: admin.execute(CALL, (desk.org,)).fetchall(),
    )
    assert done[0]["items"] == 2
    assert (
        desk.world.value("SELECT count(*) FROM memwarden_data.version WHERE item_id = %s", basis)
        == 0
    )
    assert desk.findings() == []


def test_a_writer_that_waited_finds_no_basis(desk: Desk) -> None:
    """What it then writes is its own: no derivation from what is gone.

    Proves: R2
    """
    agent, admin = desk.agent(), desk.world.connect()
    basis = remember(agent, "tea", subject="Ana", predicate="likes")
    row = overlap(
        desk.world.admin,
        admin,
        lambda: admin.execute(CALL, (desk.org,)),
        agent,
        lambda: write(agent, "semantic", "drinks sell", evidence=cites(basis)),
    )
    assert row["outcome"] == "COMMITTED"
    assert not desk.world.value(
        "SELECT count(*) FROM memwarden_data.derivation WHERE item_id = %s", row["item_id"]
    )
    assert desk.findings() == []


def test_other_organisations_write_on(desk: Desk) -> None:
    """An erasure holds up the writers of its own organisation alone, and no reader."""
    remember(desk.agent(), "tea", subject="Ana", predicate="likes")
    other = Desk(desk.world).agent()
    mine = desk.agent()
    with desk.world.connect() as admin, admin.transaction(force_rollback=True):
        admin.execute(CALL, (desk.org,))
        remember(other, "milk")
        assert mine.execute("SELECT count(*) AS n FROM memwarden.items").fetchone() is not None
    assert desk.findings() == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_other_isolation_levels_are_refused(desk: Desk, level: str) -> None:
    """They would not see what was written while the erasure waited."""
    with desk.world.connect() as admin, admin.transaction():
        admin.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction):
            admin.execute(CALL, (desk.org,))


def test_an_erasure_that_is_rolled_back_never_was(desk: Desk) -> None:
    """Nothing is gone, nothing is recorded."""
    kept = remember(desk.agent(), "tea", subject="Ana", predicate="likes")
    with desk.world.admin.transaction(force_rollback=True):
        assert desk.erase("Ana")["items"] == 1
    assert desk.world.value("SELECT count(*) FROM memwarden_data.item WHERE item_id = %s", kept)
    assert desk.findings() == []
    assert desk.rebuild() == {"item": 0, "timeline": 0, "embedding": 0}
