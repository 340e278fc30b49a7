"""The choice of a scheduler for xdist workers, whose queues are long enough to prefetch from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..context.run_state import get_context
from ..options import OptionValues
from .compat import SCOPED, DeepScheduling

if TYPE_CHECKING:
    import pytest


def make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return the scheduler of a run of tasks; None if xdist's own will do."""
    dist, concurrency = config.getvalue("dist"), _concurrency(config)
    if dist == "load" and concurrency > 1:
        return DeepScheduling(config, log, concurrency)
    if dist in SCOPED and (concurrency > 1 or get_context(config) is not None):
        return SCOPED[dist](config, log)
    return None


def _concurrency(config: pytest.Config) -> int:
    """Return how many trials run at the same time in one worker, in a controller that may not know of tasks yet."""
    values = OptionValues(config)
    models = any(values.given(f"{role}_llm") is not None for role in ("agent", "user", "judge"))
    if values.given("concurrency") is None and not models:
        return 1
    from ..config import run_config

    return run_config(config).concurrency
