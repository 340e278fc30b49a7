"""Checks that the parts of a task agree: scenario, reference actions, documents and database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references.contradictions import disagreements, unread_tables
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task


def check_contradictions(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``contradicted-fact``: the scenario has another value of a fact than the reference."""
    for conflict in disagreements(task, domain):
        where = f"action {conflict.position} ({conflict.name})"
        text = f"{where}: {conflict.path} is {conflict.value!r}, the scenario says {conflict.stated!r}"
        change = f"write {conflict.value!r} into the scenario, or correct the reference and the records"
        yield Finding("contradicted-fact", "warning", task.id, text, change=change)


def check_tables(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unread-table``: a required document has the agent look into a table that no tool reads."""
    for gap in unread_tables(task, domain):
        text = f"document {gap.document!r} has the agent look into {gap.table}, which no tool reads: {gap.sentence}"
        proof = f"{gap.table} has {gap.record!r} after the reference actions, which no reading tool shows"
        change = "add a tool that reads the table, or change the document"
        yield Finding("unread-table", "warning", task.id, text, proof, change)
