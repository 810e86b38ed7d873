"""A login role that was dropped and made anew is not the agent that its name was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from access import call, state
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

HOME = "/org/acme/user/ana"
NOTE = "The lamp of the yard is tested on Mondays."
CALLS = (
    "SELECT * FROM memwarden.recall('lamp')",
    "SELECT memwarden.whoami()",
    "SELECT * FROM memwarden.write('episodic', '{\"n\": 1}')",
)


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as init leaves it."""
    return shipped.world


def make_anew(world: World, login: str, group: str = "memwarden_agent") -> None:
    """Drop a login role and make another of its name."""
    name = sql.Identifier(login)
    world.admin.execute(sql.SQL("DROP ROLE {}").format(name))
    world.admin.execute(
        sql.SQL("CREATE ROLE {} LOGIN IN ROLE {}").format(name, sql.Identifier(group))
    )


def in_another_cluster(world: World) -> None:
    """What a restored dump holds: names that have other OIDs there."""
    world.admin.execute(
        "UPDATE memwarden_data.principal_login"
        "   SET role_oid = 1, system_identifier = system_identifier + 1"
    )


def refusal(world: World, login: str, statement: str) -> str:
    """What a login is told that calls a function."""
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification) as told:
        world.log_in(login).execute(statement)
    return str(told.value.diag.message_detail)


@pytest.fixture
def login(world: World) -> str:
    """The login of an agent that remembers something, dropped and made anew."""
    name = world.register(HOME)
    assert write(world.log_in(name), "episodic", NOTE)["outcome"] == "COMMITTED"
    make_anew(world, name)
    return name


def test_the_new_role_is_nobody(world: World, login: str) -> None:
    """It calls nothing, sees no row, and is told what an administrator can do.

    Proves: A6
    """
    for statement in CALLS:
        assert "made anew since it was bound" in refusal(world, login, statement)
    seen = world.log_in(login).execute("SELECT count(*) AS n FROM memwarden.items").fetchone()
    assert seen == {"n": 0}


def test_it_is_bound_like_any_other_role(world: World, login: str) -> None:
    """The binding of the role that is gone stands in nobody's way, and a living one does.

    Proves: A6
    """
    name = world.value("SELECT agent FROM memwarden.agents WHERE %s = ANY (logins)", login)
    bound: dict[str, Any] = {"agent": name, "login_role": login}
    call(world.admin, "bind_login", **bound)
    assert recall(world.log_in(login), query="lamp")
    assert state(world.admin, "bind_login", **bound) == "42710"


def test_a_restored_binding_counts_once_setup_has_looked(world: World) -> None:
    """In another cluster the name has another OID: nobody is identified until then.

    Proves: A6
    """
    login = world.register(HOME)
    in_another_cluster(world)
    assert "setup()" in refusal(world, login, CALLS[0])
    world.admin.execute("SELECT memwarden.setup()")
    world.log_in(login).execute(CALLS[0])
    # What it has looked at in this cluster, it leaves alone.
    make_anew(world, login)
    world.admin.execute("SELECT memwarden.setup()")
    assert "made anew" in refusal(world, login, CALLS[0])
