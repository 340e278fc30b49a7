"""Running one trial: participants are built, the conversation is held, the verdict is found."""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, JudgeError, ModelError, ReplayError, TaskFormatError
from ..evaluation import aevaluate
from ..models import AssistantMessage, Simulation
from ..orchestrator import GREETING, Conversation, Ending
from ..participants import ParticipantContext, load_source
from .config import SimulationSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..environment import Domain, Environment
    from ..models import Message, Requestor, Task, TerminationReason
    from ..participants import Participant, Side


def default_user(agent: Any, *, solo: bool) -> str:
    """The user that goes with an agent when none is named and no model is configured."""
    if solo:
        return "dummy"
    return agent if isinstance(agent, str) and agent.startswith("replay:") else "gold"


def context_for(
    side: Side, task: Task, environment: Environment, settings: SimulationSettings, *, trial: int, seed: int | None
) -> ParticipantContext:
    """What a participant of this trial may know."""
    requestor: Requestor = "assistant" if side == "agent" else "user"
    tools = environment.tools(requestor)
    if side == "user" and task.user_tools is not None:
        tools = [tool for tool in tools if tool.name in task.user_tools]
    opening: list[Message] = [] if environment.solo else [AssistantMessage(content=GREETING)]
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

    def make(side: Side) -> Callable[[], Awaitable[Participant]]:
        context = context_for(side, task, environment, settings, trial=trial, seed=seed)
        return lambda: sources[side].make(context)

    return await Trial(task, domain, environment, settings, trial, seed).run(make("agent"), make("user"))


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
        if settings.evaluation.solo != settings.solo:
            settings = replace(settings, evaluation=replace(settings.evaluation, solo=settings.solo))
        self.task, self.domain, self.environment, self.settings = task, domain, environment, settings
        self.trial, self.seed = trial, seed
        self.on_message: Callable[[Message], None] | None = None

    async def run(
        self, make_agent: Callable[[], Awaitable[Participant]], make_user: Callable[[], Awaitable[Participant]]
    ) -> Simulation:
        """Build both participants, hold the conversation, grade it.

        Raises:
            ConfigurationError: A participant that cannot be used.
            TaskFormatError: The task does not fit the domain.
        """
        simulation = self._begin()
        start = time.perf_counter()
        participants: list[Participant] = []
        try:
            ending = await self._hold(simulation, participants, make_agent, make_user)
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
        make_agent: Callable[[], Awaitable[Participant]],
        make_user: Callable[[], Awaitable[Participant]],
    ) -> Ending:
        for make, fault in ((make_agent, "agent_error"), (make_user, "user_error")):
            try:
                participants.append(await asyncio.wait_for(make(), self.settings.limits.timeout))
            except (ConfigurationError, TaskFormatError):
                raise
            except (ModelError, ReplayError) as error:
                return Ending("infrastructure_error", error=f"{type(error).__name__}: {error}")
            except asyncio.TimeoutError:
                reason: TerminationReason = "timeout" if fault == "agent_error" else "user_error"
                return Ending(reason, error=f"the {fault.split('_')[0]} was not built in time")
            except (Exception, SystemExit) as error:  # noqa: BLE001
                # Whatever a participant's constructor raises is that participant's fault.
                problem = f"could not be built: {type(error).__name__}: {error}"
                return Ending(fault, error=f"the {fault.split('_')[0]} {problem}")  # type: ignore[arg-type]
        agent, user = participants
        conversation = Conversation(
            self.task, self.environment, agent, user, self.settings.limits, on_message=self.on_message
        )
        simulation.messages = conversation.messages
        return await conversation.run()

    async def _close(self, participants: list[Participant]) -> None:
        for participant in participants:
            # The verdict stands, however untidily a participant leaves.
            with contextlib.suppress(Exception, SystemExit):
                await asyncio.wait_for(participant.close(), _CLOSING_TIME)

    async def _grade(self, simulation: Simulation) -> None:
        evaluation, reason = self.settings.evaluation, simulation.termination_reason
        try:
            simulation.reward_info = await aevaluate(self.task, simulation.messages, reason, self.domain, evaluation)
        except JudgeError as error:
            simulation.termination_reason, simulation.error = "infrastructure_error", f"JudgeError: {error}"
        except Exception as error:  # noqa: BLE001
            # An evaluator of a plugin's may raise anything; the conversation is kept.
            simulation.termination_reason = "unexpected_error"
            simulation.error = f"grading failed: {type(error).__name__}: {error}"


#: Seconds that a participant gets to close.
_CLOSING_TIME = 5.0


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
