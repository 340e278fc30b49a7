"""``--tau-otlp URL``: each trial is sent as a trace when it is graded, by OpenTelemetry's SDK.

The id of the trace is known before the conversation: agents outside of this process get it as ``traceparent``, and what
OpenTelemetry instruments in this process joins it.
"""

from __future__ import annotations

import secrets
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from ....capability import TrialStages
from ....carried import carried
from .otlp import resource_of
from .spans import SENT, spans_of, trace_id_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....capability import TrialView
    from ....models import Simulation
    from .. import TraceSettings
    from .spans import Span

_MISSING = "--tau-otlp sends traces with OpenTelemetry's SDK: pip install 'pytest-tau[otel]'"


class TraceContext(TrialStages):
    """Begins the trace of a trial, and hands its context to the agent."""

    def __init__(self, view: TrialView) -> None:
        del view
        from opentelemetry import context, trace

        self._trace, self._root = secrets.token_hex(16), secrets.token_hex(8)
        carried.set({**carried.get(), "traceparent": f"00-{self._trace}-{self._root}-01"})
        at = trace.SpanContext(int(self._trace, 16), int(self._root, 16), is_remote=True, trace_flags=_SAMPLED)
        # A trial has an asynchronous context of its own.
        context.attach(trace.set_span_in_context(trace.NonRecordingSpan(at)))

    def graded(self, simulation: Simulation) -> dict[str, Any]:
        """Return the ids of the trace and its root, which an export of the run has as well."""
        del simulation
        return {SENT: self._trace, "root": self._root}


def make_sender(config: pytest.Config, settings: TraceSettings) -> Sender | None:
    """Return what sends the trials of this process; None if no address is given.

    Raises:
        pytest.UsageError: OpenTelemetry's SDK is not installed.
    """
    if settings.otlp is None:
        return None
    try:
        return Sender(config, settings.otlp)
    except ImportError:
        raise pytest.UsageError(_MISSING) from None


class Sender:
    """Sends trials as they finish; a receiver that is not there does not fail the run, and is named at its end."""

    def __init__(self, config: pytest.Config, url: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self._config, self._url, self._sent = config, url, 0
        self._exporter: Any = _Counting(OTLPSpanExporter(endpoint=url, timeout=10))
        self._queue: Any = BatchSpanProcessor(self._exporter, max_queue_size=65_536)

    @pytest.hookimpl
    def pytest_tau_simulation_finished(self, item: pytest.Item, simulation: Simulation) -> None:
        """Send a trial."""
        domain = getattr(getattr(item, "domain", None), "name", "") or item.nodeid.partition("::")[0]
        self._sent += 1
        for span in _sdk_spans(simulation, str(self._config.option.tau_run_name or ""), str(domain), item.nodeid):
            self._queue.on_end(span)

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """Send what is left."""
        self._queue.force_flush()
        self._queue.shutdown()

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how much was sent, and what was not."""
        if self._sent:
            self._queue.force_flush()
            lost = f", {self._exporter.lost} spans were not received" if self._exporter.lost else ""
            terminalreporter.write_line(f"tau: traces: {self._sent} sent to {self._url}{lost}")


class _Counting:
    """An exporter that counts the spans that were not received."""

    def __init__(self, exporter: Any) -> None:
        self._exporter, self.lost = exporter, 0

    def export(self, spans: Any) -> Any:
        from opentelemetry.sdk.trace.export import SpanExportResult

        result = self._exporter.export(spans)
        self.lost += len(spans) if result is not SpanExportResult.SUCCESS else 0
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return bool(self._exporter.force_flush(timeout_millis))


def _sdk_spans(simulation: Simulation, run: str, domain: str, test: str) -> Iterator[Any]:
    """Yield a trial's spans as those of the SDK."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    trace = int(trace_id_of(run, simulation), 16)
    scope = InstrumentationScope("pytest_tau", version("pytest-tau"))
    resource = Resource(resource_of(run))

    def at(span_id: str) -> Any:
        return SpanContext(trace, int(span_id, 16), is_remote=False, trace_flags=TraceFlags(_SAMPLED))

    span: Span
    for span in spans_of(simulation, run, domain, test):
        yield ReadableSpan(
            span.name,
            context=at(span.id),
            parent=at(span.parent) if span.parent else None,
            resource=resource,
            attributes=span.attributes,
            events=[Event(name, values, time) for time, name, values in span.events],
            kind=SpanKind(span.kind - 1),
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=scope,
        )


_SAMPLED: Any = 1
