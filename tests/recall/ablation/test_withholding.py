"""A share of recalls goes without memory, where somebody asked for that, and says so."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import curator
from conftest import World
from helpers import recall, write
from races import together


def told(world: World, home: str, **options: Any) -> Connection[DictRow]:
    """An agent that knows two things."""
    agent = world.agent(home, **options)
    write(agent, "episodic", "the lamp in the hall is green")
    write(agent, "episodic", "the lamp in the yard is blue")
    return agent


def withheld(agent: Connection[DictRow], task: str | None = None) -> bool:
    """Whether a recall says that it is."""
    rows = recall(agent, query="lamp", task=task)
    if rows[-1]["standing"] != "withheld":
        assert len(rows) == 2
        return False
    assert [row["item_id"] for row in rows] == [None]
    assert rows[0]["recall_id"] is not None
    assert rows[0]["provenance"] == {"withheld": {"memories": 2}}
    return True


def test_a_share_of_tasks_goes_without(shared_world: World, home: str) -> None:
    """About the share, and each task always the same on a day.

    Proves: Q3
    """
    agent = told(shared_world, home)
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.3)", (home,))
    drawn = [withheld(agent, f"task {n}") for n in range(200)]
    # Within four standard deviations.
    assert abs(sum(drawn) - 60) < 4 * (200 * 0.3 * 0.7) ** 0.5
    assert [withheld(agent, f"task {n}") for n in range(20)] == drawn[:20]
    alone = [withheld(agent) for _ in range(60)]
    assert any(alone)
    assert not all(alone)


def test_nothing_is_withheld_where_nobody_asked_for_it(shared_world: World, home: str) -> None:
    """Neither of a neighbour, nor of another task, nor after the end.

    Proves: Q3
    """
    agent = told(shared_world, home)
    shared_world.scope("/org/acme/user/other")
    ablate = "SELECT memwarden.set_ablation(%s, 0.5, task => %s)"
    shared_world.admin.execute(ablate, ("/org/acme/user/other", None))
    shared_world.admin.execute(ablate, (home, "triage"))
    assert not any(withheld(agent, f"task {n}") for n in range(20))
    assert not any(withheld(agent) for _ in range(20))
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (home,))
    assert any(withheld(agent) for _ in range(20))
    for task in (None, "triage"):
        shared_world.admin.execute("SELECT memwarden.set_ablation(%s, NULL, %s)", (home, task))
    assert not any(withheld(agent) for _ in range(20))


def test_the_inner_scope_decides_and_in_it_the_task(shared_world: World, home: str) -> None:
    """A share that is next to nothing there, beside half of all above."""
    agent = told(shared_world, home)
    above = home.rsplit("/user/", 1)[0]
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (above,))
    assert any(withheld(agent) for _ in range(30))
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 1e-12)", (home,))
    assert not any(withheld(agent) for _ in range(30))
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5, 'triage')", (home,))
    drawn = {withheld(agent, "triage"), *(withheld(agent, f"t{n}") for n in range(20))}
    assert drawn <= {withheld(agent, "triage"), False}


def test_what_is_marked_safety_relevant_is_always_given(shared_world: World, home: str) -> None:
    """Pinned, or as important as the ablation says.

    Proves: Q3
    """
    agent = shared_world.agent(
        home, role="curator", groups=("memwarden_agent", "memwarden_curator")
    )
    pinned = write(agent, "episodic", "the lamp must never be on at night")["item_id"]
    vital = write(agent, "episodic", "a lamp may burst", importance=0.95)["item_id"]
    other = write(agent, "episodic", "the lamp is green")["item_id"]
    agent.execute("SELECT memwarden.pin(%s, 'safety')", (pinned,))
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (home,))
    seen = set()
    for _ in range(30):
        rows = recall(agent, query="lamp")
        found = {row["item_id"] for row in rows} - {None}
        assert {pinned, vital} <= found
        assert (other in found) != (rows[-1]["standing"] == "withheld")
        seen.add(other in found)
    assert seen == {True, False}
    row = shared_world.rows("SELECT withheld FROM memwarden_data.recall_log WHERE withheld <> '{}'")
    assert row[-1]["withheld"] == [other]


def test_a_recall_that_cannot_be_recorded_is_not_withheld(shared_world: World, home: str) -> None:
    """In a read-only transaction, and so on a replica."""
    agent = told(shared_world, home)
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (home,))
    agent.execute("SET default_transaction_read_only = on")
    assert not any(withheld(agent) for _ in range(20))


def test_an_outcome_is_reported_of_a_withheld_recall(shared_world: World, home: str) -> None:
    """It used nothing, since it was given nothing."""
    agent = told(shared_world, home)
    shared_world.admin.execute("SELECT memwarden.set_ablation(%s, 0.5)", (home,))
    for n in range(40):
        (*_, row) = recall(agent, query="lamp", task=f"t{n}")
        if row["standing"] == "withheld":
            break
    report = "SELECT memwarden.report_outcome(%s, %s::uuid[], 'success')"
    assert agent.execute(report, (row["recall_id"], [])).fetchone() is not None
    kept = shared_world.value(
        "SELECT withheld FROM memwarden_data.recall_log WHERE recall_id = %s", row["recall_id"]
    )
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        agent.execute(report, (row["recall_id"], kept))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("'/org/nowhere', 0.1", psycopg.errors.UndefinedObject),
        ("NULL, 0.1", psycopg.errors.UndefinedObject),
        ("'/org/acme', 0", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 0.51", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 'NaN'", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 0.1, ''", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 0.1, repeat('x', 1001)", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 0.1, spare_from => NULL", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', 0.1, spare_from => 1.5", psycopg.errors.InvalidParameterValue),
        ("'/org/acme', NULL, 'no such'", psycopg.errors.UndefinedObject),
    ],
)
def test_what_is_no_ablation_is_refused(
    shared_world: World, arguments: str, error: type[psycopg.Error]
) -> None:
    """With a documented error."""
    shared_world.scope("/org/acme")
    with pytest.raises(error):
        shared_world.admin.execute(f"SELECT memwarden.set_ablation({arguments})")


def test_who_may_set_it_and_see_it(shared_world: World, home: str) -> None:
    """Who administers the organisation; others neither, and strangers see nothing of it."""
    org = "/" + "/".join(home.split("/")[1:3])
    owner = curator(shared_world, org)
    agent = shared_world.agent(home)
    stranger = curator(shared_world, "/org/strangers")
    owner.execute("SELECT memwarden.set_ablation(%s, 0.1)", (home,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT memwarden.set_ablation(%s, 0.1)", (home,))
    with pytest.raises(psycopg.errors.UndefinedObject):
        stranger.execute("SELECT memwarden.set_ablation(%s, 0.1)", (home,))
    view = "SELECT scope, share FROM memwarden.ablations"
    assert {"scope": home, "share": 0.1} in owner.execute(view).fetchall()
    assert stranger.execute(view).fetchall() == []


def test_setting_it_beside_recalls_harms_neither(shared_world: World, home: str) -> None:
    """Recalls answer whole or withheld while somebody switches it on and off."""
    agents = [told(shared_world, home), told(shared_world, home)]
    setter = shared_world.connect()

    def switch() -> None:
        for n in range(30):
            share = "0.5" if n % 2 == 0 else "NULL"
            setter.execute(f"SELECT memwarden.set_ablation(%s, {share})", (home,))

    def ask(agent: Connection[DictRow]) -> None:
        for _ in range(60):
            rows = recall(agent, query="lamp", k=2)
            assert [row["standing"] for row in rows] == ["withheld"] or len(rows) == 2

    together([switch, lambda: ask(agents[0]), lambda: ask(agents[1])])
