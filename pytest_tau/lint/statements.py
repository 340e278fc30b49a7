"""Checks of required statements: the agent can know them, and the reference brings their amounts about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references import not_brought_about
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task
    from ..references import Unstated
    from .findings import Severity


def unknown_statement(fact: Unstated, task: Task) -> Finding:
    """Return ``communicate-unknown``: no text or reading gives a required statement; a note if phrases do not gate."""
    text = (
        f"the agent cannot know the required statement {fact.value!r}: {fact.looked}, and known amounts do not give it"
    )
    change = f"correct it, or state what {fact.value!r} is computed from"
    return Finding("communicate-unknown", _severity(task), task.id, text, change=change)


def check_amounts(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``communicate-not-done``: an amount to get or pay that no reference write brings about.

    It is a note if the phrases do not gate.
    """
    for amount in not_brought_about(task, domain):
        text = (
            f"{amount.statement!r} is required, the sum of amounts that no write of the reference moves; "
            f"the user asks: {amount.asked}"
        )
        addends = " + ".join(f"{addend:g}" for addend in amount.addends)
        proof = f"{addends}, which {amount.source} shows; no write of the reference is about these"
        change = "remove the statement, or add the write that brings the amount about"
        yield Finding("communicate-not-done", _severity(task), task.id, text, proof, change)


def _severity(task: Task) -> Severity:
    return "warning" if "COMMUNICATE" in task.criteria.reward_basis else "note"
