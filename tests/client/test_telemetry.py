"""Spans and metrics of the client, read with OpenTelemetry's own SDK."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from memwarden import AsyncClient, Client, InvalidArgument, NotFound

pytest.importorskip("opentelemetry.sdk", reason="the SDK is not installed (extra dev)")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from client.telemetry_desk import Telemetry, recording

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[2]


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Return what the client tells, from nothing."""
    yield from recording()


def names(spans: list[ReadableSpan]) -> list[str]:
    """Return the names of spans in the order in which they ended."""
    return [each.name for each in spans]


def trace_of(world: World, request_id: UUID) -> str | None:
    """Return the trace id that a request has in the database."""
    found: str | None = world.value(
        "SELECT trace_id FROM memwarden_data.write_request WHERE request_id = %s", request_id
    )
    return found


def test_a_write_is_one_span_with_its_decision(memory: Client, telemetry: Telemetry) -> None:
    """By the names of the semantic conventions. Proves: Q6."""
    written = memory.write("semantic", {"drink": "tea"}, subject="Ana", predicate="likes")
    again = memory.write("semantic", {"drink": "TEA"}, subject="Ana", predicate="likes")
    first, second = telemetry.spans()
    assert (first.name, first.kind) == ("memwarden.write", SpanKind.CLIENT)
    assert dict(first.attributes or {}) == {
        "db.system.name": "postgresql",
        "db.operation.name": "write",
        "memwarden.layer": "semantic",
        "memwarden.outcome": "COMMITTED",
        "memwarden.request_id": str(written.request_id),
    }
    said = dict(second.attributes or {})
    assert said["memwarden.outcome"] == again.outcome == "REJECTED"
    assert said["memwarden.reason"] == again.reason
    assert said["memwarden.gate"] == again.gate
    assert second.status.status_code is StatusCode.UNSET, "a refusal is a result, not an error"


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_every_public_call_is_traced(client: type) -> None:
    """Whatever file its method stands in."""
    public = {name for name in dir(client) if name[0] != "_"} - {"close", "connect"}
    assert {name for name in public if not hasattr(getattr(client, name), "__wrapped__")} == set()


def test_a_call_is_named_after_its_method(memory: Client, telemetry: Telemetry) -> None:
    """Also one that asks the server twice, which is one span all the same."""
    memory.recall("tea")
    memory.context("tea")
    memory.history(uuid4())
    memory.whoami()
    assert names(telemetry.spans()) == [
        *("memwarden.recall", "memwarden.context", "memwarden.history", "memwarden.whoami")
    ]


def test_a_write_carries_the_trace_of_its_caller(
    memory: Client, telemetry: Telemetry, world: World
) -> None:
    """One write is followed from the agent to its gates. Proves: Q6."""
    with telemetry.tracer.start_as_current_span("agent turn") as turn:
        trace_id = format_trace_id(turn.get_span_context().trace_id)
        one = memory.write("semantic", {"first": 1})
        [many] = memory.write_many([{"layer": "semantic", "content": {"second": 2}}])
        own = memory.write("semantic", {"third": 3}, trace_id="task-7")
        [all_] = memory.write_all([{"layer": "semantic", "content": {"fourth": 4}}])
    assert [trace_of(world, each.request_id) for each in (one, many, own, all_)] == [
        *(trace_id, trace_id, "task-7", trace_id)
    ]
    assert {format_trace_id(each.context.trace_id) for each in telemetry.spans()} == {trace_id}


def test_without_a_caller_s_span_the_write_carries_its_own(
    memory: Client, telemetry: Telemetry, world: World
) -> None:
    """So that the span and the request find each other all the same."""
    written = memory.write("semantic", {"first": 1})
    [span] = telemetry.spans()
    assert trace_of(world, written.request_id) == format_trace_id(span.context.trace_id)


def test_an_error_is_recorded_with_its_sqlstate(memory: Client, telemetry: Telemetry) -> None:
    """And without its message, its causes or its stack."""
    with pytest.raises(NotFound):
        memory.retract(uuid4(), "because of the wedding")
    with pytest.raises(InvalidArgument):
        memory.recall("tea", k=-1)
    first, second = telemetry.spans()
    assert first.status.status_code is second.status.status_code is StatusCode.ERROR
    assert (first.status.description, list(first.events)) == (None, [])
    said = dict(first.attributes or {})
    assert (said["error.type"], said["db.response.status_code"]) == ("NotFound", "42704")
    assert dict(second.attributes or {})["db.response.status_code"].startswith("22")  # type: ignore[union-attr]


def test_many_writes_say_what_they_have_in_common(memory: Client, telemetry: Telemetry) -> None:
    """How many they were, and the outcome where it is one."""
    memory.write_many([{"layer": "semantic", "content": {"n": n}} for n in range(3)])
    [span] = telemetry.spans()
    said = dict(span.attributes or {})
    assert said["db.operation.batch.size"] == 3
    assert said["memwarden.outcome"] == "COMMITTED"


def test_an_iterator_is_a_span_that_is_current_only_inside(
    memory: Client, telemetry: Telemetry
) -> None:
    """What the caller does between two results belongs to the caller, also when it stops early."""
    results = memory.write_all({"layer": "semantic", "content": {"n": n}} for n in range(3))
    next(results)
    with telemetry.tracer.start_as_current_span("between"):
        pass
    results.close()  # type: ignore[attr-defined]
    between, writing = telemetry.spans()
    assert (between.name, between.parent) == ("between", None)
    assert writing.name == "memwarden.write_all"
    assert writing.status.status_code is StatusCode.UNSET


def test_durations_and_outcomes_are_measured(memory: Client, telemetry: Telemetry) -> None:
    """In seconds, by call; and decisions by outcome, reason and gate. Proves: Q6."""
    memory.write("semantic", {"drink": "tea"}, subject="Ana", predicate="likes")
    memory.write("semantic", {"drink": "TEA"}, subject="Ana", predicate="likes")
    memory.recall("tea")
    durations = telemetry.points("memwarden.client.duration")
    assert {each["db.operation.name"]: each.count for each in durations} == {
        "write": 2,
        "recall": 1,
    }
    assert all(0 < each.sum < 60 for each in durations)
    counted = telemetry.points("memwarden.client.outcomes")
    assert {each["memwarden.outcome"]: each.value for each in counted} == {
        "COMMITTED": 1,
        "REJECTED": 1,
    }


def test_the_asynchronous_client_has_the_same_spans(agent_dsn: str, telemetry: Telemetry) -> None:
    """Two calls at once keep their own."""

    async def calls() -> None:
        async with await AsyncClient.connect(agent_dsn) as memory:
            await asyncio.gather(memory.write("semantic", {"first": 1}), memory.recall("tea"))
            async for _ in memory.write_all([{"layer": "semantic", "content": {"n": 1}}]):
                pass

    asyncio.run(calls())
    spans = telemetry.spans()
    assert sorted(names(spans)) == ["memwarden.recall", "memwarden.write", "memwarden.write_all"]
    assert {each.parent for each in spans} == {None}


SECRETS = ("gardenia", "Xanthippe", "whispers", "quixotic", "zeppelin", "heliotrope")


def test_no_attribute_has_a_word_of_what_is_remembered(
    memory: Client, telemetry: Telemetry
) -> None:
    """Neither content, query, subject, predicate, nor reasons in the words of a person."""
    word, subject, predicate, query, why, layer = SECRETS
    written = memory.write("semantic", {"said": word}, subject=subject, predicate=predicate)
    memory.write("semantic", {"said": word}, subject=subject, predicate=predicate)
    memory.write(f"{layer.title()} is no layer", {"said": word})
    memory.write_many([{"layer": "semantic", "content": {"said": word}, "subject": subject}])
    memory.recall(query, subject=subject)
    memory.context(query)
    memory.find_items(subject)
    assert written.item_id is not None
    memory.annotate(written.item_id, "doubted", why)
    memory.retract(written.item_id, why)
    memory.history(written.item_id)
    with pytest.raises(InvalidArgument):
        memory.recall(query, k=-1, subject=subject)
    told = telemetry.everything().lower()
    assert "memwarden.retract" in told
    assert [each for each in SECRETS if each.lower() in told] == []
    identity = memory.whoami()
    assert identity.agent.lower() not in told


PROGRAM = """
import sys
sys.modules["opentelemetry"] = None  # an import of it fails
import memwarden
from memwarden import telemetry
assert not telemetry.AVAILABLE
assert "__wrapped__" not in vars(memwarden.Client.write)
with memwarden.connect(sys.argv[1]) as memory:
    print(memory.write("semantic", {"drink": "tea"}).outcome, len(memory.recall("tea")))
with telemetry.worker_span("job", {}):
    telemetry.say("accept")
"""


def test_the_client_works_without_opentelemetry(agent_dsn: str) -> None:
    """Its calls are then those that are written down, with nothing around them."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, agent_dsn],
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'python_client'}:{ROOT / 'plpython'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "COMMITTED 1\n", ran.stderr


def test_without_an_sdk_nothing_is_told(memory: Client, world: World) -> None:
    """And a write has no trace of its own making."""
    written: Any = memory.write("semantic", {"drink": "tea"})
    assert trace_of(world, written.request_id) is None


CONFIGURED = """
import sys
from opentelemetry import metrics, trace
from opentelemetry.sdk.{kind} import {provider}
import memwarden
from memwarden import telemetry
before = telemetry.has_sdk()
{kind}.set_{setter}_provider({provider}())
print(before, telemetry.has_sdk())
"""


@pytest.mark.parametrize(
    ("kind", "provider", "setter"),
    [("trace", "TracerProvider", "tracer"), ("metrics", "MeterProvider", "meter")],
)
def test_an_sdk_is_noticed_whenever_it_is_configured(kind: str, provider: str, setter: str) -> None:
    """Also after the client was imported, and where it is only for spans or only for metrics."""
    ran = subprocess.run(
        [
            *(sys.executable, "-W", "error", "-c"),
            CONFIGURED.format(kind=kind, provider=provider, setter=setter),
        ],
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'python_client'}:{ROOT / 'plpython'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "False True\n", ran.stderr
