"""Checks of scenarios against their references: choices that are open, words with two meanings, contradictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references import faults, open_choices
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task
    from ..references import OpenChoice

#: The components that depend on what is written.
_GRADING_WRITES = {"DB", "ACTION"}


def check_texts(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``open-choice``, ``two-values`` and the other faults of a scenario that are seen without a conversation.

    Where nothing is graded that a call changes, it does not matter what an agent chooses.
    """
    graded = {*task.criteria.reward_basis}
    if not (_GRADING_WRITES | {"ENV_ASSERTION"}) & graded:
        return
    for choice in open_choices(task, domain):
        text = f"action {choice.action} ({choice.name}): {choice.argument}: {choice.why}"
        yield Finding("open-choice", "warning", task.id, text, _proof(choice), _change(choice))
    for fault in faults(task, domain) if _GRADING_WRITES & graded else ():
        yield Finding(fault.kind, "warning", task.id, fault.text, fault.proof, fault.change)


def _proof(choice: OpenChoice) -> str:
    others = " and with ".join(map(str, choice.alternatives))
    return f"the reference succeeds with {others}, breaks no rule that it keeps, and ends in another state"


def _change(choice: OpenChoice) -> str:
    others = " and ".join(map(str, choice.alternatives))
    return f"let the user say {choice.value!r}, or a word that distinguishes it from {others}"
