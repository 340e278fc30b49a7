"""The line of the terminal summary that names the fixtures because of which trials were not prefetched."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...seams import SummaryBlock, SummaryLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from ...wire import TrialReport


def register(config: pytest.Config) -> None:
    """Register the note."""
    config.pluginmanager.register(SerialTrialsNote(), "tau-serial-trials")


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
