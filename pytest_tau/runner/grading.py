"""The verdict of a trial: found by the evaluator; whatever happens, the conversation is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ..capability.duplex import judged_messages
from ..errors import (
    ConfigurationError,
    DomainError,
    EvaluatorError,
    JudgeError,
    ModelError,
    ReplayError,
    ToolServerError,
    UnusableReplyError,
    is_interrupt,
)
from ..evaluation import LazyJudge, ask_judge, grade
from ..evaluation.outside import OutsideObserver, check_domain
from ..models import FAULTS
from ..policy.check import SILENT

if TYPE_CHECKING:
    from ..chat import TrialModels
    from ..environment import Domain
    from ..evaluation import Evaluation
    from ..evaluation.outside import StateBefore
    from ..models import Simulation
    from .config import SimulationSettings
    from .trial import Trial

#: The exceptions that leave a conversation without a verdict; all others are faults of the harness.
_WITHOUT_VERDICT = (
    JudgeError,
    EvaluatorError,
    DomainError,
    ModelError,
    ReplayError,
    ToolServerError,
    UnusableReplyError,
)


async def grade_trial(
    trial: Trial, simulation: Simulation, before: StateBefore, agent: str = ""
) -> BaseException | None:
    """Store the verdict on a conversation; without one, the reason is stored as its error.

    Args:
        trial: The trial.
        simulation: The conversation.
        before: The state before it.
        agent: The name of the agent.

    Returns:
        The exception because of which there is no verdict; None if there is one. After an ``UnusableReplyError`` of a
        judge, the protocol may run the conversation again.
    """
    if trial.environment.fault is not None:
        return None  # replaying would lose another server
    observer, reason = OutsideObserver(trial.environment, before), simulation.termination_reason
    evaluation = _evaluation(trial.settings, trial.models, observer)
    evaluation = replace(evaluation, silent=agent == SILENT)
    if reason in FAULTS:  # there is no verdict to judge for, and the judge's own error would hide this one
        evaluation = replace(evaluation, judge=None)
    fault: BaseException | None = None
    try:
        judged = await ask_judge(trial.task, judged_messages(simulation), reason, evaluation)
        verdict = grade(trial.task, simulation.messages, reason, trial.domain, evaluation, judged)
        check_domain(verdict, observer.undeclared, trial.task, trial.domain)
        simulation.reward_info = verdict
    except (*_WITHOUT_VERDICT, ConfigurationError) as raised:
        error = _of_domain(raised, trial.domain)
        # How the conversation ended stays as it was: it can still be graded.
        simulation.error, fault = f"{type(error).__name__}: {error}", error
        simulation.note_error_kind(type(error).__name__)
        if isinstance(error, UnusableReplyError):  # a judge's, under the official protocol
            simulation.termination_reason = "infrastructure_error"
    except BaseException as error:
        if is_interrupt(error) or _is_cancelled(error):
            raise
        # A fault of the harness: the conversation is kept.
        simulation.termination_reason = "unexpected_error"
        simulation.error, fault = f"grading failed: {type(error).__name__}: {error}", error
    if observer.found is not None and not isinstance(fault, DomainError):
        simulation.info = replace(simulation.info, outside_changes=observer.found)
    return fault


def _of_domain(error: Exception, domain: Domain) -> Exception:
    """Return the error; that of the domain if a declaration is wrong in this state, such as a snapshot's data."""
    return DomainError(f"domain {domain.name!r}: {error}") if isinstance(error, ConfigurationError) else error


def _is_cancelled(error: BaseException) -> bool:
    """Return whether the trial is cancelled, and not code of a domain, an evaluator or a judge raises the same."""
    return isinstance(error, asyncio.CancelledError) and getattr(asyncio.current_task(), "cancelled_by_us", True)


def _evaluation(settings: SimulationSettings, models: TrialModels, observer: OutsideObserver) -> Evaluation:
    """Return how the trial is graded: by a judge with a model and a deadline, and with an observer."""
    evaluation, timeout = settings.evaluation, settings.foreign_seconds
    judge = evaluation.judge
    if isinstance(judge, LazyJudge):
        judge, timeout = judge.bind(models.get("judge")), settings.limits.seconds
    return replace(
        evaluation,
        judge=judge,
        judge_seconds=timeout,
        evaluators=(observer, *evaluation.evaluators),
        asks_if_needed=settings.protocol.is_official,
    )
