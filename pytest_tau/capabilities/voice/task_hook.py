"""The hook that keeps the bundled tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ...environment import Domain
    from ...models import Task


class TaskHook:
    """The hook of ``--tau-voice-tasks``. Every run has it, as tasks are read before capabilities are switched on."""

    @pytest.hookimpl(trylast=True)
    def pytest_tau_modify_tasks(self, config: pytest.Config, domain: Domain, tasks: list[Task]) -> None:
        """Keep the bundled tasks, if the run is about them.

        Raises:
            pytest.UsageError: The domain has none, or the run is not in ticks.
        """
        from ...capability import run_of

        run = run_of(config)
        if run.option("voice_tasks"):
            from .bundled import keep_bundled

            keep_bundled(domain, tasks, run.option("mode"))
