"""One trial without its conversation: what summaries, gates and comparisons are made of."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field

from ..models import TrialResult
from .groups import Group

#: What tasks can be grouped by: the keys of a record's ``groups``.
GROUPS = ("intent", "persona", "actions", "tags")


class TrialRecord(TrialResult):
    """The result of a trial without its conversation; its verdict has no checks.

    Attributes:
        test: The node id of its test; empty if that is not known.
        restored: It was taken from an earlier run.
        failed_checks: The checks that count and were not met, such as ``DB`` or ``ACTION cancel_order``.
        messages: How many messages there are, results of tools among them.
        turns: How many of them are messages of the agent or the user.
        calls: Tool calls of both sides.
        failed_calls: Those of them that returned an error.
        groups: What the task is counted under, by ``intent``, ``persona``, ``actions``, ``tags``; only what is known.
        cluster: What tasks of the domain have in common that pass or fail together; empty for a task by itself.
        stated_cost: USD of both sides in a result file of others; None if that of either is not known.
    """

    model_config = ConfigDict(frozen=True)

    domain: str
    test: str = ""
    restored: bool = False
    failed_checks: tuple[str, ...] = ()
    messages: int = 0
    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    groups: dict[str, str] = Field(default_factory=dict)
    cluster: str = ""
    stated_cost: float | None = None

    @cached_property
    def group(self) -> Group:
        """Return the group of trials in which it is counted."""
        return Group.of(self.test, self.domain, self.task_id)

    @property
    def moves_with(self) -> tuple[str, str] | None:
        """Return what is equal for tasks of one cluster; None for a task by itself."""
        return (self.domain, self.cluster) if self.cluster else None

    @property
    def passed(self) -> bool:
        """Return whether the reward is 1."""
        return self.outcome == "passed"

    @property
    def counted_as(self) -> str:
        """Return the outcome, or ``excluded`` for a trial with a verdict that is excluded from rates."""
        return "excluded" if self.excluded and self.outcome != "error" else self.outcome

    @property
    def ran(self) -> bool:
        """Return whether the trial counts in rates and means: it has a verdict and is not excluded."""
        return not self.excluded and self.outcome in ("passed", "failed")

    @property
    def known_cost(self) -> float:
        """Return the USD of the model calls whose price is known."""
        return sum(used.known_cost for used in self.model_usage.values())

    @property
    def unpriced_calls(self) -> int:
        """Return the number of model calls of unknown price."""
        return sum(used.unpriced_calls for used in self.model_usage.values())

    @property
    def cost(self) -> float | None:
        """Return the USD of all model calls; None if the price of any is unknown, or nothing was called."""
        if not self.model_usage:
            return self.stated_cost
        return None if self.unpriced_calls else self.known_cost

    @property
    def breakdown(self) -> dict[str, float]:
        """Return the reward by component; empty without a verdict."""
        return (self.reward_info and self.reward_info.reward_breakdown) or {}

    @property
    def reached_outcome(self) -> int | None:
        """Return the position of the other right outcome that was reached; None if none was."""
        return self.reward_info.reached_outcome if self.reward_info else None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that have their default."""
        return self.model_dump(mode="json", exclude_defaults=True)
