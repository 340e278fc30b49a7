"""Traces of production: conversations that instrumentation has recorded, read, written, and made into tasks."""

from __future__ import annotations

from ...capability import Capability, Command, ExportFormat, deferred

_WORK_WITH_RUNS = "work with runs"

capability = Capability(
    name="traces",
    on=bool,  # it has nothing to do in a trial
    facts=deferred(f"{__name__}.facts:TraceFacts"),
    failure=deferred(f"{__name__}.facts:failure"),
    page=deferred(f"{__name__}.facts:page"),
    commands=(
        Command("import", _WORK_WITH_RUNS, deferred(f"{__name__}.reading.command:add_parser")),
        Command("task-from", _WORK_WITH_RUNS, deferred(f"{__name__}.tasks.command:add_parser")),
    ),
    exports=(
        ExportFormat(
            "otlp", "otlp for traces in JSON lines of OpenTelemetry", deferred(f"{__name__}.writing.otlp:write_otlp")
        ),
    ),
)
