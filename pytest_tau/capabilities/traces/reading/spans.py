"""Spans of all formats in one form: OTLP, Jaeger, Phoenix, LangSmith, Langfuse, MLflow, Logfire, OpenAI Agents."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from .messages import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Where formats have the parts of a span, in the order in which they are looked for.
_TRACE: Final = ("traceId", "trace_id", "traceID", "context.trace_id")
_ID: Final = ("spanId", "span_id", "spanID", "context.span_id", "id")
_PARENT: Final = (
    *("parentSpanId", "parent_span_id", "parent_id", "parent_run_id", "parentObservationId", "parentSpanID"),
    *("parentId", "parent.span_id"),
)
_NAME: Final = ("operationName", "span_name", "name", "span_data.name")
_START: Final = (
    *("startTimeUnixNano", "start_time_unix_nano", "start_timestamp", "startTime", "start_time", "started_at"),
    *("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano", "timestamp"),
)
_END: Final = ("endTimeUnixNano", "end_time_unix_nano", "end_timestamp", "endTime", "end_time", "ended_at")
_STATUS: Final = ("status.code", "status.status_code", "status_code", "otel_status_code", "level", "status")
_PROBLEM: Final = (
    *("status.message", "status.description", "status_message", "statusMessage", "otel_status_message"),
    *("exception_message", "error.message", "error"),
)
_SCOPE: Final = ("scope.name", "instrumentationLibrary.name", "instrumentation_library.name", "otel_scope_name")
_DROPPED: Final = ("droppedAttributesCount", "dropped_attributes_count")
#: Status codes of errors.
_FAILED: Final = {"2", "ERROR", "STATUS_CODE_ERROR", "error"}
#: Parts that products keep next to the attributes, and the attributes that they are read as.
_BESIDE: Final = {
    "span_kind": "openinference.span.kind",
    "run_type": "langsmith.run_type",
    "type": "langfuse.observation.type",
    "span_data.type": "openai_agents.type",
    "span_data.to_agent": "openai_agents.to_agent",
    "input": "input.value",
    "inputs": "input.value",
    "span_data.input": "input.value",
    "output": "output.value",
    "outputs": "output.value",
    "span_data.output": "output.value",
    "model": "gen_ai.request.model",
    "span_data.model": "gen_ai.request.model",
    "usageDetails": "langfuse.observation.usage_details",
    "usage": "langfuse.observation.usage_details",
    "span_data.usage": "langfuse.observation.usage_details",
    "calculatedTotalCost": "llm.cost.total",
    "metadata": "metadata",
    "extra.metadata": "metadata",
    "extra.tool_call_id": "gen_ai.tool.call.id",
    "extra.invocation_params.tools": "gen_ai.tool.definitions",
    "sessionId": "session.id",
    "group_id": "group_id",
    "info.trace_metadata": "mlflow.trace_metadata",
    "info.request_metadata": "mlflow.trace_metadata",
}
#: Those of them that are read of the object around a span.
_AROUND: Final = ("sessionId", "group_id", "info.trace_metadata", "info.request_metadata", "metadata")
#: Products by a member that only their spans have.
_PRODUCTS: Final = {"run_type": "langsmith", "span_data": "openai-agents"}
#: Nanoseconds by which times may be rounded.
UNSURE: Final = 10_000_000
#: Kinds of ids that are bytes, by their length in base64.
_BASE64: Final = {24: "==", 12: "="}
_ZEROS: Final = re.compile(r"0+")
#: Nanoseconds of one unit of a time, by the smallest number that is one in it.
_UNITS: Final = ((10**17, 1), (10**14, 1_000), (10**11, 1_000_000), (0, 1_000_000_000))


@dataclass(slots=True)
class Span:
    """A span.

    Attributes:
        trace: The id of its trace.
        id: Its own.
        parent: The id of the span around it; empty for none.
        name: Its name.
        start: The start, in nanoseconds; 0 if that is not known.
        end: The end.
        error: What went wrong; None if nothing did.
        scope: The library that has written it.
        attributes: The attributes, decoded.
        events: Its events, and log records of it: name and content.
        file: The file that it is from.
        dropped: Whether a limit on the number of attributes has left some out.
    """

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    start: int = 0
    end: int = 0
    error: str | None = None
    scope: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, Any]] = field(default_factory=list)
    file: str = ""
    dropped: bool = False


def is_span(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a span of any format, or a log record."""
    if value.get("object") in ("trace", "trace.span") or ("run_type" in value and "id" in value):
        return True
    return _text(value, _TRACE) != "" and any(key in value for key in (*_ID, *_START, "context"))


def is_log(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a log record."""
    return "body" in value or "eventName" in value or "event_name" in value or "severityNumber" in value


def span_of(value: Mapping[str, Any], around: Mapping[str, Any]) -> Span:
    """Return a span."""
    trace = hex_id(_text(value, _TRACE) or (_text(value, ("id",)) if value.get("object") == "trace" else ""))
    span = Span(trace or hex_id(_text(around, (*_TRACE, "id"))), hex_id(_text(value, _ID)))
    span.parent, span.name = hex_id(_text(value, _PARENT)), _text(value, _NAME)
    span.start, span.end = nanoseconds(_first(value, _START)), nanoseconds(_first(value, _END))
    span.scope = _text(around, _SCOPE) or _text(value, _SCOPE)
    span.attributes = _attributes(value, around)
    span.dropped = _first(value, _DROPPED) not in (None, 0, "0")
    span.events = [(_event_name(event), pairs(event.get("attributes"))) for event in objects(value.get("events"))]
    if not span.scope:
        span.scope = next((scope for member, scope in _PRODUCTS.items() if member in value), "")
    if "operationName" in value:
        _add_jaeger(span, value)
    if _text(value, _STATUS) in _FAILED or value.get("error") or value.get("is_exception"):
        span.error = _text(value, _PROBLEM) or "error"
    return span


def log_of(value: Mapping[str, Any], around: Mapping[str, Any]) -> Span:
    """Return a log record as the part of its span that it is."""
    span = span_of({**value, "attributes": value.get("attributes")}, around)
    name = _event_name(value) or str(span.attributes.get("event.name") or "")
    body = decoded(attribute_value(value.get("body")))
    content = {**span.attributes, **(body if isinstance(body, dict) else {})}
    span.attributes, span.events = {}, [(name, content)]
    return span


def hex_id(text: str) -> str:
    """Return an id: hexadecimal ones in lower case, also those that are stored as bytes; empty for zeros."""
    text = text.encode("utf-8", "backslashreplace").decode().removeprefix("0x")
    if text.endswith(_BASE64.get(len(text), " ")):
        try:
            text = base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return text
    return "" if _ZEROS.fullmatch(text) else text.lower()


def nanoseconds(value: Any) -> int:
    """Return a time, in any unit or as a text; 0 if it is not one."""
    if isinstance(value, str) and not value.isdigit():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return 0
        since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000
    try:
        number = float(value) if isinstance(value, float) else int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
    if not 0 < number < 9 * 10**18:
        return 0
    return int(number * next(unit for least, unit in _UNITS if number >= least))


def attribute_value(value: Any) -> Any:
    """Return the value of an attribute of OTLP; any other value as it is."""
    if not isinstance(value, dict):
        return value
    for key, inner in value.items():
        kind = key.replace("_", "").lower()
        if inner is None:
            continue
        if kind == "arrayvalue":
            return [attribute_value(element) for element in _list(inner)]
        if kind == "kvlistvalue":
            return pairs(_list(inner))
        if kind == "intvalue":
            return int(inner) if str(inner).lstrip("-").isdigit() else inner
        if kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return inner
    return None if not value or all(key.endswith(("Value", "_value")) for key in value) else value


def pairs(value: Any) -> dict[str, Any]:
    """Return attributes as a dictionary: those of OTLP and Jaeger are lists of pairs."""
    if isinstance(value, dict):
        return {str(key): attribute_value(inner) for key, inner in value.items()}
    return {str(pair["key"]): attribute_value(pair.get("value")) for pair in objects(value) if "key" in pair}


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none if it is not one."""
    return [element for element in value if isinstance(element, dict)] if isinstance(value, list) else []


def at(value: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a dotted path; None for nothing. A key may have the dots itself."""
    if path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    inner = value.get(head) if dot else None
    while isinstance(inner, list) and dot:
        head, dot, rest = rest.partition(".")
        inner = inner[int(head)] if head.isdigit() and int(head) < len(inner) else None
    return at(inner, rest) if isinstance(inner, dict) and dot else None


def _first(value: Mapping[str, Any], paths: Iterable[str]) -> Any:
    return next((content for path in paths if (content := at(value, path)) not in (None, "", [], {})), None)


def _text(value: Mapping[str, Any], paths: Iterable[str]) -> str:
    content = _first(value, paths)
    return str(content) if isinstance(content, str | int | float) else ""


def _list(value: Any) -> list[Any]:
    values = value.get("values") if isinstance(value, dict) else value
    return values if isinstance(values, list) else []


def _attributes(value: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    raw_attributes = value.get("attributes")
    attributes = pairs(raw_attributes) if isinstance(raw_attributes, dict | list) else {}
    # A table of spans has a column for each attribute.
    attributes |= {
        key[len("attributes.") :]: content for key, content in value.items() if key.startswith("attributes.")
    }
    for path, name in _BESIDE.items():
        other = at(value, path)
        other = at(around, path) if other is None and path in _AROUND else other
        if other is not None and name not in attributes and not _is_otlp_kind(path, other):
            attributes[name] = other
    return {key: content for key, content in attributes.items() if content is not None}


def _is_otlp_kind(path: str, value: Any) -> bool:
    return path == "span_kind" and str(value).upper().startswith(("SPAN_KIND", "INTERNAL", "CLIENT", "SERVER"))


def _event_name(value: Mapping[str, Any]) -> str:
    return str(value.get("eventName") or value.get("event_name") or value.get("name") or "")


def _add_jaeger(span: Span, value: Mapping[str, Any]) -> None:
    """Complete a span of Jaeger: tags, logs, times in microseconds, the reference to its parent."""
    span.attributes |= pairs(value.get("tags"))
    for log in objects(value.get("logs")):
        fields = pairs(log.get("fields"))
        span.events.append((str(fields.get("event") or ""), fields))
    duration = value.get("duration")
    span.end = span.start + (
        int(duration * 1_000) if isinstance(duration, int | float) and 0 < duration < 10**14 else 0
    )
    parents = (reference for reference in objects(value.get("references")) if reference.get("refType") == "CHILD_OF")
    span.parent = next((hex_id(_text(parent, ("spanID",))) for parent in parents), span.parent)
    span.scope = str(span.attributes.get("otel.scope.name") or span.scope)
    failed = str(span.attributes.get("error")).lower() == "true" or span.attributes.get("otel.status_code") == "ERROR"
    if failed:
        span.error = str(span.attributes.get("otel.status_description") or "error")
