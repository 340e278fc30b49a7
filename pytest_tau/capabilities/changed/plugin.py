"""``--tau-changed-since RUN``: the tasks that have to do with what has changed, and a random part of the others."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...errors import ConfigurationError, TauError
from ...files import digest
from ...plugin.context.run_state import open_named_run, require_context, run_state
from ...plugin.items import spec_of
from ...plugin.options import OptionValues
from ...plugin.seams import SummaryLine
from ...plugin.wire import give_output, output_of
from ...text import listed, one_line, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...plugin.items import TaskSpec
    from ...plugin.wire import TrialReport
    from ...runs.record import TrialRecord
    from . import ChangedSettings
    from .touched import DomainChanges, StoredFacts

#: The most reasons, tasks and characters that are shown.
_REASONS, _NAMED, _LONGEST = 6, 50, 100


class Choice(NamedTuple):
    """The choice of one task.

    Attributes:
        domain: Its domain.
        task: Its id.
        chance: The probability with which it is run: 1 if it has to do with a change.
        run: Whether it is run.
        reasons: What it has to do with.
    """

    domain: str
    task: str
    chance: float
    run: bool
    reasons: tuple[str, ...]


def make_changed(config: pytest.Config, settings: ChangedSettings) -> ChangedSince | None:
    """Read the stored run, and return what selects the tasks; None if only the share is in the ini file.

    Raises:
        pytest.UsageError: There is no such run, the share is not one, or it goes without a run.
    """
    values = OptionValues(config)
    share = settings.changed_rest
    if share > 1:
        raise pytest.UsageError(f"{values.label('changed_rest')}: expected a share from 0 to 1, got {share:g}")
    if settings.changed_since is None:
        if not values.from_ini("changed_rest"):
            label = values.label("changed_rest")
            raise pytest.UsageError(
                f"{label}: expected --tau-changed-since RUN as well, whose other tasks it draws from"
            )
        return None
    changed = ChangedSince(config, share)
    try:
        changed.read()
    except (TauError, OSError) as error:
        raise pytest.UsageError(f"{values.label('changed_since')}: {error}") from error
    return changed


class ChangedSince:
    """Deselects tasks that have to do with no change, apart from those that are drawn; shows the weighted rate.

    Args:
        config: pytest's configuration.
        share: The share of the other tasks that is run.
    """

    def __init__(self, config: pytest.Config, share: float) -> None:
        self._config, self._share = config, share
        self._name, self._info = "", dict[str, Any]()
        self._facts: dict[tuple[str, str], StoredFacts] = {}
        self._choices: list[Choice] = []
        self._whole: list[str] = []
        self._records: dict[tuple[str, str], list[TrialRecord]] = defaultdict(list)

    def read(self) -> None:
        """Read the manifest and the facts of the stored conversations.

        Raises:
            ConfigurationError: There is no such run, or it has no conversations.
            OSError: A file cannot be opened.
        """
        from .touched import StoredFacts

        run = open_named_run(self._config, "changed_since")
        self._name = run.name
        for trial in run.trials():
            self._facts.setdefault((trial.domain, trial.simulation.task_id), StoredFacts()).add(trial)
        self._info = run.info
        if not self._facts:
            raise ConfigurationError(f"{run.path}: expected a run with conversations, found none")

    def pytest_report_header(self) -> str:
        """Show the run."""
        return printable(f"tau: changed since {self._name}: the share of other tasks is {self._share:g}")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the tasks that are not run."""
        specs = [spec for item in items if (spec := spec_of(item)) is not None]
        if not specs:
            return
        self._choose(specs)
        choices = [list(each) for each in self._choices]
        give_output(config, capabilities={"changed": {"choices": choices, "whole": self._whole}})
        self._count()
        skipped = {(each.domain, each.task) for each in self._choices if not each.run}
        left = [item for item in items if (spec := spec_of(item)) and (spec.domain.name, spec.task.id) in skipped]
        if left:
            config.hook.pytest_deselected(items=left)
            gone = set(left)
            items[:] = [item for item in items if item not in gone]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the choice from a worker; every worker makes the same one."""
        if found := output_of(node).get("capabilities", {}).get("changed"):
            self._choices = [Choice(*each)._replace(reasons=tuple(each[4])) for each in found["choices"]]
            self._whole = found["whole"]
            self._count()

    def _count(self) -> None:
        run_state(self._config).counts.nothing_changed = not any(each.run for each in self._choices)

    def pytest_tau_trial_reported(self, report: pytest.TestReport, trial: TrialReport, record: TrialRecord) -> None:
        """Collect the trials."""
        del report, trial
        self._records[record.domain, record.task_id].append(record)

    def _choose(self, specs: list[TaskSpec]) -> None:
        """Choose among the tasks of the items; the same in every process, in any order of the items."""
        from ...plugin.store.manifest import unique_tasks

        tasks = {(domain.name, task.id): (domain, task) for domain, task in unique_tasks(specs)}
        changes = self._changes(tasks)
        found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for (name, task_id), (_, task) in tasks.items():
            reasons = self._whole[:1] or changes[name].reasons(task, self._facts.get((name, task_id)))
            found[name][task_id] = tuple(reasons)
        seed = require_context(self._config).config.seed
        self._choices = []
        for name, of_domain in sorted(found.items()):
            others = sorted(
                (task for task, reasons in of_domain.items() if not reasons),
                key=lambda task: digest(f"{seed}\0{name}\0{task}"),
            )
            # One at least, so that something stands for the others.
            drawn = min(len(others), math.ceil(self._share * len(others))) if self._share else 0
            chances = dict.fromkeys(others, drawn / len(others) if others else 0.0)
            chosen = set(others[:drawn])
            self._choices += [
                Choice(name, task, chances.get(task, 1.0), task in chosen or bool(reasons), reasons)
                for task, reasons in sorted(of_domain.items())
            ]

    def _changes(self, tasks: Mapping[tuple[str, str], tuple[Any, Any]]) -> dict[str, DomainChanges]:
        """Return the changes of each domain; note what all tasks have to do with."""
        from ...plugin.store.manifest import recorded_settings
        from ...runs.fingerprints import hashes
        from ...runs.manifest import diff_settings
        from ...runs.provenance import own_version
        from .touched import DomainChanges, domain_changes

        run = require_context(self._config).config
        settings, then = run.simulation, self._info.get("hashes")
        names = {name for name, _ in tasks}
        if not isinstance(then, dict) or "parts" not in then or "settings" not in self._info:
            self._whole = [f"{self._name} has no fingerprints by part: it was written by an earlier version"]
            return {name: DomainChanges() for name in names}
        now = hashes(tasks.values(), settings)
        mine = {"settings": recorded_settings(run), "versions": {"pytest-tau": own_version()}, "hashes": now}
        self._whole = diff_settings(self._info, mine)
        texts = {domain.name: domain for domain, _ in tasks.values()}
        policies = {
            name: domain.environment(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval).policy
            for name, domain in texts.items()
        }
        return {name: domain_changes(name, then, now, policies[name]) for name in names}

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return what was run, why, and the weighted rate."""
        for name in sorted({each.domain for each in self._choices}):
            yield from self._of_domain(name, [each for each in self._choices if each.domain == name])
        if self._records and not all(each.run for each in self._choices):
            text = "the rates above, and gates, are of the tasks that were run, without weights"
            yield SummaryLine(f"tau: changed: {text}")

    def _of_domain(self, name: str, choices: list[Choice]) -> Iterator[SummaryLine]:
        touched = [each for each in choices if each.reasons]
        others = [each for each in choices if not each.reasons]
        drawn = [each for each in others if each.run]
        if self._whole:
            why = listed([one_line(each, _LONGEST) for each in self._whole], _REASONS)
            yield SummaryLine(f"tau: changed: {name}: every task is run ({why})", {"yellow": True})
            return
        counts = Counter(reason for each in touched for reason in each.reasons)
        why = listed([f"{one_line(reason, _LONGEST)}: {number}" for reason, number in counts.most_common()], _REASONS)
        text = f"{len(touched)} of {plural(len(choices), 'task')} have to do with changes since {self._name}"
        text += f" ({why})" if why else ""
        if others:
            chance = f", probability {others[0].chance:.3f}" if drawn else ""
            skipped = plural(len(others) - len(drawn), "task")
            text += f"; {len(drawn)} of {len(others)} others drawn{chance}; {skipped} skipped"
        yield SummaryLine(f"tau: changed: {name}: {text}")
        if self._config.option.verbose > 0:
            yield from self._named(touched, drawn, [each for each in others if not each.run])
        yield from self._weighted(name, choices, drawn=bool(drawn), others=bool(others))

    def _named(self, touched: list[Choice], drawn: list[Choice], skipped: list[Choice]) -> Iterator[SummaryLine]:
        for each in touched[:_NAMED]:
            yield SummaryLine(f"tau: changed:   run: {_id(each)}: {one_line('; '.join(each.reasons), _LONGEST)}")
        for what, found in (("drawn", drawn), ("skipped", skipped)):
            if found:
                yield SummaryLine(f"tau: changed:   {what}: {listed([_id(each) for each in found], _NAMED)}")

    def _weighted(self, name: str, choices: list[Choice], *, drawn: bool, others: bool) -> Iterator[SummaryLine]:
        from .weighted import WeightedTask, weighted_rate

        tasks = []
        for each in choices:
            ran = [one for one in self._records[name, each.task] if one.ran] if each.run else []
            if ran:
                tasks.append(WeightedTask(sum(one.passed for one in ran) / len(ran), each.chance))
        rate = weighted_rate(tasks)
        if rate is None:
            return
        if others and not drawn:
            text = "no rate over all tasks: none of the other tasks was drawn (--tau-changed-rest 0)"
            yield SummaryLine(f"tau: changed: {name}: {text}", {"yellow": True})
            return
        interval = f" (95 % interval {rate.interval.format()})" if rate.interval else ""
        text = f"weighted pass^1 {rate.value:.3f}{interval}, an estimate for all {plural(len(choices), 'task')}"
        yield SummaryLine(f"tau: changed: {name}: {text} from {len(tasks)}, by inverse probability", {"bold": True})


def _id(choice: Choice) -> str:
    return one_line(choice.task, _LONGEST)
