"""What several modules print: the lines of the header and of the summary, in the width of the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from ...text import printable
from ..wire import trial_report
from .trial_reports import SIMULATION

if TYPE_CHECKING:
    from collections.abc import Generator

_PREFIX, _INDENT = "tau: ", " " * 7
#: The plugins whose lines are in the summary, in the order of their lines.
SECTIONS = (
    "tau-summary",
    "tau-markdown",
    "tau-participants",
    "tau-serial-trials",
    "tau-late-calls",
    "tau-resume",
    "tau-run",  # lines of capabilities
    "tau-capabilities-end",  # and the plugins of capabilities themselves
    "tau-unchecked",
    "tau-counts",
    "tau-junit",
    "tau-exit-status",
    "tau-store",
    "tau-controller",
    "tau-part",
    "tau-dry-run",
    "tau-baseline",
    "tau-html",
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
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None:
            return
        if any(title == SIMULATION for title, _ in report.sections):
            from ..failure_repr import wrapped_section

            width = self._config.get_terminal_writer().fullwidth
            report.sections = [
                (title, wrapped_section(text, width) if title == SIMULATION else text)
                for title, text in report.sections
            ]
        if trial_report(report) is None or self._config.getoption("durations") is not None:
            return
        uncounted = terminal.stats.get("", [])
        if uncounted and uncounted[-1] is report and not any("teardown" in name for name, _ in report.sections):
            uncounted.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_header(self) -> Generator[None, list[Any], list[Any]]:
        """Wrap the lines of this package in the header."""
        return [self._wrapped(line) for line in (yield)]

    @pytest.hookimpl(wrapper=True)
    def pytest_report_collectionfinish(self) -> Generator[None, list[Any], list[Any]]:
        """Wrap the lines of this package below the header."""
        return [self._wrapped(line) for line in (yield)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the lines, section by section."""
        hook = self._config.hook.pytest_tau_summary_lines
        called: list[Any] = [*reversed(hook.get_hookimpls())]  # in pytest's order, the last one first
        lines = [line for implementation in sorted(called, key=_place) for line in implementation.function()]
        if lines and self._config.get_verbosity() >= 0:
            terminalreporter.write_sep("=", "tau summary")
        for line in lines:
            if line.command:
                terminalreporter.write_line(line.text, **line.markup)
            else:
                write_wrapped(terminalreporter, self._config, line.text, **line.markup)

    def _wrapped(self, lines: str | list[str]) -> list[str]:
        given = [lines] if isinstance(lines, str) else lines
        return [part for line in given for part in (_wrap(line, self._config) if line.startswith(_PREFIX) else [line])]


def _place(implementation: Any) -> int:
    name = implementation.plugin_name
    return SECTIONS.index(name if name in SECTIONS else "tau-capabilities-end")


def write_wrapped(terminalreporter: Any, config: pytest.Config, text: str, **markup: bool) -> None:
    """Write a line in the width of the terminal; a text of several lines, such as a page in Markdown, as it is."""
    visible_text = printable(text)
    for part in [visible_text] if "\n" in visible_text else _wrap(visible_text, config):
        terminalreporter.write_line(part, **markup)


def _wrap(line: str, config: pytest.Config) -> list[str]:
    """Return a line in parts that fit the terminal, those after the first one indented."""
    width = config.get_terminal_writer().fullwidth
    if len(line) <= width:
        return [line]
    rest = line.removeprefix(_PREFIX).lstrip()
    begin = line[: len(line) - len(rest)]  # textwrap would end the first line after a long space
    parts = textwrap.wrap(
        rest,
        width,
        initial_indent=begin,
        subsequent_indent=_INDENT if len(begin) <= len(_PREFIX) else " " * (len(begin) + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [printable(part) for part in parts]  # a part may begin with what a CI service takes for a command
