"""The examples of programs that stay, in TypeScript and Go, pass tasks with a model server and without a key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = Path(__file__).parents[2] / "examples/programs"
pytestmark = pytest.mark.exhaustive


def model(request: Mapping[str, Any]) -> Any:
    last = request["messages"][-1]
    if last["role"] == "tool":
        return f"Done: {last['content']}"
    new = {"user_id": "user_1", "title": "Order new chairs"}
    asked = "Order new chairs" in str(last["content"])
    return {"tool_calls": [{"function": {"name": "create_task", "arguments": new}}]} if asked else "You are welcome."


def needs(program: str) -> str:
    """Return the path of a program; skip the test without it."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def compiled_typescript(folder: Path) -> str:
    """Return the command of the TypeScript example, compiled; skip the test if the compiler cannot be installed."""
    npm, node = needs("npm"), needs("node")
    packages = ["typescript@5", "@types/node@20"]
    installed = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", *packages], cwd=folder, capture_output=True, text=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install {' '.join(packages)}: {installed.stderr.strip()[-200:]}")
    shutil.copy(EXAMPLES / "agent.ts", folder / "agent.mts")
    options = ["--strict", "--noEmitOnError", "--target", "es2022", "--module", "nodenext", "--types", "node"]
    command = [node, "node_modules/typescript/bin/tsc", *options, "agent.mts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return f"'{node}' agent.mjs"


def compiled_go(folder: Path) -> str:
    """Return the command of the Go example, compiled."""
    go = needs("go")
    subprocess.run([go, "build", "-o", folder / "agent", EXAMPLES / "agent.go"], cwd=folder, check=True)
    return "./agent"


@pytest.mark.parametrize("compiled", [compiled_typescript, compiled_go])
def test_an_example_passes_tasks(compiled: Any, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="needs the extra endpoint")
    command = compiled(tmp_path)
    options = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-trials", "6", "--tau-concurrency", "3"]
    options += ["--tau-user", "scripted", "--tau-timeout", "60", "--tau-agent-llm", "openai/rules"]
    with ModelServer(model) as server:
        address = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "any"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *options, "--tau-agent", f"stdio:{command}"],
            cwd=tmp_path,
            env=os.environ | address,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
