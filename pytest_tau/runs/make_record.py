"""The record of a simulation, made of its conversation, verdict and task."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ..evaluation import components_of
from ..models import TrialResult, calls_in, is_beginning, without_beginnings
from .record import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..evaluation import Evaluator
    from ..models import Call, Notes, RewardInfo, Simulation, Task

#: The fields that a record has of its simulation.
_OF_RESULT = tuple(TrialResult.model_fields)
#: τ²-bench's telecom ids begin with the intent, and may end with the persona.
_BRACKETED = re.compile(r"\[([^\]:]+)\]")
_PERSONA = re.compile(r"\[PERSONA:([^\]]+)\]")
#: A policy's heading is short; what is longer is an explanation.
_LONGEST_NAME = 60


def make_record(
    simulation: Simulation,
    task: Task | None,
    domain: str,
    test: str = "",
    *,
    restored: bool = False,
    evaluators: Sequence[Evaluator] = (),
    calls: Sequence[Call] | None = None,
) -> TrialRecord:
    """Return the record of a simulation.

    Args:
        simulation: The simulation.
        task: Its task, if it is available.
        domain: The domain's name.
        test: The node id of its test.
        restored: It was taken from an earlier run.
        evaluators: The components of plugins, if they are available.
        calls: Its calls, if they are known.
    """
    verdict = simulation.reward_info
    all_calls = calls_in(simulation.messages) if calls is None else calls
    result = {name: getattr(simulation, name) for name in _OF_RESULT}
    result |= {"info": _without_attempts(simulation.info), "reward_info": verdict and verdict.without_checks()}
    record = TrialRecord(
        **result,
        domain=domain,
        test=test,
        restored=restored,
        failed_checks=_failed_checks(verdict, evaluators) if verdict else (),
        messages=len(simulation.messages),
        turns=simulation.turns,
        calls=sum(not is_beginning(made.call) for made in all_calls),
        failed_calls=sum(bool(call.result and call.result.error) for call in all_calls),
        groups=_with_persona(groups_of(task) if task else {}, simulation.conditions),
        cluster=task.cluster if task else "",
        stated_cost=None if simulation.model_usage else _stated_cost(simulation),
    )
    for model in (record, record.reward_info):
        if model is not None:
            model.model_fields_set.clear()  # half of the memory of a record, for nothing
    return record


def _without_attempts(notes: Notes) -> Notes:
    """Return notes without the attempts that do not count, whose messages are long."""
    return replace(notes, discarded_attempts=[]) if notes.discarded_attempts else notes


def _failed_checks(verdict: RewardInfo, evaluators: Sequence[Evaluator]) -> tuple[str, ...]:
    """Return the checks of the reward's basis that were not met."""
    gating = [component for component in components_of(verdict, evaluators) if component.gates(verdict)]
    return tuple(check for component in gating for check in component.failed_checks(verdict))


def _stated_cost(simulation: Simulation) -> float | None:
    """Return the USD of both sides; None if neither states any, or one states 0 though its model was called."""
    costs = {"assistant": simulation.agent_cost, "user": simulation.user_cost}
    known = {role: cost for role, cost in costs.items() if cost is not None}
    # A model that the other program had no price of.
    unpriced = any(known.get(message.role) == 0 and getattr(message, "usage", None) for message in simulation.messages)
    return sum(known.values()) if known and not unpriced else None


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
    groups = {"actions": str(len(without_beginnings(task.criteria.actions or [])))}
    intent, persona = _BRACKETED.match(task.id), _PERSONA.search(task.id)
    parts = task.id.split(".")
    if intent:
        groups["intent"] = intent[1]
    elif len(parts) in (2, 3) and parts[0].isalpha():
        groups["intent"] = parts[0]
        if parts[2:] and parts[2].isalpha():
            groups["persona"] = parts[2]
    elif (policy := task.description and task.description.relevant_policies) and len(policy) <= _LONGEST_NAME:
        groups["intent"] = policy
    if persona:
        groups["persona"] = persona[1]
    tags = task.annotations.get("tags") if isinstance(task.annotations, dict) else None
    if isinstance(tags, list) and tags:
        groups["tags"] = ", ".join(dict.fromkeys(map(str, tags)))
    return groups
