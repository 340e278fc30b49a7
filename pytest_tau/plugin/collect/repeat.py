"""pytest-repeat: its ``--count`` multiplies the trials of each task, as repetitions of a task are trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..context.run_state import run_state
from ..options import repetitions
from .collectors import USAGE_ERROR

if TYPE_CHECKING:
    from collections.abc import Generator


def register(config: pytest.Config) -> None:
    """Register the adapter, if pytest-repeat is active."""
    count = repetitions(config)
    if count is not None:
        run_state(config).repetitions = count
        config.pluginmanager.register(Repeat(), "tau-repeat")


class Repeat:
    """Keeps pytest-repeat from parametrising tests that run trials; ``config`` has multiplied their number."""

    @pytest.hookimpl(wrapper=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> Generator[None, None, None]:
        """Hide ``--count`` while a test that runs trials is parametrised; refuse the marker ``repeat``."""
        if "tau_trial" not in metafunc.fixturenames:
            return (yield)
        definition, options = metafunc.definition, metafunc.config.option
        if definition.get_closest_marker("repeat") is not None:
            assert definition.parent is not None
            definition.parent.stash[USAGE_ERROR] = True
            problem = "the marker repeat(N) does not repeat trials: use tau(trials=N) instead"
            raise pytest.Collector.CollectError(f"{definition.nodeid}: {problem}")
        count, options.count = options.count, 1
        try:
            return (yield)
        finally:
            options.count = count
