"""The tasks of a domain whose user calls several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ...models import load_task_file

if TYPE_CHECKING:
    from ...environment import Domain
    from ...models import Task

#: Their file, in the folder of the tasks of the domain.
FILE = "sessions.json"


def tasks_with_sessions(domain: Domain) -> list[Task]:
    """Return the tasks of a domain with sessions, in file order.

    Raises:
        pytest.UsageError: The domain has none.
        TaskFormatError: The file does not follow the format.
    """
    file = domain.tasks_folder / FILE
    if not file.is_file():
        raise pytest.UsageError(f"--tau-session-tasks: domain {domain.name!r} has no file {file}")
    return domain.with_own_values(load_task_file(file).tasks, file)
