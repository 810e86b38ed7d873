"""Requests, recalls, verdicts and other records go by age; what still waits or is held stays."""

from __future__ import annotations

import uuid

import psycopg
import pytest

from conftest import World
from helpers import recall, write

MAINTAIN = "SELECT memwarden.maintain()"
DELETE = "CALL memwarden.delete_old_records()"


def made_before(world: World, request: object, age: str) -> uuid.UUID:
    """Leave a copy of a request behind as if it had been asked that long ago."""
    columns = ", ".join(
        row["name"]
        for row in world.rows(
            "SELECT quote_ident(attname) AS name FROM pg_attribute WHERE"
            " attrelid = 'memwarden_data.write_request'::regclass AND attnum > 0"
            "   AND NOT attisdropped"
            "   AND attname NOT IN ('request_id', 'submitted_at', 'decided_at')"
        )
    )
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        return uuid.UUID(
            str(
                world.value(
                    "INSERT INTO memwarden_data.write_request"
                    f" (request_id, submitted_at, decided_at, {columns})"
                    " SELECT partman.uuid7_time_encoder(now() - %s::interval),"
                    f" now() - %s::interval, now() - %s::interval, {columns}"
                    " FROM memwarden_data.write_request WHERE request_id = %s RETURNING request_id",
                    age,
                    age,
                    age,
                    request,
                )
            )
        )


def is_there(world: World, request: object) -> bool:
    """Whether the request can still be looked up."""
    found = "SELECT EXISTS (SELECT FROM memwarden_data.write_request WHERE request_id = %s)"
    return bool(world.value(found, request))


def defer(world: World, agent: psycopg.Connection[dict[str, object]]) -> object:
    """A request that waits."""
    blocker = world.connect()
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        agent.execute("SET lock_timeout = '1ms'")
        answer = write(agent, "semantic", {"waits": uuid.uuid4().hex})
    assert answer["outcome"] == "DEFERRED"
    return answer["request_id"]


def test_old_requests_go_by_month_and_memory_stays_verifiable(world: World) -> None:
    """Their outcome and hashes are kept for 13 months, or as long as is set.

    Proves: W1 (retention)
    """
    agent = world.agent()
    committed = write(agent, "semantic", {"drink": "tea"})
    old = made_before(world, committed["request_id"], "15 months")
    young = made_before(world, committed["request_id"], "11 months")
    jobs = world.connect("memwarden_jobs")
    # The first gives the rows their months, one in each run; the next drops what is over.
    for _ in range(3):
        jobs.execute(MAINTAIN)
    assert not is_there(world, old)
    assert is_there(world, young)
    world.admin.execute("SELECT memwarden.set_record_retention('requests', '6 months')")
    jobs.execute(MAINTAIN)
    assert not is_there(world, young)
    assert is_there(world, committed["request_id"])
    jobs.execute("CALL memwarden.seal_log()")
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    assert write(agent, "semantic", {"drink": "tea"})["outcome"] == "ALREADY_COMMITTED"


def test_a_request_that_waits_keeps_its_month_and_not_its_neighbours(world: World) -> None:
    """The month goes once the request is settled. Proves: W1 (retention)."""
    agent = world.agent()
    settled = write(agent, "semantic", {"drink": "tea"})["request_id"]
    waiting = made_before(world, defer(world, agent), "15 months")
    neighbour = made_before(world, settled, "15 months")
    jobs = world.connect("memwarden_jobs")
    jobs.execute(MAINTAIN)
    jobs.execute(MAINTAIN)
    assert is_there(world, waiting)
    assert is_there(world, neighbour)
    jobs.execute(DELETE)
    assert is_there(world, waiting)
    assert not is_there(world, neighbour)
    world.admin.execute("ALTER TABLE memwarden_data.write_request DISABLE TRIGGER USER")
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET outcome = 'REJECTED' WHERE request_id = %s",
        (waiting,),
    )
    world.admin.execute("ALTER TABLE memwarden_data.write_request ENABLE TRIGGER USER")
    jobs.execute(MAINTAIN)
    assert not is_there(world, waiting)


def test_a_legal_hold_keeps_what_is_old(world: World) -> None:
    """Requests of the organisation, until the hold is lifted. Proves: W1 (retention), Z5."""
    agent = world.agent()
    old = made_before(world, write(agent, "semantic", {"a": 1})["request_id"], "15 months")
    world.admin.execute(
        "INSERT INTO memwarden_data.legal_hold"
        " (org_id, hold_id, reason, layers, four_eyes, set_at, set_login)"
        " SELECT org_id, gen_random_uuid(), 'case 7', '{semantic}', false, now(), 'ops'"
        " FROM memwarden_data.organisation WHERE name = 'acme'"
    )
    jobs = world.connect("memwarden_jobs")
    for call in (MAINTAIN, MAINTAIN, DELETE):
        jobs.execute(call)
    assert is_there(world, old)
    world.admin.execute(
        "UPDATE memwarden_data.legal_hold"
        " SET (lifted_at, lifted_login, lift_reason) = (now(), 'ops', 'over')"
    )
    jobs.execute(MAINTAIN)
    assert not is_there(world, old)


def test_the_content_of_a_refused_request_goes_before_its_record(world: World) -> None:
    """Reason and hash stay. Proves: W1 (retention)."""
    agent = world.agent()
    write(agent, "semantic", {"drink": "tea"})
    refused = write(agent, "semantic", {"drink": "tea "}, evidence=[{"type": "unknown type"}])
    assert refused["outcome"] == "REJECTED"
    world.admin.execute("ALTER TABLE memwarden_data.write_request DISABLE TRIGGER USER")
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET content = '{}' WHERE outcome = 'REJECTED'"
    )
    world.admin.execute("ALTER TABLE memwarden_data.write_request ENABLE TRIGGER USER")
    old = made_before(world, refused["request_id"], "91 days")
    young = made_before(world, refused["request_id"], "89 days")
    world.connect("memwarden_jobs").execute(DELETE)
    asked = "SELECT content, reason FROM memwarden_data.write_request WHERE request_id = %s"
    assert world.rows(asked, old) == [{"content": None, "reason": refused["reason"]}]
    assert world.rows(asked, young) == [{"content": "{}", "reason": refused["reason"]}]


def test_each_kind_goes_at_its_age(world: World) -> None:
    """Counts of recalls outlive the log of recalls; what is not old enough stays."""
    agent = world.agent()
    write(agent, "semantic", {"drink": "tea"})
    recall(agent, query="tea")
    jobs = world.connect("memwarden_jobs")
    jobs.execute("CALL memwarden.count_recalls()")
    world.admin.execute(
        "INSERT INTO memwarden_data.recall_use (org_id, item_id, day, scope_id, layer, given)"
        " SELECT org_id, item_id, day - n, scope_id, layer, n FROM memwarden_data.recall_use,"
        " unnest(ARRAY[399, 401, 500]) AS n"
    )
    world.admin.execute(
        "INSERT INTO memwarden_data.verdict SELECT 1, gen_random_uuid(), 'gate', 'p', 0, '1',"
        " 'accept', 1, '{}', now() - make_interval(days => n), 'w' FROM unnest(ARRAY[29, 31]) AS n"
    )
    jobs.execute(DELETE)
    days = "SELECT array_agg(given ORDER BY given) FROM memwarden_data.recall_use"
    assert world.value(days) == [1, 399]
    assert world.value("SELECT count(*) FROM memwarden_data.verdict") == 1
    done = "SELECT done > 0, state FROM memwarden.jobs WHERE name = 'memwarden_records'"
    assert tuple(world.rows(done)[0].values()) == (True, "on time")


def test_who_may_set_how_long_and_to_what(shared_world: World) -> None:
    """42501, 42704 and 22023."""
    call = "SELECT memwarden.set_record_retention(%s, %s)"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shared_world.agent().execute(call, ("requests", "1 year"))
    with pytest.raises(psycopg.errors.UndefinedObject):
        shared_world.admin.execute(call, ("requsts", "1 year"))
    for keep in ("0 s", "-1 year", "101 years", None):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            shared_world.admin.execute(call, ("requests", keep))


def test_storage_adds_up_and_each_sees_its_own(shared_world: World) -> None:
    """Sums over a table are its size; an agent that administers nothing sees no row."""
    one, other = shared_world.agent("/org/one/user/a"), shared_world.agent("/org/two/user/b")
    for agent in (one, other):
        for n in range(5):
            write(agent, "semantic", {"n": n, "who": str(agent.info.user)})
    rows = shared_world.rows(
        "SELECT org, layer, bytes FROM memwarden.storage WHERE table_name = 'item'"
    )
    assert {(row["org"], row["layer"]) for row in rows} >= {
        ("one", "semantic"),
        ("two", "semantic"),
    }
    size = shared_world.value("SELECT pg_total_relation_size('memwarden_data.item')")
    assert abs(sum(row["bytes"] for row in rows) - size) <= len(rows)
    assert one.execute("SELECT FROM memwarden.storage").fetchall() == []
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.storage_day"
        " SELECT current_date - 4, table_name, 0 FROM memwarden_internal.table_sizes()"
    )
    grown = "SELECT sum(growth_per_day) FROM memwarden.storage WHERE table_name = 'item'"
    assert abs(int(shared_world.value(grown)) - size / 4) <= 1 + len(rows)


def test_storage_tells_what_the_next_collection_frees(shared_world: World) -> None:
    """What expired, once its recovery window is over. Proves: W1 (what the next run frees)."""
    agent = shared_world.agent("/org/three/user/a", role="curator")
    items = [write(agent, "episodic", {"n": n})["item_id"] for n in range(4)]
    for item in items[:2]:
        agent.execute("SELECT memwarden.expire(%s, 'old')", (item,))
    freed = (
        "SELECT table_name, bytes, next_run_frees FROM memwarden.storage WHERE org = 'three'"
        " AND coalesce(layer, 'episodic') = 'episodic'"
        " AND table_name IN ('item', 'version', 'provenance') AND next_run_frees > 0"
    )
    assert shared_world.rows(freed) == []
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET updated_at = updated_at - interval '31 days'"
        " WHERE item_id = ANY (%s)",
        (items,),
    )
    rows = shared_world.rows(freed)
    assert {row["table_name"] for row in rows} == {"item", "version", "provenance"}
    for row in rows:
        assert 0.3 < row["next_run_frees"] / row["bytes"] < 0.7
