"""The usage of models: the totals of this run, and estimates from earlier runs by task, in pytest's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...text import money, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from ...runner import RunConfig
    from ..wire import TrialReport

#: By the models: the numbers of trials, calls, USD and calls without a price, by ``domain::task``.
_KEY = "tau/costs"


def models_key(config: RunConfig) -> str:
    """Return the names of the models that a run calls, as a key."""
    from ...runner import MODEL_ROLES

    names = dict.fromkeys(MODEL_ROLES, "-") | {role: choice.name for role, choice in config.choices.items()}
    return " ".join(names.values())


def store_usage(config: pytest.Config, models: str, ended: Iterable[tuple[str, TrialReport]]) -> None:
    """Add the usage of trials whose calls were not replayed to the cache.

    Args:
        config: pytest's configuration.
        models: The key of the models.
        ended: The trials by node id.
    """
    cache = getattr(config, "cache", None)
    live = [trial.usage for _, trial in ended if trial.simulated and trial.usage and not trial.usage.replayed]
    if cache is None or not live:
        return
    stored = cache.get(_KEY, {})
    tasks = stored.setdefault(models, {})
    for usage in live:
        numbers = [1, sum(used.calls for used in usage.roles.values()), usage.cost, usage.unpriced_calls]
        before = tasks.get(usage.task, [0, 0, 0.0, 0])
        tasks[usage.task] = [old + new for old, new in zip(before, numbers, strict=True)]
    cache.set(_KEY, stored)


def usage_lines(ended: Iterable[tuple[str, TrialReport]], stopped: Mapping[str, Any]) -> list[str]:
    """Return a line for each role whose model was called, and one for the total.

    Args:
        ended: The trials by node id, those of earlier runs among them.
        stopped: The calls of trials that a budget has stopped in an earlier run, by role.
    """
    used = [(trial, trial.usage) for _, trial in ended if trial.usage is not None]
    if not used and not stopped:
        return []
    from ...analysis.usage import UsageTotals

    totals = UsageTotals()
    for trial, usage in used:
        reused = trial.record is not None and trial.record.restored
        totals.add(usage.roles, replayed=usage.replayed and not reused, reused=reused)
    if stopped:
        from ...models import ModelUsage

        totals.add_stopped({role: ModelUsage.model_validate(used) for role, used in stopped.items()})
    return totals.lines()


def unpriced_calls(ended: Iterable[tuple[str, TrialReport]]) -> int:
    """Return the number of calls of this run whose cost is unknown."""
    return sum(trial.usage.unpriced_calls for _, trial in ended if trial.usage is not None)


def estimate(config: pytest.Config, models: str, tasks: Mapping[str, int]) -> str | None:
    """Return the estimated calls and cost of trials, by earlier trials with the same models; None without any.

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
    for task, trial_count in tasks.items():
        per_trial = [known[task][part] / known[task][0] for part in (1, 2)] if task in known else mean
        calls, cost = calls + trial_count * per_trial[0], cost + trial_count * per_trial[1]
    unpriced = any(numbers[3] for numbers in known.values())
    costs = "cost unknown: the prices of some calls are unknown" if unpriced else f"about {money(cost)}"
    basis = f"by {plural(trials, 'earlier trial')} of {len(known)} of {plural(len(tasks), 'task')}"
    return f"about {calls:,.0f} model calls, {costs}, {basis}"
