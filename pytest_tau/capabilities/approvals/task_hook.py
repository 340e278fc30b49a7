"""The hook that checks the scripts of tasks before anything is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ...environment import Domain
    from ...models import Task


class TaskHook:
    """The hook of every run that refuses an approver's script before anything is called."""

    @pytest.hookimpl(trylast=True)
    def pytest_tau_modify_tasks(self, domain: Domain, tasks: list[Task]) -> None:
        """Check the scripts of the tasks.

        Raises:
            TaskFormatError: One does not follow the format.
        """
        from ...models import APPROVER

        scripted = [task for task in tasks if isinstance(task.annotations, dict) and APPROVER in task.annotations]
        if scripted:
            from .script import script_of

            for task in scripted:
                script_of(task, domain)
