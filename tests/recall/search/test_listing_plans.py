"""What listing and finding touch, read from the plans that the server ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import write, write_many
from plans import calls_of, plans_of, touched

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World

MANY = 5_000
# What the view asks for first, and of how many memories it makes rows at once.
HANDFUL = 128
BATCH = 1_024
COPIES = """
INSERT INTO memwarden_data.{table} ({columns})
SELECT {values} FROM copied AS n,
       (SELECT * FROM memwarden_data.{table} WHERE item_id = %s LIMIT 1) AS x"""
# Two of three are pinned.
PINS = """
INSERT INTO memwarden_data.pin (org_id, item_id, scope_id, reason, principal_id, login, pinned_at)
SELECT i.org_id, i.item_id, i.scope_id, 'a reason', i.principal_id, 'postgres', now()
  FROM memwarden_data.item AS i WHERE i.subject ~ '[0-57]$'"""
EXPLAIN = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"


def ran(world: World, role: str, query: str) -> tuple[list[DictRow], list[dict[str, Any]]]:
    """The rows of a query, and every node over items or versions that ran for it."""
    rows, found = plans_of(world, role, query)
    return rows, [n for n in found if n.get("Relation Name", "").startswith(("item", "version"))]


@pytest.fixture(scope="module")
def role(shared_world: World) -> str:
    """An agent with many memories: copies of one, each with a subject of its own."""
    role: str = shared_world.register("/org/listing/user/ana")
    first = write(
        shared_world.connect(role), "semantic", {"city": "Rome"}, subject="Ana", predicate="likes"
    )
    admin = shared_world.admin
    admin.execute(
        "CREATE TEMPORARY TABLE copied AS SELECT gen_random_uuid() AS item_id,"
        " gen_random_uuid() AS version_id, 'Customer ' || n AS subject"
        f"  FROM generate_series(1, {MANY}) AS n"
    )
    own = {name: f"n.{name}" for name in ("item_id", "version_id", "subject")}
    own["fingerprint"] = own["key_hash"] = "sha256(n.subject::bytea)"
    for table in ("version", "item"):
        rows = shared_world.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
            f"memwarden_data.{table}",
        )
        columns = [row["attname"] for row in rows]
        copies = COPIES.format(
            table=table,
            columns=", ".join(columns),
            values=", ".join(own.get(name, f"x.{name}") for name in columns),
        )
        admin.execute(copies, (first["item_id"],))
    admin.execute("ANALYZE memwarden_data.item, memwarden_data.version")
    return role


@pytest.mark.parametrize("reader", ["agent", "curator", "superuser"])
def test_a_limit_ends_the_work(shared_world: World, role: str, reader: str) -> None:
    """For one row of the view the server reads one memory, whoever asks."""
    if reader == "curator":
        role = shared_world.register(
            "/org/listing", groups=["memwarden_curator"], role="curator", descendants=True
        )
    rows, read = ran(
        shared_world,
        "postgres" if reader == "superuser" else role,
        "SELECT * FROM memwarden.items LIMIT 1",
    )
    assert len(rows) == 1
    assert read
    assert {touched(node) for node in read} <= {0, 1}


def test_listing_all_makes_each_row_once(shared_world: World, role: str) -> None:
    """Two looks at the items, for ids and for rows, and one look-up of a version for each row.

    The first handful is told apart: those ids are met again, once or twice.
    """
    rows, read = ran(shared_world, role, "SELECT * FROM memwarden.items")
    assert len({row["item_id"] for row in rows}) == len(rows) == MANY + 1
    met = sum(touched(n) for n in read if n["Relation Name"] == "item")
    assert 2 * (MANY + 1) <= met <= 2 * (MANY + 1) + 3 * HANDFUL
    assert sum(touched(n) for n in read if n["Relation Name"] != "item") == MANY + 1


@pytest.mark.every_version
@pytest.mark.parametrize("condition", ["item_id = '{}'", "item_id = ANY ('{{{}}}'::uuid[])"])
def test_a_memory_is_found_by_its_id_before_rows_are_made(
    shared_world: World, role: str, condition: str
) -> None:
    """The view tests the id on ids: it makes rows of one batch, and not of all."""
    item_id = shared_world.value(
        "SELECT item_id FROM memwarden_data.item WHERE subject = 'Customer 4999'"
    )
    rows, read = ran(
        shared_world, role, f"SELECT * FROM memwarden.items WHERE {condition.format(item_id)}"
    )
    assert [row["subject"] for row in rows] == ["Customer 4999"]
    assert sum(touched(n) for n in read if n["Relation Name"] != "item") <= BATCH


@pytest.mark.every_version
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.items WHERE pinned",
        "SELECT * FROM memwarden.items WHERE item_id::text ~ '[0-9]' AND item_id::text ~ '[a-f]'",
        "SELECT * FROM memwarden.items JOIN memwarden.items AS i USING (item_id)",
    ],
)
def test_functions_are_called_once_a_batch(shared_world: World, role: str, query: str) -> None:
    """Whatever condition is met by however many rows: functions are called once a batch."""
    for rows in (2 * BATCH, MANY + 1):
        called = calls_of(shared_world, role, f"{query} LIMIT {rows}", before=PINS)
        # One, a handful, and the rest, batch by batch; pins are asked for to filter and to show.
        batches = query.count("memwarden.items") * (2 + -(-(MANY - HANDFUL) // BATCH))
        if query.endswith("items"):
            batches = 2 + -(-(rows - HANDFUL) // BATCH)
        assert called["list_items"] <= batches, rows
        # Each asks again who the caller is, and what it may see.
        assert max(called.values()) <= 8 * batches, (rows, called)


@pytest.mark.every_version
@pytest.mark.parametrize("fetched", [1, 2, 100, 128, 129, 2_000])
def test_a_cursor_gives_each_row_once_whatever_is_rolled_back(
    shared_world: World, role: str, fetched: int
) -> None:
    """A savepoint takes back writes, and not how far a cursor has come: from the first row on."""
    with shared_world.connect(role, autocommit=False) as agent:
        agent.execute("DECLARE c CURSOR FOR SELECT item_id FROM memwarden.items")
        agent.execute("SAVEPOINT s")
        rows = agent.execute(f"FETCH {fetched} FROM c").fetchall()
        assert len(rows) == fetched
        agent.execute("ROLLBACK TO SAVEPOINT s")
        rows += agent.execute("FETCH ALL FROM c").fetchall()
    assert len({row["item_id"] for row in rows}) == len(rows) == MANY + 1


@pytest.mark.parametrize("key", ["'CUSTOMER 77'", "'Customer 77', 'likes', 'semantic'"])
def test_finding_a_subject_is_a_look_up(shared_world: World, role: str, key: str) -> None:
    """The index of subjects is read, and no memory of another subject is met."""
    rows, read = ran(shared_world, role, f"SELECT * FROM memwarden.find_items({key})")
    assert [(row["subject"], row["content"]) for row in rows] == [("Customer 77", {"city": "Rome"})]
    assert "item_subject" in {node.get("Index Name") for node in read}
    assert {touched(node) for node in read if node.get("Relation Name") == "item"} == {1}


def test_getting_an_item_is_a_look_up(shared_world: World, role: str) -> None:
    """By its id, among thousands."""
    item_id = shared_world.value(
        "SELECT item_id FROM memwarden_data.item WHERE subject = 'Customer 9'"
    )
    rows, read = ran(shared_world, role, f"SELECT subject FROM memwarden.get('{item_id}')")
    assert [row["subject"] for row in rows] == ["Customer 9"]
    assert {touched(node) for node in read} <= {0, 1}


@pytest.mark.every_version
def test_plans_tell_nothing_of_a_hidden_memory(shared_world: World, role: str) -> None:
    """Asked for a subject that only others have, EXPLAIN ANALYZE says what it says of none."""
    other = shared_world.agent("/org/listing/user/bo")
    write(other, "semantic", {"city": "Oslo"}, subject="Bo's own", predicate="likes")
    agent = shared_world.connect(role)
    for query in (
        "SELECT * FROM memwarden.items WHERE subject = {}",
        "SELECT * FROM memwarden.find_items({})",
    ):
        told = [
            "\n".join(
                str(row["QUERY PLAN"]).replace(subject, "X")
                for row in agent.execute(f"{EXPLAIN} {query}".format(f"'{subject}'")).fetchall()
            )
            for subject in ("Bo''s own", "nobody''s")
        ]
        assert told[0] == told[1]
        assert "rows=0" in told[0]
    assert other.execute("SELECT FROM memwarden.find_items('bo''s OWN')").fetchall()


@pytest.mark.every_version
@pytest.mark.parametrize("options", ["COSTS ON", EXPLAIN[9:-1]])
@pytest.mark.usefixtures("role")
def test_plans_by_id_tell_nothing_of_a_hidden_memory(
    shared_world: World, home: str, options: str
) -> None:
    """Of a memory of others the plan, the estimate and the counts are those of none at all.

    So they are where the caller forbids the server what it would choose, or asks for a range. The
    caller has more memories than the first handful of the view: those that a range makes rows of.
    """
    agent = shared_world.agent(home)
    some = [{"layer": "semantic", "content": n, "subject": f"{n}"} for n in range(2 * HANDFUL)]
    assert {row["outcome"] for row in write_many(agent, some)} == {"COMMITTED"}
    other = shared_world.agent(f"{home}x")
    hidden = write(other, "semantic", {"city": "Oslo"}, subject="Eve's own", predicate="likes")
    shared_world.admin.execute("ANALYZE memwarden_data.item")
    nobody = shared_world.value("SELECT memwarden_internal.uuid7()")
    for off in ("", "nestloop", "hashjoin", "indexscan", "seqscan"):
        if off:
            agent.execute(f"SET enable_{off} = off")
        for comparison in ("=", "<", ">="):
            query = f"EXPLAIN ({options}) SELECT * FROM memwarden.items WHERE item_id {comparison}"
            told = [
                "\n".join(
                    str(row["QUERY PLAN"]).replace(str(item_id), "X")
                    for row in agent.execute(f"{query} '{item_id}'").fetchall()
                )
                for item_id in (hidden["item_id"], nobody)
            ]
            assert told[0] == told[1], (off, comparison)
            assert "memwarden_data" not in told[0]
            assert " on item" not in told[0]


def test_what_is_found_is_what_the_reader_sees(shared_world: World, home: str) -> None:
    """Current memories, the newest first; by layer and scope, where asked for."""
    agent = shared_world.agent(home, role="curator")
    for n in range(3):
        write(agent, "semantic", {"n": n}, subject="Tea", predicate=f"is {n}")
    kept = write(agent, "episodic", {"event": "tea time"}, subject="tea")
    gone = write(agent, "semantic", {"gone": True}, subject="TEA", predicate="was")
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (gone["item_id"],))

    def found(arguments: str) -> list[Any]:
        rows = agent.execute(f"SELECT content FROM memwarden.find_items({arguments})").fetchall()
        return [row["content"] for row in rows]

    assert found("'tea'") == [{"event": "tea time"}, {"n": 2}, {"n": 1}, {"n": 0}]
    assert found("'tea', max_rows => 2") == [{"event": "tea time"}, {"n": 2}]
    assert found("'tea', 'IS 1'") == [{"n": 1}]
    assert found("'tea', layer => 'episodic'") == [{"event": "tea time"}]
    assert found(f"'tea', scope => '{home}', layer => 'episodic'") == [{"event": "tea time"}]
    assert found("'tea', scope => '/global'") == []
    assert found("'te'") == []
    stranger = shared_world.agent(f"{home}x")
    assert stranger.execute("SELECT FROM memwarden.find_items('tea')").fetchall() == []
    assert kept["item_id"]


@pytest.mark.parametrize("arguments", ["NULL", "'a', max_rows => 0", "'a', max_rows => NULL"])
def test_finding_without_a_subject_or_a_number_is_misuse(
    shared_world: World, home: str, arguments: str
) -> None:
    """22023 with a hint."""
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        shared_world.agent(home).execute(f"SELECT FROM memwarden.find_items({arguments})")
    assert caught.value.diag.message_hint
