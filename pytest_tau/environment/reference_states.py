"""The states that the reference actions of a domain's tasks lead to, executed once a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import DomainError, ToolError, ToolServerError
from ..models.problems import problem_text
from .changes import place_text

if TYPE_CHECKING:
    from ..models import Task
    from .changes import Change
    from .domain import Domain
    from .environment import Environment

#: What is kept of a task with its reference state.
_FAILED = "failed action"
#: What is wrong with reference actions that no conversation can repeat.
_UNSTABLE = (
    "lead to another state when they are carried out again, without those that only read: %s. Tools that write must do "
    "the same each time, and a tool that changes what a write depends on must be declared as a write. %s"
)


class FailedAction(NamedTuple):
    """A reference action that has failed.

    Attributes:
        position: Its place among the reference actions.
        text: Its tool, and what was raised.
    """

    position: int
    text: str


def reference_environment(domain: Domain, task: Task) -> Environment:
    """Return a copy of the state after a task's reference actions, which are executed once a process.

    Source: τ²-bench v1.0.1: an action that raises is skipped, there is no sync between actions, and each side
    executes its own, also if the graded agent worked alone.
    """
    return shared_reference(domain, task).fork()


def shared_reference(domain: Domain, task: Task) -> Environment:
    """Return the state after a task's reference actions that all copies are made of, for reading only."""
    return domain.once_per_task(task, "reference", lambda task: after_reference_actions(domain, task))


def failed_action(domain: Domain, task: Task) -> FailedAction | None:
    """Return the first reference action of a task that failed although it is not meant to.

    One that only reads, and that its tool has refused, is none: nothing lacks its effect. None if there is no such
    action, or the reference state was not needed.
    """
    failed: FailedAction | None = domain.kept(task, _FAILED)
    return failed


def unstable_reference(domain: Domain, task: Task) -> str | None:
    """Return why no agent can be graded by a task's reference state; None if it is the same each time.

    The reference actions are carried out once more on a fresh environment, without those that only read, as
    grading does with the calls of a conversation. Once a process.

    Raises:
        ToolServerError: A tool server is lost.
        DomainError: The tools do not begin with the same state each time.
    """
    return domain.once_per_task(task, "unstable", lambda task: _unstable(domain, task))


def _unstable(domain: Domain, task: Task) -> str | None:
    if not domain.spec.agent_db.comparable:
        return None
    first, again = shared_reference(domain, task), after_reference_actions(domain, task, without_reads=True)
    changes = (change for _, mine, now in first.databases_with(again) for change in mine.changes(now))
    change = next(changes, None)
    if change is None:
        return None
    problem = _UNSTABLE % (place_text(change), _advice(domain, change))
    return f"domain {domain.name!r}: the reference actions of task {task.id!r} {problem}"


def _advice(domain: Domain, change: Change) -> str:
    """Return how to exclude a value that differs each time, such as the time of a change."""
    source = getattr(domain.spec.agent_db, "source", None)
    if source is None:
        return "What differs each time, such as a time or a random id, must come from the data or the arguments"
    if hasattr(source, "advice_for"):
        return str(source.advice_for(change))
    return f"Omit from {source.keyword}= what differs each time, such as the time at which a record was created"


def after_reference_actions(domain: Domain, task: Task, *, without_reads: bool = False) -> Environment:
    """Return an environment in which a task's reference actions were executed; ``shared_reference`` keeps one."""
    environment, failed = domain.environment(task, apart=True), None
    # Every conversation begins with the calls that the history ends with.
    pending = getattr(task.message_history[-1], "tool_calls", None) if task.message_history else None
    pending, actions = pending or [], task.criteria.actions or []
    for position, action in enumerate([*pending, *actions], start=-len(pending)):
        info = environment.info_of(action.name, action.requestor)
        if without_reads and info is not None and not info.mutates and not info.uncounted:
            continue
        try:
            environment.perform(action.name, action.arguments, action.requestor)
        except DomainError:
            raise
        except Exception as error:  # the tool boundary; a failing reference action is skipped
            writes = info is not None and info.mutates
            if writes and isinstance(error, ToolServerError):
                raise
            counts = info is not None and (writes or not isinstance(error, ToolError))
            if counts and position >= 0 and not actions[position].fails:
                failed = failed or FailedAction(position, f"{action.name}: {problem_text(error)}")
    if failed:
        domain.once_per_task(task, _FAILED, lambda _task: failed)
    environment.close()
    return environment
