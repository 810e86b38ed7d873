"""What the job counts is what the log says: each recall once, however often it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import World
from helpers import recall, write_many
from races import together

from . import conftest as cast
from .conftest import HOME, Office, report

COUNTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "recall_use": ("item_id", ("given", "doubtful", "judged", "used", "succeeded", "failed")),
    "recall_day": (
        "principal_id",
        ("recalls", "answered", "given", "reported", "rated", "hits", "judged", "used"),
    ),
    "recall_consumer": ("principal_id", ("recalls",)),
}
LATEST = """
SELECT l.recall_id, l.principal_id, l.item_ids, coalesce(l.doubtful, '{}') AS doubtful,
       o.outcome, o.used
  FROM memwarden_data.recall_log AS l
  LEFT JOIN LATERAL (SELECT r.outcome, r.used FROM memwarden_data.recall_outcome AS r
                      WHERE r.org_id = l.org_id AND r.recall_id = l.recall_id
                      ORDER BY r.revision DESC LIMIT 1) AS o ON true"""


def counts(world: World, table: str) -> dict[Any, Counter[str]]:
    """What the job has counted in one table, by item or principal."""
    key, columns = COUNTED[table]
    where = "WHERE layer = '*'" if table == "recall_day" else ""
    found: dict[Any, Counter[str]] = {}
    for row in world.rows(f"SELECT * FROM memwarden_data.{table} {where}"):
        into = found.setdefault(row[key], Counter())
        for column in columns:
            into[column] += row[column]
    return {key: +count for key, count in found.items()}


def recounted(world: World, table: str) -> dict[Any, Counter[str]]:
    """The same, from the log, row by row."""
    found: dict[Any, Counter[str]] = {}
    for row in world.rows(LATEST):
        given, used = row["item_ids"], set(row["used"] or ())
        reported = row["outcome"] is not None
        if table == "recall_use":
            for item in given:
                found.setdefault(item, Counter()).update(
                    given=1,
                    doubtful=item in row["doubtful"],
                    judged=reported,
                    used=item in used,
                    succeeded=item in used and row["outcome"] == "success",
                    failed=item in used and row["outcome"] == "failure",
                )
        elif table == "recall_day":
            found.setdefault(row["principal_id"], Counter()).update(
                recalls=1,
                answered=bool(given),
                given=len(given),
                reported=reported,
                rated=reported and bool(given),
                hits=bool(used),
                judged=len(given) if reported else 0,
                used=len(used),
            )
        elif given:
            found.setdefault(row["principal_id"], Counter()).update(recalls=1)
    return {key: +count for key, count in found.items()}


def check(world: World) -> None:
    """Every count is what a recount finds, and the mean precision too."""
    for table in COUNTED:
        assert counts(world, table) == recounted(world, table), table
    shares = [
        len(row["used"]) / len(row["item_ids"])
        for row in world.rows(LATEST)
        if row["outcome"] and row["item_ids"]
    ]
    total = world.value(
        "SELECT coalesce(sum(precision_sum), 0) AS s FROM memwarden_data.recall_day"
        " WHERE layer = '*'"
    )
    assert total == pytest.approx(sum(shares))


@pytest.fixture(scope="module")
def desk(shared_world: World) -> list[psycopg.Connection[Any]]:
    """Three logins of two agents that read the same dozen memories, of two layers."""
    first, second = shared_world.register(HOME), shared_world.register(HOME)
    connection = shared_world.connect(first)
    write_many(
        connection,
        [
            {"layer": layer, "content": f"tea number {n}", "confidence": 0.2 + n / 10}
            for layer in ("semantic", "episodic")
            for n in range(6)
        ],
    )
    return [shared_world.connect(login) for login in (first, first, second)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.integers(0, 2)),
        st.tuples(st.just("commit"), st.integers(0, 2)),
        st.tuples(st.just("rollback"), st.integers(0, 2)),
        st.tuples(st.just("recall"), st.integers(0, 2), st.integers(0, 5)),
        st.tuples(
            st.just("report"),
            st.integers(0, 2),
            st.integers(0, 30),
            st.sampled_from(["success", "failure", "partial", "unknown"]),
        ),
        st.tuples(st.just("count")),
        st.tuples(st.just("killed count")),
    ),
    max_size=40,
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=steps, size=st.integers(1, 4))
def test_whatever_commits_when_is_counted_once(
    shared_world: World,
    desk: list[psycopg.Connection[Any]],
    steps: list[tuple[Any, ...]],
    size: int,
) -> None:
    """Transactions that stay open and end in any order, revisions among them, jobs that die.

    Proves: Q2, Z4 (counted by a job)
    """
    counter = shared_world.connect()
    people = [shared_world.connect(str(c.info.user)) for c in desk]
    made: list[tuple[int, Any, list[Any]]] = []

    def one() -> bool:
        row = counter.execute(
            "SELECT memwarden_internal.count_next_recalls(%s) AS more", (size,)
        ).fetchone()
        return bool(row and row["more"])

    for step in steps:
        act, *rest = step
        if act == "count":
            one()
        elif act == "killed count":
            with counter.transaction(force_rollback=True):
                one()
        else:
            me = people[rest[0]]
            busy = me.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
            if act == "begin" and not busy:
                me.execute("BEGIN")
            elif act in ("commit", "rollback") and busy:
                me.execute(act)
            elif act == "recall":
                rows = recall(me, query="tea" if rest[1] else "zzz", k=rest[1] or 1)
                if rows:
                    made.append((rest[0], rows[0]["recall_id"], [r["item_id"] for r in rows]))
            elif act == "report":
                attempt(people, made, rest[1], rest[2])
    for me in people:
        me.execute("COMMIT") if me.info.transaction_status.value else None
    while one():
        pass
    check(shared_world)
    for connection in (counter, *people):
        connection.close()


def attempt(
    people: list[psycopg.Connection[Any]],
    made: list[tuple[int, Any, list[Any]]],
    number: int,
    outcome: str,
) -> None:
    """Report of one of the recalls: it may be rolled back, or held by another connection."""
    if not made:
        return
    who, recall_id, items = made[number % len(made)]
    me = people[who]
    busy = me.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
    if busy and me.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
        return
    me.execute("SAVEPOINT before" if busy else "SET lock_timeout = '1s'")
    try:
        report(me, recall_id, items[: number % (len(items) + 1)], outcome)
    except (psycopg.errors.UndefinedObject, psycopg.errors.LockNotAvailable):
        if busy:
            me.execute("ROLLBACK TO before")


def test_many_jobs_at_once_count_once(office: Office) -> None:
    """Eight of them, while others recall and report.

    Proves: Q2
    """
    office.remember("Ana likes tea", "Ana likes green tea")
    readers = [office.world.connect(str(office.ana.info.user)) for _ in range(4)]
    jobs = [office.world.connect(office.world.role("memwarden_jobs")) for _ in range(4)]

    def read(who: Any) -> None:
        for _ in range(5):
            recall_id, items = cast.given(who)
            report(who, recall_id, items[:1])

    actions: list[Callable[[], object]] = []
    for who, job in zip(readers, jobs, strict=True):
        actions.append(partial(read, who))
        actions.append(partial(job.execute, "CALL memwarden.count_recalls()"))
    together(actions)
    office.count()
    check(office.world)
    assert office.world.value("SELECT recalls FROM memwarden_data.recall_reach") == 20


def test_other_databases_hold_no_count_up(office: Office) -> None:
    """Their transactions begin and end all the while: one run of the job counts all there is.

    Proves: Q2
    """
    office.remember("Ana likes tea")
    over = Event()

    def elsewhere() -> None:
        with psycopg.connect(office.world.dsn, dbname="postgres", autocommit=True) as other:
            while not over.is_set():
                other.execute(
                    "DO 'BEGIN FOR n IN 1..50 LOOP"
                    " PERFORM pg_current_xact_id(), pg_sleep(0.0003); COMMIT; END LOOP; END'"
                )

    busy = [Thread(target=elsewhere) for _ in range(3)]
    for one in busy:
        one.start()
    try:
        for _ in range(60):
            cast.given(office.ana)
            office.count()
            check(office.world)
    finally:
        over.set()
        for one in busy:
            one.join()


def test_rows_of_another_cluster_are_counted_as_they_are(office: Office) -> None:
    """As after a restore: their transactions compare with none of here.

    Proves: Z4 (restore), Q2
    """
    office.remember("Ana likes tea")
    for _ in range(3):
        cast.given(office.ana)
    with office.world.admin.transaction():
        office.world.admin.execute("SET LOCAL session_replication_role = replica")
        office.world.admin.execute(
            "UPDATE memwarden_data.recall_log"
            "   SET system_identifier = 17, transaction_id = '9999999999999'"
        )
    office.count()
    cast.given(office.ana)
    office.count()
    check(office.world)


def test_how_good_recall_was(office: Office) -> None:
    """The numbers of a small case, by hand.

    Proves: Q2
    """
    office.remember("Ana likes tea", "Ana likes green tea")
    first, items = cast.given(office.ana)
    second, _ = cast.given(office.ana)
    cast.given(office.ana)
    recall(office.ana, query="tea", layers=["episodic"])
    report(office.ana, first, items)
    report(office.ana, second, items[:1], "failure")
    office.count()
    query = "SELECT * FROM memwarden.recall_quality(scope => %s)"
    for who in (office.ana, office.auditor):
        whole, *layers = who.execute(query, (HOME,)).fetchall()
        assert (whole["layer"], whole["recalls"], whole["answered"]) == ("*", 4, 3)
        assert (whole["hit_ratio"], whole["useful_ratio"]) == (0.75, 1.0)
        assert (whole["mean_precision"], whole["on_target"]) == (0.75, True)
        assert (whole["false_positive_rate"], whole["staleness"]) == (0.25, 0.0)
        found = {row["layer"]: (row["recalls"], row["given"]) for row in layers}
        assert (found["semantic"], found["episodic"]) == ((3, 6), (4, 0))
    rows = office.bo.execute("SELECT * FROM memwarden.recall_quality()").fetchall()
    assert rows == []
    shown = office.auditor.execute("TABLE memwarden.retrieval_quality").fetchall()
    assert {row["agent"] for row in shown} == {office.ana.info.user}


def test_stale_and_doubtful_memories_are_told_apart(office: Office) -> None:
    """Proves: Q2 (staleness at retrieval)."""
    office.remember("Ana likes tea")
    office.remember("Ana likes milk tea", confidence=0.1)
    cast.given(office.ana)
    office.count()
    whole, *_ = office.ana.execute("SELECT * FROM memwarden.recall_quality()").fetchall()
    assert (whole["given"], whole["doubtful"], whole["staleness"]) == (2, 1, 0.5)


def test_golden_queries_say_what_recall_misses(office: Office) -> None:
    """Proves: Q2 (golden queries)."""
    office.remember("Ana likes tea")
    curator = office.world.agent(HOME, role="curator", groups=("memwarden_curator",))
    define = "SELECT memwarden.define_probe(%s, 'tea', contains => %s, scope => %s)"
    curator.execute(define, ("tea", "tea", HOME))
    curator.execute(define, ("milk", "milk", HOME))
    cast.given(office.ana)
    office.count()
    whole, *_ = office.auditor.execute("SELECT * FROM memwarden.recall_quality()").fetchall()
    assert (whole["probes"], whole["golden_recall"]) == (2, 0.5)
    assert len(office.log()) == 1, "a golden query is nobody's recall"
