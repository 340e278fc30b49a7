"""Which stored snapshots of trajectories a run may find unused: those of tests and tasks that are no longer there.

Nothing of syrupy is imported here, so that a run without snapshots does without it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from ..context.run_state import run_state
from ..items import is_task_item, spec_of

if TYPE_CHECKING:
    from pathlib import Path

#: Options with which a run holds less than all there is.
_SUBSET_OPTIONS = ("tau_task", "tau_num_tasks", "tau_split", "tau_trials", "tau_shard", "tau_generate", "lf")
#: The suffix of our files (``integrations.syrupy.extension.SUFFIX``), to be left alone by whoever cleans up snapshots.
_SUFFIX = "tausnap"


def register(config: pytest.Config) -> None:
    """Let syrupy, if it is installed, leave our files alone."""
    option = config.option
    if hasattr(option, "ignore_file_extensions"):
        # Its own format takes every other file among the snapshots for a forgotten one, and deletes it.
        option.ignore_file_extensions = list(dict.fromkeys([*(option.ignore_file_extensions or ()), _SUFFIX]))


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Remember that the run does not hold all there is."""
    if items:
        run_state(items[0].config).deselected = True


def narrowed(config: pytest.Config) -> bool:
    """Whether the command line asks for less than all there is; a snapshot of the rest is not unused."""
    asked = any(config.getoption(name, None) for name in _SUBSET_OPTIONS) or any("::" in given for given in config.args)
    replayed = str(config.getoption("tau_agent", None)).startswith("replay:")  # only what has been recorded
    return asked or replayed or run_state(config).deselected


class InQuestion:
    """Tells whether a stored snapshot may be unused.

    Args:
        session: A run of everything that there is.
    """

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def __call__(self, folder: Path, name: str) -> bool:
        """Whether there is no test of its name, or one that does not ask for it.

        A test that was skipped, or that has failed before it came to its snapshot, still wants it. Of a task, the
        trials do not count: another run may hold more of them.
        """
        task = name.rpartition("[trial-")[0]
        return name not in self._tests[folder] and task not in self._tasks[folder]

    @cached_property
    def _tests(self) -> dict[Path, set[str]]:
        """Names of the tests that ask for snapshots, by folder."""
        from ...integrations.syrupy import place_of

        found: dict[Path, set[str]] = defaultdict(set)
        for item in self._session.items:
            if isinstance(item, pytest.Function) and "tau_snapshot" in item.fixturenames:
                folder, name = place_of(item)
                found[folder].add(name)
        return found

    @cached_property
    def _tasks(self) -> dict[Path, set[str]]:
        """Ids of the tasks, by folder; of a domain all that it has."""
        from ...integrations.syrupy import place_of
        from ...runner import item_id

        found: dict[Path, set[str]] = defaultdict(set)
        for item in self._session.items:
            spec = spec_of(item)
            if spec is None or not is_task_item(item):
                continue
            folder, name = place_of(item)
            if folder not in found and hasattr(item.parent, "selected"):  # a domain's, and not a file's
                found[folder] |= {item_id(task.id) for task in spec.domain.tasks(None)}
            found[folder].add(name.rpartition("[trial-")[0])
        return found
