"""The plan of a run: tasks, in a stable order, and the seeds of their trials. Pure."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ..files import id_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Task


def trial_seeds(seed: int, trials: int) -> list[int]:
    """Return a seed for each trial, shared by all tasks.

    Source: τ²-bench v1.0.1: 300 gives 626729, 373753, 361454, 1567.
    """
    generator = random.Random(seed)  # noqa: S311 - repeatability is wanted, not secrecy
    return [generator.randint(0, 1_000_000) for _ in range(trials)]


def select(tasks: Sequence[Task], patterns: Iterable[str] = (), num_tasks: int | None = None) -> list[Task]:
    """Return the tasks that match any of the patterns, by id or item id, in order, at most so many.

    Args:
        tasks: What there is.
        patterns: Exact ids, item ids, or globs; none selects all.
        num_tasks: The first so many of what matches.
    """
    wanted = tuple(patterns)
    chosen = [task for task in tasks if not wanted or any(id_matches(task.id, pattern) for pattern in wanted)]
    return chosen[:num_tasks]


def unmatched(tasks: Sequence[Task], patterns: Iterable[str]) -> list[str]:
    """Return the patterns that match no task."""
    return [pattern for pattern in patterns if not any(id_matches(task.id, pattern) for task in tasks)]
