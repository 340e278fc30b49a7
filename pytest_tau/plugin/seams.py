"""Hooks between the rooms of the plugin; private, they may change with any release."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..runs.record import TrialRecord
    from .wire import TrialReport


@pytest.hookspec
def pytest_tau_trials_running(running: int | None) -> None:
    """Report that the loop waits for trials.

    Args:
        running: How many trials run; None once the loop has ended.
    """


@pytest.hookspec
def pytest_tau_phase_reported(report: pytest.TestReport, trial: TrialReport) -> None:
    """Report a phase of a test that runs a trial, in the process that reports; before pytest counts it.

    Args:
        report: pytest's report.
        trial: The facts of the trial so far.
    """


@pytest.hookspec
def pytest_tau_trial_reported(report: pytest.TestReport, trial: TrialReport, record: TrialRecord) -> None:
    """Report a finished trial, in the process that reports; after ``pytest_tau_phase_reported``.

    Args:
        report: The last of pytest's reports on its test.
        trial: The facts of the trial.
        record: The trial's record.
    """


class SummaryLine(NamedTuple):
    """A line of the terminal summary.

    Attributes:
        text: The line.
        markup: How it is shown, as ``TerminalReporter.write_line`` takes it.
    """

    text: str
    markup: Mapping[str, bool] = MappingProxyType({})


class SummaryBlock(NamedTuple):
    """Lines of the terminal summary about one thing.

    Attributes:
        section: What the lines are about, one of ``report.terminal.SECTIONS``, which has their order.
        lines: The lines; computed when they are written.
    """

    section: str
    lines: Iterable[SummaryLine]


@pytest.hookspec
def pytest_tau_summary_lines(exitstatus: int) -> SummaryBlock | None:
    """Return lines of the terminal summary.

    Args:
        exitstatus: The exit status of the run.
    """


@pytest.hookspec
def pytest_tau_exit_verdict() -> pytest.ExitCode | None:
    """Return the exit status of a run that pytest takes for a success; None if there is nothing against it.

    Called in the process that reports, once everything is reported.
    """
