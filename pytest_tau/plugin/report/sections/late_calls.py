"""The line of the terminal summary about tools that agents called after their conversations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ....text import counted, plural
from ...context.run_state import get_context
from ...seams import SummaryBlock, SummaryLine
from ...wire import give_output, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def register(config: pytest.Config) -> None:
    """Register the line."""
    config.pluginmanager.register(LateCallsNote(config), "tau-late-calls")


class LateCallsNote:
    """Counts the calls that came after their conversations, also in xdist workers, and after their trials were stored.

    Args:
        config: pytest's configuration.
    """

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
