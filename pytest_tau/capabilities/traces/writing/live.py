"""``--tau-otlp URL``: each trial is sent as a trace when it is graded, by OpenTelemetry's SDK.

The id of the trace is known before the conversation: agents outside of this process get it as ``traceparent``, and what
OpenTelemetry instruments in this process joins it.
"""

from __future__ import annotations

import secrets
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from ....capability.views import TrialStages
from ....carried import carried
from ....errors import install_extra
from ....text import plural, printable
from .otlp import resource_of
from .spans import SENT, spans_of, trace_id_of

if TYPE_CHECKING:
    from ....capability.views import TrialView
    from ....models import Simulation
    from .. import TraceSettings


class TraceContext(TrialStages):
    """Begins the trace of a trial, and hands its context to the agent."""

    def __init__(self, view: TrialView) -> None:
        del view
        from ....integrations.opentelemetry import join

        self._trace, self._root = secrets.token_hex(16), secrets.token_hex(8)
        # A trial has an asynchronous context of its own.
        carried.set({**carried.get(), "traceparent": f"00-{self._trace}-{self._root}-01"})
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
    run = str(getattr(config.option, "tau_run_name", None) or "")
    try:
        from ....integrations.opentelemetry import Sender
    except ImportError:
        raise pytest.UsageError(f"--tau-otlp needs OpenTelemetry's SDK: {install_extra('otel')}") from None
    return TraceSender(settings.otlp, run, Sender(settings.otlp, resource_of(run), version("pytest-tau")))


class TraceSender:
    """Sends trials as they finish; a receiver that is not there does not fail the run, and is named at its end."""

    def __init__(self, url: str, run: str, sender: Any) -> None:
        self._url, self._run, self._sender, self._sent = url, run, sender, 0

    def pytest_tau_simulation_finished(self, item: pytest.Item, simulation: Simulation) -> None:
        """Send a trial."""
        domain = getattr(getattr(item, "domain", None), "name", "") or item.nodeid.partition("::")[0]
        self._sent += 1
        spans = spans_of(simulation, self._run, str(domain), item.nodeid)
        self._sender.send(trace_id_of(self._run, simulation), spans)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how much was sent, and what was not."""
        if self._sent:
            self._sender.flush()
            lost = f"; {plural(self._sender.lost, 'span')} were not received" if self._sender.lost else ""
            terminalreporter.write_line(printable(f"tau: traces: {self._sent} sent to {self._url}{lost}"))

    def pytest_unconfigure(self) -> None:
        """Send what is left."""
        self._sender.close()
