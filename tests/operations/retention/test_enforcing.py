"""The job ends what is over: in small steps, twice at once, killed, beside writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest

from conftest import World
from helpers import recall, write
from operations.retention.conftest import PHONE, Office, remember
from races import overlap, together

JOB = "CALL memwarden.enforce_retention()"
AGE = """
UPDATE memwarden_data.item SET created_at = created_at - %s::interval
 WHERE org_id = %s AND item_id = ANY (%s)"""


def age(office: Office, items: list[UUID], interval: str) -> None:
    """Have memories been written so much earlier."""
    office.world.admin.execute(AGE, (interval, office.org_id, items))


@pytest.fixture
def own(world: World) -> Office:
    """An organisation in a database of the test's own: the job looks at all of it."""
    return Office(world)


def test_the_job_does_what_the_rules_say_and_leaves_proof(own: Office) -> None:
    """Deleted with a signed tombstone, or expired and in its tier; the log verifies.

    Proves: R5 (enforcement, hard delete and audit)
    """
    agent = own.writer()
    gone = [remember(agent, f"{PHONE} {n}") for n in range(25)]
    archived = remember(agent, "the margin is 12 %", classification="confidential")
    cold = remember(agent, "the office opens at nine")
    young = remember(agent, f"{PHONE} today")
    age(own, gone, "91 days")
    age(own, [archived], "366 days")
    age(own, [cold], "1827 days")
    role = own.world.role("memwarden_jobs")
    # As if it had been killed after two steps.
    first = own.world.connect(role).execute(
        "SELECT memwarden_internal.retention_step(memwarden_internal.retention_step(NULL))"
    )
    assert first.fetchall()
    assert [item for item in gone if own.state(item)] == gone[20:]
    own.world.connect(role).execute(JOB)
    assert [own.state(item) for item in gone] == [None] * 25
    assert own.state(archived) == ("EXPIRED", ["warm"])
    assert own.state(cold) == ("EXPIRED", ["cold"])
    assert own.state(young) == ("ACTIVE", ["hot"])
    assert {row["item_id"] for row in recall(agent, query="office margin Ana invoice")} == {young}
    (reasons,) = own.world.rows(
        "SELECT array_agg(DISTINCT reason) AS said, sum(items)::integer AS items"
        "  FROM memwarden_data.erasure WHERE cause = 'RETENTION'"
    )
    assert (reasons["said"], reasons["items"]) == (["RETENTION_OVER"], 25)
    assert own.world.value("SELECT count(*) FROM memwarden_data.personal_item") == 1
    own.seal()
    assert own.findings() == []
    assert own.world.rows(
        "SELECT FROM memwarden_data.job_run WHERE job = 'memwarden_retention'"
        " AND finished_at IS NOT NULL"
    )


def test_two_jobs_at_once_beside_writers(own: Office) -> None:
    """Each memory ends once; no writer is refused, and nothing of today goes.

    Proves: R5
    """
    agents = [own.agent() for _ in range(2)]
    gone = [remember(agents[n % 2], f"{PHONE} {n}") for n in range(40)]
    age(own, gone, "91 days")
    jobs = [own.world.connect(own.world.role("memwarden_jobs")) for _ in range(2)]

    def say(agent: Any, name: str) -> list[str]:
        return [write(agent, "semantic", f"{name} {n} {PHONE}")["outcome"] for n in range(20)]

    with ThreadPoolExecutor() as pool:
        writing = [pool.submit(say, agent, f"w{n}") for n, agent in enumerate(agents)]
        together([partial(job.execute, JOB) for job in jobs])
        assert {outcome for said in writing for outcome in said.result()} == {"COMMITTED"}
    # What was busy then.
    jobs[0].execute(JOB)
    assert [own.state(item) for item in gone] == [None] * 40
    assert own.world.value("SELECT count(*) FROM memwarden_data.item") == 40
    assert own.world.value("SELECT sum(items) FROM memwarden_data.erasure") == 40


def test_a_memory_that_somebody_works_on_is_left(office: Office) -> None:
    """The job waits for nobody, and looks again with the scope held.

    Proves: R5
    """
    agent = office.agent()
    item = remember(agent, PHONE)
    with agent.transaction():
        assert write(agent, "semantic", "a note that is being written")["outcome"] == "COMMITTED"
        assert office.end(item, after="91 days") == (0, 0)
    assert office.end(item, after="91 days") == (0, 1)


def test_consent_that_comes_meanwhile_is_seen(office: Office) -> None:
    """What was due when the job looked is asked again before it goes.

    Proves: R5 (or per consent)
    """
    agent = office.agent()
    office.consent("granted", valid_during=f"[2020-01-01,{office.later('1 day')})")
    item = remember(agent, "tea", subject="Ana", predicate="drinks", **{"class": "preference"})
    due = (
        "SELECT cardinality(due) AS due FROM memwarden_internal.due_memories(%s, -1, %s, 10000, %s)"
    )
    nil = UUID(int=0)
    (row,) = office.world.rows(due, office.org_id, nil, office.later("91 days"))
    assert row["due"] == 1
    office.consent("granted")
    assert office.end(item, after="91 days") == (0, 0)
    assert office.state(item) == ("ACTIVE", ["hot"])


def test_changes_of_rules_follow_one_another(office: Office) -> None:
    """A count is of one change alone: the second waits for the first.

    Proves: R5
    """
    agent = office.agent()
    remember(agent, "note of a day", layer="episodic")
    rule = (
        "SELECT memwarden.set_retention(layer => 'episodic', keep_at_most => %s, org => %s,"
        " expected => %s)"
    )
    other = Office(office.world, org=office.org).officer
    first = office.officer
    second = overlap(
        office.world.admin,
        first,
        lambda: first.execute(rule, ("1 microsecond", office.org, 1)),
        other,
        lambda: other.execute(rule, ("2 microseconds", office.org, 0)).fetchall(),
    )
    assert second == [{"set_retention": 0}]


def test_the_job_may_not_set_the_clock(office: Office) -> None:
    """It has one function, which takes no moment.

    Proves: R5
    """
    job = office.world.connect(office.world.role("memwarden_jobs"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        job.execute(
            "SELECT memwarden_internal.enforce_next_retention(-1, %s, now())", (UUID(int=0),)
        )
