"""Pairs of reference actions and the calls that were made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...evaluation.components.action import matches
from ...evaluation.evidence import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...evaluation import Grading
    from ...models import Action, ToolCall


def align(actions: Sequence[Action], calls: Sequence[ToolCall], grading: Grading) -> list[Row]:
    """Return all reference actions and all calls, in the order of the calls.

    An action is paired with the first call that matches it and is not paired yet, else with any that matches.
    An action that was not made follows the one before it.

    Args:
        actions: The reference actions, in order.
        calls: The conversation's, in order.
        grading: The profile's rules of matching.
    """
    paired = _matched(actions, calls, grading)
    near = _nearest(actions, calls, paired)
    rows: list[Row] = []
    of_calls: list[list[Row]] = [[] for _ in calls]
    for number, position in paired.items():
        of_calls[position].append(Row("matched", number, position))
    for number, (position, arguments) in near.items():
        of_calls[position].append(Row("differs", number, position, arguments))
    for position, rows_of_call in enumerate(of_calls):
        rows += rows_of_call or [Row("extra", None, position)]
    for number in range(len(actions)):
        if number not in paired and number not in near:
            rows.insert(_place(rows, number), Row("missing", number, None))
    return rows


def _matched(actions: Sequence[Action], calls: Sequence[ToolCall], grading: Grading) -> dict[int, int]:
    """By action, its call."""
    paired: dict[int, int] = {}
    positions_by_name: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        if call.malformed is None:
            positions_by_name.setdefault(call.name, []).append(position)
    used: set[int] = set()
    for number, action in enumerate(actions):
        matching = (
            position for position in positions_by_name.get(action.name, ()) if matches(action, calls[position], grading)
        )
        if (first := next(matching, None)) is None:
            continue
        free = first if first not in used else next((position for position in matching if position not in used), None)
        if free is not None or not grading.one_call_one_action:
            paired[number] = first if free is None else free
            used.add(paired[number])
    return paired


def _nearest(
    actions: Sequence[Action], calls: Sequence[ToolCall], paired: dict[int, int]
) -> dict[int, tuple[int, tuple[str, ...]]]:
    """By action without a call, the nearest unpaired call of its name, with the arguments that differ."""
    near: dict[int, tuple[int, tuple[str, ...]]] = {}
    used = set(paired.values())
    for number, action in enumerate(actions):
        if number in paired:
            continue
        free = [(_differing(action, call), i) for i, call in enumerate(calls) if call.name == action.name]
        free = [(arguments, position) for arguments, position in free if position not in used]
        if free:
            arguments, position = min(free, key=lambda candidate: len(candidate[0]))
            used.add(position)
            near[number] = (position, arguments)
    return near


def _differing(action: Action, call: ToolCall) -> tuple[str, ...]:
    keys = action.compare_args if action.compare_args is not None else [*action.arguments, *call.arguments]
    return tuple(key for key in dict.fromkeys(keys) if action.arguments.get(key, ...) != call.arguments.get(key, ...))


def _place(rows: Sequence[Row], number: int) -> int:
    """Return where an action belongs that was not made: after the last one before it."""
    earlier = [i for i, row in enumerate(rows) if row.action is not None and row.action < number]
    return earlier[-1] + 1 if earlier else 0
