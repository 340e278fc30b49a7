"""``--tau-resume``, ``--tau-rerun``: simulations of a previous run are reported again, and only the rest is run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import ConfigurationError, TauError
from ...plain import json
from ...runs.layout import MANIFEST
from ...text import plural, printable, relative_path
from ..context.run_state import run_state
from ..items import spec_of
from ..options import OptionValues
from ..seams import SummaryLine
from ..store.previous_run import PreviousRun
from ..wire import is_worker

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from ...runs.record import TrialRecord
    from ..context.run_context import RunContext

#: The number of differences that are shown.
_MOST_SHOWN = 8


def register(config: pytest.Config) -> None:
    """Find the previous run and check that this one can continue it.

    Raises:
        pytest.UsageError: There is no such run, or its settings or tasks differ from those of this one.
    """
    from ...runs.fingerprints import comparable_part
    from ...runs.manifest import FORMAT, read_manifest
    from ...runs.manifest_diff import diff_settings
    from ..context.build import ensure_context

    state, outcomes, context = run_state(config), OptionValues(config).get("rerun"), ensure_context(config)
    folder = state.paths.results
    if folder is None:
        return  # in a worker on another machine, which its controller refuses
    try:
        then = read_manifest(folder, whole=True)
        if "format" not in then:
            raise ConfigurationError(f"{folder / MANIFEST}: expected format {FORMAT}, got None")
    except TauError as error:
        raise pytest.UsageError(str(error)) from error
    previous = PreviousRun(folder, then, context.seed, outcomes)
    label = state.paths.resume_label
    if not is_worker(config):
        selected = [spec for selector in state.selection.values() for spec in selector.specs]
        if differences := diff_settings(then, comparable_part(context.config, [])):
            raise pytest.UsageError(_refusal(config, folder, "settings", differences))
        if differences := previous.changed(selected, context.config.simulation):
            raise pytest.UsageError(_refusal(config, folder, _changed_parts(differences), differences))
        problem = None if config.option.collectonly else _prepare(config)
        if problem is not None:
            raise pytest.UsageError(f"{label}: {problem}")
    previous.read()
    state.previous = previous
    config.pluginmanager.register(Resume(config, previous, context), "tau-resume")


def _prepare(config: pytest.Config) -> str | None:
    """Lock the folder of the previous run, and make its files ready to be appended to; return why that failed.

    Raises:
        pytest.UsageError: Another process uses it.
    """
    from ..store.spare import take_back
    from ..store.writer import repair_tail

    paths = run_state(config).paths
    with contextlib.suppress(OSError):  # a folder that cannot be written, which the repair reports
        paths.use()
    if paths.results is None:
        return None
    try:
        take_back(paths.results)
    except OSError as error:
        return error.strerror
    return repair_tail(paths.results)


def _changed_parts(differences: list[str]) -> str:
    """Return what has changed since the previous run, tasks or other parts of domains, in words."""
    of_tasks = {difference.startswith("task ") for difference in differences}
    return "versions of " + ("domains and tasks" if len(of_tasks) > 1 else "tasks" if True in of_tasks else "domains")


def _refusal(config: pytest.Config, folder: Path, other: str, differences: list[str]) -> str:
    """Return the message that this run cannot continue the previous one, which had other settings or tasks."""
    left = len(differences) - _MOST_SHOWN
    listed = [*differences[:_MOST_SHOWN], *([f"and {left} more"] if left > 0 else [])]
    label = run_state(config).paths.resume_label
    remedy = "use the same settings" if other == "settings" else "restore them"
    first = f"{_shown(folder, config)} was run with other {other}; {remedy}, or start a new run without {label}"
    return "\n  ".join([f"{label}: {first}", *listed])


def _shown(folder: Path, config: pytest.Config) -> Path:
    return relative_path(folder, config.invocation_params.dir)


def _exchanged_tasks(facts: Mapping[pytest.Item, Mapping[str, Any]]) -> list[str]:
    """Return the tasks that were another one of the same id in the previous run, as if two files have exchanged them.

    Args:
        facts: The facts of each item's simulation in the previous run.
    """
    from ...runs.jsonl import task_text

    exchanged: dict[str, None] = {}
    current: dict[int, Any] = {}  # by the identity of the task, which all of its trials share
    for item, then in facts.items():
        spec = spec_of(item)
        if spec is None:
            continue
        if id(spec.task) not in current:
            current[id(spec.task)] = json.loads(task_text(spec.task))
        if then["task"] not in (None, current[id(spec.task)]):
            file = item.nodeid.partition("::")[0]
            exchanged[f"task {spec.task.id!r} of {file}: another task had this id in the earlier run"] = None
    return list(exchanged)


class Resume:
    """Refuses tasks that have changed, restores simulations, and counts them."""

    def __init__(self, config: pytest.Config, previous: PreviousRun, context: RunContext) -> None:
        self._config, self._previous, self._context = config, previous, context
        self._restored: set[str] = set()
        self._trials: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Refuse changed tasks of files and marked tests, and trials that markers have changed."""
        report = yield
        refusal = self._problem_of([node for node in report.result or () if isinstance(node, pytest.Item)])
        if refusal is not None:
            from ..failure_repr import message_repr

            report.outcome, report.result = "failed", []
            report.longrepr = message_repr(refusal, collector.nodeid)
            report.tau_usage_error = True  # type: ignore[attr-defined]
        return report

    def _problem_of(self, items: list[pytest.Item]) -> str | None:
        """Return why items cannot be reported from the previous run or added to it; None if they can."""
        specs = [spec for item in items if (spec := spec_of(item)) is not None]
        if not specs:
            return None
        if differences := self._previous.changed(specs, self._context.config.simulation):
            return _refusal(self._config, self._previous.folder, _changed_parts(differences), differences)
        then = {item: facts for item in items if (facts := self._previous.facts(item))}
        if differences := _exchanged_tasks(then):
            return _refusal(self._config, self._previous.folder, "versions of tasks", differences)
        if differences := self._changed_trials(then):
            return _refusal(self._config, self._previous.folder, "settings", differences)
        return None

    def _changed_trials(self, facts: Mapping[pytest.Item, Mapping[str, Any]]) -> list[str]:
        """Return how the settings of trials differ from those of the previous run, equal differences once."""
        from ...runs.manifest_diff import diff_values
        from ..run.restore import changed_conditions

        tests: dict[str, list[str]] = {}
        for item, then in facts.items():
            for name, values in changed_conditions(item, then).items():
                (difference,) = diff_values("", {name: values[0]}, {name: values[1]})
                tests.setdefault(difference, []).append(item.nodeid)
        others = {text: f" and {len(named) - 1} more" if len(named) > 1 else "" for text, named in tests.items()}
        return [f"{named[0]}{others[text]}: {text}" for text, named in tests.items()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Restore the item's simulation before its fixtures are set up."""
        if spec_of(item) is not None:
            from ..run.restore import restore

            restore(item)

    def pytest_report_header(self) -> list[str]:
        """Show the run that this one continues."""
        previous = self._previous
        line = f"{plural(previous.found, 'finished simulation')} in {_shown(previous.folder, self._config)}"
        if previous.rerun:
            line += f"; run again: {previous.rerun} ({', '.join(sorted(previous.rerun_outcomes))})"
        return list(map(printable, [f"tau: resume: {line}", *self._commits()]))

    def pytest_tau_trial_reported(self, report: pytest.TestReport, record: TrialRecord) -> None:
        """Count restored trials."""
        self._trials.add(report.nodeid)
        (self._restored.add if record.restored else self._restored.discard)(report.nodeid)

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return how many results come from the previous run."""
        if self._trials:
            restored = f"{len(self._restored):,} of {plural(len(self._trials), 'trial')} reused from the earlier run"
            yield SummaryLine(f"tau: resume: {restored}")

    def _commits(self) -> Iterator[str]:
        """Yield a line if the project's commit has changed; the hashes do not cover the agent's code."""
        from ...runs.provenance import Commit

        then = Commit(self._previous.info["commit"], self._previous.info["dirty"])
        now = Commit.of(self._config.rootpath)
        if then.commit and now.commit and then != now:
            shown = [
                f"{each.commit[:10]}{' with changes' if each.dirty else ''}" for each in (then, now) if each.commit
            ]
            yield f"tau: resume: the project was at {shown[0]} in the earlier run and is at {shown[1]} now"
