"""``--tau-dry-run``: the trials that would run, with the estimated number and cost of their model calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ...text import plural
from ..context.run_state import get_context, will_be_restored
from ..items import group_of, spec_of, trial_of
from ..seams import SummaryLine
from ..wire import is_worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from ...runner import RunConfig
    from ..items import TaskSpec


def register(config: pytest.Config) -> None:
    """Have pytest only collect, and register the report on what it has collected."""
    config.option.collectonly = True
    if not is_worker(config):
        config.pluginmanager.register(DryRun(config), "tau-dry-run")


class DryRun:
    """Counts the collected trials, and estimates their model calls."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._specs: list[TaskSpec] = []
        self._trials = self._restored = 0
        self._tasks = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the selected trials: those to run, to restore and to replay."""
        groups = {item: group for item in session.items if (group := group_of(item)) is not None}
        trials = [(item, spec) for item in groups if (spec := spec_of(item)) is not None]
        self._trials = len(trials)
        if groups:
            from ...runs.groups import count_tasks

            self._tasks = count_tasks(groups.values())
        missing = [(item, spec) for item, spec in trials if not will_be_restored(item)]
        self._restored = len(trials) - len(missing)
        self._specs = [spec for item, spec in missing if not _has_cassette(item, spec)]

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return tasks, trials, participants, calls and cost."""
        context = get_context(self._config)
        for line in self._lines(context.config) if context is not None else ():
            yield SummaryLine(f"tau: dry run: {line}", {"bold": True})

    def _lines(self, run: RunConfig) -> Iterator[str]:
        yield f"{plural(self._tasks, 'task')}, {plural(self._trials, 'trial')}; nothing was run"
        if self._restored:
            yield f"{plural(self._restored, 'trial')} would be reused from the earlier run"
        replayed = self._trials - self._restored - len(self._specs)
        if replayed:
            yield f"{plural(replayed, 'trial')} would be replayed"
        yield from self._estimates(run) if self._specs else []

    def _estimates(self, run: RunConfig) -> list[str]:
        from ...runner import MODEL_ROLES
        from .costs import estimate, models_key

        roles = {role: choice.name for role, choice in run.choices.items()}
        if not roles:
            return ["no model calls: no model is given"]
        models = ", ".join(f"{role} {name}" for role, name in roles.items())
        if run.models.tape == "replay":
            return [f"no model calls ({models}): they are replayed"]
        tasks = Counter(f"{spec.domain.name}::{spec.task.id}" for spec in self._specs)
        if (estimated := estimate(self._config, models_key(run), tasks)) is not None:
            return [f"{models}: {estimated}"]
        specs = {f"{spec.domain.name}::{spec.task.id}": spec for spec in self._specs}
        calls = sum(number * _gold_calls(specs[task], set(roles)) for task, number in tasks.items())
        others = roles.keys() - {*MODEL_ROLES}  # capabilities call them, each when it likes
        without = f", without those of the {' and the '.join(sorted(others))}" if others else ""
        return [
            f"{models}: at least {calls:,} model calls, as many as the reference actions take{without}; cost unknown: "
            "no earlier run"
        ]


def _has_cassette(item: pytest.Item, spec: TaskSpec) -> bool:
    """Return whether the trial would be replayed in a run that records what is missing."""
    from ..run.models import cassette_path

    return spec.config.models.tape == "missing" and cassette_path(item, spec, trial_of(item)).is_file()


def _gold_calls(spec: TaskSpec, roles: set[str]) -> int:
    """Return how many model calls a trial takes if all participants follow the reference."""
    from ...evaluation import BUILT_IN_JUDGES
    from ...models import AssistantMessage, UserMessage
    from ...runner import simulate

    settings = spec.config.simulation
    settings = replace(settings, evaluation=replace(settings.evaluation, judge=BUILT_IN_JUDGES["accept"]))
    if settings.solo and spec.task.ticket is None:
        return 0
    simulation = simulate(spec.task, domain=spec.domain, agent="gold", settings=replace(settings, llms={}))
    # The agent's greeting takes no call.
    agent = sum(isinstance(message, AssistantMessage) for message in simulation.messages) - (not settings.solo)
    user = sum(isinstance(message, UserMessage) for message in simulation.messages)
    judged = bool(spec.task.criteria.nl_assertions)
    return agent * ("agent" in roles) + user * ("user" in roles) + judged * ("judge" in roles)
