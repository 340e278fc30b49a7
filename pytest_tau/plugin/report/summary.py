"""The summary of a run by domain: lines at the terminal, and the figures for what is made at its end."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from ...text import plural, relative_path
from ..context.run_state import get_context, run_state
from ..items import get_item_state, group_of, spec_of
from ..options import OptionValues
from ..seams import FinishedRun, SummaryBlock, SummaryLine
from ..wire import add_facts, is_worker
from .costs import ModelTotals
from .header import examples_warning
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ...analysis.summary import DomainSummary
    from ...runs.groups import TaskId
    from ...runs.record import TrialRecord
    from ..items import TaskSpec
    from ..wire import TrialReport

#: With more trials than this, all of them passed, floors are computed only if asked for: it would take a second.
_MANY = 500
#: The start of each line of pytest-tau.
_PREFIX = "tau:"


def register(config: pytest.Config) -> None:
    """Register the summary.

    Raises:
        pytest.UsageError: The value of an option cannot be used.
    """
    values = OptionValues(config)
    group_by: tuple[str, ...] = values.get("group_by")
    persona = values.get("user_persona") or {}
    if "persona" not in group_by and any(len(weights) > 1 for weights in persona.values()):
        group_by += ("persona",)
    config.pluginmanager.register(Summary(config, group_by), "tau-summary")


class Summary:
    """Sums up the trials of a run.

    Args:
        config: pytest's configuration.
        group_by: The names of the groupings of tasks.
    """

    def __init__(self, config: pytest.Config, group_by: tuple[str, ...]) -> None:
        self._config, self._group_by = config, group_by
        self._models = ModelTotals()
        self._floors: dict[TaskId, bool | None] = {}
        #: The tasks of which the floor is computed at the end.
        self._specs: dict[TaskId, TaskSpec] = {}
        self._problems: dict[str, None] = {}
        self._failed: set[str] = set()
        #: The tests that have passed, without task items that gates decide.
        self._passed: set[str] = set()
        #: How often the trial of a test was run: more than once by plugins such as pytest-rerunfailures.
        self._runs: Counter[str] = Counter()
        self._replay_differences = 0
        self._stored = False
        self._comparability: str | None = None
        self._found: list[DomainSummary] | None = None

    @property
    def _detailed(self) -> bool:
        """Return whether more than the first line of each domain is shown anywhere."""
        return self._config.get_verbosity() >= 0 or self._is_heard

    @property
    def _is_heard(self) -> bool:
        """Return whether anything, such as a page or JUnit's XML, is made of the run at its end."""
        return bool(self._config.hook.pytest_tau_finished.get_hookimpls())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Find out whether an agent that does nothing passes the task, in the process that has the domain."""
        report = yield
        if report.when != "teardown" or not self._detailed:
            return report
        spec, state = spec_of(item), get_item_state(item)
        simulation = state.simulation if state else None
        if spec and simulation is not None and spec.task.id == simulation.task_id:
            if is_worker(self._config):  # the controller does not have the domain
                add_facts(report, floor=_floor(spec))
            elif (group := group_of(item)) is not None:
                self._specs[group.task] = spec
        return report

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record failures, the usage of models, and problems with results and replays."""
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == "call" and report.passed and not trial.gated and not hasattr(report, "wasxfail"):
            self._passed.add(report.nodeid)
        if report.when != "teardown":
            return
        if trial.usage is not None:
            reused = trial.record is not None and trial.record.restored
            self._models.add(trial.usage, trial=trial.simulated, reused=reused)
            if trial.not_run == "budget":
                run_state(self._config).counts.stopped_usage.append(trial.usage["roles"])
        if trial.simulated:
            self._stored |= trial.results_problem is None
            if trial.results_problem is not None:
                self._problems[trial.results_problem] = None
            self._replay_differences += trial.replay_differences

    def pytest_tau_trial_reported(self, report: pytest.TestReport, trial: TrialReport, record: TrialRecord) -> None:
        """Record the floor of the task, and that the test was run once more."""
        if trial.floor is not None:
            self._floors[record.group.task] = trial.floor
        self._runs[report.nodeid] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Store costs, and call ``pytest_tau_finished``, in the process that reports."""
        if is_worker(self._config):
            return
        context = get_context(self._config)
        if context is not None:
            self._models.store(self._config, context.config)
            previous = run_state(self._config).previous
            # A recording goes on from such calls, which belong to the trial that was run again.
            if previous is not None and not context.config.models.tape:
                self._models.add_stopped(previous.info.get("stopped_usage", {}))
            self._note_comparability()
        if records := records_of(self._config):
            run = FinishedRun(records, self._failed, self._summaries)
            self._config.hook.pytest_tau_finished(run=run)

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the lines of each domain, the usage of models, and remarks on the run."""
        return SummaryBlock("domains", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        records = records_of(self._config)
        if records:
            yield from self._domain_lines(records)
            yield from self._contrary_lines(records)
            yield from self._behaviour_lines()
        yield from self._remark_lines(graded=bool(records))

    def _behaviour_lines(self) -> Iterator[SummaryLine]:
        from ...participants.behaviours import BEHAVIOURS
        from ...participants.personas import BEHAVIOUR

        asked = (OptionValues(self._config).get("user_persona") or {}).get(BEHAVIOUR, {})
        for name in filter(BEHAVIOURS.__contains__, asked):
            unseen = BEHAVIOURS[name].unseen
            if unseen and self._config.get_verbosity() >= 0:
                yield SummaryLine(f"tau: persona {name}: {unseen}")

    def _summaries(self) -> list[DomainSummary]:
        """Return the summaries of the domains, computed once; call it when all trials are reported."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.summary import summarise

            floors = {task: passes for task, passes in self._all_floors(records).items() if passes is not None}
            self._found = summarise(records, floors=floors, group_by=self._group_by)
        return self._found or []

    def _all_floors(self, records: list[TrialRecord]) -> dict[TaskId, bool | None]:
        """Return the floor of each task; none if many trials all passed and nothing needs the floor."""
        asked = self._is_heard or self._config.get_verbosity() > 0
        if not asked and len(records) > _MANY and all(record.passed for record in records):
            return {}
        return {**self._floors, **{task: _floor(spec) for task, spec in self._specs.items()}}

    def _domain_lines(self, records: list[TrialRecord]) -> Iterator[SummaryLine]:
        from ...analysis.metrics import outcome_summary
        from ...analysis.scores import outcomes_by_group
        from ...reports.text import capability_lines, detail_lines, variant_lines
        from ...runs.groups import find_variants
        from ..capabilities import active_capabilities, capabilities_of

        verbosity, width = self._config.get_verbosity(), self._config.get_terminal_writer().fullwidth
        several = bool(find_variants(record.group for record in records))
        wanted = verbosity >= 0 or several
        details = {each.name: each for each in self._summaries()} if wanted else {}
        room = width - len(_PREFIX) - 1
        known = capabilities_of(self._config)
        asked = {each.capability.name for each in active_capabilities(self._config) if each.is_asked_for}
        if verbosity < 0:
            known = tuple(each for each in known if each.name in asked)
        domains: dict[str, list[TrialRecord]] = defaultdict(list)
        for record in records:
            domains[record.domain].append(record)
        for name, trials in sorted(domains.items()):
            yield SummaryLine(f"{_PREFIX} {name}: {outcome_summary(outcomes_by_group(trials))}", {"bold": True})
            if name in details:
                lines = variant_lines(details[name], verbosity=verbosity, width=room)
                lines += detail_lines(details[name], verbosity=verbosity, width=room)
                for line in lines:
                    yield SummaryLine(f"{_PREFIX}{line}")
            for line in capability_lines(known, trials, asked=asked, everything=verbosity > 0, width=room):
                yield SummaryLine(f"{_PREFIX}{line}")

    def _contrary_lines(self, records: list[TrialRecord]) -> Iterator[SummaryLine]:
        """Yield lines about tests whose outcome is not that of their trials, and about trials that were run again."""
        failed = sum(record.passed and record.test in self._failed for record in records)
        if failed:
            text = f"{plural(failed, 'test')} failed although {_their(failed)} passed"
            yield SummaryLine(f"{_PREFIX} {text}", {"red": True})
        passed = [record for record in records if record.outcome == "failed" and record.test in self._passed]
        if passed:
            text = f"{plural(len(passed), 'test')} passed although {_their(len(passed))} failed{_broken_off(passed)}"
            yield SummaryLine(f"{_PREFIX} {text}", {"yellow": True})
        again = sum(number > 1 for number in self._runs.values())
        if again:
            text = f"{plural(again, 'trial')} run again: only the last outcome counts, also in rates and gates"
            yield SummaryLine(f"{_PREFIX} {text}", {"yellow": True})

    def _remark_lines(self, *, graded: bool) -> Iterator[SummaryLine]:
        if self._replay_differences:
            from ...diagnosis.explain import differing_results

            differences = f"{_PREFIX} replay: {differing_results(self._replay_differences)} (-rA shows them)"
            yield SummaryLine(differences, {"yellow": True})
        yield from self._model_lines()
        context, quiet = get_context(self._config), self._config.get_verbosity() < 0
        folder = run_state(self._config).paths.results if self._stored and not quiet else None
        if folder is not None:
            publisher = run_state(self._config).paths.publisher
            shown = publisher.store.shown if publisher else relative_path(folder, self._config.invocation_params.dir)
            yield SummaryLine(f"{_PREFIX} simulations stored in {shown}")
        if self._comparability and not quiet:
            yield SummaryLine(f"{_PREFIX} comparability: {self._comparability}")
        yield from self._honest_lines()
        for problem in self._problems:
            yield SummaryLine(f"{_PREFIX} {problem}", {"red": True})
        if graded:
            from ...analysis.metrics import given_reference

            if given := given_reference(records_of(self._config)):
                yield SummaryLine(f"{_PREFIX} given the reference actions: {given}")
        judge = context.judge if context else None
        if graded and judge is not None and judge.name in ("accept", "reject"):
            yield SummaryLine(
                f"{_PREFIX} NL assertions judged by {judge.name!r}: same verdict for every statement", {"yellow": True}
            )

    def _note_comparability(self) -> None:
        """Compute how far the run can be compared with τ²-bench, for ``run.json`` and the summary."""
        records = records_of(self._config)
        if not records:
            return
        from ...analysis.comparability import comparability

        found = comparability(records)
        if found is not None:
            asked = found.is_asked_for or self._config.get_verbosity() > 0
            self._comparability = found.text if asked else None
            run_state(self._config).counts.comparability = found.as_dict()

    def _model_lines(self) -> Iterator[SummaryLine]:
        """Return the usage of models, and how to give a price if the cost of a call of this run is unknown."""
        models, quiet = self._models.lines(), self._config.get_verbosity() < 0
        for line in models[-1:] if quiet else models:
            yield SummaryLine(f"{_PREFIX} {line}")
        if self._models.unpriced and not quiet:
            from ...chat.prices import price_hint

            yield SummaryLine(f"{_PREFIX} {price_hint()}")
        context = get_context(self._config)
        if self._models.unpriced and context is not None and context.config.models.has_budget:
            calls = plural(self._models.unpriced, "model call")
            yield SummaryLine(f"{_PREFIX} not counted in the budget: {calls} of unknown cost", {"yellow": True})

    def _honest_lines(self) -> Iterator[SummaryLine]:
        """Return the limits that struck in this run, and the model calls and tools that it did not see."""
        records, context = records_of(self._config), get_context(self._config)
        if not records:
            return
        from ...analysis.metrics import outside_tools
        from ...analysis.unseen import silent_line, unseen_agents, unseen_line
        from ...analysis.usage import time_limit_line

        if limits := time_limit_line(records):
            yield SummaryLine(f"{_PREFIX} {limits}", {"yellow": True})

        if tools := outside_tools(records):
            yield SummaryLine(
                f"{_PREFIX} changes outside of the conversations' calls, not replayed by grading: {tools}",
                {"yellow": True},
            )
        if silent := silent_line(records):
            yield SummaryLine(f"{_PREFIX} {silent}", {"yellow": True})
        if context is not None and (warning := examples_warning(context, {each.task_id for each in records})):
            yield SummaryLine(f"{_PREFIX} {warning}", {"yellow": True})
        agents = unseen_agents(records)
        if context is None or not agents:
            return
        models = context.config.models
        ignored_by = [f"not {'replayed' if models.tape == 'replay' else 'recorded'}"] if models.tape else []
        ignored_by += ["not counted in the budget"] if models.has_budget else []
        ignored_by += ["not counted by the gate on cost"] if context.gates_cost else []
        ignored_by += ["not in the costs"] if any(record.usage for record in records) else []
        if ignored_by:
            yield SummaryLine(f"{_PREFIX} {unseen_line(agents, ignored_by)}", {"yellow": True})


def _their(tests: int) -> str:
    return "its trial" if tests == 1 else "their trials"


def _broken_off(records: Sequence[TrialRecord]) -> str:
    """Return in brackets how conversations ended that no side has stopped; empty if each was stopped."""
    from ...models import STOPS

    ends = Counter(each.termination_reason for each in records if each.termination_reason not in STOPS)
    return f" ({', '.join(f'{number} {reason}' for reason, number in ends.most_common())})" if ends else ""


def _floor(spec: TaskSpec) -> bool | None:
    from ...evaluation import passes_without_agent

    try:
        evaluation = spec.config.simulation.evaluation
        return passes_without_agent(spec.task, spec.domain, evaluation.grading, solo=evaluation.solo)
    except Exception:  # noqa: BLE001 - a domain's code may raise anything, and the trial has reported it
        return None
