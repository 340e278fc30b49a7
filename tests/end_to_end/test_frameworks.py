"""From nothing to a gate in CI with an agent of a framework: what docs/get_started.md says of them, carried out.

Each framework runs where it is installed; ``scripts/check-frameworks`` runs this with each of them. The model is the agent
of the template ``plain``, served over HTTP in place of OpenAI.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.cli import main
from pytest_tau.cli.init import AGENTS
from pytest_tau.testing import rules_server

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.testing import ModelServer

pytestmark = pytest.mark.exhaustive

#: A module that only the framework has.
MODULES = {
    "agent_framework": "agent_framework.openai",
    "google_adk": "google.adk",
    "langchain": "langgraph",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
}


def imported(name: str, file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def model(tmp_path: Path) -> ModelServer:
    """The agent of the template without a model, as a model."""
    assert main(["init", str(tmp_path / "plain")]) == 0
    rules = imported("plain_agent", tmp_path / "plain" / "agent.py").Agent
    domain = imported("plain_bookings", tmp_path / "plain" / "bookings" / "__init__.py").domain
    return rules_server(dataclasses.replace(domain, agents={"rules": rules}).load())


def run(folder: Path, command: str, address: str) -> tuple[int, str]:
    """Run a command of pytest in the project, with the server as OpenAI."""
    words = shlex.split(command)
    assert words[0] == "pytest"
    environment = {**os.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "COLUMNS": "100"}
    environment |= {"OPENAI_AGENTS_DISABLE_TRACING": "1", "NO_PROXY": "127.0.0.1"}
    flags = ["-p", "no:asyncio", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", *words, *flags], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_every_framework_has_a_template() -> None:
    assert set(AGENTS) - {"plain"} == set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_from_nothing_to_a_gate(name: str, tmp_path: Path, model: ModelServer) -> None:
    try:
        importlib.import_module(MODULES[name])
    except ImportError:
        pytest.skip(f"{name} is not installed: scripts/check-frameworks runs this")
    project = tmp_path / "evals"
    assert main(["init", str(project), "--agent", name]) == 0
    with model:
        status, out = run(project, "pytest --tau-record", model.base_url)
    assert status == 0, out
    assert "tau: bookings: 3 tasks, 3 trials; 3 passed; pass^1 1.000" in out
    assert len(list(project.glob("cassettes/**/*.cassette"))) == 3
    assert model.errors == []
    assert f": {model.served} calls, " in out
    # In CI, where nothing answers at the address.
    workflow = (project / ".github/workflows/tau.yml").read_text(encoding="utf-8")
    command = " ".join(" ".join(re.findall(r"- run: >\n(.*)\n(.*)\n", workflow)[0]).split())
    assert "--tau-replay --tau-gate 'pass^1>=0.9'" in command
    status, out = run(project, command, model.base_url)
    assert status == 0, out
    assert "tau: gate pass^1 >= 0.9: 1.000" in out
    status, out = run(project, "pytest --tau-agent noop", model.base_url)
    assert status == 1, out
    assert "tau: bookings: 3 tasks, 3 trials; 3 failed" in out


@pytest.mark.parametrize("name", ["langchain", "pydantic_ai"])
def test_a_change_of_the_policy_is_noticed(name: str, tmp_path: Path, model: ModelServer) -> None:
    """The replay compares what the agent sends: here its system message."""
    pytest.importorskip(MODULES[name], reason=f"{name} is not installed")
    project = tmp_path / "evals"
    assert main(["init", str(project), "--agent", name]) == 0
    with model:
        assert run(project, "pytest --tau-record -k cancel", model.base_url)[0] == 0
    policy = project / "bookings" / "policy.md"
    policy.write_text(policy.read_text(encoding="utf-8") + "\n- Be polite.\n", encoding="utf-8")
    status, out = run(project, "pytest --tau-replay -k cancel", model.base_url)
    assert status == 1, out
    assert "differs from the recorded one" in out
    assert "+ - Be polite." in out
    assert "agent's fault" not in out
