"""The agent that does nothing: whether it would pass a task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models import GREETING, AssistantMessage, UserMessage
from .component import GradingInput
from .components import COMPONENTS
from .grading import OFFICIAL, Grading

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Message, Task


def passes_without_agent(task: Task, domain: Domain, grading: Grading = OFFICIAL, *, solo: bool = False) -> bool | None:
    """Return whether an agent that only greets, and a user who then stops, would get reward 1; once a process.

    Takes a fraction of a millisecond, so that a run can ask for each of its tasks: unlike ``evaluate`` it stops at the
    first component that is not met, and lists no differences.

    Args:
        task: What was to be done.
        domain: The domain, with the reference's state available if the task was graded in this process.
        grading: The profile.
        solo: The agent works alone, so that no user stops it.

    Returns:
        None if only a judge or a component of a plugin could decide.
    """
    if task.needs_judge or not set(task.criteria.reward_basis) <= {component.name for component in COMPONENTS}:
        return None
    if solo:  # the agent makes the user's calls, too
        grading = replace(grading, requestor_counts=False)
    what = f"null agent: {grading.name}{', solo' if solo else ''}"
    return domain.once_per_task(task, what, lambda task: _passes(task, domain, grading, solo=solo))


def _passes(task: Task, domain: Domain, grading: Grading, *, solo: bool) -> bool:
    said: list[Message] = [AssistantMessage(content=GREETING)]
    messages = [*task.message_history, *said, *([] if solo else [UserMessage(content="###STOP###")])]
    given = GradingInput(task, messages, domain, grading, solo)
    # Those that need no replay come first. The others keep the table's order.
    ordered = sorted(COMPONENTS, key=lambda component: component.reads_environment)
    return all(component.passes(given) for component in ordered if component.name in task.criteria.reward_basis)
