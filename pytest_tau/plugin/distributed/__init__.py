"""The parts of a run that need pytest-xdist, which they import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..wire import is_worker

if TYPE_CHECKING:
    import pytest


def register(config: pytest.Config) -> None:
    """Register what a controller or a worker needs; nothing in a single process."""
    if is_worker(config):
        from . import worker

        worker.register(config)
    elif getattr(config.option, "dist", "no") != "no" and config.option.tx and not config.option.collectonly:
        from . import controller

        controller.register(config)
