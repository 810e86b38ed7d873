"""A hot standby answers what its primary answers, writes nothing, and says what it cannot do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest

from clusters import Cluster, run, wait_until
from helpers import ask_for_little
from memwarden import Client, MemoryManager
from memwarden._request_id import new_request_id
from memwarden.errors import MemwardenError, WrongIsolation

SCOPE = "/org/acme/user/ana"
AGENT = "standby_test_agent"
TASK = "move the user service"
FACTS = [f"The user service keeps {n} connections to database {n}" for n in range(30)]
# All that a session is changed or read through by calls that count as one.
STEPS = {
    "open_session": "memwarden.open_session(NULL, 'another')",
    "resume_session": "memwarden.resume_session(NULL, 'another')",
    "set_goal": "memwarden.set_goal({session}, 'to rest')",
    "advance_plan": "memwarden.advance_plan({session})",
    "observe": "memwarden.observe({session}, 'psql', '97 are in use')",
    "note": "memwarden.note({session}, 'ask billing')",
    "end_turn": "memwarden.end_turn({session})",
    "working_memory": "memwarden.working_memory({session})",
    "render_working_memory": "memwarden.render_working_memory({session})",
    "before_call": "memwarden.before_call({session})",
    "start_task": "memwarden.start_task('another', 'to rest')",
    "close_session": "memwarden.close_session({session})",
}
OF_A_SESSION = sorted(name for name, call in STEPS.items() if "{session}" in call)


@dataclass
class Pair:
    """A primary and its standby, in the middle of a task."""

    primary: Cluster
    standby: Cluster
    session: UUID

    def catch_up(self) -> None:
        """Wait until the standby has all that the primary has committed."""
        with self.primary.connect() as primary, self.standby.connect() as standby:
            (row,) = primary.execute("SELECT pg_current_wal_flush_lsn() AS at").fetchall()
            query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn AS done"
            wait_until(standby, query, row["at"])


def stand_by(primary: Cluster, standby: Cluster) -> None:
    """Make a second cluster that follows the first."""
    standby.make_home(f"{primary.home}/master.key")
    run("cp", "--preserve=mode", f"{primary.home}/master.key.subjects", standby.home)
    copy = ("--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf")
    follow = f"--dbname={primary.dsn('postgres')}"
    run("pg_basebackup", follow, f"--pgdata={standby.home}/data", *copy)
    standby.start()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two clusters of this module's own; an agent has written, and begun a task."""
    primary, standby = Cluster("primary"), Cluster("standby")
    try:
        primary.make_memory()
        primary.up()
        with primary.connect() as admin:
            ask_for_little(admin)
            admin.execute("UPDATE memwarden_data.layer SET duplicate_similarity = 0.95")
            admin.execute(f"CREATE ROLE {AGENT} LOGIN IN ROLE memwarden_agent")
            admin.execute("SELECT memwarden.create_scope(%s)", (SCOPE,))
            admin.execute("SELECT memwarden.register_agent('a', %s, %s)", (SCOPE, AGENT))
        made = Pair(primary, standby, uuid.uuid4())
        with Client.connect(primary.dsn(user=AGENT)) as memory:
            for fact in FACTS:
                assert memory.write("semantic", fact).committed
            manager = MemoryManager(memory, fail_safe=False)
            manager.task_start("count the connections", ["look at database 7"], task=TASK)
            manager.observation("psql", "97 connections are in use", "critical")
            assert manager.session_id is not None
            made.session = manager.session_id
        stand_by(primary, standby)
        with standby.connect() as admin:
            assert admin.execute("SELECT pg_is_in_recovery() AS x").fetchall() == [{"x": True}]
        made.catch_up()
        yield made
    finally:
        standby.drop()
        primary.drop()


def asked(memory: Client, session: UUID) -> dict[str, Any]:
    """What a caller is answered in all the ways that only read."""
    pages = [
        [item.item_id for item in page]
        for page in memory.recall_pages("connections to database 7", page_size=7)
    ]
    recalled = memory.recall("database 7", k=5)
    first = recalled[0].item_id
    assert first is not None
    explained = memory._session.open().execute(
        "SELECT step, detail FROM memwarden.explain_recall('database 7', k => 5)"
        " WHERE step <> 'time'"
    )
    return {
        "recall": [(item.item_id, item.text, round(item.score, 9)) for item in recalled],
        "rrf": [item.item_id for item in memory.recall("database 7", fusion="rrf")],
        "threshold": [item.item_id for item in memory.recall("heron", threshold=0.9)],
        "pages": pages,
        "explained": explained.fetchall(),
        "context": memory.context("database 7").text,
        "pushed": [(item.item_id, item.line) for item in memory.push(task="database 7")],
        "pushed to the session": [item.item_id for item in memory.push(session_id=session)],
        "session": [m.content for m in memory.search_session(session, "connections in use")],
        "item": memory.get(first),
        "history": [version.version for version in memory.history(first)],
        "whoami": memory.whoami(),
    }


def test_a_standby_answers_as_its_primary_does(pair: Pair) -> None:
    """Recalls, pages, explanations, contexts, pushes, items: the same answers in the same order.

    Proves: L6, L5
    """
    with Client.connect(pair.primary.dsn(user=AGENT)) as memory:
        expected = asked(memory, pair.session)
    with Client.connect(pair.standby.dsn(user=AGENT)) as memory:
        answered = asked(memory, pair.session)
        ids = {item.recall_id for item in memory.recall("database 7")}
    assert answered == expected
    assert len(answered["recall"]) == 5
    assert answered["pushed to the session"]
    assert ids == {None}


def test_a_standby_that_stands_still_is_late(pair: Pair) -> None:
    """PostgreSQL shows no lag of it; the metric grows from one look to the next.

    Proves: Q4
    """
    lag = "SELECT value, state FROM memwarden.metrics WHERE metric = 'replication_lag'"

    def measured() -> tuple[Any, str]:
        primary.execute("CALL memwarden.take_metrics()")
        (row,) = primary.execute(lag).fetchall()
        return row["value"], row["state"]

    with pair.primary.connect() as primary, pair.standby.connect() as standby:
        assert measured() == (None, "MISSING_METRIC")
        primary.execute("GRANT pg_read_all_stats TO memwarden_owner")
        pair.catch_up()
        assert measured()[0] < 10
        standby.execute("SELECT pg_wal_replay_pause()")
        first, _ = measured()
        # As though nobody had looked for a minute.
        primary.execute(
            "UPDATE memwarden_data.metric_point SET taken_at = taken_at - interval '1 minute'"
        )
        late, state = measured()
        assert (late > 60, state) == (True, "ALERT")
        assert measured()[0] > late > first
        standby.execute("SELECT pg_wal_replay_resume()")
        pair.catch_up()
        assert measured()[0] < 10


def test_the_client_tells_the_primary_what_a_standby_gave(pair: Pair) -> None:
    """A standby records nothing; what is told afterwards is there once, and marked.

    Proves: Z4
    """
    with pair.primary.connect() as admin:
        count = "SELECT count(*) AS n FROM memwarden_data.recall_log"
        before = admin.execute(count).fetchall()
        with Client.connect(pair.standby.dsn(user=AGENT)) as memory:
            given = memory.recall("database 7", k=3, task="lunch")
            context = memory.context("database 7")
            nothing = memory.recall("heron", threshold=0.9)
            assert nothing == []
        assert admin.execute(count).fetchall() == before
    with Client.connect(pair.primary.dsn(user=AGENT)) as memory:
        recall_id = new_request_id()
        for _ in range(2):
            kept = memory.record_recall(
                given, query="database 7", task="lunch", recall_id=recall_id
            )
            assert kept == recall_id
        memory.record_recall(context.items, query="database 7", purpose="context", task="lunch")
        memory.record_recall(nothing, query="heron", task="lunch")
        found = memory.find_recalls(task="lunch")
        assert [recall.reported for recall in found] == [True] * 3
        assert {recall.purpose for recall in found} == {"recall", "context"}
        assert memory.report_outcome(kept, [given[0].item_id], "success") == 1
        (told,) = [recall for recall in found if recall.recall_id == kept]
        assert told.item_ids == [item.item_id for item in given]
    pair.catch_up()
    with Client.connect(pair.standby.dsn(user=AGENT)) as memory:
        assert len(memory.find_recalls(task="lunch")) == 3


@pytest.mark.parametrize("step", sorted(STEPS))
def test_a_session_goes_on_on_the_primary_alone(pair: Pair, step: str) -> None:
    """A standby says so, in words and by a code of its own, and no step ends half-way.

    Proves: L1, L9
    """
    call = STEPS[step].format(session=f"'{pair.session}'")
    with (
        psycopg.connect(pair.standby.dsn(user=AGENT), autocommit=True) as agent,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as raised,
    ):
        agent.execute(f"SELECT {call}")
    if step in OF_A_SESSION:
        assert raised.value.diag.message_primary == "sessions continue on the primary only"
        assert raised.value.diag.message_detail == f"session {pair.session}"
    assert "unlogged" not in str(raised.value)


def test_what_changes_memory_is_refused_on_a_standby(pair: Pair) -> None:
    """As PostgreSQL refuses it; the client has an error for it.

    Proves: L9
    """
    with Client.connect(pair.standby.dsn(user=AGENT)) as memory:
        with pytest.raises(WrongIsolation):
            memory.write("semantic", "Herons are grey")
        manager = MemoryManager(memory)
        with pytest.raises(MemwardenError) as raised:
            manager.task_start("rest")
        assert raised.value.sqlstate == "25006"
