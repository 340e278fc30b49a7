"""The section of the terminal summary on trials under attack."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..report.records import records_of
from ..seams import SummaryBlock, SummaryLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from ..wire import TrialReport


def register(config: pytest.Config) -> None:
    """Register the section."""
    config.pluginmanager.register(AttackSummary(config), "tau-attacks")


class AttackSummary:
    """Sums up the trials under attack, also of xdist workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._not_attacked: dict[str, str] = {}

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record that a trial was skipped because the attack cannot be used on its task."""
        if trial.not_attacked is not None:
            self._not_attacked[report.nodeid] = trial.not_attacked

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the rates of each attack, the first successes, and the tasks that were not attacked."""
        return SummaryBlock("attacks", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        from ...analysis.attacks import attack_lines

        verbosity = self._config.get_verbosity()
        width = self._config.get_terminal_writer().fullwidth
        for line in attack_lines(records_of(self._config), verbosity=verbosity, width=width - len("tau: ")):
            yield SummaryLine(f"tau: {line}")
        for reason, number in Counter(self._not_attacked.values()).items():
            trials = "1 trial" if number == 1 else f"{number:,} trials"
            yield SummaryLine(f"tau: not attacked: {trials}: {reason}", {"yellow": True})
