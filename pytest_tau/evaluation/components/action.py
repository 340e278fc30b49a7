"""ACTION: each reference action was made by some call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...environment.changes import value_changes
from ...models import ActionCheck, call_as_text, without_beginnings
from ...text import shorten
from ..component import RewardComponent
from ..component_reports import (
    BY_USER,
    NEAREST,
    Check,
    Line,
    Omission,
    difference_texts,
    malformed_text,
    more_line,
    short_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...models import Action, Call, Message, RewardInfo, ToolCall
    from ..component import GradingInput
    from ..evidence import Evidence, Row
    from ..grading import Grading

#: Actions that a failure report shows, and that a reason names.
_MOST, _MOST_NAMES = 3, 3
#: Characters of an argument from which on only the place that differs is shown.
_LONG = 60


def calls_of(messages: Sequence[Message]) -> list[ToolCall]:
    """Return every well-formed call of either side, in order."""
    return [
        call
        for message in messages
        if message.role != "tool"
        if message.role != "system"
        for call in message.tool_calls or []
        if call.malformed is None
    ]


def check_actions(
    actions: Sequence[Action], messages: Sequence[Message], grading: Grading, kind_of: Callable[[str], str | None]
) -> list[ActionCheck]:
    """Find a call for each reference action.

    Args:
        actions: The reference actions.
        messages: The trajectory.
        grading: The profile's rules of matching.
        kind_of: A tool's kind by name.
    """
    calls = calls_of(messages)
    candidates = [[i for i, call in enumerate(calls) if matches(action, call, grading)] for action in actions]
    met = _assign(candidates) if grading.one_call_one_action else [bool(positions) for positions in candidates]
    return [
        ActionCheck(action=action, action_match=match, action_reward=float(match), tool_type=kind_of(action.name))
        for action, match in zip(actions, met, strict=True)
    ]


def matches(action: Action, call: ToolCall, grading: Grading) -> bool:
    """Return whether a call is the reference action.

    Source: τ²-bench v1.0.1: without ``compare_args`` the call's own arguments are compared, so that a call with
    some of them matches; with an empty list nothing is; the requestor is not compared.
    """
    if call.name != action.name or (grading.requestor_counts and call.requestor != action.requestor):
        return False
    if action.compare_args is not None:
        keys = set(action.compare_args)
    else:
        keys = set(call.arguments) | (set(action.arguments) if grading.union_of_arguments else set())
    mine = {key: value for key, value in action.arguments.items() if key in keys}
    theirs = {key: value for key, value in call.arguments.items() if key in keys}
    return mine == theirs


def _assign(candidates: list[list[int]]) -> list[bool]:
    """Return which actions get a call of their own, so that as many as possible do (augmenting paths)."""
    taken_by: dict[int, int] = {}

    def place(action: int, tried: set[int]) -> bool:
        for call in candidates[action]:
            if call in tried:
                continue
            tried.add(call)
            if call not in taken_by or place(taken_by[call], tried):
                taken_by[call] = action
                return True
        return False

    return [place(action, set()) for action in range(len(candidates))]


def missing_lines(missing: Sequence[Action], calls: Sequence[Call], *, strict: bool) -> list[Line]:
    """Return the lines about actions that are missing, each with the nearest call of its tool.

    Args:
        missing: The actions.
        calls: The calls that were made.
        strict: Whether all arguments of an action are compared.
    """
    lines = []
    for action in missing[:_MOST]:
        nearest = _nearest(action, calls, strict=strict)
        by = "" if action.requestor == "assistant" else BY_USER
        called = call_as_text(action.name, action.arguments)
        lines.append(Line("head", f"{f'not made{by}:' if nearest else f'never called{by}'} {called}"))
        lines += [Line("bad", f"  {nearest}")] if nearest else []
    return lines + more_line(missing, _MOST)


class ActionComponent(RewardComponent):
    """Each reference action was made."""

    name = "ACTION"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Find a call for each action of the outcome that the final state was compared with."""
        kinds = {tool: declared.kind for tool, declared in given.environment.tool_infos.items()}
        task = given.task if verdict.outcome is None else given.task.of_outcome(verdict.outcome.position)
        actions = without_beginnings(task.criteria.actions or [])
        verdict.action_checks = check_actions(actions, given.messages, given.grading, kinds.get)

    def value(self, verdict: RewardInfo) -> float:
        """Return 1 if every reference action was made."""
        return math.prod(check.action_reward for check in verdict.action_checks or [])

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return a check for each reference action."""
        action_checks = []
        for check in verdict.action_checks or []:
            action = check.action
            called = call_as_text(action.name, action.arguments)
            side = "" if action.requestor == "assistant" else "user: "
            action_checks.append(
                Check(f"{side}{called}", check.action_match, action.name, f"action {called}", of_call=True)
            )
        return action_checks

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the actions that were not made, each with the nearest call, also if they do not gate."""
        missing = [check.action for check in verdict.action_checks or [] if not check.action_match]
        return missing_lines(missing, calls, strict=(verdict.info or {}).get("grading") == "strict")

    def omission(self, verdict: RewardInfo) -> Omission | None:
        """Return the calls that were not made."""
        missing = [check.action for check in verdict.action_checks or [] if not check.action_match]
        if not missing:
            return None
        names = ", ".join(action.name for action in missing[:_MOST_NAMES])
        by_agent = any(action.requestor == "assistant" for action in missing)
        reason = "it did not make required calls" if by_agent else "it did not get the user to make a required call"
        return Omission(reason, f"not made: {names}")

    def located(self, verdict: RewardInfo, evidence: Evidence) -> list[Check]:
        """Return each check with the call next to the action."""
        rows = {row.action: row for row in evidence.rows if row.action is not None}
        calls = evidence.calls
        located_checks = []
        for number, check in enumerate(self.checks(verdict)):
            row = rows.get(number)
            agrees = row is not None and (row.kind == "matched") == check.met
            note = "" if check.met or row is None else _note(row)
            noted = check._replace(note=note) if note else check
            located_checks.append(noted.at_call(row.call if row and agrees else None, calls))
        return located_checks

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return whether each reference action was made."""
        return {"actions": [check.action_match for check in verdict.action_checks or []]}


def _note(row: Row) -> str:
    if row.call is None:
        return "never called"
    return f"made with other arguments: {', '.join(row.arguments)}" if row.arguments else ""


def _nearest(action: Action, calls: Sequence[Call], *, strict: bool) -> str | None:
    """Return how the nearest call of the action's tool differs from it; None if there is no such call."""
    same_name = [call for call in calls if call.call.name == action.name]
    if not same_name:
        return None

    def differing(candidate: Call) -> list[str]:
        return _differing_arguments(action, candidate.call, strict=strict)

    nearest = min(same_name, key=lambda call: (call.call.malformed is not None, len(differing(call))))
    differences = [_difference(key, action, nearest.call) for key in differing(nearest)]
    width = 80
    if nearest.call.malformed is not None:
        differences, width = [malformed_text(nearest.call.malformed)], 160
    elif not differences:
        differences = [f"the same, made by the {nearest.call.requestor}"]
    result = f"  -> {shorten(nearest.result.content or '', width)}" if nearest.result and nearest.result.error else ""
    return f"{NEAREST} {nearest.message_idx}: {'; '.join(differences)}{result}"


def _difference(key: str, action: Action, call: ToolCall) -> str:
    """Return how an argument differs; of long values, the first place at which they do."""
    expected, actual = action.arguments.get(key, ...), call.arguments.get(key, ...)
    missing = "expected" if expected is ... else "got" if actual is ... else None
    if missing is None and max(len(short_json(value, _LONG)) for value in (expected, actual)) >= _LONG:
        # Values that are equal apart from the type of a number have no such place.
        key, expected, actual, missing = next(value_changes(key, expected, actual), (key, expected, actual, None))
    return f"{key}  {'   '.join(difference_texts(expected, actual, missing))}"


def _differing_arguments(action: Action, call: ToolCall, *, strict: bool) -> list[str]:
    keys = action.compare_args
    compared = keys if keys is not None else list(call.arguments)
    if strict and keys is None:
        compared = list(dict.fromkeys([*compared, *action.arguments]))
    return [key for key in compared if action.arguments.get(key, ...) != call.arguments.get(key, ...)]
