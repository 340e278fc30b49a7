"""What is printed as it is said by several modules: the lines of the terminal summary, and usage errors."""

from __future__ import annotations

from typing import Any

import pytest

from ...text import printable
from ..wire import trial_report
from .trial_reports import SIMULATION

#: The sections of the summary, in their order.
SECTIONS = (
    "domains",
    "page",
    "reviews",
    "participants",
    "serial trials",
    "late calls",
    "resume",
    "capabilities",
    "unchecked",
    "counts",
    "exit status",
    "stored results",
    "shard",
    "dry run",
    "baseline",
    "html",
)


def register(config: pytest.Config) -> None:
    """Register the writer of the lines."""
    config.pluginmanager.register(TerminalSummary(config), "tau-terminal")


class TerminalSummary:
    """Writes the lines of all modules.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Wrap the section about a simulation; forget the report on a setup or a teardown that pytest does not show.

        For each failure pytest looks through all of them: with thousands of trials, for minutes.
        """
        if any(title == SIMULATION for title, _ in report.sections):
            from ..failure_repr import wrapped_section

            width = self._config.get_terminal_writer().fullwidth
            report.sections = [
                (title, wrapped_section(text, width) if title == SIMULATION else text)
                for title, text in report.sections
            ]
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None or trial_report(report) is None or self._config.getoption("durations") is not None:
            return
        uncounted = terminal.stats.get("", [])
        if uncounted and uncounted[-1] is report and not any("teardown" in name for name, _ in report.sections):
            uncounted.pop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Write the lines, section by section."""
        blocks = self._config.hook.pytest_tau_summary_lines(exitstatus=exitstatus)
        for block in sorted(blocks, key=lambda block: SECTIONS.index(block.section)):
            for line in block.lines:
                terminalreporter.write_line(line.text if line.command else printable(line.text), **line.markup)
