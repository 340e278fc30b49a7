"""Conversations in turns, made into ones in ticks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest_tau

if TYPE_CHECKING:
    from pathlib import Path

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


def document(
    ticks: list[dict[str, Any]], seconds: float = 0.2, *, domain: str = "mock", task_id: str = "say-new-id"
) -> dict[str, Any]:
    """A results file of τ²-bench with one voice simulation."""
    task = next(each for each in pytest_tau.load_domain(domain).tasks(split=None) if each.id == task_id)
    return {
        "timestamp": "2026-01-01T00:00:00",
        "info": {
            "num_trials": 1,
            "environment_info": {"domain_name": domain, "policy": "", "tool_defs": None},
            "agent_info": {"implementation": "discrete_time_audio_native_agent", "llm": "openai:x", "llm_args": None},
            "user_info": {"implementation": "voice_streaming_user_simulator", "llm": "y", "llm_args": None},
            "speech_complexity": "regular",
            "audio_native_config": {"provider": "openai", "model": "x", "tick_duration_seconds": seconds},
        },
        "tasks": [task.model_dump(mode="json")],
        "simulations": [
            {
                "id": "s1",
                "task_id": task.id,
                "trial": 0,
                "termination_reason": "user_stop",
                "reward_info": {"reward": 1.0},
                "mode": "full_duplex",
                "messages": None,
                "ticks": ticks,
                "speech_environment": {"complexity": "regular", "voice_seed": 3},
                "duration": 9.5,
            }
        ],
    }


def written(folder: Path, content: dict[str, Any], form: str = "file") -> Path:
    """The path of the results, in one file or with one for each simulation."""
    if form == "file":
        path = folder / "voice.json"
        path.write_text(json.dumps(content))
        return path
    path = folder / "voice"
    (path / "simulations").mkdir(parents=True)
    for each in content.pop("simulations"):
        (path / "simulations" / f"{each['id']}.json").write_text(json.dumps(each, indent=2))
    (path / "results.json").write_text(json.dumps(content))
    return path
