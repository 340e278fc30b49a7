"""Ticks: what is read of them, and who speaks in them."""

from __future__ import annotations

import subprocess
import sys

from pytest_tau.capabilities import voice


def test_a_chunk_speaks_unless_it_says_that_it_does_not() -> None:
    tick = voice.Tick.model_validate({"agent_chunk": {"content": None}, "user_chunk": {"contains_speech": False}})

    assert tick.agent_speaks
    assert not tick.user_speaks
    assert not voice.Tick().agent_speaks


def test_what_is_null_is_empty_and_unknown_fields_are_dropped() -> None:
    tick = voice.Tick.model_validate({"timestamp": None, "agent_tool_calls": None, "user_transcript": "x"})

    assert tick.agent_tool_calls == []
    assert "user_transcript" not in tick.model_dump()


def test_the_capability_imports_nothing_that_it_needs_later() -> None:
    code = "import sys; from pytest_tau.capabilities import voice; print([m for m in sys.modules if 'voice' in m])"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "['pytest_tau.capabilities.voice']"
