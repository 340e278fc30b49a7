"""The check of a task's reference actions before its conversation."""

from __future__ import annotations

import contextvars
import functools
from typing import TYPE_CHECKING

from ..background import in_thread
from ..environment import check_reference

if TYPE_CHECKING:
    from pathlib import Path

    from .trial import Trial


async def refuse_failing_reference(trial: Trial, file: Path | None = None) -> None:
    """Refuse a task with a reference action that fails in the world of a trial, before anything is paid for.

    Args:
        trial: The trial, which has not begun.
        file: The file of the task, if it is not one of the domain's own.

    Raises:
        TaskFormatError: One fails that is not meant to; names file, task and field.
        ConfigurationError: In the world of a test's fixtures, they lead to another state each time.
    """
    task, domain = trial.task, trial.domain
    check = functools.partial(check_reference, task, domain, domain.file_of(task) or file)
    if trial.environment.waits:
        await in_thread(check, contextvars.copy_context())
    else:
        check()
