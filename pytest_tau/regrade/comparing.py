"""Whether a stored verdict can be compared with a fresh one, and why not."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    actions, assertions = _actions(task.criteria.actions or ()), _assertions(task.criteria.env_assertions or ())
    if of_actions and of_actions != actions:
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
    return [[each.name, each.arguments] for each in actions]


def _assertions(assertions: Iterable[Any]) -> list[Any]:
    return [[each.env_type, each.func_name, each.arguments, each.assert_value] for each in assertions]
