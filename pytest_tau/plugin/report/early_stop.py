"""``--tau-stop-early``: once the gates are settled, what has not begun is not run, by no worker on this machine."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ...text import plural
from ..context.run_state import run_state, will_be_restored
from ..items import is_task_item, item_state, spec_of
from ..seams import SummaryBlock, SummaryLine
from ..wire import TrialReport, is_worker, worker_name
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from ...analysis.gates import Gate

_REASON = "not run: the gates are settled"
#: What the workers tell the controller of, and the other way round, in the folder that they share.
_PLANNED, _SETTLED = "planned.json", "settled"
#: In a long run it is looked this often whether the gates are settled.
_LOOKS = 200


class StopEarly:
    """Watches whether the gates are settled; in each process, skips what has not begun once they are.

    Args:
        config: pytest's configuration.
        gates: Those of the run.
        besides: Something else may fail the run, so that it goes on when all gates are met.

    Attributes:
        stopped: Why the run was stopped; None while it was not.
    """

    def __init__(self, config: pytest.Config, gates: list[Gate], *, besides: bool) -> None:
        self._config, self._gates, self._besides = config, gates, besides
        self._session: pytest.Session | None = None
        self._planned: Counter[tuple[str, str]] = Counter()
        self._reported = self._not_run = 0
        self._marked = False
        self.stopped: str | None = None

    @property
    def planned(self) -> Counter[tuple[str, str]]:
        """How many trials of each domain and task there are to be."""
        if not self._planned and (folder := self._shared()) is not None and (file := folder / _PLANNED).exists():
            told = json.loads(file.read_text(encoding="utf-8"))
            self._planned.update({(domain, task): trials for domain, task, trials in told})
        return self._planned

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what there is to do; a worker tells its controller, which does not collect."""
        cases = [case for item in session.items if (case := spec_of(item)) is not None]
        self._session = session
        self._planned = Counter((case.domain.name, case.task.id) for case in cases)
        folder = run_state(self._config).paths.shared if is_worker(self._config) else None
        if folder is not None and not (folder / _PLANNED).exists():
            draft = folder / f"{worker_name(self._config)}.planned"
            told = [[domain, task, trials] for (domain, task), trials in self._planned.items()]
            draft.write_text(json.dumps(told), encoding="utf-8")
            draft.replace(folder / _PLANNED)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """In a worker: before anything more is started, see whether the controller has found the gates settled."""
        if is_worker(self._config) and not self._marked:
            folder = run_state(self._config).paths.shared
            if folder is not None and (folder / _SETTLED).exists():
                self._skip_the_rest(item.session)
        return (yield)

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Count trials that were skipped."""
        self._not_run += report.when == "setup" and trial.not_run == "settled"

    def pytest_tau_trial_reported(self) -> None:
        """In the process that reports: see whether the trials so far settle the gates."""
        if self.stopped is not None:
            return
        self._reported += 1
        # Where all workers are on other machines, nobody tells what there is to do.
        if self.planned and self._reported % max(1, self.planned.total() // _LOOKS) == 0:
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
        return "no gate can be missed any more" if all(found.values()) and not self._besides else None

    def _stop(self) -> None:
        if self._session is not None and self._session.items:
            self._skip_the_rest(self._session)
        elif (folder := self._shared()) is not None:
            (folder / _SETTLED).touch()

    def _shared(self) -> Path | None:
        """The folder that the controller shares with its workers; None where there are none, and in a worker."""
        has_workers = self._config.pluginmanager.has_plugin("tau-controller")
        return run_state(self._config).paths.make_shared() if has_workers else None

    def _skip_the_rest(self, session: pytest.Session) -> None:
        """Have trials skipped that have not begun; the user's own tests on tasks have more to say, and are run."""
        self._marked = True
        for item in session.items:
            if is_task_item(item) and item_state(item).prefetched is None and not will_be_restored(item):
                item.add_marker(pytest.mark.skip(reason=_REASON))
                item_state(item).not_run = "settled"
