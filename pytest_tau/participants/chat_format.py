"""Messages as one side sees them, in OpenAI chat format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models import AssistantMessage, MultiToolMessage, SystemMessage, ToolMessage, UserMessage, heard
from ..plain import json

if TYPE_CHECKING:
    from ..models import Message
    from .context import Incoming


def visible_to(side: str, messages: list[Message]) -> list[Message]:
    """Return the messages that a side sees: all texts, and its own tool calls and results.

    What begins a session is the call of neither side.
    """
    requestor = "assistant" if side == "agent" else "user"
    return [
        message
        for message in heard(messages)
        if (isinstance(message, ToolMessage) and message.requestor == requestor)
        or (
            isinstance(message, AssistantMessage | UserMessage)
            and (message.role == requestor or not message.tool_calls)
        )
    ]


def chat_messages(message: Incoming | Message, side: str) -> list[dict[str, Any]]:
    """Return a message in OpenAI chat format as a side sees it: its own are the assistant's, the other's the user's."""
    requestor = "assistant" if side == "agent" else "user"
    if isinstance(message, MultiToolMessage):
        return [chat for result in message.tool_messages for chat in chat_messages(result, side)]
    if isinstance(message, SystemMessage):
        return [{"role": "system", "content": message.content}]
    if isinstance(message, ToolMessage):
        mine = message.requestor == requestor
        return [{"role": "tool", "tool_call_id": message.id, "content": message.content}] if mine else []
    if message.role != requestor:
        return [] if message.tool_calls else [{"role": "user", "content": message.content}]
    chat: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        chat["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.malformed or json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return [chat]
