"""The floor: what an agent that does nothing would have got on a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluation.action import check_actions
from ..evaluation.communicate import check_communicate
from ..evaluation.env_assertion import check_env_assertions
from ..models import REWARD_TYPES, AssistantMessage, UserMessage

if TYPE_CHECKING:
    from ..environment import Domain
    from ..evaluation import Evaluation
    from ..models import Message, Task


def passes_without_agent(task: Task, domain: Domain, evaluation: Evaluation) -> bool | None:
    """Whether an agent that only greets, and a user who then stops, would get reward 1; computed once a process.

    Takes a fraction of a millisecond: it looks for the first thing that is not met, and writes no differences down.

    Args:
        task: What was to be done.
        domain: The domain, with the reference's state at hand if the task was graded in this process.
        evaluation: How the run grades.

    Returns:
        None where only a judge or a component of a plugin could tell.
    """
    criteria = task.criteria
    if task.needs_judge or not set(criteria.reward_basis) <= set(REWARD_TYPES):
        return None
    what = f"floor: {evaluation.grading.name}{', solo' if evaluation.solo else ''}"
    return domain.once_per_task(task, what, lambda task: _passes(task, domain, evaluation))


def _passes(task: Task, domain: Domain, evaluation: Evaluation) -> bool:
    criteria, basis, grading = task.criteria, set(task.criteria.reward_basis), evaluation.grading
    said: list[Message] = [AssistantMessage(content="Hello.")]
    messages = [*task.message_history, *said, *([] if evaluation.solo else [UserMessage(content="###STOP###")])]
    if "COMMUNICATE" in basis:
        phrases = check_communicate(criteria.communicate_info or [], messages, grading)
        if not all(check.met for check in phrases):
            return False
    if "ACTION" in basis:
        actions = check_actions(criteria.actions or [], messages, grading, lambda _: None)
        if not all(check.action_match for check in actions):
            return False
    if not basis & {"DB", "ENV_ASSERTION"}:
        return True
    return _state_is_right(task, domain, evaluation, messages)


def _state_is_right(task: Task, domain: Domain, evaluation: Evaluation, messages: list[Message]) -> bool:
    criteria, basis = task.criteria, set(task.criteria.reward_basis)
    final = domain.environment(task, solo=evaluation.solo, replay_history=False)
    final.replay(messages)
    gated = criteria.actions is not None or criteria.env_assertions is not None
    # Assertions may change what they look at, so the databases are compared first, as in grading.
    if "DB" in basis and gated:
        reference = domain.reference_environment(task)
        for expected, got in ((reference.agent_db, final.agent_db), (reference.user_db, final.user_db)):
            if expected is not None and got is not None and not expected.equals(got):
                return False
    if "ENV_ASSERTION" in basis:
        return all(check.met for check in check_env_assertions(criteria.env_assertions or [], final))
    return True
