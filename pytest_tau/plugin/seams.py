"""Hooks between the packages of the plugin; private, they may change with any release.

No conftest.py is meant to implement them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from ..rows import Row

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from ..analysis.summary import DomainSummary
    from ..runs.record import TrialRecord
    from .wire import TrialReport


@pytest.hookspec
def pytest_tau_trials_running(running: int | None) -> None:
    """Report how many trials run; collect-all. Called before the loop waits for them; with None at its end."""


@pytest.hookspec
def pytest_tau_trials_waiting(trials: Mapping[str, float]) -> None:
    """Report since how many seconds trials run that pytest waits for, by node id; collect-all, called each second."""


@pytest.hookspec
def pytest_tau_phase_reported(report: pytest.TestReport, trial: TrialReport) -> None:
    """Report a phase of a test that runs a trial, with its facts so far; collect-all.

    Called in the process that reports, in ``pytest_runtest_logreport`` before pytest counts the report.
    """


@pytest.hookspec
def pytest_tau_finished(
    records: Sequence[TrialRecord], failed: Container[str], summaries: Sequence[DomainSummary]
) -> None:
    """Report what a run has come to; collect-all. A run with an implementation computes every figure of its domains.

    Called in the process that reports, in ``pytest_sessionfinish``, if there are trials. ``failed`` are the node ids of
    the tests that have failed.
    """


class SummaryLine(Row):
    """A line of the terminal summary.

    Attributes:
        text: The line.
        markup: The keyword arguments of ``TerminalReporter.write_line``, such as ``yellow=True``.
        command: Whether the line is a command for the CI service. Any other line is kept from being one.
    """

    text: str
    markup: Mapping[str, bool] = MappingProxyType({})
    command: bool = False


@pytest.hookspec
def pytest_tau_summary_lines() -> Iterator[SummaryLine]:
    """Yield lines of the terminal summary, computed when they are written; collect-all.

    Called once, in the process that reports, at the end, for one plugin after the other, in the order of
    ``report.terminal.SECTIONS``.
    """
    yield from ()


@pytest.hookspec
def pytest_tau_exit_verdict() -> str | None:
    """Return why the run fails although pytest may consider it a success, in the words of its last line; collect-all.

    Called in the process that reports, once everything is reported.
    """
