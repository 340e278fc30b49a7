"""Checks of what must be said, which only the agent should say, and of fields that are ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.validation import misplaced_tables
from ..evaluation import OFFICIAL, STRICT
from ..evaluation.components.communicate import check_communicate
from ..models import GREETING, AssistantMessage
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models import Task
    from .findings import Severity


def check_ignored(task: Task) -> Iterator[Finding]:
    """Check ``ignored-field``: a field that grading ignores, such as a misspelt one or a misplaced table."""
    for name in task.user_scenario.ignored:
        text = f"user_scenario.{name}: an unknown field without a value is ignored: remove it, or correct its name"
        yield Finding("ignored-field", "warning", task.id, text)
    for name in misplaced_tables(task):
        where = f"initial_state.initialization_data.{name}"
        text = f"{where}: a table next to agent_data is ignored: move it into agent_data, or into user_data"
        yield Finding("ignored-field", "warning", task.id, text)


def check_phrases(task: Task) -> Iterator[Finding]:
    """Check ``communicate-in-greeting`` and ``communicate-in-user-text``: notes if the phrases do not gate."""
    phrases = task.criteria.communicate_info or []
    if not phrases:
        return
    gates = "COMMUNICATE" in task.criteria.reward_basis
    opening = task.message_history or [AssistantMessage(content=GREETING)]
    for check in check_communicate(phrases, opening, OFFICIAL):
        if check.met:
            severity: Severity = "error" if gates else "note"
            text = f"{check.info!r} is said before the agent's first message"
            yield Finding("communicate-in-greeting", severity, task.id, text)
    # A digit is part of many numbers; an agent that repeats the user repeats whole words.
    users = AssistantMessage(content="\n".join([str(task.user_scenario), task.ticket or ""]))
    for check in check_communicate(phrases, [users], STRICT):
        if check.met:
            text = f"{check.info!r} is in the user's text: an agent that repeats it has said it"
            yield Finding("communicate-in-user-text", "warning" if gates else "note", task.id, text)
