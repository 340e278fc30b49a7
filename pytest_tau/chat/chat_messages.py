"""Assistant messages as they are stored and sent back."""

from __future__ import annotations

from typing import Any


def filled_message(dumped: dict[str, Any]) -> dict[str, Any]:
    """Return a message in chat format without empty fields, except for the content."""
    message = {"role": "assistant", "content": None, **_filled_fields(dumped)}
    fields = _filled_fields(message.pop("provider_specific_fields", None) or {})
    if fields:
        message["provider_specific_fields"] = fields
    if "tool_calls" in message:
        message["tool_calls"] = [_filled_fields(call) for call in message["tool_calls"]]
    return message


def as_sent(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of a server with OpenAI's API with its fields where the server had them.

    litellm moves fields that it does not know into ``provider_specific_fields``, which the server would not find, and
    a strict one refuses. It repeats ``reasoning`` as ``reasoning_content``, which the server has not sent.
    """
    rest = {name: value for name, value in message.items() if name != "provider_specific_fields"}
    moved = message.get("provider_specific_fields") or {}
    if "reasoning" in moved:
        rest.pop("reasoning_content", None)
    return rest | {name: value for name, value in moved.items() if name not in rest}


def _filled_fields(fields: dict[str, Any]) -> dict[str, Any]:
    # An empty text may be meant: some models want their empty reasoning back.
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}
