"""Errors that many trials share, as one block: the first in full, then the others' names and one command for all."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from copy import copy
from typing import TYPE_CHECKING, Any

import pytest

from ...text import listed, plural
from ..wire import trial_report

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


#: Paths differ between trials whose errors have one cause.
_PATH = re.compile(r"\S*/\S*")
#: So many trials make a block; so many are named, also by a command.
_FEWEST, _MOST = 3, 10


def register(config: pytest.Config) -> None:
    """Register what gathers equal errors; ``-v`` shows each by itself."""
    if config.get_verbosity() <= 0:
        config.pluginmanager.register(EqualErrors(config), "tau-equal-errors")


class EqualErrors:
    """Shows the first of equal errors while pytest writes its section; all are in its counts and its short summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._every: list[Any] | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Take the others away before pytest writes the section."""
        errors = terminalreporter.stats.get("error", [])
        groups: dict[Any, list[Any]] = defaultdict(list)
        for report in errors:
            groups[_cause(report)].append(report)
        # All that has failed is of one cause, and pytest remembers it.
        alone = len(groups) == 1 and not terminalreporter.stats.get("failed")
        last_failed = alone and self._config.pluginmanager.has_plugin("cacheprovider")
        self._every = errors
        terminalreporter.stats["error"] = [
            report
            for same in groups.values()
            for report in (same if len(same) < _FEWEST else [_joined(same, last_failed=last_failed)])
        ]
        try:
            yield
        finally:
            self._restore(terminalreporter)

    @pytest.hookimpl(tryfirst=True, specname="pytest_terminal_summary")
    def pytest_after_the_errors(self, terminalreporter: Any) -> None:
        """Give them back before the short summary, which pytest writes after this."""
        self._restore(terminalreporter)

    def _restore(self, terminalreporter: Any) -> None:
        if self._every is not None:
            terminalreporter.stats["error"], self._every = self._every, None
            if not terminalreporter.stats["error"]:
                del terminalreporter.stats["error"]


def _cause(report: Any) -> Any:
    """Return what equal errors of trials have in common; the report itself for any other error."""
    from ..failure_repr import FailureRepr

    shown = report.longrepr
    if trial_report(report) is None or not isinstance(shown, FailureRepr):
        return report
    return report.when, _PATH.sub("", shown.reprcrash.message)


def _joined(same: Sequence[Any], *, last_failed: bool) -> Any:
    """Return the first of equal errors, which names the others; a copy, as other plugins have the report."""
    from ...evaluation import Line
    from ..failure_repr import FailureRepr

    first, *others = same
    shown: FailureRepr = first.longrepr
    names = listed([report.nodeid.rpartition("::")[2] for report in others], _MOST)
    quoted, every = shlex.quote(first.nodeid), " ".join(shlex.quote(report.nodeid) for report in same)
    if last_failed and len(same) > _MOST:
        every = "--last-failed"
    commands = [
        Line("command", text.strip().replace(quoted, every))
        for kind, text in shown.lines
        if kind in ("command", "error") and f"pytest {quoted}" in text
    ]
    note = Line("note", f"the same error in {plural(len(others), 'other trial')}: {names}; for all of them:")
    copied = copy(first)
    copied.longrepr = FailureRepr(
        shown.reprcrash.message, [*shown.lines, note, *commands[:1]], first.nodeid, shown.style, is_error=shown.is_error
    )
    return copied
