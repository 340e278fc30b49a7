"""One simulation in a few facts, without its conversation: what summaries, gates and comparisons are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..evaluation import components_of
from ..evaluation.outside import OUTSIDE
from ..models import FOREIGN_AGENT, ModelUsage
from .groups import Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..evaluation import Evaluator
    from ..models import RewardInfo, Simulation, Task

#: What tasks can be grouped by: the keys of a record's ``groups``.
GROUPS = ("intent", "persona", "actions", "tags")
#: τ²-bench's telecom ids begin with the intent, and may end with the persona.
_BRACKETED = re.compile(r"\[([^\]:]+)\]")
_PERSONA = re.compile(r"\[PERSONA:([^\]]+)\]")
#: A policy's heading is short; what is longer is an explanation.
_LONGEST_NAME = 60


@dataclass(frozen=True)
class TrialRecord:
    """One simulation without its conversation.

    Attributes:
        test: The node id of its test; empty if that is not known.
        failed_checks: Those that count and were not met, such as ``DB`` or ``ACTION cancel_order``.
        breakdown: The reward by component.
        messages: How many messages there are, results of tools among them.
        turns: How many of them are messages of the agent or the user.
        calls: Tool calls of both sides.
        failed_calls: Those of them that returned an error.
        duration: Seconds.
        usage: The sums over model calls, by role.
        groups: What the task is counted under, by ``intent``, ``persona``, ``actions``, ``tags``; only what is known.
        cost_told: USD in a result file of others, without saying for what.
        blame: Whose fault a failure looks like, and why; None if nothing failed.
        restored: It was taken from an earlier run.
        saw_reference: The sides that were given the reference actions: ``agent``, ``user``.
        foreign_agent: The entry of ``simulation.info`` about an agent that is not built in.
        outside_tools: Tools that were executed on the environment outside of the calls of the conversation.
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
    cost_told: float | None = None
    blame: Mapping[str, Any] | None = None
    seed: int | None = None
    restored: bool = False
    saw_reference: tuple[str, ...] = ()
    foreign_agent: Mapping[str, Any] | None = None
    outside_tools: tuple[str, ...] = ()

    @cached_property
    def group(self) -> Group:
        """Return the group of trials in which it is counted."""
        return Group.of(self.test, self.domain, self.task_id)

    @property
    def passed(self) -> bool:
        """Return whether the reward is 1."""
        return self.outcome == "passed"

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
            return self.cost_told
        return None if self.unpriced_calls else self.known_cost

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that have their default."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["usage"] = {role: used.model_dump(exclude_defaults=True) for role, used in self.usage.items()}
        values |= {name: list(values[name]) for name in _TUPLES}
        return {name: value for name, value in values.items() if value or name in _ALWAYS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrialRecord:
        """Return the record that ``as_dict`` made this of; unknown fields are skipped.

        Raises:
            TypeError: A field that identifies the trial is missing.
            pydantic.ValidationError: The usage is not valid.
        """
        known = {each.name for each in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        kept |= {name: tuple(kept.get(name, ())) for name in _TUPLES}
        kept["usage"] = {role: ModelUsage.model_validate(used) for role, used in kept.get("usage", {}).items()}
        return cls(**kept)

    @classmethod
    def of(
        cls,
        simulation: Simulation,
        task: Task | None,
        domain: str,
        test: str = "",
        *,
        restored: bool = False,
        evaluators: Sequence[Evaluator] = (),
    ) -> TrialRecord:
        """Return the facts of a simulation.

        Args:
            simulation: It.
            task: Its task, if it is available.
            domain: The domain's name.
            test: The node id of its test.
            restored: It was taken from an earlier run.
            evaluators: The components of plugins, if they are available.
        """
        calls = simulation.calls
        verdict, info = simulation.reward_info, simulation.info or {}
        return cls(
            domain=domain,
            task_id=simulation.task_id,
            trial=simulation.trial,
            outcome=simulation.outcome,
            reward=simulation.reward,
            termination_reason=simulation.termination_reason,
            test=test,
            stop_token=simulation.stop_token,
            error=simulation.error,
            failed_checks=_failed_checks(verdict, evaluators) if verdict else (),
            breakdown=(verdict.reward_breakdown if verdict else None) or {},
            messages=len(simulation.messages),
            turns=simulation.turns,
            calls=len(calls),
            failed_calls=sum(bool(made.result and made.result.error) for made in calls),
            duration=simulation.duration,
            usage=simulation.model_usage,
            groups=groups_of(task) if task else {},
            cost_told=None if simulation.model_usage else _sum(simulation.agent_cost, simulation.user_cost),
            blame=info.get("blame"),
            seed=simulation.seed,
            restored=restored,
            saw_reference=tuple(simulation.saw_reference),
            foreign_agent=info.get(FOREIGN_AGENT),
            outside_tools=_outside_tools(info.get(OUTSIDE)),
        )


#: Fields that are lists in JSON.
_TUPLES = ("failed_checks", "saw_reference", "outside_tools")
#: Fields that are written whatever their values.
_ALWAYS = frozenset({"domain", "task_id", "trial", "outcome", "reward", "termination_reason"})


def _failed_checks(verdict: RewardInfo, evaluators: Sequence[Evaluator]) -> tuple[str, ...]:
    """Return the checks of the reward's basis that were not met."""
    gating = [each for each in components_of(verdict, evaluators) if each.gates(verdict)]
    return tuple(check for component in gating for check in component.failed_checks(verdict))


def _outside_tools(found: Any) -> tuple[str, ...]:
    # A state that a test has changed before the conversation, on purpose, is in the reports of failures only.
    during = isinstance(found, dict) and found.get("when") == "during"
    return tuple(found.get("tools", ())) if during else ()


def _sum(*costs: float | None) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def groups_of(task: Task) -> dict[str, str]:
    """Return what a task is counted under.

    ``intent`` is what telecom's ids begin with, else the policy that the description names; ``persona`` what they end
    with; ``actions`` the number of reference actions; ``tags`` those of the task's annotations.
    """
    found = {"actions": str(len(task.criteria.actions or []))}
    intent, persona = _BRACKETED.match(task.id), _PERSONA.search(task.id)
    parts = task.id.split(".")
    if intent:
        found["intent"] = intent[1]
    elif len(parts) in (2, 3) and parts[0].isalpha():
        found["intent"] = parts[0]
        if parts[2:] and parts[2].isalpha():
            found["persona"] = parts[2]
    elif (policy := task.description and task.description.relevant_policies) and len(policy) <= _LONGEST_NAME:
        found["intent"] = policy
    if persona:
        found["persona"] = persona[1]
    tags = task.annotations.get("tags") if isinstance(task.annotations, dict) else None
    if isinstance(tags, list) and tags:
        found["tags"] = ", ".join(dict.fromkeys(map(str, tags)))
    return found
