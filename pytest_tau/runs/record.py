"""One simulation in a few facts, without its conversation: what summaries, gates and comparisons are made of."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..attacks import AttackFacts
from ..evaluation import components_of
from ..evaluation.outside import OUTSIDE
from ..models import FOREIGN_AGENT, RETRIEVAL, TOOL_FAULTS, ModelUsage, any_review, paired_calls
from ..policy import PolicyReport
from ..runner.fork import FORK
from ..text import one_line
from ..validity import UserValidity
from .groups import INPUTS, Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..evaluation import Evaluator
    from ..models import PairedCall, RewardInfo, Simulation, Task

#: What tasks can be grouped by: the keys of a record's ``groups``.
GROUPS = ("intent", "persona", "actions", "tags")
#: τ²-bench's telecom ids begin with the intent, and may end with the persona.
_BRACKETED = re.compile(r"\[([^\]:]+)\]")
_PERSONA = re.compile(r"\[PERSONA:([^\]]+)\]")
#: A policy's heading is short; what is longer is an explanation.
_LONGEST_NAME = 60
#: The breaches that a record has as text, and the characters of the reason why a rule could not be checked.
_BREACHES, _PROBLEM = 10, 200


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
        stated_cost: USD in a result file of others, without saying for what.
        blame: Whose fault a failure looks like, and why; None if nothing failed.
        restored: It was taken from an earlier run.
        saw_reference: The sides that were given the reference actions: ``agent``, ``user``.
        foreign_agent: The entry of ``simulation.info`` about an agent that is not built in.
        shared_objects: The entry of ``simulation.info`` about agents and users that are one object for several trials.
        outside_tools: Tools that were executed on the environment outside of the calls of the conversation.
        conditions: The conditions under which it was run; None for results of others and of earlier versions.
        retrieval: The retrieval ``variant``, the numbers of ``searches`` and of documents that were ``read``, were
            ``required``, or both (``required_read``), and ``recall_at`` by the number of documents of each search.
        attack: Of a trial under attack: the ``name``, the ``style``, the ``place``, the ``goal``, whether a payload was
            ``delivered``, whether it succeeded (``success``), and what shows that (``message_idx``, ``evidence``).
        user_faults: The checks of the simulated user that have found a fault.
        excluded: It is excluded from rates, because of a fault of the user.
        attempts: The number of attempts that were run; more than 1 if the trial was run again because of such a fault.
        first_reward: The reward of the first of several attempts; None if there was one.
        fork: The entry of ``simulation.info`` about the stored conversation that it continues; None for one of its own.
        partial: Partial credit by name, None where there is nothing to measure; empty if it was not measured.
        policy: What the rules of the policy found: the names that were ``checked``, the ``counts`` of breaches by rule,
            the first breaches as ``lines`` (rule and text), and ``problems`` by rule; None if there are no rules.
        tool_faults: The number of calls that met a fault of a tool, by its kind; None if tools did not fail on purpose.
        review: The facts of a model's review (``Review.facts``); None if there is none.
        inputs: The parameters of its test that have no part in the trial, each with its value as a text.
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
    stated_cost: float | None = None
    blame: Mapping[str, Any] | None = None
    seed: int | None = None
    restored: bool = False
    saw_reference: tuple[str, ...] = ()
    foreign_agent: Mapping[str, Any] | None = None
    shared_objects: Mapping[str, Any] = field(default_factory=dict)
    outside_tools: tuple[str, ...] = ()
    conditions: Mapping[str, Any] | None = None
    retrieval: Mapping[str, Any] | None = None
    fork: Mapping[str, Any] | None = None
    partial: Mapping[str, float | None] = field(default_factory=dict)
    attack: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    tool_faults: Mapping[str, int] | None = None
    user_faults: tuple[str, ...] = ()
    excluded: bool = False
    attempts: int = 0
    first_reward: float | None = None
    review: Mapping[str, Any] | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def group(self) -> Group:
        """Return the group of trials in which it is counted."""
        return Group.of(self.test, self.domain, self.task_id)

    @property
    def attack_name(self) -> str:
        """Return the name of the attack; empty without one."""
        return str((self.attack or {}).get("name") or (self.conditions or {}).get("attack") or "")

    @property
    def attack_success(self) -> bool:
        """Return whether an attack has reached its goal."""
        return bool((self.attack or {}).get("success"))

    @property
    def attack_delivered(self) -> bool:
        """Return whether the agent has read a payload."""
        return bool((self.attack or {}).get("delivered"))

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

    @property
    def recall(self) -> float | None:
        """Return the share of the required documents that the agent has read; None if none is required."""
        found = self.retrieval or {}
        return found["required_read"] / found["required"] if found.get("required") else None

    @property
    def policy_score(self) -> float | None:
        """Return 1 if no rule of the policy was breached, else 0; None if no rule was checked."""
        found = self.policy or {}
        return float(not found.get("counts")) if found.get("checked") else None

    @property
    def policy_counts(self) -> Mapping[str, int]:
        """Return the number of breaches of each rule that was breached."""
        found: Mapping[str, int] = (self.policy or {}).get("counts") or {}
        return found

    def kept_rule(self, name: str) -> float | None:
        """Return 1 if a rule of the policy was not breached, else 0; None if it was not checked."""
        return float(name not in self.policy_counts) if name in ((self.policy or {}).get("checked") or ()) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON, without fields that have their default."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["usage"] = {role: used.model_dump(exclude_defaults=True) for role, used in self.usage.items()}
        values |= {name: list(values[name]) for name in TUPLES}
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
        kept |= {name: tuple(kept.get(name, ())) for name in TUPLES}
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
        calls: Sequence[PairedCall] | None = None,
    ) -> TrialRecord:
        """Return the facts of a simulation.

        Args:
            simulation: It.
            task: Its task, if it is available.
            domain: The domain's name.
            test: The node id of its test.
            restored: It was taken from an earlier run.
            evaluators: The components of plugins, if they are available.
            calls: Its calls, if they are known.
        """
        verdict, info = simulation.reward_info, simulation.info or {}
        calls = paired_calls(simulation.messages) if calls is None else calls
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
            groups=_with_persona(groups_of(task) if task else {}, simulation.conditions),
            stated_cost=None if simulation.model_usage else _sum(simulation.agent_cost, simulation.user_cost),
            blame=info.get("blame"),
            seed=simulation.seed,
            restored=restored,
            saw_reference=tuple(simulation.saw_reference),
            foreign_agent=info.get(FOREIGN_AGENT),
            shared_objects=simulation.shared_objects,
            outside_tools=_outside_tools(info.get(OUTSIDE)),
            conditions=simulation.conditions,
            retrieval=_retrieval(info.get(RETRIEVAL)),
            fork=info.get(FORK),
            partial=(verdict.partial if verdict else None) or {},
            attack=_attack(AttackFacts.read(info)),
            policy=_policy(info),
            tool_faults=_tool_faults(info.get(TOOL_FAULTS)),
            **_validity(simulation),
            review=review.facts() if (review := any_review(info)) else None,
            inputs=info.get(INPUTS) or {},
        )


#: Fields that are lists in JSON.
TUPLES = ("failed_checks", "saw_reference", "outside_tools", "user_faults")
#: Fields that are written whatever their values.
_ALWAYS = frozenset({"domain", "task_id", "trial", "outcome", "reward", "termination_reason"})
#: Fields that are written if they are known, even 0 or empty.
_IF_KNOWN = frozenset({"first_reward", "tool_faults"})


def _failed_checks(verdict: RewardInfo, evaluators: Sequence[Evaluator]) -> tuple[str, ...]:
    """Return the checks of the reward's basis that were not met."""
    gating = [each for each in components_of(verdict, evaluators) if each.gates(verdict)]
    return tuple(check for component in gating for check in component.failed_checks(verdict))


def _attack(facts: AttackFacts | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    shown = facts.evidence
    return {
        "name": facts.name,
        "style": facts.style,
        "place": facts.place.text,
        "goal": facts.goal.text,
        "delivered": bool(facts.delivered),
        "success": facts.success,
        **({"message_idx": shown.message_idx, "evidence": shown.text} if shown else {}),
    }


def _validity(simulation: Simulation) -> dict[str, Any]:
    """Return the facts about the user, if it has made a fault."""
    found = UserValidity.of(simulation)
    if found is None:
        return {}
    return {
        "user_faults": found.checks,
        "excluded": found.excluded,
        "attempts": found.attempts if found.attempts > 1 else 0,
        "first_reward": found.first_reward,
    }


def _outside_tools(found: Any) -> tuple[str, ...]:
    # A state that a test has changed before the conversation, on purpose, is in the reports of failures only.
    during = isinstance(found, dict) and found.get("when") == "during"
    return tuple(found.get("tools", ())) if during else ()


def _retrieval(found: Any) -> dict[str, Any] | None:
    """Return the numbers of an entry about searches."""
    if not isinstance(found, dict):
        return None
    return {
        "variant": found["variant"],
        "searches": len(found["searches"]),
        "read": len(found["read"]),
        "required": len(set(found["required"])),
        "required_read": len(set(found["required"]) & set(found["read"])),
        "recall_at": found["recall_at"],
    }


def _policy(info: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the numbers of an entry about rules, and its first breaches."""
    found = PolicyReport.from_info(info)
    if found is None:
        return None
    values = {
        "checked": list(found.checked),
        "counts": found.counts,
        "lines": [[each.rule, each.line()] for each in found.breaches[:_BREACHES]],
        "problems": {name: one_line(why, _PROBLEM) for name, why in found.problems.items()},
    }
    return {name: value for name, value in values.items() if value}


def _tool_faults(found: Any) -> dict[str, int] | None:
    """Return the number of faults by kind; what is not a fault of ours is skipped."""
    if not isinstance(found, dict):
        return None
    faults = found.get("faults")
    kinds = (each.get("kind") for each in faults if isinstance(each, dict)) if isinstance(faults, list) else ()
    return dict(Counter(kind for kind in kinds if isinstance(kind, str)))


def _sum(*costs: float | None) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _with_persona(groups: dict[str, str], conditions: Mapping[str, Any] | None) -> dict[str, str]:
    """Return groups with the persona that the run has given to the user, after that of the task."""
    drawn = (conditions or {}).get("persona")
    if not isinstance(drawn, dict) or not drawn:
        return groups
    parts = [*([groups["persona"]] if "persona" in groups else []), *map(str, drawn.values())]
    return {**groups, "persona": ", ".join(parts)}


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
