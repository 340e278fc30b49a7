"""Limits of model calls and of conversations, the names and logs of runs, and what reports show of the calls."""

from __future__ import annotations

import json

import pytest

from pytest_tau.orchestrator.conversation import Conversation
from pytest_tau.testing import ModelServer, RateLimited, ServerError, Stall

ALONE = "--tau-concurrency=1"


@pytest.fixture
def served(project, a_task, litellm_at_hand, monkeypatch):
    """Runs the mock task with models behind a model server, through the run's own chat model."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    project.tasks("mock/t.tau.json", [a_task()])

    def run(server, *options, agent="openai/agent", **args):
        given = json.dumps({"api_base": server.base_url, "api_key": "any", **args})
        models = ["--tau-agent-llm", agent, "--tau-agent-llm-args", given]
        return project.run(*models, "--tau-user-llm", "openai/user", "--tau-user-llm-args", given, *options)

    return run


def plays(request):
    """The mock task, played by the same model on both sides."""
    last = request["messages"][-1]
    if request["model"] == "user":
        return "###STOP###" if "Done" in last["content"] else "Buy milk, please."
    create = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    return "Done." if last["role"] == "tool" else {"tool_calls": [{"function": create}]}


def whole(content, reason):
    message = content if isinstance(content, dict) else {"role": "assistant", "content": content}
    return {
        "model": "some",
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }


# Retries


def test_the_number_of_retries_is_an_option(served):
    with ModelServer(lambda _: RateLimited()) as server:
        run = served(server, "--tau-llm-retries=2", "--tau-llm-retry-delay=0.001")
    run.outcomes(errors=1)
    assert len(server.requests) == 3
    run.line("too many calls", "(3 attempts over")


def test_no_retry(served):
    with ModelServer(lambda _: ServerError()) as server:
        served(server, "--tau-llm-retries=0").outcomes(errors=1)
    assert len(server.requests) == 1


def test_retries_and_delay_in_the_ini(served, project):
    project.ini("tau_llm_retries = 1", "tau_llm_retry_delay = 0.001")
    with ModelServer(lambda _: ServerError()) as server:
        served(server).outcomes(errors=1)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tau-llm-retries=-1"], "--tau-llm-retries: expected a whole number of at least 0, got '-1'"),
        (["--tau-llm-retry-delay=soon"], "--tau-llm-retry-delay: expected a number of at least 0, got 'soon'"),
        (["--tau-provider-limit=40"], "--tau-provider-limit: expected a list of NAME=N, such as openai=40,gemini=20"),
        (["--tau-provider-limit=openai=0"], "expected a list of NAME=N, such as openai=40,gemini=20, got 'openai=0'"),
        (["--tau-budget-per-trial=much"], "--tau-budget-per-trial: expected a number of at least 0, got 'much'"),
        (["--tau-prices=none.toml"], "none.toml: cannot be read"),
        (["--tau-run-name=a/b"], "--tau-run-name: expected letters, digits and _.+-[], got 'a/b'"),
        (["--tau-run-name=a", "--tau-results=none"], "--tau-run-name: nothing is stored (--tau-results none)"),
        (["--tau-gate=pass^1>=80"], "'pass^1 >= 80' can never be met, as pass^1 is from 0 to 1: write 0.8 for 80 %"),
        (["--tau-gate=errors<-0.1"], "'errors < -0.1' can never be met, as errors is from 0 to 1"),
        (["--tau-gate=cost<=-1"], "'cost <= -1' can never be met, as cost is at least 0"),
        (["--tau-gate=mock:reward>1"], "'mock:reward > 1' can never be met, as reward is from 0 to 1"),
    ],
)
def test_a_value_that_cannot_be_is_a_usage_error(models, options, words):
    models.run(*options).usage_error(words)
    assert models.calls() == []


def test_gates_at_the_ends_of_a_metric_are_gates(models):
    run = models.run("--tau-gate=pass^1>=1", "--tau-gate=errors<=0", "--tau-gate=cost>=0", "--tau-gate=turns<=200")
    assert run.ret == pytest.ExitCode.OK


# Limits of providers


def test_the_calls_of_a_provider_are_limited(served, project, a_task, monkeypatch):
    project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(6)])
    running, most = [], []

    def busy(request):
        running.append(1)
        most.append(len(running))
        try:
            return plays(request)
        finally:
            running.pop()

    with ModelServer(busy, latency=0.005) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        options = ["--tau-agent-llm=openai/agent", "--tau-user-llm=openai/user", "--tau-concurrency=6"]
        project.run(*options, "--tau-provider-limit=openai=1,gemini=3").outcomes(passed=6)
    assert max(most) == 1


@pytest.mark.exhaustive
def test_limits_of_providers_are_shared_by_workers(models):
    models.run("--tau-provider-limit=openai=1", "-n", "2").usage_error(
        "--tau-provider-limit: expected at least 2, one call for each worker, got 1"
    )
    models.run("--tau-provider-limit=openai=2", "-n", "2").outcomes(passed=1)


# Time limits


@pytest.mark.exhaustive
def test_a_slow_call_ends_by_its_own_limit_and_the_summary_says_so(served):
    with ModelServer(lambda request: Stall() if request["model"] == "agent" else plays(request)) as server:
        run = served(server, "--tau-llm-timeout=1.5", "--tau-llm-retries=1", "--tau-llm-retry-delay=0.001")
    run.outcomes(errors=1)
    run.line("tau: time limits struck: 2 attempts of model calls (--tau-llm-timeout): agent 2")


@pytest.mark.exhaustive
def test_an_attempt_that_was_repeated_is_counted_as_well(served):
    with ModelServer(plays, faults={2: Stall()}) as server:
        run = served(server, "--tau-llm-timeout=1.5", "--tau-llm-retry-delay=0.001")
    run.outcomes(passed=1)
    run.line("tau: time limits struck: 1 attempt of model calls (--tau-llm-timeout): agent 1")


def test_a_conversation_of_built_in_participants_has_no_limit_of_its_own(models, project, monkeypatch):
    limits = []

    class Seen(Conversation):
        async def run(self):
            limits.append(self._limits.seconds)
            return await super().run()

    monkeypatch.setattr("pytest_tau.runner.attempt.Conversation", Seen)
    for options in ([], ["--tau-timeout=0"], ["--tau-timeout=90"]):
        models.run(*options).outcomes(passed=1)
    project.write("own.py", "def agent(messages, tools):\n    return 'Hm.'\n")
    for options in ([], ["--tau-timeout=0"], ["--tau-timeout=90"]):
        models.run("--tau-agent=own.py:agent", "--tau-user=scripted", *options).outcomes(failed=1)
    assert limits == [None, None, 90.0, 1800.0, None, 90.0]


OWN_AGENT = """
import asyncio


class Agent:
    def __init__(self, model):
        self.model = model

    async def respond(self, message):
        DOES
        return "Done."
"""


@pytest.mark.parametrize(
    ("does", "ended"),
    [
        ("await self.model.complete([{'role': 'user', 'content': 'slow'}])", None),
        ("await asyncio.sleep(60)", "no end after 0.5 s without the model calls"),
    ],
)
def test_the_default_limit_of_an_agent_of_ones_own_does_not_count_its_model_calls(
    models, project, monkeypatch, does, ended
):
    monkeypatch.setattr("pytest_tau.plugin.config.DEFAULT_TIMEOUT", 0.5)
    models.script("""
        async def answer(role, request):
            await asyncio.sleep(0.8)
            return "Hm."
    """)
    project.write("own.py", OWN_AGENT.replace("DOES", does))
    run = models.run("--tau-agent=own.py:Agent", "--tau-user=scripted", "--tau-max-steps=4")
    run.outcomes(failed=1)
    if ended is None:
        run.lacks("no end after")
        run.lacks("time limits struck")
    else:
        run.line(ended, "0.5 s for the agent")
        run.line("tau: time limits struck: 1 conversation cut off (--tau-timeout)")


def test_a_limit_that_is_given_counts_everything(models):
    models.script("""
        async def answer(role, request):
            await asyncio.sleep(30)
    """)
    run = models.run("--tau-timeout=0.3")
    run.line("no end after 0.3 s (waited")
    run.line("tau: time limits struck: 1 conversation cut off (--tau-timeout)")


# Answers that were cut off, refusals


def test_an_answer_that_was_cut_off_is_marked_and_counted(served):
    def script(request):
        return plays(request) if request["model"] == "user" else whole("I will now", "length")

    with ModelServer(script) as server:
        run = served(server, "--tau-max-steps=3")
    run.outcomes(failed=1)
    run.line("reply of the agent cut off at the limit of its length: message 2")
    run.line("[cut off at the limit of its length]")
    assert "1 answer cut off by length" in run.line("tau: agent openai/agent:")


def test_an_answer_that_a_filter_has_cut_off_is_marked_and_counted(served):
    def script(request):
        return plays(request) if request["model"] == "agent" else whole("I would like", "content_filter")

    with ModelServer(script) as server:
        run = served(server, "--tau-max-steps=1")
    run.outcomes(failed=1)
    run.line("reply of the user cut off by a content filter: message 1")
    assert "1 answer cut off by a filter" in run.line("tau: user openai/user:")


def test_the_finish_reason_is_stored_with_the_message_and_read_again(served, project):
    with ModelServer(plays) as server:
        served(server).outcomes(passed=1)
    [file] = project.path.glob(".tau/runs/*/*.jsonl")
    [stored] = [json.loads(line) for line in file.read_text().splitlines() if '"messages"' in line]
    reasons = [each.get("finish_reason") for each in stored["messages"]]
    assert reasons == [None, "stop", "tool_calls", None, "stop", "stop"]
    from pytest_tau.models import Simulation

    fields = {name: value for name, value in stored.items() if name in Simulation.model_fields}
    assert [getattr(each, "finish_reason", None) for each in Simulation.model_validate(fields).messages] == reasons
    for message in fields["messages"]:  # as before there was the field
        message.pop("finish_reason", None)
    assert Simulation.model_validate(fields).messages[1].finish_reason is None


def test_a_refusal_is_what_the_agent_has_said(served, project):
    def script(request):
        return plays(request) if request["model"] == "user" else {"content": None, "refusal": "I cannot do that."}

    with ModelServer(script) as server:
        run = served(server, "--tau-max-steps=2")
    run.outcomes(failed=1)
    run.line("agent  I cannot do that.")
    run.lacks("empty reply")


def test_a_refusal_of_an_agent_of_ones_own_is_text(play):
    run = play("def it(messages, tools):\n    return {'content': None, 'refusal': 'I cannot.'}\n")
    run.line("agent  I cannot.")


# The cached share


def test_the_summary_has_the_share_of_cached_tokens(models):
    models.script("tokens = Usage(prompt_tokens=1000, completion_tokens=20, cached_tokens=820)")
    run = models.run()
    run.line("tau: agent fake/agent: 2 calls, 2,000 tokens sent (82% cached), 40 received")
    run.line("tau: models together: 4 calls, 4,000 tokens sent (82% cached), 80 received")


def test_the_prompt_cache_is_an_option(served, project, monkeypatch):
    with ModelServer(lambda request: plays(request | {"model": "agent"})) as server, ModelServer(plays) as other:
        args = {"api_base": server.base_url.removesuffix("/v1"), "api_key": "any"}
        user = {"api_base": other.base_url, "api_key": "any"}
        options = ["--tau-agent-llm=anthropic/claude-sonnet-4-5", f"--tau-agent-llm-args={json.dumps(args)}"]
        options += ["--tau-user-llm=openai/user", f"--tau-user-llm-args={json.dumps(user)}"]
        project.run(*options, "--tau-prompt-cache").outcomes(passed=1)
        assert all("cache_control" in json.dumps(body) for _, body in server.bodies)
        assert not any("cache_control" in json.dumps(body) for _, body in other.bodies)
        before = len(server.bodies)
        project.run(*options).outcomes(passed=1)
        assert not any("cache_control" in json.dumps(body) for _, body in server.bodies[before:])


def test_the_prompt_cache_changes_no_cassette(served, project):
    with ModelServer(plays) as server:
        served(server, "--tau-record=all", "--tau-prompt-cache").outcomes(passed=1)
        served(server, "--tau-replay").outcomes(passed=1)


# Prices


@pytest.mark.exhaustive
def test_a_price_list_prices_a_model_and_its_budget_stops_it(served, project):
    prices = '["openai/agent"]\ninput = 1000.0\noutput = 0.0\n["openai/user"]\ninput = 0.0\noutput = 0.0\n'
    project.write("prices.toml", prices)
    with ModelServer(lambda request: whole(plays(request), "stop")) as server:
        served(server, "--tau-budget=1").usage_error("model 'openai/agent' has no known price", "--tau-prices FILE")
        run = served(server, "--tau-budget=1", "--tau-prices=prices.toml", "--tau-gate=cost<=0.5")
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: agent openai/agent: 2 calls", "$0.0200")
        served(server, "--tau-budget=0.005", "--tau-prices=prices.toml").outcomes(skipped=1)
        project.ini("tau_prices = prices.toml")
        served(server).line("tau: models together: 4 calls", "$0.0200")


def test_a_gate_on_the_cost_is_missed_if_the_cost_is_unknown(served):
    with ModelServer(plays) as server:
        run = served(server, "--tau-gate=cost<=100")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("gate cost <= 100: not decided: it is unknown for 1 trial")
    run.line("tau: models together: 4 calls", "cost unknown")


# Names of runs


def test_a_run_has_the_name_that_it_is_given(models, project):
    models.run("--tau-run-name=first").line("tau: simulations stored in .tau/runs/first")
    assert (project.path / ".tau" / "runs" / "first" / "run.json").is_file()
    models.run("--tau-run-name=first").usage_error(
        "--tau-run-name: .tau/runs/first exists: resume that run with --tau-resume first, or choose another name"
    )
    models.run("--tau-resume=first").outcomes(passed=1)


def test_a_run_of_workers_has_its_name(models, project):
    models.run("--tau-run-name=both", "-n", "2").outcomes(passed=1)
    assert [folder.name for folder in project.path.glob(".tau/runs/*") if folder.is_dir()] == ["both"]


# Logs


def test_each_trial_has_a_log_of_its_messages_calls_and_end(models, project):
    models.run("--tau-logs=logs", "--tau-trials=2").outcomes(passed=2)
    first, second = sorted((project.path / "logs").iterdir())
    assert "buy-milk_trial-0" in first.name.replace("[", "_").replace("]", "")
    lines = (first / "trial.log").read_text().splitlines()
    texts = [line.partition(" ")[2] for line in lines]
    assert "user: Buy milk, please." in texts
    assert 'assistant calls create_task({"user_id": "user_1", "title": "Buy milk"})' in texts
    assert "user model fake/user, 0001-user.json: answered, 1,000 tokens sent, 20 received, $0.2500, 0.5 s" in texts
    assert texts[-1] == "end: passed, user_stop"
    calls = sorted(file.name for file in (first / "calls").iterdir())
    assert calls == ["0001-user.json", "0002-agent.json", "0003-agent.json", "0004-user.json"]
    call = json.loads((first / "calls" / "0002-agent.json").read_text())
    assert call["request"]["messages"][-1] == {"role": "user", "content": "Buy milk, please."}
    assert call["reply"]["message"]["tool_calls"][0]["function"]["name"] == "create_task"
    status = json.loads((second / "status.json").read_text())
    assert (status["outcome"], status["trial"], status["reward"]) == ("passed", 1, 1.0)


def test_a_log_has_errors_and_no_keys(served, project):
    with ModelServer(lambda _: ServerError()) as server:
        served(server, "--tau-logs=logs", "--tau-llm-retries=0", api_key="sk-very-secret-key").outcomes(errors=1)
    [folder] = (project.path / "logs").iterdir()
    texts = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())
    assert "ModelError: openai/user: the server failed" in texts
    assert "sk-very" not in texts
    assert json.loads((folder / "status.json").read_text())["outcome"] == "error"


def test_the_log_of_a_trial_that_the_budget_has_stopped(models, project):
    models.run("--tau-logs=logs", "--tau-budget=0.3", ALONE).outcomes(skipped=1)
    [folder] = (project.path / "logs").iterdir()
    status = json.loads((folder / "status.json").read_text())
    assert status["outcome"] == "not run"
    assert "the budget of $0.3 is spent" in status["error"]


def test_a_log_is_written_in_workers_and_replaced_by_the_next_run(models, project):
    models.run("--tau-logs=logs", "-n", "2").outcomes(passed=1)
    [folder] = (project.path / "logs").iterdir()
    (folder / "calls" / "0099-agent.json").write_text("{}")
    models.run("--tau-logs=logs").outcomes(passed=1)
    assert max(file.name for file in (folder / "calls").iterdir()) == "0004-user.json"


def test_a_folder_of_logs_that_cannot_be_made_is_a_usage_error(models, project):
    project.write("logs", "a file")
    models.run("--tau-logs=logs").usage_error("--tau-logs: ", "logs cannot be made: File exists")
    assert models.calls() == []
