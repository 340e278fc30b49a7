"""The random order of tasks in a run that may end early."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...runs.groups import TaskId


def draw_key(seed: int, task: TaskId) -> str:
    """Return by what a task is sorted: each task has its place, whichever others are selected, in every process."""
    return hashlib.sha256("\0".join([str(seed), *task]).encode()).hexdigest()
