"""Checks of the reference actions: they exist, their arguments fit, they succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment import ToolError
from ..environment.validation import argument_problems, not_offered, unknown_compared, unknown_tool
from ..evaluation.outside import undeclared_write
from ..models import ToolCall, is_beginning
from ..models.problems import error_text
from ..references.sides import toolkit_of, tools_of
from ..text import one_line
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain, Environment
    from ..models import Action, Task
    from .findings import Severity

#: Characters of a refusal.
_REFUSAL = 200
#: What shows that a write fails, and what would repair it.
_OF_WRITE = (
    "it is carried out in the state that the actions before it leave; the reference state lacks its effect",
    "correct its arguments or its order, remove it, or declare that it fails",
)


def check_actions(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unknown-action``, ``bad-arguments`` and ``action-raises``.

    A tool may also refuse in a text. A read that its tool refuses is a note: an agent may have to find that something
    does not exist.

    Source: τ²-bench v1.0.1: reference actions are carried out without a sync between them, and one that raises is
    skipped without a word.
    """
    environment = domain.environment(task)
    for position, action in enumerate(task.criteria.actions or []):
        called = f"action {position} ({action.name})"
        if is_beginning(action):
            yield from _raised(environment, action, task, called, is_write=True)
            continue
        tool = tools_of(domain, action.requestor).get(action.name)
        if tool is None:
            yield Finding("unknown-action", "error", task.id, f"{called}: {unknown_tool(action, domain.spec)}")
            continue
        if (excluded := not_offered(action, task, domain.spec)) is not None:
            yield Finding("unknown-action", "error", task.id, f"{called}: {excluded}")
        for problem in argument_problems(action.name, action.arguments, toolkit_of(domain, action.requestor)):
            yield Finding("bad-arguments", "error", task.id, f"{called}: {problem}")
        unknown = unknown_compared(action, tool.parameters)
        for problem in unknown:
            yield Finding("bad-arguments", "error", task.id, f"{called}: compare_args: {problem}")
        for name in () if unknown else action.compare_args or ():
            if name not in action.arguments:
                problem = f"{called}: compare_args names {name!r}, which it does not have"
                yield Finding("bad-arguments", "warning", task.id, problem)
        yield from _raised(environment, action, task, called, is_write=tool.mutates)


def _raised(environment: Environment, action: Action, task: Task, called: str, *, is_write: bool) -> Iterator[Finding]:
    outcome = _carried_out(environment, action, is_write=is_write)
    if outcome is not None:
        severity, problem = outcome
        proof, change = _OF_WRITE if is_write and not action.fails else ("", "")
        yield Finding("action-raises", severity, task.id, f"{called}: {problem}", proof, change)


def _carried_out(environment: Environment, action: Action, *, is_write: bool) -> tuple[Severity, str] | None:
    """Carry out a reference action; return what is wrong with its outcome, and how wrong that is."""
    severity: Severity = "error"
    try:
        answer = environment.execute(action.name, action.arguments, action.requestor)
        refused = isinstance(answer, str) and answer.startswith("Error")
        problem = one_line(answer, _REFUSAL) if refused else None
    except Exception as error:  # noqa: BLE001 - the tool boundary: a tool may raise anything
        refused, problem = isinstance(error, ToolError), f"{type(error).__name__}: {error_text(error)}"
    if problem is not None and refused and not is_write:
        severity = "note"
    if action.fails:
        return ("error", "is meant to fail, and does not") if problem is None else None
    return None if problem is None else (severity, problem)


def check_declarations(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``undeclared-write``: a tool that is not a write changes the state.

    The reference actions, then the checks of the script's goals are carried out.
    """
    environment = domain.environment(task)
    if not environment.agent_db.cheap_to_fork:
        return
    script = task.user_scenario.script
    calls = [
        ToolCall(name=action.name, arguments=action.arguments, requestor=action.requestor)
        for action in task.criteria.actions or []
    ]
    reads = script.goals if script else ()
    calls += [ToolCall(name=goal.tool, arguments=goal.arguments, requestor="user") for goal in reads]
    undeclared = undeclared_write(environment, calls)
    if undeclared is not None:
        yield Finding("undeclared-write", "error", task.id, str(undeclared))
