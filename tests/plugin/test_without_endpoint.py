"""Runs where aiohttp, the extra ``endpoint``, is not installed: reported before a run, or at the first use."""

from __future__ import annotations

import sys

import pytest

NEEDED = "the endpoint for models needs aiohttp: pip install './pytest-tau[endpoint]'"
#: An agent that asks for its address, and catches the error.
HIDDEN = """
import pytest_tau

@pytest_tau.own_loop
def it(trial):
    def run(text):
        try:
            trial.base_url
        except Exception:
            pass
        return "Hello."
    return run
"""
#: Another one, which does so in its factory.
HIDDEN_EARLY = """
import pytest_tau

@pytest_tau.own_loop
def it(trial):
    trial.base_url
"""


@pytest.fixture(autouse=True)
def without_aiohttp(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "aiohttp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    # An earlier test may have opened the listener of this process.
    monkeypatch.setattr("pytest_tau.endpoint.listener._LISTENERS", {})


def test_a_model_for_an_agent_on_its_own_loop_is_refused_before_the_run(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", HIDDEN)
    run = project.run("--tau-agent", "parts.py:it", "--tau-agent-llm", "openai/m")
    run.usage_error(NEEDED)


@pytest.mark.parametrize("spec", ["cmd:cat", "a2a:http://127.0.0.1:9"])
def test_programs_and_servers_are_refused_before_the_run(project, a_task, spec):
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-agent", spec)
    run.usage_error(NEEDED)


@pytest.mark.parametrize("source", [HIDDEN, HIDDEN_EARLY], ids=["run", "factory"])
def test_what_only_the_trial_shows_is_an_error_and_not_the_agent_s_failure(project, a_task, source):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", source)
    run = project.run("--tau-agent", "parts.py:it", "--tau-user", "gold")
    run.outcomes(errors=1)
    run.line("infrastructure_error: ModelError: the endpoint for models needs aiohttp")


def test_a_fixture_that_asks_for_an_address_is_an_error(project):
    project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock")
        def test_address(tau_trial, tau_env):
            tau_trial.base_url
        """,
    )
    run = project.run("--tau-num-tasks", "1")
    run.outcomes(failed=1)
    run.line(NEEDED)


def test_an_agent_that_needs_no_endpoint_runs(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    source = """
        import pytest_tau

        class Settings:
            base_url = "not that of the trial"

        @pytest_tau.own_loop
        def it(trial):
            settings = Settings()
            tool = next(tool for tool in trial.tools if tool.name == "create_task")
            def run(text):
                tool.call(user_id="user_1", title="Buy milk")
                return settings.base_url
            return run
        """
    project.write("parts.py", source)
    project.run("--tau-agent", "parts.py:it", "--tau-user", "gold").outcomes(passed=1)
