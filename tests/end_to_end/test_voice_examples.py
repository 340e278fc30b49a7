"""The examples of pipelines of voice frameworks hold a conversation in ticks, with a model server and without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = Path(__file__).parents[2] / "examples/voice"
pytestmark = pytest.mark.exhaustive


def model(request: Mapping[str, Any]) -> Any:
    last = request["messages"][-1]
    if last["role"] == "tool":
        return f"Done: {last['content']}"
    new = {"user_id": "user_1", "title": "Order new chairs"}
    wanted = "chairs" in str(last["content"])
    return {"tool_calls": [{"function": {"name": "create_task", "arguments": new}}]} if wanted else "You are welcome."


@pytest.mark.parametrize(
    ("example", "package"), [("livekit_session", "livekit.plugins.openai"), ("pipecat_pipeline", "pipecat")]
)
def test_an_example_passes_a_task(example: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    options = ["--tau-domain", "mock", "--tau-num-tasks", "1", "--tau-user", "scripted", "--tau-timeout", "60"]
    options += ["--tau-mode", "voice", "--tau-voice-conditions", "control", "--tau-agent-llm", "openai/rules"]
    options += ["--tau-agent", f"{EXAMPLES / example}.py:Agent"]
    with ModelServer(model) as server:
        address = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "any"}
        command = [sys.executable, "-m", "pytest", "-q", *options]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | address, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
