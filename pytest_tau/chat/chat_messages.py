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


def _filled_fields(fields: dict[str, Any]) -> dict[str, Any]:
    # An empty text may be meant: some models want their empty reasoning back.
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}
