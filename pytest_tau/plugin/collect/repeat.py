"""pytest-repeat: its ``--count`` multiplies the trials of each task, as repetitions of a task are trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def register(config: pytest.Config, begin: Callable[[pytest.Config], None]) -> None:
    """Register the adapter; ``begin`` registers the other parts of the plugin, once there is a test with trials."""
    config.pluginmanager.register(Repeat(begin), "tau-repeat")


class Repeat:
    """Keeps pytest-repeat from parametrising tests that run trials; ``config`` has multiplied their number."""

    def __init__(self, begin: Callable[[pytest.Config], None]) -> None:
        self._begin = begin

    @pytest.hookimpl(wrapper=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> Generator[None, None, None]:
        """Hide ``--count`` while a test that runs trials is parametrised; refuse the marker ``repeat``."""
        if "tau_trial" not in metafunc.fixturenames:
            return (yield)
        self._begin(metafunc.config)
        definition, options = metafunc.definition, metafunc.config.option
        if definition.get_closest_marker("repeat") is not None:
            from .collectors import USAGE_ERROR

            assert definition.parent is not None
            definition.parent.stash[USAGE_ERROR] = True
            problem = "the marker repeat(N) does not repeat trials: use tau(trials=N) instead"
            raise pytest.Collector.CollectError(f"{definition.nodeid}: {problem}")
        count, options.count = options.count, 1
        try:
            return (yield)
        finally:
            options.count = count
