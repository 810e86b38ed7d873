"""Property: no batch whatsoever raises; every request is answered, in order, and recorded."""

from __future__ import annotations

from typing import Any

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import DictRow

from helpers import write_many

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["semantic", "now", "1 day", "NaN", "infinity", "working", "/global", "{1}"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "uri", "layer", ""]), children, max_size=3)
    ),
    max_leaves=4,
)
ARGUMENTS = [
    *("layer", "content", "content_text", "subject", "predicate", "scope", "confidence"),
    *("evidence", "embedding", "ttl", "deadline", "idempotency_key", "request_id", "kind"),
    *("importance", "valid_from", "valid_to", "embedding_model", "trace_id", "other"),
]


@settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        ANYTHING
        | st.dictionaries(st.sampled_from(ARGUMENTS), ANYTHING)
        | st.dictionaries(st.sampled_from(ARGUMENTS), ANYTHING).map(
            lambda request: {"content": {"text": "fine"}} | request | {"layer": "working"}
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_batch_whatsoever_raises(
    agent: psycopg.Connection[DictRow], requests: list[Any]
) -> None:
    """Any JSON as any argument: as many answers as requests, in order, each listed and recorded.

    Proves: W2, W8, V1
    """
    answers = write_many(agent, requests)
    assert [answer["ordinal"] for answer in answers] == list(range(len(requests)))
    listed = {
        (row["outcome"], row["reason"])
        for row in agent.execute("SELECT outcome, reason FROM memwarden.reasons()")
    } | {("COMMITTED", None), ("ALREADY_COMMITTED", None)}
    assert {(answer["outcome"], answer["reason"]) for answer in answers} <= listed
    assert "GATE_FAULT" not in {answer["reason"] for answer in answers}
    asked = {answer["request_id"] for answer in answers}
    recorded = agent.execute(
        "SELECT count(*) AS rows FROM memwarden.requests WHERE request_id = ANY (%s)",
        (list(asked),),
    )
    assert recorded.fetchall() == [{"rows": len(asked)}]
