"""A role's budget: so many memories of an agent in one session, and then no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import administrator, call, curator, join, state
from helpers import write, write_many
from races import together
from scope_calls import organisation_of
from write.admission.conftest import note
from write.gates.obedient import add_obedient_gate, answering, run_retries, status

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
Tasks = Callable[[int], list[str]]
PERMISSIONS = [{"operation": "READ"}, {"operation": "WRITE"}]


@pytest.fixture
def thrifty(shared_world: World, home: str) -> Callable[[int | None], Agent]:
    """Makes an agent of the home whose role has that budget."""
    org = home.split("/")[2]
    shared_world.scope(organisation_of(home))

    def make(budget: int | None) -> Agent:
        call(shared_world.admin, "define_role", name="thrifty", permissions=PERMISSIONS, org=org)
        call(shared_world.admin, "set_write_budget", role="thrifty", budget=budget, org=org)
        return join(shared_world, home, role="thrifty", descendants=True)

    return make


def test_a_session_takes_what_the_roles_budget_gives(
    shared_world: World, thrifty: Callable[[int | None], Agent], tasks: Tasks, home: str
) -> None:
    """Every layer but the free one counts, and each session by itself; the refusal says how much.

    Proves: W6
    """
    agent, paths = thrifty(3), tasks(2)
    said = [note(agent, paths[0], layer) for layer in ("session", "episodic", "semantic")]
    assert said == ["COMMITTED"] * 3
    over = write(agent, "episodic", {"note": "more"}, scope=paths[0])
    assert (over["outcome"], over["gate"], over["reason"]) == (
        "REJECTED",
        "20_admission",
        "BUDGET_EXHAUSTED",
    )
    assert over["detail"] == {"budget": 3, "used": 3}
    assert note(agent, paths[0], "working") == "COMMITTED"
    assert note(agent, paths[1]) == "COMMITTED"
    # Outside every session there is no budget; another agent of the role has its own.
    assert [note(agent, home) for _ in range(4)] == ["COMMITTED"] * 4
    assert note(thrifty(3), paths[0]) == "COMMITTED"
    call(shared_world.admin, "set_write_budget", role="thrifty", budget=4, org=home.split("/")[2])
    assert [note(agent, paths[0]) for _ in range(2)] == ["COMMITTED", "BUDGET_EXHAUSTED"]
    call(
        shared_world.admin, "set_write_budget", role="thrifty", budget=None, org=home.split("/")[2]
    )
    assert note(agent, paths[0]) == "COMMITTED"


def test_a_task_within_the_session_has_no_budget_of_its_own(
    thrifty: Callable[[int | None], Agent], tasks: Tasks
) -> None:
    """Whoever could open one would never be out of budget.

    Proves: W6
    """
    agent, (session,) = thrifty(2), tasks(1)
    call(agent, "create_scope", path=f"{session}/task/inner")
    assert note(agent, f"{session}/task/inner") == "COMMITTED"
    assert note(agent, session) == "COMMITTED"
    assert note(agent, f"{session}/task/inner") == "BUDGET_EXHAUSTED"


def test_only_what_is_remembered_counts(
    thrifty: Callable[[int | None], Agent], tasks: Tasks
) -> None:
    """Refused, repeated and undone writes leave the budget alone; a batch ends where it does.

    Proves: W6
    """
    agent, (session,) = thrifty(3), tasks(1)
    tea = {"drink": "tea"}
    assert write(agent, "episodic", tea, scope=session)["outcome"] == "COMMITTED"
    assert write(agent, "episodic", tea, scope=session)["outcome"] == "ALREADY_COMMITTED"
    wrong = write(agent, "episodic", {"drink": "?"}, scope=session, confidence=2)
    assert wrong["outcome"] == "REJECTED"
    with agent.transaction(force_rollback=True):
        assert [note(agent, session) for _ in range(2)] == ["COMMITTED"] * 2
    answers = write_many(
        agent, [{"layer": "episodic", "content": {"n": n}, "scope": session} for n in range(4)]
    )
    assert [a["reason"] or a["outcome"] for a in answers] == [
        "COMMITTED",
        "COMMITTED",
        "BUDGET_EXHAUSTED",
        "BUDGET_EXHAUSTED",
    ]


def test_a_deferred_write_counts_once(world: World, home: str) -> None:
    """However often it is tried: when it commits.

    Proves: W6
    """
    add_obedient_gate(world)
    call(world.admin, "set_write_budget", role="contributor", budget=2)
    agent = join(world, home, descendants=True)
    session = f"{home}/task/t"
    world.scope(session)
    asked = write(agent, "episodic", answering("DEFER", until_attempt=4), scope=session)
    for _ in range(3):
        run_retries(world)
    assert status(world, asked)["outcome"] == "COMMITTED"
    assert [note(agent, session) for _ in range(2)] == ["COMMITTED", "BUDGET_EXHAUSTED"]


def test_connections_at_once_stay_within_the_budget(
    shared_world: World, thrifty: Callable[[int | None], Agent], tasks: Tasks
) -> None:
    """Sixteen, in tasks of one session, every other write undone; what is left is there afterwards.

    Proves: W6
    """
    budget = 20
    agent, (session,) = thrifty(budget), tasks(1)
    paths = [f"{session}/task/t{n}" for n in range(16)]
    for path in paths:
        shared_world.scope(path)
    sessions = [
        shared_world.connect(agent.info.user, options="-c lock_timeout=2min") for _ in paths
    ]

    def work(connection: Agent, path: str) -> list[str]:
        said = []
        for n in range(6):
            with connection.transaction(force_rollback=n % 2 == 0):
                outcome = note(connection, path)
            said += [outcome] if n % 2 else []
        return said

    every = together([partial(work, *each) for each in zip(sessions, paths, strict=True)])
    outcomes = Counter(outcome for said in every for outcome in said)
    assert set(outcomes) <= {"COMMITTED", "BUDGET_EXHAUSTED", "BUDGET_BUSY"}
    left = budget - outcomes["COMMITTED"]
    assert left >= 0
    assert [note(agent, session) for _ in range(left + 1)] == ["COMMITTED"] * left + [
        "BUDGET_EXHAUSTED"
    ]


def test_what_others_hold_is_awaited_and_not_refused(
    shared_world: World, thrifty: Callable[[int | None], Agent], tasks: Tasks
) -> None:
    """The last of a budget in an open transaction: deferred, and committed when that is undone.

    Proves: W6
    """
    agent, (session,) = thrifty(1), tasks(1)
    holder = shared_world.connect(agent.info.user)
    with holder.transaction(force_rollback=True):
        assert note(holder, session, "session") == "COMMITTED"
        asked = write(agent, "episodic", {"note": "mine"}, scope=session)
        assert (asked["outcome"], asked["gate"], asked["reason"]) == (
            "DEFERRED",
            "88_budget",
            "BUDGET_BUSY",
        )
    run_retries(shared_world)
    assert status(shared_world, asked)["outcome"] == "COMMITTED"


def test_a_closed_sessions_use_is_forgotten(
    shared_world: World, thrifty: Callable[[int | None], Agent], tasks: Tasks
) -> None:
    """maintain() deletes what closed sessions and idle limits have used, and nothing that counts.

    Proves: W6
    """
    agent, paths = thrifty(2), tasks(2)
    for path in paths:
        assert note(agent, path) == "COMMITTED"
    call(agent, "close_scope", path=paths[0])
    shared_world.admin.execute("SELECT memwarden.maintain()")
    kept = shared_world.rows(
        "SELECT s.path FROM memwarden_data.allowance AS a"
        " JOIN memwarden_data.scope AS s ON s.scope_id = a.scope_id"
        " JOIN memwarden_data.principal AS p ON p.principal_id = a.principal_id WHERE p.name = %s",
        agent.info.user,
    )
    assert [row["path"] for row in kept] == [paths[1]]
    assert [note(agent, paths[1]) for _ in range(2)] == ["COMMITTED", "BUDGET_EXHAUSTED"]


def test_who_sets_budgets_and_limits(shared_world: World, home: str) -> None:
    """Administrators of the store for all; a curator the budgets of its organisation's own roles.

    Proves: W6, Z1
    """
    organisation = organisation_of(home)
    agent = shared_world.agent(home)
    person = curator(shared_world, organisation)
    admin = administrator(shared_world)
    for role in (agent, person):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call(role, "set_rate_limit", layer="episodic", agent=agent.info.user, rate_limit=9)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(agent, "set_write_budget", role="executor", budget=9)
    # A role that all have is not the organisation's.
    assert state(person, "set_write_budget", role="executor", budget=9) == "42704"
    call(person, "define_role", name="executor", permissions=PERMISSIONS)
    call(person, "set_write_budget", role="executor", budget=9)
    assert state(person, "set_write_budget", role="executor", budget=9, org="global") == "42501"
    call(admin, "set_rate_limit", layer="episodic", agent=agent.info.user, rate_limit=9)
    for wrong in (0, -1, 1_000_001):
        assert state(person, "set_write_budget", role="executor", budget=wrong) == "22023"
        assert (
            state(
                admin,
                "set_rate_limit",
                layer="episodic",
                agent=agent.info.user,
                rate_limit=wrong,
            )
            == "22023"
        )
    call_with = {"layer": "episodic", "agent": agent.info.user, "rate_limit": 1}
    assert state(admin, "set_rate_limit", **call_with | {"layer": "none"}) == "42704"
    assert state(admin, "set_rate_limit", **call_with | {"agent": "none"}) == "42704"
