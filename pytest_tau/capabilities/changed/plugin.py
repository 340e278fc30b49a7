"""``--tau-changed-since RUN``: the tasks that have to do with what has changed, and a random part of the others."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...capability import run_of
from ...errors import ConfigurationError, TauError
from ...files import digest
from ...text import listed, one_line, plural, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...capability import RunHandle, RunTask
    from ...runs import TrialRecord
    from . import ChangedSettings
    from .touched import DomainChanges, StoredFacts

    #: The trials of each task, by domain and id.
    _Records = dict[tuple[str, str], list[TrialRecord]]

_NAME = "changed"
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
    run = run_of(config)
    share = settings.changed_rest
    if share > 1:
        raise pytest.UsageError(f"{run.label('changed_rest')}: expected a share from 0 to 1, got {share:g}")
    if settings.changed_since is None:
        if run.source("changed_rest") == "command line":
            label = run.label("changed_rest")
            raise pytest.UsageError(
                f"{label}: expected --tau-changed-since RUN as well, whose other tasks it draws from"
            )
        return None
    changed = ChangedSince(run, share, detailed=config.get_verbosity() > 0)
    try:
        changed.read()
    except (TauError, OSError) as error:
        raise pytest.UsageError(f"{run.label('changed_since')}: {error}") from error
    return changed


class ChangedSince:
    """Deselects tasks that have to do with no change, apart from those that are drawn; shows the weighted rate.

    Args:
        run: The run.
        share: The share of the other tasks that is run.
        detailed: Whether the tasks are named in the summary.
    """

    def __init__(self, run: RunHandle, share: float, *, detailed: bool) -> None:
        self._run, self._share, self._detailed = run, share, detailed
        self._name, self._info = "", dict[str, Any]()
        self._facts: dict[tuple[str, str], StoredFacts] = {}
        self._choices: list[Choice] = []
        self._whole: list[str] = []

    def read(self) -> None:
        """Read the manifest and the facts of the stored conversations.

        Raises:
            ConfigurationError: There is no such run, or it has no conversations.
            OSError: A file cannot be opened.
        """
        from .touched import StoredFacts

        run = self._run.stored("changed_since")
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
        specs = [spec for item in items if (spec := self._run.task_of(item)) is not None]
        if not specs:
            return
        self._choose(specs)
        choices = [list(choice) for choice in self._choices]
        self._run.give(_NAME, {"choices": choices, "whole": self._whole})
        self._count()
        skipped = {(choice.domain, choice.task) for choice in self._choices if not choice.run}
        task_of = self._run.task_of
        left = [item for item in items if (spec := task_of(item)) and (spec.domain.name, spec.task.id) in skipped]
        if left:
            config.hook.pytest_deselected(items=left)
            gone = set(left)
            items[:] = [item for item in items if item not in gone]

    def _count(self) -> None:
        self._run.declare_part(empty=not any(choice.run for choice in self._choices))

    def _choose(self, specs: list[RunTask]) -> None:
        """Choose among the tasks of the items; the same in every process, in any order of the items."""
        tasks = {(spec.domain.name, spec.task.id): (spec.domain, spec.task) for spec in specs}
        changes = self._changes(tasks)
        reasons_by_domain: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for (name, task_id), (_, task) in tasks.items():
            reasons = self._whole[:1] or changes[name].reasons(task, self._facts.get((name, task_id)))
            reasons_by_domain[name][task_id] = tuple(reasons)
        seed = specs[0].config.seed
        self._choices = []
        for name, of_domain in sorted(reasons_by_domain.items()):
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
        from ...runs import diff_settings
        from .touched import DomainChanges, domain_changes

        settings, then = self._run.settings.simulation, self._info.get("hashes")
        names = {name for name, _ in tasks}
        if not isinstance(then, dict) or "parts" not in then or "settings" not in self._info:
            self._whole = [f"{self._name} has no fingerprints by part: it was written by an earlier version"]
            return {name: DomainChanges() for name in names}
        recorded = self._run.recorded(tasks.values())
        now = recorded["hashes"]
        self._whole = diff_settings(self._info, recorded)
        texts = {domain.name: domain for domain, _ in tasks.values()}
        policies = {
            name: domain.environment(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval).policy
            for name, domain in texts.items()
        }
        return {name: domain_changes(name, then, now, policies[name]) for name in names}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Add to the summary what was run, why, and the weighted rate."""
        if self._run.is_worker:
            return
        for shared in self._run.given(_NAME)[-1:]:  # every worker makes the same choice
            self._choices = [Choice(*fields)._replace(reasons=tuple(fields[4])) for fields in shared["choices"]]
            self._whole = shared["whole"]
            self._count()
        records: dict[tuple[str, str], list[TrialRecord]] = defaultdict(list)
        for record in self._run.records:
            records[record.domain, record.task_id].append(record)
        for name in sorted({choice.domain for choice in self._choices}):
            self._of_domain(name, [choice for choice in self._choices if choice.domain == name], records)
        if records and not all(choice.run for choice in self._choices):
            self._run.line("changed: the rates above, and gates, are of the tasks that were run, without weights")

    def _of_domain(self, name: str, choices: list[Choice], records: _Records) -> None:
        touched = [choice for choice in choices if choice.reasons]
        others = [choice for choice in choices if not choice.reasons]
        drawn = [choice for choice in others if choice.run]
        if self._whole:
            why = listed([one_line(reason, _LONGEST) for reason in self._whole], _REASONS)
            self._run.line(f"changed: {name}: every task is run ({why})", yellow=True)
            return
        counts = Counter(reason for choice in touched for reason in choice.reasons)
        why = listed([f"{one_line(reason, _LONGEST)}: {number}" for reason, number in counts.most_common()], _REASONS)
        text = f"{len(touched)} of {plural(len(choices), 'task')} have to do with changes since {self._name}"
        text += f" ({why})" if why else ""
        if others:
            chance = f", probability {others[0].chance:.3f}" if drawn else ""
            skipped = plural(len(others) - len(drawn), "task")
            text += f"; {len(drawn)} of {len(others)} others drawn{chance}; {skipped} skipped"
        self._run.line(f"changed: {name}: {text}")
        if self._detailed:
            self._named(touched, drawn, [choice for choice in others if not choice.run])
        self._weighted(name, choices, records, drawn=bool(drawn), others=bool(others))

    def _named(self, touched: list[Choice], drawn: list[Choice], skipped: list[Choice]) -> None:
        for choice in touched[:_NAMED]:
            self._run.line(f"changed:   run: {_id(choice)}: {one_line('; '.join(choice.reasons), _LONGEST)}")
        for label, choices in (("drawn", drawn), ("skipped", skipped)):
            if choices:
                self._run.line(f"changed:   {label}: {listed([_id(choice) for choice in choices], _NAMED)}")

    def _weighted(self, name: str, choices: list[Choice], records: _Records, *, drawn: bool, others: bool) -> None:
        from .weighted import WeightedTask, weighted_rate

        tasks = []
        for choice in choices:
            ran = [record for record in records[name, choice.task] if record.ran] if choice.run else []
            if ran:
                tasks.append(WeightedTask(sum(record.passed for record in ran) / len(ran), choice.chance))
        rate = weighted_rate(tasks)
        if rate is None:
            return
        if others and not drawn:
            text = "no rate over all tasks: none of the other tasks was drawn (--tau-changed-rest 0)"
            self._run.line(f"changed: {name}: {text}", yellow=True)
            return
        interval = f" (95 % interval {rate.interval.format()})" if rate.interval else ""
        text = f"weighted pass^1 {rate.value:.3f}{interval}, an estimate for all {plural(len(choices), 'task')}"
        self._run.line(f"changed: {name}: {text} from {len(tasks)}, by inverse probability", bold=True)


def _id(choice: Choice) -> str:
    return one_line(choice.task, _LONGEST)
