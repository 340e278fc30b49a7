"""One trial: participants are built, the conversation is run, the verdict is found."""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..background import in_thread
from ..capability.stages import StageCalls, most_attempts
from ..capability.views import TrialView
from ..diagnosis.attribution import annotate_failure
from ..environment.functions.patching import patches_of
from ..errors import (
    BudgetError,
    CapabilityError,
    ConfigurationError,
    DomainError,
    ReplayError,
    TaskFormatError,
    ToolServerError,
    UnusableReplyError,
    is_interrupt,
)
from ..evaluation import LazyJudge
from ..evaluation.outside import StateBefore
from ..masking import mask_secrets, masked
from ..models import (
    FAULTS,
    GREETING,
    INTERRUPTED,
    NO_NOTES,
    AssistantMessage,
    Notes,
    Simulation,
    clone,
    simulation_id,
)
from ..models.copying import assign
from ..models.sessions import beginnings, heard, remembered
from ..orchestrator import Clock, Conversation, ConversationSetup, Ending, ending_by, reason_of
from ..participants import DONE, ParticipantContext, Prompting, view_of
from ..participants.personas import draw_persona
from ..stalls import within
from . import continuing
from .conditions import conditions_of
from .discarded import SEED_STEP, Attempts, unusable_attempt
from .grading import grade_trial
from .participants import behaviour_of, check_requirements, close_all, create, done_tool
from .stalled import Attempt, lost_ending, stall_problem, stalled_ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..chat import Tape, TrialModels
    from ..environment import Environment
    from ..models import DiscardedAttempt, Message, Task
    from ..participants import Participant, ParticipantSource, Side
    from ..stalls import Stall
    from .config import TrialSetup
    from .stalled import Phase


class Trial:
    """One trial of a task, over an environment of its own.

    Args:
        setup: What it is run with.

    Attributes:
        setup: What it is run with.
        persona: How its simulated user behaves, drawn by the seed; empty for no persona.
        behaviour: What makes its simulated user difficult; None for a user that cooperates.
        fault: The exception behind an ending by an error, or behind a missing verdict; None if there was none.
        beginning: The beginning of a stored conversation that it continues; None for a conversation of its own.
        phase: What it does at the moment.
        late_calls: The tools of calls that came after the conversation, and were refused; more may come.
    """

    def __init__(self, setup: TrialSetup) -> None:
        self.setup = setup
        self.task, self.domain, self.environment = setup.task, setup.domain, setup.environment
        self.settings, self.models, self._attempt_seed = setup.settings, setup.models, setup.seed
        self.fault: BaseException | None = None
        self.beginning: continuing.Beginning | None = None
        self.late_calls: Sequence[str] = ()
        self.phase: Phase = "planned"
        self._clock = Clock()
        self._sources: dict[Side, ParticipantSource] = {}
        self._unusable = False
        self._at_work: Attempt | None = None
        self._stages: StageCalls | None = None
        self._problems: dict[str, str] = {}
        self.persona = draw_persona(setup.settings.user_persona, setup.seed)
        self.behaviour = behaviour_of(self.persona, setup.settings)

    async def run(self, agent: ParticipantSource, user: ParticipantSource) -> Simulation:
        """Create both participants, run the conversation, grade it.

        Raises:
            ConfigurationError: A participant that cannot be used, or the task needs what the run lacks.
            BudgetError: The run may spend no more; the trial has no result.
            TaskFormatError: The task does not fit the domain.
        """
        check_requirements(self.task, self.domain, self.settings)
        if isinstance(judge := self.settings.evaluation.judge, LazyJudge):
            judge.bind(self.models.get("judge"))
        self.models.run_on(asyncio.get_running_loop())
        tape = self.models.tape
        self._clock, self._sources = Clock(tape.times if tape else ()), {"agent": agent, "user": user}
        if self.environment.retrieval is not None:
            self.environment.retrieval.bind(self.models)
        try:
            simulation = await self._counting_attempt()
        except BaseException:
            if tape:
                tape.abandon()
            raise
        finally:
            self.environment.close()
        return self._completed(simulation)

    async def conclude(self, stall: Stall) -> Simulation:
        """Return the simulation of a trial whose event loop was given up, with the messages and the verdict so far.

        Call it on another loop. What blocks the loop ends this trial by its own fault, and others by none.
        """
        own = stall.trial is not None and stall.trial == self.setup.test
        problem = stall_problem(stall, own=own)
        if self.phase == "planned" and own:  # all that a trial does by then is to carry out the reference actions
            raise ConfigurationError(f"task {self.task.id!r}: its reference actions: {problem}")
        if self.phase == "planned":
            raise RuntimeError(problem)
        attempt = self._attempt_at_work
        simulation = attempt.simulation.model_copy()  # the blocked code may return, and change its own
        graded = self.phase == "facts"
        if self.phase in ("participants", "conversation"):
            running = self._stages.running if self._stages else None
            ending = stalled_ending(attempt, stall, running) if own else lost_ending(problem)
            self._end(simulation, ending)
            simulation.messages = list(attempt.conversation.messages) if attempt.conversation else []
        elif own and not graded:
            simulation.error = f"no verdict: {problem}"
            simulation.note_error_kind("BlockedLoopError")
            graded = True
        if not graded:
            await self._grade(simulation, attempt.before)
        if self._stages is not None:
            simulation.facts = self._stages.problems_by(problem if self.phase == "facts" else None)
        self.environment.close()
        return self._completed(simulation)

    @property
    def _attempt_at_work(self) -> Attempt:
        assert self._at_work is not None, "an attempt has begun"
        return self._at_work

    def abandon(self) -> None:
        """End a trial that is to have no result; it may be run again."""
        if self.models.tape:
            self.models.tape.abandon()
        self.environment.close()

    def _completed(self, simulation: Simulation) -> Simulation:
        """Return the simulation with all that does not depend on how it ended."""
        tape = self.models.tape
        simulation.know_tools({DONE: None, **self.domain.tool_arguments})
        simulation.note_usage(self.models.ledger.usage)
        self.note_late_calls(simulation)
        simulation.conditions = self._conditions()
        _mask(simulation, self.models.arguments)
        if tape:
            _end_recording(self.models, tape, simulation, self._clock)
        annotate_failure(simulation, self.task, self.domain, solo=self.settings.solo)
        self.environment.agent_db.put_back()
        return simulation

    def note_late_calls(self, simulation: Simulation) -> None:
        """Record the calls that came after the conversation and were refused, so far."""
        if self.late_calls:
            simulation.info = replace(simulation.info, late_calls=dict(Counter(self.late_calls)))

    async def _counting_attempt(self) -> Simulation:
        """Run attempts until one counts, and return it; what was discarded is recorded in it.

        The protocol may have the conversation run again by the same seed, after a reply that cannot be used; a
        capability may ask for another attempt, by another seed. One that ends in an error, or that a budget stops,
        does not replace one that has a verdict.

        Source: τ²-bench v1.0.1: a reply of a model that cannot be used runs the simulation again, by the same seed.
        """
        most, self._problems = most_attempts(self.settings.capabilities)
        conversations = self.settings.protocol.attempts
        if self.setup.agent_trial is not None:  # what a test's own fixtures made of the trial cannot be made again
            most = conversations = 1
        start = self.environment.fork() if most > 1 or conversations > 1 else None
        attempts = Attempts()
        unusable: list[DiscardedAttempt] = []
        while True:
            try:
                simulation = await self._attempt()
            except BudgetError:
                if attempts.kept is None:
                    raise
                break
            if self._unusable and len(unusable) + 1 < conversations:
                unusable.append(unusable_attempt(simulation))
                self._start_again(start)
                continue
            self._note_conversations(simulation, unusable)
            unusable = []
            attempts.add(simulation)
            if simulation.outcome == "error" or self._stages is None:
                break
            ruling = await self._stages.ruling(simulation)
            if ruling is None or not ruling.again:
                simulation.excluded = None if ruling is None else ruling.reason
                break
            if attempts.number == most:
                break
            self._start_again(start)
            self._attempt_seed = None if self.setup.seed is None else self.setup.seed + attempts.number * SEED_STEP
            self.models.reseed(self._attempt_seed)
        if attempts.kept is not simulation:
            self.fault = None  # that of the attempt that was discarded
        return attempts.result()

    async def _attempt(self) -> Simulation:
        """Run the conversation once, and grade it, unless it ends by a reply that cannot be used.

        Raises:
            BudgetError: The run may spend no more.
        """
        simulation, before = self._begin(self._clock), StateBefore.of(self.environment)
        self._at_work, self.phase = Attempt(simulation, before), "participants"
        self._make_stages(self._sources["agent"].name)
        self.beginning, self._unusable = None, False
        await self._converse(simulation)
        refusal = self.models.ledger.out_of_budget
        if refusal is not None and refusal.of_run:
            raise refusal
        if not self._unusable:
            self.phase = "grading"
            await self._grade(simulation, before)
            self.phase = "facts"
            simulation.facts = await self._stages.facts(simulation) if self._stages else {}
        return simulation

    def _start_again(self, start: Environment | None) -> None:
        assert start is not None, "there may be several attempts"
        self.environment.restore(start.fork())

    def _note_conversations(self, simulation: Simulation, unusable: list[DiscardedAttempt]) -> None:
        """Record the conversations before that the protocol has discarded, and facts that the verdict lacks."""
        fault = self._stages.fault if self._stages else None
        if fault is not None and simulation.termination_reason not in FAULTS:
            simulation.termination_reason, simulation.error, self.fault = "infrastructure_error", str(fault), fault
        if unusable:
            if self._unusable:
                simulation.error = f"{simulation.error} (in the last of {len(unusable) + 1} conversations)"
            simulation.info = replace(simulation.info, discarded_attempts=unusable)

    def _conditions(self) -> dict[str, Any]:
        return conditions_of(self.setup, self._sources["agent"], self._sources["user"], self.persona)

    def _make_stages(self, agent: str) -> None:
        active = self.settings.capabilities
        known: dict[str, Any] = {"agent": agent, "behaviour": self.behaviour, "models": self.models}
        known["retriever"] = self.domain.retriever(self.settings.policy, self.settings.retrieval)
        view = partial(TrialView, self.task, self.domain, self.environment, self.setup.seed, **known)
        self._stages = StageCalls(self._problems, self.settings.foreign_seconds) if active else None
        if self._stages is not None:
            self._stages.make(active, view)

    def interrupted(self, why: str) -> Simulation | None:
        """Return the trial as far as it has come, as one that was interrupted; None before its conversation begins.

        May be called in any thread, while the trial runs.

        Args:
            why: What has ended it.
        """
        attempt = self._at_work
        if attempt is None:
            return None
        begun, clock = attempt.simulation, self._clock
        simulation = begun.model_copy()
        if begun.reward_info is None:
            simulation.error = f"interrupted by {why}"
            simulation.note_error_kind(INTERRUPTED)
        if not begun.end_time:  # else the conversation was being graded, and still can be
            messages = list(attempt.conversation.messages) if attempt.conversation else []
            assign(simulation, messages=messages, termination_reason="infrastructure_error")
            assign(simulation, end_time=clock.now(), duration=clock.elapsed)
        simulation.note_usage(self.models.ledger.usage)
        simulation.conditions = self._conditions()
        return simulation

    def context(
        self,
        side: Side,
        greeting: str | None = None,
        *,
        needs_reference: bool = False,
        from_start: bool = False,
        of: Task | None = None,
        history: Sequence[Message] = (),
    ) -> ParticipantContext:
        """Return what a participant may know.

        Args:
            side: The side that it plays.
            greeting: The agent's own greeting, if it has one.
            needs_reference: It declares that it needs the whole task.
            from_start: It is created as at the start of a conversation that is continued.
            of: The task that it is to see; by default that of the session in which it begins.
            history: The conversation so far; by default that which the trial begins with.
        """
        begun = self.beginning.messages if self.beginning is not None else ()
        task, environment = of or self.task.of_session(len(beginnings(begun))), self.environment
        tools = environment.shared_tools("assistant" if side == "agent" else "user")
        if side == "user" and task.user_tools is not None:
            tools = [tool for tool in tools if tool.name in task.user_tools]
        if environment.solo and side == "agent":
            tools = [*tools, done_tool(self.settings.protocol.texts)]
        given: Sequence[Message] = history or task.message_history or ()
        if begun and not history and not from_start:
            given = remembered(self.task, begun) if side == "user" else heard(begun)
        opening: list[Message] = [] if environment.solo else [AssistantMessage(content=greeting or GREETING)]
        return ParticipantContext(
            side=side,
            tools=tools,
            instructions=environment.policy if side == "agent" else str(task.user_scenario),
            task=task if needs_reference else view_of(task, side),
            seed=self._attempt_seed,
            history=clone(list(given)) or opening,
            continues=bool(given),
            solo=environment.solo,
            trial=self.setup.trial,
            models=self.models,
            prompting=self.settings.prompting.get(side, Prompting()),
            protocol=self.settings.protocol,
            persona=self.persona if side == "user" else {},
            behaviour=self.behaviour if side == "user" else None,
            domain_agents=self.domain.spec.agents,
            spoken=self.domain.spec.spoken,
            make_tools=self.setup.make_tools,
            other_loop=self.setup.other_loop,
            agent_trial=self.setup.agent_trial,
            patches=patches_of(self.domain.spec) if side == "agent" else None,
            keep_outcomes=environment.keep_outcomes,
            program_env=self.settings.program_env,
        )

    async def _converse(self, simulation: Simulation) -> None:
        """Run the conversation; its messages are kept however it ends."""
        participants: list[Participant] = []
        try:
            ending = await self._conversation(simulation, participants)
        except (ConfigurationError, TaskFormatError):
            raise
        except CapabilityError as error:
            ending = Ending("infrastructure_error", error=str(error), kind=type(error).__name__)
            self.fault = error
        except (DomainError, ToolServerError) as error:
            self.environment.fault = str(error)
            shown = f"DomainError: {error}" if isinstance(error, DomainError) else str(error)
            ending, self.fault = Ending("infrastructure_error", error=shown, kind=type(error).__name__), error
        except asyncio.CancelledError:
            await close_all(participants)
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A fault of the harness: kept with the messages so far instead of losing them.
            ending, self.fault = Ending("unexpected_error", error="".join(traceback.format_exception(error))), error
        self._end(simulation, ending)
        for participant in participants:
            if differences := getattr(participant, "differences", []):
                simulation.replay_differences += differences
            self.late_calls = getattr(participant, "late_calls", self.late_calls)
        await close_all(participants)

    def _end(self, simulation: Simulation, ending: Ending) -> None:
        reason, token, problem, kind = ending
        assign(simulation, termination_reason=reason, stop_token=token, error=problem)
        assign(simulation, end_time=self._clock.now(), duration=self._clock.elapsed)
        if kind is not None:
            simulation.note_error_kind(kind)

    def _begin(self, clock: Clock) -> Simulation:
        started = clock.now()
        return Simulation(
            id=simulation_id(self.task.id, self.setup.trial, self.setup.seed, started, self.setup.test),
            task_id=self.task.id,
            trial=self.setup.trial,
            seed=self.setup.seed,
            start_time=started,
            termination_reason="unexpected_error",
            info=Notes(solo=True) if self.settings.solo else NO_NOTES,
        )

    async def _conversation(self, simulation: Simulation, participants: list[Participant]) -> Ending:
        """Create the participants, which are added to the list, and run the conversation."""
        self.beginning = self._stages.beginning(continuing.Beginning) if self._stages else None
        await self._open()
        # Calls through this package have limits of their own. An agent that calls its model itself may hang.
        limits, own = self.settings.limits, any(source.is_foreign for source in self._sources.values())
        excused = limits.timeout is None and own
        if excused:
            limits = replace(limits, timeout=self.settings.foreign_seconds)
        ways = self._restore_environment()
        for side, source in self._sources.items():
            greeting = getattr(participants[0], "greeting", None) if participants else None
            from_start = ways.get(side) == "replay"
            if needs_reference := source.needs_reference(self.domain.spec.agents):
                simulation.note_reference_seen(side)
            context = self.context(side, greeting, needs_reference=needs_reference, from_start=from_start)
            made = await self._create(source, context, limits.seconds, participants)
            if isinstance(made, Ending):
                return made
            if self.beginning is not None:
                continuing.note_unrestored(self.beginning, context, source, made)
                if from_start and (failed := await self._restore(made, side, limits.seconds)):
                    return failed
        first, second = participants
        setup = ConversationSetup(
            limits,
            self._clock,
            self.setup.on_message,
            retry_seconds=self._retry_seconds,
            excused_seconds=self._call_seconds if excused else None,
            enforces_protocol=self.settings.enforce_protocol,
            one_call=self.settings.prompting.get("agent", Prompting()).one_call,
            stages=self._stages,
            recreate=partial(self._recreate, participants, limits.seconds),
        )
        conversation = Conversation(self.task, self.environment, first, second, setup)
        self._attempt_at_work.conversation, self.phase = conversation, "conversation"
        if self.beginning is not None:
            conversation.continue_from(clone(list(self.beginning.messages)), *continuing.steps_of(self.beginning))
        try:
            return self._with_fault(await conversation.run(), first)
        finally:
            self._unusable = conversation.unusable
            # A copy: a participant that ignores its cancellation must not add to what is graded.
            simulation.messages, self.fault = list(conversation.messages), conversation.fault

    async def _create(
        self, source: ParticipantSource, context: ParticipantContext, seconds: float | None, made: list[Participant]
    ) -> Participant | Ending:
        """Create a participant, and add it to those that are closed at the end; return the ending if that fails."""
        self._attempt_at_work.creating = context.side
        participant, fault = await create(source, context, seconds, partial(self._retry_seconds, context.side))
        self.fault = self.fault if fault is None else fault
        if not isinstance(participant, Ending):
            made.append(participant)
        return participant

    async def _recreate(
        self,
        participants: list[Participant],
        seconds: float | None,
        side: Side,
        task: Task,
        history: Sequence[Message],
    ) -> Participant | Ending:
        """Create another participant of a side, for a task and a history of its own."""
        source, conversation = self._sources[side], self._attempt_at_work.conversation
        if source.replay is not None and conversation is not None:  # a recording has all sessions
            return conversation.sides[side]
        if side == "agent" and self.setup.agent_trial is not None:
            raise ConfigurationError("the agent of a test's own fixture cannot be made again for a new session")
        needs = source.needs_reference(self.domain.spec.agents)
        greeting = getattr(participants[0], "greeting", None)
        context = self.context(side, greeting, needs_reference=needs, of=task, history=history)
        return await self._create(source, context, seconds, participants)

    async def _open(self) -> None:
        """Open the environment, whose first state is checked before an agent is asked."""
        if self.environment.waits:
            await in_thread(self.environment.open, contextvars.copy_context())
        else:
            self.environment.open()

    def _restore_environment(self) -> Mapping[str, str]:
        """Restore the state of a conversation that is continued; return how each side gets the messages so far."""
        if self.beginning is None:
            return {}
        beginning = self.beginning
        beginning.ways = {side: continuing.way_of(beginning, side, source) for side, source in self._sources.items()}
        continuing.restore_environment(self.environment, self.task, self.beginning)
        return self.beginning.ways

    async def _restore(self, participant: Participant, side: Side, seconds: float | None) -> Ending | None:
        """Send a participant the messages of a conversation that is continued; return the ending if that fails."""
        assert self.beginning is not None, "the trial continues a conversation"
        work = continuing.restore_participant(participant, side, self.task, self.beginning, solo=self.settings.solo)
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
        conclude = getattr(agent, "conclude", None) or (
            self.setup.agent_trial.bridge.conclude if self.setup.agent_trial else None
        )
        fault = (conclude() if conclude else None) or self.models.ledger.out_of_budget
        return ending if fault is None or ending.reason in FAULTS else ending_by(fault, "agent")

    def _retry_seconds(self, side: Side) -> float:
        return self.models.ledger.retry_seconds(side)

    def _call_seconds(self, side: Side) -> float:
        return self.models.ledger.seconds(side)

    async def _grade(self, simulation: Simulation, before: StateBefore) -> None:
        found = await grade_trial(self.setup, simulation, before, self._sources["agent"].name)
        self._unusable = isinstance(found, UnusableReplyError)
        self.fault = self.fault if found is None or self._unusable else found


def _mask(simulation: Simulation, arguments: Mapping[str, Any]) -> None:
    """Mask the keys in what is said of a trial, before anything is shown or stored; its messages are the agent's."""
    simulation.error = simulation.error and mask_secrets(simulation.error, arguments)
    simulation.replay_differences = masked(simulation.replay_differences, arguments)
    if simulation.info.discarded_attempts or simulation.info.outside_changes is not None:
        simulation.info = Notes.read(masked(simulation.info.as_info(), arguments))


def _end_recording(models: TrialModels, tape: Tape, simulation: Simulation, clock: Clock) -> None:
    """Keep the recording of a trial that has a verdict. One without must be made again, from the calls so far."""
    if simulation.outcome == "error":
        tape.abandon()
        return
    try:
        models.end_recording(simulation.termination_reason, simulation.error, clock.readings)
    except (ReplayError, OSError) as error:
        simulation.termination_reason = reason_of(error)
        simulation.error = f"{type(error).__name__}: {error}"
        simulation.note_error_kind(type(error).__name__)
