"""clean_layers(): the job that looks for what pollutes the store, and does what each layer says."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from helpers import write, write_many
from races import together

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World
    from shipped import Shipped


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def remembered(agent: Connection[DictRow], count: int) -> list[UUID]:
    """So many memories, all alike only in where they are."""
    words = ("amber", "birch", "cobalt", "delta", "ember", "fjord", "garnet", "hazel", "indigo")
    done = write_many(
        agent,
        [
            {
                "layer": "episodic",
                "content": f"{words[n % 9]} {words[n // 9 % 9]} {words[n // 81 % 9]} shelf",
                "embedding": [float(n == place) for place in range(384)],
            }
            for n in range(count)
        ],
    )
    assert {row["outcome"] for row in done} == {"COMMITTED"}
    return [row["item_id"] for row in done]


def say_the_same(world: World, items: list[UUID]) -> None:
    """Have memories say what the first of them says."""
    world.admin.execute(
        "UPDATE memwarden_data.item AS i SET fingerprint = o.fingerprint"
        "  FROM memwarden_data.item AS o WHERE i.item_id = ANY (%s) AND o.item_id = %s",
        (items, items[0]),
    )


def have(world: World, **settings: str) -> None:
    """Set what the organisation wants of a layer."""
    for layer, hygiene in settings.items():
        world.admin.execute(
            "SELECT memwarden.configure_layer(%s, jsonb_build_object('hygiene', %s::text),"
            " org => 'acme')",
            (layer, hygiene),
        )


def found(world: World, layer: str = "episodic") -> dict[tuple[str, str], tuple[int, int]] | None:
    """What the last run found and did, by finding and action; None where it did not look."""
    row = world.rows(
        "SELECT hygiene, cleaned_at FROM memwarden.collections WHERE org = 'acme' AND layer = %s",
        layer,
    )[0]
    if row["cleaned_at"] is None:
        return None
    return {(e["finding"], e["action"]): (e["items"], e["done"]) for e in row["hygiene"]}


def statuses(world: World, items: list[UUID]) -> Counter[str]:
    """How many of them are in which status."""
    rows = world.rows("SELECT status FROM memwarden_data.item WHERE item_id = ANY (%s)", items)
    return Counter(row["status"] for row in rows)


def clean(world: World) -> None:
    """The whole job, as its own role."""
    world.log_in(world.role("memwarden_jobs")).execute("CALL memwarden.clean_layers()")


@pytest.mark.every_version
def test_it_counts_where_nobody_has_said_more_and_cleans_where_one_has(world: World) -> None:
    """As shipped it reports; a layer that is to be cleaned is, and the log says so; off is off.

    Proves: L11 (a job; dry run; settings; each action an audit event)
    """
    agent = world.agent("/org/acme/user/ana")
    items = remembered(agent, 5)
    say_the_same(world, items[:2])
    have(world, procedural="off")
    clean(world)
    assert found(world) == {("DUPLICATE", "SUPERSEDE"): (1, 0)}
    assert (found(world, "semantic"), found(world, "procedural")) == ({}, None)
    assert statuses(world, items) == {"ACTIVE": 5}
    have(world, episodic="clean")
    clean(world)
    assert found(world) == {("DUPLICATE", "SUPERSEDE"): (1, 1)}
    assert statuses(world, items) == {"ACTIVE": 4, "SUPERSEDED": 1}
    log = world.rows(
        "SELECT item_id, reason, principal_id FROM memwarden_data.log WHERE operation = 'SUPERSEDE'"
    )
    assert log == [{"item_id": items[1], "reason": "DUPLICATE", "principal_id": 0}]
    clean(world)
    assert found(world) == {}
    job = world.rows("SELECT schedule, state FROM memwarden.jobs WHERE name = 'memwarden_hygiene'")
    assert job[0]["schedule"].endswith("6")


def test_all_four_kinds_of_pollution_are_counted(world: World) -> None:
    """Over every scope, each by the rules of its layer; what people decide about is left to them.

    Proves: L11 (duplicates, contradictions, staleness, sensitivity)
    """
    items = remembered(world.agent("/org/acme/user/ana"), 5)
    others = remembered(world.agent("/org/acme"), 3)
    say_the_same(world, items[:2])
    for one, two in (others[:2], others[1::-1]):
        world.admin.execute(
            "INSERT INTO memwarden_data.dispute SELECT a.org_id, a.scope_id, a.item_id,"
            " a.content_hash, b.item_id, b.content_hash, now(), NULL"
            " FROM memwarden_data.item AS a, memwarden_data.item AS b"
            " WHERE a.item_id = %s AND b.item_id = %s",
            (one, two),
        )
    world.admin.execute(
        "INSERT INTO memwarden_data.sensitivity_scan"
        " (org_id, item_id, version_id, sensitivity, findings, scanned_at)"
        " SELECT org_id, item_id, version_id, 'high', '[]', now() FROM memwarden_data.item"
        "  WHERE item_id = %s",
        (others[2],),
    )
    world.admin.execute(
        "UPDATE memwarden_data.item SET confidence = 0.1,"
        " created_at = created_at - interval '1 year', updated_at = updated_at - interval '1 year',"
        " fresh_until = NULL WHERE item_id = %s",
        (items[4],),
    )
    have(world, episodic="clean")
    clean(world)
    assert found(world) == {
        ("CONTRADICTION", "REVIEW"): (2, 0),
        ("DUPLICATE", "SUPERSEDE"): (1, 1),
        ("SENSITIVE", "REVIEW"): (1, 0),
        ("STALE", "REVIEW"): (1, 0),
    }
    assert statuses(world, items + others) == {"ACTIVE": 7, "SUPERSEDED": 1}


def test_whatever_a_scope_holds_any_two_are_compared_in_time(world: World) -> None:
    """In a scope of 1,540, once in three weeks, each with others in each week; found once a week.

    Proves: L11 (all over its runs)
    """
    agent = world.agent("/org/acme/user/ana")
    words = [
        a + b for a in ("oak", "elm", "ash", "fir", "yew") for b in ("wood", "leaf", "ley", "by")
    ]
    twins = [
        write_many(
            agent,
            [
                {
                    "layer": "episodic",
                    "content": f"Ana {owns} a large {word}",
                    "embedding": [float(place == n) for place in range(384)],
                }
                for n, word in enumerate(words, first)
            ],
        )
        for owns, first in (("owns", 0), ("does own", 20))
    ]
    assert {row["outcome"] for rows in twins for row in rows} == {"COMMITTED"}, twins
    one, two = ([row["item_id"] for row in rows] for rows in twins)
    world.admin.execute(
        "UPDATE memwarden_data.embedding AS e SET embedding = o.embedding"
        "  FROM unnest(%s::uuid[], %s::uuid[]) AS t (one, two), memwarden_data.embedding AS o"
        " WHERE e.item_id = t.two AND o.item_id = t.one AND o.model_id = e.model_id",
        (one, two),
    )
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "INSERT INTO memwarden_data.item SELECT r.* FROM generate_series(1, 1500) AS n,"
        " (SELECT o FROM memwarden_data.item AS o WHERE o.layer = 'episodic' LIMIT 1) AS i,"
        " jsonb_populate_record(i.o, jsonb_build_object('item_id', memwarden_internal.uuid7(),"
        " 'version_id', gen_random_uuid(), 'fingerprint', sha256(n::text::bytea))) AS r"
    )
    world.admin.execute("RESET session_replication_role")
    clean(world)
    assert 0 < (found(world) or {})["DUPLICATE", "SUPERSEDE"][0] < 20
    weeks = [
        world.rows(
            "SELECT d.item_id FROM generate_series(0, 1) AS p, memwarden_data.scope AS s,"
            " memwarden_internal.hygiene_duplicates(s.org_id, 'episodic', s.scope_id, p,"
            " now() + %s * interval '1 week') AS d WHERE s.path = '/org/acme/user/ana'",
            week,
        )
        for week in range(3)
    ]
    met = [[row["item_id"] for row in rows] for rows in weeks]
    assert all(len(items) == len(set(items)) for items in met)
    assert len(set().union(*met)) == 20


def test_most_of_a_layer_waits_for_a_person(world: World) -> None:
    """It is held back, whatever the layer says, and run_hygiene() with a number ends it.

    Proves: L11
    """
    agent = world.agent("/org/acme/user/ana")
    items = remembered(agent, 20)
    say_the_same(world, items[:15])
    have(world, episodic="clean")
    clean(world)
    assert found(world) == {("DUPLICATE", "HELD_BACK"): (14, 0)}
    assert statuses(world, items) == {"ACTIVE": 20}
    world.admin.execute(
        "SELECT memwarden.run_hygiene('episodic', dry_run => false, expected => 14, org => 'acme')"
    )
    assert statuses(world, items) == {"ACTIVE": 6, "SUPERSEDED": 14}


def test_it_ends_a_hundred_at_a_time_and_two_runs_end_each_once(world: World) -> None:
    """Each step is a transaction; what a killed run has done stays done, and nothing is done twice.

    Proves: L11 (bounded, beside another, killed)
    """
    agent = world.agent("/org/acme/user/ana")
    items = remembered(agent, 215)
    say_the_same(world, items[:106])
    have(world, episodic="clean")
    workers = [world.log_in(world.role("memwarden_jobs")) for _ in range(2)]

    def step(number: int, most: int = 1000) -> None:
        after: Any = None
        for _ in range(most):
            row = (
                workers[number]
                .execute("SELECT memwarden_internal.hygiene_step(%s) AS after", (after,))
                .fetchone()
            )
            assert row is not None
            after = row["after"]
            if after is None:
                return

    # Killed on its way.
    step(0, most=4)
    together([partial(step, n) for n in range(2)])
    assert statuses(world, items) == {"ACTIVE": 110, "SUPERSEDED": 105}
    ended = world.rows(
        "SELECT count(*) AS items, count(DISTINCT item_id) AS once FROM memwarden_data.log"
        " WHERE operation = 'SUPERSEDE' GROUP BY transaction_id"
    )
    assert max(row["items"] for row in ended) <= 100
    assert sum(row["items"] for row in ended) == sum(row["once"] for row in ended) == 105


def test_where_somebody_writes_it_is_left_to_the_next_run(world: World) -> None:
    """The job waits for nobody who writes.

    Proves: L11 (beside writers)
    """
    agent = world.agent("/org/acme/user/ana")
    items = remembered(agent, 4)
    say_the_same(world, items[:2])
    have(world, episodic="clean")
    with agent.transaction():
        write(agent, "episodic", "somebody writes here")
        clean(world)
        assert found(world) == {("DUPLICATE", "SUPERSEDE"): (1, 0)}
    clean(world)
    assert statuses(world, items) == {"ACTIVE": 3, "SUPERSEDED": 1}
