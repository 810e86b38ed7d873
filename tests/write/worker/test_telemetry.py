"""Spans and metrics of the worker, read with OpenTelemetry's own SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from memwarden.telemetry import worker_span
from memwarden.worker import PluginError, Verdict
from write.worker.desk import new_plugin, require, run_worker

pytest.importorskip("opentelemetry.sdk", reason="the SDK is not installed (extra dev)")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from client.telemetry_desk import Telemetry, recording

if TYPE_CHECKING:
    from conftest import World

# What the client gives a write of an agent whose trace this is.
TRACE = "0af7651916cd43dd8448eb211c80319c"
CONTENT = '{"said": "gardenia"}'


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Return what the worker tells, from nothing."""
    yield from recording()


class Judge:
    """Accepts, or fails with words that nobody else may read, and keeps the span it ran in."""

    version = "1"

    def __init__(self, error: Exception | None = None) -> None:
        self.name = new_plugin()
        self.ran_in = 0
        self._error = error

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Judge."""
        del payload, settings
        self.ran_in = trace.get_current_span().get_span_context().span_id
        if self._error is not None:
            raise self._error
        return Verdict("accept")


def judged(
    world: World,
    role: str,
    org: str,
    agent: Connection[DictRow],
    judge: Judge,
    trace_id: str | None = None,
) -> DictRow:
    """Write what the judge is asked about, and have it judged."""
    require(world, judge.name, org=org)
    row = agent.execute(
        "SELECT * FROM memwarden.write('semantic', %s, trace_id => %s)", (CONTENT, trace_id)
    ).fetchone()
    assert row is not None
    assert row["reason"] == "AWAITING_VERDICT"
    run_worker(world, role, [judge])
    return row


def only(spans: list[ReadableSpan]) -> tuple[ReadableSpan, dict[str, Any]]:
    """Return the one span, and its attributes."""
    [span] = spans
    return span, dict(span.attributes or {})


def test_a_job_is_a_span_that_names_its_request(
    shared_world: World,
    worker_role: str,
    org: str,
    agent: Connection[DictRow],
    telemetry: Telemetry,
) -> None:
    """In the trace of the write, and inside it what the plug-in does. Proves: Q6."""
    judge = Judge()
    asked = judged(shared_world, worker_role, org, agent, judge, TRACE)
    span, said = only(telemetry.spans())
    assert trace.format_trace_id(span.context.trace_id) == TRACE
    assert (span.name, span.kind) == ("memwarden.job", SpanKind.CONSUMER)
    assert said["memwarden.request_id"] == str(asked["request_id"])
    assert said["memwarden.plugin"] == judge.name
    assert (said["memwarden.purpose"], said["memwarden.attempt"]) == ("gate", 1)
    assert said["memwarden.outcome"] == "accept"
    assert judge.ran_in == span.context.span_id
    [measured] = telemetry.points("memwarden.worker.duration")
    assert (measured["memwarden.operation"], measured.count) == ("job", 1)


@pytest.mark.parametrize("error", [PluginError("gardenia", permanent=True), ValueError("gardenia")])
def test_a_job_that_fails_says_so_without_a_message(
    shared_world: World,
    worker_role: str,
    org: str,
    agent: Connection[DictRow],
    telemetry: Telemetry,
    error: Exception,
) -> None:
    """Neither what was judged nor what the plug-in said about it."""
    judged(shared_world, worker_role, org, agent, Judge(error))
    span = telemetry.spans()[0]
    assert span.status.status_code is StatusCode.ERROR
    assert (span.status.description, list(span.events)) == (None, [])
    assert dict(span.attributes or {})["memwarden.outcome"] == "failed"
    assert "gardenia" not in telemetry.everything()


@pytest.mark.parametrize("trace_id", ["turn 7 of Ana", "0" * 32, "F" * 32, "f" * 33, ""])
def test_what_is_no_trace_of_opentelemetry_gives_a_trace_of_its_own(
    telemetry: Telemetry, trace_id: str
) -> None:
    """A writer may call its trace what it likes."""
    with worker_span("job", {}, trace_id):
        pass
    span, _ = only(telemetry.spans())
    assert span.context.is_valid
    assert span.parent is None
