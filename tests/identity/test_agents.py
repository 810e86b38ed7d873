"""An agent is a principal bound to a login role, with grants on scopes."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.errors import DuplicateObject, InvalidAuthorizationSpecification
from psycopg.errors import Error as DatabaseError

from access import call, join, refusal
from conftest import World
from helpers import recall, write


def registration(**changes: Any) -> dict[str, Any]:
    """Arguments of register_agent() that would do, but for the changes."""
    return {"name": "helper", "scope": "/org/reg/user/ana"} | changes


def agents_called(world: World, name: str) -> int:
    """Count the principals of that name."""
    return int(world.value("SELECT count(*) FROM memwarden_data.principal WHERE name = %s", name))


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"name": None}, "22023"),
        ({"name": ""}, "22023"),
        ({"name": " helper"}, "22023"),
        ({"name": "helper\n"}, "22023"),
        ({"name": "h" * 201}, "22023"),
        ({"validated": None}, "22023"),
        ({"writes": None}, "22023"),
        ({"descendants": None}, "22023"),
        ({"scope": "/global", "descendants": True}, "22023"),
        ({"scope": None}, "42704"),
        ({"scope": "/org/reg/user/nobody"}, "42704"),
        ({"scope": "/org/reg/user/ana/"}, "42704"),
        ({"login_role": "no_such_role"}, "42704"),
        ({"login_role": "memwarden_agent"}, "42704"),
        ({"login_role": "memwarden_owner"}, "42704"),
        ({"role": None}, "42704"),
        ({"role": "nobody"}, "42704"),
        ({"role": "elsewhere"}, "42704"),
        ({"clearance": None}, "42704"),
        ({"clearance": "secret"}, "42704"),
        ({"clearance": "Public"}, "42704"),
        ({"domains": None}, "22023"),
        ({"domains": [None]}, "22023"),
        ({"domains": [""]}, "22023"),
        ({"domains": ["Law"]}, "22023"),
        ({"domains": ["law\n"]}, "22023"),
        ({"domains": ["d" * 64]}, "22023"),
        ({"domains": [["law"], ["tax"]]}, "22023"),
        ({"domains": [f"d{n}" for n in range(101)]}, "22023"),
        ({"attributes": None}, "22023"),
        ({"attributes": []}, "22023"),
        ({"attributes": {"undeclared": 1}}, "22023"),
        ({"kind": None}, "22023"),
        ({"kind": "robot"}, "22023"),
        ({"anchor_required": None}, "22023"),
        ({"anchor_required": [None]}, "22023"),
        ({"anchor_required": ["no_such_kind"]}, "22023"),
        ({"anchor_required": ["task"]}, "22023"),
        ({"anchor_nullable": ["no_such_kind"]}, "22023"),
        ({"anchor_required": ["org"], "anchor_nullable": []}, "22023"),
        ({"anchor_required": ["org"], "anchor_nullable": ["task"]}, "22023"),
    ],
    ids=repr,
)
def test_a_broken_registration_registers_nothing(
    shared_world: World, changes: dict[str, Any], state: str
) -> None:
    """22023 for what is malformed, 42704 for what does not exist or cannot log in."""
    shared_world.scope("/org/reg/user/ana")
    shared_world.scope("/org/other")
    define = {"name": "elsewhere", "permissions": [], "org": "other"}
    call(shared_world.admin, "define_role", **define)
    error = refusal(shared_world.admin, "register_agent", **registration(**changes))
    assert error.sqlstate == state
    assert agents_called(shared_world, "helper") == 0


@pytest.mark.parametrize("kind", ["agent", "human", "service", "worker"])
def test_people_services_and_workers_are_agents_too(
    shared_world: World, home: str, kind: str
) -> None:
    """What it is says nothing of what it may: each writes, recalls and knows itself."""
    one = join(shared_world, home, kind=kind)
    assert write(one, "semantic", {"by": kind})["outcome"] == "COMMITTED"
    assert [row["content"] for row in recall(one)] == [{"by": kind}]
    (me,) = call(one, "whoami")
    assert (me["agent"], me["kind"], me["home"]) == (one.info.user, kind, home)
    assert (me["role"], me["clearance"], me["domains"]) == ("contributor", "internal", [])
    assert me["writes"] == [home]


def test_a_name_is_taken_once_in_an_organisation(shared_world: World) -> None:
    """Another organisation may use it again."""
    for path in ("/org/one/user/ana", "/org/one/user/bob", "/org/two/user/ana"):
        shared_world.scope(path)
    named = {"name": "assistant"}
    for path in ("/org/one/user/ana", "/org/two/user/ana"):
        call(shared_world.admin, "register_agent", **registration(scope=path, **named))
    taken = registration(scope="/org/one/user/bob", **named)
    error = refusal(shared_world.admin, "register_agent", **taken)
    assert isinstance(error, DuplicateObject)
    assert error.diag.message_detail == "agent 'assistant'"


def test_a_login_role_speaks_for_one_agent(shared_world: World, home: str) -> None:
    """The second registration is refused whole: no principal without its login remains."""
    role = shared_world.register(home)
    second = registration(name="second", scope=home, login_role=role)
    error = refusal(shared_world.admin, "register_agent", **second)
    assert isinstance(error, DuplicateObject)
    assert role in (error.diag.message_detail or "")
    assert agents_called(shared_world, "second") == 0


def test_a_grant_is_for_agents_of_the_same_organisation(shared_world: World, home: str) -> None:
    """The scope tells which organisation's agent of that name is meant."""
    agent = shared_world.register(home)
    other = "/org/elsewhere/user/ana"
    shared_world.scope(other)
    for scope, detail in [
        (other, f"agent '{agent}' in the organisation of '{other}'"),
        ("/global", f"agent '{agent}' in the organisation of '/global'"),
        (home + "/task/none", f"scope '{home}/task/none'"),
    ]:
        with pytest.raises(DatabaseError) as raised:
            shared_world.admin.execute("SELECT memwarden.grant_scope(%s, %s)", (agent, scope))
        assert raised.value.sqlstate == "42704"
        assert raised.value.diag.message_detail == detail


def test_a_second_grant_replaces_the_first(shared_world: World, home: str) -> None:
    """Each counts at once, also in a statement that was prepared before."""
    reader = shared_world.agent(home)
    neighbour = home.replace("/user/ana", "/user/bob")
    below = f"{neighbour}/task/t"
    owner = shared_world.agent(neighbour, descendants=True)
    shared_world.scope(below)
    for scope in (neighbour, below):
        assert write(owner, "semantic", {"in": scope}, scope=scope)["outcome"] == "COMMITTED"
    reader.execute("PREPARE mine AS SELECT content FROM memwarden.items ORDER BY 1")
    reader.execute("SET plan_cache_mode = force_generic_plan")

    def seen_and_write() -> tuple[int, int, str | None]:
        visible = reader.execute("EXECUTE mine").fetchall()
        answer = write(reader, "working", {"note": "x"}, scope=neighbour)
        return len(visible), len(recall(reader, layers=["semantic"], k=100)), answer["reason"]

    assert seen_and_write() == (0, 0, "UNKNOWN_SCOPE")
    grants = [
        ("writes => false", (1, 1, "SCOPE_READ_ONLY")),
        ("writes => false, descendants => true", (2, 2, "SCOPE_READ_ONLY")),
        ("writes => false", (1, 1, "SCOPE_READ_ONLY")),
    ]
    for options, expected in grants:
        shared_world.admin.execute(
            f"SELECT memwarden.grant_scope(%s, %s, {options})", (reader.info.user, neighbour)
        )
        assert seen_and_write() == expected
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, writes => true)", (reader.info.user, neighbour)
    )
    assert write(reader, "working", {"note": "x"}, scope=neighbour)["outcome"] == "COMMITTED"


def test_an_unvalidated_agent_writes_no_durable_layer(shared_world: World, home: str) -> None:
    """Proves: W3 (validated agents)."""
    agent = shared_world.agent(home, validated=False)
    assert write(agent, "working", {"note": "x"})["outcome"] == "COMMITTED"
    for layer in ("episodic", "semantic", "procedural", "durable"):
        assert write(agent, layer, {"note": "x"})["reason"] == "AGENT_NOT_VALIDATED"


CALLS = {
    "write": "memwarden.write('semantic', '{}')",
    "write_many": "memwarden.write_many('[]')",
    "recall": "memwarden.recall('tea')",
    "get": "memwarden.get(gen_random_uuid())",
    "history": "memwarden.history(gen_random_uuid())",
    "request_status": "memwarden.request_status(gen_random_uuid())",
}


@pytest.mark.parametrize("who", ["never registered", "disabled"])
def test_without_identity_nothing_is_visible_and_nothing_written(
    shared_world: World, home: str, who: str
) -> None:
    """28000 from every function, no row from any table or view, also for a member of the group."""
    role = shared_world.register(home)
    agent = shared_world.connect(role)
    assert write(agent, "semantic", {"fact": "before"})["outcome"] == "COMMITTED"
    if who == "disabled":
        call(shared_world.admin, "change_agent", agent=role, enabled=False)
    else:
        agent = shared_world.connect(shared_world.role("memwarden_agent"))
    requests = shared_world.value("SELECT count(*) FROM memwarden_data.write_request")
    for attempt in CALLS.values():
        with pytest.raises(InvalidAuthorizationSpecification) as raised:
            agent.execute(f"SELECT * FROM {attempt}")
        assert "not bound to a memwarden principal" in (raised.value.diag.message_primary or "")
        assert agent.info.user in (raised.value.diag.message_detail or "")
    readable = shared_world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relnamespace::regnamespace::text IN ('memwarden', 'memwarden_data')"
        "   AND c.relkind IN ('r', 'p', 'v') AND c.relname NOT IN ('pipeline', 'functions')"
        "   AND has_table_privilege('memwarden_agent', c.oid, 'SELECT')"
    )
    assert len(readable) >= 10
    for relation in readable:
        assert agent.execute(f"SELECT * FROM {relation['name']}").fetchall() == [], relation
    assert shared_world.value("SELECT count(*) FROM memwarden_data.write_request") == requests
