"""Who sees what is left of which allowance, and who sees nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import administrator, call, curator, join
from scope_calls import organisation_of
from write.admission.conftest import configure, limit, note

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
TABLES = ("allowance", "promotion")


def seen(connection: Agent, *agents: str) -> list[dict[str, Any]]:
    """The allowances of these agents, or all, that the caller sees."""
    rows = connection.execute(
        "SELECT agent, layer, session, allowed, rate_window::text, used, set_for"
        "  FROM memwarden.allowances ORDER BY agent, layer, session"
    ).fetchall()
    return [dict(row) for row in rows if not agents or row["agent"] in agents]


def test_an_agent_sees_its_limits_and_what_it_has_used(world: World, home: str) -> None:
    """Per layer within the window, and its role's budget per session.

    Proves: W6
    """
    configure(world, "semantic", rate_limit=600)
    call(world.admin, "set_write_budget", role="contributor", budget=50)
    agent = join(world, home, descendants=True)
    limit(world, agent, 3)
    name, session = agent.info.user, f"{home}/task/t"
    world.scope(session)

    def expected(used: int, where: str | None) -> list[dict[str, Any]]:
        keys = ("agent", "layer", "session", "allowed", "rate_window", "used", "set_for")
        rows = [
            (name, "episodic", None, 3, "01:00:00", used, "agent"),
            (name, "semantic", None, 600, "00:01:00", 0, "layer"),
            (name, None, where, 50, None, used, "role"),
        ]
        return [dict(zip(keys, row, strict=True)) for row in rows]

    assert seen(agent) == expected(0, None)
    for _ in range(2):
        assert note(agent, session) == "COMMITTED"
    assert seen(agent) == expected(2, session)
    call(agent, "close_scope", path=session)
    assert seen(agent)[-1] == expected(0, None)[-1]


def test_each_sees_its_own_and_administrators_all(shared_world: World, home: str) -> None:
    """Agents themselves, curators their organisation, administrators of the store everybody.

    Proves: W6, A3
    """
    other_home = home.replace("/org/", "/org/other-")
    agents = [shared_world.agent(home), shared_world.agent(home), shared_world.agent(other_home)]
    for agent, path in zip(agents, (home, home, other_home), strict=True):
        limit(shared_world, agent, 5)
        assert note(agent, path) == "COMMITTED"
    names = [agent.info.user for agent in agents]
    for agent, name in zip(agents, names, strict=True):
        assert {row["agent"] for row in seen(agent)} == {name}
    person = curator(shared_world, organisation_of(home))
    assert {row["agent"] for row in seen(person, *names)} == set(names[:2])
    assert {row["agent"] for row in seen(administrator(shared_world), *names)} == set(names)
    assert seen(shared_world.connect(shared_world.role("memwarden_agent"))) == []


@pytest.mark.parametrize("table", TABLES)
def test_the_tables_show_nobody_anything(shared_world: World, home: str, table: str) -> None:
    """No grant; and where a DBA grants SELECT all the same, no row.

    Proves: A3, Z1
    """
    agent = shared_world.agent(home, descendants=True)
    limit(shared_world, agent, 5)
    assert note(agent, home) == "COMMITTED"
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.promotion VALUES (1, gen_random_uuid(), gen_random_uuid())"
    )
    assert shared_world.value(f"SELECT count(*) FROM memwarden_data.{table}") > 0
    roles = [agent.info.user]
    roles += [shared_world.role(f"memwarden_{g}") for g in ("reviewer", "auditor", "admin")]
    roles += [curator(shared_world, organisation_of(home)).info.user]
    for role in roles:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            shared_world.connect(role).execute(f"SELECT FROM memwarden_data.{table}")
    shared_world.grant_tables(*roles)
    for role in roles:
        rows = shared_world.connect(role).execute(f"SELECT FROM memwarden_data.{table}")
        assert rows.fetchall() == []


@pytest.mark.parametrize("verb", ["INSERT INTO", "UPDATE", "DELETE FROM"])
def test_nobody_writes_the_tables(shared_world: World, home: str, verb: str) -> None:
    """A limit, a use of it and the mark of a promotion are made by functions alone.

    Proves: W6, Z1
    """
    rest = {
        "INSERT INTO": "(org_id) VALUES (1)",
        "UPDATE": "SET org_id = org_id",
        "DELETE FROM": "",
    }[verb]
    agent = shared_world.agent(home)
    for connection in (agent, administrator(shared_world)):
        for table in TABLES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"{verb} memwarden_data.{table} {rest}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "SELECT memwarden_internal.take_permit(1, 1, 0, 'x', 1, '1 s', now())"
            )
