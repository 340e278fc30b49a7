"""Traces as OTLP JSON lines, as the collector's file receiver reads them: one line a trial."""

from __future__ import annotations

from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any

from ....models import writable
from ....plain import json
from .spans import spans_of, trace_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....models import Simulation
    from ....runs import Run
    from .spans import Span

_ERROR = 2


def write_otlp(run: Run, file: IO[str], domain: str | None = None) -> int:
    """Write a trace for each simulation of a run, of one domain if it is given; returns how many."""
    written = 0
    for trial in run.trials():
        if domain in (None, trial.domain):
            request = request_of(trial.simulation, run.name, trial.domain, trial.test)
            file.write(writable(json.dumps(request, ensure_ascii=False)) + "\n")
            written += 1
    return written


def resource_of(run: str) -> dict[str, str]:
    """Return the attributes of what a run's spans are from."""
    return {"service.name": "pytest-tau", "service.version": version("pytest-tau"), "pytest_tau.run": run}


def request_of(simulation: Simulation, run: str, domain: str, test: str) -> dict[str, Any]:
    """Return the trace of a trial as an export request of OTLP.

    Args:
        simulation: The trial.
        run: The name of its run.
        domain: The name of its domain.
        test: The node id of its test.
    """
    trace = trace_id_of(run, simulation)
    spans = [_span(span, trace) for span in spans_of(simulation, run, domain, test)]
    scope = {"name": "pytest_tau", "version": version("pytest-tau")}
    resource = {"attributes": _attributes(resource_of(run))}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def _span(span: Span, trace: str) -> dict[str, Any]:
    document: dict[str, Any] = {
        "traceId": trace,
        "spanId": span.id,
        "parentSpanId": span.parent,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [
            {"timeUnixNano": str(time), "name": name, "attributes": _attributes(values)}
            for time, name, values in span.events
        ],
        "status": {"code": _ERROR, "message": span.error} if span.error else {},
    }
    return {name: value for name, value in document.items() if value not in ("", [])}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(element) for element in value]}}
    return {"stringValue": str(value)}
