"""The plan of a run: tasks, in a stable order, and the seeds of their trials. Pure."""

from __future__ import annotations

import random
import re
import unicodedata
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..files import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Task

_LONGEST = 60
#: Characters that may not be safe.
_OTHER = re.compile(r"[^A-Za-z0-9_.+-]")


def trial_seeds(seed: int, trials: int) -> list[int]:
    """Return a seed for each trial, shared by all tasks.

    Source: τ²-bench v1.0.1: 300 gives 626729, 373753, 361454, 1567.
    """
    generator = random.Random(seed)  # noqa: S311 - repeatability is wanted, not secrecy
    return [generator.randint(0, 1_000_000) for _ in range(trials)]


def item_id(task_id: str) -> str:
    """Return the task's id if it is short and safe in shells and ``-k``; else a slug and a hash of it.

    Letters and digits of every script are safe.
    """
    safe = _OTHER.sub(lambda found: found[0] if _is_safe(found[0]) else "\0", task_id)
    if task_id and "\0" not in safe and len(task_id) <= _LONGEST and task_id[0] not in ".-":
        return task_id
    short = digest(task_id)[:8]
    slug = re.sub("\0+", "-", safe).strip("-.")[: _LONGEST - 9].rstrip("-.")
    return f"{slug}-{short}" if slug else short


def _is_safe(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def select(tasks: Sequence[Task], patterns: Iterable[str] = (), num_tasks: int | None = None) -> list[Task]:
    """Return the tasks that match any of the patterns, by id or item id, in order, at most so many.

    Args:
        tasks: What there is.
        patterns: Exact ids, item ids, or globs; none selects all.
        num_tasks: The first so many of what matches.
    """
    wanted = tuple(patterns)
    chosen = [task for task in tasks if not wanted or any(_matches(task.id, pattern) for pattern in wanted)]
    return chosen[:num_tasks]


def unmatched(tasks: Sequence[Task], patterns: Iterable[str]) -> list[str]:
    """Return the patterns that match no task."""
    return [pattern for pattern in patterns if not any(_matches(task.id, pattern) for task in tasks)]


def _matches(task_id: str, pattern: str) -> bool:
    if pattern in (task_id, item_id(task_id)):
        return True
    # Ids of generated tasks are full of brackets, which are meant literally far more often than as a set.
    literal_brackets = pattern.replace("[", "[[]")
    return fnmatchcase(task_id, literal_brackets) or fnmatchcase(item_id(task_id), literal_brackets)
