"""Running one trial: participants are built, the conversation is held, the verdict is found."""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..environment import Tool
from ..errors import (
    ConfigurationError,
    EvaluatorError,
    JudgeError,
    ModelError,
    ReplayError,
    TaskFormatError,
    unknown_name,
)
from ..evaluation import aevaluate, known_components
from ..models import AssistantMessage, Simulation
from ..orchestrator import GREETING, Conversation, Ending
from ..participants import DONE, ParticipantContext, load_source
from .config import SimulationSettings
from .judges import with_deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment import Domain, Environment
    from ..models import Message, Requestor, Task, TerminationReason
    from ..participants import Participant, ParticipantSource, Side


def default_user(agent: Any, *, solo: bool) -> str:
    """The user that goes with an agent when none is named and no model is configured."""
    if solo:
        return "dummy"
    return agent if isinstance(agent, str) and agent.startswith("replay:") else "gold"


def context_for(
    side: Side,
    task: Task,
    environment: Environment,
    settings: SimulationSettings,
    *,
    trial: int,
    seed: int | None,
    greeting: str | None = None,
) -> ParticipantContext:
    """What a participant of this trial may know; ``greeting`` where the agent has one of its own."""
    requestor: Requestor = "assistant" if side == "agent" else "user"
    tools = environment.tools(requestor)
    if side == "user" and task.user_tools is not None:
        tools = [tool for tool in tools if tool.name in task.user_tools]
    if environment.solo and side == "agent":
        tools = [*tools, DONE_TOOL]
    opening: list[Message] = [] if environment.solo else [AssistantMessage(content=greeting or GREETING)]
    return ParticipantContext(
        side=side,
        tools=tools,
        instructions=environment.policy if side == "agent" else str(task.user_scenario),
        task=task,
        seed=seed,
        history=list(task.message_history) or opening,
        solo=environment.solo,
        threads=settings.limits.timeout is not None,
        trial=trial,
    )


def simulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Run one trial and grade it.

    Args:
        task: What is to be done.
        domain: Where.
        agent: A built-in name, ``replay:FILE``, ``module:attribute``, or an object of one of the three forms.
        user: Likewise; by default what goes with the agent.
        trial: Which repetition of the task this is.
        seed: The trial's seed, handed to the participants.
        settings: Limits, grading, solo mode, policy.

    Raises:
        ConfigurationError: An agent or a user that cannot be used.
        TaskFormatError: The task does not fit the domain.
    """
    return asyncio.run(
        asimulate(task, domain=domain, agent=agent, user=user, trial=trial, seed=seed, settings=settings)
    )


async def asimulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Like ``simulate``, inside a running event loop."""
    settings = settings or SimulationSettings()
    user = default_user(agent, solo=settings.solo) if user is None else user
    sources = {"agent": load_source(agent, "agent"), "user": load_source(user, "user")}
    environment = domain.environment(task, solo=settings.solo, policy=settings.policy)

    return await Trial(task, domain, environment, settings, trial, seed).run(sources["agent"], sources["user"])


class Trial:
    """One trial of a task, over an environment of its own.

    Attributes:
        on_message: Called with each message as it is added to the trajectory.
    """

    def __init__(
        self,
        task: Task,
        domain: Domain,
        environment: Environment,
        settings: SimulationSettings,
        trial: int = 0,
        seed: int | None = None,
    ) -> None:
        judge = with_deadline(settings.evaluation.judge, settings.limits.timeout)
        settings = replace(settings, evaluation=replace(settings.evaluation, solo=settings.solo, judge=judge))
        self.task, self.domain, self.environment, self.settings = task, domain, environment, settings
        self.trial, self.seed = trial, seed
        self.on_message: Callable[[Message], None] | None = None

    async def run(self, agent: ParticipantSource, user: ParticipantSource) -> Simulation:
        """Build both participants, hold the conversation, grade it.

        Raises:
            ConfigurationError: A participant that cannot be used, or the task needs what the run lacks.
            TaskFormatError: The task does not fit the domain.
        """
        self._check()
        simulation = self._begin()
        start = time.perf_counter()
        participants: list[Participant] = []
        try:
            ending = await self._hold(simulation, participants, agent, user)
        except (ConfigurationError, TaskFormatError):
            raise
        except Exception as error:  # noqa: BLE001
            # A fault of the harness: kept with the messages so far instead of losing them.
            ending = Ending("unexpected_error", error="".join(traceback.format_exception(error)))
        simulation.termination_reason, simulation.stop_token, simulation.error = ending
        simulation.duration = time.perf_counter() - start
        simulation.end_time = _now()
        for participant in participants:
            simulation.replay_differences += getattr(participant, "differences", [])
        await self._close(participants)
        await self._grade(simulation)
        return simulation

    def _check(self) -> None:
        """Tell what would only come out when the conversation has been paid for."""
        evaluation, task = self.settings.evaluation, self.task
        components = known_components(evaluation.evaluators)
        for name in task.criteria.reward_basis:
            if name not in components:
                problem = unknown_name("reward basis", name, components)
                raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
        if task.needs_judge and evaluation.judge is None:
            raise ConfigurationError(f"task {task.id!r} needs a judge for its NL assertions, and there is none")
        if self.settings.solo and not task.ticket:
            raise ConfigurationError(f"task {task.id!r} has no ticket for an agent that works alone")

    def _begin(self) -> Simulation:
        return Simulation(
            id=f"{self.task.id}-{self.trial}-{self.seed}",
            task_id=self.task.id,
            trial=self.trial,
            seed=self.seed,
            start_time=_now(),
            termination_reason="unexpected_error",
            info={"solo": True} if self.settings.solo else None,
        )

    async def _hold(
        self,
        simulation: Simulation,
        participants: list[Participant],
        agent: ParticipantSource,
        user: ParticipantSource,
    ) -> Ending:
        sides: tuple[tuple[Side, ParticipantSource], ...] = (("agent", agent), ("user", user))
        for side, source in sides:
            greeting = getattr(participants[0], "greeting", None) if participants else None
            built = await self._build(side, source, greeting)
            if isinstance(built, Ending):
                return built
            participants.append(built)
        first, second = participants
        conversation = Conversation(
            self.task, self.environment, first, second, self.settings.limits, on_message=self.on_message
        )
        try:
            return await conversation.run()
        finally:
            # A copy: a participant that ignores its cancellation must not add to what is graded.
            simulation.messages = list(conversation.messages)

    async def _build(self, side: Side, source: ParticipantSource, greeting: str | None) -> Participant | Ending:
        context = context_for(
            side, self.task, self.environment, self.settings, trial=self.trial, seed=self.seed, greeting=greeting
        )
        fault: TerminationReason = "agent_error" if side == "agent" else "user_error"

        async def make() -> Participant | Ending:
            try:
                return await source.make(context)
            except (ConfigurationError, TaskFormatError):
                raise
            except (ModelError, ReplayError) as error:
                return Ending("infrastructure_error", error=f"{type(error).__name__}: {error}")
            except (Exception, SystemExit) as error:  # noqa: BLE001
                # Whatever a participant's constructor raises is that participant's fault.
                return Ending(fault, error=f"the {side} could not be built: {type(error).__name__}: {error}")

        try:
            return await asyncio.wait_for(make(), self.settings.limits.timeout)
        except asyncio.TimeoutError:
            reason: TerminationReason = "timeout" if side == "agent" else "user_error"
            return Ending(reason, error=f"the {side} was not built in time")

    async def _close(self, participants: list[Participant]) -> None:
        for participant in participants:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(_close(participant), _CLOSING_TIME)

    async def _grade(self, simulation: Simulation) -> None:
        evaluation, reason = self.settings.evaluation, simulation.termination_reason
        try:
            simulation.reward_info = await aevaluate(self.task, simulation.messages, reason, self.domain, evaluation)
        except (JudgeError, EvaluatorError) as error:
            simulation.termination_reason = "infrastructure_error"
            simulation.error = f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001
            # A fault of the harness: the conversation is kept.
            simulation.termination_reason = "unexpected_error"
            simulation.error = f"grading failed: {type(error).__name__}: {error}"


#: How an agent that works alone says that it is finished.
DONE_TOOL = Tool(
    name=DONE,
    description="Say that the ticket is dealt with, or that nothing more can be done. This ends the work.",
    parameters={"properties": {}, "title": "parameters", "type": "object"},
    kind="generic",
    mutates=False,
)
#: Seconds that a participant gets to close.
_CLOSING_TIME = 5.0


async def _close(participant: Participant) -> None:
    # The verdict stands, however untidily a participant leaves.
    with contextlib.suppress(Exception, SystemExit):
        await participant.close()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
