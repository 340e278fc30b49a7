"""The hand-over to a person, which ends a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_tau.models import Task

#: The tool that hands over.
TRANSFER: Final = "transfer_to_human_agents"


def ends_with_transfer(task: Task) -> bool:
    """Return whether the reference solution of a task hands over to a person."""
    return any(action.name == TRANSFER for action in task.criteria.actions or [])
