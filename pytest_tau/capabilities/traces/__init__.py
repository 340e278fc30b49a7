"""Traces of production: conversations that instrumentation has recorded, read, written, and made into tasks."""

from __future__ import annotations

from ...capability import Capability, Command, ExportFormat, declared, deferred, option


@declared(frozen=True)
class TraceSettings:
    """The settings.

    Attributes:
        otlp: The address that traces of the trials are sent to.
    """

    otlp: str | None = option(
        str,
        "output",
        "URL",
        rerun=0,
        example="http://127.0.0.1:4318/v1/traces",
        help="send each trial as a trace of OpenTelemetry to this address, such as http://127.0.0.1:4318/v1/traces; "
        "agents that are programs or servers get the context as traceparent",
    )


capability = Capability(
    name="traces",
    settings=TraceSettings,
    trial=deferred(f"{__name__}.writing.live:TraceContext"),
    hooks=deferred(f"{__name__}.writing.live:make_sender"),
    facts=deferred(f"{__name__}.facts:TraceFacts"),
    failure=deferred(f"{__name__}.facts:failure"),
    page=deferred(f"{__name__}.facts:page"),
    commands=(
        Command(
            "import",
            "start",
            "make a run of the traces of an agent in production",
            deferred(f"{__name__}.reading.command:add_parser"),
        ),
        Command(
            "task-from",
            "start",
            "make tasks of recorded conversations",
            deferred(f"{__name__}.tasks.command:add_parser"),
        ),
    ),
    exports=(
        ExportFormat(
            "otlp", "otlp for traces in JSON lines of OpenTelemetry", deferred(f"{__name__}.writing.otlp:write_otlp")
        ),
    ),
)
