"""Spans and metrics of the client and the worker, for programs that use OpenTelemetry.

Without the package `opentelemetry-api` (the extra `otel`) nothing here does anything. With it, the
SDK of the program decides where spans and metrics go, if anywhere. A span has no content, no query,
no subject and no name of a person: only the name of the call, and what the gates decided.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from memwarden.errors import MemwardenError
from memwarden.results import RequestStatus, WriteResult

try:
    from opentelemetry import metrics, trace
    from opentelemetry.context import Context
except ImportError:
    AVAILABLE = False
else:
    AVAILABLE = True

ClassT = TypeVar("ClassT", bound=type)

# Seconds, as the semantic conventions advise for calls of a database.
_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
# They open and close, and call nothing.
_SILENT = frozenset(("close", "connect"))
# A layer is what a caller says. Only what can be a name is told, and never a sentence.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")

# As the client writes it: what else a writer may call a trace is no trace of OpenTelemetry.
_TRACE = re.compile(r"[0-9a-f]{32}")

_API = ("opentelemetry.trace", "opentelemetry.metrics")

if AVAILABLE:
    _tracer = trace.get_tracer("memwarden")
    _meter = metrics.get_meter("memwarden")
    _client_duration = _meter.create_histogram(
        "memwarden.client.duration",
        unit="s",
        description="Duration of the client's calls.",
        explicit_bucket_boundaries_advisory=_BUCKETS,
    )
    _outcomes = _meter.create_counter(
        "memwarden.client.outcomes",
        unit="{request}",
        description="Write requests, by what the gates decided.",
    )
    _worker_duration = _meter.create_histogram(
        "memwarden.worker.duration",
        unit="s",
        description="Duration of the worker's jobs, notices and batches of embeddings.",
        explicit_bucket_boundaries_advisory=(*_BUCKETS, 60.0, 300.0),
    )


def traced(client: ClassT) -> ClassT:
    """Give each public call of a client a span. Without OpenTelemetry the class stays as it is."""
    if AVAILABLE:
        for name in dir(client):
            call = inspect.getattr_static(client, name)
            if inspect.isfunction(call) and name[0] != "_" and name not in _SILENT:
                setattr(client, name, _traced_call(name, call))
    return client


def has_sdk() -> bool:
    """Whether anybody configured where spans or metrics go; the API's own providers drop them."""
    providers = (trace.get_tracer_provider(), metrics.get_meter_provider())
    return any(not type(each).__module__.startswith(_API) for each in providers)


def current_trace_id() -> str | None:
    """Return the id of the current trace in 32 hexadecimal digits, None where there is none."""
    if not AVAILABLE:
        return None
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else None


@contextmanager
def worker_span(
    name: str, attributes: Mapping[str, str | int], trace_id: str | None = None
) -> Iterator[None]:
    """Give what a worker does a span of its own; `say` adds to it how it ended.

    `trace_id` is that of the write that the worker judges: the span belongs to the same trace.
    """
    if not AVAILABLE or not has_sdk():
        yield
        return
    began = time.perf_counter()
    labels = {"memwarden.operation": name}
    span = _tracer.start_span(
        f"memwarden.{name}",
        context=_remote(trace_id),
        kind=trace.SpanKind.CONSUMER,
        attributes=dict(attributes),
    )
    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield
    except BaseException as error:
        labels |= _failed(span, error)
        raise
    finally:
        span.end()
        _worker_duration.record(time.perf_counter() - began, labels)


def _remote(trace_id: str | None) -> Context | None:
    """Return a context in a trace; None where a writer's trace id is none of OpenTelemetry's."""
    if trace_id is None or not _TRACE.fullmatch(trace_id) or not int(trace_id, 16):
        return None
    # The server keeps no id of the span that wrote. The first half of the trace's stands for it.
    span_id = int(trace_id[:16], 16) or 1
    sampled = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    parent = trace.SpanContext(int(trace_id, 16), span_id, is_remote=True, trace_flags=sampled)
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())


def say(outcome: str, *, failed: bool = False) -> None:
    """Say of the current span how it ended: a decision or a state, never a message."""
    if AVAILABLE:
        span = trace.get_current_span()
        span.set_attribute("memwarden.outcome", outcome)
        if failed:
            span.set_status(trace.StatusCode.ERROR)


class _Call:
    """The span of one call, which is current only while the call itself is at work."""

    def __init__(self, name: str, layer: object) -> None:
        self._began = time.perf_counter()
        self._labels = {"db.system.name": "postgresql", "db.operation.name": name}
        self._span = _tracer.start_span(
            f"memwarden.{name}", kind=trace.SpanKind.CLIENT, attributes=self._labels
        )
        if isinstance(layer, str) and _NAME.fullmatch(layer):
            self._span.set_attribute("memwarden.layer", layer)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the span current for one step of the call."""
        try:
            # A recorded exception would bring its message and its causes, as the server wrote them.
            with trace.use_span(self._span, record_exception=False, set_status_on_exception=False):
                yield
        except (StopIteration, StopAsyncIteration, GeneratorExit):
            raise
        except BaseException as error:
            self._labels |= _failed(self._span, error)
            raise

    def end(self) -> None:
        """End the span, and record how long the call took."""
        self._span.end()
        _client_duration.record(time.perf_counter() - self._began, self._labels)

    def counted(self, part: object) -> None:
        """Count one decision of many that come one by one."""
        if isinstance(part, WriteResult):
            _outcomes.add(1, self._labels | _decision(part))

    def answered(self, answer: object) -> None:
        """Add what the gates decided. Many decisions are on the span where all are the same."""
        decided: list[Any] = answer if isinstance(answer, list) else [answer]
        if not decided or not isinstance(decided[0], WriteResult | RequestStatus):
            return
        for each in decided:
            self.counted(each)
        if not self._span.is_recording():
            return
        common = set.intersection(*(set(_decision(each).items()) for each in decided))
        self._span.set_attributes(dict(common))
        if isinstance(answer, list):
            self._span.set_attribute("db.operation.batch.size", len(answer))
        else:
            self._span.set_attribute("memwarden.request_id", str(decided[0].request_id))


def _decision(result: WriteResult | RequestStatus) -> dict[str, str]:
    said = {"outcome": result.outcome, "reason": result.reason, "gate": result.gate}
    return {f"memwarden.{name}": each for name, each in said.items() if each is not None}


def _failed(span: trace.Span, error: BaseException) -> dict[str, str]:
    """Mark a span as failed, and return the class of the error and its SQLSTATE."""
    labels = {"error.type": type(error).__name__}
    if isinstance(error, MemwardenError) and error.sqlstate is not None:
        labels["db.response.status_code"] = error.sqlstate
    span.set_attributes(labels)
    span.set_status(trace.StatusCode.ERROR)
    return labels


def _traced_call(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call with a span around it. An iterator's span ends when the iterator does."""
    names = list(inspect.signature(call).parameters)
    place = names.index("layer") if "layer" in names else None

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        here = place is not None and place < len(args)
        return _Call(name, args[place] if here and place is not None else kwargs.get("layer"))

    @wraps(call)
    async def steps_async(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        span, parts = begin(args, kwargs), call(*args, **kwargs)
        try:
            while True:
                with span.current():
                    try:
                        part = await anext(parts)
                    except StopAsyncIteration:
                        break
                    span.counted(part)
                yield part
        finally:
            await parts.aclose()
            span.end()

    @wraps(call)
    def steps(*args: Any, **kwargs: Any) -> Iterator[Any]:
        span, parts = begin(args, kwargs), call(*args, **kwargs)
        try:
            while True:
                with span.current():
                    try:
                        part = next(parts)
                    except StopIteration:
                        break
                    span.counted(part)
                yield part
        finally:
            parts.close()
            span.end()

    @wraps(call)
    async def once_async(*args: Any, **kwargs: Any) -> Any:
        if not has_sdk():
            return await call(*args, **kwargs)
        span = begin(args, kwargs)
        try:
            with span.current():
                answer = await call(*args, **kwargs)
            span.answered(answer)
            return answer
        finally:
            span.end()

    @wraps(call)
    def once(*args: Any, **kwargs: Any) -> Any:
        if not has_sdk():
            return call(*args, **kwargs)
        span = begin(args, kwargs)
        try:
            with span.current():
                answer = call(*args, **kwargs)
            span.answered(answer)
            return answer
        finally:
            span.end()

    if inspect.isasyncgenfunction(call):
        return steps_async
    if inspect.isgeneratorfunction(call):
        return steps
    return once_async if inspect.iscoroutinefunction(call) else once
