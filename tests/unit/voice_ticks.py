"""Conversations in turns, made into ones in ticks."""

from __future__ import annotations

from typing import Any

#: The characters that are said in a tick.
CHARACTERS = 6


def spoken(text: str, name: str, action: str | None = None) -> list[dict[str, Any]]:
    """The chunks of an utterance, so many characters each."""
    parts = [text[at : at + CHARACTERS] for at in range(0, len(text), CHARACTERS)]
    turn = {"turn_taking_action": {"action": action}} if action else {}
    return [{"content": part, "contains_speech": True, "utterance_ids": [name], **turn} for part in parts]


def in_ticks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A conversation in turns as one in ticks, with a tick of silence after each turn."""
    found: list[dict[str, Any]] = []
    silent = {"content": None, "contains_speech": False}

    def tick(**fields: Any) -> None:
        number = len(found)
        base = {"tick_id": number, "timestamp": f"2026-01-01T00:{number // 300:02}:{number / 5 % 60:09.6f}"}
        found.append({**base, "agent_chunk": silent, "user_chunk": silent, **fields})

    for number, message in enumerate(messages):
        side = "agent" if message["role"] == "assistant" else "user"
        if message["role"] == "tool":
            side = "agent" if message["requestor"] == "assistant" else "user"
            found[-1].setdefault(f"{side}_tool_results", []).append(message)
        elif message.get("tool_calls"):
            tick(**{f"{side}_tool_calls": message["tool_calls"]})
        else:
            for chunk in spoken(message["content"], f"{side}{number}", "generate_message" if side == "user" else None):
                tick(**{f"{side}_chunk": chunk})
            tick()
    return found
