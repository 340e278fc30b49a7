"""The floor: whether an agent that does nothing would pass a task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models import REWARD_TYPES, AssistantMessage, UserMessage
from .action import check_actions
from .communicate import check_communicate
from .env_assertion import check_env_assertions
from .grading import OFFICIAL, Grading

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Message, Task


def passes_without_agent(task: Task, domain: Domain, grading: Grading = OFFICIAL, *, solo: bool = False) -> bool | None:
    """Whether an agent that only greets, and a user who then stops, would get reward 1; computed once a process.

    Takes a fraction of a millisecond, so that a run can ask for each of its tasks: unlike ``evaluate`` it looks for the
    first thing that is not met, and writes no differences down.

    Args:
        task: What was to be done.
        domain: The domain, with the reference's state at hand if the task was graded in this process.
        grading: The profile.
        solo: The agent works alone, so that nobody stops it.

    Returns:
        None where only a judge or a component of a plugin could tell.
    """
    if task.needs_judge or not set(task.criteria.reward_basis) <= set(REWARD_TYPES):
        return None
    if solo:  # the agent makes the user's calls, too
        grading = replace(grading, requestor_counts=False)
    what = f"floor: {grading.name}{', solo' if solo else ''}"
    return domain.once_per_task(task, what, lambda task: _passes(task, domain, grading, solo=solo))


def _passes(task: Task, domain: Domain, grading: Grading, *, solo: bool) -> bool:
    criteria, basis = task.criteria, set(task.criteria.reward_basis)
    said: list[Message] = [AssistantMessage(content="Hello.")]
    messages = [*task.message_history, *said, *([] if solo else [UserMessage(content="###STOP###")])]
    if "COMMUNICATE" in basis:
        phrases = check_communicate(criteria.communicate_info or [], messages, grading)
        if not all(check.met for check in phrases):
            return False
    if "ACTION" in basis:
        actions = check_actions(criteria.actions or [], messages, grading, lambda _: None)
        if not all(check.action_match for check in actions):
            return False
    return not basis & {"DB", "ENV_ASSERTION"} or _state_is_right(task, domain, messages, solo=solo)


def _state_is_right(task: Task, domain: Domain, messages: list[Message], *, solo: bool) -> bool:
    criteria, basis = task.criteria, set(task.criteria.reward_basis)
    final = domain.environment(task, solo=solo, replay_history=False)
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
