"""What calls of Anthropic's models need: no temperature with thinking, and marks for the prompt cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat.call_arguments import thinks
from ...errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Anthropic allows four marks: the tools, the system message and the last two messages that it answers have one each.
_MARK = {"cache_control": {"type": "ephemeral"}}
_MARKED_MESSAGES = 2


def refuse_temperature(model: str, args: Mapping[str, Any]) -> None:
    """Refuse a temperature that Anthropic does not accept with thinking.

    Raises:
        ConfigurationError: There is one.
    """
    if thinks(model, args) and args.get("temperature") not in (None, 1):
        problem = f"'temperature' is {args['temperature']!r}, but with thinking Anthropic accepts 1 only: remove it"
        raise ConfigurationError(f"model {model!r}: {problem}")


def without_temperature(model: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call without a temperature that they exclude, such as the default of a run."""
    excluded = thinks(model, args) and args.get("temperature") != 1
    return {name: value for name, value in args.items() if not (excluded and name == "temperature")}


def mark_for_cache(call: dict[str, Any]) -> None:
    """Mark the end of the tools, of the system message and of the last messages of a call, which is changed.

    Each mark ends a beginning of the request that Anthropic keeps for five minutes. The next call finds it, because
    a conversation grows at its end only.
    """
    if call.get("tools"):
        call["tools"][-1].update(_MARK)
    messages: list[dict[str, Any]] = call["messages"]
    asked = [message for message in messages if message.get("role") in ("user", "tool")]
    for message in [*(m for m in messages[:1] if m.get("role") == "system"), *asked[-_MARKED_MESSAGES:]]:
        _mark(message)


def _mark(message: dict[str, Any]) -> None:
    content = message.get("content")
    if message.get("role") == "tool":
        message.update(_MARK)
    elif isinstance(content, str) and content:
        message["content"] = [{"type": "text", "text": content, **_MARK}]
    elif isinstance(content, list) and content and isinstance(content[-1], dict):
        content[-1].update(_MARK)
