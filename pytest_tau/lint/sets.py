"""Checks of a task set as a whole: nothing twice, and splits that name what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment import canonical
from ..text import listed
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Task

_NAMED = 8


def check_duplicates(tasks: Sequence[Task]) -> Iterator[Finding]:
    """Check ``duplicate-instructions``: two tasks have the same instructions and the same initial state."""
    first: dict[str, str] = {}
    for task in tasks:
        beginning = canonical([task.user_scenario, task.ticket, task.initial_state])
        if beginning in first:
            text = f"has the same beginning as task {first[beginning]}"
            yield Finding("duplicate-instructions", "warning", task.id, text)
        else:
            first[beginning] = task.id


def check_splits(domain: Domain) -> Iterator[Finding]:
    """Check ``unknown-split-id`` and ``in-no-split``."""
    known = {task.id for task in domain.tasks(split=None)}
    used: set[str] = set()
    for split, ids in domain.splits.items():
        used.update(ids)
        unknown = [task_id for task_id in ids if task_id not in known]
        if unknown:
            text = f"split {split!r} names unknown tasks: {_listed(unknown)}"
            yield Finding("unknown-split-id", "error", None, text)
        twice = sorted({task_id for task_id in ids if ids.count(task_id) > 1}) if len(set(ids)) < len(ids) else []
        if twice:
            yield Finding("unknown-split-id", "warning", None, f"split {split!r} names {_listed(twice)} twice")
    left = [task.id for task in domain.tasks(split=None) if task.id not in used] if domain.splits else []
    if left:
        yield Finding("in-no-split", "note", None, f"tasks in no split ({len(left)}): {_listed(left)}")


def _listed(ids: Sequence[str]) -> str:
    return listed([*map(repr, ids)], _NAMED)
