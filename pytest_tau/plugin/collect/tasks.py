"""The selection of tasks among those of a domain, a file or a marked test, and their checks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ...capability.views import RunView
from ...environment import DEFAULT_SPLIT, check_domain, check_history, check_task, on_other_domain
from ...environment.execution_checks import check_initial_state, check_repeatable
from ...environment.functions.patching import patches_of
from ...errors import ConfigurationError, TaskFormatError, TauError, unknown_name
from ...evaluation import known_components
from ...files import ambiguous_names
from ...garbage import without_collections
from ...models.task_files import SESSIONS_SPLIT
from ...participants import domain_agent
from ...policy import load_rules
from ...runner import item_id, select, unmatched
from ...settings import options_of
from ...text import plural
from ..capabilities import naming
from ..context.model_checks import check_retrieval
from ..hook_calls import modify_tasks
from ..items import MOST_ITEMS, TaskSpec
from ..options import OptionValues
from ..wire import is_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ...environment import Domain
    from ...models import Requestor, Task
    from ...runner import RunConfig, SimulationSettings
    from ..context.run_context import RunContext


class TaskSelector:
    """Selects the tasks of a run."""

    def __init__(self, config: pytest.Config, context: RunContext) -> None:
        self.pytest_config, self._context = config, context

    def of_domain(self, name: str) -> list[TaskSpec]:
        """Return the tasks of a domain that the settings select.

        Raises:
            ConfigurationError: Nothing is selected, or a task needs what the run lacks.
            TaskFormatError: A task that does not follow the format or does not fit the domain.
        """
        config = replace(self._context.config, domains=(name,))
        domain = self._context.domain(name)
        return self.select(self.tasks(domain, self.split(config)), domain, config)

    def split(self, config: RunConfig) -> str | None:
        """Return the split that the settings name, else the default; None, for every task, if the agent is replayed."""
        replayed = self._context.source("agent", config).replay
        return config.split if config.split or replayed else DEFAULT_SPLIT

    def tasks(self, domain: Domain, split: str | None) -> list[Task]:
        """Return the tasks of a domain's split, or generated ones.

        Raises:
            ConfigurationError: There is no such split, or the domain cannot generate tasks.
            TaskFormatError: A task that does not follow the format, or is not sound.
        """
        run = self._context.config
        if run.generate is None:
            return domain.tasks(split) if split else [*domain.tasks_by_id().values()]
        from ...environment import Difficulty
        from ...lint.generated import generated_tasks

        # Workers rely on the controller for that.
        verify = not is_worker(self.pytest_config)
        sessions, difficulty = split == SESSIONS_SPLIT, run.difficulty or Difficulty()
        return generated_tasks(domain, run.generate, run.seed, difficulty, sessions=sessions, verify=verify)

    def select(
        self,
        tasks: list[Task],
        domain: Domain,
        config: RunConfig,
        *,
        file: Path | None = None,
        in_file: Sequence[Task] = (),
        only: Callable[[list[Task]], list[Task]] | None = None,
        checks_states: bool = True,
    ) -> list[TaskSpec]:
        """Return the tasks among these that the settings select, checked against their domain.

        Args:
            tasks: The tasks of a domain's split, a file, or a marked test.
            domain: The domain on which they are run.
            config: The settings.
            file: The file of the tasks, if it is not one of the domain's own.
            in_file: All tasks of that file.
            only: Selects among the tasks before the settings do.
            checks_states: Whether the states that the tasks lead to are checked; not if fixtures that were not set up
                yet may change them.

        Raises:
            ConfigurationError: Nothing is selected, or a task needs what the run lacks.
            TaskFormatError: A task that does not fit the domain.
        """
        alike = ambiguous_names(item_id(task.id) for task in [*tasks, *(in_file if file else _all_tasks(domain))])
        tasks = list(tasks)
        settings = config.simulation
        self._check_domain(domain, config)
        modify_tasks(self.pytest_config, domain, tasks)
        if replay := self._context.source("agent", config).replay:
            tasks = [task for task in tasks if task.id in replay.task_ids]
            if not tasks:
                raise ConfigurationError(f"{replay.path} has no conversation of any task of {domain.name!r}")
        tasks = only(tasks) if only else tasks
        if not tasks:
            raise ConfigurationError("there are no tasks")
        self._context.known_ids += [task.id for task in tasks]
        self._context.unmatched &= set(unmatched(tasks, config.task_patterns))
        if any(each.capability.check for each in settings.capabilities):
            self._context.tools |= set(_tools(domain, tasks[0], settings))
        chosen = select(tasks, config.task_patterns, config.num_tasks)
        self._check(chosen, domain, config, file, checks_states=checks_states)
        return [TaskSpec(task, domain, config, item_id(task.id) in alike) for task in chosen]

    def _check_domain(self, domain: Domain, config: RunConfig) -> None:
        """Check that the domain has what the settings name, and that its data can be read."""
        settings = config.simulation
        domain.check_mode(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval)
        workers = getattr(self.pytest_config, "workerinput", {}).get("workercount", 1)
        if domain.spec.agent_db.one_at_a_time and max(config.concurrency, workers) > 1:
            raise ConfigurationError(
                f"domain {domain.name!r}: reset= sets back one state that all trials share: give each trial its own by "
                "{trial} in command=, env= or reset=, or run one at a time with --tau-concurrency 1 and without workers"
            )
        agent = self._context.source("agent", config)
        agent.check_tools(patches_of(domain.spec))
        if agent.of_domain:
            domain_agent(agent.of_domain, domain.spec.agents, agent.name)
        domain.check_data(settings.policy, settings.retrieval, solo=settings.solo)
        load_rules(domain.spec)
        if (retriever := domain.retriever(settings.policy, settings.retrieval)) is not None:
            check_retrieval(self.pytest_config, self._context, retriever)

    def _check(
        self, tasks: list[Task], domain: Domain, config: RunConfig, file: Path | None, *, checks_states: bool
    ) -> None:
        """Check the selected tasks against their domain and the settings."""
        components = known_components(self._context.evaluators)
        with without_collections():
            for task in tasks:
                if file is None:
                    check_domain(task, domain, self._context.domain_names(), self._context.domain)
                of_task = file or domain.file_of(task)
                try:
                    check_task(task, domain.spec, components, of_task, solo=config.simulation.solo)
                    check_history(task, domain, of_task, solo=config.simulation.solo)
                    if checks_states:
                        check_initial_state(task, domain, of_task)
                except TaskFormatError as error:
                    raise (on_other_domain(error, task, domain, "--tau-domain") if file else error) from None
        if checks_states:
            check_repeatable(tasks, domain)
        unjudged = [task.id for task in tasks if task.needs_judge]
        if unjudged and self._context.judge is None:
            raise ConfigurationError(
                f"{len(unjudged)} of {len(tasks)} tasks need a judge for their NL assertions, such as "
                f"{unjudged[0]!r}: "
                "name a model with --tau-judge-llm, or a judge with --tau-judge (accept and reject give every "
                "statement the same verdict)"
            )
        if len(tasks) * config.trials > MOST_ITEMS:
            raise ConfigurationError(
                f"{plural(len(tasks), 'task')} with {plural(config.trials, 'trial')} each are more tests than a run "
                f"can have ({MOST_ITEMS:,}): lower --tau-trials, or select tasks with --tau-task or --tau-num-tasks"
            )

    def check_patterns(self) -> None:
        """Check that each pattern of ``--tau-task`` matches a task, and that capabilities fit the run.

        Call it once everything is collected.

        Raises:
            pytest.UsageError: A pattern matches none; names it, with close matches.
        """
        for pattern in self._context.config.task_patterns:
            if pattern in self._context.unmatched and self._context.known_ids:
                raise pytest.UsageError(unknown_name("task", pattern, self._context.known_ids))
        config = self._context.config
        view = RunView(sorted(self._context.tools), config.agent_spec, config.user_spec, config.simulation.solo)
        for each in config.simulation.capabilities:
            capability, settings = each.capability, each.settings
            if capability.check is None or not view.tools:
                continue
            with naming(capability, "check"):
                try:
                    capability.check(settings, view)
                except ValueError as error:
                    option = next(iter(options_of(settings)))
                    raise pytest.UsageError(f"{OptionValues(self.pytest_config).label(option.key)}: {error}") from None


def _tools(domain: Domain, task: Task, settings: SimulationSettings) -> Iterator[tuple[Requestor, str]]:
    """Yield the tools of a run over a domain, by side and name; an agent that works alone has those of the user."""
    spec = domain.spec
    yield from (("assistant", name) for name in spec.agent_tools.tool_infos)
    side: Requestor = "assistant" if settings.solo else "user"
    yield from ((side, name) for name in (spec.user_tools.tool_infos if spec.user_tools else ()))
    if domain.retriever(settings.policy, settings.retrieval) is not None:
        environment = domain.environment(task, settings.solo, settings.policy, retrieval=settings.retrieval)
        yield from (("assistant", tool.name) for tool in environment.shared_tools())
        environment.close()


def _all_tasks(domain: Domain) -> list[Task]:
    """Return the tasks of a domain; none if it has no task files of its own, or they cannot be read."""
    try:
        return [*domain.tasks_by_id().values()]
    except TauError:
        return []
