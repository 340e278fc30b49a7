"""Checks that the parts of a task agree: scenario, reference actions, documents and database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references import disagreements, unread_tables
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task


def check_contradictions(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``contradicted-fact``: the scenario has another value of a fact than the reference."""
    for each in disagreements(task, domain):
        text = f"action {each.position} ({each.name}): {each.path} is {each.value!r}, the scenario says {each.stated!r}"
        change = f"write {each.value!r} into the scenario, or correct the reference and the records"
        yield Finding("contradicted-fact", "warning", task.id, text, change=change)


def check_tables(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unread-table``: a required document has the agent look into a table that no tool reads."""
    for each in unread_tables(task, domain):
        text = f"document {each.document!r} has the agent look into {each.table}, which no tool reads: {each.sentence}"
        proof = f"{each.table} has {each.record!r} after the reference actions, which no reading tool shows"
        change = "add a tool that reads the table, or change the document"
        yield Finding("unread-table", "warning", task.id, text, proof, change)
