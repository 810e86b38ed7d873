"""After a crash every answer that a client received still holds, and nothing is half-written."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Semaphore, Thread

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row

from clusters import Cluster
from helpers import ask_for_little, write, write_many
from races import PATIENCE
from replay import check_store

WRITERS = 8
ANSWERS_BEFORE_THE_CRASH = 300
SCOPE = "/org/acme/user/ana"
AGENT = "crash_test_agent"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster of the test's own, with every promise of durability kept."""
    made = Cluster("crash")
    made.make_memory()
    yield made
    made.drop()


def prepare(cluster: Cluster) -> None:
    """Start it, and create the agent that writes."""
    cluster.up()
    with cluster.connect() as admin:
        ask_for_little(admin)
        admin.execute(f"CREATE ROLE {AGENT} LOGIN IN ROLE memwarden_agent")
        admin.execute("SELECT memwarden.create_scope(%s)", (SCOPE,))
        admin.execute(
            "SELECT memwarden.register_agent('a', '/org/acme', %s, descendants => true)", (AGENT,)
        )


def work(dsn: str, number: int, received: list[DictRow], counted: Semaphore) -> None:
    """Write until the connection breaks; keep what was answered, and only that.

    Some write one by one, some in batches, some several times in one transaction; half of them
    write new values of the same keys, so that versions and heads are at stake, too.
    """
    common = {"layer": "semantic", "scope": SCOPE}
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as session:
        for n in range(10_000_000):
            key = {"subject": f"s{n % 5}", "predicate": "is"} if number % 2 else {}
            requests = [common | key | {"content": f"{number} {n} {part}"} for part in range(3)]
            try:
                if number % 4 == 0:
                    answers = [write(session, **requests[0])]
                elif number % 4 == 1:
                    answers = write_many(session, requests)
                else:
                    with session.transaction():
                        answers = [write(session, **request) for request in requests]
            except psycopg.OperationalError:
                return
            received += answers
            counted.release(len(answers))


def test_every_commit_that_was_answered_survives_a_crash(cluster: Cluster) -> None:
    """The server is killed while eight sessions write; it comes back as its log says.

    Proves: T1, W2, W4
    """
    prepare(cluster)
    dsn = cluster.dsn(user=AGENT)
    received: list[list[DictRow]] = [[] for _ in range(WRITERS)]
    counted = Semaphore(0)
    threads = [
        Thread(target=work, args=(dsn, number, received[number], counted), daemon=True)
        for number in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for _ in range(ANSWERS_BEFORE_THE_CRASH):
        assert counted.acquire(timeout=PATIENCE)
    cluster.kill()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    cluster.up()

    answers = [answer for given in received for answer in given]
    assert len(answers) >= ANSWERS_BEFORE_THE_CRASH
    assert {answer["outcome"] for answer in answers} == {"COMMITTED"}
    with cluster.connect() as admin:
        check_store(admin)
        stored = admin.execute(
            "SELECT r.request_id, r.outcome, r.version_id, v.item_id, v.content"
            "  FROM memwarden_data.write_request AS r"
            "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
            "  JOIN memwarden_data.log AS g USING (org_id, version_id)"
        ).fetchall()
        kept = {row["request_id"]: row for row in stored}
        for answer in answers:
            row = kept[answer["request_id"]]
            assert (row["outcome"], row["version_id"], row["item_id"]) == (
                "COMMITTED",
                answer["version_id"],
                answer["item_id"],
            )
    # Every session may have had one more call committed than it was told of, and no more than that.
    assert len(kept) <= len(answers) + 3 * WRITERS
    _goes_on(cluster, received[0][0])


def _goes_on(cluster: Cluster, first: DictRow) -> None:
    """The memory is written and read as before; what was committed is known."""
    with cluster.connect(user=AGENT) as session:
        again = write(session, "semantic", "0 0 0", scope=SCOPE)
        assert (again["outcome"], again["version_id"]) == (
            "ALREADY_COMMITTED",
            first["version_id"],
        )
        fresh = write(session, "semantic", "after the crash", scope=SCOPE)
        assert fresh["outcome"] == "COMMITTED"
        rows = session.execute("SELECT item_id FROM memwarden.recall('after the crash', k => 1)")
        assert rows.fetchall() == [{"item_id": fresh["item_id"]}]
    with cluster.connect() as admin:
        check_store(admin)
