"""``--tau-stop-early``: once the verdict is known, trials that have not started are skipped, in local workers too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...capability import run_of
from ...text import plural, printable
from .planned import NAME, PlannedTrials

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from ...analysis import Gate, Verdict
    from ...capability import RunHandle
    from . import StoppingSettings
    from .looks import BaselineLooks

_REASON = "not run: the gates are settled"
#: The mark, in the folder that controller and workers share, that the verdict is known.
_SETTLED = "settled"
#: How often it is checked whether the verdict is certain.
_CHECKS = 200
#: How often the gates are predicted: after each twentieth of the trials.
PREDICTIONS = 20
#: The doubt that each prediction may leave, as a share of the doubt that was asked for. Every prediction is a chance to
#: err: if the rate is close to the bound, runs end with another verdict more often than a single prediction errs
#: (``python -m benchmarks --only stopping-error``).
DOUBT = 0.2


def make_stopping(config: pytest.Config, settings: StoppingSettings) -> EarlyStop | None:
    """Return what ends the run early, if that is asked for; register what is said of a run that is too small.

    Raises:
        pytest.UsageError: A gate is malformed, or nothing decides the run.
    """
    run = run_of(config)
    compares, probability = run.option("fail_on") is not None, settings.stop_early
    if probability is None and not compares and run.source("gate") is None:
        return None
    gates = run.gates
    if not run.is_worker:
        from .notes import PlanNotes

        notes = PlanNotes(config, run, gates, compares=compares, looks=probability is not None and probability < 1)
        config.pluginmanager.register(notes, "tau_stopping_notes")
    if probability is None:
        return None
    looks = probability < 1 and compares
    if not gates and not looks:
        other = " P and --tau-fail-on regression" if probability == 1 else " and --tau-fail-on regression"
        raise pytest.UsageError(
            f"{run.label('stop_early')}: needs a gate: add --tau-gate EXPR, or a comparison: --tau-stop-early{other}"
        )
    planned = PlannedTrials(run, draw=probability < 1, whole_tasks=looks)
    baseline_looks = None
    if looks:
        from .looks import BaselineLooks

        baseline_looks = BaselineLooks(run, planned)
        run.decide_regression = baseline_looks.regression
    return EarlyStop(run, gates, probability, baseline_looks, only_gates=not compares, planned=planned)


class EarlyStop:
    """Checks whether the verdict is known; in each process, then skips the trials that have not started.

    Args:
        run: The run.
        gates: The gates of the run.
        probability: With which probability the verdict must be known; 1 for certainty.
        looks: The looks at the comparison with the baseline; None if it decides nothing, or only at the end.
        only_gates: Nothing but the gates can fail the run, so that it may stop once all of them are met.
        planned: The planned trials.

    Attributes:
        planned: The planned trials.
        stopped: The reason why the run was stopped; None while it was not.
        predicted: Whether each gate is met by each variant, as far as this was predicted when the run was stopped.
    """

    def __init__(
        self,
        run: RunHandle,
        gates: Sequence[Gate],
        probability: float,
        looks: BaselineLooks | None,
        *,
        only_gates: bool,
        planned: PlannedTrials,
    ) -> None:
        self._run, self._gates, self._probability, self._looks = run, gates, probability, looks
        self._only_gates, self.planned = only_gates, planned
        self._session: pytest.Session | None = None
        self._reported = self._not_run = self._looked = 0
        self._marked = self._recorded = False
        self._why = f"in the full run with a probability of at least {probability:g}"
        self.stopped: str | None = None
        self.predicted: dict[Gate, dict[str, bool]] = {}
        run.decide_gates = self._verdicts

    def pytest_sessionstart(self) -> None:
        """Refuse to resume a run that was started with another rule.

        Raises:
            pytest.UsageError: The order of the tasks or the looks would not be those that were fixed before.
        """
        then, now = self._run.noted(NAME), self._rule()
        if then is None or self._run.is_worker or self._probability == 1:
            return
        label = self._run.label("stop_early")
        if not then:
            raise pytest.UsageError(
                f"{label}: the earlier run was started without it: its tasks were not run in random order"
            )
        different = [
            f"{name}: {then.get(name)} in the earlier run, {value} now"
            for name, value in now.items()
            if then.get(name) != value
        ]
        if different:
            raise pytest.UsageError(f"{label}: fixed at the start of the earlier run: {'; '.join(different)}")

    def _rule(self) -> dict[str, Any]:
        """Return what is fixed before the run."""
        return {"probability": self._probability, "gates": [str(gate) for gate in self._gates]}

    def pytest_report_header(self) -> list[str]:
        """Show by which rule the run may end early."""
        settings = self._run.settings
        if settings is None or self._probability == 1:
            return []
        condition = "until the verdict of the full run is known with a probability of at least"
        lines = [f"tau: runs {condition} {self._probability:g}; tasks in random order (seed {settings.seed})"]
        from .predictive import cells_of

        unpredicted = [str(gate) for gate in self._gates if cells_of(gate, []) is None]
        if unpredicted:
            lines.append(f"tau: {', '.join(unpredicted)}: not predicted; the run ends early once this is certain")
        return list(map(printable, lines))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the trials into their random order, after other plugins have put them into theirs."""
        self.planned.order(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the session, whose tests may be skipped."""
        self._session = session

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Skip the rest in a worker whose controller knows the verdict, before more trials are started."""
        if self._run.is_worker and not self._marked:
            folder = self._run.shared
            if folder is not None and (folder / _SETTLED).exists():
                self._skip_the_rest(item.session)
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count trials that were skipped, and those that are done."""
        text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
        self._not_run += report.skipped and _REASON in text
        if report.when == "teardown":
            self.planned.is_done(report.nodeid)

    def pytest_tau_trial_reported(self) -> None:
        """Check whether the verdict is known, in the process that reports."""
        if self.stopped is not None:
            return
        self._reported += 1
        total = len(self.planned.trials)
        # If all workers are on other machines, the planned trials are unknown here.
        if total and not self._recorded and self._probability < 1:
            self._record()
        if total and self._reported % max(1, total // _CHECKS) == 0:
            self.stopped = self._settled()
        if total and self.stopped is None and self._probability < 1:
            self.stopped = self._known(total)
        if self.stopped is not None:
            self._record()
            self._stop()

    def pytest_sessionfinish(self) -> None:
        """Add to the summary why the run was stopped, and how many trials were not run."""
        if self._run.is_worker:
            return
        if self._looks is not None:
            for line in self._looks.lines():
                self._run.line(line)
            self._record()  # with the look at the end
        if self._not_run:
            total = len(self.planned.trials)
            ran = {record.group.task for record in self._run.records}
            untouched = len({group.task for group in self.planned.trials.values()} - ran)
            tasks = f", {plural(untouched, 'task')} without any trial" if untouched else ""
            after = f"stopped early after {total - self._not_run} of {plural(total, 'trial')}, {self.stopped}"
            self._run.line(f"{after}: {plural(self._not_run, 'trial')} not run{tasks}", yellow=True)

    def _verdicts(self, gates: Sequence[Gate]) -> list[Verdict] | None:
        """Return the verdicts of a run that was stopped: settled, or predicted, by the trials that were planned."""
        if self.stopped is None:
            return None
        from ...analysis import by_task

        tasks = by_task(self._run.records, self.planned.counts)
        verdicts = [verdict for gate in gates for verdict in gate.verdicts(tasks)]
        predicted = {(gate, name): met for gate, variants in self.predicted.items() for name, met in variants.items()}
        return [
            verdict._replace(met=predicted[verdict.gate, verdict.variant], why=self._why)
            if verdict.is_open and (verdict.gate, verdict.variant) in predicted
            else verdict
            for verdict in verdicts
        ]

    def _settled(self) -> str | None:
        """Return why the verdict is certain; None while it is not."""
        from ...analysis import by_task

        tasks = by_task(self._run.records, self.planned.counts)
        settled_by_gate = {gate: gate.settled(tasks) for gate in self._gates}
        lost = [str(gate) for gate, settled in settled_by_gate.items() if settled is False]
        if lost:
            return f"{' and '.join(lost)} can no longer be met"
        return (
            "every gate is certain to be met"
            if settled_by_gate and all(settled_by_gate.values()) and self._only_gates
            else None
        )

    def _known(self, total: int) -> str | None:
        """Return why the verdict is known with the given probability; None while it is not."""
        if self._looks is not None and self._looks.check():
            self._record()
            if self._looks.decided:
                return self._looks.reason()
        reached = self.planned.reached
        due = reached // max(1, total // PREDICTIONS)
        if due <= self._looked or reached == total:
            return None
        self._looked = due
        return self._predict(self._probabilities(reached))

    def _predict(self, probabilities: Mapping[Gate, Mapping[str, float | None]]) -> str | None:
        """Return why the gates decide, by the probability that each is met by each variant; None if they do not."""
        allowed = (1 - self._probability) * DOUBT
        lost = {
            gate: {name: False for name, chance in variants.items() if chance is not None and chance <= allowed}
            for gate, variants in probabilities.items()
        }
        if any(lost.values()):
            self.predicted = {gate: variants for gate, variants in lost.items() if variants}
            return f"{' and '.join(map(str, self.predicted))} will be missed {self._why}"
        chances = [chance for variants in probabilities.values() for chance in variants.values()]
        doubt = sum(1.0 if chance is None else 1 - chance for chance in chances)
        if doubt > allowed or not (self._only_gates and chances):
            return None
        self.predicted = {gate: dict.fromkeys(variants, True) for gate, variants in probabilities.items()}
        return f"every gate will be met {self._why}"

    def _probabilities(self, reached: int) -> dict[Gate, dict[str, float | None]]:
        from ...analysis import by_task
        from .predictive import probabilities

        tasks = by_task(self.planned.records(reached), self.planned.counts)
        return {gate: probabilities(gate, tasks) for gate in self._gates}

    def _record(self) -> None:
        """Record the rule and the looks so far in the metadata of the run."""
        notes = {**self._rule(), **(self._looks.as_json() if self._looks is not None else {})}
        notes |= {"stopped": self.stopped}
        self._run.note(NAME, notes)
        self._recorded = True

    def _stop(self) -> None:
        if self._session is not None and self._session.items:
            self._skip_the_rest(self._session)
        elif (folder := self._run.shared) is not None:
            (folder / _SETTLED).touch()

    def _skip_the_rest(self, session: pytest.Session) -> None:
        """Mark the trials that have not started as skipped; test functions on tasks are run anyway."""
        self._marked = True
        for item in session.items:
            trial = self._run.trial_of(item)
            if trial is not None and trial.is_of_task and not (trial.is_started or trial.is_restored):
                trial.skip(_REASON)
