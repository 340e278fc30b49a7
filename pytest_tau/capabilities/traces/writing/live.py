"""``--tau-otlp URL``: each trial is sent as a trace when it is graded, by OpenTelemetry's SDK.

The id of the trace is known before the conversation: agents outside of this process get it as ``traceparent``, and what
OpenTelemetry instruments in this process joins it.
"""

from __future__ import annotations

import secrets
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from ....capability import TrialStages, carry, run_of
from ....errors import install_extra
from ....text import plural, printable
from .otlp import resource_of
from .spans import SENT, spans_of, trace_id_of

if TYPE_CHECKING:
    from ....capability import TrialView
    from ....models import Simulation
    from .. import TraceSettings
    from .sender import Sender


class TraceContext(TrialStages):
    """Begins the trace of a trial, and hands its context to the agent."""

    def __init__(self, view: TrialView) -> None:
        del view
        from .sender import join

        self._trace, self._root = secrets.token_hex(16), secrets.token_hex(8)
        carry({"traceparent": f"00-{self._trace}-{self._root}-01"})
        join(self._trace, self._root)

    def graded(self, simulation: Simulation) -> dict[str, Any]:
        """Return the ids of the trace and its root, which an export of the run has as well."""
        del simulation
        return {SENT: self._trace, "root": self._root}


def make_sender(config: pytest.Config, settings: TraceSettings) -> TraceSender | None:
    """Return what sends the trials of this process; None if no address is given.

    Raises:
        pytest.UsageError: OpenTelemetry's SDK is not installed.
    """
    if settings.otlp is None:
        return None
    try:
        from . import sender  # noqa: F401
    except ImportError:
        raise pytest.UsageError(f"--tau-otlp needs OpenTelemetry's SDK: {install_extra('otel')}") from None
    return TraceSender(config, settings.otlp)


class TraceSender:
    """Sends trials as they finish; a receiver that is not there does not fail the run, and is named at its end."""

    def __init__(self, config: pytest.Config, url: str) -> None:
        self._handle, self._url = run_of(config), url
        self._sent = 0

    @cached_property
    def _run(self) -> str:
        """The name of the run, as an export of it has it; empty if nothing is stored."""
        return self._handle.name

    @cached_property
    def _sender(self) -> Sender:
        from .sender import Sender

        return Sender(self._url, resource_of(self._run), version("pytest-tau"))

    def pytest_tau_simulation_finished(self, item: pytest.Item, simulation: Simulation) -> None:
        """Send a trial."""
        domain = getattr(getattr(item, "domain", None), "name", "") or item.nodeid.partition("::")[0]
        self._sent += 1
        spans = spans_of(simulation, self._run, str(domain), item.nodeid)
        self._sender.send(trace_id_of(self._run, simulation), spans)

    def pytest_sessionfinish(self) -> None:
        """Wait until all was sent."""
        if self._sent:
            self._sender.flush()
            self._handle.give("traces", [self._sent, self._sender.lost])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how much was sent, and what was not."""
        given = self._handle.given("traces")
        sent, lost = sum(sent for sent, _ in given), sum(lost for _, lost in given)
        if sent:
            missing = f"; {plural(lost, 'span')} were not received" if lost else ""
            terminalreporter.write_line(printable(f"tau: traces: {sent} sent to {self._url}{missing}"))

    def pytest_unconfigure(self) -> None:
        """Send what is left."""
        if self._sent:
            self._sender.close()
