"""Checks that carry out what a task names: its initial state can be applied, and its reference actions succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigurationError, DomainError, TaskFormatError, ToolServerError
from ..world import WORLDS
from .functions.session_state import SessionState
from .reference_states import failed_action, shared_reference, unstable_reference
from .validation import actions_field

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..models import Task
    from .domain import Domain

#: Tasks that are kept to recognise them; a test may have a copy for each trial.
_MOST_CHECKED = 4096


def check_initial_state(task: Task, domain: Domain, file: Path | None = None) -> None:
    """Refuse a task whose initial state cannot be applied.

    It is applied to a copy of the databases. If the domain runs functions of its own or a server, nothing is done:
    a trial applies it before any model is called.

    Raises:
        TaskFormatError: A function raises or refuses, or the data does not fit; names file, task and field.
    """
    if task.initial_state is None or issubclass(domain.spec.agent_db, SessionState):
        return
    try:
        domain.shared_environment(task)
    except TaskFormatError as error:
        raise TaskFormatError(error.problem, file=file, task_id=error.task_id, field=error.field) from None


def check_reference(task: Task, domain: Domain, file: Path | None = None) -> None:
    """Refuse a task with a reference action that fails: conversations are compared with a state that lacks its effect.

    So are tasks with such an action of another right outcome. The reference actions are carried out once a process,
    which grading needs in any case. Data in the layout of τ²-bench is taken as it is: there, such an action is skipped,
    and verdicts must compare; it has no other outcomes. Source: τ²-bench v1.0.1.

    Raises:
        TaskFormatError: One fails that is not meant to; names file, task and field.
        ConfigurationError: In the world of a test's fixtures, they lead to another state each time.
    """
    checked = domain.checked_references.value
    if checked.get(id(task)) is task:
        return
    _check_reference(task, domain, file)
    if len(checked) >= _MOST_CHECKED:
        checked.clear()
    checked[id(task)] = task


def _check_reference(task: Task, domain: Domain, file: Path | None) -> None:
    criteria = task.criteria
    counts = not {"DB", "ACTION"}.isdisjoint(criteria.reward_basis) and domain.spec.agent_db.comparable
    if not counts:
        return
    for outcome in range(len(criteria.outcomes or ())):
        _refuse_failing(task, outcome, domain, file)
    if not criteria.actions or not domain.has_own_data or not _refuse_failing(task, None, domain, file):
        return
    if WORLDS.current is not None and domain.spec.agent_db.cheap_to_fork:
        check_repeatable([task], domain)  # which was done before the test's fixtures, if at all


def _refuse_failing(task: Task, outcome: int | None, domain: Domain, file: Path | None) -> bool:
    """Refuse a task with a failing action of an outcome; return whether its actions could be carried out.

    Raises:
        TaskFormatError: One fails that is not meant to.
    """
    right = task.of_outcome(outcome)
    try:
        shared_reference(domain, right)
    except (DomainError, ToolServerError, ConfigurationError):
        return False  # which grading reports
    if (failed := failed_action(domain, right)) is None:
        return True
    what = "the reference action" if outcome is None else "an action of another right outcome"
    problem = f'{what} fails: {failed.text}: correct it, or add "fails": true to it if that is meant'
    raise TaskFormatError(problem, file=file, task_id=task.id, field=f"{actions_field(outcome)}.{failed.position}")


def check_repeatable(tasks: Iterable[Task], domain: Domain) -> None:
    """Refuse a domain over tools that exist already if a trial would see what another one has changed.

    The reference actions of one task are carried out twice, each time with new tools.

    Raises:
        ConfigurationError: The tools do not begin with the same state, or the reference actions lead to another one.
    """
    sides = [each for each in (domain.spec.agent_db, domain.spec.user_db) if each and issubclass(each, SessionState)]
    if not any(each.comparable for each in sides):
        return
    try:
        found = (_repeated(task, domain) for task in tasks if task.criteria.actions)
        problem = next((each for each in found if each is not None), "")
    except DomainError as error:
        problem = str(error)
    except ConfigurationError as error:  # of a snapshot
        problem = f"domain {domain.name!r}: {error}"
    if problem:
        raise ConfigurationError(problem)


def _repeated(task: Task, domain: Domain) -> str | None:
    """Return what is wrong with the reference state of a task, or nothing; None if its actions cannot be made."""
    try:
        problem = unstable_reference(domain, task)
    except (TaskFormatError, ToolServerError):
        return None  # which its trials report
    if failed_action(domain, task) is not None:
        return None
    return (problem or "") if "DB" in task.criteria.reward_basis else ""
