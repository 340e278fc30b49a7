"""One attempt of a trial: the participants are created, the conversation is run, and the verdict is found."""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..background import in_thread
from ..capability.stages import StageCalls
from ..capability.views import TrialView
from ..errors import (
    CapabilityError,
    ConfigurationError,
    DomainError,
    ReplayError,
    TaskFormatError,
    ToolServerError,
    UnusableReplyError,
    is_interrupt,
)
from ..evaluation.outside import StateBefore
from ..models import FAULTS, NO_NOTES, Notes, Simulation, clone, simulation_id
from ..models.copying import assign
from ..orchestrator import Conversation, ConversationSetup, Ending, ending_by
from ..participants import Prompting
from ..stalls import within
from . import continuing
from .grading import grade_trial
from .participants import close_all, create

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..models import Message, Task
    from ..orchestrator import Clock
    from ..participants import Participant, ParticipantContext, ParticipantSource, Side
    from .trial import Trial

#: What an attempt does at a time.
Phase: TypeAlias = Literal["participants", "conversation", "grading", "facts"]


class Attempt:
    """One attempt of a trial.

    Args:
        trial: The trial.
        sources: What makes them, by side.
        clock: The clock of the trial.
        problems: Why capabilities take no part, by name.
        seed: The seed of this attempt.

    Attributes:
        simulation: Its simulation, without the messages of a conversation that has not ended.
        phase: What it does at the moment.
        creating: The side that is created last; None before the first.
        conversation: Its conversation; None before that has begun.
        stages: The stages of its capabilities; None for none.
        unusable: It ended by a reply that cannot be used, after which the protocol may run it again.
        fault: The exception behind an ending by an error, or behind a missing verdict; None if there was none.
        late_calls: The tools of calls that came after the conversation, and were refused; more may come.
    """

    def __init__(
        self,
        trial: Trial,
        sources: Mapping[Side, ParticipantSource],
        clock: Clock,
        problems: Mapping[str, str],
        seed: int | None,
    ) -> None:
        self._trial, self._sources, self._clock, self._seed = trial, sources, clock, seed
        self._environment, self._models, self._task = trial.environment, trial.models, trial.task
        self._before = StateBefore.of(trial.environment)
        self._beginning: continuing.Beginning | None = None
        self._participants: list[Participant] = []
        self.simulation = self._begun()
        self.phase: Phase = "participants"
        self.creating: Side | None = None
        self.conversation: Conversation | None = None
        self.unusable = False
        self.fault: BaseException | None = None
        self.late_calls: Sequence[str] = ()
        settings = trial.settings
        self.stages = StageCalls(dict(problems), settings.foreign_seconds) if settings.capabilities else None

    async def run(self) -> Simulation:
        """Run the conversation, and grade it, unless it ends by a reply that cannot be used.

        Raises:
            BudgetError: The run may spend no more.
        """
        if self.stages is not None:
            self._make(self.stages)
        await self._converse()
        refusal = self._models.ledger.out_of_budget
        if refusal is not None and refusal.of_run:
            raise refusal
        if not self.unusable:
            self.phase = "grading"
            await self.grade(self.simulation)
            self.phase = "facts"
            self.simulation.facts = await self.stages.facts(self.simulation) if self.stages else {}
        return self.simulation

    async def grade(self, simulation: Simulation) -> None:
        """Store the verdict on the conversation in a simulation."""
        fault = await grade_trial(self._trial, simulation, self._before, self._sources["agent"].name)
        self.unusable = isinstance(fault, UnusableReplyError)
        self.fault = self.fault if fault is None or self.unusable else fault

    def end(self, simulation: Simulation, ending: Ending) -> None:
        """Store the ending of the conversation in a simulation."""
        reason, token, problem, kind = ending
        assign(simulation, termination_reason=reason, stop_token=token, error=problem)
        assign(simulation, end_time=self._clock.now(), duration=self._clock.elapsed)
        if kind is not None:
            simulation.note_error_kind(kind)

    def note_lost_facts(self) -> None:
        """Make a simulation an error whose verdict lacks the facts of a capability."""
        simulation, fault = self.simulation, self.stages.fault if self.stages else None
        if fault is not None and simulation.termination_reason not in FAULTS:
            simulation.termination_reason, simulation.error, self.fault = "infrastructure_error", str(fault), fault

    def _begun(self) -> Simulation:
        trial, started = self._trial, self._clock.now()
        return Simulation(
            id=simulation_id(trial.task.id, trial.number, trial.seed, started, trial.test),
            task_id=trial.task.id,
            trial=trial.number,
            seed=trial.seed,
            start_time=started,
            termination_reason="unexpected_error",
            info=Notes(solo=True) if trial.settings.solo else NO_NOTES,
        )

    def _make(self, stages: StageCalls) -> None:
        """Make the stages of the capabilities, whose code may block: an attempt that has begun can be concluded."""
        trial = self._trial
        settings = trial.settings
        known: dict[str, Any] = {
            "agent": self._sources["agent"].name,
            "behaviour": trial.behaviour,
            "models": trial.models,
            "retriever": trial.domain.retriever(settings.policy, settings.retrieval),
        }
        view = partial(TrialView, trial.task, trial.domain, trial.environment, trial.seed, **known)
        stages.make(settings.capabilities, view)

    async def _converse(self) -> None:
        """Run the conversation; its messages are kept however it ends."""
        try:
            ending = await self._conversation()
        except (ConfigurationError, TaskFormatError):
            raise
        except CapabilityError as error:
            ending = Ending("infrastructure_error", error=str(error), kind=type(error).__name__)
            self.fault = error
        except (DomainError, ToolServerError) as error:
            self._environment.fault = str(error)
            shown = f"DomainError: {error}" if isinstance(error, DomainError) else str(error)
            ending, self.fault = Ending("infrastructure_error", error=shown, kind=type(error).__name__), error
        except asyncio.CancelledError:
            await close_all(self._participants)
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A fault of the harness: kept with the messages so far instead of losing them.
            ending, self.fault = Ending("unexpected_error", error="".join(traceback.format_exception(error))), error
        self.end(self.simulation, ending)
        for participant in self._participants:
            if differences := getattr(participant, "differences", []):
                self.simulation.replay_differences += differences
            self.late_calls = getattr(participant, "late_calls", self.late_calls)
        await close_all(self._participants)

    async def _conversation(self) -> Ending:
        """Create the participants, and run the conversation."""
        self._beginning = self.stages.beginning(continuing.Beginning) if self.stages else None
        await self._open()
        settings = self._trial.settings
        # Calls through this package have limits of their own. An agent that calls its model itself may hang.
        limits, is_foreign = settings.limits, any(source.is_foreign for source in self._sources.values())
        is_excused = limits.timeout is None and is_foreign
        if is_excused:
            limits = replace(limits, timeout=settings.foreign_seconds)
        self._restore_environment()
        for side in self._sources:
            failed = await self._add_participant(side, limits.seconds)
            if failed is not None:
                return failed
        agent, user = self._participants
        setup = ConversationSetup(
            limits,
            self._clock,
            self._trial.on_message,
            retry_seconds=self._models.ledger.retry_seconds,
            excused_seconds=self._models.ledger.seconds if is_excused else None,
            enforces_protocol=settings.enforce_protocol,
            one_call=settings.prompting.get("agent", Prompting()).one_call,
            stages=self.stages,
            recreate=partial(self._recreate, limits.seconds),
        )
        self.conversation = conversation = Conversation(self._task, self._environment, agent, user, setup)
        self.phase = "conversation"
        if self._beginning is not None:
            steps = continuing.steps_of(self._beginning)
            conversation.continue_from(clone(list(self._beginning.messages)), *steps)
        try:
            return self._with_fault(await conversation.run(), agent)
        finally:
            self.unusable = conversation.unusable
            # A copy: a participant that ignores its cancellation must not add to what is graded.
            self.simulation.messages, self.fault = list(conversation.messages), conversation.fault

    async def _add_participant(self, side: Side, seconds: float | None) -> Ending | None:
        """Create a participant, who knows what it must of a conversation that is continued; return a failure."""
        source, beginning = self._sources[side], self._beginning
        is_resent = beginning is not None and beginning.ways.get(side) == "replay"
        if needs_reference := source.needs_reference(self._trial.domain.spec.agents):
            self.simulation.note_reference_seen(side)
        context = self._trial.context(
            side,
            getattr(self._participants[0], "greeting", None) if self._participants else None,
            needs_reference=needs_reference,
            of=beginning.session_of(self._task) if beginning is not None else None,
            history=beginning.history_of(side, self._task) if beginning is not None else None,
            seed=self._seed,
        )
        participant = await self._create(source, context, seconds)
        if isinstance(participant, Ending):
            return participant
        if beginning is None:
            return None
        continuing.note_unrestored(beginning, context, source, participant)
        return await self._resend(beginning, participant, side, seconds) if is_resent else None

    async def _create(
        self, source: ParticipantSource, context: ParticipantContext, seconds: float | None
    ) -> Participant | Ending:
        """Create a participant, who is closed at the end; return the ending if that fails."""
        self.creating = context.side
        retry_seconds = partial(self._models.ledger.retry_seconds, context.side)
        participant, fault = await create(source, context, seconds, retry_seconds)
        self.fault = self.fault if fault is None else fault
        if not isinstance(participant, Ending):
            self._participants.append(participant)
        return participant

    async def _recreate(
        self, seconds: float | None, side: Side, task: Task, history: Sequence[Message]
    ) -> Participant | Ending:
        """Create another participant of a side, for a task and a history of its own."""
        source = self._sources[side]
        if source.replay is not None and self.conversation is not None:  # a recording has all sessions
            return self.conversation.sides[side]
        if side == "agent" and self._trial.agent_trial is not None:
            raise ConfigurationError("the agent of a test's own fixture cannot be made again for a new session")
        needs_reference = source.needs_reference(self._trial.domain.spec.agents)
        greeting = getattr(self._participants[0], "greeting", None)
        context = self._trial.context(
            side, greeting, needs_reference=needs_reference, of=task, history=history or None, seed=self._seed
        )
        return await self._create(source, context, seconds)

    async def _open(self) -> None:
        """Open the environment, whose first state is checked before an agent is asked."""
        if self._environment.waits:
            await in_thread(self._environment.open, contextvars.copy_context())
        else:
            self._environment.open()

    def _restore_environment(self) -> None:
        """Restore the state of a conversation that is continued, and note how each side gets the messages so far."""
        beginning = self._beginning
        if beginning is not None:
            beginning.ways = {
                side: continuing.way_of(beginning, side, source) for side, source in self._sources.items()
            }
            continuing.restore_environment(self._environment, self._task, beginning)

    async def _resend(
        self, beginning: continuing.Beginning, participant: Participant, side: Side, seconds: float | None
    ) -> Ending | None:
        """Send a participant the messages of a conversation that is continued; return the ending if that fails."""
        solo = self._trial.settings.solo
        work = continuing.restore_participant(participant, side, self._task, beginning, solo=solo)
        try:
            await within(work, seconds)
        except ReplayError as error:
            self.fault = error
            return ending_by(error, side)
        except TimeoutError:
            return Ending("infrastructure_error", error=f"the {side} was not sent the messages so far in time")
        return None

    def _with_fault(self, ending: Ending, agent: Participant) -> Ending:
        """Return the ending by a fault that a participant has ignored; without one, the ending as it is."""
        agent_trial = self._trial.agent_trial
        conclude = getattr(agent, "conclude", None) or (agent_trial.bridge.conclude if agent_trial else None)
        fault = (conclude() if conclude else None) or self._models.ledger.out_of_budget
        return ending if fault is None or ending.reason in FAULTS else ending_by(fault, "agent")
