"""The line of ``tau lint``: in how many tasks something can be omitted before a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigurationError
from ...text import plural
from .omissions import rules_before_writes

if TYPE_CHECKING:
    from ...capability import LintView


async def lint(view: LintView) -> list[str]:
    """Return the line of a domain."""
    if view.task is not None:
        return []
    try:
        rules = len(rules_before_writes(view.domain))
    except ConfigurationError:  # which is a finding of its own
        rules = 0
    writes = {tool.name for tool in view.domain.spec.agent_tools.tools().values() if tool.mutates}
    changing = sum(any(action.name in writes for action in task.criteria.actions or ()) for task in view.tasks)
    tasks = f"{changing} of {plural(len(view.tasks), 'task')}"
    return [
        f"near misses: {tasks} have a change, before which {plural(rules, 'rule')} and the source of "
        "each value are checked (tau near-miss RUN lists what passed without)"
    ]
