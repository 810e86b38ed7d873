"""A writer waits for who writes the same scope, and defers when that takes too long."""

from __future__ import annotations

from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import write, write_many
from races import PATIENCE, together, wait_until_blocked
from replay import check_store
from write.gates.obedient import run_retries, status

if TYPE_CHECKING:
    from conftest import World

TEA = {"text": "Ana prefers green tea"}
COFFEE = {"text": "Ana prefers coffee"}


def test_a_scope_that_stays_busy_defers_and_the_retry_commits(world: World) -> None:
    """SCOPE_BUSY is a result with the time of the next attempt; the job commits it later.

    Proves: W2
    """
    holder, other = world.agent(), world.agent()
    other.execute("SET lock_timeout = '10 ms'")
    with holder.transaction():
        write(holder, "semantic", TEA)
        waiting = write(other, "semantic", COFFEE)
        assert (waiting["outcome"], waiting["gate"], waiting["reason"]) == (
            "DEFERRED",
            "32_scope_lock",
            "SCOPE_BUSY",
        )
        assert waiting["retry_after"] is not None
        refused = write(other, "semantic", COFFEE, confidence=7)
        assert refused["reason"] == "CONFIDENCE_OUT_OF_RANGE"
    shown = other.execute("SHOW lock_timeout").fetchall()
    assert shown == [{"lock_timeout": "10ms"}]
    run_retries(world)
    assert status(world, waiting)["outcome"] == "COMMITTED"
    assert len(check_store(world.admin)) == 2


def test_a_retry_that_meets_a_busy_scope_waits_for_its_next_time(world: World) -> None:
    """The attempt counts, the request stays deferred, others are retried meanwhile.

    Proves: W2
    """
    world.admin.execute("UPDATE memwarden_data.layer SET lock_wait = '10 ms'")
    world.scope("/org/acme/user/bob")
    role = world.register("/org/acme", descendants=True)
    holder, other = world.connect(role), world.connect(role)
    with holder.transaction():
        write(holder, "semantic", TEA, scope="/org/acme/user/bob")
        busy = write(other, "semantic", COFFEE, scope="/org/acme/user/bob")
        run_retries(world)
        row = status(world, busy)
        assert (row["outcome"], row["reason"], row["attempt"]) == ("DEFERRED", "SCOPE_BUSY", 2)
    run_retries(world)
    assert status(world, busy)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", ["working", "semantic"])
@pytest.mark.parametrize("tokens", [{}, {"idempotency_key": "k"}], ids=["content", "key"])
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_replay_that_could_not_wait_is_written_once(
    world: World, layer: str, tokens: dict[str, str], end: str
) -> None:
    """The same request again while the first is not yet committed defers, and never counts twice.

    Proves: W2, W4
    """
    role = world.register()
    first, second = world.connect(role), world.connect(role)
    second.execute("SET lock_timeout = '10 ms'")
    with first.transaction(force_rollback=end == "rollback"):
        committed = write(first, layer, TEA, **tokens)
        waiting = write(second, layer, TEA, **tokens)
        assert (waiting["outcome"], waiting["reason"]) == ("DEFERRED", "SCOPE_BUSY")
    run_retries(world)
    row = status(world, waiting)
    if end == "commit":
        assert row["outcome"] == "ALREADY_COMMITTED"
        assert row["version_id"] == committed["version_id"]
    else:
        assert row["outcome"] == "COMMITTED"
    assert len(check_store(world.admin)) == 1
    assert write(second, layer, TEA, **tokens)["outcome"] == "ALREADY_COMMITTED"


def test_a_batch_defers_what_goes_into_a_busy_scope_and_commits_the_rest(world: World) -> None:
    """Order is kept, a bad request among them is refused, and the job commits what had to wait.

    Proves: W2, W8
    """
    free, busy = "/org/acme/user/ana", "/org/acme/user/bob"
    for path in (free, busy):
        world.scope(path)
    role = world.register("/org/acme", descendants=True)
    holder, other = world.connect(role), world.connect(role)
    other.execute("SET lock_timeout = '10 ms'")
    requests: list[dict[str, object]] = [
        {"layer": "semantic", "content": f"number {n}", "scope": busy if n % 2 else free}
        for n in range(8)
    ]
    requests[4]["confidence"] = "high"
    with holder.transaction():
        write(holder, "semantic", TEA, scope=busy)
        answers = write_many(other, requests)
    outcomes = [answer["reason"] or answer["outcome"] for answer in answers]
    expected = ["COMMITTED", "SCOPE_BUSY"] * 4
    expected[4] = "INVALID_ARGUMENT"
    assert outcomes == expected
    assert other.execute("SHOW lock_timeout").fetchall() == [{"lock_timeout": "10ms"}]
    run_retries(world)
    decided = [status(world, answer)["outcome"] for answer in answers]
    assert decided == ["COMMITTED"] * 4 + ["REJECTED"] + ["COMMITTED"] * 3
    check_store(world.admin)


def test_a_writer_that_can_wait_sees_what_it_waited_for(world: World) -> None:
    """It compares after the other has committed, not with what was there when it came.

    Proves: D1
    """
    first, second = world.agent(), world.agent()

    def hold() -> str:
        with first.transaction():
            outcome = write(first, "semantic", TEA)["outcome"]
            wait_until_blocked(world.admin, second)
        return str(outcome)

    def follow() -> str:
        wait_until_idle_in_transaction(world, first)
        return str(write(second, "semantic", TEA)["reason"])

    assert together([hold, follow]) == ["COMMITTED", "EXACT_DUPLICATE"]


def wait_until_idle_in_transaction(world: World, session: psycopg.Connection[object]) -> None:
    """Return once the session has written and holds its transaction open."""
    with psycopg.connect(world.dsn, user="postgres", autocommit=True) as observer:
        query = "SELECT state FROM pg_stat_activity WHERE pid = %s AND query LIKE '%%write%%'"
        while observer.execute(query, (session.info.backend_pid,)).fetchone() != (
            "idle in transaction",
        ):
            pass


def test_an_agent_cannot_hold_up_another_tenant(world: World) -> None:
    """Whatever it names and locks, in an open transaction: the other writes its scope at once.

    Proves: A4, W2
    """
    mallory = world.agent("/org/evil", descendants=True)
    victim = world.agent("/org/acme/user/ana")
    victim.execute("SET lock_timeout = '2 s'")
    write(victim, "semantic", {"text": "the lock exists"})
    with mallory.transaction():
        write(mallory, "semantic", TEA)
        for scope in ("/org/acme/user/ana", "/org/acme", "/global"):
            assert write(mallory, "semantic", TEA, scope=scope)["outcome"] == "REJECTED"
        answers = write_many(
            mallory,
            [{"layer": "semantic", "content": TEA, "scope": "/org/acme/user/ana"}],
        )
        assert answers[0]["reason"] == "UNKNOWN_SCOPE"
        for statement in (
            "SELECT FROM memwarden_data.write_lock FOR KEY SHARE",
            "SELECT FROM memwarden_data.item FOR KEY SHARE",
            "SELECT FROM memwarden_data.layer FOR KEY SHARE",
            "SELECT FROM memwarden_data.kept_layer FOR KEY SHARE",
            "SELECT FROM memwarden_data.write_request FOR KEY SHARE",
            "LOCK TABLE memwarden_data.write_lock IN ACCESS SHARE MODE",
            "LOCK TABLE memwarden_data.item IN ROW SHARE MODE",
            "LOCK TABLE memwarden_data.write_request IN ROW SHARE MODE",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), mallory.transaction():
                mallory.execute(statement)
        mallory.execute("SELECT pg_advisory_lock(key) FROM generate_series(1, 100) AS key")
        assert write(victim, "semantic", TEA)["outcome"] == "COMMITTED"
        assert write(victim, "session", TEA)["outcome"] == "COMMITTED"
        batch = [{"layer": layer, "content": COFFEE} for layer in ("semantic", "durable")]
        assert [a["outcome"] for a in write_many(victim, batch)] == ["COMMITTED"] * 2


def test_two_jobs_at_once_take_different_requests(world: World) -> None:
    """Each request is tried by one of them, once.

    Proves: W2
    """
    paths = ["/org/acme/user/ana", "/org/acme/user/bob"]
    for path in paths:
        world.scope(path)
    role = world.register("/org/acme", descendants=True)
    holder, other = world.connect(role), world.connect(role)
    other.execute("SET lock_timeout = '10 ms'")
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]

    def run(job: psycopg.Connection[object]) -> None:
        job.execute("CALL memwarden.retry_deferred()")

    def release() -> None:
        for job in jobs:
            wait_until_blocked(world.admin, job)
        holder.commit()

    holder.autocommit = False
    for path in paths:
        write(holder, "semantic", TEA, scope=path)
    waiting = [write(other, "semantic", COFFEE, scope=path) for path in paths]
    assert {answer["reason"] for answer in waiting} == {"SCOPE_BUSY"}
    world.admin.execute("UPDATE memwarden_data.layer SET lock_wait = '1 minute'")
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = now() WHERE outcome = 'DEFERRED'"
    )
    together([lambda: run(jobs[0]), lambda: run(jobs[1]), release])
    rows = [status(world, answer) for answer in waiting]
    assert [(row["outcome"], row["attempt"]) for row in rows] == [("COMMITTED", 2)] * 2
    assert len(check_store(world.admin)) == 4


@pytest.mark.parametrize("call", ["write", "write_many"])
def test_two_scopes_in_opposite_order_raise_nothing(world: World, call: str) -> None:
    """Each holds the scope that the other writes next: a write is deferred, and both end.

    Proves: W2
    """
    world.admin.execute("UPDATE memwarden_data.layer SET lock_wait = '1 minute'")
    paths = ("/org/acme/user/ana", "/org/acme/user/bob")
    for path in paths:
        world.scope(path)
    role = world.register("/org/acme", descendants=True)
    both = Barrier(2)

    def both_scopes(order: tuple[str, ...]) -> list[tuple[str, str | None]]:
        told = []
        with world.connect(role).transaction() as held:
            for path in order:
                content = f"{order[0]} first, now {path}"
                if call == "write":
                    said = write(held.connection, "semantic", content, scope=path)
                else:
                    request = {"layer": "semantic", "content": content, "scope": path}
                    (said,) = write_many(held.connection, [request])
                told.append((said["outcome"], said["reason"]))
                if path == order[0]:
                    both.wait(PATIENCE)
        return told

    results = together([partial(both_scopes, paths), partial(both_scopes, paths[::-1])])
    assert [told[0] for told in results] == [("COMMITTED", None)] * 2
    second = {told[1] for told in results}
    assert ("DEFERRED", "SCOPE_BUSY") in second
    assert second <= {("COMMITTED", None), ("DEFERRED", "SCOPE_BUSY")}
    run_retries(world)
    assert len(check_store(world.admin)) == 4
