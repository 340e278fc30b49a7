"""Observations and infos as plain data, from the messages that a side sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json

if TYPE_CHECKING:
    from ...episodes import Episode
    from ...participants import Side

#: The names of the sides in observations, by the role in a side's own chat.
_NAMES: dict[Side, dict[str, str]] = {
    "agent": {"assistant": "assistant", "user": "user", "tool": "tool"},
    "user": {"assistant": "user", "user": "assistant", "tool": "tool"},
}


def as_text(chats: list[dict[str, Any]], side: Side) -> str:
    """Return messages in OpenAI chat format as text, ``role: text`` for each; without system messages.

    Source: τ²-bench v1.0.1, observations.
    """
    names = _NAMES[side]
    return "\n".join(f"{names[chat['role']]}: {_content(chat)}" for chat in chats if chat["role"] in names)


def _content(chat: dict[str, Any]) -> str:
    calls = chat.get("tool_calls")
    if not calls:
        return chat.get("content") or ""
    said = chat.get("content") or ""
    written = ", ".join(_call(call["function"]["name"], call["function"]["arguments"]) for call in calls)
    return f"{said}\n{written}" if said else written


def _call(name: str, arguments: str) -> str:
    """Return a call in Python's syntax; an action that was no call as it was written."""
    try:
        given = parse_json(arguments)
    except DocumentError:
        return arguments
    if not isinstance(given, dict):
        return arguments
    return f"{name}({', '.join(f'{key}={given[key]!r}' for key in sorted(given))})"


def after_own_last(chats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages after a side's own last one, without the system message."""
    own = [number for number, chat in enumerate(chats) if chat["role"] in ("assistant", "system")]
    return chats[own[-1] + 1 :] if own else chats


def reset_info(episode: Episode) -> dict[str, Any]:
    """Return what the player may know before the first action."""
    found: dict[str, Any] = {
        "task_id": episode.task.id,
        "domain": episode.domain.name,
        "trial": episode.trial,
        "seed": episode.seed,
        "tools": episode.tools,
        "messages": episode.prompt,
    }
    if episode.side == "agent":
        found["policy"] = episode.environment.policy
        if episode.environment.solo:
            found["ticket"] = episode.task.ticket
    else:
        found["scenario"] = str(episode.task.user_scenario)
    return found


def end_info(episode: Episode) -> dict[str, Any]:
    """Return the end of an episode; the verdict and the simulation as JSON texts.

    Vector environments of gymnasium take dicts apart, and cannot join those with other fields or types.
    """
    simulation = episode.simulation
    if simulation is None:
        return {}
    verdict = simulation.reward_info
    return {
        "termination_reason": simulation.termination_reason,
        "reward_info": None if verdict is None else verdict.model_dump_json(),
        "simulation": simulation.model_dump_json(),
    }
