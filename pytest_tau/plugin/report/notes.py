"""Lines of the terminal summary about trials: run without prefetching, with late calls, and what capabilities say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ...text import counted, plural
from ..capabilities import active_capabilities
from ..context.run_state import get_context, run_state
from ..seams import SummaryLine
from ..wire import give_output, is_worker, output_of
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def register(config: pytest.Config) -> None:
    """Register the notes; those of capabilities in the process that reports, if one that is switched on has any."""
    config.pluginmanager.register(SerialTrials(config), "tau-serial-trials")
    config.pluginmanager.register(LateCalls(config), "tau-late-calls")
    ends = (capability.capability.finished or capability.capability.trial for capability in active_capabilities(config))
    if not is_worker(config) and any(ends):
        config.pluginmanager.register(CapabilitiesEnd(config), "tau-capabilities-end")


class SerialTrials:
    """Says because of which fixtures trials were not prefetched, also in xdist workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return one line, if there are such fixtures."""
        ended = run_state(self._config).counts.ended
        fixtures = Counter({test: why for test, trial in ended if (why := trial.serial_because)}.values())
        if not fixtures:
            return
        names = ", ".join(f"{name} ({number})" for name, number in fixtures.most_common())
        trials = "1 trial was" if fixtures.total() == 1 else f"{fixtures.total()} trials were"
        yield SummaryLine(f"tau: {trials} run serially, in the setup of the test, because of fixtures: {names}")


class LateCalls:
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

    def _counts(self) -> Counter[str]:
        context = get_context(self._config)
        calls = context.late_calls if context else []
        return Counter(tool for tools in calls for tool in tools) + self._of_workers

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return one line, if there are such calls."""
        if counts := self._counts():
            text = (
                f"tau: {plural(counts.total(), 'tool call')} after the end of a conversation, not executed: "
                f"{counted(counts)}; await all calls, and join all threads, in run()"
            )
            yield SummaryLine(text, {"yellow": True})


class CapabilitiesEnd:
    """Calls the stage ``finished`` of capabilities once everything is reported.

    With ``-q``, which omits the details of domains, it also says which capabilities have no facts.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._lines: list[tuple[str, bool]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Call each capability; an exception is a line that fails the run."""
        records, active = records_of(self._config), active_capabilities(self._config)
        if not records:
            return
        from ...capability.calls import problem_lines
        from ...capability.containing import is_contained, problem_of
        from ...capability.runs import run_of
        from ...capability.views import FinishedRun, Measured

        if self._config.get_verbosity() < 0:
            problems = problem_lines([capability.capability for capability in active], records, len(records))
            self._lines += [(f"{label}: {text}", False) for label, text in problems]
        for each in active:
            capability = each.capability
            if capability.finished is None:
                continue
            trials = [Measured(record, capability.read(record.facts)) for record in records]
            run = FinishedRun(each.settings, trials, run_of(self._config))
            try:
                capability.finished(run)
            except BaseException as error:
                if not is_contained(error):
                    raise
                run.fail(problem_of(error))
            self._lines += [(f"{capability.label}: {line}", failed) for line, failed in run.lines]

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the lines."""
        for line, failed in self._lines:
            yield SummaryLine(f"tau: {line}", {"red": failed})

    def pytest_tau_exit_verdict(self) -> str | None:
        """Fail the run if a capability does."""
        return "capability failed" if any(failed for _, failed in self._lines) else None
