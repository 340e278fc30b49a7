"""The verdict of a trial: found by the evaluator; whatever happens, the conversation is kept."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import (
    DomainError,
    EvaluatorError,
    JudgeError,
    ModelError,
    ReplayError,
    ToolServerError,
    UnusableReplyError,
)
from ..evaluation import LazyJudge, aevaluate
from ..evaluation.outside import OUTSIDE, OutsideObserver
from .judges import with_deadline

if TYPE_CHECKING:
    from ..chat import TrialModels
    from ..environment import Domain, Environment
    from ..evaluation import Evaluation
    from ..evaluation.outside import Beginning
    from ..models import RewardInfo, Simulation, Task
    from .config import SimulationSettings

#: The error of an assertion that returned something else than a bool: its name, and the type.
_NO_BOOL = re.compile(r"Function (\w+) returned (\w+) instead of bool")


async def grade_trial(
    simulation: Simulation,
    task: Task,
    domain: Domain,
    environment: Environment,
    settings: SimulationSettings,
    models: TrialModels,
    beginning: Beginning,
) -> BaseException | None:
    """Store the verdict on a conversation; without one, the reason is stored as its error.

    Args:
        simulation: The conversation.
        task: Its task.
        domain: Its domain.
        environment: The environment that it was run on.
        settings: The settings of the trial.
        models: The models, among them that of a judge.
        beginning: The state before the conversation.

    Returns:
        The exception because of which there is no verdict; None if there is one. After an ``UnusableReplyError`` of a
        judge, the protocol may run the conversation again.
    """
    if environment.fault is not None:
        return None  # replaying would lose another server
    observer, reason = OutsideObserver(environment, beginning), simulation.termination_reason
    evaluation = _evaluation(settings, models, observer)
    fault: BaseException | None = None
    try:
        verdict = await aevaluate(task, simulation.messages, reason, domain, evaluation)
        _check_domain(verdict, observer)
        simulation.reward_info = verdict
    except UnusableReplyError as error:
        # A judge's, under the official protocol.
        simulation.termination_reason, fault = "infrastructure_error", error
        simulation.error = f"{type(error).__name__}: {error}"
    except (JudgeError, EvaluatorError, DomainError, ModelError, ReplayError, ToolServerError) as error:
        # How the conversation ended stays as it was: it can still be graded.
        simulation.error, fault = f"{type(error).__name__}: {error}", error
    except Exception as error:  # noqa: BLE001
        # A fault of the harness: the conversation is kept.
        simulation.termination_reason = "unexpected_error"
        simulation.error, fault = f"grading failed: {type(error).__name__}: {error}", error
    if observer.found is not None:
        simulation.info = (simulation.info or {}) | {OUTSIDE: observer.found.as_dict()}
    return fault


def _evaluation(settings: SimulationSettings, models: TrialModels, observer: OutsideObserver) -> Evaluation:
    """Return how the trial is graded: by a judge with a model and a deadline, and with an observer."""
    evaluation, timeout = settings.evaluation, settings.limits.timeout
    judge = evaluation.judge
    if isinstance(judge, LazyJudge):
        judge = judge.bind(models.get("judge"))
    elif timeout is None:
        timeout = settings.own_timeout
    return replace(evaluation, judge=with_deadline(judge, timeout), evaluators=(observer, *evaluation.evaluators))


def _check_domain(verdict: RewardInfo, observer: OutsideObserver) -> None:
    """Refuse a verdict that depends on a mistake of the domain.

    Raises:
        DomainError: A tool is not the kind that it is declared as, or an assertion returned something else than a bool.
    """
    if observer.undeclared is not None:
        raise DomainError(str(observer.undeclared))
    for check in verdict.env_assertions or []:
        if check.error and (wrong := _NO_BOOL.fullmatch(check.error)):
            raise DomainError(f"assertion {wrong[1]!r} returned {wrong[2]}: return True or False")
