"""How long writes take, as it was: what no gate did is no measurement, and what waited is apart."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from helpers import write, write_many
from operations.metrics.conftest import History, acme
from reviewing import ask, decide, reviewer
from shipped import Shipped

TIMED = {"05_identity", "08_canonical", "40_evidence", "50_duplicate"}
"""What a plain write times by itself."""


@pytest.fixture
def history(shipped: Shipped) -> History:
    """The organisation of a store as `memwarden init` leaves it."""
    return acme(shipped.world)


def trail(agent: Any, request_id: Any) -> dict[str, tuple[str, bool]]:
    """What is told of each gate: its decision, and whether it has a time."""
    row = agent.execute("SELECT gates FROM memwarden.request_status(%s)", (request_id,)).fetchone()
    return {each["gate"]: (each["decision"], each["us"] is not None) for each in row["gates"]}


def writer(history: History) -> Any:
    """An agent that has written before: the first write of each finds out on what terms."""
    agent = history.world.agent(f"/org/{history.org}/user/ana")
    write(agent, "episodic", "the sky is blue", subject="sky")
    return agent


@pytest.mark.every_version
def test_a_plain_write_says_that_it_was_decided_as_a_set(history: History) -> None:
    """Alone and in a batch; whoever passes the gates is told that they accepted, and their times.

    Proves: Q10
    """
    agent = writer(history)
    alone = write(agent, "episodic", "the lamp hangs in room 7")
    batch = write_many(
        agent,
        [
            {"layer": "episodic", "content": text}
            for text in ("Bob likes rugby", "Rome has seven hills")
        ],
    )
    for plain in (alone, *batch):
        said = trail(agent, plain["request_id"])
        assert "06_access" in said
        assert said == {gate: ("DECIDED_AS_SET", gate in TIMED) for gate in said}
    gated = write(agent, "episodic", "the door is green", subject="door")
    assert set(trail(agent, gated["request_id"]).values()) == {("ACCEPT", True)}
    counted = agent.execute(
        "SELECT decision, requests, p50_us FROM memwarden.gate_statistics WHERE gate = '06_access'"
    ).fetchall()
    told = {row["decision"]: (row["requests"], row["p50_us"] is None) for row in counted}
    assert told == {"DECIDED_AS_SET": (3, True), "ACCEPT": (2, False)}
    history.measure()
    rows = history.world.rows(
        "SELECT gate, requests FROM memwarden.gate_latency WHERE org = %s", history.org
    )
    shown = {row["gate"]: row["requests"] for row in rows}
    assert {gate: shown[gate] for gate in TIMED} == dict.fromkeys(TIMED, 5)
    assert {shown[gate] for gate in shown.keys() - TIMED} == {2}
    # Of what was kept before, too: erasing leaves the line as it is.
    history.world.admin.execute(
        "SELECT memwarden.erase_subject('x', 'asked for', '{lamp}', org => %s)", (history.org,)
    )
    assert trail(agent, alone["request_id"])["06_access"] == ("DECIDED_AS_SET", False)


def percentiles(times: list[timedelta]) -> list[float]:
    """The three that are shown, in milliseconds."""
    found = sorted(max(t / timedelta(milliseconds=1), 0.001) for t in times)
    return [found[math.ceil(share * len(found)) - 1] for share in (0.5, 0.95, 0.99)]


def test_a_whole_write_is_timed_by_layer_and_path(history: History) -> None:
    """From the call to the decision; what waited is apart, and in no sum.

    Proves: Q10
    """
    world, agent = history.world, writer(history)
    ana = reviewer(world, scope=f"/org/{history.org}")
    for n in range(3):
        write(agent, "episodic", f"walk number {n * 11}")
    write_many(
        agent,
        [
            {"layer": "episodic", "content": text}
            for text in ("Bob likes rugby", "Rome has seven hills")
        ],
    )
    write(agent, "episodic", "the door is green", subject="door")
    write(agent, "semantic", "no such thing", confidence=7)
    ask(world, "episodic", org="acme")
    kept, refused, waits = (
        write(agent, "episodic", text, subject=text[:3])
        for text in ("Ana likes tea", "Bob has a boat", "Cleo is in Rome")
    )
    assert waits["outcome"] == "DEFERRED", waits
    decide(ana, "approve", kept["request_id"], "so it is")
    decide(ana, "reject", refused["request_id"], "FACTUAL_ERROR")
    assert trail(agent, refused["request_id"])["80_approval"] == ("REJECT", False)
    history.measure()

    times: dict[tuple[str, str], list[timedelta]] = defaultdict(list)
    waited = {kept["request_id"]: "waited", refused["request_id"]: "waited"}
    waited[waits["request_id"]] = "deferred"
    for row in history.rows("write_request"):
        path = waited.get(row["request_id"]) or {"=": "alone", "+": "set"}.get(
            row["gates"][0], "gates"
        )
        for key in ((row["layer"], path), ("*", path), (row["layer"], "*"), ("*", "*")):
            if key[1] == path or path not in ("waited", "deferred"):
                times[key].append(row["decided_at"] - row["submitted_at"])
    assert {path for _, path in times} == {"alone", "set", "gates", "waited", "deferred", "*"}
    shown = world.rows("SELECT * FROM memwarden.write_latency WHERE org = %s", history.org)
    assert {(row["layer"], row["path"]): row["requests"] for row in shown} == {
        key: len(found) for key, found in times.items()
    }
    for row in shown:
        exact = percentiles(times[row["layer"], row["path"]])
        assert [row[f"p{p}_ms"] for p in (50, 95, 99)] == pytest.approx(exact, rel=0.1)
    for p in (50, 95, 99):
        points = history.points(f"write_latency_p{p}")
        assert points["*"] is not None
        assert points.keys() == {
            layer if path == "*" else f"{layer} {path}" for layer, path in times
        }


def test_times_are_true_within_a_transaction(history: History) -> None:
    """Each write begins behind the one before, whatever now() says; a batch begins with its call.

    Proves: Q10
    """
    world, agent = history.world, writer(history)
    with agent.transaction():
        for text in ("one lamp", "two chairs"):
            write(agent, "episodic", text)
        write(agent, "episodic", "three doors", subject="door")
        write_many(
            agent,
            [
                {"layer": "episodic", "content": text} | more
                for text, more in (
                    ("Bob likes rugby", {}),
                    ("Rome has seven hills", {}),
                    ("Ana drinks tea", {"subject": "Ana"}),
                )
            ],
        )
    rows = world.rows(
        "SELECT submitted_at, decided_at FROM memwarden_data.write_request"
        " WHERE org_id = %s ORDER BY decided_at",
        history.org_id,
    )
    rows = rows[1:]
    assert len(rows) == 6
    for row in rows:
        assert row["submitted_at"] < row["decided_at"]
    for before, after in pairwise(rows[:4]):
        assert before["decided_at"] < after["submitted_at"]
    assert len({row["submitted_at"] for row in rows[3:]}) == 1
