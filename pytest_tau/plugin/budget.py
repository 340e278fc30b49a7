"""``--tau-budget``: what a run may spend on model calls, over all xdist workers of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class Budget:
    """Money spent so far, and the limit after which no trial is started.

    Args:
        limit: USD; None for no limit.
        folder: Where each worker notes what it has spent; None where there is one process.
        worker: The worker's name.
    """

    def __init__(self, limit: float | None, folder: Path | None = None, worker: str = "main") -> None:
        self.limit = limit
        self._folder, self._worker, self._own = folder, worker, 0.0

    def spend(self, cost: float) -> None:
        """Note what a trial has cost, in USD."""
        self._own += cost
        if self._folder is not None:
            draft = self._folder / f"{self._worker}.draft"
            draft.write_text(repr(self._own), encoding="utf-8")
            draft.replace(self._folder / f"{self._worker}.spent")

    @property
    def spent(self) -> float:
        """USD so far, of all workers."""
        if self._folder is None:
            return self._own
        return sum(float(file.read_text(encoding="utf-8")) for file in self._folder.glob("*.spent"))

    def check(self, item: pytest.Item) -> None:
        """Skip a trial for which nothing is left; it is reported as not run."""
        if self.limit is not None and (spent := self.spent) >= self.limit:
            item.user_properties.append(("tau_not_run", "budget"))
            pytest.skip(f"not run: the budget of ${self.limit:g} is spent (${spent:.4f})")
