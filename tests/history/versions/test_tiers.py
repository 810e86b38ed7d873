"""compact_history(), place_tier(): what is over lies elsewhere, and every answer stays the same."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from access import call, state
from conftest import World
from helpers import recall
from history.versions.past import (
    Agent,
    check_timeline,
    cites,
    head,
    now,
    rollback,
    rolled_back,
    say,
    year,
)
from history.versions.past import state as stands
from scope_calls import remember, retract

HOME = "/org/acme/user/ana"
VECTORS = {"east": [1.0, 0.0, 0.0], "north": [0.0, 1.0, 0.0]}


def compact(world: World) -> None:
    """Run the job."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.compact_history()")


def after(world: World, warm: str, cold: str) -> None:
    """Say when versions move."""
    world.admin.execute(
        "UPDATE memwarden_data.layer SET warm_after = %s, cold_after = %s", (warm, cold)
    )


def tiers(world: World) -> dict[str, int]:
    """How many versions lie in each tier."""
    rows = world.rows("SELECT tier, count(*) AS n FROM memwarden_data.version GROUP BY tier")
    return {row["tier"]: row["n"] for row in rows}


@pytest.fixture
def curator(world: World) -> Agent:
    """Who writes and undoes."""
    return world.agent(HOME, role="curator")


@pytest.fixture
def items(world: World, curator: Agent) -> dict[str, UUID]:
    """Memories to which everything has happened that can."""
    call(world.admin, "register_embedding_model", name="ways", dimension=3)
    made = {}
    for step in range(6):
        made["chain"] = say(curator, step, subject="chain", valid_from=year(2010 + step))["item_id"]
    say(curator, "ahead", subject="chain", valid_from=year(2090))
    for way, vector in VECTORS.items():
        more = {"embedding": vector, "embedding_model": "ways"}
        made["vector"] = say(curator, way, subject="vector", **more)["item_id"]
    for name in ("retracted", "expired", "short"):
        more = {"ttl": "1 day"} if name == "short" else {}
        made[name] = say(curator, name, subject=name, **more)["item_id"]
    retract(curator, made["retracted"])
    call(curator, "expire", item_id=made["expired"], reason="over")
    made["one"], made["two"] = (
        remember(curator, HOME, {"n": n}, evidence=cites(made["chain"])) for n in range(2)
    )
    call(curator, "merge", item_id=made["one"], absorbed=made["two"], reason="the same")
    made["moved"] = remember(curator, HOME, "moved")
    asked = {"item_id": made["moved"], "layer": "durable", "reason": "r"}
    made["copy"] = call(curator, "reclassify", **asked)[0]["item_id"]
    made["back"] = say(curator, "good", subject="back")["item_id"]
    say(curator, "bad", subject="back")
    rollback(curator, made["back"])
    return made


def answers(world: World, agent: Agent, items: dict[str, UUID], moments: list[Any]) -> list[Any]:
    """Everything that can be asked of the past and of the present."""
    told: list[Any] = [recall(agent, k=100), recall(agent, query="good moved", k=100)]
    for row in (*told[0], *told[1]):
        # What changes from one call to the next.
        row |= dict.fromkeys(("recency_score", "freshness_score", "recall_id"))
    for moment in moments:
        told.append(call(agent, "as_of", system_time=moment))
        for number in (2011, 2013, 2091):
            told.append(call(agent, "as_of", system_time=moment, valid_time=year(number)))
        told.append(call(agent, "as_of", system_time=moment, query="good"))
        told.append(call(agent, "diff_store", since=moment, until=moments[-1]))
    for item in items.values():
        told += [call(agent, function, item_id=item) for function in ("get", "history", "lineage")]
        told.append(call(agent, "lineage", item_id=item, direction="derived"))
        told += [call(agent, "as_of", system_time=each, item_id=item) for each in moments]
        for one in range(1, head(world, item)["version"] + 1):
            told.append(call(agent, "diff", item_id=item, version_a=1, version_b=one))
    told.append(agent.execute("SELECT * FROM memwarden.items ORDER BY item_id").fetchall())
    return told


def test_every_answer_stays_the_same(world: World, curator: Agent, items: dict[str, UUID]) -> None:
    """By way of the warm tier, or straight to the cold one; what is current does not move.

    Proves: T7
    """
    entries = world.rows("SELECT recorded_at FROM memwarden_data.log ORDER BY log_seq")
    moments = [*(row["recorded_at"] for row in entries[::3]), now(world)]
    before = answers(world, curator, items, moments)
    versions = tiers(world)
    assert set(versions) == {"hot"}
    current = world.value("SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE'")
    for warm, cold, tier in (("0", "1 day", "warm"), ("0", "0", "cold")):
        after(world, warm, cold)
        compact(world)
        assert tiers(world) == {"hot": current, tier: versions["hot"] - current}
        assert answers(world, curator, items, moments) == before
    # Nothing comes back by itself, and a second run finds nothing.
    after(world, "1 year", "2 years")
    compact(world)
    assert set(tiers(world)) == {"hot", "cold"}


def test_only_what_has_been_over_for_so_long(
    world: World, curator: Agent, items: dict[str, UUID]
) -> None:
    """As the layer of each says.

    Proves: T7
    """
    before = tiers(world)
    after(world, "1 hour", "1 hour")
    compact(world)
    assert tiers(world) == before
    world.admin.execute(
        "UPDATE memwarden_data.layer SET warm_after = '0', cold_after = '0' WHERE layer = 'durable'"
    )
    retract(curator, items["copy"])
    compact(world)
    assert tiers(world)["cold"] == 1


def test_what_is_cold_comes_back(world: World, curator: Agent, items: dict[str, UUID]) -> None:
    """rollback(), recover(), a batch, a merge undone, vectors: as if it had never moved.

    Proves: T7, T5, G5
    """
    after(world, "0", "0")
    compact(world)
    rolled_back(curator, items["retracted"])
    assert stands(world, items["retracted"]) == ("ACTIVE", "retracted")
    call(curator, "recover", item_id=items["expired"], reason="after all")
    assert stands(world, items["expired"]) == ("ACTIVE", "expired")
    rollback(curator, items["two"])
    assert [stands(world, items[name])[0] for name in ("one", "two")] == ["ACTIVE", "ACTIVE"]
    rollback(curator, items["copy"])
    assert stands(world, items["moved"]) == ("ACTIVE", "moved")
    rolled_back(curator, items["chain"], to_version=2)
    assert stands(world, items["chain"]) == ("ACTIVE", 1)
    rolled_back(curator, items["vector"])
    found = recall(
        curator, embedding=VECTORS["east"], embedding_model="ways", weights={"vector": 1}
    )
    assert (found[0]["content"], found[0]["similarity"]) == ("east", 1)
    compact(world)
    made = call(curator, "history", item_id=items["back"])[-1]["request_id"]
    assert made is not None
    name = curator.info.user
    done = call(curator, "rollback_batch", reason="all", agent=name)
    assert {row["action"] for row in done} <= {"RETRACT", "NOTHING", "END"}
    assert recall(curator) == []
    compact(world)
    call(curator, "rollback_batch", reason="no", requests=[done[0]["change_id"]])
    assert stands(world, items["chain"]) == ("ACTIVE", 1)
    check_timeline(world)


def test_what_is_over_and_moved_does_not_change(world: World, items: dict[str, UUID]) -> None:
    """The guard holds in every tier; only what is over may move, and nothing else with it.

    Proves: T7, T1
    """
    after(world, "0", "0")
    compact(world)
    for change in (
        "content = '1'",
        "status = 'ACTIVE'",
        "recorded_during = tstzrange(lower(recorded_during), NULL)",
        "tier = 'warm', confidence = 0",
    ):
        with pytest.raises(psycopg.errors.ObjectInUse):
            world.admin.execute(f"UPDATE memwarden_data.version SET {change} WHERE tier = 'cold'")
    with pytest.raises(psycopg.errors.CheckViolation):
        world.admin.execute(
            "UPDATE memwarden_data.version SET tier = 'cold' WHERE upper_inf(recorded_during)"
        )
    for table in ("version", "version_hot", "version_warm", "version_cold"):
        with pytest.raises(psycopg.errors.ObjectInUse):
            world.admin.execute(f"DELETE FROM memwarden_data.{table}")
        with pytest.raises(psycopg.errors.ObjectInUse):
            world.admin.execute(f"TRUNCATE memwarden_data.{table}")
    assert stands(world, items["chain"])[0] == "ACTIVE"


@pytest.fixture
def tablespace(world: World) -> Iterator[str]:
    """A place of its own on the server's disk."""
    name = f"slow_{uuid.uuid4().hex[:8]}"
    world.admin.execute("SET allow_in_place_tablespaces = on")
    world.admin.execute(f"CREATE TABLESPACE {name} LOCATION ''")
    yield name
    for tier in ("hot", "warm", "cold"):
        call(world.admin, "place_tier", tier=tier, tablespace="pg_default")
    world.admin.execute(f"DROP TABLESPACE {name}")


def test_a_tier_lies_where_a_superuser_puts_it(
    world: World, curator: Agent, items: dict[str, UUID], tablespace: str
) -> None:
    """With its indexes; answers stay the same, also of what moves there after that.

    Proves: T7
    """
    moments = [now(world)]
    before = answers(world, curator, items, moments)
    call(world.admin, "place_tier", tier="cold", tablespace=tablespace)
    after(world, "0", "0")
    compact(world)
    assert answers(world, curator, items, moments) == before
    where = (
        "SELECT DISTINCT coalesce(t.spcname, 'pg_default') AS name FROM pg_class AS c"
        "  LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace"
        " WHERE c.oid = %(table)s::regclass"
        "    OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = %(table)s::regclass)"
    )
    for table, expected in (("version_cold", tablespace), ("version_hot", "pg_default")):
        query = world.admin.execute(where, {"table": f"memwarden_data.{table}"})
        assert [row["name"] for row in query.fetchall()] == [expected]


@pytest.mark.every_version
def test_who_may_place_a_tier(world: World, curator: Agent) -> None:
    """Superusers: 42501 for others. 42704 for an unknown tablespace, 22023 for an unknown tier.

    Proves: T7
    """
    for agent in (curator, world.connect(world.role("memwarden_admin"))):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call(agent, "place_tier", tier="cold", tablespace="pg_default")
    world.admin.execute("SET client_min_messages = error")
    for tier in ("tepid", None, "hot; DROP TABLE x"):
        assert state(world.admin, "place_tier", tier=tier, tablespace="pg_default") == "22023"
    with pytest.raises(psycopg.errors.UndefinedObject):
        call(world.admin, "place_tier", tier="cold", tablespace="no such")
