"""Views of a task: the part of it that each side may know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..models import Task, clone

if TYPE_CHECKING:
    from ..models import UserScenario


class _View:
    """Base of the views; says why a field of the task is missing."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in Task.model_fields or name in ("criteria", "message_history"):
            raise AttributeError(
                f"task.{name} is not available to this side; a participant that needs the reference actions must "
                "declare needs_reference = True as a class attribute, and reports then show it"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@dataclass(frozen=True)
class AgentTask(_View):
    """The part of a task that an agent may know.

    Attributes:
        id: The task's id.
        ticket: The text that an agent without a user works from.
    """

    id: str
    ticket: str | None = None


@dataclass(frozen=True)
class UserTask(_View):
    """The part of a task that a user may know.

    Attributes:
        id: The task's id.
        user_scenario: The user's instructions and script.
        user_tools: The names of the tools that the user can call; None for all.
    """

    id: str
    user_scenario: UserScenario
    user_tools: list[str] | None = None


def view_of(task: Task, side: str) -> AgentTask | UserTask:
    """Return the part of a task that a side may know, for reading only."""
    if side == "agent":
        return AgentTask(task.id, task.ticket)
    return UserTask(task.id, task.user_scenario, task.user_tools)


def own_copy(task: Task | AgentTask | UserTask) -> Task | AgentTask | UserTask:
    """Return a copy of a task, or of a view of one, that shares nothing with it."""
    if isinstance(task, UserTask):
        return UserTask(task.id, clone(task.user_scenario), clone(task.user_tools))
    return clone(task)
