"""Hours are counted until they can change no more, each request once, whoever counts how often."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest

from conftest import World
from helpers import write
from operations.metrics.conftest import History
from races import together


def counted(history: History) -> Counter[tuple[datetime, str, str]]:
    """How many writes of each hour, with which outcome and reason."""
    found: Counter[tuple[datetime, str, str]] = Counter()
    for row in history.rows("write_hour"):
        found[row["hour"], row["outcome"], row["reason"]] += row["writes"]
    return found


def recounted(history: History) -> Counter[tuple[datetime, str, str]]:
    """The same from the requests."""
    return Counter(
        (
            history.world.value(
                "SELECT date_trunc('hour', memwarden_internal.uuid7_time(%s), 'UTC')",
                row["request_id"],
            ),
            row["outcome"],
            row["reason"] or "-",
        )
        for row in history.rows("write_request")
    )


def move(history: History, request: UUID, back: timedelta) -> None:
    """As if a request had been asked for so long ago."""
    history.world.admin.execute("SET session_replication_role = replica")
    history.world.admin.execute(
        "UPDATE memwarden_data.write_request SET request_id ="
        "  overlay(request_id::text PLACING left(memwarden_internal.uuid7_floor("
        "    memwarden_internal.uuid7_time(request_id) - %s)::text, 13) FROM 1 FOR 13)::uuid"
        " WHERE request_id = %s",
        (back, request),
    )
    history.world.admin.execute("RESET session_replication_role")


def closed(world: World) -> list[bool]:
    """Of each counted hour, whether it is closed."""
    rows = world.rows("SELECT is_closed FROM memwarden_data.counted_hour ORDER BY hour")
    return [row["is_closed"] for row in rows]


def spread(history: History, *hours: int) -> Any:
    """An agent whose requests are so many hours old, one each."""
    agent = history.world.agent(f"/org/{history.org}/user/ana")
    for back in hours:
        row = write(agent, "episodic", f"walk {back}")
        move(history, row["request_id"], timedelta(hours=back))
    return agent


def test_every_hour_is_counted_as_it_is(history: History) -> None:
    """Also one that gets more later, since callers may choose a number of the last day.

    Proves: Q1
    """
    agent = spread(history, 0, 0, 3, 20, 50, 50, 400)
    history.measure()
    assert counted(history) == recounted(history)
    assert closed(history.world) == [True, True, False, False, False]
    move(history, write(agent, "episodic", "late")["request_id"], timedelta(hours=5))
    history.measure()
    assert counted(history) == recounted(history)


def test_what_waits_is_counted_again_when_it_is_decided(history: History) -> None:
    """However old the hour is, up to a month.

    Proves: Q1
    """
    agent = spread(history)
    history.world.admin.execute("UPDATE memwarden_data.layer SET rate_limit = 1")
    write(agent, "semantic", "one")
    waits = write(agent, "semantic", "two")
    assert waits["outcome"] == "DEFERRED"
    move(history, waits["request_id"], timedelta(hours=60))
    history.measure()
    assert sum(n for (_, outcome, _), n in counted(history).items() if outcome == "DEFERRED") == 1
    assert closed(history.world)[0] is False
    history.world.admin.execute("SET session_replication_role = replica")
    history.world.admin.execute(
        "UPDATE memwarden_data.write_request SET outcome = 'COMMITTED', reason = NULL"
        " WHERE outcome = 'DEFERRED'"
    )
    history.world.admin.execute("RESET session_replication_role")
    history.measure()
    assert counted(history) == recounted(history)
    assert closed(history.world)[0] is True


def test_a_closed_hour_is_counted_no_more(history: History) -> None:
    """Its requests may be gone: what was counted stays."""
    spread(history, 50, 30)
    history.measure()
    before = counted(history)
    history.world.admin.execute("SET session_replication_role = replica")
    history.world.admin.execute("DELETE FROM memwarden_data.write_request")
    history.world.admin.execute("RESET session_replication_role")
    history.measure()
    assert counted(history) == before


def test_two_that_count_at_once_count_once(history: History) -> None:
    """One waits for the other, and every hour is counted once."""
    spread(history, 0, 1, 2, 40)
    workers = [history.world.connect() for _ in range(3)]

    def count(number: int) -> None:
        after: str | None = None
        while True:
            row = (
                workers[number]
                .execute("SELECT memwarden_internal.metrics_step(%s) AS after", (after,))
                .fetchone()
            )
            assert row is not None
            after = row["after"]
            if after is None:
                return

    together([partial(count, n) for n in range(3)])
    assert counted(history) == recounted(history)
    points = history.world.value("SELECT count(*) FROM memwarden_data.metric_point")
    parts = history.world.value(
        "SELECT count(DISTINCT (org_id, metric, part)) FROM memwarden_data.metric_point"
    )
    assert points == parts


def test_a_killed_run_leaves_nothing_half_counted(history: History) -> None:
    """The next one begins where it was."""
    spread(history, 0, 3)
    worker = history.world.log_in("postgres", autocommit=False)
    worker.execute("SELECT memwarden_internal.metrics_step(NULL)")
    history.world.admin.execute("SELECT pg_terminate_backend(%s)", (worker.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        worker.execute("SELECT 1")
    assert counted(history) == Counter()
    history.measure()
    assert counted(history) == recounted(history)


def test_invented_layers_do_not_fill_the_counts(history: History) -> None:
    """Who writes to a hundred layers that do not exist is counted in one row."""
    agent = history.world.agent(f"/org/{history.org}/user/ana")
    for n in range(5):
        write(agent, f"layer{n}", "where to?")
    history.measure()
    rows = history.rows("write_hour")
    assert [(row["layer"], row["writes"]) for row in rows] == [("-", 5)]


def test_old_figures_go(history: History) -> None:
    """After four hundred days, with other records that are old."""
    spread(history, 24 * 500, 1)
    history.measure()
    assert len(counted(history)) == 2
    history.world.admin.execute("CALL memwarden.delete_old_records()")
    assert len(counted(history)) == 1


def test_days_are_the_sum_of_their_hours(history: History) -> None:
    """Also after an hour was counted anew."""
    agent = spread(history, 0, 1, 3, 20, 50)
    history.measure()
    write(agent, "episodic", "one more")
    history.measure()
    days: Counter[Any] = Counter()
    for row in history.rows("write_hour"):
        days[row["hour"].astimezone(UTC).date()] += row["writes"]
    found: Counter[Any] = Counter()
    for row in history.rows("write_day"):
        found[row["day"]] += row["writes"]
    assert found == days
