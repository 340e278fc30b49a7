"""The summary of a run: at the terminal, for a CI job, in JUnit's XML."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

# Not public; record_testsuite_property, which is, is a fixture, and writes for a test alone.
from _pytest.junitxml import xml_key

from ..context.state import if_active
from ..options import Settings
from ..run.fixtures import SIMULATION, case_of
from ..wire import results_folder
from .model_totals import ModelTotals
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...analysis.summary import DomainSummary
    from ...runs.record import TrialRecord
    from ..context.run_context import Case

#: More trials than this, all of them passed, have no floor unless it is asked for: it would take a second.
_MANY = 500
#: What begins each of our lines.
_PREFIX = "tau:"
#: The file that GitHub shows as the summary of a job, and what tells that this is such a job.
_STEP_SUMMARY, _ON_GITHUB, _CHECKOUT = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"


class Wanted(NamedTuple):
    """What the options ask for.

    Attributes:
        group_by: What tasks are grouped by.
        markdown: Whether there is to be a page in Markdown.
        file: Where it is written; None to print it.
    """

    group_by: tuple[str, ...] = ()
    markdown: bool = False
    file: Path | None = None


def configure(config: pytest.Config) -> None:
    """Begin to collect.

    Raises:
        pytest.UsageError: An option of the summary that cannot be used.
    """
    settings = Settings(config)
    group_by, form = settings.get("group_by"), settings.get("summary")
    file = _file(settings, form) if form else None
    wanted = Wanted(_groups(settings, group_by) if group_by else (), bool(form), file)
    config.pluginmanager.register(Summary(config, wanted), "tau-summary")


def _groups(settings: Settings, given: list[str]) -> tuple[str, ...]:
    from ...analysis.summary import GROUPS
    from ...errors import unknown_name

    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    for name in names:
        if name not in GROUPS:
            raise pytest.UsageError(f"{settings.label('group_by')}: {unknown_name('group', name, GROUPS)}")
    return tuple(dict.fromkeys(names))


def _file(settings: Settings, form: str) -> Path | None:
    name, colon, file = form.partition(":")
    if name != "markdown" or bool(colon) != bool(file):
        raise pytest.UsageError(f"{settings.label('summary')}: expected markdown or markdown:FILE, got {form!r}")
    if file:
        return settings.folder("summary") / file
    shown = os.environ.get(_STEP_SUMMARY)
    return Path(shown) if shown else None


class Summary:
    """Tells what the trials of a run came to; one for each run.

    Args:
        config: pytest's configuration.
        wanted: What the options ask for.
    """

    def __init__(self, config: pytest.Config, wanted: Wanted) -> None:
        self._config, self._wanted = config, wanted
        self._models = ModelTotals()
        self._floors: dict[tuple[str, str], bool | None] = {}
        #: Of each task the case, by which the floor can be found at the end.
        self._cases: dict[tuple[str, str], Case] = {}
        self._problems: dict[str, None] = {}
        self._failed: set[str] = set()
        self._replay_differences = 0
        self._kept = False
        self._found: list[DomainSummary] | None = None

    @property
    def _detailed(self) -> bool:
        """Whether anybody will see more than the first lines."""
        xml = self._config.getoption("xmlpath", None)  # only the process that reports has the XML itself
        return self._wanted.markdown or self._config.get_verbosity() >= 0 or bool(xml)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Tell, where the domain is at hand, whether an agent that does nothing would have passed."""
        report = yield
        case = case_of(item)
        told = case and SIMULATION in item.stash and case.task.id == item.stash[SIMULATION].task_id
        if report.when == "teardown" and case and told and self._detailed:
            if hasattr(self._config, "workerinput"):  # the controller has no domain at hand
                report.tau_floor = _floor(case)  # type: ignore[attr-defined]
            else:
                self._cases[case.domain.name, case.task.id] = case
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take in what a finished test tells of its trial."""
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when != "teardown":
            return
        told, record = dict(report.user_properties), getattr(report, "tau_record", None)
        if "tau_usage" in told:
            self._models.add(str(told["tau_usage"]), trial="tau_outcome" in told)
        if "tau_outcome" in told:
            self._kept |= "tau_results" in told
            if "tau_results_problem" in told:
                self._problems[str(told["tau_results_problem"])] = None
            self._replay_differences += int(told.get("tau_replay_differences", 0))
        if record is None:
            return
        if getattr(report, "tau_floor", None) is not None:
            self._floors[record["domain"], record["task_id"]] = report.tau_floor
        if xml_key in self._config.stash:
            report.user_properties += _properties(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Write what is written to files."""
        if hasattr(self._config, "workerinput"):
            return
        active = if_active(self._config)
        if active is not None:
            self._models.remember(self._config, active.config)
        xml = self._config.stash.get(xml_key, None)
        if xml is not None:
            for name, value in _suite_properties(self._summaries()):
                xml.add_global_property(name, value)
        if self._wanted.file is not None:
            self._write(self._wanted.file)

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Some lines for each domain, what models took, what has to be known of the run."""
        records = records_of(self._config)
        if records:
            self._show_domains(terminalreporter, records)
        self._show_remarks(terminalreporter, graded=bool(records))
        if records and self._wanted.markdown:
            self._show_for_ci(terminalreporter, records)

    def _summaries(self) -> list[DomainSummary]:
        """Of all trials; to be asked for when they have been reported."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.summary import summarise

            floors = {task: told for task, told in self._all_floors(records).items() if told is not None}
            self._found = summarise(records, floors=floors, group_by=self._wanted.group_by)
        return self._found or []

    def _all_floors(self, records: list[TrialRecord]) -> dict[tuple[str, str], bool | None]:
        """The floor of each task; none where thousands have passed and nobody has asked for more."""
        asked = self._wanted.markdown or self._config.get_verbosity() > 0 or xml_key in self._config.stash
        if not asked and len(records) > _MANY and all(record.passed for record in records):
            return {}
        return {**self._floors, **{task: _floor(case) for task, case in self._cases.items()}}

    def _show_domains(self, terminal: Any, records: list[TrialRecord]) -> None:
        from ...analysis.outcomes import outcome_summary
        from ...analysis.summary import outcomes_by_task
        from ...reports.text import detail_lines

        verbosity, width = self._config.get_verbosity(), self._config.get_terminal_writer().fullwidth
        details = {each.name: each for each in self._summaries()} if verbosity >= 0 else {}
        domains: dict[str, list[TrialRecord]] = defaultdict(list)
        for record in records:
            domains[record.domain].append(record)
        for name, trials in sorted(domains.items()):
            terminal.write_line(f"{_PREFIX} {name}: {outcome_summary(outcomes_by_task(trials))}", bold=True)
            if name in details:
                for line in detail_lines(details[name], verbosity=verbosity, width=width - len(_PREFIX) - 1):
                    terminal.write_line(f"{_PREFIX}{line}")

    def _show_remarks(self, terminal: Any, *, graded: bool) -> None:
        if self._replay_differences:
            from ...diagnosis.explain import differing_results

            told = f"{_PREFIX} replay: {differing_results(self._replay_differences)} (-rA shows more)"
            terminal.write_line(told, yellow=True)
        models, quiet = self._models.lines(), self._config.get_verbosity() < 0
        for line in models[-1:] if quiet else models:
            terminal.write_line(f"{_PREFIX} {line}")
        folder = results_folder(self._config) if self._kept and not quiet else None
        if folder is not None:
            terminal.write_line(f"{_PREFIX} simulations kept in {self._shown(folder)}")
        for problem in self._problems:
            terminal.write_line(f"{_PREFIX} {problem}", red=True)
        active = if_active(self._config)
        judge = active.judge if active else None
        if graded and judge is not None and judge.name in ("accept", "reject"):
            told = f"{_PREFIX} NL assertions judged by {judge.name!r}: every statement alike"
            terminal.write_line(told, yellow=True)

    def _show_for_ci(self, terminal: Any, records: list[TrialRecord]) -> None:
        from ...reports.markdown import annotation_lines, failing_tasks

        if self._wanted.file is None:
            terminal.write_line(self._page())
        if os.environ.get(_ON_GITHUB) == "true":
            # What a gate, a quarantine or the test itself has let pass is no error of the run.
            counted = [record for record in records if record.passed or record.test in self._failed]
            checkout = Path(os.environ.get(_CHECKOUT) or self._config.rootpath)
            for line in annotation_lines(failing_tasks(counted), self._config.rootpath, checkout):
                terminal.write_line(line)

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
        start = self._config.invocation_params.dir
        return path.relative_to(start) if path.is_relative_to(start) else path


def _floor(case: Case) -> bool | None:
    from ...evaluation import passes_without_agent

    try:
        evaluation = case.config.simulation.evaluation
        return passes_without_agent(case.task, case.domain, evaluation.grading, solo=evaluation.solo)
    except Exception:  # noqa: BLE001 - a domain's own code may raise anything, and the trial has told it
        return None


def _properties(record: dict[str, Any]) -> list[tuple[str, object]]:
    """What JUnit's XML has of a trial beside what every report has: see ``docs/summary.md``."""
    from ...runs.record import TrialRecord

    trial = TrialRecord.from_dict(record)
    told: list[tuple[str, object]] = [("tau_termination_reason", trial.termination_reason)]
    told += [("tau_seed", trial.seed)] if trial.seed is not None else []
    told += [("tau_failed_checks", "; ".join(trial.failed_checks))] if trial.failed_checks else []
    told += [("tau_turns", trial.turns), ("tau_calls", trial.calls)]
    if trial.usage:
        told.append(("tau_cost", "unknown" if trial.cost is None else f"{trial.cost:.6f}"))
    return [*told, *([("tau_restored", "true")] if trial.restored else [])]


def _suite_properties(summaries: list[DomainSummary]) -> list[tuple[str, str]]:
    """What JUnit's XML has of each domain."""
    found = []
    for summary in summaries:
        scores = summary.scores
        values = {"tasks": str(scores.tasks), "trials": str(scores.trials), "errors": str(scores.errors)}
        values |= {f"pass^{rate.k}": f"{rate.value:.6f}" for rate in scores.rates}
        if summary.floor:
            values["floor"] = f"{summary.floor.rate:.6f}"
        found += [(f"tau.{summary.name}.{name}", value) for name, value in values.items()]
    return found
