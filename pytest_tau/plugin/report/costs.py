"""The usage of models: of this run, and of earlier ones by task, in pytest's cache."""

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
    """What trials may take.

    Attributes:
        calls: Model calls.
        cost: USD; None where nothing is known of it.
        trials: How many earlier trials this is taken from.
        tasks: Of how many of the tasks.
    """

    calls: float
    cost: float | None
    trials: int
    tasks: int


def models_of(config: RunConfig) -> str:
    """Which models a run calls, as a key."""
    names = [choice.name if (choice := config.choice(role)) else "-" for role in ("agent", "user", "judge")]
    return " ".join(names)


def remember(config: pytest.Config, models: str, used: dict[str, list[Any]]) -> None:
    """Add what a run took.

    Args:
        config: pytest's configuration.
        models: The key of its models.
        used: Trials, calls, USD and calls without a price, by ``domain::task``.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not used:
        return
    kept = cache.get(_KEY, {})
    tasks = kept.setdefault(models, {})
    for task, numbers in used.items():
        before = tasks.get(task, [0, 0, 0.0, 0])
        tasks[task] = [old + new for old, new in zip(before, numbers, strict=True)]
    cache.set(_KEY, kept)


def estimate(config: pytest.Config, models: str, tasks: dict[str, int]) -> Estimate | None:
    """What trials would take, by earlier trials with the same models; None where there were none.

    Args:
        config: pytest's configuration.
        models: The key of the models.
        tasks: How many trials, by ``domain::task``. A task that was never run counts as the others' mean.
    """
    cache = getattr(config, "cache", None)
    kept = cache.get(_KEY, {}).get(models, {}) if cache is not None else {}
    known = {task: kept[task] for task in tasks if task in kept}
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
    """Sums of model usage: by role for the summary, by task for estimates."""

    def __init__(self) -> None:
        self._sums: UsageTotals | None = None
        self._live: dict[str, list[Any]] = defaultdict(lambda: [0, 0, 0.0, 0])

    def add(self, usage: dict[str, Any], *, trial: bool) -> None:
        """Add the usage of a test.

        Args:
            usage: Its model calls by role, its task, and whether they were replayed.
            trial: The test ran a whole trial, from which others can be estimated.
        """
        from ...analysis.usage import UsageTotals
        from ...models import ModelUsage

        roles = {role: ModelUsage.model_validate(used) for role, used in usage["roles"].items()}
        self._sums = self._sums or UsageTotals()
        self._sums.add(roles, replayed=usage["replayed"])
        if trial and not usage["replayed"]:
            names = ("calls", "known_cost", "unpriced_calls")
            took = [1, *(sum(getattr(used, name) for used in roles.values()) for name in names)]
            before = self._live[usage["task"]]
            self._live[usage["task"]] = [old + new for old, new in zip(before, took, strict=True)]

    def lines(self) -> list[str]:
        """Return a line for each role, and one for the sum."""
        return self._sums.lines() if self._sums else []

    def remember(self, config: pytest.Config, run: RunConfig) -> None:
        """Store the calls that were really made, for later estimates."""
        remember(config, models_of(run), dict(self._live))
