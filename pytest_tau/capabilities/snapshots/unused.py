"""Unused snapshots of trajectories: stored ones of tests and tasks that no longer exist.

Nothing of syrupy is imported at the top, so that a run without snapshots does not load it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from ...capability import has_run, run_of
from ...files import file_name_of
from .trials import trial_of

if TYPE_CHECKING:
    from pathlib import Path


def is_subset(config: pytest.Config) -> bool:
    """Return whether the run has only some of the tests and tasks; then a snapshot of another is not unused."""
    # Without a run, a plain test has asked for the fixture while it ran, and nothing was recorded.
    return not has_run(config) or run_of(config).selects or _has_deselected(config)


def _has_deselected(config: pytest.Config) -> bool:
    fixtures: Any = config.pluginmanager.get_plugin("tau_snapshots_fixtures")
    return bool(fixtures.deselected)


class UnusedCheck:
    """Decides whether a stored snapshot may be unused.

    Args:
        session: The session of a run of all tests and tasks.
    """

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def __call__(self, folder: Path, name: str) -> bool:
        """Return whether no test of this name uses snapshots.

        A test that was skipped, or that failed before its comparison, still needs its snapshot. Of a task, the number
        of the trial and the parameters do not count: another run may have more of them.
        """
        task = _task_of(name)
        return name not in self._tests[folder] and task not in self._tasks[folder]

    @cached_property
    def _tests(self) -> dict[Path, set[str]]:
        """Return the names of the tests that use snapshots, by folder."""
        from .extension import place_of

        names_by_folder: dict[Path, set[str]] = defaultdict(set)
        for item in self._session.items:
            if isinstance(item, pytest.Function) and "tau_snapshot" in item.fixturenames:
                folder, name = place_of(item)
                names_by_folder[folder].add(name)
        return names_by_folder

    @cached_property
    def _tasks(self) -> dict[Path, set[str]]:
        """Return the ids of the tasks, by folder; of a domain the ids of all its tasks."""
        from ...files import item_id
        from .extension import place_of

        ids_by_folder: dict[Path, set[str]] = defaultdict(set)
        for item in self._session.items:
            trial = trial_of(item)
            if trial is None or not trial.is_of_task:
                continue
            folder, name = place_of(item)
            if folder not in ids_by_folder and trial.is_of_domain:
                names = (f"{item_id(task_id)}[trial-0]" for task_id in trial.task.domain.tasks_by_id())
                ids_by_folder[folder] |= {_task_of(file_name_of(task_name)) for task_name in names}
            ids_by_folder[folder].add(_task_of(name))
        return ids_by_folder


def _task_of(name: str) -> str:
    """Return a snapshot's name without the number of the trial and the parameters."""
    return name.partition("[")[0]
