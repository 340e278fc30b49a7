"""A stored verdict and a fresh one: whether they can be compared, why not, and how they differ."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..evaluation import components_of
from ..models import without_beginnings
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..evaluation import Check, RewardComponent
    from ..models import RewardInfo, Task

NO_REWARD = "no stored reward"
MAY_BE_THE_JUDGE_S = "a stored 0 without its components, which may be the judge's"
OTHER_ACTIONS = "the stored verdict is about other reference actions"
OTHER_ASSERTIONS = "the stored verdict is about other assertions"


def comparable_reward(stored: RewardInfo | None, fresh: RewardInfo, *, without_judge: bool) -> tuple[float | None, str]:
    """Return the stored reward that a fresh one is compared with, or None and why there is none.

    Args:
        stored: The file's verdict.
        fresh: Ours.
        without_judge: The fresh one has no share of the judge, so that the stored one must not have it either.
    """
    if stored is None:
        return None, NO_REWARD
    if not without_judge or "ended_early" in (fresh.info or {}):
        return stored.reward, ""
    if stored.reward_breakdown:
        return float(math.prod(v for name, v in stored.reward_breakdown.items() if name != "NL_ASSERTION")), ""
    # Every component of a reward of 1 is 1; a 0 may be the judge's.
    return (1.0, "") if stored.passed else (None, MAY_BE_THE_JUDGE_S)


def other_criteria(stored: RewardInfo | None, task: Task) -> str:
    """Return that a stored verdict is about other reference actions or assertions than a task's; empty if it is not."""
    if stored is None:
        return ""
    of_actions, of_assertions = _stored(stored)
    right = [task.criteria.actions or (), *(outcome.actions for outcome in task.criteria.outcomes or ())]
    assertions = _assertions(task.criteria.env_assertions or ())
    if of_actions and of_actions not in [_actions(actions) for actions in right]:
        return OTHER_ACTIONS
    return OTHER_ASSERTIONS if of_assertions and of_assertions != assertions else ""


class TaskFinder:
    """Finds the task that the checks of a stored verdict belong to.

    Args:
        tasks: The tasks of the file and of the domain; of two with the same id, the first one counts.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks: dict[str, Task] = {}
        for task in tasks:
            self._tasks.setdefault(task.id, task)
        self._found: dict[str, str | None] = {}

    def find(self, stored: RewardInfo) -> str | None:
        """Return the id of the only task with the actions and assertions of a verdict; None if it is not one."""
        key = json.dumps(_stored(stored), sort_keys=True, default=str)
        if key not in self._found:
            ids = [task.id for task in self._tasks.values() if not other_criteria(stored, task)]
            self._found[key] = ids[0] if len(ids) == 1 else None
        return self._found[key]


def _stored(verdict: RewardInfo) -> tuple[list[Any], list[Any]]:
    """Return the reference actions and the assertions of a verdict; none where it keeps none."""
    return _actions(check.action for check in verdict.action_checks or ()), _assertions(
        check.env_assertion for check in verdict.env_assertions or ()
    )


def _actions(actions: Iterable[Any]) -> list[Any]:
    return [[action.name, action.arguments] for action in without_beginnings(actions)]


def _assertions(assertions: Iterable[Any]) -> list[Any]:
    return [[each.env_type, each.func_name, each.arguments, each.assert_value] for each in assertions]


def reward_differences(stored: RewardInfo | None, fresh: RewardInfo, error: str = "") -> list[str]:
    """Return the checks that decide over one of the verdicts and not over the other, a line each.

    Args:
        stored: The file's verdict; its checks may be missing.
        fresh: Ours.
        error: What went wrong in the run.
    """
    ended = (fresh.info or {}).get("ended_early")
    why = f" ({error.splitlines()[0]})" if error else ""
    lines = [f"ended by {ended}{why}: only a stop can earn more than 0"] if ended else []
    then = list(_gating_checks(stored, fresh)) if stored else []
    now = list(_gating_checks(fresh, fresh))
    before, labels = {label: check.met for label, check, _ in then}, {label for label, _, _ in now}
    # A check of a task that was changed since.
    gone = {label: component for label, check, component in then if not check.met and label not in labels}
    lines += [f"{label}: not met as stored, not checked now" for label in gone]
    for label, check, component in now:
        met, was = check.met, before.get(label)
        if was is None and not met:
            lines.append(f"{label}: not met")
        elif was is None and component in gone.values():
            lines.append(f"{label}: not checked as stored, met now")
        elif was is not None and was != met:
            lines.append(f"{label}: {'met' if was else 'not met'} as stored, {'met' if met else 'not met'} now")
        else:
            continue
        lines += [] if met else [f"  {detail}" for detail in component.details(fresh)]
    lines = lines or _components_below_1(stored, fresh)
    return lines or ["every check is met now; the file does not state which one was not met"]


def _components_below_1(stored: RewardInfo | None, fresh: RewardInfo) -> list[str]:
    """Return a line for each stored component below 1, as files may have their values without their checks."""
    values = (stored and stored.reward_breakdown) or {}
    basis = fresh.reward_basis or ()
    return [
        f"{name}: {value:g} as stored, {'met' if name in basis else 'not graded'} now"
        for name, value in values.items()
        if value < 1
    ]


def _gating_checks(info: RewardInfo, basis: RewardInfo) -> Iterator[tuple[str, Check, RewardComponent]]:
    """Yield each check that gates under the basis, after a label that no other check has."""
    seen: Counter[str] = Counter()
    for component in components_of(info):
        for check in component.checks(info) if component.gates(basis) else ():
            label = check.label
            seen[label] += 1
            yield label if seen[label] == 1 else f"{label} ({seen[label]})", check, component
