"""An SDK that keeps spans and metrics in memory, for one test at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memwarden import telemetry


class Point:
    """One point of a metric."""

    def __init__(self, point: Any) -> None:
        self._point = point
        self.count: int = getattr(point, "count", 0)
        self.sum: float = getattr(point, "sum", 0.0)
        self.value: float = getattr(point, "value", 0)

    def __getitem__(self, name: str) -> str:
        """Return one of its attributes."""
        return str(self._point.attributes[name])


class Telemetry:
    """What was told since the test began."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.traces = TracerProvider()
        self.traces.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader])
        self.tracer = self.traces.get_tracer("test")

    def spans(self) -> list[ReadableSpan]:
        """Return the spans that ended, in that order."""
        return list(self._exporter.get_finished_spans())

    def points(self, metric: str) -> list[Point]:
        """Return the points of a metric."""
        data = self._reader.get_metrics_data()
        return [
            Point(point)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for each in scope.metrics
            if each.name == metric
            for point in each.data.data_points
        ]

    def everything(self) -> str:
        """Return all spans and metrics as text."""
        data = self._reader.get_metrics_data()
        return "\n".join(
            [*(each.to_json() for each in self.spans()), data.to_json() if data else ""]
        )


def recording() -> Iterator[Telemetry]:
    """Have the client and the worker tell one Telemetry, and nobody afterwards.

    The API takes a provider once in a process: the tests change what the module asks instead.
    """
    here = Telemetry()
    before = {name: getattr(telemetry, name) for name in _ASKED}
    meter = here.meters.get_meter("memwarden")
    telemetry.has_sdk = lambda: True
    telemetry._tracer = here.traces.get_tracer("memwarden")
    telemetry._client_duration = meter.create_histogram("memwarden.client.duration", unit="s")
    telemetry._outcomes = meter.create_counter("memwarden.client.outcomes")
    telemetry._worker_duration = meter.create_histogram("memwarden.worker.duration", unit="s")
    try:
        yield here
    finally:
        for name, value in before.items():
            setattr(telemetry, name, value)
        here.traces.shutdown()
        here.meters.shutdown()


_ASKED = ("has_sdk", "_tracer", "_client_duration", "_outcomes", "_worker_duration")
