"""The arguments of an environment, checked when it is made, and the episodes that follow from them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ...chat import LLM
from ...domains import load_domain
from ...environment import DEFAULT_SPLIT, Domain
from ...episodes import Episode
from ...errors import ConfigurationError, unknown_name
from ...evaluation import Evaluation
from ...evaluation.grading import profile_named
from ...orchestrator import Limits
from ...participants import load_source
from ...runner import ModelChoice, SimulationSettings, load_judge, select, unmatched
from ..default_model import check_model, default_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...chat import ChatModel, Role
    from ...models import Task
    from ...participants import Side


Observation: TypeAlias = Literal["new", "all", "chat"]
Reward: TypeAlias = Literal["verdict", "partial", "shaped"]


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """The arguments of an environment.

    Attributes:
        side: The side that is played.
        domain: The name of an installed domain, or a domain.
        task: The id of the only task.
        tasks: Ids and globs of the tasks, or one of them; None for all of the split.
        split: The split that tasks are drawn from; by default ``base``, and every task if some are named.
        agent: The agent, if the user is played: as ``--tau-agent`` takes it.
        user: The user, if the agent is played: as ``--tau-user`` takes it.
        agent_llm: The name of the agent's model.
        agent_llm_args: Arguments of each of its calls.
        user_llm: The name of the user's model.
        user_llm_args: Likewise.
        judge: The judge of NL assertions: as ``--tau-judge`` takes it.
        judge_llm: The name of the judge's model.
        judge_llm_args: Likewise.
        solo: The agent works alone, from the ticket.
        policy: Variant of the domain's policy; None for its default.
        max_steps: Steps after which an episode is truncated.
        max_errors: Failed tool calls after which an episode is truncated.
        timeout: Seconds after which an episode is truncated; None for no limit.
        grading: ``official`` or ``strict``.
        data_dir: A folder of official data; None for the bundled data.
        observation: ``new``: what was said since one's own last action; ``all``: the whole conversation as text;
            ``chat``: as a list of messages in OpenAI chat format, with the system message.
        reward: ``verdict``: 0 until the end, then the reward of the task. ``partial``: 0 until the end, then the share
            of the task that was done, ``progress`` of partial credit, also if a limit ended the episode. ``shaped``:
            after each step, the difference that its calls have made to ``state`` of partial credit.

    Raises:
        ConfigurationError: An argument cannot be used.
    """

    side: Side
    domain: str | Domain
    task: str | None = None
    tasks: str | Sequence[str] | None = None
    split: str | None = None
    agent: Any = None
    user: Any = None
    agent_llm: str | None = None
    agent_llm_args: Mapping[str, Any] = field(default_factory=dict)
    user_llm: str | None = None
    user_llm_args: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    judge_llm: str | None = None
    judge_llm_args: Mapping[str, Any] = field(default_factory=dict)
    solo: bool = False
    policy: str | None = None
    max_steps: int = 200
    max_errors: int = 10
    timeout: float | None = None
    grading: str = "official"
    data_dir: Path | str | None = None
    observation: Observation = "new"
    reward: Reward = "verdict"

    def __post_init__(self) -> None:
        _check_choice("observation", self.observation, get_args(Observation))
        _check_choice("reward", self.reward, get_args(Reward))
        for name in ("max_steps", "max_errors"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name}: expected a whole number from 1, got {value!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigurationError(f"timeout: expected seconds above 0, got {self.timeout!r}")
        other, spec = ("user", self.user) if self.side == "agent" else ("agent", self.agent)
        if spec is not None:
            load_source(spec, other)  # type: ignore[arg-type]
        # A first episode finds what does not fit: the domain, the tasks, solo mode, the policy, the models.
        self.episode(self.chosen[0], trial=0, seed=0)

    @functools.cached_property
    def loaded(self) -> Domain:
        """The domain."""
        if isinstance(self.domain, Domain):
            return self.domain
        return load_domain(self.domain, self.data_dir)

    @functools.cached_property
    def chosen(self) -> list[Task]:
        """The tasks that are drawn from.

        Raises:
            ConfigurationError: There is no such split or no such task.
        """
        is_named = self.task is not None or self.tasks is not None
        if self.task is not None and self.tasks is not None:
            raise ConfigurationError("task and tasks exclude each other: give one of them")
        patterns = [self.task] if self.task is not None else [self.tasks] if isinstance(self.tasks, str) else self.tasks
        split = self.split if self.split is not None or is_named else DEFAULT_SPLIT
        tasks = self.loaded.tasks(split) if split else [*self.loaded.tasks_by_id().values()]
        missing = unmatched(tasks, patterns or [])
        if missing:
            where = f"of domain {self.loaded.name!r}" + (f", split {split!r}" if split else "")
            raise ConfigurationError(f"{unknown_name('task', missing[0], [task.id for task in tasks])} {where}")
        selected = select(tasks, patterns or [])
        if not selected:
            raise ConfigurationError(f"domain {self.loaded.name!r} has no tasks in split {split!r}")
        return selected

    def task_named(self, name: Any) -> Task:
        """Return the task of an id: of all tasks of the domain.

        Raises:
            ConfigurationError: There is none.
        """
        tasks = self.loaded.tasks_by_id()
        if name not in tasks:
            raise ConfigurationError(f"{unknown_name('task', str(name), tasks)} of domain {self.loaded.name!r}")
        return tasks[name]

    @functools.cached_property
    def simulation(self) -> SimulationSettings:
        """The settings of every episode."""
        choice = None if self.judge_llm is None else ModelChoice(self.judge_llm, self.judge_llm_args)
        judge = load_judge(self.judge, Path.cwd(), choice)
        return SimulationSettings(
            limits=Limits(max_steps=self.max_steps, max_errors=self.max_errors, timeout=self.timeout),
            evaluation=Evaluation(grading=profile_named(self.grading), judge=judge, solo=self.solo),
            solo=self.solo,
            policy=self.policy,
            llms=self._llms,
        )

    @property
    def _llms(self) -> dict[Role, LLM]:
        choices: dict[Role, tuple[str | None, Mapping[str, Any]]] = {
            "agent": (self.agent_llm, self.agent_llm_args),
            "user": (self.user_llm, self.user_llm_args),
            "judge": (self.judge_llm, self.judge_llm_args),
        }
        models: dict[Role, LLM] = {}
        for role, (name, args) in choices.items():
            if name is None:
                continue
            if role == self.side:
                raise ConfigurationError(f"{role}_llm={name!r}: the {role} is played by steps, and needs no model")
            check_model(name, args)
            models[role] = LLM(name, _chat_model(), args)
        return models

    def episode(self, task: Task, *, trial: int, seed: int) -> Episode:
        """Return a new episode of a task.

        Raises:
            ConfigurationError: It cannot be run with these settings.
            TaskFormatError: The task does not fit the domain.
        """
        return Episode(
            task,
            domain=self.loaded,
            side=self.side,
            agent=self.agent,
            user=self.user,
            trial=trial,
            seed=seed,
            settings=self.simulation,
            measure_state=self.reward == "shaped",
        )


def settings_of(side: Side, arguments: Mapping[str, Any]) -> EnvSettings:
    """Return the settings of an environment's arguments.

    Raises:
        ConfigurationError: An argument is unknown, missing, or cannot be used.
    """
    known = [setting.name for setting in fields(EnvSettings) if setting.name != "side"]
    for name in arguments:
        if name not in known:
            raise ConfigurationError(unknown_name("argument of the environment", name, known))
    if "domain" not in arguments:
        raise ConfigurationError("the environment needs a domain, such as domain='retail'")
    return EnvSettings(side=side, **arguments)


@functools.cache
def _chat_model() -> ChatModel:
    """Return the model of all environments of this process, which limits their concurrent calls."""
    return default_model()


def _check_choice(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ConfigurationError(unknown_name(name, str(value), known))
