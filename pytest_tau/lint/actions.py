"""Checks of the reference actions: they exist, their arguments fit, they succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..environment import Toolkit
from ..environment.validation import argument_problems, not_offered, unknown_compared, unknown_tool
from ..evaluation.outside import undeclared_write
from ..models import ToolCall
from ..models.problems import error_text
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain, Environment, Tool
    from ..models import Action, Requestor, Task


def check_actions(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unknown-action``, ``bad-arguments`` and ``action-raises``.

    Source: τ²-bench v1.0.1: reference actions are carried out without a sync between them, and one that raises is
    skipped without a word.
    """
    environment = domain.environment(task)
    for position, action in enumerate(task.criteria.actions or []):
        called = f"action {position} ({action.name})"
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
        if (unmet := _carried_out(environment, action)) is not None:
            yield Finding("action-raises", "error", task.id, f"{called}: {unmet}")


def _carried_out(environment: Environment, action: Action) -> str | None:
    """Carry out a reference action; return what is wrong with its outcome."""
    try:
        environment.execute(action.name, action.arguments, action.requestor)
    except Exception as error:  # noqa: BLE001 - the tool boundary: a tool may raise anything
        return None if action.fails else f"{type(error).__name__}: {error_text(error)}"
    return "is meant to fail, and does not" if action.fails else None


def check_declarations(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``undeclared-write``: a tool that is not a write changes the state.

    The reference actions, then the checks of the script's goals are carried out.
    """
    environment = domain.environment(task)
    if not environment.agent_db.cheap_to_fork:
        return
    script = task.user_scenario.script
    calls = [
        ToolCall(name=each.name, arguments=each.arguments, requestor=each.requestor)
        for each in task.criteria.actions or []
    ]
    reads = script.goals if script else ()
    calls += [ToolCall(name=each.tool, arguments=each.arguments, requestor="user") for each in reads]
    found = undeclared_write(environment, calls)
    if found is not None:
        yield Finding("undeclared-write", "error", task.id, str(found))


def tools_of(domain: Domain, requestor: Requestor) -> dict[str, Tool]:
    """Return a side's tools by name, also those that are not offered, which can be found out."""
    toolkit = toolkit_of(domain, requestor)
    return toolkit.tools() | toolkit.hidden_tools()


def toolkit_of(domain: Domain, requestor: Requestor) -> type[Toolkit[Any]]:
    """Return a side's toolkit; one without tools if the side has none."""
    return (domain.spec.agent_tools if requestor == "assistant" else domain.spec.user_tools) or Toolkit
