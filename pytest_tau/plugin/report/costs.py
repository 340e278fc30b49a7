"""The usage of models: the totals of this run, and estimates from earlier runs by task, in pytest's cache."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from ...analysis.usage import UsageTotals
    from ...runner import RunConfig

_KEY = "tau/costs"


@dataclass(frozen=True)
class Estimate:
    """An estimate of the usage of trials.

    Attributes:
        calls: Model calls.
        cost: USD; None if some prices are unknown.
        trials: The number of earlier trials that it is based on.
        tasks: The number of tasks that those are of.
    """

    calls: float
    cost: float | None
    trials: int
    tasks: int


def models_key(config: RunConfig) -> str:
    """Return the names of the models that a run calls, as a key."""
    from ...runner import MODEL_ROLES

    names = dict.fromkeys(MODEL_ROLES, "-") | {role: choice.name for role, choice in config.choices.items()}
    return " ".join(names.values())


def store_usage(config: pytest.Config, models: str, used: dict[str, list[Any]]) -> None:
    """Add the usage of a run to the cache.

    Args:
        config: pytest's configuration.
        models: The key of its models.
        used: The numbers of trials, calls, USD and calls without a price, by ``domain::task``.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not used:
        return
    stored = cache.get(_KEY, {})
    tasks = stored.setdefault(models, {})
    for task, numbers in used.items():
        before = tasks.get(task, [0, 0, 0.0, 0])
        tasks[task] = [old + new for old, new in zip(before, numbers, strict=True)]
    cache.set(_KEY, stored)


def estimate(config: pytest.Config, models: str, tasks: dict[str, int]) -> Estimate | None:
    """Return the estimated usage of trials, by earlier trials with the same models; None without any.

    Args:
        config: pytest's configuration.
        models: The key of the models.
        tasks: The number of trials, by ``domain::task``. A task without earlier trials counts as the others' mean.
    """
    cache = getattr(config, "cache", None)
    stored = cache.get(_KEY, {}).get(models, {}) if cache is not None else {}
    known = {task: stored[task] for task in tasks if task in stored}
    if not known:
        return None
    trials = sum(numbers[0] for numbers in known.values())
    mean = [sum(numbers[part] for numbers in known.values()) / trials for part in (1, 2)]
    calls = cost = 0.0
    for task, wanted in tasks.items():
        each = [known[task][part] / known[task][0] for part in (1, 2)] if task in known else mean
        calls, cost = calls + wanted * each[0], cost + wanted * each[1]
    priced = not any(numbers[3] for numbers in known.values())
    return Estimate(calls, cost if priced else None, trials, len(known))


class ModelTotals:
    """Sums of model usage: by role for the summary, by task for estimates.

    Attributes:
        unpriced: The number of calls of this run whose cost is unknown.
    """

    def __init__(self) -> None:
        self.unpriced = 0
        self._sums: UsageTotals | None = None
        self._live: dict[str, list[Any]] = defaultdict(lambda: [0, 0, 0.0, 0])

    def add(self, usage: dict[str, Any], *, trial: bool, reused: bool) -> None:
        """Add the usage of a test.

        Args:
            usage: Its model calls by role, its task, and whether they were made in this run (``replayed`` is false).
            trial: Whether the test ran a whole trial, on which estimates can be based.
            reused: Whether its trial was taken from an earlier run.
        """
        from ...analysis.usage import UsageTotals
        from ...models import ModelUsage

        roles = {role: ModelUsage.model_validate(used) for role, used in usage["roles"].items()}
        self._sums = self._sums or UsageTotals()
        self._sums.add(roles, replayed=usage["replayed"] and not reused, reused=reused)
        if not usage["replayed"]:
            self.unpriced += sum(used.unpriced_calls for used in roles.values())
        if trial and not usage["replayed"]:
            names = ("calls", "known_cost", "unpriced_calls")
            used_here = [1, *(sum(getattr(used, name) for used in roles.values()) for name in names)]
            before = self._live[usage["task"]]
            self._live[usage["task"]] = [old + new for old, new in zip(before, used_here, strict=True)]

    def add_stopped(self, usage: dict[str, Any]) -> None:
        """Add the calls of trials that a budget has stopped in an earlier run, by role."""
        if usage:
            from ...analysis.usage import UsageTotals
            from ...models import ModelUsage

            self._sums = self._sums or UsageTotals()
            self._sums.add_stopped({role: ModelUsage.model_validate(used) for role, used in usage.items()})

    def lines(self) -> list[str]:
        """Return a line for each role, and one for the total."""
        return self._sums.lines() if self._sums else []

    def store(self, config: pytest.Config, run: RunConfig) -> None:
        """Store the usage of calls that were not replayed, for later estimates."""
        store_usage(config, models_key(run), dict(self._live))
