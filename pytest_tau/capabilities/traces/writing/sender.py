"""OpenTelemetry's SDK: spans that were made elsewhere, sent to a receiver; imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SECONDS, _MOST_WAITING = 10, 65_536


def join(trace_id: str, span_id: str) -> None:
    """Let spans of this asynchronous context be below a span, both given in hexadecimal digits."""
    at = _at(int(trace_id, 16), span_id)
    context.attach(trace.set_span_in_context(trace.NonRecordingSpan(at)))


class Sender:
    """Sends spans in the background.

    Args:
        url: The address of the receiver.
        resource: The attributes of what they are from.
        version: The version of what makes them.
    """

    def __init__(self, url: str, resource: Mapping[str, str], version: str) -> None:
        self._exporter = _Counting(OTLPSpanExporter(endpoint=url, timeout=_SECONDS))
        self._queue: Any = BatchSpanProcessor(cast("Any", self._exporter), max_queue_size=_MOST_WAITING)
        self._resource, self._scope = Resource(dict(resource)), InstrumentationScope("pytest_tau", version)

    @property
    def lost(self) -> int:
        """The number of spans that were not received."""
        return self._exporter.lost

    def send(self, trace_id: str, spans: Iterable[Any]) -> None:
        """Send the spans of a trace.

        Args:
            trace_id: 32 hexadecimal digits.
            spans: Objects with ``id``, ``parent``, ``name``, ``kind``, ``start``, ``end``, ``attributes``, ``events``
                and ``error``, as OTLP has them.
        """
        number = int(trace_id, 16)
        for span in spans:
            readable = ReadableSpan(
                span.name,
                context=_at(number, span.id),
                parent=_at(number, span.parent) if span.parent else None,
                resource=self._resource,
                attributes=span.attributes,
                events=[Event(name, values, time) for time, name, values in span.events],
                kind=SpanKind(span.kind - 1),
                status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
                start_time=span.start,
                end_time=span.end,
                instrumentation_scope=self._scope,
            )
            self._queue.on_end(readable)

    def flush(self) -> None:
        """Wait until all was sent, or was not received."""
        self._queue.force_flush()

    def close(self) -> None:
        """Send what is left, and end."""
        self._queue.shutdown()


class _Counting:
    """Counts the spans that were not received."""

    def __init__(self, exporter: Any) -> None:
        self._exporter, self.lost = exporter, 0

    def export(self, spans: Sequence[ReadableSpan]) -> Any:
        result = self._exporter.export(spans)
        self.lost += len(spans) if result is not SpanExportResult.SUCCESS else 0
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return bool(self._exporter.force_flush(timeout_millis))


def _at(trace_id: int, span_id: str) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(trace_id, int(span_id, 16), is_remote=True, trace_flags=flags)
