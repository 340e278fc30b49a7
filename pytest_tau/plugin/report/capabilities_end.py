"""The stage ``finished`` of capabilities: lines about the whole run, and reasons why it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..capabilities import active_capabilities
from ..seams import SummaryBlock, SummaryLine
from ..wire import is_worker
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def register(config: pytest.Config) -> None:
    """Register the stage, in the process that reports, if a capability that is switched on has it."""
    if not is_worker(config) and any(each.capability.finished for each in active_capabilities(config)):
        config.pluginmanager.register(CapabilitiesEnd(config), "tau-capabilities-end")


class CapabilitiesEnd:
    """Calls the capabilities once everything is reported."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._lines: list[tuple[str, bool]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Call each capability; an exception is a line that fails the run."""
        from ...capability.views import FinishedRun, Measured

        records = records_of(self._config)
        for capability, settings, _ in active_capabilities(self._config) if records else ():
            if capability.finished is None:
                continue
            run = FinishedRun(settings, [Measured(record, capability.read(record.facts)) for record in records])
            try:
                capability.finished(run)
            except Exception as error:  # noqa: BLE001 - code of others
                run.fail(f"{type(error).__name__}: {error}")
            self._lines += [(f"{capability.label}: {line}", failed) for line, failed in run.lines]

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the lines."""
        return SummaryBlock("capabilities", self._shown())

    def _shown(self) -> Iterator[SummaryLine]:
        for line, failed in self._lines:
            yield SummaryLine(f"tau: {line}", {"red": True} if failed else {})

    def pytest_tau_exit_verdict(self) -> pytest.ExitCode | None:
        """Fail the run if a capability does."""
        return pytest.ExitCode.TESTS_FAILED if any(failed for _, failed in self._lines) else None
