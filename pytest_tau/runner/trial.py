"""One trial: participants are built, the conversation is run, the verdict is found."""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..chat import TrialModels
from ..diagnosis.attribution import annotate_failure
from ..environment import Tool, check_comparable
from ..errors import (
    ConfigurationError,
    EvaluatorError,
    JudgeError,
    ModelError,
    ReplayError,
    TaskFormatError,
    ToolServerError,
    unknown_name,
)
from ..evaluation import LazyJudge, aevaluate, known_components
from ..evaluation.outside import OUTSIDE, Beginning, OutsideObserver
from ..models import FAULTS, AssistantMessage, Simulation, clone
from ..orchestrator import GREETING, Clock, Conversation, Ending, ending_by
from ..participants import DONE, ParticipantContext, Prompting, view_of
from ..participants.containment import describe, is_interrupt
from .judges import with_deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from ..chat import Tape
    from ..environment import Domain, Environment
    from ..models import Message, Task, TerminationReason
    from ..participants import Participant, ParticipantSource, Side
    from ..participants.own_loop import AgentTrial
    from .config import SimulationSettings

T = TypeVar("T")


class Trial:
    """One trial of a task, over an environment of its own.

    Attributes:
        on_message: Called with a copy of each message that is added to the trajectory.
        models: The models that its participants and its judge call.
        make_tools: Asks the plugins of the run for tools as objects of a framework, by its name.
        other_loop: Returns an event loop for model calls outside of the conversation.
        agent_trial: What an agent that runs its own loop is given, if it was made before the conversation.
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
        settings = replace(settings, evaluation=replace(settings.evaluation, solo=settings.solo))
        self.task, self.domain, self.environment, self.settings = task, domain, environment, settings
        self.trial, self.seed = trial, seed
        self.on_message: Callable[[Message], None] | None = None
        self.models = TrialModels(settings.llms, seed=seed)
        self.make_tools: Callable[[str, Sequence[Any]], Any] | None = None
        self.other_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
        self.agent_trial: AgentTrial | None = None

    async def run(self, agent: ParticipantSource, user: ParticipantSource) -> Simulation:
        """Create both participants, run the conversation, grade it.

        Raises:
            ConfigurationError: A participant that cannot be used, or the task needs what the run lacks.
            TaskFormatError: The task does not fit the domain.
        """
        self._check()
        self.models.loop = asyncio.get_running_loop()
        tape = self.models.tape
        clock = Clock(tape.times if tape else ())
        simulation, beginning = self._begin(clock), Beginning.of(self.environment)
        try:
            await self._converse(simulation, clock, agent, user)
            await self._grade(simulation, beginning)
        except BaseException:
            if tape:
                tape.abandon()
            raise
        finally:
            self.environment.close()
        self._add_usage(simulation)
        if tape:
            self._end_tape(tape, simulation, clock)
        annotate_failure(simulation, self.task, self.domain, solo=self.settings.solo)
        return simulation

    def context(self, side: Side, greeting: str | None = None, *, needs_reference: bool = False) -> ParticipantContext:
        """Return what a participant may know.

        Args:
            side: The side that it plays.
            greeting: The agent's own greeting, if it has one.
            needs_reference: It declares that it needs the whole task.
        """
        task, environment = self.task, self.environment
        tools = environment.shared_tools("assistant" if side == "agent" else "user")
        if side == "user" and task.user_tools is not None:
            tools = [tool for tool in tools if tool.name in task.user_tools]
        if environment.solo and side == "agent":
            tools = [*tools, DONE_TOOL]
        opening: list[Message] = [] if environment.solo else [AssistantMessage(content=greeting or GREETING)]
        return ParticipantContext(
            side=side,
            tools=tools,
            instructions=environment.policy if side == "agent" else str(task.user_scenario),
            task=task if needs_reference else view_of(task, side),
            seed=self.seed,
            history=clone(task.message_history) or opening,
            continues=bool(task.message_history),
            solo=environment.solo,
            trial=self.trial,
            models=self.models,
            prompting=self.settings.prompting.get(side, Prompting()),
            domain_agents=self.domain.spec.agents,
            spoken=self.domain.spec.spoken,
            make_tools=self.make_tools,
            other_loop=self.other_loop,
            agent_trial=self.agent_trial,
        )

    async def _converse(
        self, simulation: Simulation, clock: Clock, agent: ParticipantSource, user: ParticipantSource
    ) -> None:
        """Run the conversation; its messages are kept however it ends."""
        participants: list[Participant] = []
        try:
            ending = await self._hold(simulation, clock, participants, (("agent", agent), ("user", user)))
        except (ConfigurationError, TaskFormatError):
            raise
        except asyncio.CancelledError:
            await self._close(participants)
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A fault of the harness: kept with the messages so far instead of losing them.
            ending = Ending("unexpected_error", error="".join(traceback.format_exception(error)))
        simulation.termination_reason, simulation.stop_token, simulation.error = ending
        simulation.end_time = clock.now()
        simulation.duration = clock.elapsed
        for participant in participants:
            simulation.replay_differences += getattr(participant, "differences", [])
        await self._close(participants)

    def _add_usage(self, simulation: Simulation) -> None:
        usage = self.models.usage
        simulation.model_usage = {str(role): used for role, used in usage.items()}
        simulation.agent_cost = usage["agent"].cost if "agent" in usage else None
        simulation.user_cost = usage["user"].cost if "user" in usage else None

    def _end_tape(self, tape: Tape, simulation: Simulation, clock: Clock) -> None:
        """Keep the recording of a trial that has a verdict. One without must be made again, from the calls so far."""
        if simulation.outcome == "error":
            tape.abandon()
            return
        reason = simulation.termination_reason
        if self.models.keep_open:
            self.models.finish_args = (reason, simulation.error, clock.readings, reason == "timeout")
            return
        try:
            tape.finish(reason, simulation.error, clock.readings, timed_out=reason == "timeout")
        except (ReplayError, OSError) as error:
            simulation.termination_reason = "infrastructure_error"
            simulation.error = f"{type(error).__name__}: {error}"

    def _check(self) -> None:
        """Report what would otherwise only be found after the conversation has been paid for."""
        evaluation, task = self.settings.evaluation, self.task
        components = known_components(evaluation.evaluators)
        for name in task.criteria.reward_basis:
            if name not in components:
                problem = unknown_name("reward basis", name, components)
                raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
        check_comparable(task, self.domain.spec)
        if task.needs_judge and evaluation.judge is None:
            raise ConfigurationError(
                f"task {task.id!r} needs a judge for its NL assertions: add --tau-judge or --tau-judge-llm"
            )
        if isinstance(evaluation.judge, LazyJudge):
            evaluation.judge.bind(self.models.get("judge"))
        if self.settings.solo and not task.ticket:
            raise ConfigurationError(f"task {task.id!r} has no ticket, which solo mode needs")

    def _begin(self, clock: Clock) -> Simulation:
        return Simulation(
            id=f"{self.task.id}-{self.trial}-{self.seed}",
            task_id=self.task.id,
            trial=self.trial,
            seed=self.seed,
            start_time=clock.now(),
            termination_reason="unexpected_error",
            info={"solo": True} if self.settings.solo else None,
        )

    async def _hold(
        self,
        simulation: Simulation,
        clock: Clock,
        participants: list[Participant],
        sources: tuple[tuple[Side, ParticipantSource], ...],
    ) -> Ending:
        for side, source in sources:
            greeting = getattr(participants[0], "greeting", None) if participants else None
            if source.needs_reference(self.domain.spec.agents):
                simulation.note_reference_seen(side)
            built = await self._build(side, source, greeting)
            if isinstance(built, Ending):
                return built
            participants.append(built)
        first, second = participants
        conversation = Conversation(self.task, self.environment, first, second, self.settings.limits)
        conversation.clock, conversation.on_message = clock, self.on_message
        conversation.retry_seconds = self._retry_seconds
        try:
            return self._with_fault(await conversation.run(), first)
        finally:
            # A copy: a participant that ignores its cancellation must not add to what is graded.
            simulation.messages = list(conversation.messages)

    def _with_fault(self, ending: Ending, agent: Participant) -> Ending:
        """Return the ending by a fault that the agent's framework has ignored; without one, the ending as it is."""
        fault = getattr(agent, "fault", None) or (self.agent_trial.fault if self.agent_trial else None)
        return ending if fault is None or ending.reason in FAULTS else ending_by(fault, "agent")

    async def _build(self, side: Side, source: ParticipantSource, greeting: str | None) -> Participant | Ending:
        context = self.context(side, greeting, needs_reference=source.needs_reference(self.domain.spec.agents))
        fault: TerminationReason = "agent_error" if side == "agent" else "user_error"

        async def make() -> Participant | Ending:
            try:
                return await source.make(context)
            except (ConfigurationError, TaskFormatError):
                raise
            except (ModelError, ReplayError) as error:
                return Ending("infrastructure_error", error=describe(error))
            except BaseException as error:
                if is_interrupt(error):
                    raise
                # Whatever a participant's constructor raises is that participant's fault.
                return Ending(fault, error=f"the {side} could not be created: {describe(error)}")

        made = await _within(make(), self.settings.limits.timeout)
        if made is not None:
            return made
        limit, retries = self.settings.limits.timeout or 0.0, self._retry_seconds(side)
        if retries > limit / 2:
            problem = f"the {side} was not created in time; {retries:.1f} s were spent on retries of model calls"
            return Ending("infrastructure_error", error=problem)
        reason: TerminationReason = "timeout" if side == "agent" else "user_error"
        return Ending(reason, error=f"the {side} was not created in time")

    def _retry_seconds(self, side: Side) -> float:
        return self.models.retries[side].seconds

    async def _close(self, participants: list[Participant]) -> None:
        for participant in participants:
            await _within(_close(participant), _CLOSING_TIME)

    async def _grade(self, simulation: Simulation, beginning: Beginning) -> None:
        if self.environment.fault is not None:
            return  # replaying would lose another server
        evaluation, reason = self.settings.evaluation, simulation.termination_reason
        judge = evaluation.judge
        if isinstance(judge, LazyJudge):
            judge = judge.bind(self.models.get("judge"))
        evaluation = replace(evaluation, judge=with_deadline(judge, self.settings.limits.timeout))
        observer = OutsideObserver(self.environment, beginning)
        evaluation = replace(evaluation, evaluators=(observer, *evaluation.evaluators))
        try:
            simulation.reward_info = await aevaluate(self.task, simulation.messages, reason, self.domain, evaluation)
        except (JudgeError, EvaluatorError, ModelError, ReplayError, ToolServerError) as error:
            # How the conversation ended stays as it was: it can still be graded.
            simulation.error = f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001
            # A fault of the harness: the conversation is kept.
            simulation.termination_reason = "unexpected_error"
            simulation.error = f"grading failed: {type(error).__name__}: {error}"

        if observer.found is not None:
            simulation.info = (simulation.info or {}) | {OUTSIDE: observer.found.as_dict()}


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
    try:
        await participant.close()
    except BaseException as error:
        if is_interrupt(error):
            raise
        # The verdict stands, however untidily a participant leaves.


async def _within(work: Coroutine[Any, Any, T], seconds: float | None) -> T | None:
    """Return the result of a coroutine; None if it has none in time.

    Unlike ``asyncio.wait_for``, it does not wait for a coroutine that does not let itself be cancelled.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        in_time = task.done()
        task.cancel()
    return task.result() if in_time else None
