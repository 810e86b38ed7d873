"""Memory is written at READ COMMITTED only: elsewhere a writer cannot see what others committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import recall, write, write_many

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


@pytest.mark.parametrize("level", ["READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("how", ["of the transaction", "of the session"])
def test_another_isolation_level_is_refused(
    shared_world: World, home: str, level: str, how: str
) -> None:
    """25001 with the reason and the remedy, for one write and for many; nothing is recorded.

    Proves: W4
    """
    agent = shared_world.agent(home)
    if how == "of the session":
        agent.execute(f"SET default_transaction_isolation = '{level}'")

    def ask(many: bool) -> None:
        with agent.transaction():
            if how == "of the transaction":
                agent.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            if many:
                write_many(agent, [{"layer": "semantic", "content": TEXT}])
            else:
                write(agent, "semantic", TEXT)

    for many in (False, True):
        with pytest.raises(psycopg.errors.ActiveSqlTransaction) as caught:
            ask(many)
        assert caught.value.sqlstate == "25001"
        assert "READ COMMITTED" in str(caught.value.diag.message_hint)
        assert level.lower() in str(caught.value.diag.message_detail)
    assert agent.execute("SELECT FROM memwarden.requests").fetchall() == []


def test_a_reader_may_choose_its_isolation(shared_world: World, home: str) -> None:
    """Recall works at every level, and at READ COMMITTED a write works beside it.

    Proves: L6
    """
    agent = shared_world.agent(home)
    with agent.transaction():
        agent.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        assert write(agent, "semantic", TEXT)["outcome"] == "COMMITTED"
    for level in ("REPEATABLE READ", "SERIALIZABLE", "READ COMMITTED"):
        with agent.transaction():
            agent.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            assert len(recall(agent, query="tea")) == 1
