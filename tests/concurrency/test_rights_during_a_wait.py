"""Whoever loses its rights while it waits for a scope writes nothing there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Json, Jsonb

from access import call
from races import overlap, wait_until_blocked

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

HOME = "/org/acme/user/ana"
OWN = "Ana grows tomatoes on the balcony."
NEWER = "The balcony of Ana faces south."
Agent = Connection[DictRow]


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it, with agents of the test's own."""
    return shipped.world


def one(agent: Agent, query: str, *arguments: Any) -> str:
    """The outcome of a call, or the state of its error."""
    try:
        row = agent.execute(query, arguments).fetchone()
    except psycopg.Error as error:
        return error.sqlstate or ""
    return str(row["outcome"]) if row else "nothing"


def writes(agent: Agent, _item: Any) -> str:
    """One memory, by the short way."""
    return one(agent, "SELECT * FROM memwarden.write('episodic', %s)", Jsonb(NEWER))


def writes_through_gates(agent: Agent, _item: Any) -> str:
    """One memory, through each gate."""
    query = "SELECT * FROM memwarden.write('episodic', %s, idempotency_key => 'k')"
    return one(agent, query, Jsonb(NEWER))


def writes_many(agent: Agent, _item: Any) -> str:
    """Two memories, of which one passes each gate."""
    asked = [
        {"layer": "episodic", "content": NEWER},
        {"layer": "episodic", "content": "Ana waters it at six.", "idempotency_key": "k"},
    ]
    query = (
        "SELECT max(outcome) AS outcome FROM memwarden.write_many(%s) WHERE outcome <> 'DEFERRED'"
    )
    return one(agent, query, Json(asked))


def retracts(agent: Agent, item: Any) -> str:
    """What it wrote itself."""
    return one(agent, "SELECT * FROM memwarden.retract(%s, 'not so')", item)


def rolls_back(agent: Agent, item: Any) -> str:
    """What it wrote itself."""
    return one(agent, "SELECT max(action) AS outcome FROM memwarden.rollback(%s, 'not so')", item)


WAYS = [writes, writes_through_gates, writes_many, retracts, rolls_back]
CHANGES: dict[str, Callable[[World, str], object]] = {
    "disabled": lambda world, name: call(
        world.admin, "change_agent", agent=name, org="acme", enabled=False
    ),
    "unbound": lambda world, name: call(world.admin, "unbind_login", login_role=name),
}


@pytest.mark.parametrize("change", ["disabled", "unbound"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_is_done(world: World, change: str, way: Callable[[Agent, Any], str]) -> None:
    """Though the call began before, and the caller chose to wait ten hours.

    Proves: A1
    """
    holder, other = world.agent(HOME), world.agent(HOME)
    row = other.execute("SELECT * FROM memwarden.write('episodic', %s)", (Jsonb(OWN),)).fetchone()
    assert row is not None
    assert row["outcome"] == "COMMITTED"
    other.execute("SET lock_timeout = '10 h'")
    before = stored(world)
    answer = overlap(
        world.admin,
        holder,
        lambda: holder.execute(
            "SELECT memwarden.write('episodic', %s)", (Jsonb("It rains in Lund."),)
        ),
        other,
        lambda: way(other, row["item_id"]),
        meanwhile=lambda: CHANGES[change](world, other.info.user),
    )
    assert answer == "28000"
    assert {said for said, _ in stored(world) - before} == {"It rains in Lund."}
    assert not before - stored(world)


def stored(world: World) -> set[tuple[Any, str]]:
    """What the store holds, and whether it is active."""
    rows = world.rows(
        "SELECT v.content, i.status FROM memwarden_data.item AS i"
        " JOIN memwarden_data.version AS v USING (org_id, version_id)"
    )
    return {(row["content"], row["status"]) for row in rows}


@pytest.mark.parametrize(
    "way", [writes, writes_through_gates, writes_many], ids=lambda way: way.__name__
)
def test_what_it_may_no_longer_write_is_refused(
    world: World, way: Callable[[Agent, Any], str]
) -> None:
    """A role that writes nothing, from now on.

    Proves: A1
    """
    holder, other = world.agent(HOME), world.agent(HOME)
    answer = overlap(
        world.admin,
        holder,
        lambda: holder.execute(
            "SELECT memwarden.write('episodic', %s)", (Jsonb("It rains in Lund."),)
        ),
        other,
        lambda: way(other, None),
        meanwhile=lambda: call(
            world.admin, "change_agent", agent=other.info.user, org="acme", role="executor"
        ),
    )
    assert answer == "REJECTED"


def test_what_is_asked_of_it_by_then_is_asked(world: World) -> None:
    """A setting that came while it waited.

    Proves: A1
    """
    holder, other = world.agent(HOME), world.agent(HOME)
    answer = overlap(
        world.admin,
        holder,
        lambda: holder.execute(
            "SELECT memwarden.write('episodic', %s)", (Jsonb("It rains in Lund."),)
        ),
        other,
        lambda: writes_through_gates(other, None),
        meanwhile=lambda: world.admin.execute(
            "SELECT memwarden.configure_layer('episodic', '{\"max_content_bytes\": 10}')"
        ),
    )
    assert answer == "REJECTED"


def test_who_waits_for_its_own_session_waits_no_longer(world: World) -> None:
    """Two connections of one agent, one of which holds the session.

    Proves: A1
    """
    role = world.register(HOME)
    first, second = world.connect(role), world.connect(role)
    row = first.execute("SELECT memwarden.open_session(%s, 'watering') AS id", (HOME,)).fetchone()
    assert row is not None
    note = "SELECT memwarden.note(%s, 'more water')"
    with ThreadPoolExecutor(1) as pool:
        with first.transaction():
            first.execute(note, (row["id"],))
            future = pool.submit(lambda: one(second, note + "::text AS outcome", row["id"]))
            wait_until_blocked(world.admin, second)
            call(world.admin, "change_agent", agent=role, org="acme", enabled=False)
        assert future.result(60) == "28000"


@pytest.mark.parametrize(
    ("asked", "waits"), [("0", "7s"), ("10h", "5min"), ("20d", "5min"), ("1500ms", "1500ms")]
)
def test_nobody_waits_longer_than_five_minutes(world: World, asked: str, waits: str) -> None:
    """Less than that is the session's to choose; without a choice it is as long as usual.

    Proves: A1
    """
    with world.admin.transaction():
        world.admin.execute("SELECT set_config('lock_timeout', %s, true)", (asked,))
        world.admin.execute("SELECT memwarden_internal.bound_wait('7 s')")
        assert world.value("SELECT current_setting('lock_timeout')") == waits
