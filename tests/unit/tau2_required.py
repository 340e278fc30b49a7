"""The fields that τ²-bench's loader requires of a results file: by path, the type of the value; null is not accepted.

``[]`` stands for each entry of a list. Source: τ²-bench v1.0.1, result models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

NUMBER = (int, float)
REQUIRED: dict[str, type | tuple[type, ...]] = {
    "info.git_commit": str,
    "info.num_trials": int,
    "info.max_steps": int,
    "info.max_errors": int,
    "info.user_info.implementation": str,
    "info.agent_info.implementation": str,
    "info.environment_info.domain_name": str,
    "info.environment_info.policy": str,
    "tasks.[].id": str,
    "tasks.[].user_scenario.instructions": (str, dict),
    "simulations.[].id": str,
    "simulations.[].task_id": str,
    "simulations.[].timestamp": str,
    "simulations.[].start_time": str,
    "simulations.[].end_time": str,
    "simulations.[].duration": NUMBER,
    "simulations.[].termination_reason": str,
    "simulations.[].messages": list,
}
#: Of instructions that are not a text.
STRUCTURED = ("domain", "reason_for_call", "task_instructions")
REASONS = {
    *("user_stop", "agent_stop", "max_steps", "timeout", "too_many_errors", "agent_error", "user_error"),
    *("infrastructure_error", "context_window_exceeded", "unexpected_error"),
}


def problems(document: dict[str, Any]) -> list[str]:
    """Return what τ²-bench's loader would refuse in a results file."""
    found = []
    for path, types in REQUIRED.items():
        values = list(_values(document, path.split(".")))
        if not values:
            found.append(f"{path}: nothing is there")
        found += [f"{path}: {value!r}" for value in values if not isinstance(value, types) or isinstance(value, bool)]
    for task in document["tasks"]:
        instructions = task["user_scenario"]["instructions"]
        if isinstance(instructions, dict):
            missing = [name for name in STRUCTURED if not isinstance(instructions.get(name), str)]
            found += [f"task {task['id']}: instructions.{name}" for name in missing]
    known = {task["id"] for task in document["tasks"]}
    for simulation in document["simulations"]:
        found += [] if simulation["termination_reason"] in REASONS else [f"reason {simulation['termination_reason']}"]
        found += [] if simulation["task_id"] in known else [f"no task {simulation['task_id']}"]
        if simulation["reward_info"] is not None and not isinstance(simulation["reward_info"]["reward"], NUMBER):
            found.append("reward_info.reward")
    return found


def _values(value: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "[]":
        for each in value or ():
            yield from _values(each, path[1:])
    else:
        yield from _values(value.get(path[0]) if isinstance(value, dict) else None, path[1:])
