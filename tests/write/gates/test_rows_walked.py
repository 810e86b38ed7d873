"""What a write looks up by key it looks up by an index, from the first write of a store on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many
from write.gates.obedient import add_obedient_gate, answering, make_due, status

if TYPE_CHECKING:
    from conftest import World

SCOPES = [f"/org/acme/user/u{n}" for n in range(20)]
# Of what grows with the store; the organisation's few rules and roles are read as a whole.
GROWING = (
    "version|item|log|provenance|embedding|write_|idempotency|timeline|scope$|review|noise|sighting"
)
WALKED = """
SELECT c.relname AS name, pg_stat_get_xact_tuples_returned(c.oid) AS rows
  FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'r' AND c.relname ~ %s
   AND pg_stat_get_xact_numscans(c.oid) > 0 AND pg_stat_get_xact_tuples_returned(c.oid) > 0"""


def walked(connection: Connection[DictRow]) -> dict[str, int]:
    """Rows of tables that grow which this transaction has walked over, by table."""
    found = connection.execute(WALKED, (f"^({GROWING})",)).fetchall()
    return {row["name"]: row["rows"] for row in found}


def events(first: int, count: int) -> list[dict[str, Any]]:
    """Requests that all differ, spread over the scopes."""
    return [
        {
            "layer": "episodic",
            "scope": SCOPES[n % len(SCOPES)],
            "content": {"text": f"Delivery {n * 7919} of {n} crates was taken in at gate {n % 9}"},
        }
        for n in range(first, first + count)
    ]


@pytest.fixture
def empty(world: World) -> World:
    """A store about which the planner knows that there is nothing in it, and learns no more."""
    for scope in SCOPES:
        world.scope(scope)
    add_obedient_gate(world)
    world.admin.execute("VACUUM ANALYZE")
    tables = world.admin.execute(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c WHERE c.relkind = 'r'"
        "   AND c.relnamespace = 'memwarden_data'::regnamespace"
    ).fetchall()
    for table in tables:
        world.admin.execute(f"ALTER TABLE {table['name']} SET (autovacuum_enabled = off)")
    return world


def test_a_write_walks_over_no_table_that_grows(empty: World) -> None:
    """Planned while the store was empty, with a thousand memories in it since.

    Proves: W8
    """
    agent = empty.agent("/org/acme", descendants=True)
    for start in range(0, 1000, 200):
        with agent.transaction():
            rows = write_many(agent, events(start, 200))
            assert {row["outcome"] for row in rows} == {"COMMITTED"}
            assert walked(agent) == {}
    with agent.transaction():
        asked = write(agent, "episodic", {"text": "The gate was shut at nine"}, scope=SCOPES[0])
        assert asked["outcome"] == "COMMITTED"
        assert walked(agent) == {}


def test_nor_does_a_retry(empty: World) -> None:
    """By the job's login, whose first plans are of the empty store too.

    Proves: W2
    """
    agent = empty.agent("/org/acme", descendants=True)
    jobs = empty.connect(empty.role("memwarden_jobs"))
    for scope in SCOPES[:2]:
        waits = write(agent, "episodic", answering("DEFER", until_attempt=2), scope=scope)
        assert waits["outcome"] == "DEFERRED"
        make_due(empty)
        with jobs.transaction():
            jobs.execute("SELECT memwarden_internal.retry_next()")
            assert walked(jobs) == {}
        assert status(empty, waits)["outcome"] == "COMMITTED"
        write_many(agent, events(0, 400))
