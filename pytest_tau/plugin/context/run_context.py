"""What a run needs once anything of it is asked for: settings, domains, participants, an event loop."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ...chat import LLM, ModelArguments
from ...domains import domain_names, load_domain
from ...environment import DEFAULT_SPLIT, check_task
from ...errors import ConfigurationError, TauError, unknown_name
from ...evaluation import known_components
from ...participants import domain_agent, load_source
from ...runner import RunConfig, import_from, load_judge, select, trial_seeds, unmatched
from ..config import run_config
from ..store.writer import RunLog
from ..wire import share_of_calls
from .budget import Budget
from .event_loop import EventLoop
from .model_checks import check_choices
from .state import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...chat import ChatModel, Role
    from ...environment import Domain, DomainSpec
    from ...evaluation import Evaluator, Judge
    from ...models import Task
    from ...participants import ParticipantSource, Side


class Case(NamedTuple):
    """A task to be run: where, and with which settings."""

    task: Task
    domain: Domain
    config: RunConfig


@dataclass
class Active:
    """The state of a run, made at the first use of any of it; kept in ``config.stash``."""

    pytest_config: pytest.Config
    config: RunConfig
    budget: Budget
    run_log: RunLog
    loop: EventLoop = field(default_factory=EventLoop)
    evaluators: tuple[Evaluator, ...] = ()
    judge: Judge | None = None
    _specs: dict[str, DomainSpec] = field(default_factory=dict)
    _domains: dict[str, Domain] = field(default_factory=dict)
    _sources: dict[tuple[str, str | int], ParticipantSource] = field(default_factory=dict)
    _chat: ChatModel | None = None
    #: Of all tasks that were there to select from.
    known_ids: list[str] = field(default_factory=list)
    _unmatched: set[str] = field(default_factory=set)

    @classmethod
    def make(cls, config: pytest.Config) -> Active:
        """Read the settings, ask the plugins, load participants and judge.

        Raises:
            pytest.UsageError: A setting that cannot be used.
        """
        settings = run_config(config)
        calls = share_of_calls(config, settings.models.max_in_flight)
        settings = replace(settings, models=replace(settings.models, max_in_flight=calls))
        import_from(settings.folder)
        budget, run_log = Budget.of(config, settings.models.budget), RunLog.of(config)
        active = cls(config, settings, budget, run_log, _unmatched=set(settings.task_patterns))
        for specs in config.hook.pytest_tau_domains(config=config):
            active._specs |= {spec.name: spec for spec in specs}
        active.evaluators = tuple(e for found in config.hook.pytest_tau_evaluators(config=config) for e in found)
        try:
            active.judge = load_judge(settings.judge, settings.folder, settings.choice("judge"))
            active.source("agent", settings)
            active.source("user", settings)
            check_choices(settings)
        except TauError as error:
            raise pytest.UsageError(str(error)) from error
        evaluation = replace(settings.simulation.evaluation, judge=active.judge, evaluators=active.evaluators)
        active.config = replace(settings, simulation=replace(settings.simulation, evaluation=evaluation))
        return active

    def domain_names(self) -> list[str]:
        """Every domain that plugins or installed distributions provide."""
        return sorted({*self._specs, *domain_names()})

    def domain(self, name: str) -> Domain:
        """A domain with the run's data.

        Raises:
            ConfigurationError: No such domain, or the data lacks it.
        """
        if name not in self._domains:
            if name in self._specs:
                self._domains[name] = self._specs[name].load(self.config.data_dir)
            elif name in domain_names():
                self._domains[name] = load_domain(name, self.config.data_dir)
            else:
                raise ConfigurationError(unknown_name("domain", name, self.domain_names()))
        return self._domains[name]

    def source(self, side: Side, config: RunConfig) -> ParticipantSource:
        """Where the participants of a side come from, imported once.

        Raises:
            ConfigurationError: It cannot be found, imported or built.
        """
        spec = config.agent_spec if side == "agent" else config.user_spec
        key = (side, spec if isinstance(spec, str) else id(spec))
        if key not in self._sources:
            self._sources[key] = load_source(spec, side, config.folder)
        return self._sources[key]

    def llm(self, role: Role, item: pytest.Item, config: RunConfig) -> LLM | None:
        """The model of a role in one trial; None where it has none.

        Raises:
            ConfigurationError: A plugin made something that is no model.
        """
        choice = config.choice(role)
        if choice is None:
            return None
        hook = item.ihook.pytest_tau_make_model
        made = hook(item=item, role=role, llm=choice.name, llm_args=ModelArguments(choice.args), config=config)
        if isinstance(made, LLM):
            return made
        if not callable(getattr(made, "complete", None)):
            kind = type(made).__name__
            raise ConfigurationError(
                f"pytest_tau_make_model returned a {kind} for {choice.name!r}; expected a ChatModel"
            )
        return LLM(choice.name, made, choice.args)

    def default_chat(self) -> ChatModel:
        """What makes model calls unless a plugin provides something else; one for the run, as it counts its calls."""
        if self._chat is None:
            from ...integrations.litellm import LiteLLM

            models = self.config.models
            self._chat = LiteLLM(timeout=models.timeout, max_in_flight=models.max_in_flight)
        return self._chat

    def domain_cases(self, name: str) -> list[Case]:
        """The tasks of a domain that the settings select.

        Raises:
            ConfigurationError: Nothing is selected, or a task needs what the run lacks.
            TaskFormatError: A task that does not follow the format or does not fit the domain.
        """
        config = replace(self.config, domains=(name,))
        domain = self.domain(name)
        replayed = self.source("agent", config).replay
        split = config.split if config.split or replayed else DEFAULT_SPLIT
        if split == "full" and "full" not in domain.splits:
            split = None
        return self.cases(self.tasks(domain, split), domain, config)

    def tasks(self, domain: Domain, split: str | None) -> list[Task]:
        """The tasks of a domain's split, or those that it makes in their place.

        Raises:
            ConfigurationError: No such split, or the domain makes none.
            TaskFormatError: A task that does not follow the format, or is not sound.
        """
        if self.config.generate is None:
            return domain.tasks(split)
        from ...lint.generated import generated_tasks

        # xdist's controller has verified them.
        verify = not hasattr(self.pytest_config, "workerinput")
        return generated_tasks(domain, self.config.generate, self.config.seed, self.config.difficulty, verify=verify)

    def cases(
        self,
        tasks: list[Task],
        domain: Domain,
        config: RunConfig,
        *,
        file: Path | None = None,
        only: Callable[[list[Task]], list[Task]] | None = None,
    ) -> list[Case]:
        """The tasks among these that the settings select, checked against their domain.

        Args:
            tasks: Those of a domain's split, a file, or a marked test.
            domain: Where they are run.
            config: The settings.
            file: Where the tasks are from, if not from the domain's own files.
            only: Narrows the tasks before the settings do.

        Raises:
            ConfigurationError: Nothing is selected, or a task needs what the run lacks.
            TaskFormatError: A task that does not fit the domain.
        """
        tasks = list(tasks)
        domain.check_mode(solo=config.simulation.solo, policy=config.simulation.policy)
        if name := self.source("agent", config).of_domain:
            domain_agent(name, domain.spec.agents)
        self.pytest_config.hook.pytest_tau_modify_tasks(config=self.pytest_config, domain=domain, tasks=tasks)
        if replay := self.source("agent", config).replay:
            tasks = [task for task in tasks if task.id in replay.task_ids]
            if not tasks:
                raise ConfigurationError(f"{replay.path} has a conversation of none of the tasks of {domain.name!r}")
        tasks = only(tasks) if only else tasks
        if not tasks:
            raise ConfigurationError("there are no tasks")
        self.known_ids += [task.id for task in tasks]
        self._unmatched &= set(unmatched(tasks, config.task_patterns))
        chosen = select(tasks, config.task_patterns, config.num_tasks)
        components = known_components(self.evaluators)
        for task in chosen:
            check_task(task, domain.spec, components, file or domain.file_of(task))
        unjudged = [task.id for task in chosen if task.needs_judge]
        if unjudged and self.judge is None:
            raise ConfigurationError(
                f"{len(unjudged)} of {len(chosen)} tasks need a judge of NL assertions, such as {unjudged[0]!r}: "
                "name a model with --tau-judge-llm, or a judge with --tau-judge (accept and reject judge alike)"
            )
        return [Case(task, domain, config) for task in chosen]

    def check_patterns(self) -> None:
        """Tell a pattern of ``--tau-task`` that no task matched, once everything is collected.

        Raises:
            pytest.UsageError: The pattern, with close matches.
        """
        for pattern in self.config.task_patterns:
            if pattern in self._unmatched and self.known_ids:
                raise pytest.UsageError(unknown_name("task", pattern, self.known_ids))

    def seed(self, trial: int) -> int:
        """The seed of a trial."""
        return trial_seeds(self.config.seed, trial + 1)[trial]

    def close(self) -> None:
        """Cancel what an interruption left behind."""
        self.loop.close()


def active_of(config: pytest.Config) -> Active:
    """The run's state, made now if this is its first use.

    Raises:
        pytest.UsageError: A setting that cannot be used.
    """
    if ACTIVE not in config.stash:
        config.stash[ACTIVE] = Active.make(config)
        config.add_cleanup(config.stash[ACTIVE].close)
    return config.stash[ACTIVE]
