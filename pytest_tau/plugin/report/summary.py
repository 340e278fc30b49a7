"""The summary of a run: at the terminal and for a CI job."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...text import relative_path
from ..context.run_state import get_context, run_state
from ..items import get_item_state, spec_of
from ..options import OptionValues
from ..seams import SummaryBlock, SummaryLine
from ..wire import add_facts, is_worker
from .costs import ModelTotals
from .junit import junit_xml, suite_properties, trial_properties
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ...analysis.summary import DomainSummary
    from ...runs.record import TrialRecord
    from ..items import TaskSpec
    from ..wire import TrialReport

#: More trials than this, all of them passed, have no floor unless it is asked for: it would take a second.
_MANY = 500
#: What begins each of our lines.
_PREFIX = "tau:"
#: The file that GitHub shows as the summary of a job, and what tells that this is such a job.
_STEP_SUMMARY, _ON_GITHUB, _CHECKOUT = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"


class SummaryOptions(NamedTuple):
    """What the options ask for.

    Attributes:
        group_by: What tasks are grouped by.
        markdown: Whether there is to be a page in Markdown.
        file: Where it is written; None to print it.
    """

    group_by: tuple[str, ...] = ()
    markdown: bool = False
    file: Path | None = None


def register(config: pytest.Config) -> None:
    """Register the summary.

    Raises:
        pytest.UsageError: An option of the summary that cannot be used.
    """
    settings = OptionValues(config)
    group_by, form = settings.get("group_by"), settings.get("summary")
    file = _file(settings, form) if form else None
    options = SummaryOptions(_groups(settings, group_by) if group_by else (), bool(form), file)
    config.pluginmanager.register(Summary(config, options), "tau-summary")


def _groups(settings: OptionValues, given: list[str]) -> tuple[str, ...]:
    from ...errors import unknown_name
    from ...runs.record import GROUPS

    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    for name in names:
        if name not in GROUPS:
            raise pytest.UsageError(f"{settings.label('group_by')}: {unknown_name('group', name, GROUPS)}")
    return tuple(dict.fromkeys(names))


def _file(settings: OptionValues, form: str) -> Path | None:
    name, colon, file = form.partition(":")
    if name != "markdown" or bool(colon) != bool(file):
        raise pytest.UsageError(f"{settings.label('summary')}: expected markdown or markdown:FILE, got {form!r}")
    if file:
        return settings.folder("summary") / file
    shown = os.environ.get(_STEP_SUMMARY)
    return Path(shown) if shown else None


class Summary:
    """Sums up the trials of a run.

    Args:
        config: pytest's configuration.
        options: What the options ask for.
    """

    def __init__(self, config: pytest.Config, options: SummaryOptions) -> None:
        self._config, self._options = config, options
        self._models = ModelTotals()
        self._floors: dict[tuple[str, str], bool | None] = {}
        #: By domain and task, for finding the floor at the end.
        self._specs: dict[tuple[str, str], TaskSpec] = {}
        self._problems: dict[str, None] = {}
        self._failed: set[str] = set()
        self._replay_differences = 0
        self._stored = False
        self._found: list[DomainSummary] | None = None

    @property
    def _detailed(self) -> bool:
        """Return whether anybody will see more than the first lines."""
        xml = self._config.getoption("xmlpath", None)  # only the process that reports has the XML itself
        return self._options.markdown or self._config.get_verbosity() >= 0 or bool(xml)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Find out, in the process that has the domain, whether an agent that does nothing passes the task."""
        report = yield
        if report.when != "teardown" or not self._detailed:
            return report
        spec, state = spec_of(item), get_item_state(item)
        simulation = state.simulation if state else None
        if spec and simulation is not None and spec.task.id == simulation.task_id:
            if is_worker(self._config):  # the controller does not have the domain
                add_facts(report, floor=_floor(spec))
            else:
                self._specs[spec.domain.name, spec.task.id] = spec
        return report

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Note failures, the usage of models, and what went wrong beside the trial."""
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when != "teardown":
            return
        if trial.usage is not None:
            self._models.add(trial.usage, trial=trial.simulated)
        if trial.simulated:
            self._stored |= trial.results_problem is None
            if trial.results_problem is not None:
                self._problems[trial.results_problem] = None
            self._replay_differences += trial.replay_differences

    def pytest_tau_trial_reported(self, report: pytest.TestReport, trial: TrialReport, record: TrialRecord) -> None:
        """Note the floor of the task, and add what JUnit's XML has of a trial."""
        if trial.floor is not None:
            self._floors[record.domain, record.task_id] = trial.floor
        if junit_xml(self._config) is not None:
            report.user_properties += trial_properties(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Write what is written to files."""
        if is_worker(self._config):
            return
        context = get_context(self._config)
        if context is not None:
            self._models.remember(self._config, context.config)
        xml = junit_xml(self._config)
        if xml is not None:
            for name, value in suite_properties(self._summaries()):
                xml.add_global_property(name, value)
        if self._options.file is not None:
            self._write(self._options.file)

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return some lines for each domain, the usage of models, and remarks on the run."""
        return SummaryBlock("domains", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        records = records_of(self._config)
        if records:
            yield from self._domain_lines(records)
        yield from self._remark_lines(graded=bool(records))
        if records and self._options.markdown:
            yield from self._ci_lines(records)

    def _summaries(self) -> list[DomainSummary]:
        """Of all trials; to be asked for when they have been reported."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.summary import summarise

            floors = {task: told for task, told in self._all_floors(records).items() if told is not None}
            self._found = summarise(records, floors=floors, group_by=self._options.group_by)
        return self._found or []

    def _all_floors(self, records: list[TrialRecord]) -> dict[tuple[str, str], bool | None]:
        """The floor of each task; none where thousands have passed and nobody has asked for more."""
        asked = self._options.markdown or self._config.get_verbosity() > 0 or junit_xml(self._config) is not None
        if not asked and len(records) > _MANY and all(record.passed for record in records):
            return {}
        return {**self._floors, **{task: _floor(spec) for task, spec in self._specs.items()}}

    def _domain_lines(self, records: list[TrialRecord]) -> Iterator[SummaryLine]:
        from ...analysis.outcomes import outcome_summary
        from ...analysis.scores import outcomes_by_task
        from ...reports.text import detail_lines

        verbosity, width = self._config.get_verbosity(), self._config.get_terminal_writer().fullwidth
        details = {each.name: each for each in self._summaries()} if verbosity >= 0 else {}
        domains: dict[str, list[TrialRecord]] = defaultdict(list)
        for record in records:
            domains[record.domain].append(record)
        for name, trials in sorted(domains.items()):
            yield SummaryLine(f"{_PREFIX} {name}: {outcome_summary(outcomes_by_task(trials))}", {"bold": True})
            if name in details:
                for line in detail_lines(details[name], verbosity=verbosity, width=width - len(_PREFIX) - 1):
                    yield SummaryLine(f"{_PREFIX}{line}")

    def _remark_lines(self, *, graded: bool) -> Iterator[SummaryLine]:
        if self._replay_differences:
            from ...diagnosis.explain import differing_results

            differences = f"{_PREFIX} replay: {differing_results(self._replay_differences)} (-rA shows more)"
            yield SummaryLine(differences, {"yellow": True})
        models, quiet = self._models.lines(), self._config.get_verbosity() < 0
        for line in models[-1:] if quiet else models:
            yield SummaryLine(f"{_PREFIX} {line}")
        folder = run_state(self._config).paths.results if self._stored and not quiet else None
        if folder is not None:
            yield SummaryLine(f"{_PREFIX} simulations kept in {self._shown(folder)}")
        for problem in self._problems:
            yield SummaryLine(f"{_PREFIX} {problem}", {"red": True})
        context = get_context(self._config)
        judge = context.judge if context else None
        if graded and judge is not None and judge.name in ("accept", "reject"):
            yield SummaryLine(
                f"{_PREFIX} NL assertions judged by {judge.name!r}: every statement alike", {"yellow": True}
            )

    def _ci_lines(self, records: list[TrialRecord]) -> Iterator[SummaryLine]:
        from ...reports.markdown import annotation_lines, failing_tasks

        if self._options.file is None:
            yield SummaryLine(self._page())
        if os.environ.get(_ON_GITHUB) == "true":
            # What a gate, a quarantine or the test itself has let pass is no error of the run.
            counted = [record for record in records if record.passed or record.test in self._failed]
            checkout = Path(os.environ.get(_CHECKOUT) or self._config.rootpath)
            for line in annotation_lines(failing_tasks(counted), self._config.rootpath, checkout):
                yield SummaryLine(line)

    def _page(self) -> str:
        from ...reports.markdown import failing_tasks, markdown

        return markdown(self._summaries(), failing_tasks(records_of(self._config)), self._decisions())

    def _decisions(self) -> list[tuple[str, bool | None]]:
        """What gates and baseline say, and whether each is met, where that is what the line is about."""
        plugin = self._config.pluginmanager.get_plugin
        gates: Any = plugin("tau-gates")
        baseline: Any = plugin("tau-baseline")
        found: list[tuple[str, bool | None]] = [(str(each), each.met) for each in (gates.verdicts() if gates else ())]
        for line, colours in baseline.lines() if baseline else ():
            found.append((line, colours.get("green") if "green" in colours else None))
        return found

    def _write(self, file: Path) -> None:
        """Write the page; what GitHub shows may have other pages in it already."""
        if not self._summaries():
            return
        append = str(file) == os.environ.get(_STEP_SUMMARY)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a" if append else "w", encoding="utf-8") as page:
                page.write(self._page())
        except OSError as error:
            self._problems[f"the summary cannot be written to {self._shown(file)}: {error.strerror}"] = None

    def _shown(self, path: Path) -> Path:
        return relative_path(path, self._config.invocation_params.dir)


def _floor(spec: TaskSpec) -> bool | None:
    from ...evaluation import passes_without_agent

    try:
        evaluation = spec.config.simulation.evaluation
        return passes_without_agent(spec.task, spec.domain, evaluation.grading, solo=evaluation.solo)
    except Exception:  # noqa: BLE001 - a domain's own code may raise anything, and the trial has reported it
        return None
