"""The verdict on a conversation: every component, multiplied by the reward basis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..capability import reward_components
from ..clock import run_steadily
from ..errors import TaskFormatError, TauError, unknown_name
from ..models import GREETING, LIMITS, STOPS, AssistantMessage, RewardInfo, UserMessage, parse_messages
from .component import GradingInput, as_component
from .components import COMPONENTS, components_of
from .components.policy import PolicyComponent
from .grading import OFFICIAL, Grading, profile_named
from .judge import Judge, judge_statements
from .partial import shares_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain, Environment
    from ..models import Message, NLAssertionCheck, Task, TerminationReason
    from .component import Evaluator


@dataclass(frozen=True)
class Evaluation:
    """The way conversations are graded.

    Attributes:
        grading: The profile.
        judge: Judges NL assertions; None if there is none.
        judge_seconds: The time that the judge has for a conversation; None for any.
        evaluators: Components that plugins added.
        solo: The agent worked alone, with both sides' tools.
        asks_if_needed: The judge is asked as τ²-bench asks it: only if the reward basis has its component, and the
            conversation was ended by a stop. Its errors are those of the trial.
        silent: The agent only makes the reference calls, and says nothing that rules of the policy could be about.
    """

    grading: Grading = OFFICIAL
    judge: Judge | None = None
    evaluators: Sequence[Evaluator] = field(default=())
    solo: bool = False
    asks_if_needed: bool = False
    silent: bool = False
    judge_seconds: float | None = None


class Judged(NamedTuple):
    """The result of asking a judge.

    Attributes:
        verdicts: Its verdicts; None if it was not asked, or failed.
        fault: Its error.
    """

    verdicts: list[NLAssertionCheck] | None = None
    fault: TauError | None = None


#: Of a judge that was not asked.
NOT_ASKED = Judged()


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
        judge: Judges the task's NL assertions. Without one they are not a factor of the reward, and
            ``RewardInfo.info["not_judged"]`` counts those that would have gated.
        grading: ``official``, ``strict``, or a profile of one's own.
        evaluators: Further components.

    Raises:
        ConfigurationError: Unknown profile.
        JudgeError: The judge failed, and the reward depends on its answer.
        EvaluatorError: A further component failed.
        TaskFormatError: The initial state cannot be applied, or the basis names an unknown component.

    Source: τ²-bench v1.0.1, evaluator with lenient replay.
    """
    profile = profile_named(grading) if isinstance(grading, str) else grading
    evaluation = Evaluation(profile, judge, evaluators, solo)
    parsed = parse_messages(list(messages))
    judged = NOT_ASKED
    if judge is not None and task.criteria.nl_assertions:
        judged = run_steadily(ask_judge(task, parsed, termination_reason, evaluation))
    return grade(task, parsed, termination_reason, domain, evaluation, judged)


async def ask_judge(
    task: Task, messages: Sequence[Message], termination_reason: TerminationReason, evaluation: Evaluation
) -> Judged:
    """Ask the judge about the statements of a task, if there is one and it is to be asked."""
    statements, judge = task.criteria.nl_assertions or [], evaluation.judge
    needed = task.needs_judge and termination_reason in STOPS
    if judge is None or not statements or (evaluation.asks_if_needed and not needed):
        return NOT_ASKED
    try:
        return Judged(await judge_statements(judge, statements, messages, evaluation.judge_seconds))
    except TauError as error:
        return Judged(fault=error)


def grade(
    task: Task,
    messages: Sequence[Message],
    termination_reason: TerminationReason,
    domain: Domain,
    evaluation: Evaluation,
    judged: Judged = NOT_ASKED,
    final: Environment | None = None,
) -> RewardInfo:
    """Grade a finished conversation: replay it, check each component that the task has data for, multiply.

    Args:
        task: What was to be done.
        messages: The trajectory, oldest first.
        termination_reason: How the conversation ended.
        domain: The domain it took place in.
        evaluation: How it is graded.
        judged: What ``ask_judge`` has returned; by default the judge was not asked.
        final: The environment on which the conversation was replayed already, which is used up; None if it was not.

    Raises:
        EvaluatorError: A further component failed.
        TaskFormatError: The initial state cannot be applied, or the basis names an unknown component.
        TauError: The error of the judge, if the reward depends on its answer.
    """
    grading, criteria = evaluation.grading, task.criteria
    of_domain = [PolicyComponent(silent=evaluation.silent)] if domain.spec.rules_count else []
    if of_domain and task.evaluation_criteria is not None:
        task = _with_basis(task, [component.name for component in of_domain])
        criteria = task.criteria
    if evaluation.solo:  # the agent makes the user's calls, too
        grading = replace(grading, requestor_counts=False)
    grading_input = GradingInput(task, messages, domain, grading, evaluation.solo, judged.verdicts)
    if final is not None:
        vars(grading_input)["environment"] = final
    _ = grading_input.environment  # replayed in any case, as a task without criteria must fit the domain, too
    info = RewardInfo(reward=0.0, reward_basis=criteria.reward_basis if task.evaluation_criteria else None)
    if task.evaluation_criteria is not None:
        info.custom_checks = []
        built_in = [component for component in (*COMPONENTS, *reward_components()) if component.applies(task)]
        for component in [*built_in, *map(as_component, evaluation.evaluators), *of_domain]:
            component.grade(grading_input, info)
    info.reward_breakdown = _factors(info, task, evaluation)
    info.info = _notes(task, messages, termination_reason, domain, evaluation, judged=judged.verdicts is not None)
    if "ended_early" not in info.info:
        info.reward = float(math.prod(info.reward_breakdown.values()))
    info.partial = shares_of(grading_input, info)
    grading_input.environment.close()
    return _settled(info, task, judged, evaluation)


def _settled(graded: RewardInfo, task: Task, judged: Judged, evaluation: Evaluation) -> RewardInfo:
    """Return a verdict, with a note of the judge's error if the reward does not depend on its answer.

    Raises:
        TauError: The error of the judge, if it does.
    """
    if judged.fault is None:
        return graded
    if evaluation.asks_if_needed or (task.needs_judge and graded.reward != 0):
        raise judged.fault
    problem = f"{type(judged.fault).__name__}: {judged.fault}"
    return graded.model_copy(update={"info": {**(graded.info or {}), "judge_problem": problem}})


def _with_basis(task: Task, names: list[str]) -> Task:
    """Return a task whose reward basis has further components."""
    basis = list(dict.fromkeys([*task.criteria.reward_basis, *names]))
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update={"reward_basis": basis})})


def _factors(info: RewardInfo, task: Task, evaluation: Evaluation) -> dict[str, float]:
    """Return the value of each component of the basis, without those that were not judged."""
    components = {component.name: component for component in components_of(info, evaluation.evaluators)[::-1]}
    factors: dict[str, float] = {}
    for name in task.criteria.reward_basis:
        if name not in components:
            problem = unknown_name("reward basis", name, components)
            raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
        value = components[name].value(info)
        if value is not None:
            factors[name] = float(value)
    return factors


def _notes(
    task: Task,
    messages: Sequence[Message],
    termination_reason: TerminationReason,
    domain: Domain,
    evaluation: Evaluation,
    *,
    judged: bool,
) -> dict[str, Any]:
    grading, notes = evaluation.grading, dict[str, Any](grading=evaluation.grading.name)
    if evaluation.judge is not None and judged:
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


def passes_without_agent(task: Task, domain: Domain, grading: Grading = OFFICIAL, *, solo: bool = False) -> bool | None:
    """Return whether an agent that only greets, and a user who then stops, would get reward 1; once a process.

    Args:
        task: What was to be done.
        domain: The domain.
        grading: The profile.
        solo: The agent works alone, so that no user stops it.

    Returns:
        None if only a judge or a component of a plugin could decide.
    """
    if task.needs_judge or not set(task.criteria.reward_basis) <= {component.name for component in COMPONENTS}:
        return None
    key = f"null agent: {grading.name}{', solo' if solo else ''}"
    return domain.once_per_task(task, key, lambda task: _passes(task, domain, grading, solo=solo))


def _passes(task: Task, domain: Domain, grading: Grading, *, solo: bool) -> bool:
    messages: list[Message] = [
        AssistantMessage(content=GREETING),
        *([] if solo else [UserMessage(content="###STOP###")]),
    ]
    evaluation = Evaluation(replace(grading, mark_null_pass=False), solo=solo)
    return grade(task, [*task.message_history, *messages], "user_stop", domain, evaluation).passed
