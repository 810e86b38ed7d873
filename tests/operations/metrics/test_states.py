"""When a metric is well, who may set that, who is told, and what health makes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import World
from helpers import write
from operations.metrics.conftest import History, found

WEIGHTS = {
    "correctness_impact": 0.25,
    "recall_precision": 0.20,
    "leakage_rate": 0.20,
    "memory_error_rate": 0.15,
    "write_acceptance": 0.10,
}


def put(history: History, values: Mapping[str, float | None], hour: str = "0 hours") -> None:
    """Keep values as the job does."""
    rows = [{"metric": name, "part": "*", "value": value} for name, value in values.items()]
    history.world.admin.execute(
        "SELECT memwarden_internal.keep_points(%s, clock_timestamp() - %s::interval, %s::jsonb)",
        (history.org_id, hour, json.dumps(rows)),
    )


def state(history: History, metric: str) -> Any:
    """The state of a metric."""
    return history.world.value(
        "SELECT state FROM memwarden.metrics WHERE metric = %s AND org = %s AND part = '*'",
        metric,
        history.org,
    )


def health(history: History) -> Any:
    """The health by what is kept."""
    (row,) = history.world.rows(
        "SELECT * FROM memwarden_internal.health_of("
        "  %s, memwarden_internal.kept_points(%s, clock_timestamp()))",
        history.org_id,
        history.org_id,
    )
    return row


def normalized(name: str, value: float) -> float:
    """Between 0 and 1, as the page on metrics says."""
    made = {
        "correctness_impact": 0.5 + 2.5 * value,
        "recall_precision": value / 0.7,
        "leakage_rate": 1 - value / 0.1,
        "memory_error_rate": 1 - value / 0.02,
        "write_acceptance": min(value / 0.4, 1, (1 - value) / 0.2),
    }[name]
    return max(0.0, min(1.0, made))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.2, "ALERT"),
        (0.35, "WARNING"),
        (0.4, "OK"),
        (0.8, "OK"),
        (0.9, "WARNING"),
        (0.96, "ALERT"),
    ],
)
def test_a_value_outside_its_range_is_told(history: History, value: float, expected: str) -> None:
    """The acceptance of writes has both ends.

    Proves: Q1
    """
    put(history, {"write_acceptance": value})
    assert state(history, "write_acceptance") == expected


def test_what_nobody_measures_is_missing(history: History) -> None:
    """That is never good; what was measured, and there was nothing, is another thing.

    Proves: Q6
    """
    assert state(history, "recall_precision") == "MISSING_METRIC"
    put(history, {"recall_precision": 0.9}, hour="4 hours")
    assert state(history, "recall_precision") == "MISSING_METRIC"
    put(history, {"recall_precision": 0.9})
    assert state(history, "recall_precision") == "OK"
    history.measure()
    assert state(history, "recall_precision") == "NOT_MEASURED"


def test_since_when_it_is_so(history: History) -> None:
    """The state before does not count, and a new value in the same state changes nothing."""
    for value, hour in ((0.9, "9 hours"), (0.3, "5 hours"), (0.2, "3 hours"), (0.1, "0 hours")):
        put(history, {"recall_precision": value}, hour)
    age = history.world.value(
        "SELECT round(extract(epoch FROM clock_timestamp() - since) / 3600)::integer"
        "  FROM memwarden.metrics WHERE metric = 'recall_precision' AND org = %s",
        history.org,
    )
    assert age == 5


def test_whoever_listens_is_told_once(history: History) -> None:
    """Of an alert when it begins, and of a metric that stops."""
    listener = history.world.log_in("postgres")
    listener.execute("LISTEN memwarden_alert")
    put(history, {"recall_precision": 0.9})
    for _ in range(3):
        put(history, {"recall_precision": 0.1})
    put(history, {"recall_precision": None})
    told = [json.loads(notice.payload) for notice in listener.notifies(timeout=1)]
    assert told == [
        {"event": event, "metric": "recall_precision", "part": "*", "org": history.org}
        for event in ("METRIC_ALERT", "MISSING_METRIC")
    ]


def test_an_administrator_sets_what_is_healthy(history: History) -> None:
    """From the next run on; without ends, the documented range holds again."""
    admin = history.world.connect(history.world.role("memwarden_admin"))
    admin.execute("SELECT memwarden.set_metric_range('write_rate', high => 500)")
    put(history, {"write_rate": 400})
    assert state(history, "write_rate") == "OK"
    admin.execute("SELECT memwarden.set_metric_range('write_rate')")
    put(history, {"write_rate": 400})
    assert state(history, "write_rate") == "ALERT"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("'no such metric'", psycopg.errors.UndefinedObject),
        ("NULL", psycopg.errors.UndefinedObject),
        ("'write_rate', high => 'NaN'", psycopg.errors.InvalidParameterValue),
        ("'write_rate', low => '-Infinity'", psycopg.errors.InvalidParameterValue),
        ("'write_rate', low => 3, high => 2", psycopg.errors.InvalidParameterValue),
        ("'write_rate', high => 3, alert_high => 2", psycopg.errors.InvalidParameterValue),
    ],
)
def test_a_range_that_is_none_is_refused(
    world: World, arguments: str, error: type[psycopg.Error]
) -> None:
    """By name of the fault."""
    with pytest.raises(error):
        world.admin.execute(f"SELECT memwarden.set_metric_range({arguments})")


@pytest.fixture(scope="module")
def kept(shared_world: World) -> History:
    """An organisation whose values are overwritten time and again."""
    return found(shared_world)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "correctness_impact": st.floats(-1, 1, allow_subnormal=False),
            "recall_precision": st.floats(0, 1, allow_subnormal=False),
            "leakage_rate": st.floats(0, 1, allow_subnormal=False),
            "memory_error_rate": st.floats(0, 1, allow_subnormal=False),
            "write_acceptance": st.floats(0, 1, allow_subnormal=False),
        },
    )
)
def test_health_is_the_mean_of_what_has_data(kept: History, values: dict[str, float]) -> None:
    """With the weights of the source; of less than 0.3 of them nothing is said.

    Proves: Q5
    """
    put(kept, dict.fromkeys(WEIGHTS, None) | values)
    row = health(kept)
    weight = sum(WEIGHTS[name] for name in values)
    assert row["measured"] == pytest.approx(weight)
    if weight < 0.2999:
        assert row["score"] is None
    else:
        total = sum(WEIGHTS[name] * normalized(name, value) for name, value in values.items())
        assert row["score"] == pytest.approx(total / weight)


def test_health_says_what_costs_how_much(history: History) -> None:
    """The dearest first, with what has no data, and what it was a day ago.

    Proves: Q5
    """
    world = history.world
    put(history, {"health": 0.93}, hour="25 hours")
    values = {"correctness_impact": 0.0, "recall_precision": 0.35, "memory_error_rate": 0.0}
    put(history, values)
    history_health = "SELECT * FROM memwarden.health WHERE org = %s"
    write(world.agent(f"/org/{history.org}/user/ana"), "episodic", "a walk")
    put(history, {"health": health(history)["score"]})
    (row,) = world.rows(history_health, history.org)
    assert row["score"] == pytest.approx((0.25 * 0.5 + 0.2 * 0.5 + 0.15) / 0.6)
    assert (row["state"], row["a_day_ago"]) == ("DEGRADED", 0.93)
    costs = [(cost["metric"], round(cost["cost"], 3)) for cost in row["costs"]]
    assert costs == [
        ("correctness_impact", 0.208),
        ("recall_precision", 0.167),
        ("memory_error_rate", 0),
    ]
    assert sum(cost["cost"] for cost in row["costs"]) == pytest.approx(1 - row["score"])
    assert row["missing"] == ["leakage_rate", "operation", "write_acceptance"]


def test_the_page_lists_every_metric_as_it_is(world: World) -> None:
    """With unit, window and ranges.

    Proves: Q6
    """
    page = (Path(__file__).parents[3] / "docs/observe.md").read_text()
    listed = {
        cells[0].strip("`"): cells[1:5]
        for cells in (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in page.splitlines()
            if line.startswith("| `")
        )
        if len(cells) == 6
    }
    expected = {}
    for row in world.rows("SELECT * FROM memwarden_internal.metric_definitions()"):
        low, high = (None if row[end] is None else f"{row[end]:g}" for end in ("low", "high"))
        healthy = f"{low} to {high}" if low and high else None
        healthy = healthy or (low and f"at least {low}") or (high and f"at most {high}") or "-"
        ends = (("under", "alert_low"), ("over", "alert_high"))
        alerts = [f"{word} {row[name]:g}" for word, name in ends if row[name] is not None]
        expected[row["metric"]] = [
            row["unit"],
            row["time_window"],
            healthy,
            ", ".join(alerts) or "-",
        ]
    assert listed == expected
