"""The records of a large run, which its folder has from the end of the run on: comparing it then parses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..options import runs_no_test
from .manifest import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Generator

    from .paths import RunPaths


class RecordsAtEnd:
    """Stores the records once the simulations of all processes are in their file.

    They are made of the stored simulations, as by whoever reads the run. Those of the reports differ: they know the
    components of plugins, and what was restored.

    Args:
        config: pytest's configuration.
        paths: The folders of the run.
    """

    def __init__(self, config: pytest.Config, paths: RunPaths) -> None:
        self._config, self._paths = config, paths

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, None, None]:
        """Store them after everybody else has finished, unless somebody waits for the end of an interrupted run."""
        yield
        folder = self._paths.used_results
        if folder is None or not folder.is_dir() or runs_no_test(self._config):
            return
        if exitstatus not in INTERRUPTED:
            from ...runs.reader import cache_records

            cache_records(folder)
