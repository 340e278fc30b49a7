"""Check of the other right outcomes of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references import prove
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task


def check_outcomes(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``bad-outcome``: one of ``outcomes`` is not proved to be right."""
    for position, outcome in enumerate(task.criteria.outcomes or ()):
        for problem in prove(task, domain, outcome):
            yield Finding("bad-outcome", "error", task.id, f"outcome {position}: {problem}")
