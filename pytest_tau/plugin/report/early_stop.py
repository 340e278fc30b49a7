"""``--tau-stop-early``: once the gates are settled, trials that have not started are skipped, in local workers too."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ...files import atomic_write
from ...text import plural
from ..context.run_state import run_state, will_be_restored
from ..items import group_of, is_task_item, item_state
from ..seams import SummaryBlock, SummaryLine
from ..wire import TrialReport, is_worker
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from ...analysis.gates import Gate
    from ...runs.groups import Group

_REASON = "not run: the gates are settled"
#: Files in the folder that controller and workers share: the planned trials, and the mark that the gates are settled.
_PLANNED, _SETTLED = "planned.json", "settled"
#: In a long run, the gates are checked this often.
_CHECKS = 200


class EarlyStop:
    """Checks whether the gates are settled; in each process, then skips the trials that have not started.

    Args:
        config: pytest's configuration.
        gates: The gates of the run.
        only_gates: Nothing but the gates can fail the run, so that it may stop once all of them are met.

    Attributes:
        stopped: The reason why the run was stopped; None while it was not.
    """

    def __init__(self, config: pytest.Config, gates: list[Gate], *, only_gates: bool) -> None:
        self._config, self._gates, self._only_gates = config, gates, only_gates
        self._session: pytest.Session | None = None
        self._planned: Counter[Group] = Counter()
        self._reported = self._not_run = 0
        self._marked = False
        self.stopped: str | None = None

    @property
    def planned(self) -> Counter[Group]:
        """Return how many trials of each group are planned; in a controller, as its workers have written."""
        if not self._planned and (folder := self._shared()) is not None and (file := folder / _PLANNED).exists():
            from ...runs.groups import Group

            entries = json.loads(file.read_text(encoding="utf-8"))
            self._planned.update({Group(*group): trials for group, trials in entries})
        return self._planned

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the planned trials; a worker writes them to a file for its controller, which does not collect."""
        self._session = session
        self._planned = Counter(group for item in session.items if (group := group_of(item)) is not None)
        folder = run_state(self._config).paths.shared if is_worker(self._config) else None
        if folder is not None and not (folder / _PLANNED).exists():
            entries = list(self._planned.items())
            atomic_write(folder / _PLANNED, json.dumps(entries))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Skip the rest in a worker whose controller has found the gates settled, before more trials are started."""
        if is_worker(self._config) and not self._marked:
            folder = run_state(self._config).paths.shared
            if folder is not None and (folder / _SETTLED).exists():
                self._skip_the_rest(item.session)
        return (yield)

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Count trials that were skipped."""
        self._not_run += report.when == "setup" and trial.not_run == "settled"

    def pytest_tau_trial_reported(self) -> None:
        """Check whether the trials so far settle the gates, in the process that reports."""
        if self.stopped is not None:
            return
        self._reported += 1
        # If all workers are on other machines, the planned trials are unknown here.
        if self.planned and self._reported % max(1, self.planned.total() // _CHECKS) == 0:
            self.stopped = self._settled()
            if self.stopped is not None:
                self._stop()

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Say why the run was stopped, and how many trials were not run."""
        return SummaryBlock("early stop", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        if self._not_run:
            text = f"tau: stopped early, {self.stopped}: {plural(self._not_run, 'trial')} not run"
            yield SummaryLine(text, {"yellow": True})

    def _settled(self) -> str | None:
        from ...analysis.gate_metrics import by_task

        tasks = by_task(records_of(self._config), self.planned)
        found = {gate: gate.settled(tasks) for gate in self._gates}
        lost = [str(gate) for gate, settled in found.items() if settled is False]
        if lost:
            return f"{' and '.join(lost)} can no longer be met"
        return "every gate is certain to be met" if all(found.values()) and self._only_gates else None

    def _stop(self) -> None:
        if self._session is not None and self._session.items:
            self._skip_the_rest(self._session)
        elif (folder := self._shared()) is not None:
            (folder / _SETTLED).touch()

    def _shared(self) -> Path | None:
        """Return the folder that the controller shares with its workers; None without workers, and in a worker."""
        has_workers = self._config.pluginmanager.has_plugin("tau-controller")
        return run_state(self._config).paths.make_shared() if has_workers else None

    def _skip_the_rest(self, session: pytest.Session) -> None:
        """Mark the trials that have not started as skipped; test functions on tasks are run anyway."""
        self._marked = True
        for item in session.items:
            if is_task_item(item) and item_state(item).prefetched is None and not will_be_restored(item):
                item.add_marker(pytest.mark.skip(reason=_REASON))
                item_state(item).not_run = "settled"
