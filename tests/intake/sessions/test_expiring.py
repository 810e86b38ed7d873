"""Sessions that nobody closes end by themselves, and one goes on after a crash."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from conftest import deploy_server
from helpers import ask_for_little, recall
from intake.sessions.conftest import (
    HOME,
    advance,
    close,
    end_turn,
    note,
    observe,
    open_session,
    render,
    resume,
    search,
    set_goal,
    slots,
)
from races import overlap, together
from replay import check_store
from reviewing import ask, decide, reviewer
from scope_calls import one

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from conftest import World

JOB = "CALL memwarden.close_due_sessions()"


def age(world: World, *sessions: UUID) -> None:
    """Let nobody have called for two hours."""
    world.admin.execute(
        "UPDATE memwarden_data.session SET used_at = used_at - interval '2 hours'"
        " WHERE session_id = ANY (%s)",
        (list(sessions),),
    )


def test_a_session_that_nobody_uses_ends(world: World) -> None:
    """What it remembered expires, what is important is promoted; others go on.

    Proves: L2 (TTL, promotion through the gates, release)
    """
    agent = world.agent()
    over, alive = open_session(agent, "over"), open_session(agent, "alive")
    for session in (over, alive):
        observe(agent, session, f"a heron {session}", "critical")
        observe(agent, session, f"an egret {session}")
    age(world, over)
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
    left = recall(agent, query="heron egret")
    assert sorted((row["subject"], row["layer"]) for row in left) == [
        ("alive", "session"),
        ("alive", "session"),
        ("over", "episodic"),
    ]
    (kept,) = [row for row in left if row["layer"] == "episodic"]
    assert kept["provenance"]["agent"] == left[0]["provenance"]["agent"]
    assert kept["origin"]["session"] == str(over)
    assert [(row["part"], row["disposition"]) for row in close(agent, over)] == [
        ("observation", "promoted"),
        ("observation", "released"),
    ]
    assert resume(agent, "over")["findings"][0]["standing"] == "remembered"
    rows = agent.execute("SELECT session_id, ended FROM memwarden.sessions").fetchall()
    ended = {row["session_id"]: row["ended"] for row in rows}
    assert (ended[over], ended[alive]) == ("expired", None)
    kept_for = world.rows("SELECT session_id FROM memwarden_data.working_memory")
    assert over not in {row["session_id"] for row in kept_for}
    assert world.value("SELECT count(*) FROM memwarden_data.acting") == 0
    check_store(world.admin)


def test_a_call_keeps_a_session_alive(world: World) -> None:
    """Its time begins again.

    Proves: L2 (TTL)
    """
    agent = world.agent()
    session = open_session(agent)
    world.admin.execute(
        "UPDATE memwarden_data.session SET used_at = used_at - interval '59 minutes'"
    )
    note(agent, session, "still here")
    world.admin.execute(
        "UPDATE memwarden_data.session SET used_at = used_at - interval '59 minutes'"
    )
    assert slots(agent, session)["scratchpad"] == "still here"


def promoted(world: World) -> int:
    """How many lasting memories there are."""
    return int(world.value("SELECT count(*) FROM memwarden_data.item WHERE layer = 'episodic'"))


def test_what_time_alone_has_ended_by_then_is_promoted_too(world: World) -> None:
    """A session that lives as long as its memories may is over when they are: the job comes later.

    Proves: L2 (TTL, promotion through the gates)
    """
    agent = world.agent()
    session = open_session(agent, ttl="24 hours")
    for name in ("kept", "expired", "retracted"):
        observe(agent, session, f"a heron {name}", "critical")
    for call, name in (("expire", "expired"), ("retract", "retracted")):
        (item,) = [row for row in recall(agent, query=name) if name in str(row["content"])]
        curator = world.agent("/org/acme/user/ana", role="curator")
        curator.execute(f"SELECT memwarden.{call}(%s, 'not needed')", (item["item_id"],))
    world.admin.execute("UPDATE memwarden_data.session SET used_at = used_at - interval '24 hours'")
    world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = expires_at - interval '24 hours'"
        " WHERE status = 'ACTIVE'"
    )
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
    assert [row["content"]["result"] for row in recall(agent, query="heron")] == ["a heron kept"]
    assert promoted(world) == 1


def test_a_job_that_is_killed_is_done_again(world: World) -> None:
    """Nothing of it stays; the next promotes once, and the one after that nothing.

    Proves: L2, G8 (safe to run again)
    """
    agent = world.agent()
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    age(world, session)
    killed = world.connect("memwarden_jobs", autocommit=False)
    killed.execute("SELECT memwarden_internal.close_next_session(NULL)")
    world.admin.execute("SELECT pg_terminate_backend(%s, 5000)", (killed.info.backend_pid,))
    assert promoted(world) == 0
    assert world.value("SELECT ended FROM memwarden_data.session") is None
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
        jobs.execute(JOB)
    assert promoted(world) == 1
    check_store(world.admin)


def test_the_gates_decide_as_they_would_have(world: World) -> None:
    """By a human too, where one is asked: what waits is no longer the session's.

    Proves: L2 (promotion through the gates)
    """
    agent = world.agent()
    ask(world, "episodic")
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    age(world, session)
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
    (row,) = close(agent, session)
    assert (row["disposition"], row["reason"]) == ("waiting", "AWAITING_APPROVAL")
    decide(reviewer(world), "approve", row["request_id"])
    (left,) = recall(agent, query="heron")
    assert left["layer"] == "episodic"


@pytest.mark.parametrize("how", ["disabled", "revoked"])
def test_in_the_name_of_who_may_no_longer_nothing_is_asked(world: World, how: str) -> None:
    """The session ends all the same.

    Proves: L2, A1
    """
    agent = world.agent()
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    age(world, session)
    if how == "disabled":
        world.admin.execute("UPDATE memwarden_data.principal SET disabled_at = now()")
    else:
        world.admin.execute("UPDATE memwarden_data.scope_grant SET writes = false")
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
    assert world.value("SELECT ended FROM memwarden_data.session") == "expired"
    assert world.value("SELECT count(*) FROM memwarden_data.write_request") == 1


def test_the_job_acts_for_nobody_beyond_the_session(world: World) -> None:
    """Not afterwards in its transaction, nor who says so; not even where its login is somebody.

    Proves: A1, L2
    """
    ana = world.agent()
    session = open_session(ana)
    observe(ana, session, "a heron", "critical")
    age(world, session)
    row = world.rows("SELECT org_id, principal_id FROM memwarden_data.session")[0]
    bea = world.agent(
        "/org/acme/user/bea", groups=("memwarden_agent", "memwarden_jobs"), role="contributor"
    )
    claim = "SELECT set_config('memwarden.acting', %s, true)"
    who = "SELECT memwarden_internal.current_principal() AS id"
    with bea.transaction():
        before = one(bea, who)["id"]
        bea.execute(claim, (f"{row['org_id']}:{row['principal_id']}",))
        assert one(bea, who)["id"] == before != row["principal_id"]
        bea.execute("SELECT memwarden_internal.close_next_session(NULL)")
        assert one(bea, who)["id"] == before
        bea.execute(claim, (f"{row['org_id']}:{row['principal_id']}",))
        assert one(bea, who)["id"] == before
        for nonsense in ("1", "x:y", "1:", ":", f"-1:{row['principal_id']}", "9" * 30 + ":1"):
            bea.execute(claim, (nonsense,))
            assert one(bea, who)["id"] == before
    authors = world.rows("SELECT DISTINCT principal_id FROM memwarden_data.item")
    assert authors == [{"principal_id": row["principal_id"]}]
    assert promoted(world) == 1


def test_one_session_that_fails_keeps_no_other_from_ending(world: World) -> None:
    """It is tried again by the next run.

    Proves: L2, G8 (the rest goes on)
    """
    agent = world.agent()
    sessions = [open_session(agent, f"task {number}") for number in range(3)]
    for session in sessions:
        observe(agent, session, f"a heron {session}", "critical")
    age(world, *sessions)
    world.admin.execute(
        "CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN RAISE 'no room' USING ERRCODE = '53100'; END$$"
    )
    world.admin.execute(
        "CREATE TRIGGER fail BEFORE UPDATE ON memwarden_data.session FOR EACH ROW"
        f" WHEN (NEW.session_id = '{sessions[1]}') EXECUTE FUNCTION public.fail()"
    )
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(JOB)
        assert promoted(world) == 2
        world.admin.execute("DROP TRIGGER fail ON memwarden_data.session")
        jobs.execute(JOB)
    assert promoted(world) == 3


def test_who_opens_it_again_ends_it_too(world: World) -> None:
    """As the job would have.

    Proves: L2 (TTL)
    """
    agent = world.agent()
    session = open_session(agent)
    observe(agent, session, "a heron", "critical")
    age(world, session)
    assert open_session(agent) != session
    assert promoted(world) == 1


def test_the_job_may_run_twice_at_once(world: World) -> None:
    """Each session ends once; a log entry says so of each memory, and each is promoted once.

    Proves: L2, G8 (twice at once)
    """
    agent = world.agent()
    sessions = [open_session(agent, f"task {number}") for number in range(6)]
    for session in sessions:
        observe(agent, session, f"a heron {session}", "high")
    age(world, *sessions)
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(each.execute, JOB) for each in jobs])
    assert world.value("SELECT count(*) FROM memwarden_data.log WHERE operation = 'EXPIRE'") == 6
    assert world.value("SELECT count(*) FROM memwarden_data.session WHERE ended = 'expired'") == 6
    assert promoted(world) == 6
    check_store(world.admin)


def test_who_uses_a_session_first_keeps_it(world: World) -> None:
    """The job waits for who holds it, and then finds it in use.

    Proves: L2 (TTL)
    """
    agent = world.agent()
    session = open_session(agent, ttl="1 hour")
    observe(agent, session, "a heron")
    age(world, session)
    holder, jobs = world.connect(), world.connect("memwarden_jobs")
    overlap(
        world.admin,
        holder,
        partial(
            holder.execute, "UPDATE memwarden_data.session SET used_at = now() + interval '1 hour'"
        ),
        jobs,
        partial(jobs.execute, JOB),
    )
    assert world.value("SELECT ended FROM memwarden_data.session") is None
    assert len(recall(agent, query="heron")) == 1


@pytest.fixture
def cluster() -> Iterator[str]:
    """A cluster of the test's own, with every promise of durability kept.

    In memory: what is killed is the server and not the machine.
    """
    name = f"crash-{uuid.uuid4().hex[:8]}"
    deploy_server("up", name, "--in-memory")
    yield name
    deploy_server("drop", name)


def connect(cluster: str, database: str, **changes: Any) -> psycopg.Connection[Any]:
    """Connect to a database of the cluster."""
    dsn = deploy_server("dsn", cluster, database)
    return psycopg.connect(dsn, autocommit=True, row_factory=dict_row, **changes)


def test_after_a_crash_the_session_goes_on_from_what_it_remembered(cluster: str) -> None:
    """Working memory is gone; goal, plan, constraints and critical observations are back at once.

    Proves: L1, L2 (write-through: recoverable)
    """
    with connect(cluster, "postgres") as server:
        server.execute("CREATE DATABASE memory")
        server.execute("CREATE ROLE crashing LOGIN")
    with connect(cluster, "memory") as admin:
        admin.execute("CREATE EXTENSION memwarden CASCADE")
        admin.execute("SELECT * FROM memwarden.setup()")
        ask_for_little(admin)
        admin.execute("GRANT memwarden_agent TO crashing")
        admin.execute("SELECT memwarden.create_scope(%s)", (HOME,))
        admin.execute("SELECT memwarden.register_agent('a', %s, 'crashing')", (HOME,))
    with connect(cluster, "memory", user="crashing") as agent:
        session = open_session(agent)
        set_goal(agent, session, "g", plan=["one", "two"], constraints=["no downtime"])
        advance(agent, session)
        observe(agent, session, "critical result", "critical")
        observe(agent, session, "common result")
        note(agent, session, "a thought")
        before = render(agent, session)
    deploy_server("kill", cluster)
    deploy_server("up", cluster, "--in-memory")
    with connect(cluster, "memory") as admin:
        rows = admin.execute("SELECT FROM memwarden_data.working_memory").fetchall()
        assert rows == []
        check_store(admin)
    with connect(cluster, "memory", user="crashing") as agent:
        after = render(agent, session)
        lost = [line for line in before.split("\n") if line not in after.split("\n")]
        assert [line.split(" ")[0] for line in lost] == ["[OBSERVATION]", "[SCRATCHPAD]"]
        assert '"common result"' in lost[0]
        found = search(agent, session, "result")
        assert [row["part"] for row in found].count("observation") == 2
        assert end_turn(agent, session) == 1
