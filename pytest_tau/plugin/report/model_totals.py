"""What the model calls of a run came to: for the summary, and for the estimates of later runs."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from ...analysis.usage import UsageTotals
    from ...runner import RunConfig


class ModelTotals:
    """Sums of model usage: by role for the summary, by task for estimates."""

    def __init__(self) -> None:
        self._sums: UsageTotals | None = None
        self._live: dict[str, list[Any]] = defaultdict(lambda: [0, 0, 0.0, 0])

    def add(self, usage: str, *, trial: bool) -> None:
        """Add the usage of a test.

        Args:
            usage: What it told, as JSON.
            trial: It held a whole trial, from which others can be estimated.
        """
        from ...analysis.usage import UsageTotals
        from ...models import ModelUsage

        told = json.loads(usage)
        roles = {role: ModelUsage.model_validate(used) for role, used in told["roles"].items()}
        self._sums = self._sums or UsageTotals()
        self._sums.add(roles, replayed=told["replayed"])
        if trial and not told["replayed"]:
            names = ("calls", "known_cost", "unpriced_calls")
            took = [1, *(sum(getattr(used, name) for used in roles.values()) for name in names)]
            before = self._live[told["task"]]
            self._live[told["task"]] = [old + new for old, new in zip(before, took, strict=True)]

    def lines(self) -> list[str]:
        """A line for each role, and one for the sum."""
        return self._sums.lines() if self._sums else []

    def remember(self, config: pytest.Config, run: RunConfig) -> None:
        """Keep what was really called, for later estimates."""
        from .costs import models_of, remember

        remember(config, models_of(run), dict(self._live))
