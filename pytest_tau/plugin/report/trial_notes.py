"""Lines of the terminal summary about how trials were run: without prefetching, and with calls after their end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ...text import counted, plural
from ..context.run_state import get_context
from ..seams import SummaryBlock, SummaryLine
from ..wire import give_output, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..wire import TrialReport


def register(config: pytest.Config) -> None:
    """Register the notes."""
    config.pluginmanager.register(SerialTrialsNote(), "tau-serial-trials")
    config.pluginmanager.register(LateCallsNote(config), "tau-late-calls")


class SerialTrialsNote:
    """Collects because of which fixtures trials were not prefetched, also in xdist workers."""

    def __init__(self) -> None:
        self._fixtures: dict[str, str] = {}

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record the fixture because of which a trial was not prefetched."""
        if trial.serial_because is not None:
            self._fixtures[report.nodeid] = trial.serial_because

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return one line, if there are such fixtures."""
        return SummaryBlock("serial trials", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        fixtures = Counter(self._fixtures.values())
        if fixtures:
            names = ", ".join(f"{name} ({number})" for name, number in fixtures.most_common())
            trials = "1 trial was" if fixtures.total() == 1 else f"{fixtures.total()} trials were"
            yield SummaryLine(f"tau: {trials} run serially, in the setup of the test, because of fixtures: {names}")


class LateCallsNote:
    """Counts the calls that came after their conversations, also in xdist workers and after trials were stored."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._of_workers: Counter[str] = Counter()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has counted."""
        self._of_workers.update(output_of(node).get("late_calls", {}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Count, in a worker."""
        give_output(self._config, late_calls=dict(self._counts()))

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return one line, if there are such calls."""
        return SummaryBlock("late calls", self._lines())

    def _counts(self) -> Counter[str]:
        context = get_context(self._config)
        calls = context.late_calls if context else []
        return Counter(tool for tools in calls for tool in tools) + self._of_workers

    def _lines(self) -> Iterator[SummaryLine]:
        if counts := self._counts():
            many = plural(counts.total(), "tool call")
            yield SummaryLine(
                f"tau: {many} after the end of a conversation, not executed: {counted(counts)}; await all calls, and "
                "join all threads, in run()",
                {"yellow": True},
            )
