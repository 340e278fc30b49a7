"""Watches the HTTP clients of a process while a run has agents that are not built in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ...capability import run_of

if TYPE_CHECKING:
    from . import PlainClientSettings
    from .patches import Patches

#: Clients are made before a trial begins, and refuse to be made without a key. A replay needs none.
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
#: Of the clients of Gemini, either will do, and both together are a warning.
_OTHER_NAME = {"GEMINI_API_KEY": "GOOGLE_API_KEY"}
_NO_KEY = "not-needed-by-a-replay"


class PlainClients:
    """Attributes model calls of plain clients to the trial that makes them, from collection to the end of the run."""

    def __init__(self, config: pytest.Config, settings: PlainClientSettings) -> None:
        del settings
        self._patches: Patches | None = None
        self._keys: list[str] = []
        if config.getoption("tau_replay", default=False):
            self._keys = [name for name in _KEYS if not {name, _OTHER_NAME.get(name, name)} & os.environ.keys()]
            os.environ.update(dict.fromkeys(self._keys, _NO_KEY))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Begin if an item has an agent that may call a model."""
        from ...participants import calls_no_model

        specs = map(run_of(config).task_of, items)
        if any(spec is not None and not calls_no_model(spec.config.agent_spec) for spec in specs):
            from .patches import Patches

            self._patches = Patches()
            self._patches.begin()

    def pytest_unconfigure(self) -> None:
        """Leave the clients and the environment as they were."""
        if self._patches is not None:
            self._patches.end()
        for name in self._keys:
            if os.environ.get(name) == _NO_KEY:
                del os.environ[name]
