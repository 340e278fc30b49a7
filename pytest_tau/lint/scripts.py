"""Checks of what a user without a model goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.validation import argument_problems
from ..errors import unknown_name
from .actions import toolkit_of, tools_of
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task


def check_script(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``bad-goal``: a goal of the script does not name a tool of the user, or has arguments that do not match it.

    ``goal-met``: all goals are met from the start, so that the user would be content with nothing done.
    """
    script = task.user_scenario.script
    if script is None or not script.goals:
        return
    tools = tools_of(domain, "user")
    if task.user_tools is not None:
        tools = {name: tool for name, tool in tools.items() if name in task.user_tools}
    problems = []
    for goal in script.goals:
        if goal.tool not in tools:
            problems.append(unknown_name("tool of the user", goal.tool, tools))
        else:
            wrong = argument_problems(goal.tool, goal.arguments, toolkit_of(domain, "user"))
            problems += [f"{goal.tool}: {problem}" for problem in wrong]
    yield from (Finding("bad-goal", "error", task.id, problem) for problem in problems)
    if not problems and _all_met(task, domain):
        yield Finding("goal-met", "warning", task.id, "the script's goals are met before anything is done")


def _all_met(task: Task, domain: Domain) -> bool:
    script, environment = task.user_scenario.script, domain.environment(task)
    for goal in script.goals if script else ():
        shown = (environment.call(goal.tool, goal.arguments, "user").content or "").lower()
        if not all(expected.lower() in shown for expected in goal.expects):
            return False
    return True
