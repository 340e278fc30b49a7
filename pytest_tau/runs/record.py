"""One simulation in a few facts, without its conversation: what summaries, gates and comparisons are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..models import NO_NOTES, ModelUsage, Notes
from .groups import Group

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What tasks can be grouped by: the keys of a record's ``groups``.
GROUPS = ("intent", "persona", "actions", "tags")


@dataclass(frozen=True)
class TrialRecord:
    """One simulation without its conversation.

    Attributes:
        test: The node id of its test; empty if that is not known.
        failed_checks: Those that count and were not met, such as ``DB`` or ``ACTION cancel_order``.
        breakdown: The reward by component.
        reached_outcome: The position of the other right outcome that was reached; None if none was.
        messages: How many messages there are, results of tools among them.
        turns: How many of them are messages of the agent or the user.
        calls: Tool calls of both sides.
        failed_calls: Those of them that returned an error.
        duration: Seconds.
        usage: The sums over model calls, by role.
        groups: What the task is counted under, by ``intent``, ``persona``, ``actions``, ``tags``; only what is known.
        cluster: What tasks of the domain have in common that pass or fail together; empty for a task by itself.
        stated_cost: USD of both sides in a result file of others; None if that of either is not known.
        restored: It was taken from an earlier run.
        info: What is known of it besides its verdict, without the attempts that do not count.
        conditions: The conditions under which it was run; None for results of others and of earlier versions.
        excluded: It is excluded from rates.
        attempts: The number of attempts that were run; more than 1 if the trial was run again.
        first_reward: The reward of the first of several attempts; None if there was one.
        facts: What capabilities know of it, by the name of the capability.
    """

    domain: str
    task_id: str
    trial: int
    outcome: Literal["passed", "failed", "error"]
    reward: float
    termination_reason: str
    test: str = ""
    stop_token: str | None = None
    error: str | None = None
    failed_checks: tuple[str, ...] = ()
    breakdown: Mapping[str, float] = field(default_factory=dict)
    messages: int = 0
    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    duration: float = 0.0
    usage: Mapping[str, ModelUsage] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    stated_cost: float | None = None
    seed: int | None = None
    restored: bool = False
    info: Notes = NO_NOTES
    conditions: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    excluded: bool = False
    attempts: int = 0
    first_reward: float | None = None
    reached_outcome: int | None = None

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
        return sum(used.known_cost for used in self.usage.values())

    @property
    def unpriced_calls(self) -> int:
        """Return the number of model calls of unknown price."""
        return sum(used.unpriced_calls for used in self.usage.values())

    @property
    def cost(self) -> float | None:
        """Return the USD of all model calls; None if the price of any is unknown, or nothing was called."""
        if not self.usage:
            return self.stated_cost
        return None if self.unpriced_calls else self.known_cost

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that have their default."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["usage"] = {role: used.model_dump(exclude_defaults=True) for role, used in self.usage.items()}
        values |= {"failed_checks": list(self.failed_checks), "info": self.info.as_info()}
        return {
            name: value
            for name, value in values.items()
            if value or name in _ALWAYS or (name in _IF_KNOWN and value is not None)
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrialRecord:
        """Return the record that ``as_dict`` made this of; unknown fields are skipped.

        Raises:
            TypeError: A field that identifies the trial is missing.
            pydantic.ValidationError: The usage is not valid.
        """
        known = {each.name for each in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        kept |= {"failed_checks": tuple(kept.get("failed_checks", ())), "info": Notes.read(kept.get("info") or {})}
        kept["usage"] = {role: ModelUsage.model_validate(used) for role, used in kept.get("usage", {}).items()}
        return cls(**kept)


#: Fields that are written whatever their values.
_ALWAYS = frozenset({"domain", "task_id", "trial", "outcome", "reward", "termination_reason"})
#: Fields that are written if they are known, even 0 or empty.
_IF_KNOWN = frozenset({"first_reward", "reached_outcome"})
