"""What earlier runs took, kept in pytest's cache: calls and cost of each task, by models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

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
