"""A task ends: what it remembers is promoted or released, and nothing is written there any more."""

from __future__ import annotations

from functools import partial

import pytest
from psycopg import Connection, IsolationLevel
from psycopg.errors import (
    ActiveSqlTransaction,
    InsufficientPrivilege,
    InvalidParameterValue,
    UndefinedObject,
)
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from replay import check_store
from scope_calls import (
    CURATOR,
    annotate,
    check_tree,
    close_scope,
    create_scope,
    get,
    one,
    organisation_of,
    promote,
    refused,
    remember,
    retract,
    scope_row,
)
from write.gates.obedient import run_retries, status


def test_a_closed_task_is_released(world: World) -> None:
    """Out of recall, kept by get() and history(), and the log says who let it go and why.

    Proves: A10
    """
    home = "/org/acme/user/ana"
    agent = world.agent(home)
    task = f"{home}/task/t"
    create_scope(agent, task)
    create_scope(agent, f"{task}/task/sub/task/subsub")
    kept = remember(agent, home, {"drink": "tea"})
    key = {"subject": "step", "predicate": "is"}
    ended = {
        remember(agent, task, "one", **key): "two",
        remember(agent, task, {"at": "hand"}, layer="working"): {"at": "hand"},
        remember(agent, f"{task}/task/sub", "three", **key): "three",
        remember(agent, f"{task}/task/sub/task/subsub", "four", layer="episodic"): "four",
    }
    write(agent, "semantic", "two", scope=task, **key)
    assert close_scope(agent, task) == dict.fromkeys(ended, "released")
    assert [row["item_id"] for row in recall(agent, k=1000)] == [kept]
    for item, content in ended.items():
        assert (get(agent, item)["status"], get(agent, item)["content"]) == ("EXPIRED", content)
        versions = agent.execute("SELECT * FROM memwarden.history(%s)", (item,)).fetchall()
        assert (versions[0]["status"], versions[0]["content"]) == ("EXPIRED", content)
        assert (
            versions[0]["recorded_at"]
            == versions[1]["superseded_at"]
            == get(agent, item)["updated_at"]
        )
        entry = one(world.admin, "SELECT * FROM memwarden_data.log WHERE item_id = %s"
                    " ORDER BY log_seq DESC LIMIT 1", item)  # fmt: skip
        assert (entry["operation"], entry["reason"]) == ("EXPIRE", "scope closed")
        by = world.value("SELECT name FROM memwarden_data.principal WHERE principal_id = %s",
                         entry["principal_id"])  # fmt: skip
        assert by == agent.info.user
    heads = check_store(world.admin)
    assert {item for item, head in heads.items() if head.status == "ACTIVE"} == {kept}
    assert one(agent, "SELECT writes FROM memwarden.whoami()")["writes"] == [home]
    closed = {path for path, row in check_tree(world.admin).items() if row["closed_at"]}
    assert closed == {task, f"{task}/task/sub", f"{task}/task/sub/task/subsub"}


def callers(world: World, home: str) -> dict[str, tuple[Connection[DictRow], bool, bool]]:
    """Who might close, whether they may close a task of the home, and the home itself."""
    organisation = organisation_of(home)
    return {
        "an agent of the home": (world.agent(home, descendants=True), True, False),
        "a reader of the home": (world.agent(home, writes=False, descendants=True), False, False),
        "an agent of the task": (world.agent(f"{home}/task/t"), True, False),
        "a reader of the task": (world.agent(f"{home}/task/t", writes=False), False, False),
        "the organisation": (world.agent(organisation, descendants=True), True, False),
        "a curator": (world.agent(organisation, **CURATOR), True, True),
        "a curator of the home": (world.agent(home, descendants=True, **CURATOR), True, False),
        "a database administrator": (world.connect(world.role("memwarden_admin")), True, True),
    }


@pytest.mark.parametrize("who", range(8))
def test_who_may_close_a_scope(shared_world: World, home: str, who: int) -> None:
    """A task: who writes it, and administrators. Anything else: administrators alone.

    Proves: A10, A4
    """
    task = f"{home}/task/t"
    shared_world.scope(f"{task}/domain/d")
    caller, may_task, may_home = list(callers(shared_world, home).values())[who]
    for path, allowed in ((f"{task}/domain/d", may_home), (task, may_task), (home, may_home)):
        if allowed:
            assert close_scope(caller, path) == {}
        else:
            with pytest.raises((InsufficientPrivilege, UndefinedObject)):
                close_scope(caller, path)
        assert (scope_row(shared_world, path)["closed_at"] is not None) == allowed


def test_a_hidden_scope_is_an_unknown_one(shared_world: World, home: str) -> None:
    """To siblings, agents above without a grant, and other organisations.

    Proves: A10, A4
    """
    task, organisation = f"{home}/task/t", organisation_of(home)
    shared_world.scope(task)
    for agent in (
        shared_world.agent(home),
        shared_world.agent(f"{organisation}/user/bob", descendants=True),
        shared_world.agent(f"{organisation}x", **CURATOR),
    ):
        hidden = refused(partial(close_scope, agent, task), task)
        assert hidden[:3] == ["42704", "no such memwarden object", "scope '?'"]
        for path in (f"{task}x", f"{home}/galaxy/x"):
            assert refused(partial(close_scope, agent, path), path) == hidden
    assert scope_row(shared_world, task)["closed_at"] is None


def test_global_never_closes(shared_world: World) -> None:
    """Not for its own agents, nor for the administrator of the database.

    Proves: A10
    """
    with pytest.raises(InvalidParameterValue):
        close_scope(shared_world.admin, "/global")
    with pytest.raises(InsufficientPrivilege):
        close_scope(shared_world.agent("/global", **CURATOR), "/global")


def test_nothing_is_written_after_the_end(shared_world: World, home: str) -> None:
    """One write, a batch, a promotion into it, an annotation; retract() finds nothing left.

    Proves: A10
    """
    agent = shared_world.agent(home, role="curator", descendants=True)
    task = f"{home}/task/t"
    create_scope(agent, f"{task}/task/sub")
    item = remember(agent, task, {"fact": "before"})
    close_scope(agent, task)
    for path in (task, f"{task}/task/sub"):
        assert write(agent, "semantic", {"x": 1}, scope=path)["reason"] == "SCOPE_CLOSED"
        batch = [{"layer": layer, "content": 1, "scope": path} for layer in ("working", "semantic")]
        batch.append({"layer": "semantic", "content": path, "scope": home})
        reasons = [row["reason"] for row in write_many(agent, batch)]
        assert reasons == ["SCOPE_CLOSED", "SCOPE_CLOSED", None]
    assert annotate(agent, item, "doubted")["reason"] == "SCOPE_CLOSED"
    for call in (retract, promote):
        with pytest.raises(UndefinedObject) as raised:
            call(agent, item)
        assert raised.value.diag.message_detail == f"active item {item}"
    assert [row["content"] for row in recall(agent)] == [task + "/task/sub", task]


def test_a_deferred_write_meets_the_closed_scope(world: World) -> None:
    """Its retry is rejected: SCOPE_CLOSED.

    Proves: A10, W2
    """
    home = "/org/acme/user/ana"
    agent, blocker = world.agent(home), world.connect()
    task = f"{home}/task/t"
    create_scope(agent, task)
    remember(agent, task, {"n": 0})
    agent.execute("SET lock_timeout = '1ms'")
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        waits = write(agent, "semantic", {"n": 1}, scope=task)
    assert waits["outcome"] == "DEFERRED"
    close_scope(agent, task)
    run_retries(world)
    row = status(world, waits)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "SCOPE_CLOSED")
    check_store(world.admin)


def test_closing_again_finds_nothing_to_do(shared_world: World, home: str) -> None:
    """Whoever repeats the call gets no rows; the time of the end stays, and so do the memories.

    Proves: A10
    """
    agent, task = shared_world.agent(home), f"{home}/task/t"
    create_scope(agent, f"{task}/task/sub")
    first = remember(agent, task, {"step": 1})
    second = remember(agent, f"{task}/task/sub", {"step": 2})
    assert close_scope(agent, f"{task}/task/sub") == {second: "released"}
    inner = scope_row(shared_world, f"{task}/task/sub")["closed_at"]
    assert close_scope(agent, task) == {first: "released"}
    outer = scope_row(shared_world, task)["closed_at"]
    assert close_scope(agent, task) == close_scope(shared_world.admin, home + "/task/t") == {}
    assert scope_row(shared_world, f"{task}/task/sub")["closed_at"] == inner < outer
    assert scope_row(shared_world, task)["closed_at"] == outer
    with pytest.raises(UndefinedObject, match="no such memwarden object"):
        close_scope(agent, task, first)


def test_an_administrator_closes_a_whole_organisation(shared_world: World, home: str) -> None:
    """Every scope of it, and the memories of everybody there; the log names the engine.

    Proves: A10
    """
    organisation = organisation_of(home)
    ana = shared_world.agent(home)
    bob = shared_world.agent(f"{organisation}/user/bob")
    items = {remember(a, s, s) for a, s in ((ana, home), (bob, f"{organisation}/user/bob"))}
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    assert set(close_scope(admin, organisation)) == items
    assert recall(ana) == recall(bob) == []
    actors = shared_world.rows(
        "SELECT DISTINCT p.name FROM memwarden_data.log AS l JOIN memwarden_data.principal AS p"
        " USING (principal_id) WHERE l.item_id = ANY (%s) AND l.operation = 'EXPIRE'",
        list(items),
    )
    assert actors == [{"name": "memwarden"}]
    check_tree(shared_world.admin)


@pytest.mark.parametrize("level", [IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE])
def test_closing_needs_read_committed(
    shared_world: World, home: str, level: IsolationLevel
) -> None:
    """25001: elsewhere it would not see what was written meanwhile, and leave it behind.

    Proves: A10
    """
    agent, task = shared_world.agent(home), f"{home}/task/t"
    create_scope(agent, task)
    agent.isolation_level = level
    with pytest.raises(ActiveSqlTransaction), agent.transaction():
        close_scope(agent, task)
    assert scope_row(shared_world, task)["closed_at"] is None
