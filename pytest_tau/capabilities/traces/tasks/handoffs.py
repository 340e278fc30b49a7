"""Conversations without what a framework does between its agents: another right agent may be a single one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import stored_facts

if TYPE_CHECKING:
    from ....models import Message, Simulation, ToolCall


def without_handoffs(simulation: Simulation) -> Simulation:
    """Return a conversation without the calls that hand it over to another agent, their results and their tools."""
    facts = stored_facts(simulation)
    messages = simulation.messages
    marked = [messages[number] for number in facts.get("handoffs") or () if number < len(messages)]
    ids = {message.id for message in marked if message.role == "tool"}
    if not ids:
        return simulation
    remaining: dict[int, Message] = {}
    names: set[str] = set()
    for number, message in enumerate(messages):
        if message.role == "tool" and message.id in ids:
            continue
        calls: list[ToolCall] = getattr(message, "tool_calls", None) or []
        others = [call for call in calls if call.id not in ids]
        names |= {call.name for call in calls if call.id in ids}
        if others or message.content or not calls:
            same = len(others) == len(calls)
            remaining[number] = message if same else message.model_copy(update={"tool_calls": others or None})
    spans = facts.get("span_ids") or []
    tools = [tool for tool in facts.get("tools") or () if not _is_of(tool, names)]
    span_ids = [spans[number] for number in remaining if number < len(spans)]
    traces = {**facts, "span_ids": span_ids, "tools": tools, "handoffs": [], "numbers": list(remaining)}
    update = {"messages": list(remaining.values()), "facts": {**simulation.facts, "traces": traces}}
    return simulation.model_copy(update=update)


def number_in_run(simulation: Simulation, number: int) -> int:
    """Return the number that a message of a conversation without handoffs has in its run."""
    numbers = stored_facts(simulation).get("numbers")
    return int(numbers[number]) if numbers else number


def _is_of(tool: Any, names: set[str]) -> bool:
    return isinstance(tool, dict) and tool.get("name") in names
