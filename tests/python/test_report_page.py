"""A report says what is bad first, hides no alert, and does not call unseen things well."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from memwarden.reporting.gathering import Report
from memwarden.reporting.page import body, page
from memwarden.results import Health, Job, Metric, WriteCount

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def report(**given: Any) -> Report:
    """Return a report of nothing but what is given."""
    nothing: dict[str, Any] = {
        name: []
        for name in ("health", "metrics", "trend", "writes", "latency", "reviews", "decisions")
    }
    rest = {"kind": "health", "made_at": NOW, "org": None, "days": 31, "jobs": None}
    return Report(**nothing | rest | {"storage": None, "waiting": 0} | given)


def health(org: str, score: float | None, **given: Any) -> Health:
    """Return the health of an organisation as of now."""
    state = "UNKNOWN" if score is None else "CRITICAL" if score < 0.6 else "HEALTHY"
    rest: dict[str, Any] = {
        "since": NOW,
        "measured": 1.0,
        "costs": [],
        "missing": [],
        "a_day_ago": None,
        "a_week_ago": None,
        "taken_at": NOW,
        "not_measured": [],
    }
    return Health(org=org, score=score, state=state, **rest | given)


def metric(name: str, part: str, state: str) -> Metric:
    """Return a metric in a state."""
    return Metric(
        metric=name,
        area="write",
        org="acme",
        part=part,
        value=0.99,
        unit="share",
        time_window="24 hours",
        events=9,
        healthy="at most 0.3",
        state=state,
        since=NOW,
        remedy="do something",
        meaning="",
        source="",
        taken_at=NOW,
        layer=None,
        agent_id=None,
        topic_domain=None,
    )


def job(name: str, state: str) -> Job:
    """Return a job in a state."""
    rest: dict[str, Any] = {f.name: None for f in fields(Job)}
    return Job(**rest | {"name": name, "state": state, "command": ""})


def test_the_worst_organisation_is_not_cut_off() -> None:
    """Of many, what is bad comes first, and what is not shown is counted."""
    unknown = [health(f"u{n}", None) for n in range(20)]
    said = body(report(health=[*unknown, health("fine", 0.95), health("burning", 0.1)]))
    assert said.index("<h2>burning") < said.index("<h2>u0")
    assert "<h2>fine" not in said
    assert "10 more organisations are not shown" in said


def test_an_alert_of_one_layer_is_shown() -> None:
    """Also where all layers together are well."""
    found = [metric("duplicate_rate", "*", "OK"), metric("duplicate_rate", "semantic", "ALERT")]
    said = body(report(metrics=found))
    assert "duplicate_rate of semantic (acme)" in said
    assert "All are well." not in said


def test_what_may_not_be_seen_is_not_called_well() -> None:
    """Nor is it called empty."""
    said = body(report(reviews=None))
    assert "Queues are for" in said
    assert "Nothing waits." not in said
    assert "All are well." not in said
    assert "All are well." in body(report(metrics=[metric("write_rate", "*", "OK")]))
    unused = body(report(metrics=[metric("recall_precision", "*", "NOT_MEASURED")]))
    assert "All are well." not in unused


def test_times_are_in_utc() -> None:
    """Also those that came as JSON, in the time zone of a session."""
    cost = {"metric": "recall_precision", "value": 0.1, "cost": 0.2}
    costs = [cost | {"since": "2026-06-30T01:30:00+02:00"}]
    assert "2026-06-29 23:30 UTC" in body(report(health=[health("acme", 0.5, costs=costs)]))


def test_old_figures_say_that_they_are_old() -> None:
    """A job that stopped is no good news."""
    old = health("acme", 0.9, taken_at=NOW - timedelta(hours=1))
    assert "measured at 2026-06-30 11:00 UTC" in body(report(health=[old]))
    never = health("acme", None, taken_at=None)
    assert "not measured for two hours" in body(report(health=[never]))


def test_a_quarter_says_which_gate_refused() -> None:
    """Proves: Q8 (refusals by gate and reason)."""
    writes = [WriteCount(outcome="REJECTED", gate="25_schema", reason="BAD_VALUE", writes=3)]
    assert "25_schema: bad value" in body(report(writes=writes, kind="governance"))
    assert "25_schema" not in body(report(writes=writes))


def test_few_is_not_none() -> None:
    """And nearly all is not all."""
    writes = [
        WriteCount(outcome=outcome, gate="-", reason="-", writes=writes)
        for outcome, writes in (("COMMITTED", 99_999), ("DEFERRED", 1))
    ]
    said = body(report(writes=writes))
    assert ">1 (under 1%)<" in said
    assert said.count(">99,999 (over 99%)<") == 2
    assert ">0 (0%)<" in said


def test_jobs_that_never_ran_are_one_sentence() -> None:
    """One that fails is a row."""
    jobs = [job("memwarden_seal", "failing"), job("memwarden_words", "never ran")]
    said = body(report(jobs=[*jobs, job("memwarden_gone", "on time")]))
    assert "1 never ran: words." in said
    assert "memwarden_seal</td>" in said
    assert "1 of 3 are well" in said


def test_older_writes_that_wait_are_told() -> None:
    """They are in no figure of since yesterday."""
    assert "4 older writes still wait" in body(report(waiting=4))


def test_hostile_names_are_words() -> None:
    """Of organisations, metrics and reasons, in the page and in the file."""
    writes = [WriteCount(outcome="REJECTED", gate=HOSTILE, reason=HOSTILE, writes=3)]
    said = page(
        report(
            org=HOSTILE,
            health=[health(HOSTILE, 0.5, missing=[HOSTILE])],
            metrics=[metric(HOSTILE, HOSTILE, "ALERT")],
            writes=writes,
            kind="governance",
        ),
        "",
    )
    assert "<img" not in said
    assert "\u202e" not in said
