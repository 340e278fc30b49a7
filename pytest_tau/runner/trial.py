"""A trial: a task with all that it is run with, and what each of its participants may know of that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..environment.functions.patching import patches_of
from ..models import GREETING, AssistantMessage, clone
from ..participants import ParticipantContext, Prompting, view_of
from ..participants.personas import draw_persona
from .participants import behaviour_of, done_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..chat import TrialModels
    from ..environment import Domain, Environment, Tool
    from ..models import Message, Task
    from ..participants import Side
    from ..participants.behaviours import Behaviour
    from ..participants.own_loop import AgentTrial
    from .config import SimulationSettings


@dataclass(frozen=True)
class Trial:
    """A trial of a task, with all that it is run with but its participants; ``TrialRunner`` runs it.

    Attributes:
        task: The task.
        domain: Its domain.
        environment: The databases and tools of this trial alone.
        settings: The settings; the agent is graded as it works, alone or with a user.
        models: The models that its participants and its judge call.
        number: Its number, from 0.
        seed: Its seed; None for none.
        on_message: Called with a copy of each message that is added to the trajectory.
        make_tools: Asks the plugins of the run for tools as objects of a framework, by its name.
        agent_trial: What an agent that runs its own loop is given, if it was made before the conversation.
        test: The node id of its test; empty outside of a test run.
    """

    task: Task
    domain: Domain
    environment: Environment
    settings: SimulationSettings
    models: TrialModels
    number: int = 0
    seed: int | None = None
    on_message: Callable[[Message], None] | None = None
    make_tools: Callable[[str, Sequence[Any]], Any] | None = None
    agent_trial: AgentTrial | None = None
    test: str = ""

    def __post_init__(self) -> None:
        settings = self.settings
        if settings.evaluation.solo != settings.solo:
            settings = replace(settings, evaluation=replace(settings.evaluation, solo=settings.solo))
            object.__setattr__(self, "settings", settings)

    @cached_property
    def persona(self) -> Mapping[str, str]:
        """Return how the simulated user behaves, drawn by the seed of the trial; empty for no persona."""
        return draw_persona(self.settings.user_persona, self.seed)

    @cached_property
    def behaviour(self) -> Behaviour | None:
        """Return what makes the simulated user difficult; None for a user that cooperates.

        Raises:
            ConfigurationError: It is unknown.
        """
        return behaviour_of(self.persona, self.settings)

    def context(
        self,
        side: Side,
        greeting: str | None = None,
        *,
        needs_reference: bool = False,
        of: Task | None = None,
        history: Sequence[Message] | None = None,
        seed: int | None = None,
    ) -> ParticipantContext:
        """Return what a participant may know.

        Args:
            side: The side that it plays.
            greeting: The agent's own greeting, if it has one.
            needs_reference: It declares that it needs the whole task.
            of: The task that it is to see; by default that of the first session.
            history: The conversation so far; by default that which the task begins with.
            seed: The seed of another attempt; by default that of the trial.
        """
        task, environment, settings = of or self.task.of_session(0), self.environment, self.settings
        past = (task.message_history or ()) if history is None else history
        opening: list[Message] = [] if environment.solo else [AssistantMessage(content=greeting or GREETING)]
        return ParticipantContext(
            side=side,
            tools=self._tools(side, task),
            instructions=environment.policy if side == "agent" else str(task.user_scenario),
            task=task if needs_reference else view_of(task, side),
            seed=self.seed if seed is None else seed,
            history=clone(list(past)) or opening,
            continues=bool(past),
            solo=environment.solo,
            trial=self.number,
            models=self.models,
            prompting=settings.prompting.get(side, Prompting()),
            protocol=settings.protocol,
            persona=self.persona if side == "user" else {},
            behaviour=self.behaviour if side == "user" else None,
            domain_agents=self.domain.spec.agents,
            spoken=self.domain.spec.spoken,
            make_tools=self.make_tools,
            agent_trial=self.agent_trial,
            patches=patches_of(self.domain.spec) if side == "agent" else None,
            keep_outcomes=environment.keep_outcomes,
            program_env=settings.program_env,
        )

    def _tools(self, side: Side, task: Task) -> list[Tool]:
        if side == "user":
            tools = self.environment.shared_tools("user")
            return tools if task.user_tools is None else [tool for tool in tools if tool.name in task.user_tools]
        tools = self.environment.shared_tools("assistant")
        return [*tools, done_tool(self.settings.protocol.texts)] if self.environment.solo else tools
