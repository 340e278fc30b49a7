"""Entries of τ-bench's result files (τ¹) as simulations: its tasks, its chat format, its actions as text.

Differences from τ²-bench: τ¹ carries out only the first call of a message and sends no text with it to the user;
agents of its ``react`` and ``act`` kind write ``Action: {"name": …, "arguments": …}``, where ``respond`` talks to the
user; a hand-over to people ends the conversation.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...documents import DocumentError, parse_json
from ...models import (
    NO_NOTES,
    AssistantMessage,
    CommunicateCheck,
    DBCheck,
    Notes,
    RewardInfo,
    Simulation,
    Task,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from .entries import StoredSimulation, stored_reward
from .messages import EntryError, first_problem, objects_in, read_call, text_of, with_unique_ids

if TYPE_CHECKING:
    from ...models import Message, TerminationReason

_RESPOND = "respond"
_HAND_OVER = "transfer_to_human_agents"
_RESULT = "API output: "
_NAMED_IN_TEXT = re.compile(r'Action:\s*\{\s*"name":\s*"(\w+)"')


def is_tau1(entry: dict[str, Any]) -> bool:
    """Return whether an entry is τ-bench's."""
    return "traj" in entry or ("messages" not in entry and {"task_id", "reward", "info"} <= entry.keys())


def tools_named(entry: dict[str, Any]) -> list[str]:
    """Return the names of the tools that an entry calls or has as reference actions, whatever the rest looks like."""
    info = entry.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    names = [action.get("name") for action in objects_in(task.get("actions") if isinstance(task, dict) else None)]
    for message in objects_in(entry.get("traj")):
        calls = objects_in(message.get("tool_calls"))
        names += [call["function"].get("name") for call in calls if isinstance(call.get("function"), dict)]
        names += _NAMED_IN_TEXT.findall(str(message.get("content"))) if message.get("role") == "assistant" else []
    return [name for name in names if isinstance(name, str) and name != _RESPOND]


def read_tau1_entry(entry: dict[str, Any], name: str) -> StoredSimulation:
    """Return one trial of τ-bench's.

    Raises:
        EntryError: It has no conversation, or no task.
    """
    raw = entry.get("info")
    info: dict[str, Any] = raw if isinstance(raw, dict) else {}
    trajectory = entry.get("traj")
    if not isinstance(trajectory, list) or not trajectory:
        error = str(info.get("error") or "").strip().splitlines()
        raise EntryError(f"no conversation: the run failed with {error[0]}" if error else "no conversation")
    task = _task(entry.get("task_id"), info.get("task"))
    try:
        messages = _text_messages(trajectory) if _acts_in_text(trajectory) else _chat_messages(trajectory)
    except (TypeError, AttributeError, KeyError, ValidationError) as error:
        raise EntryError(f"messages that do not follow the format: {error}") from None
    simulation = Simulation(
        id=name,
        task_id=task.id,
        trial=entry["trial"] if isinstance(entry.get("trial"), int) else 0,
        termination_reason=_ending(info, messages, entry.get("reward")),
        messages=with_unique_ids(messages),
        reward_info=_stored(entry, info),
        info=Notes.read({"blame": info["blame"]}) if isinstance(info.get("blame"), dict) else NO_NOTES,
    )
    return StoredSimulation(name, simulation, task)


def _task(task_id: Any, raw: Any) -> Task:
    """Return the task in today's format: the database and the outputs decide."""
    if not isinstance(raw, dict) or task_id is None:
        raise EntryError("no task")
    try:
        actions = [
            {"action_id": f"{task_id}_{position}", "name": action["name"], "arguments": action.get("kwargs") or {}}
            for position, action in enumerate(raw.get("actions") or [])
            if action["name"] != _RESPOND
        ]
        criteria = {
            "actions": actions,
            "communicate_info": [str(output) for output in raw.get("outputs") or []],
            "reward_basis": ["DB", "COMMUNICATE"],
        }
        scenario = {"instructions": str(raw.get("instruction") or "")}
        return Task.model_validate({"id": str(task_id), "user_scenario": scenario, "evaluation_criteria": criteria})
    except ValidationError as error:
        raise EntryError(f"its task cannot be read: {first_problem(error)}") from None
    except (TypeError, KeyError, AttributeError) as error:
        raise EntryError(f"its task cannot be read: {error}") from None


def _stored(entry: dict[str, Any], info: dict[str, Any]) -> RewardInfo | None:
    reward = stored_reward(entry.get("reward"))
    if reward is None:
        return None
    stored = RewardInfo(reward=reward, reward_basis=["DB", "COMMUNICATE"])
    stored_info = info.get("reward_info")
    checks = stored_info.get("info") if isinstance(stored_info, dict) else None
    if not isinstance(checks, dict):
        return stored
    # Where a task has outputs and the database agrees, only the outputs are kept; where it does not, only that.
    actions, outputs = checks.get("r_actions"), checks.get("outputs")
    if (match := stored_reward(actions)) is not None:
        stored.db_check = DBCheck(db_match=match == 1, db_reward=match)
    if isinstance(outputs, dict):
        justification = "as stored"
        stored.communicate_checks = [
            CommunicateCheck(info=o, met=bool(m), justification=justification) for o, m in outputs.items()
        ]
    return stored


def _ending(info: dict[str, Any], messages: list[Message], reward: Any) -> TerminationReason:
    """Return how a conversation ended: τ¹ grades exactly those that ended before its limit of steps."""
    last = messages[-1] if messages else None
    ended = isinstance(last, UserMessage) and last.stop_token is not None
    if stored_reward(reward) == 1:
        pass  # it was graded, whatever was kept of that
    elif "reward_info" in info:
        if info["reward_info"] is None:
            return "max_steps"
    elif not ended and _HAND_OVER not in _last_calls(messages):
        return "max_steps"
    return "user_stop" if ended else "agent_stop"


def _last_calls(messages: list[Message]) -> list[str]:
    results = len(list(takewhile(lambda message: isinstance(message, ToolMessage), reversed(messages))))
    last = messages[: len(messages) - results][-1:] if results else messages[-2:]
    calling = [m for m in last if isinstance(m, AssistantMessage)]
    return [call.name for message in calling for call in message.tool_calls or []]


def _chat_messages(trajectory: list[Any]) -> list[Message]:
    messages: list[Message] = []
    for number, raw in enumerate(trajectory):
        role, text = raw["role"], text_of(raw.get("content"))
        if role == "user":
            messages.append(UserMessage(content=text))
        elif role == "assistant" and raw.get("tool_calls"):
            executed = _carried_out(raw["tool_calls"], trajectory[number + 1 :])
            calls = [ToolCall.model_validate(read_call(call, "assistant")) for call in executed]
            messages.append(AssistantMessage(tool_calls=calls))
        elif role == "assistant":
            messages.append(AssistantMessage(content=text))
        elif role == "tool":
            messages.append(_result(str(raw.get("tool_call_id") or ""), text))
    return messages


def _carried_out(calls: list[Any], following: list[Any]) -> list[Any]:
    """Return the calls of a message that were carried out: the first, or all if as many results follow."""
    results = list(takewhile(lambda raw: raw["role"] == "tool", following[: len(calls)]))
    return calls if len(results) == len(calls) else calls[:1]


def _result(call_id: str, text: str | None) -> ToolMessage:
    return ToolMessage(id=call_id, content=text, error=(text or "").startswith("Error"))


def _acts_in_text(trajectory: list[Any]) -> bool:
    return not any(raw.get("tool_calls") for raw in trajectory) and any(
        raw.get("role") == "user" and str(raw.get("content")).startswith(_RESULT) for raw in trajectory
    )


def _text_messages(trajectory: list[Any]) -> list[Message]:
    messages: list[Message] = []
    called: str | None = None
    for number, raw in enumerate(trajectory):
        text = text_of(raw.get("content")) or ""
        if raw["role"] == "user":
            if called and text.startswith(_RESULT):
                messages.append(_result(called, text.removeprefix(_RESULT)))
            else:
                messages.append(UserMessage(content=text))
        elif raw["role"] == "assistant":
            message = _said_or_called(text, f"call_{number}")
            called = message.tool_calls[0].id if message.tool_calls else None
            messages.append(message)
    return messages


def _said_or_called(text: str, call_id: str) -> AssistantMessage:
    """Return what follows the last ``Action:`` as a call; if it is not an action, as a text to the user."""
    action = text.rsplit("Action:", maxsplit=1)[-1].strip()
    try:
        parsed = parse_json(action, strict=False)
    except DocumentError:
        parsed = None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("name"), str):
        return AssistantMessage(content=action)
    arguments = parsed.get("arguments")
    if parsed["name"] == _RESPOND:
        return AssistantMessage(content=text_of(arguments.get("content")) if isinstance(arguments, dict) else action)
    return AssistantMessage(tool_calls=[ToolCall.model_validate(read_call({"id": call_id, **parsed}, "assistant"))])
