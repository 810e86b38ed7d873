"""What an agent sees and writes, by every path there is, is what a few lines of Python say."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

# Tables whose rows are the same for everybody.
SETTINGS = {"layer", "embedding_model", "scope_kind"}

NUMBERS = itertools.count(1)


@dataclass
class Agent:
    """An agent of the model: its grants, its connection, and the requests it made itself."""

    grants: dict[str, tuple[bool, bool]]
    connection: Connection[DictRow]
    requests: set[UUID] = field(default_factory=set)

    def sees(self, path: str) -> bool:
        """Its scopes and all above them; what lies below only where the grant says so."""
        return path == "/global" or any(
            is_within(granted, path) or (descendants and is_within(path, granted))
            for granted, (_, descendants) in self.grants.items()
        )

    def writes(self, path: str) -> bool:
        """Its scopes, never one above them."""
        return any(
            writes and (path == granted or (descendants and is_within(path, granted)))
            for granted, (writes, descendants) in self.grants.items()
        )


def everybodys_author(world: World) -> Connection[DictRow]:
    """Connect as an agent that lives in /global, which nobody creates."""
    role = world.role("memwarden_agent")
    world.admin.execute("SELECT memwarden.register_agent(%s, '/global', %s)", (role, role))
    return world.connect(role)


def is_within(path: str, ancestor: str) -> bool:
    """Whether a path lies below another, or is it."""
    return path == ancestor or path.startswith(ancestor + "/")


def ancestors(path: str) -> list[str]:
    """Return the scopes a path inherits from, itself included."""
    parts = path.split("/")
    return ["/global"] + ["/".join(parts[: n + 1]) for n in range(2, len(parts), 2)]


# Two organisations with the same shape: users, their tasks, a domain. "{o}" becomes a fresh name.
PLACES = [
    "/org/{o}",
    "/org/{o}/user/ana",
    "/org/{o}/user/ana/task/t1",
    "/org/{o}/user/ana2",
    "/org/{o}/user/bob",
    "/org/{o}/user/bob/task/t1",
    "/org/{o}/domain/d",
]
PLACE = st.tuples(st.sampled_from("ab"), st.sampled_from(PLACES))
GRANTS = st.lists(st.tuples(st.sampled_from(PLACES), st.booleans(), st.booleans()), max_size=2)
AGENTS = st.lists(st.tuples(PLACE, st.booleans(), st.booleans(), GRANTS), min_size=2, max_size=4)


class Universe:
    """The scopes of one example, each with a memory in it, and the agents."""

    def __init__(self, world: World, agents: list[Any]) -> None:
        names = {letter: f"{letter}{next(NUMBERS)}" for letter in "ab"}
        self.world = world
        self.paths = [place.format(o=name) for name in names.values() for place in PLACES]
        for path in self.paths:
            world.scope(path)
        self.items: dict[UUID, str] = {}
        for name in names.values():
            self.fill(world.agent(f"/org/{name}", descendants=True), f"/org/{name}")
        self.remember(everybodys_author(world), "/global")
        for row in world.rows("SELECT item_id FROM memwarden_data.item WHERE scope_id = 0"):
            self.items[row["item_id"]] = "/global"  # those of earlier examples, too
        self.agents = [self.agent(names, *drawn) for drawn in agents]

    def fill(self, author: Connection[DictRow], organisation: str) -> None:
        """Remember something in every scope of an organisation."""
        for path in self.paths:
            if is_within(path, organisation):
                self.remember(author, path)
        author.close()

    def remember(self, author: Connection[DictRow], path: str) -> None:
        """Remember one thing, in words that all scopes share."""
        content = {"text": f"a shared word and {next(NUMBERS)}"}
        row = write(author, "episodic", content, scope=path)
        assert row["outcome"] == "COMMITTED", row
        self.items[row["item_id"]] = path

    def agent(
        self, names: dict[str, str], home: tuple[str, str], writes: bool, below: bool, more: Any
    ) -> Agent:
        """Register an agent with its home and further grants of its organisation."""
        organisation = names[home[0]]
        path = home[1].format(o=organisation)
        grants = {path: (writes, below)}
        connection = self.world.agent(path, writes=writes, descendants=below)
        for place, also_writes, also_below in more:
            granted = place.format(o=organisation)
            grants[granted] = (also_writes, also_below)
            self.world.admin.execute(
                "SELECT memwarden.grant_scope(%s, %s, %s, %s)",
                (connection.info.user, granted, also_writes, also_below),
            )
        return Agent(grants, connection)

    def visible(self, agent: Agent) -> set[UUID]:
        """Return the items that the agent should see."""
        return {item for item, path in self.items.items() if agent.sees(path)}


def check_recall(universe: Universe, agent: Agent) -> None:
    """Everything, a scope with what it inherits, exactly some scopes: or the error of no scope."""
    visible = universe.visible(agent)
    for arguments in ({}, {"query": "shared word"}, {"query": "nothing of it"}):
        found = recall(agent.connection, k=1000, **arguments)
        assert {row["item_id"] for row in found} == visible
        assert {row["scope"] for row in found} == {universe.items[i] for i in visible}
    for path in [*universe.paths, "/global", "/org/nowhere"]:
        within = {i for i in visible if universe.items[i] in ancestors(path)}
        exactly = {i for i in visible if universe.items[i] == path}
        for how, expected in (({"scope": path}, within), ({"scopes": [path]}, exactly)):
            if agent.sees(path) and path != "/org/nowhere":
                seen = {row["item_id"] for row in recall(agent.connection, k=1000, **how)}
                assert seen == expected
                continue
            with pytest.raises(psycopg.errors.UndefinedObject) as raised:
                recall(agent.connection, **how)
            assert raised.value.diag.message_detail == f"scope '{path}'"
            assert raised.value.diag.message_primary == "no such memwarden object"


def check_items(universe: Universe, agent: Agent) -> None:
    """get(), history(), request_status() and the views."""
    visible = universe.visible(agent)
    for function in ("get", "history"):
        rows = agent.connection.execute(
            f"SELECT i.id FROM unnest(%s::uuid[]) AS i (id), memwarden.{function}(i.id) AS g",
            (list(universe.items),),
        ).fetchall()
        assert {row["id"] for row in rows} == visible, function
    seen = agent.connection.execute("SELECT item_id, scope FROM memwarden.items").fetchall()
    assert {row["item_id"]: row["scope"] for row in seen} == {
        item: path for item, path in universe.items.items() if item in visible
    }
    own = agent.connection.execute("SELECT request_id FROM memwarden.requests").fetchall()
    assert {row["request_id"] for row in own} == agent.requests
    told = agent.connection.execute(
        "SELECT s.request_id FROM unnest(%s::uuid[]) AS i (id),"
        "       memwarden.request_status(i.id) AS s",
        ([request for each in universe.agents for request in each.requests],),
    ).fetchall()
    assert {row["request_id"] for row in told} == agent.requests


def check_tables(universe: Universe, agent: Agent) -> None:
    """Every table and partition in the catalog: its rows, or no right to it."""
    tables = universe.world.rows(
        "SELECT c.oid::regclass::text AS name, c.relname, c.relispartition AS is_partition,"
        "       has_table_privilege('memwarden_agent', c.oid, 'SELECT') AS readable,"
        "       ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid"
        "              AND a.attnum > 0 AND NOT a.attisdropped) AS columns"
        "  FROM pg_class AS c WHERE c.relnamespace = 'memwarden_data'::regnamespace"
        "   AND c.relkind IN ('r', 'p')"
    )
    assert len(tables) > 20
    for table in tables:
        select = f"SELECT t.* FROM {table['name']} AS t"
        if not table["readable"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                agent.connection.execute(select)
            continue
        assert not table["is_partition"], table["name"]
        rows = agent.connection.execute(select).fetchall()
        if "item_id" in table["columns"] and table["relname"] != "write_request":
            assert {row["item_id"] for row in rows} == universe.visible(agent), table["name"]
        elif table["relname"] == "scope":
            seen = {row["path"] for row in rows}
            assert seen == {p for p in [*universe.paths, "/global"] if agent.sees(p)}
        elif table["relname"] == "write_request":
            assert {row["request_id"] for row in rows} == agent.requests
        else:
            shared = table["relname"] in SETTINGS or "org_id" in table["columns"]
            assert shared, f"{table['name']}: say here what an agent may see of it"


def check_writes(universe: Universe, agent: Agent) -> None:
    """Into every scope: committed, read only, or as if there were none."""
    nowhere: dict[str, Any] | None = None
    for path in ["/org/nowhere", "/global", *universe.paths]:
        content = {"text": f"a shared word and {next(NUMBERS)}"}
        row = dict(write(agent.connection, "episodic", content, scope=path))
        agent.requests.add(row.pop("request_id"))
        if agent.writes(path):
            assert row["outcome"] == "COMMITTED"
            universe.items[row["item_id"]] = path
        elif path != "/org/nowhere" and agent.sees(path):
            assert (row["outcome"], row["reason"]) == ("REJECTED", "SCOPE_READ_ONLY")
        else:
            nowhere = nowhere or row
            assert row == nowhere
            assert (row["gate"], row["reason"]) == ("05_identity", "UNKNOWN_SCOPE")
    hidden = agent.connection.execute(
        "SELECT r.layer, r.scope, r.kind, r.content, r.detail, r.gates #- '{0,us}' AS gates"
        "  FROM memwarden.requests AS r WHERE r.reason = 'UNKNOWN_SCOPE'"
    ).fetchall()
    assert all(row == hidden[0] for row in hidden)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(agents=AGENTS)
def test_agents_see_and_write_what_the_rules_say(shared_world: World, agents: list[Any]) -> None:
    """Ancestors are read, siblings are not, descendants by grant; nothing is written upwards.

    recall() has its visibility written out and tables have policies: both must equal the model, so
    they equal each other. An unknown scope and one that is hidden answer alike.

    Proves: A3, A4 (scopes and grants), Z1
    """
    universe = Universe(shared_world, agents)
    try:
        for check in (check_writes, check_recall, check_items, check_tables):
            for agent in universe.agents:
                check(universe, agent)
    finally:
        shared_world.disconnect()
