"""Runs with models where litellm is not installed: servers that speak OpenAI's API."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_tau.integrations import default_model
from pytest_tau.testing import ModelServer

pytest.importorskip("aiohttp")


@pytest.fixture(autouse=True)
def without_litellm(monkeypatch):
    monkeypatch.setattr(default_model, "has_litellm", lambda: False)
    monkeypatch.setitem(sys.modules, "litellm", None)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def script(request):
    if request["messages"][-1]["role"] == "tool":
        return "It is on your list."
    call = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    return {"tool_calls": [{"function": call}]}


def options(server, **args):
    given = {"base_url": server.base_url, "api_key": "sk-of-the-run-0123456789", **args}
    return ["--tau-agent-llm", "openai/m", "--tau-agent-llm-args", json.dumps(given), "--tau-user", "gold"]


def test_a_run_is_recorded_and_replayed(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    with ModelServer(script, api_key="sk-of-the-run-0123456789") as server:
        run = project.run(*options(server), "--tau-record", "all")
        run.outcomes(passed=1)
        run.line("agent openai/m: 2 calls")
        asked = len(server.requests)
    project.run(*options(server), "--tau-replay").outcomes(passed=1)
    assert asked == 2
    files = [path for path in project.path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"sk-of-the-run" in path.read_bytes()]


def test_a_budget_uses_the_prices_of_the_arguments(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    with ModelServer(script) as server:
        run = project.run(*options(server), "--tau-budget", "5")
        run.usage_error("model 'openai/m' has no known price")
        prices = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}
        project.run(*options(server, **prices), "--tau-budget", "5").outcomes(passed=1)


def test_another_provider_needs_litellm(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-agent-llm", "anthropic/claude", "--tau-user", "gold")
    run.usage_error("--tau-agent-llm: model 'anthropic/claude' needs litellm: pip install './pytest-tau[llm]'")


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
@pytest.mark.parametrize("package", ["aiohttp", "tenacity"])
def test_without_any_client_the_run_is_refused_once(project, monkeypatch, package, workers):
    monkeypatch.setitem(sys.modules, package, None)
    with ModelServer(script) as server:
        run = project.run(*("--tau-domain", "mock"), *options(server), *workers)
        asked = server.requests
    run.usage_error(
        "--tau-agent-llm: model calls need litellm and tenacity (any provider): pip install './pytest-tau[llm]', where"
    )
    run.line("servers with OpenAI's API): pip install './pytest-tau[endpoint]', where ./pytest-tau is a clone")
    run.lacks("infrastructure_error")
    assert not asked


@pytest.mark.parametrize("kind", ["file", "marked"])
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
def test_a_missing_package_is_one_usage_error_for_task_files_and_marked_tests_too(
    project, a_task, monkeypatch, workers, kind
):
    monkeypatch.setitem(sys.modules, "tenacity", None)
    if kind == "file":
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
    else:
        mark = '@pytest.mark.tau(domain="mock", trials=2)'
        project.write("test_own.py", f"import pytest\n\n{mark}\ndef test_own(tau_simulation): pass\n")
    project.write("without.py", "import sys\nsys.modules['litellm'] = sys.modules['tenacity'] = None\n")
    project.write("pytest.ini", "[pytest]\naddopts = -p without\npythonpath = .\n")
    monkeypatch.syspath_prepend(str(project.path))
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    with ModelServer(script) as server:
        run = project.run(*options(server), *workers)
        asked = server.requests
    run.usage_error(
        "--tau-agent-llm: model calls need litellm and tenacity (any provider): pip install './pytest-tau[llm]', where"
    )
    run.lacks("infrastructure_error")
    errors = [line for line in run.text.splitlines() if line.startswith("--tau-agent-llm: model calls need")]
    assert len(errors) == (1 if workers else 0)
    assert not asked


def test_litellm_without_the_other_packages_of_its_extra_is_refused(project, a_task, monkeypatch):
    monkeypatch.setattr(default_model, "has_litellm", lambda: True)
    monkeypatch.setitem(sys.modules, "tenacity", None)
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-agent-llm", "anthropic/claude", "--tau-user", "gold")
    run.usage_error(
        "--tau-agent-llm: model calls need litellm and tenacity (any provider): pip install './pytest-tau[llm]', where"
    )


def test_a_context_budget_without_tiktoken_is_refused(project, a_task, monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    project.tasks("mock/t.tau.json", [a_task()])
    with ModelServer(script) as server:
        run = project.run(*options(server), "--tau-agent-context", "1000")
    run.usage_error("--tau-agent-context: a context budget needs tiktoken, which is not installed: pip install './py")


def test_a_missing_key_is_a_usage_error(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-agent-llm", "openai/gpt-x", "--tau-user", "gold")
    run.usage_error("needs a key: set OPENAI_API_KEY")
