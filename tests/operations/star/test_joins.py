"""An inner join of facts with their dimensions loses no row, and shows no person to a monitor."""

from __future__ import annotations

import pytest

from access import join
from conftest import World
from operations.metrics.conftest import History, found, plant

KEYS = {
    "write_facts": ("org_id", "agent_id", "layer", "gate", "reason", "day"),
    "recall_facts": ("org_id", "agent_id", "layer", "day"),
    "decision_facts": ("org_id", "scope_id", "agent_id", "layer", "day"),
}


@pytest.fixture(scope="module")
def planted(shared_world: World) -> History:
    """An organisation with a history, measured."""
    made = found(shared_world)
    plant(made)
    made.measure()
    return made


@pytest.mark.parametrize("view", KEYS)
def test_an_inner_join_loses_no_row(planted: History, view: str) -> None:
    """Recalls as a whole have the layer *, codes of added gates no meaning; both are listed.

    Proves: Q6
    """
    world = planted.world
    world.admin.execute(
        "INSERT INTO memwarden_data.write_day VALUES"
        " (%s, current_date, 'semantic', %s, 'REJECTED', '41_no_zebras', 'ZEBRA', 3, 0)"
        " ON CONFLICT DO NOTHING",
        (planted.org_id, planted.rows("write_request")[0]["principal_id"]),
    )
    monitor = world.log_in(world.role("memwarden_monitor"))
    joins = "".join(
        f" JOIN memwarden.dim_{key.removesuffix('_id')} AS {key} ON {key}.{key} = f.{key}"
        for key in KEYS[view]
    )
    joins = joins.replace("dim_org ", "dim_organisation ")
    whole = monitor.execute(f"SELECT count(*) AS n FROM memwarden.{view} AS f").fetchone()
    joined = monitor.execute(f"SELECT count(*) AS n FROM memwarden.{view} AS f {joins}").fetchone()
    assert whole == joined
    assert view == "decision_facts" or (whole is not None and whole["n"] > 0)


def test_who_monitors_all_and_oversees_one_reads_paths_of_that_one(planted: History) -> None:
    """Figures of every organisation do not bring the paths, or the people, of every one.

    Proves: Q6
    """
    world = planted.world
    other = found(world)
    both = world.log_in(
        world.register(
            f"/org/{other.org}",
            groups=("memwarden_auditor", "memwarden_monitor"),
            kind="human",
        )
    )
    person = join(world, f"/org/{planted.org}", "auditor", kind="human")
    paths = both.execute("SELECT org_id, path FROM memwarden.dim_scope").fetchall()
    assert {row["org_id"] for row in paths} >= {planted.org_id, other.org_id}
    assert {row["org_id"] for row in paths if row["path"] is not None} == {other.org_id}
    people = both.execute(
        "SELECT org_id, agent FROM memwarden.dim_agent WHERE kind = 'human'"
    ).fetchall()
    assert {row["org_id"] for row in people} >= {planted.org_id, other.org_id}
    assert person.info.user not in {row["agent"] for row in people}
    assert both.info.user in {row["agent"] for row in people}


def test_a_monitor_is_told_programs_by_name_and_people_not(planted: History) -> None:
    """Who slows an agent down has to know which; who a person is, an auditor there knows.

    Proves: Q6
    """
    world = planted.world
    person = join(world, f"/org/{planted.org}", "auditor", kind="human")
    monitor = world.log_in(world.role("memwarden_monitor"))
    told = monitor.execute("SELECT kind, agent FROM memwarden.dim_agent").fetchall()
    assert {row["agent"] for row in told if row["kind"] == "human"} == {None}
    assert None not in {row["agent"] for row in told if row["kind"] == "agent"}
    own = person.execute("SELECT agent FROM memwarden.dim_agent").fetchall()
    assert person.info.user in {row["agent"] for row in own}


def test_no_row_of_a_monitor_has_a_word_of_memory(planted: History) -> None:
    """No content, no path below an organisation, no layer that a caller made up.

    Proves: Q6
    """
    world = planted.world
    monitor = world.log_in(world.role("memwarden_monitor"))
    views = world.rows(
        "SELECT viewname AS name FROM pg_views WHERE schemaname = 'memwarden'"
        " AND (viewname ~ '^dim_' OR viewname ~ '_facts$')"
    )
    assert len(views) == 11
    for view in views:
        for row in monitor.execute(f"SELECT * FROM memwarden.{view['name']}").fetchall():
            for word in ("lamp", "AKIA", "/user/", "/org/", "no such layer"):
                assert word not in str(row), (view, word)
