"""What is not known is told apart from 0, from what is missing, and from what was never set up."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from conftest import World
from helpers import recall, write
from memwarden.cli.observing import _ending
from memwarden.results import GateAnswer
from operations.metrics.conftest import History, found
from plans import calls_of, plans_of, touched

ANSWER = "SELECT * FROM memwarden.health_gate(org => %s)"


def agent_of(history: History) -> Any:
    """Somebody who works there."""
    return history.world.agent(f"/org/{history.org}/user/ana")


def states(history: History) -> dict[str, str]:
    """The state of each metric as a whole."""
    rows = history.world.rows(
        "SELECT metric, state FROM memwarden.metrics WHERE org = %s AND part = '*'", history.org
    )
    return {row["metric"]: row["state"] for row in rows}


def answer(history: History) -> dict[str, Any]:
    """What the gate says."""
    (row,) = history.world.rows(ANSWER, history.org)
    return row


def report(agent: Any, times: int, outcome: str = "success", *, used: int = 1) -> None:
    """Ask, and say what came of it."""
    for _ in range(times):
        (row, *_) = recall(agent, query="lamp", k=1)
        agent.execute(
            "SELECT memwarden.report_outcome(%s, %s, %s, at_fault => %s)",
            (
                row["recall_id"],
                [row["item_id"]][:used],
                outcome,
                [row["item_id"]] if outcome == "failure" else [],
            ),
        )


@pytest.fixture(scope="module")
def places(shared_world: World) -> dict[str, History]:
    """Organisations in which nothing, or one thing, happened, measured once."""
    made = {
        name: found(shared_world)
        for name in ("nothing", "refused", "retries", "recall", "stopped", "ablation", "probe")
    }
    write(agent_of(made["refused"]), "semantic", "dim", confidence=7)
    again = agent_of(made["retries"])
    for n in range(5):
        write(again, "episodic", f"lamp {n} is {n * 7} years old", idempotency_key=str(n))
        for _ in range(4):
            write(again, "episodic", f"lamp {n} is {n * 7} years old", idempotency_key=str(n))
    for name in ("recall", "stopped"):
        recall(agent_of(made[name]), query="lamp")
    run = shared_world.admin.execute
    run(
        "INSERT INTO memwarden_data.recall_day (org_id, day, principal_id, purpose, layer,"
        " reported, rated, precision_sum, hits, judged, used) VALUES"
        " (%s, now()::date - 10, 1, '-', '*', 1, 1, 1, 1, 1, 1)",
        (made["stopped"].org_id,),
    )
    path = f"/org/{made['ablation'].org}/user/ana"
    run("SELECT memwarden.set_ablation(%s, share => 0.05)", (path,))
    run("UPDATE memwarden_data.ablation SET set_at = set_at - interval '8 days'")
    write(agent_of(made["probe"]), "episodic", "the lamp is lit")
    run(
        "INSERT INTO memwarden_data.probe (org_id, scope_id, name, query, k, principal_id,"
        " defined_at) SELECT i.org_id, i.scope_id, 'p', 'q', 3, i.principal_id,"
        " now() - interval '3 hours' FROM memwarden_data.item AS i WHERE i.org_id = %s",
        (made["probe"].org_id,),
    )
    made["nothing"].measure()
    return made


def test_where_nothing_happens_nothing_is_missing(places: dict[str, History]) -> None:
    """A share of nothing is not measured, and what is counted is a true 0.

    Proves: Q1, Q5
    """
    seen = states(places["nothing"])
    assert set(seen.values()) == {"OK", "NOT_MEASURED"}
    counts = ("write_rate", "sensitive_blocks", "contradictions", "memories")
    assert [places["nothing"].points(metric)["*"] for metric in counts] == [0, 0, 0, 0]
    for metric in ("write_acceptance", "lock_contention", "read_hit_ratio", "recall_precision"):
        assert (places["nothing"].points(metric)["*"], seen[metric]) == (None, "NOT_MEASURED")
    # There is no standby, no vector, no sweep and no person.
    assert places["nothing"].points("replication_lag") == {}
    for metric in ("growth_novelty", "leakage_rate", "reviewer_throughput", "promotion_accuracy"):
        assert seen[metric] == "NOT_MEASURED"
    row = answer(places["nothing"])
    assert (row["answer"], row["is_idle"], row["missing"]) == ("NOT_KNOWN", True, [])
    assert row["not_measured"] == [
        *("correctness_impact", "leakage_rate", "recall_precision", "memory_error_rate"),
        "write_acceptance",
    ]


def test_one_event_is_no_share(places: dict[str, History]) -> None:
    """One refused write is no gate that refuses all, one recall without an answer no poor recall.

    Proves: Q1
    """
    assert places["refused"].points("write_acceptance")["*"] == 0
    assert states(places["refused"])["write_acceptance"] == "NOT_MEASURED"
    assert places["recall"].points("read_hit_ratio")["*"] == 0
    assert states(places["recall"])["read_hit_ratio"] == "NOT_MEASURED"
    assert answer(places["recall"])["is_idle"] is False


def test_a_retry_is_no_write_of_its_own(places: dict[str, History]) -> None:
    """Twenty retries of five writes are five writes, none of which was known.

    Proves: Q1
    """
    rows = places["retries"].rows("write_request")
    assert sum(row["outcome"] == "ALREADY_COMMITTED" for row in rows) in (0, 20)
    assert places["retries"].points("duplicate_rate")["*"] == 0
    points = places["retries"].rows("metric_point")
    decided = {row["events"] for row in points if row["metric"] == "duplicate_rate"}
    assert decided == {5}
    assert states(places["retries"])["duplicate_rate"] == "OK"


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("stopped", "recall_precision"),
        ("ablation", "correctness_impact"),
        ("probe", "golden_recall"),
    ],
)
def test_what_was_set_up_and_gives_nothing_is_missing(
    places: dict[str, History], name: str, metric: str
) -> None:
    """And nothing else is.

    Proves: Q1, Q6
    """
    seen = states(places[name])
    assert {each for each, state in seen.items() if state == "MISSING_METRIC"} == {
        metric,
        *(("health",) if metric != "golden_recall" else ()),
    }


def test_what_is_healthy_follows_the_profile_of_the_organisation(shared_world: World) -> None:
    """Most writes are meant to pass where nobody demands evidence; an administrator's range holds.

    Proves: Q1
    """
    told = {}
    for profile in (None, "strict", "balanced", "open"):
        history = found(shared_world)
        shared_world.admin.execute(
            "SELECT memwarden.use_profile(%s, org => %s)", (profile, history.org)
        )
        point = [{"metric": "write_acceptance", "part": "*", "value": 0.979}]
        shared_world.admin.execute(
            "SELECT memwarden_internal.keep_points(%s, clock_timestamp(), %s::jsonb)",
            (history.org_id, json.dumps(point)),
        )
        (row,) = shared_world.rows(
            "SELECT m.state, m.healthy, p.normalized < 1 AS costs FROM memwarden.metrics AS m,"
            " memwarden_internal.health_parts("
            "   %s, memwarden_internal.kept_points(%s, clock_timestamp())) AS p"
            " WHERE m.org = %s AND m.metric = 'write_acceptance' AND p.metric = m.metric",
            history.org_id,
            history.org_id,
            history.org,
        )
        told[profile] = (row["state"], row["healthy"], row["costs"])
    strict = ("ALERT", "0.4 to 0.8", True)
    other = ("OK", "at least 0.4", False)
    # A bare setup() has the settings of strict.
    assert told == {None: strict, "strict": strict, "balanced": other, "open": other}


@pytest.fixture
def place(shared_world: World) -> History:
    """One more organisation, still empty."""
    return found(shared_world)


def test_measuring_by_hand_measures_what_was_measured_in_this_hour(place: History) -> None:
    """Also what the job reads once an hour, and recalls that no job has counted.

    Proves: Q1, Q5
    """
    agent = agent_of(place)
    write(agent, "episodic", "the lamp is lit")
    report(agent, 6)
    take = "CALL memwarden.take_metrics()"
    place.world.admin.execute(take)
    assert place.points("memory_error_rate")["*"] == 0
    assert place.points("recall_precision")["*"] == 1
    report(agent, 6, "failure", used=0)
    place.world.admin.execute(take)
    assert place.points("memory_error_rate")["*"] == 0.5
    assert place.points("recall_precision")["*"] == 0.5


def test_the_gate_waits_for_nobody_and_changes_nothing(place: History) -> None:
    """It sees reports that no job may count yet, in a transaction that only reads.

    Proves: Q5
    """
    agent, world = agent_of(place), place.world
    write(agent, "episodic", "the lamp is lit")
    holder = world.connect("postgres")
    holder.execute("BEGIN")
    holder.execute("SELECT pg_current_xact_id()")
    holder.execute("LOCK memwarden_data.counted_hour, memwarden_data.recall_count IN SHARE MODE")
    report(agent, 6)
    monitor = world.connect(world.role("memwarden_monitor"))
    monitor.execute("SET default_transaction_read_only = on")
    passed = monitor.execute(ANSWER, (place.org,)).fetchone()
    assert passed is not None
    assert (passed["answer"], passed["score"], passed["is_idle"]) == ("PASS", 1, False)
    report(agent, 6, "failure", used=0)
    failed = monitor.execute(ANSWER, (place.org,)).fetchone()
    assert failed is not None
    assert failed["answer"] == "FAIL"
    costs = {cost["metric"]: cost["value"] for cost in failed["costs"]}
    assert (costs["recall_precision"], costs["memory_error_rate"]) == (0.5, 0.5)
    holder.execute("ROLLBACK")
    assert place.rows("metric_point") == []


def test_the_gate_measures_only_what_it_judges_by(world: World) -> None:
    """No vectors are compared, no times read, nothing that no score counts; jobs are asked once.

    Each organisation costs the same, however many there are, in calls as in rows.
    Proves: Q5
    """
    monitor = world.role("memwarden_monitor")
    ask = "SELECT answer FROM memwarden.health_gate()"
    calls, rows = [], []
    for size in (1, 2, 3):
        found(world)
        calls.append(calls_of(world, monitor, ask))
        answers, nodes = plans_of(world, monitor, ask)
        assert len(answers) == size
        rows.append(sum(touched(node) for node in nodes if "Plans" not in node))
    judged = "consistency database effect erasures lag recalls reviews writes"
    made = {name.removeprefix("measure_") for name in calls[0] if name.startswith("measure_")}
    assert made == set(judged.split())
    grown = [
        {name: more[name] - fewer[name] for name in more if more[name] != fewer[name]}
        for fewer, more in pairwise(calls)
    ]
    assert grown[0] == grown[1]
    assert max(grown[0].values()) <= 15
    assert not {"job_states", "has_scheduler", "table_sizes"} & grown[0].keys()
    assert rows[2] - rows[1] == rows[1] - rows[0]


def test_what_is_missing_decides_nothing(place: History) -> None:
    """Who passes does so in either case, and so does who fails.

    Proves: Q5
    """
    agent, world = agent_of(place), place.world
    world.admin.execute(
        "SELECT memwarden.set_ablation(%s, share => 0.01)", (f"/org/{place.org}/user/ana",)
    )
    world.admin.execute("UPDATE memwarden_data.ablation SET set_at = set_at - interval '8 days'")
    world.admin.execute("UPDATE memwarden_data.ablation SET task = 'no such task'")
    write(agent, "episodic", "the lamp is lit")
    report(agent, 6)
    ask = "SELECT answer FROM memwarden.health_gate(%s, %s)"
    # 0.45 of the weight is known and good, 0.25 is missing.
    assert answer(place)["missing"] == ["correctness_impact"]
    assert world.value(ask, 0.6, place.org) == "PASS"
    assert world.value(ask, 0.7, place.org) == "NOT_KNOWN"
    report(agent, 12, "failure", used=0)
    assert world.value(ask, 0.9, place.org) == "FAIL"


def test_the_gate_counts_as_the_jobs_do(planted: History) -> None:
    """What it reads from requests and reports is what is counted of them.

    Proves: Q1, Q5
    """
    asked = {cost["metric"]: cost["value"] for cost in answer(planted)["costs"]}
    (kept,) = planted.world.rows("SELECT * FROM memwarden.health WHERE org = %s", planted.org)
    counted = {cost["metric"]: cost["value"] for cost in kept["costs"]}
    assert asked == pytest.approx(counted)
    live = "SELECT metric, part, value FROM memwarden_internal.measure_{}(%s, now(), {})"
    for name in ("writes", "recalls"):
        rows = [
            {
                (row["metric"], row["part"]): row["value"]
                for row in planted.world.rows(live.format(name, since), planted.org_id)
                if row["metric"] not in ("write_rate", "write_latency_p95")
            }
            for since in ("NULL", "'-infinity'")
        ]
        assert rows[0] == pytest.approx(rows[1])


def test_each_asks_the_gate_of_its_own(planted: History) -> None:
    """An auditor of its organisation, an agent of none; a least score is a number.

    Proves: Q5
    """
    world = planted.world
    other = found(world)
    ask = "SELECT org_name FROM memwarden.health_gate()"
    auditor = world.register(f"/org/{other.org}", groups=("memwarden_auditor",))
    rows = world.log_in(auditor).execute(ask).fetchall()
    assert [row["org_name"] for row in rows] == [other.org]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent_of(planted).execute(ask)
    for wrong in ("NULL", "'NaN'", "1.1"):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            world.admin.execute(f"SELECT * FROM memwarden.health_gate({wrong})")


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([("PASS", False)], 0),
        ([("PASS", False), ("NOT_KNOWN", True)], 0),
        ([("PASS", False), ("NOT_KNOWN", False)], 7),
        ([("PASS", False), ("NOT_KNOWN", False), ("FAIL", False)], 1),
        ([("NOT_KNOWN", True)], 7),
        ([], 7),
    ],
)
def test_an_organisation_without_traffic_stops_no_other(
    answers: list[tuple[str, bool]], code: int
) -> None:
    """Nor does it make the others pass.

    Proves: Q5
    """
    made = [
        GateAnswer(
            org=f"org{n}",
            answer=each,
            score=None,
            measured=0,
            is_idle=idle,
            costs=[],
            missing=[],
            not_measured=[],
        )
        for n, (each, idle) in enumerate(answers)
    ]
    assert _ending(made) == code
