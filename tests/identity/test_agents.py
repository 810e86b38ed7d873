"""An agent is a principal bound to a login role, with grants on scopes."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.errors import DuplicateObject, InvalidAuthorizationSpecification
from psycopg.errors import Error as DatabaseError

from conftest import World
from helpers import recall, write

REGISTER = (
    "SELECT memwarden.register_agent(name => %(name)s, scope => %(scope)s,"
    " login_role => %(login_role)s, validated => %(validated)s, writes => %(writes)s,"
    " descendants => %(descendants)s)"
)


def registration(**changes: Any) -> dict[str, Any]:
    """Arguments of register_agent() that would do, but for the changes."""
    sound = {"login_role": None, "validated": True, "writes": True, "descendants": False}
    return {"name": "helper", "scope": "/org/reg/user/ana"} | sound | changes


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
    ],
    ids=repr,
)
def test_a_broken_registration_registers_nothing(
    shared_world: World, changes: dict[str, Any], state: str
) -> None:
    """22023 for what is malformed, 42704 for what does not exist or cannot log in."""
    shared_world.scope("/org/reg/user/ana")
    with pytest.raises(DatabaseError) as raised:
        shared_world.admin.execute(REGISTER, registration(**changes))
    assert raised.value.sqlstate == state
    assert raised.value.diag.message_detail
    assert raised.value.diag.message_hint
    assert agents_called(shared_world, "helper") == 0


def test_a_name_is_taken_once_in_an_organisation(shared_world: World) -> None:
    """Another organisation may use it again."""
    for path in ("/org/one/user/ana", "/org/one/user/bob", "/org/two/user/ana"):
        shared_world.scope(path)
    named = {"name": "assistant"}
    shared_world.admin.execute(REGISTER, registration(scope="/org/one/user/ana", **named))
    shared_world.admin.execute(REGISTER, registration(scope="/org/two/user/ana", **named))
    with pytest.raises(DuplicateObject) as raised:
        shared_world.admin.execute(REGISTER, registration(scope="/org/one/user/bob", **named))
    assert raised.value.diag.message_detail == "agent 'assistant'"


def test_a_login_role_speaks_for_one_agent(shared_world: World, home: str) -> None:
    """The second registration is refused whole: no principal without its login remains."""
    role = shared_world.register(home)
    with pytest.raises(DuplicateObject, match="exists") as raised:
        shared_world.admin.execute(
            REGISTER, registration(name="second", scope=home, login_role=role)
        )
    assert role in (raised.value.diag.message_detail or "")
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
        shared_world.admin.execute(
            "UPDATE memwarden_data.principal SET disabled_at = now() WHERE name = %s", (role,)
        )
    else:
        agent = shared_world.connect(shared_world.role("memwarden_agent"))
    requests = shared_world.value("SELECT count(*) FROM memwarden_data.write_request")
    for call in CALLS.values():
        with pytest.raises(InvalidAuthorizationSpecification) as raised:
            agent.execute(f"SELECT * FROM {call}")
        assert "not bound to a memwarden principal" in (raised.value.diag.message_primary or "")
        assert agent.info.user in (raised.value.diag.message_detail or "")
    readable = shared_world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relnamespace::regnamespace::text IN ('memwarden', 'memwarden_data')"
        "   AND c.relkind IN ('r', 'p', 'v') AND c.relname <> 'pipeline'"
        "   AND has_table_privilege('memwarden_agent', c.oid, 'SELECT')"
    )
    assert len(readable) >= 10
    for relation in readable:
        assert agent.execute(f"SELECT * FROM {relation['name']}").fetchall() == [], relation
    assert shared_world.value("SELECT count(*) FROM memwarden_data.write_request") == requests
