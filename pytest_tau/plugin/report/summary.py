"""The summary of a run by domain: lines at the terminal, and the figures for what is made at its end."""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ...runs.layout import RUNS
from ...text import plural, relative_path
from ..context.run_state import get_context, run_state
from ..items import group_of, spec_of
from ..options import OptionValues
from ..seams import SummaryLine
from ..wire import is_worker
from .costs import models_key, store_usage, unpriced_calls, usage_lines
from .header import examples_warning
from .trial_reports import floor_of, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """Register the summary."""
    config.pluginmanager.register(Summary(config), "tau-summary")


class Summary:
    """Sums up the trials of a run.

    Raises:
        pytest.UsageError: The value of an option cannot be used.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config, values = config, OptionValues(config)
        self._group_by: tuple[str, ...] = values.get("group_by")
        persona = values.get("user_persona") or {}
        if "persona" not in self._group_by and any(len(weights) > 1 for weights in persona.values()):
            self._group_by += ("persona",)
        self._counts = run_state(config).counts
        #: The tasks, of which the floor is computed at the end; of workers, it is known by then.
        self._specs: dict[TaskId, TaskSpec] = {}
        self._failed: set[str] = set()
        #: The tests that have passed, without task items that gates decide.
        self._passed: set[str] = set()
        self._found: list[DomainSummary] | None = None

    @property
    def _is_heard(self) -> bool:
        """Return whether anything, such as a page or JUnit's XML, is made of the run at its end."""
        return bool(self._config.hook.pytest_tau_finished.get_hookimpls())

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Record which tests fail, and which pass."""
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == "call" and report.passed and not trial.gated and not hasattr(report, "wasxfail"):
            self._passed.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store costs, and call ``pytest_tau_finished``, in the process that reports."""
        if is_worker(self._config):
            return
        for item in getattr(session, "items", ()):
            if (spec := spec_of(item)) is not None and (group := group_of(item)) is not None:
                self._specs[group.task] = spec
        if (context := get_context(self._config)) is not None:
            store_usage(self._config, models_key(context.config), self._counts.ended)
        if self._is_heard and (records := records_of(self._config)):
            hook = self._config.hook.pytest_tau_finished
            hook(records=records, failed=self._failed, summaries=self._summaries())

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the lines of each domain, the usage of models, and remarks on the run."""
        records = records_of(self._config)
        if records:
            yield from self._domain_lines(records)
            yield from self._contrary_lines(records)
            yield from self._behaviour_lines()
        yield from self._remark_lines(graded=bool(records))

    def _behaviour_lines(self) -> Iterator[SummaryLine]:
        from ...participants.behaviours import BEHAVIOURS
        from ...participants.personas import BEHAVIOUR

        behaviours = (OptionValues(self._config).get("user_persona") or {}).get(BEHAVIOUR, {})
        for name in filter(BEHAVIOURS.__contains__, behaviours):
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
        is_wanted = self._is_heard or self._config.get_verbosity() > 0
        if not is_wanted and len(records) > _MANY and all(record.passed for record in records):
            return {}
        ran = {record.group.task for record in records}
        known = {each.record.group.task: each.floor for _, each in self._counts.ended if each.record is not None}
        return {**known, **{task: floor_of(self._specs[task]) for task in ran & self._specs.keys()}}

    def _domain_lines(self, records: list[TrialRecord]) -> Iterator[SummaryLine]:
        from ...analysis.metrics import outcome_summary
        from ...analysis.scores import outcomes_by_group
        from ...reports.text import capability_lines, detail_lines, variant_lines
        from ...runs.groups import find_variants
        from ..capabilities import active_capabilities, capabilities_of

        verbosity, width = self._config.get_verbosity(), self._config.get_terminal_writer().fullwidth
        several = bool(find_variants(record.group for record in records))
        wanted = verbosity >= 0 or several
        details = {summary.name: summary for summary in self._summaries()} if wanted else {}
        room = width - len(_PREFIX) - 1
        known = capabilities_of(self._config)
        asked_for = {active.capability.name for active in active_capabilities(self._config) if active.is_asked_for}
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
            brief, everything = verbosity < 0, verbosity > 0
            for line in capability_lines(
                known, trials, asked=asked_for, everything=everything, width=room, brief=brief
            ):
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
        again = sum(n > 1 for n in Counter(test for test, trial in self._counts.ended if trial.record).values())
        if again:
            text = f"{plural(again, 'trial')} run again: only the last outcome counts, also in rates and gates"
            yield SummaryLine(f"{_PREFIX} {text}", {"yellow": True})

    def _remark_lines(self, *, graded: bool) -> Iterator[SummaryLine]:
        trials = [trial for _, trial in self._counts.ended if trial.simulated]
        if different := sum(trial.replay_differences for trial in trials):
            from ...diagnosis.explain import differing_results

            yield SummaryLine(f"{_PREFIX} replay: {differing_results(different)} (-rA shows them)", {"yellow": True})
        yield from self._model_lines()
        context, quiet = get_context(self._config), self._config.get_verbosity() < 0
        stored = any(trial.results_problem is None for trial in trials)
        folder = run_state(self._config).paths.results if stored and not quiet else None
        if folder is not None:
            publisher = run_state(self._config).paths.publisher
            place = relative_path(folder, self._config.invocation_params.dir)
            shown = publisher.store.shown if publisher and not publisher.problems else place
            yield SummaryLine(f"{_PREFIX} simulations stored in {shown}{self._how_to_read(str(shown))}")
        compared = self._counts.comparability if context is not None and not quiet else None
        if compared is not None and (compared.is_asked_for or self._config.get_verbosity() > 0):
            yield SummaryLine(f"{_PREFIX} comparability: {compared.text}")
        yield from self._honest_lines()
        for problem in dict.fromkeys(trial.results_problem for trial in trials if trial.results_problem is not None):
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

    def _how_to_read(self, shown: str) -> str:
        """Return the command that shows failures to a person; empty in CI, and if there is a page already."""
        failed = any(record.outcome == "failed" for record in records_of(self._config))
        if not failed or os.environ.get("CI") or OptionValues(self._config).get("html"):
            return ""
        name = "" if Path(shown).parent == RUNS else f" {shlex.quote(shown)}"
        return f"; to read them: tau view{name} --open"

    def _model_lines(self) -> Iterator[SummaryLine]:
        """Return the usage of models, and how to give a price if the cost of a call of this run is unknown."""
        context, quiet = get_context(self._config), self._config.get_verbosity() < 0
        previous = run_state(self._config).previous
        # A recording goes on from such calls, which belong to the trial that was run again.
        goes_on = context is None or previous is None or context.config.models.tape
        stopped = {} if previous is None or goes_on else previous.info.get("stopped_usage", {})
        models = usage_lines(self._counts.ended, stopped)
        unpriced = unpriced_calls(self._counts.ended)
        if unpriced and not quiet:
            from ...chat.prices import price_hint

            models[-1] += f"; {price_hint()}"
        for line in models[-1:] if quiet else models:
            yield SummaryLine(f"{_PREFIX} {line}")
        if unpriced and context is not None and context.config.models.has_budget:
            calls = plural(unpriced, "model call")
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
        if context is not None and (warning := examples_warning(context, {record.task_id for record in records})):
            yield SummaryLine(f"{_PREFIX} {warning}", {"yellow": True})
        # An agent that raised an exception may have had no time for a call; its failures name the exception.
        agents = unseen_agents(record for record in records if record.termination_reason != "agent_error")
        if context is None or not agents:
            return
        models = context.config.models
        ignored_by = [f"not {'replayed' if models.tape == 'replay' else 'recorded'}"] if models.tape else []
        ignored_by += ["not counted in the budget"] if models.has_budget else []
        ignored_by += ["not counted by the gate on cost"] if context.gates_cost else []
        ignored_by += ["not in the costs"] if any(record.model_usage for record in records) else []
        if ignored_by:
            yield SummaryLine(f"{_PREFIX} {unseen_line(agents, ignored_by)}", {"yellow": True})


def _their(tests: int) -> str:
    return "its trial" if tests == 1 else "their trials"


def _broken_off(records: Sequence[TrialRecord]) -> str:
    """Return in brackets how conversations ended that no side has stopped; empty if each was stopped."""
    from ...models import STOPS

    ends = Counter(record.termination_reason for record in records if record.termination_reason not in STOPS)
    return f" ({', '.join(f'{number} {reason}' for reason, number in ends.most_common())})" if ends else ""
