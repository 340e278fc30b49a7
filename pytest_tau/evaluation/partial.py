"""Partial credit: how far a conversation came, in numbers next to the reward and never part of it.

Calls are assigned to reference actions: a call to at most one action of its name and its side. Of all assignments the
one is taken that has, in this order, the most pairs, the most pairs with equal arguments, the greatest sum of shares of
equal arguments, and the most calls that did not fail. So no number depends on the order of independent calls.

Of a task with several right outcomes, each number is that of the one which the verdict is about.
"""

from __future__ import annotations

from collections import defaultdict
from math import fsum, lcm
from typing import TYPE_CHECKING, NamedTuple

from ..models import calls_in, without_beginnings
from .assignment import best_assignment
from .components import COMPONENTS
from .state import current_share, state_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain, Environment
    from ..models import Action, RewardInfo, Task, ToolCall
    from .component import GradingInput

#: The names of the shares, each from 0 to 1, in the order in which they are shown.
SHARES = (
    *("progress", "state", "assertions", "phrases", "statements"),
    *("actions", "actions.read", "actions.write", "selection", "arguments"),
)
#: The names of the counts.
COUNTS = ("extra_writes", "extra_reads", "failed_calls")
#: The share that stands for each component of a reward basis.
_SHARE_OF = {
    "DB": "state",
    "ENV_ASSERTION": "assertions",
    "ACTION": "actions",
    "COMMUNICATE": "phrases",
    "NL_ASSERTION": "statements",
}
_BUILT_IN = frozenset(component.name for component in COMPONENTS)


class _Made(NamedTuple):
    """A call, and whether its result was an error."""

    call: ToolCall
    failed: bool


class _Pair(NamedTuple):
    """A call that is, or may be, assigned to a reference action.

    Attributes:
        made: The call.
        equal: The number of equal arguments.
        compared: The number of compared arguments; without any, 1 of 1 is equal.
    """

    made: _Made
    equal: int
    compared: int


def shares_of(given: GradingInput, verdict: RewardInfo) -> dict[str, float | None]:
    """Return each number of ``SHARES`` and ``COUNTS``; None where there is nothing to measure.

    Args:
        given: The conversation, with its environment.
        verdict: Its complete verdict.
    """
    shares: dict[str, float | None] = dict.fromkeys((*SHARES, *COUNTS))
    shares["state"] = _state(given, verdict)
    for name, checks in (
        ("assertions", verdict.env_assertions),
        ("phrases", verdict.communicate_checks),
        ("statements", verdict.nl_assertions),
    ):
        shares[name] = _share([check.met for check in checks or []])
    actions = verdict.action_checks or []
    shares["actions"] = _share([check.action_match for check in actions])
    for kind in ("read", "write"):
        shares[f"actions.{kind}"] = _share([check.action_match for check in actions if check.tool_type == kind])
    shares |= _calls(given, verdict)
    shares["progress"] = _progress(shares, verdict)
    return shares


def _share(met: Sequence[bool]) -> float | None:
    return sum(met) / len(met) if met else None


def _progress(shares: dict[str, float | None], verdict: RewardInfo) -> float:
    """Return the mean of the shares in the reward basis; 1 if and only if the reward is 1.

    A conversation that did not end with a stop misses one more requirement. A component whose share is not known counts
    as its factor.
    """
    terms = [0.0] if "ended_early" in (verdict.info or {}) else []
    for name, factor in (verdict.reward_breakdown or {}).items():
        share = shares[_SHARE_OF[name]] if name in _SHARE_OF else None
        if share is not None:
            terms.append(share)
        elif factor < 1 or name not in _BUILT_IN:
            terms.append(factor)
    return sum(terms) / len(terms) if terms else 1.0


# The calls


def _calls(given: GradingInput, verdict: RewardInfo) -> dict[str, float | None]:
    """Return the numbers about calls: of the best assignment, of calls without an action, of failed calls."""
    paired = calls_in(given.messages)
    calls = [_Made(call.call, call.result is not None and call.result.error) for call in paired]
    numbers: dict[str, float | None] = {"failed_calls": sum(call.failed for call in calls)}
    task = given.task if verdict.outcome is None else given.task.of_outcome(verdict.outcome.position)
    actions = task.criteria.actions
    if actions is None:
        return numbers
    made_calls: dict[tuple[str, str], list[_Made]] = defaultdict(list)
    reference_actions: dict[tuple[str, str], list[Action]] = defaultdict(list)
    # An agent that works alone makes the calls of both sides.
    for call in calls:
        if call.call.malformed is None:
            made_calls[call.call.name, "" if given.solo else call.call.requestor].append(call)
    actions = without_beginnings(actions)
    for action in actions:
        reference_actions[action.name, "" if given.solo else action.requestor].append(action)
    pairs = {
        key: _best_pairs(reference_actions[key], made_calls[key]) for key in reference_actions if key in made_calls
    }
    every = [pair for found_pairs in pairs.values() for pair in found_pairs]
    if actions:
        numbers["selection"] = len(every) / len(actions)
    if every:
        numbers["arguments"] = fsum(pair.equal / pair.compared for pair in every) / len(every)
    infos = given.environment.tool_infos
    extra = {"write": 0, "read": 0}
    for key, of_tool in made_calls.items():
        kind = infos[key[0]].kind if key[0] in infos else None
        if kind in extra and len(of_tool) > len(pairs.get(key, ())):
            succeeded = sum(not call.failed for call in of_tool)
            extra[kind] += succeeded - sum(not pair.made.failed for pair in pairs.get(key, ()))
    return numbers | {f"extra_{kind}s": number for kind, number in extra.items()}


def _best_pairs(actions: Sequence[Action], calls: Sequence[_Made]) -> list[_Pair]:
    """Return the pairs of the best assignment of calls to actions of one name and side."""
    if (equal := _all_equal(actions, calls)) is not None:
        return equal
    table = [[_pair(action, call) for call in calls] for action in actions]
    # One whole number for each pair, in which each rank outweighs the sum of all that follow.
    unit = lcm(*(pair.compared for row in table for pair in row))
    most = min(len(actions), len(calls)) + 1

    def weight(pair: _Pair) -> int:
        share = pair.equal * (unit // pair.compared)
        return ((pair.equal == pair.compared) * most * unit + share) * most + (not pair.made.failed)

    chosen = best_assignment([[weight(pair) for pair in row] for row in table])
    return [table[row][column] for row, column in chosen]


def _all_equal(actions: Sequence[Action], calls: Sequence[_Made]) -> list[_Pair] | None:
    """Return pairs with equal arguments, if every action gets a call of its own that did not fail: none is better."""
    left, pairs = [call for call in calls if not call.failed], []
    for action in actions:
        place = next((n for n, call in enumerate(left) if _is_action(action, call.call)), None)
        if place is None:
            return None
        pairs.append(_Pair(left.pop(place), 1, 1))
    return pairs


def _is_action(action: Action, call: ToolCall) -> bool:
    """Return whether all compared arguments are equal."""
    if action.compare_args is None:
        return action.arguments == call.arguments
    return all(action.arguments.get(key, ...) == call.arguments.get(key, ...) for key in action.compare_args)


def _pair(action: Action, call: _Made) -> _Pair:
    """Compare arguments: those of either, or those that the action names."""
    mine, theirs = action.arguments, call.call.arguments
    keys = {*mine, *theirs} if action.compare_args is None else set(action.compare_args)
    equal = sum(mine.get(key, ...) == theirs.get(key, ...) for key in keys)
    return _Pair(call, equal, len(keys)) if keys else _Pair(call, 1, 1)


# The state


def _state(given: GradingInput, verdict: RewardInfo) -> float | None:
    """Return the share of right values, of the outcome that is nearest.

    Returns:
        1 if the databases match. None if the task has no reference, or the domain's state cannot be compared at the
        cost of a copy.
    """
    criteria = given.task.criteria
    if verdict.db_check is None or (criteria.actions is None and criteria.env_assertions is None):
        return None
    if verdict.db_check.db_match:
        return 1.0
    nearest = given.task.of_outcome(verdict.compared_outcome)
    return state_share(nearest, given.domain, verdict.db_diff or [])


def current_state(task: Task, domain: Domain, environment: Environment) -> float | None:
    """Return ``state`` of a conversation under way: the share of right values so far.

    Args:
        task: The task.
        domain: The domain.
        environment: The environment of the conversation, which is only read.

    Returns:
        None if the task has no reference, or the domain's state cannot be compared at the cost of a copy.
    """
    criteria = task.criteria
    comparable = domain.spec.agent_db.cheap_to_fork
    if not comparable or (criteria.actions is None and criteria.env_assertions is None):
        return None
    outcomes = (None, *range(len(criteria.outcomes or ())))
    return max(current_share(task.of_outcome(outcome), domain, environment) for outcome in outcomes)
