"""``--tau-dry-run``: what would run, how many model calls it would take, and at what cost; nothing is called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..context.state import if_active
from ..run.fixtures import case_of, trial_of
from ..store.previous_run import will_be_restored

if TYPE_CHECKING:
    import pytest

    from ...runner import RunConfig
    from ..context.run_context import Case


def configure(config: pytest.Config) -> None:
    """Only collect."""
    config.option.collectonly = True
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(DryRun(config), "tau-dry-run")


class DryRun:
    """Counts what is collected, and tells what it would take."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._cases: list[Case] = []
        self._trials = self._restored = 0
        self._tasks: set[tuple[str, str]] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was selected."""
        found = [(item, case) for item in session.items if (case := case_of(item)) is not None]
        self._trials = len(found)
        self._tasks = {(case.domain.name, case.task.id) for _, case in found}
        missing = [(item, case) for item, case in found if not will_be_restored(item)]
        self._restored = len(found) - len(missing)
        self._cases = [case for item, case in missing if not _has_cassette(item, case)]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tasks, trials, participants; calls and cost."""
        from ...text import plural

        active = if_active(self._config)
        if active is None:
            return
        run = active.config
        told = f"{plural(len(self._tasks), 'task')}, {plural(self._trials, 'trial')}"
        terminalreporter.write_line(f"tau: dry run: {told}; nothing was run", bold=True)
        if self._restored:
            restored = f"{plural(self._restored, 'trial')} would be taken from the earlier run"
            terminalreporter.write_line(f"tau: dry run: {restored}", bold=True)
        replayed = self._trials - self._restored - len(self._cases)
        if replayed:
            terminalreporter.write_line(f"tau: dry run: {plural(replayed, 'trial')} would be replayed", bold=True)
        for line in self._estimates(run) if self._cases else []:
            terminalreporter.write_line(f"tau: dry run: {line}", bold=True)

    def _estimates(self, run: RunConfig) -> list[str]:
        from ...text import money, plural
        from .costs import estimate, models_of

        roles = {role: choice.name for role in ("agent", "user", "judge") if (choice := run.choice(role))}
        if not roles:
            return ["no model calls: no model is configured"]
        named = ", ".join(f"{role} {name}" for role, name in roles.items())
        if run.models.tape == "replay":
            return [f"no model calls ({named}): they are replayed"]
        tasks = Counter(f"{case.domain.name}::{case.task.id}" for case in self._cases)
        found = estimate(self._config, models_of(run), tasks)
        if found is None:
            each = {(case.domain.name, case.task.id): _gold_calls(case, set(roles)) for case in _once(self._cases)}
            calls = sum(each[case.domain.name, case.task.id] for case in self._cases)
            return [f"{named}: at least {calls:,} model calls, which the reference takes; cost unknown: no earlier run"]
        cost = "cost unknown: some prices are" if found.cost is None else f"about {money(found.cost)}"
        basis = f"by {plural(found.trials, 'earlier trial')} of {found.tasks} of {plural(len(tasks), 'task')}"
        return [f"{named}: about {found.calls:,.0f} model calls, {cost}, {basis}"]


def _has_cassette(item: pytest.Item, case: Case) -> bool:
    """Whether the trial would be replayed, although others are recorded."""
    from ..run.models import cassette_path

    return case.config.models.tape == "missing" and cassette_path(item, case, trial_of(item)).is_file()


def _once(cases: list[Case]) -> list[Case]:
    """One case for each task."""
    return list({(case.domain.name, case.task.id): case for case in cases}.values())


def _gold_calls(case: Case, roles: set[str]) -> int:
    """How many model calls a trial takes in which everybody does exactly what the reference does."""
    from ...evaluation import BUILT_IN_JUDGES
    from ...models import AssistantMessage, UserMessage
    from ...runner import simulate

    settings = case.config.simulation
    settings = replace(settings, evaluation=replace(settings.evaluation, judge=BUILT_IN_JUDGES["accept"]))
    if settings.solo and case.task.ticket is None:
        return 0
    simulation = simulate(case.task, domain=case.domain, agent="gold", settings=replace(settings, llms={}))
    # The greeting is nobody's call.
    agent = sum(isinstance(message, AssistantMessage) for message in simulation.messages) - (not settings.solo)
    user = sum(isinstance(message, UserMessage) for message in simulation.messages)
    judged = bool(case.task.criteria.nl_assertions)
    return agent * ("agent" in roles) + user * ("user" in roles) + judged * ("judge" in roles)
