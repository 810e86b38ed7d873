"""Each metric is what plain Python makes of the same rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from operations.metrics.conftest import History

Parts = dict[str, float]
KNOWN = ("EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "SEMANTIC_DUPLICATE")


def requests(history: History) -> list[dict[str, Any]]:
    """What was asked for, with layers that exist."""
    layers = {row["layer"] for row in history.world.rows("SELECT layer FROM memwarden_data.layer")}
    rows = [row for row in history.rows("write_request") if row["act"] is None]
    for row in rows:
        row["layer"] = row["layer"] if row["layer"] in layers else "-"
    return rows


def shares(rows: list[dict[str, Any]], counts: Callable[[dict[str, Any]], bool]) -> Parts:
    """The share of the rows that count, of all and by layer."""
    parts: dict[str, list[bool]] = {}
    for row in rows:
        for part in ("*", row["layer"]):
            parts.setdefault(part, []).append(counts(row))
    return {part: sum(found) / len(found) for part, found in parts.items()}


def decided(history: History) -> list[dict[str, Any]]:
    """What no longer waits."""
    return [row for row in requests(history) if row["outcome"] != "DEFERRED"]


def acceptance(history: History) -> Parts:
    """Committed of decided, of the layers that last."""
    rows = [row for row in decided(history) if row["layer"] in ("semantic", "procedural")]
    return shares(rows, lambda row: row["outcome"] == "COMMITTED")


def duplicates(history: History) -> Parts:
    """Known of decided."""
    return shares(
        decided(history),
        lambda row: row["outcome"] in ("MERGED", "ALREADY_COMMITTED") or row["reason"] in KNOWN,
    )


def blocks(history: History) -> Parts:
    """Refused for secrets."""
    return {"*": sum(row["reason"] == "SENSITIVE_CONTENT" for row in requests(history))}


def contradictions(history: History) -> Parts:
    """Found when writing, however they ended."""
    asked = ("CONTRADICTION", "CONTRADICTION_REVIEW")
    refused = sum(row["reason"] in asked for row in requests(history))
    return {"*": refused + len(history.rows("dispute")) // 2}


def contention(history: History) -> Parts:
    """Tried again, or behind a busy scope."""
    rows = requests(history)
    late = [row["attempt"] > 1 or row["reason"] == "SCOPE_BUSY" for row in rows]
    return {"*": sum(late) / len(rows)}


def precision(history: History) -> Parts:
    """The mean share of what was given that was used."""
    used = {row["recall_id"]: len(row["used"]) for row in history.rows("recall_outcome")}
    rated = [
        used[row["recall_id"]] / len(row["item_ids"])
        for row in history.rows("recall_log")
        if row["recall_id"] in used and row["item_ids"]
    ]
    return {"*": sum(rated) / len(rated)}


def hits(history: History) -> Parts:
    """Recalls that gave something."""
    rows = history.rows("recall_log")
    return {"*": sum(bool(row["item_ids"]) for row in rows) / len(rows)}


def stale(history: History) -> Parts:
    """Given in doubt."""
    rows = history.rows("recall_log")
    given = sum(len(row["item_ids"]) for row in rows)
    return {"*": sum(len(row["doubtful"] or ()) for row in rows) / given}


def memories(history: History) -> Parts:
    """Current ones."""
    found = Counter(row["layer"] for row in history.rows("item") if row["status"] == "ACTIVE")
    return {"*": float(found.total())} | {layer: float(n) for layer, n in found.items()}


def accuracy(history: History) -> Parts:
    """Right among audited."""
    verdicts = [row["verdict"] for row in history.rows("audit_sample")]
    return {"*": verdicts.count("right") / len(verdicts)}


def backlog(history: History) -> Parts:
    """Pairs that nobody settled."""
    open_ = [row for row in history.rows("dispute") if row["settled_at"] is None]
    return {"*": float(len(open_) // 2)}


def written_back(history: History) -> Parts:
    """Found by later rules."""
    found = [row for row in history.rows("sensitivity_scan") if row["sensitivity"] == "high"]
    return {"*": float(len(found))}


def probes(history: History) -> Parts:
    """The share of probes that passed when they ran last."""
    last: dict[int, dict[str, Any]] = {}
    for row in sorted(history.rows("probe_run"), key=lambda row: row["ran_at"]):
        last[row["probe_id"]] = row
    return {"*": sum(row["passed"] for row in last.values()) / len(last)}


def throughput(history: History) -> Parts:
    """Decisions of people, by person and day on which they decided."""
    days = Counter(
        (row["principal_id"], row["at"].astimezone(UTC).date())
        for row in history.rows("review_event")
    )
    return {"*": days.total() / len(days)}


def adoption(history: History) -> Parts:
    """Corrections on which something rests."""
    built_on = {row["source_version_id"] for row in history.rows("derivation")}
    found = [row["version_id"] in built_on for row in history.rows("signal")]
    return {"*": sum(found) / len(found)}


def rate(history: History) -> Parts:
    """Writes a minute since the last full hour but one."""
    (row,) = history.world.rows(
        "SELECT taken_at FROM memwarden.metrics WHERE metric = 'write_rate' AND org = %s",
        history.org,
    )
    taken = row["taken_at"].astimezone(UTC)
    since = taken.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    return {"*": len(requests(history)) / ((taken - since).total_seconds() / 60)}


EXPECTED: dict[str, Callable[[History], Parts]] = {
    "write_acceptance": acceptance,
    "duplicate_rate": duplicates,
    "sensitive_blocks": blocks,
    "contradictions": contradictions,
    "lock_contention": contention,
    "recall_precision": precision,
    "read_hit_ratio": hits,
    "stale_share": stale,
    "memories": memories,
    "promotion_accuracy": accuracy,
    "contradiction_backlog": backlog,
    "personal_write_back": written_back,
    "consistency_violations": lambda _: {"*": 0.0},
    "collection_balance": lambda _: {"*": 0.0},
    "scopes_per_user": lambda _: {"*": 0.0},
    "review_oldest_hours": lambda _: {"*": 0.0},
    "golden_recall": probes,
    "reviewer_throughput": throughput,
    "correction_adoption": adoption,
    "write_rate": rate,
}


@pytest.mark.parametrize("metric", EXPECTED)
def test_a_metric_is_what_its_rows_say(planted: History, metric: str) -> None:
    """By part, of an organisation beside others.

    Proves: Q1, Q4, Q7
    """
    expected, found = EXPECTED[metric](planted), planted.points(metric)
    if expected.keys() == {"*"}:
        # What is of a layer or an agent is looked at elsewhere.
        found = {"*": found["*"]}
    assert found == pytest.approx(expected)


def test_the_history_has_something_in_it(planted: History) -> None:
    """A share of nothing would be equal to anything."""
    outcomes = {row["outcome"] for row in requests(planted)}
    assert {"COMMITTED", "REJECTED", "DEADLINE_EXCEEDED"} <= outcomes
    assert planted.points("duplicate_rate")["semantic"] == pytest.approx(3 / 11)
    assert planted.points("sensitive_blocks") == {"*": 2}
    assert 0 < precision(planted)["*"] < 1
    assert 0 < hits(planted)["*"] < 1


def test_the_time_of_a_gate_is_that_of_its_requests(planted: History) -> None:
    """Within a bucket, a fifth of it.

    Proves: Q1
    """
    times: dict[str, list[int]] = {}
    for row in planted.world.rows(
        "SELECT memwarden_internal.gates_of(gates) AS gates FROM memwarden_data.write_request"
        " WHERE org_id = %s",
        planted.org_id,
    ):
        for entry in row["gates"]:
            if entry["us"] is not None:
                times.setdefault(entry["gate"], []).append(max(entry["us"], 1))
    shown = {
        row["gate"]: row
        for row in planted.world.rows(
            "SELECT * FROM memwarden.gate_latency WHERE org = %s", planted.org
        )
    }
    assert shown.keys() == times.keys()
    for gate, found in times.items():
        found.sort()
        assert shown[gate]["requests"] == len(found)
        for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99)):
            exact = found[math.ceil(share * len(found)) - 1] / 1000
            assert shown[gate][name] == pytest.approx(exact, rel=0.1)


def test_reasons_are_counted(planted: History) -> None:
    """Why writes were refused, and what share each reason has.

    Proves: Q1
    """
    refused = [
        row for row in requests(planted) if row["outcome"] in ("REJECTED", "DEADLINE_EXCEEDED")
    ]
    expected = Counter((row["layer"], row["gate"], row["reason"]) for row in refused)
    shown = planted.world.rows(
        "SELECT * FROM memwarden.rejection_reasons WHERE org = %s", planted.org
    )
    assert {(row["layer"], row["gate"], row["reason"]): row["writes"] for row in shown} == expected
    assert sum(row["share"] for row in shown) == pytest.approx(1)


def test_how_stale_memories_are(planted: History) -> None:
    """The median and the 95th percentile of what explain_relevance() says of each.

    Proves: Q7
    """
    scores = sorted(
        row["staleness"]
        for row in planted.world.rows(
            "SELECT r.staleness FROM memwarden_internal.relevance_of(%s, ARRAY("
            "  SELECT item_id FROM memwarden_data.item"
            "   WHERE org_id = %s AND status = 'ACTIVE')) AS r",
            planted.org_id,
            planted.org_id,
        )
    )
    for metric, share in (("staleness_p50", 0.5), ("staleness_p95", 0.95)):
        place = share * (len(scores) - 1)
        low, high = scores[math.floor(place)], scores[math.ceil(place)]
        exact = low + (high - low) * (place - math.floor(place))
        assert planted.points(metric)["*"] == pytest.approx(exact, abs=1e-4)


def test_an_erasure_that_waits_is_as_old_as_its_request(planted: History) -> None:
    """And is an alert after three days.

    Proves: Q4
    """
    assert planted.points("erasure_hours")["*"] == pytest.approx(5, abs=0.1)


def test_what_the_server_does(planted: History) -> None:
    """Jobs, seals and bytes are the database's, and standbys are told where there are any.

    Proves: Q4
    """
    world = planted.world
    found = {
        row["metric"]: row["value"]
        for row in world.rows("SELECT metric, value FROM memwarden.metrics WHERE area = 'database'")
    }
    assert found.keys() == {"jobs_in_trouble", "seal_lag", "store_bytes"}
    oldest = world.value("SELECT min(recorded_at) FROM memwarden_data.log")
    assert 0 <= found["seal_lag"] <= (datetime.now(UTC) - oldest).total_seconds()
    assert found["store_bytes"] > 1_000_000
    troubled = world.value(
        "SELECT count(*) FROM memwarden.jobs WHERE state IN ('late', 'stuck', 'failing')"
    )
    assert found["jobs_in_trouble"] == troubled


def test_what_is_said_again_and_again_is_no_novelty(history: History) -> None:
    """Of each layer, and of each agent in it.

    Proves: X1
    """
    world, home = history.world, f"/org/{history.org}/user/ana"
    parrot, author = world.agent(home), world.agent(home)
    said = ["blue", "lamp", "hall", "old", "mill", "tower"]
    for n in range(6):
        text = " ".join(said[n:] + said[:n])
        parrot.execute("SELECT memwarden.write('episodic', to_jsonb(%s::text))", (text,))
    words = ["granite", "herring", "violin", "monsoon", "ledger", "orchid"]
    for n, word in enumerate(words):
        text = f"{word} {word[::-1]} {n * 17}"
        author.execute("SELECT memwarden.write('episodic', to_jsonb(%s::text))", (text,))
    history.measure()
    names = world.rows("SELECT principal_id, name FROM memwarden_data.principal")
    written = {row["principal_id"] for row in history.rows("item")}
    found = history.points("growth_novelty")
    by_agent = [found[f"episodic {row['name']}"] for row in names if row["principal_id"] in written]
    assert by_agent == pytest.approx([1 / 6, 1])
    assert found["episodic"] == pytest.approx(7 / 12)
