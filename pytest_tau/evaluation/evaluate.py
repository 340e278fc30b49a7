"""The verdict on a conversation: every component, multiplied by the reward basis."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import EvaluatorError, TaskFormatError, unknown_name
from ..models import (
    LIMITS,
    REWARD_TYPES,
    STOPS,
    AssistantMessage,
    CustomCheck,
    NLAssertionCheck,
    RewardInfo,
    UserMessage,
    parse_messages,
)
from .action import check_actions
from .communicate import check_communicate
from .db import check_db
from .env_assertion import check_env_assertions
from .floor import passes_without_agent
from .grading import OFFICIAL, Grading, profile_named
from .nl_assertion import Judge, judge_statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain, Environment
    from ..models import Message, Task, TerminationReason


class Evaluator(Protocol):
    """A reward component of one's own; gates where a task's reward basis names it.

    Attributes:
        name: The component's name in reward bases and reports.
    """

    name: str

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck:
        """The component's value, usually 0 or 1, with a justification.

        Args:
            task: What was to be done.
            messages: The trajectory, oldest first.
            environment: The final environment; for reading only.
        """
        ...


@dataclass(frozen=True)
class Evaluation:
    """How conversations are graded.

    Attributes:
        grading: The profile.
        judge: Judges NL assertions; None where there is none.
        evaluators: Components that plugins added.
        solo: The agent worked alone, with both sides' tools.
    """

    grading: Grading = OFFICIAL
    judge: Judge | None = None
    evaluators: Sequence[Evaluator] = field(default=())
    solo: bool = False


def evaluate(  # noqa: PLR0913 - the public call; everything but the conversation has a default
    task: Task,
    messages: Sequence[Any],
    *,
    termination_reason: TerminationReason = "user_stop",
    domain: Domain,
    solo: bool = False,
    judge: Judge | None = None,
    grading: str | Grading = OFFICIAL,
    evaluators: Sequence[Evaluator] = (),
) -> RewardInfo:
    """Grade a finished conversation by replaying it.

    Args:
        task: What was to be done.
        messages: The trajectory, oldest first: models or JSON objects.
        termination_reason: How the conversation ended; only a stop can earn more than 0.
        domain: The domain it took place in.
        solo: The agent worked alone, with both sides' tools.
        judge: Judges the task's NL assertions. Without one they are left out of the reward, and
            ``RewardInfo.info["not_judged"]`` tells how many of them would have gated.
        grading: ``official``, ``strict``, or a profile of one's own.
        evaluators: Further components.

    Raises:
        ConfigurationError: Unknown profile.
        JudgeError: The judge failed.
        EvaluatorError: A further component failed.
        TaskFormatError: The initial state cannot be applied, or the basis names an unknown component.

    Source: τ²-bench v1.0.1, evaluator with lenient replay.
    """
    profile = profile_named(grading) if isinstance(grading, str) else grading
    evaluation = Evaluation(profile, judge, evaluators, solo)
    parsed = parse_messages(list(messages))
    statements = task.criteria.nl_assertions or []
    verdicts = None
    if judge is not None and statements:
        verdicts = asyncio.run(judge_statements(judge, statements, parsed))
    return grade(task, parsed, termination_reason, domain, evaluation, verdicts)


async def aevaluate(
    task: Task,
    messages: Sequence[Message],
    termination_reason: TerminationReason,
    domain: Domain,
    evaluation: Evaluation,
) -> RewardInfo:
    """Like ``evaluate``, for messages that are models, inside a running event loop."""
    statements = task.criteria.nl_assertions or []
    verdicts = None
    if evaluation.judge is not None and statements:
        verdicts = await judge_statements(evaluation.judge, statements, messages)
    return grade(task, messages, termination_reason, domain, evaluation, verdicts)


def grade(
    task: Task,
    messages: Sequence[Message],
    termination_reason: TerminationReason,
    domain: Domain,
    evaluation: Evaluation,
    verdicts: list[NLAssertionCheck] | None,
) -> RewardInfo:
    """Everything but the judge: replay, check each component that the task has data for, multiply.

    Args:
        task: What was to be done.
        messages: The trajectory, oldest first.
        termination_reason: How the conversation ended.
        domain: The domain it took place in.
        evaluation: How it is graded.
        verdicts: The judge's, where it was asked.
    """
    grading, criteria = evaluation.grading, task.criteria
    if evaluation.solo:  # the agent makes the user's calls, too
        grading = replace(grading, requestor_counts=False)
    final = domain.environment(task, solo=evaluation.solo, replay_history=False)
    final.replay(messages)
    info = RewardInfo(reward=0.0, reward_basis=criteria.reward_basis if task.evaluation_criteria else None)
    if task.evaluation_criteria is not None:
        gated = criteria.actions is not None or criteria.env_assertions is not None
        reference = domain.reference_environment(task) if gated else None
        info.db_check, info.db_diff = check_db(final, reference)
        info.env_assertions = check_env_assertions(criteria.env_assertions or [], final)
        kinds = {tool: declared.kind for tool, declared in final.tool_infos.items()}
        info.action_checks = check_actions(criteria.actions or [], messages, grading, kinds.get)
        info.communicate_checks = check_communicate(criteria.communicate_info or [], messages, grading)
        info.nl_assertions = verdicts if criteria.nl_assertions else []
        info.custom_checks = [_custom(evaluator, task, messages, final) for evaluator in evaluation.evaluators]
    unjudged = bool(criteria.nl_assertions) and verdicts is None
    gating = [name for name in criteria.reward_basis if not (name == "NL_ASSERTION" and unjudged)]
    info.reward_breakdown = {name: _component(name, info, task) for name in gating}
    info.info = _notes(task, messages, termination_reason, domain, evaluation)
    if "ended_early" not in info.info:
        info.reward = float(math.prod(info.reward_breakdown.values()))
    return info


def _custom(evaluator: Evaluator, task: Task, messages: Sequence[Message], final: Environment) -> CustomCheck:
    try:
        check: object = evaluator.evaluate(task, messages, final)
    except Exception as error:
        # A foreign evaluator may raise anything.
        raise EvaluatorError(f"evaluator {evaluator.name!r} failed: {type(error).__name__}: {error}") from error
    if not isinstance(check, CustomCheck):
        raise EvaluatorError(f"evaluator {evaluator.name!r} returned {check!r}; expected a CustomCheck")
    return check


def _component(name: str, info: RewardInfo, task: Task) -> float:
    checks: dict[str, list[float]] = {check.name: [check.reward] for check in info.custom_checks or []}
    checks["DB"] = [info.db_check.db_reward if info.db_check else 1.0]
    checks["ENV_ASSERTION"] = [check.reward for check in info.env_assertions or []]
    checks["ACTION"] = [check.action_reward for check in info.action_checks or []]
    checks["COMMUNICATE"] = [float(check.met) for check in info.communicate_checks or []]
    checks["NL_ASSERTION"] = [float(check.met) for check in info.nl_assertions or []]
    if name not in checks:
        problem = unknown_name("reward basis", name, checks)
        raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
    return float(math.prod(checks[name]))


def _notes(
    task: Task,
    messages: Sequence[Message],
    termination_reason: TerminationReason,
    domain: Domain,
    evaluation: Evaluation,
) -> dict[str, Any]:
    grading, notes = evaluation.grading, dict[str, Any](grading=evaluation.grading.name)
    if evaluation.judge is not None and task.criteria.nl_assertions:
        notes["judge"] = evaluation.judge.name
    if evaluation.judge is None and task.needs_judge:
        notes["not_judged"] = len(task.criteria.nl_assertions or [])
    forgiven = grading.stop_beats_limit and termination_reason in LIMITS and _ends_with_stop(messages, evaluation)
    if termination_reason not in STOPS and not forgiven:
        notes["ended_early"] = termination_reason
    if grading.mark_null_pass and passes_without_agent(task, domain, grading, solo=evaluation.solo):
        notes["passes_without_agent"] = True
    return notes


def _ends_with_stop(messages: Sequence[Message], evaluation: Evaluation) -> bool:
    last = messages[-1] if messages else None
    if evaluation.solo:
        return isinstance(last, AssistantMessage) and not last.tool_calls
    return isinstance(last, UserMessage) and not last.tool_calls and last.stop_token is not None


def known_components(evaluators: Sequence[Evaluator]) -> list[str]:
    """Every name that a reward basis may hold."""
    return [*REWARD_TYPES, *(evaluator.name for evaluator in evaluators)]
