"""Proposals of other right outcomes for what the tasks leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..environment import failed_action, shared_reference
from ..errors import DomainError, TaskFormatError, ToolServerError
from ..references import open_choices, propose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Outcome, Task


class Proposal(NamedTuple):
    """The outcomes that are proposed for a task, each proved."""

    task_id: str
    outcomes: list[Outcome]


def propose_outcomes(domain: Domain, tasks: Sequence[Task]) -> Iterator[Proposal]:
    """Yield the outcomes of tasks with open choices; not of tasks whose reference actions fail, which lint reports.

    Args:
        domain: The domain.
        tasks: The tasks.
    """
    for task in tasks:
        try:
            shared_reference(domain, task)
            failed = failed_action(domain, task) is not None
            outcomes = [] if failed else propose(task, domain, open_choices(task, domain))
        except (TaskFormatError, DomainError, ToolServerError):
            continue  # which lint reports
        if outcomes:
            yield Proposal(task.id, outcomes)
