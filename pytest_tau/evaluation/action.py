"""ACTION: each reference action was made by some call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import ActionCheck, AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..models import Action, Message, ToolCall
    from .grading import Grading


def calls_of(messages: Sequence[Message]) -> list[ToolCall]:
    """Every well-formed call of either side, in order."""
    return [
        call
        for message in messages
        if isinstance(message, AssistantMessage | UserMessage)
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
    found = _assign(candidates) if grading.one_call_one_action else [bool(found) for found in candidates]
    return [
        ActionCheck(action=action, action_match=match, action_reward=float(match), tool_type=kind_of(action.name))
        for action, match in zip(actions, found, strict=True)
    ]


def matches(action: Action, call: ToolCall, grading: Grading) -> bool:
    """Whether a call is the reference action.

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
    """Which actions get a call of their own, so that as many as possible do (augmenting paths)."""
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
