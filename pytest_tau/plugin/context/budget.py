"""``--tau-budget``: the limit of what a run spends on model calls, in all xdist workers together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NoReturn

import pytest

from ...chat.prices import PriceCheck
from ...files import atomic_write
from ..items import item_state
from ..wire import worker_input, worker_name

if TYPE_CHECKING:
    from pathlib import Path


class Budget:
    """Money spent so far, and the limit after which no trial is started and no model is called.

    Args:
        limit: USD; None for no limit.
        folder: The folder in which each worker writes what it has spent; None if the budget is not shared.
        worker: The worker's name.
        sharers: The number of workers that have an equal share of the limit each, without a folder in common.
        spent: USD that were spent from this share before.

    Attributes:
        price_check: Refuses calls that the budget could not count.
    """

    def __init__(
        self,
        limit: float | None,
        folder: Path | None = None,
        worker: str = "main",
        *,
        sharers: int = 1,
        spent: float = 0.0,
    ) -> None:
        self.limit = limit if limit is None else limit / sharers
        self._whole, self._sharers = limit, sharers
        self._folder, self._worker, self._own = folder, worker, spent
        self.price_check = PriceCheck()
        #: Trials run on several event loops.
        self._lock = threading.Lock()

    @classmethod
    def of(cls, config: pytest.Config, limit: float | None, shared: Path | None) -> Budget:
        """Return the budget of this process: the run's, or this worker's share if the workers share no folder."""
        given = worker_input(config)
        if given is None:
            return cls(limit, shared, worker_name(config))
        folder = shared if given.sharers == 1 else None
        return cls(limit, folder, worker_name(config), sharers=given.sharers, spent=given.spent)

    def spend(self, cost: float) -> None:
        """Add the cost of a call, in USD."""
        with self._lock:
            self._own += cost
            if self._folder is not None:
                atomic_write(self._folder / f"{self._worker}.spent", repr(self._own))

    @property
    def spent(self) -> float:
        """Return the USD spent so far, by all processes that share the limit."""
        if self._folder is None:
            return self._own
        return sum(float(file.read_text(encoding="utf-8")) for file in self._folder.glob("*.spent"))

    def check(self, item: pytest.Item) -> None:
        """Skip a trial if the budget is spent; it is reported as not run."""
        problem = self.problem()
        if problem is not None:
            skip_without_money(item, problem)

    def problem(self) -> str | None:
        """Return that the budget is spent; None if it is not."""
        if self.limit is None or (spent := self.spent) < self.limit:
            return None
        which = f"the budget of ${self.limit:g}"
        if self._sharers > 1:
            which = f"this worker's share of the budget, ${self.limit:g} of ${self._whole:g},"
        return f"{which} is spent (${spent:.4f})"


def skip_without_money(item: pytest.Item, problem: str, *, is_priced: bool = True) -> NoReturn:
    """Skip a trial for which there is no money, or whose calls no budget can count; it is reported as not run."""
    item_state(item).report.not_run = "budget" if is_priced else "price"
    pytest.skip(f"not run: {problem}")
