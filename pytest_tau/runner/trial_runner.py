"""Running a trial: attempts until one counts, what is the same however it ends, and its end from outside."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..capability.stages import most_attempts
from ..diagnosis.attribution import annotate_failure
from ..errors import BudgetError, ConfigurationError, ReplayError
from ..evaluation import LazyJudge
from ..masking import mask_secrets, masked
from ..models import INTERRUPTED, Notes
from ..models.copying import assign
from ..orchestrator import Clock, reason_of
from ..participants import DONE
from .attempt import Attempt
from .conditions import conditions_of
from .discarded import SEED_STEP, Attempts, unusable_attempt
from .participants import check_requirements
from .stalled import lost_ending, stall_problem, stalled_ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..chat import Tape, TrialModels
    from ..environment import Environment
    from ..models import DiscardedAttempt, Simulation
    from ..participants import ParticipantSource, Side
    from ..stalls import Stall
    from .trial import Trial


class TrialRunner:
    """Runs a trial once, from its participants to its verdict.

    Args:
        trial: The trial.
        agent: What makes its agent.
        user: What makes its user.

    Attributes:
        trial: The trial.
        fault: The exception behind an ending by an error, or behind a missing verdict; None if there was none.
    """

    def __init__(self, trial: Trial, agent: ParticipantSource, user: ParticipantSource) -> None:
        self.trial = trial
        self._sources: dict[Side, ParticipantSource] = {"agent": agent, "user": user}
        tape = trial.models.tape
        self._clock = Clock(tape.times if tape else ())
        self.fault: BaseException | None = None
        # What runs, and what has come of it, for who ends the trial in another thread.
        self._attempt: Attempt | None = None
        self._simulation: Simulation | None = None

    @property
    def late_calls(self) -> Sequence[str]:
        """The tools of calls that came after the conversation, and were refused; more may come."""
        return self._attempt.late_calls if self._attempt is not None else ()

    async def run(self) -> Simulation:
        """Create both participants, run the conversation, grade it.

        Raises:
            ConfigurationError: A participant that cannot be used, or the task needs what the run lacks.
            BudgetError: The run may spend no more; the trial has no result.
            TaskFormatError: The task does not fit the domain.
        """
        trial, models, environment = self.trial, self.trial.models, self.trial.environment
        check_requirements(trial.task, trial.domain, trial.settings)
        if isinstance(judge := trial.settings.evaluation.judge, LazyJudge):
            judge.bind(models.get("judge"))
        models.run_on(asyncio.get_running_loop())
        if environment.retrieval is not None:
            environment.retrieval.bind(models)
        try:
            simulation = await self._counting_attempt()
        except BaseException:
            if models.tape:
                models.tape.abandon()
            raise
        finally:
            environment.close()
        self._simulation = self._completed(simulation)
        return self._simulation

    async def conclude(self, stall: Stall) -> Simulation:
        """Return the simulation of a trial whose event loop was given up, with the messages and the verdict so far.

        Call it on another loop. What blocks the loop ends this trial by its own fault, and others by none.
        """
        is_own = stall.trial is not None and stall.trial == self.trial.test
        problem, attempt = stall_problem(stall, own=is_own), self._attempt
        if attempt is None and is_own:  # all that a trial does by then is to carry out the reference actions
            raise ConfigurationError(f"task {self.trial.task.id!r}: its reference actions: {problem}")
        if attempt is None:
            raise RuntimeError(problem)
        simulation = attempt.simulation.model_copy()  # the blocked code may return, and change its own
        is_graded = attempt.phase == "facts"
        if attempt.phase in ("participants", "conversation"):
            ending = stalled_ending(attempt, stall) if is_own else lost_ending(problem)
            attempt.end(simulation, ending)
            simulation.messages = list(attempt.conversation.messages) if attempt.conversation else []
        elif is_own and not is_graded:
            simulation.error = f"no verdict: {problem}"
            simulation.note_error_kind("BlockedLoopError")
            is_graded = True
        if not is_graded:
            await attempt.grade(simulation)
        if attempt.stages is not None:
            simulation.facts = attempt.stages.problems_by(problem if attempt.phase == "facts" else None)
        self.fault = attempt.fault
        self.trial.environment.close()
        return self._completed(simulation)

    def abandon(self) -> None:
        """End a trial that is to have no result; it may be run again."""
        if self.trial.models.tape:
            self.trial.models.tape.abandon()
        self.trial.environment.close()

    def _completed(self, simulation: Simulation) -> Simulation:
        """Return the simulation with all that does not depend on how it ended."""
        trial, models = self.trial, self.trial.models
        simulation.know_tools({DONE: None, **trial.domain.tool_arguments})
        simulation.note_usage(models.ledger.usage)
        self.note_late_calls(simulation)
        simulation.conditions = self._conditions()
        _mask(simulation, models.arguments)
        if models.tape:
            _end_recording(models, models.tape, simulation, self._clock)
        annotate_failure(simulation, trial.task, trial.domain, solo=trial.settings.solo)
        trial.environment.agent_db.put_back()
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
        trial = self.trial
        most, problems = most_attempts(trial.settings.capabilities)
        conversations, seed = trial.settings.protocol.attempts, trial.seed
        if trial.agent_trial is not None:  # what a test's own fixtures made of the trial cannot be made again
            most = conversations = 1
        start = trial.environment.fork() if most > 1 or conversations > 1 else None
        attempts = Attempts()
        unusable: list[DiscardedAttempt] = []
        while True:
            self._attempt = attempt = Attempt(trial, self._sources, self._clock, problems, seed)
            try:
                simulation = await attempt.run()
            except BudgetError:
                if attempts.kept is None:
                    raise
                break
            if attempt.unusable and len(unusable) + 1 < conversations:
                unusable.append(unusable_attempt(simulation))
                self._start_again(start)
                continue
            _note_conversations(attempt, unusable)
            unusable = []
            attempts.add(simulation)
            if attempts.kept is simulation:
                self.fault = attempt.fault
            if simulation.outcome == "error" or attempt.stages is None:
                break
            ruling = await attempt.stages.ruling(simulation)
            if ruling is None or not ruling.again:
                simulation.excluded = None if ruling is None else ruling.reason
                break
            if attempts.number == most:
                break
            self._start_again(start)
            seed = None if trial.seed is None else trial.seed + attempts.number * SEED_STEP
            trial.models.reseed(seed)
        return attempts.result()

    def _start_again(self, start: Environment | None) -> None:
        assert start is not None, "there may be several attempts"
        self.trial.environment.restore(start.fork())

    def _conditions(self) -> dict[str, Any]:
        return conditions_of(self.trial, self._sources["agent"], self._sources["user"])

    def interrupted(self, why: str) -> Simulation | None:
        """Return the trial as far as it has come, as one that was interrupted; None before its conversation begins.

        One that has run is returned as it is.

        May be called in any thread, while the trial runs.

        Args:
            why: What has ended it.
        """
        attempt = self._attempt
        if attempt is None or self._simulation is not None:
            return self._simulation
        begun, clock = attempt.simulation, self._clock
        simulation = begun.model_copy()
        if begun.reward_info is None:
            simulation.error = f"interrupted by {why}"
            simulation.note_error_kind(INTERRUPTED)
        if not begun.end_time:  # else the conversation was being graded, and still can be
            messages = list(attempt.conversation.messages) if attempt.conversation else []
            assign(simulation, messages=messages, termination_reason="infrastructure_error")
            assign(simulation, end_time=clock.now(), duration=clock.elapsed)
        simulation.note_usage(self.trial.models.ledger.usage)
        simulation.conditions = self._conditions()
        return simulation


def _note_conversations(attempt: Attempt, unusable: list[DiscardedAttempt]) -> None:
    """Record the conversations before that the protocol has discarded, and facts that the verdict lacks."""
    attempt.note_lost_facts()
    simulation = attempt.simulation
    if unusable:
        if attempt.unusable:
            simulation.error = f"{simulation.error} (in the last of {len(unusable) + 1} conversations)"
        simulation.info = replace(simulation.info, discarded_attempts=unusable)


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
