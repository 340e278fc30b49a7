"""What goes wrong with models: keys, names, providers, answers, interruptions. Each looks like what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations.litellm import check
from pytest_tau.testing import (
    ContextWindowExceeded,
    ModelServer,
    RateLimited,
    ServerError,
    Stall,
    TruncatedJSON,
    Unauthorized,
)

KEY = "sk-very-secret-0123456789"
GPT = ("--tau-agent-llm", "openai/gpt-4.1", "--tau-user-llm", "openai/gpt-4.1")


pytestmark = pytest.mark.usefixtures("litellm_at_hand")


@pytest.fixture
def bare(models, project, monkeypatch):
    """The project without models of its own and without anybody's keys: litellm is asked."""
    (project.path / "conftest.py").unlink()
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return project


def called(name, **arguments):
    return {"tool_calls": [{"id": "call_1", "function": {"name": name, "arguments": arguments}}]}


def play(request):
    """Both sides of the task, as a server's model: who is asked is seen from the tools."""
    last, names = request["messages"][-1], [tool["function"]["name"] for tool in request.get("tools", [])]
    if "create_task" in names:
        return "Done." if last["role"] == "tool" else called("create_task", user_id="user_1", title="Buy milk")
    return "###STOP###" if "Done" in last["content"] else "Buy milk, please."


@pytest.fixture
def served(bare, monkeypatch):
    """Runs both models against a server."""

    def run(*args, script=play, **server):
        with ModelServer(script, **server) as running:
            monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
            found = bare.run("--tau-agent-llm", "openai/a", "--tau-user-llm", "openai/u", *args)
        found.requests = running.requests
        return found

    return run


class TestBeforeAnythingRuns:
    INI = (
        "tau_agent_llm = openai/gpt-4.1",
        'tau_agent_llm_args = {"num_retries": 0}',
        "tau_user_llm = openai/gpt-4.1",
        'tau_user_llm_args = {"num_retries": 0}',
    )

    def test_a_missing_key_is_named_by_its_variable(self, bare):
        bare.run(*GPT).usage_error("--tau-agent-llm: model 'openai/gpt-4.1' needs a key: set OPENAI_API_KEY")

    def test_so_is_the_users_and_the_judges(self, bare, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        run = bare.run("--tau-agent-llm", "openai/gpt-4.1", "--tau-user-llm", "anthropic/claude-sonnet-4-5")
        run.usage_error("--tau-user-llm: ", "set ANTHROPIC_API_KEY")
        run = bare.run(*GPT, "--tau-judge-llm", "anthropic/claude-sonnet-4-5")
        run.usage_error("--tau-judge-llm: ", "set ANTHROPIC_API_KEY")
        run.lacks(KEY)

    def test_models_of_the_ini_are_looked_at_as_well(self, bare):
        """Nothing on the command line says that this run calls models."""
        bare.ini(*self.INI)
        bare.run().usage_error("set OPENAI_API_KEY")

    def test_models_of_the_ini_are_looked_at_for_marked_tests_as_well(self, bare):
        bare.ini(*self.INI)
        bare.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_simulation):
                pass
            """,
        )
        bare.run("test_own.py").usage_error("set OPENAI_API_KEY")

    def test_models_that_are_not_called_need_no_key(self, bare):
        bare.ini("tau_agent_llm = openai/gpt-4.1", "tau_user_llm = openai/gpt-4.1")
        bare.run("--tau-agent", "gold").outcomes(passed=1)

    def test_a_judge_that_is_not_asked_needs_no_key(self, bare):
        bare.ini("tau_judge_llm = openai/gpt-4.1")
        bare.run("--tau-judge", "accept").outcomes(passed=1)

    @pytest.mark.parametrize(
        ("model", "parts"),
        [
            ("openai/gpt-4.1-mimi", ["unknown model 'openai/gpt-4.1-mimi'", "'openai/gpt-4.1-mini'"]),
            ("opnai/gpt-4.1", ["unknown provider 'opnai'", "did you mean 'openai'"]),
            ("gtp-4.1", ["'gtp-4.1'", "gpt-4.1"]),
            ("openai/", ["'openai/' is not a model name", "such as openai/gpt-4.1"]),
            ("", ["--tau-agent-llm"]),
        ],
    )
    def test_a_typo_in_a_name_has_close_matches(self, bare, monkeypatch, model, parts):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        bare.run("--tau-agent-llm", model, "--tau-user", "gold").usage_error("--tau-agent-llm: ", *parts)

    @pytest.mark.parametrize(
        "name",
        [
            "openai/gpt-4.l",
            "openai/gpt-4.1-m1ni",
            "anthropic/claude-sonet-4-5",
        ],
    )
    def test_so_has_one_in_a_single_letter(self, monkeypatch, name):
        """Asked directly: where the typo is not found, a run would call the provider."""
        for provider in ("OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{provider}_API_KEY", KEY)
        with pytest.raises(ConfigurationError, match="did you mean"):
            check(name, {})

    def test_a_budget_needs_prices(self, bare, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        args = [
            "--tau-agent-llm",
            "openai/mine",
            "--tau-user",
            "gold",
            "--tau-agent-llm-args",
            '{"api_base": "http://127.0.0.1:9"}',
        ]
        bare.run(*args, "--tau-budget", "1").usage_error("has no known price", "input_cost_per_token")

    def test_a_dry_run_and_a_replay_need_no_key(self, bare):
        assert bare.run(*GPT, "--tau-dry-run").ret == pytest.ExitCode.OK
        run = bare.run(*GPT, "--tau-replay")
        run.outcomes(errors=1)
        run.line("no such cassette")

    def test_workers_report_it(self, bare):
        args = json.dumps({"num_retries": 0})
        run = bare.run(*GPT, "--tau-agent-llm-args", args, "--tau-user-llm-args", args, "-n", "2")
        run.usage_error("model 'openai/gpt-4.1' needs a key: set OPENAI_API_KEY")
        run.lacks("was refused")

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    def test_a_folders_own_models_need_no_key_of_litellms(self, models, project, monkeypatch, workers):
        """The hook may lie in any conftest.py above the task file; pytest loads that later than the root's."""
        conftest = (project.path / "conftest.py").read_text(encoding="utf-8")
        (project.path / "conftest.py").unlink()
        project.write("mock/conftest.py", conftest)
        models.run(*workers).outcomes(passed=1)

    def test_a_hook_that_gives_none_leaves_it_to_litellm(self, bare, models, monkeypatch):
        models.script("""
            def make(role, llm, llm_args):
                return Fake(role) if role == "user" else None
        """)
        with ModelServer(play) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            models.run("--tau-agent-llm", "openai/a").outcomes(passed=1)
        assert len(server.requests) == 2


class TestOverHTTP:
    def test_it_works(self, served):
        run = served()
        run.outcomes(passed=1)
        run.line("tau: models together: 4 calls", "cost unknown")
        assert len(run.requests) == 4

    def test_a_wrong_key_is_an_error_at_once_and_not_shown(self, served, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        run = served(api_key="sk-another", script=play)
        run.outcomes(errors=1)
        run.line("ModelError", "OPENAI_API_KEY")
        run.lacks(KEY)
        assert len(run.requests) == 1

    def test_the_models_context_window_fails_the_agent(self, served):
        def script(request):
            return ContextWindowExceeded() if request["model"] == "a" else play(request)

        run = served(script=script)
        run.outcomes(failed=1)
        run.line("ended by context_window_exceeded")

    def test_the_users_context_window_is_an_error(self, served):
        def script(request):
            return ContextWindowExceeded() if request["model"] == "u" else play(request)

        served(script=script).outcomes(errors=1)

    def test_a_server_that_never_answers(self, served):
        args = json.dumps({"num_retries": 1})
        run = served("--tau-llm-timeout", "0.1", "--tau-user-llm-args", args, script=lambda _request: Stall())
        run.outcomes(errors=1)
        run.line("ModelError", "0.1 s", "2 attempts")

    @pytest.mark.exhaustive
    def test_a_conversation_that_takes_too_long_cancels_the_call_and_keeps_what_was_said(self, served, models):
        def script(request):
            return Stall() if request["model"] == "a" and request["messages"][-1]["role"] == "tool" else play(request)

        run = served("--tau-timeout", "4", "--tau-user", "gold", script=script)
        run.outcomes(failed=1)
        run.line("cut off: out of time")
        (entry,) = [json.loads(line) for line in models.kept()[0].read_text(encoding="utf-8").splitlines()]
        assert entry["termination_reason"] == "timeout"
        assert [message["role"] for message in entry["messages"]] == ["assistant", "user", "assistant", "tool"]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("side", ["agent", "user"])
    @pytest.mark.parametrize("fault", [RateLimited(retry_after=30), ServerError(), TruncatedJSON()])
    def test_a_provider_that_fails_until_the_time_is_over_is_an_error_and_no_failure(self, served, models, side, fault):
        def script(request):
            return fault if request["model"] == side[0] else play(request)

        run = served("--tau-timeout", "1", script=script)
        run.outcomes(errors=1)
        run.line("infrastructure_error: no end after 1 s (waited ", "of it in retries of model calls)")
        (entry,) = [json.loads(line) for line in models.kept()[0].read_text(encoding="utf-8").splitlines()]
        assert entry["termination_reason"] == "infrastructure_error"

    @pytest.mark.exhaustive
    def test_an_agent_that_is_slow_is_not_excused_by_a_retry(self, served):
        faults = iter([ServerError()])

        def script(request):
            if request["model"] == "a" and request["messages"][-1]["role"] == "tool":
                return Stall()
            return next(faults, None) or play(request)

        run = served("--tau-timeout", "3", "--tau-user", "gold", script=script)
        run.outcomes(failed=1)
        run.line("cut off: out of time")

    def test_no_server_at_the_address(self, bare):
        args = json.dumps({"api_base": "http://127.0.0.1:9/v1", "num_retries": 0})
        run = bare.run("--tau-agent-llm", "openai/a", "--tau-user", "gold", "--tau-agent-llm-args", args)
        run.outcomes(errors=1)
        run.line("ModelError: openai/a: the server failed or cannot be reached")
        run.line("reported: ", "127.0.0.1")

    def test_calls_under_way_are_bounded(self, bare, monkeypatch):
        most, now, lock = 0, 0, threading.Lock()

        def script(request):
            nonlocal most, now
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1
            return "Done."

        bare.write(
            "own.py",
            """
            import asyncio

            class Own:
                def __init__(self, model):
                    self.model = model

                async def respond(self, message):
                    said = [[{"role": "user", "content": f"{n}"}] for n in range(12)]
                    await asyncio.gather(*(self.model.complete(one) for one in said))
                    return "Done."
            """,
        )
        with ModelServer(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            args = ["--tau-agent", "own.py:Own", "--tau-agent-llm", "openai/a", "--tau-user", "gold"]
            bare.run(*args, "--tau-llm-concurrency", "3")
        assert len(server.requests) == 12
        assert most == 3

    def replay_without_the_extra(self, project, *args):
        """In a process of its own that cannot import what model calls need."""
        blocked = ("litellm", "openai", "tiktoken", "tenacity", "httpx", "aiohttp")
        project.write("conftest.py", f"import sys\nfor name in {blocked}:\n    sys.modules[name] = None\n")
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
        command = [sys.executable, "-m", "pytest", "-p", "tau", *args, "--tau-replay"]
        done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
        assert "1 passed" in done.stdout, done.stdout + done.stderr

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("kind", ["async", "sync"])
    def test_an_agent_that_calls_litellm_through_us_is_recorded_and_replayed(self, bare, models, monkeypatch, kind):
        if kind == "async":
            call, define = "await acompletion", "async def"
        else:
            call, define = "completion", "def"
        bare.write(
            "own.py",
            f"""
            from pytest_tau.integrations.litellm import acompletion, completion

            class Own:
                def __init__(self, tools, policy):
                    self.tools = [tool.openai_schema for tool in tools]
                    self.messages = [{{"role": "system", "content": policy}}]

                {define} respond(self, message):
                    if message.role == "tool":
                        self.messages.append({{"role": "tool", "tool_call_id": message.id, "content": message.content}})
                    else:
                        self.messages.append({{"role": "user", "content": message.content}})
                    answer = {call}(model="openai/mine", messages=self.messages, tools=self.tools, api_key="{KEY}")
                    self.messages.append(answer.choices[0].message)
                    return answer.choices[0].message.model_dump()
            """,
        )
        args = ["--tau-agent", "own.py:Own", "--tau-user-llm", "openai/u"]
        with ModelServer(play) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            run = bare.run(*args, "--tau-record")
            run.outcomes(passed=1)
            run.line("tau: agent openai/mine: 2 calls")
        assert len(server.requests) == 4
        bare.run(*args, "--tau-replay").outcomes(passed=1)
        self.replay_without_the_extra(bare, *args)
        first, second, third = models.kept()
        assert first.read_bytes() == third.read_bytes()
        assert first.read_bytes() == second.read_bytes()
        assert KEY not in (bare.path / models.cassettes()[0]).read_text(encoding="utf-8")

    def test_missing_key_of_the_agents_own_calls_is_reported(self, bare):
        """What an agent calls by itself is not known before; and without a key no call will ever succeed."""
        bare.write(
            "own.py",
            """
            from pytest_tau.integrations.litellm import acompletion

            async def own(messages, tools):
                answer = await acompletion(model="openai/gpt-4.1", messages=messages, num_retries=1)
                return answer.choices[0].message.content
            """,
        )
        run = bare.run("--tau-agent", "own.py:own", "--tau-user", "gold")
        run.outcomes(errors=1)
        run.line("ModelError: openai/gpt-4.1: a call without a key (OPENAI_API_KEY not set)")
        run.lacks("attempts")

    @pytest.mark.parametrize("more", [[], ["-l"], ["--tb=long", "-vv", "-l"]])
    def test_a_key_is_in_no_traceback_of_a_test_whose_call_fails(self, bare, monkeypatch, more):
        bare.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_model):
                tau_model.complete_sync([{"role": "user", "content": "Hello"}])
            """,
        )
        with ModelServer(lambda _request: Unauthorized()) as server:
            args = json.dumps({"api_base": server.base_url, "api_key": KEY})
            run = bare.run(
                "test_own.py", "--tau-agent-llm", "openai/a", "--tau-user", "gold", "--tau-agent-llm-args", args, *more
            )
        run.outcomes(failed=1)
        run.line("openai/a: the key in the model's arguments was refused")
        run.lacks(KEY)


class TestEndpoint:
    """The agent under test behind a URL."""

    def endpoint(self, bare, script, *args, **server):
        with ModelServer(script, **server) as running:
            found = bare.run("--tau-agent", running.base_url, "--tau-user", "gold", *args)
        found.requests = running.requests
        return found

    def test_works_without_a_key(self, bare):
        run = self.endpoint(bare, play)
        run.outcomes(passed=1)
        run.line("agent http://127.0.0.1:", "user gold")
        system = run.requests[0]["messages"][0]
        assert system["content"].startswith("# Agent policy: task lists")
        assert "create_task" in [tool["function"]["name"] for tool in run.requests[0]["tools"]]

    def test_a_server_that_fails_counts_against_the_agent(self, bare):
        args = json.dumps({"num_retries": 0})
        run = self.endpoint(
            bare, lambda _request: ServerError(), "--tau-agent-llm", "mine", "--tau-agent-llm-args", args
        )
        run.outcomes(failed=1)
        run.line("the agent's server failed: openai/mine: the server failed")

    def test_its_model_can_be_named(self, bare):
        run = self.endpoint(bare, play, "--tau-agent-llm", "mine")
        run.outcomes(passed=1)
        assert run.requests[0]["model"] == "mine"

    def test_its_model_may_have_a_slash_as_self_hosted_ones_do(self, bare):
        run = self.endpoint(bare, play, "--tau-agent-llm", "meta-llama/Llama-3.1-8B")
        run.outcomes(passed=1)
        assert run.requests[0]["model"] == "meta-llama/Llama-3.1-8B"

    def test_its_arguments_apply_without_a_model_name(self, bare):
        run = self.endpoint(bare, play, "--tau-agent-llm-args", json.dumps({"api_key": KEY, "top_p": 0.5}), api_key=KEY)
        run.outcomes(passed=1)
        assert run.requests[0]["top_p"] == 0.5
        run.lacks(KEY)

    def test_a_wrong_key_is_no_failure_of_the_agent(self, bare):
        run = self.endpoint(bare, play, api_key="sk-another-secret")
        run.outcomes(errors=1)

    def test_it_is_recorded_and_replayed_on_another_port(self, bare, models):
        first = self.endpoint(bare, play, "--tau-record")
        first.outcomes(passed=1)
        run = self.endpoint(bare, play, "--tau-replay")
        run.outcomes(passed=1)
        assert run.requests == []

    def test_a_model_plays_the_user(self, bare, models, monkeypatch):
        with ModelServer(play) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            run = bare.run("--tau-agent", server.base_url, "--tau-user-llm", "openai/u")
        run.outcomes(passed=1)
        run.line("user llm (openai/u)")

    def test_the_scripted_user_talks_to_it_unless_another_is_named(self, bare):
        bare.run("--tau-agent", "http://127.0.0.1:9/v1", "--collect-only").line("agent http", "user scripted")


class TestFaults:
    @pytest.mark.parametrize(
        "kind",
        [
            "rate_limit",
            "unavailable",
            "timeout",
            "bad_answer",
            "overloaded",
            "authentication",
            "unknown_model",
            "refused",
            "bad_request",
            "quota",
        ],
    )
    def test_a_fault_of_a_model_is_an_error_that_says_what(self, models, kind):
        side = "user" if kind in ("unavailable", "refused") else "agent"
        models.script(f"""
            def answer(role, request):
                if role == {side!r} and len(request.messages) > 2:
                    raise ModelError("model x: this went wrong", kind={kind!r})
                return reference(role, request)
        """)
        run = models.run()
        run.outcomes(errors=1)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("ModelError: model x: this went wrong")
        run.line("tau: mock: 1 task, 1 trial; 1 error; no rate; errors are excluded")
        run.lacks("Traceback")

    def test_error_is_not_shown_as_reward_0(self, models):
        models.script("""
            def answer(role, request):
                raise ModelError("model x: this went wrong")
        """)
        run = models.run()
        run.outcomes(errors=1)
        run.lacks("reward 0")
        run.lacks("only a stop can earn more than 0")

    @pytest.mark.parametrize("side", ["agent", "user"])
    @pytest.mark.parametrize("fault", ["raise RuntimeError('a bug in the model')", "return None", "return 3"])
    def test_a_model_that_breaks_otherwise_is_no_failure_of_the_agent(self, models, side, fault):
        """Our agent only passes on what a plugin's model does."""
        models.script(f"""
            def answer(role, request):
                if role == {side!r}:
                    {fault}
                return reference(role, request)
        """)
        models.run().outcomes(errors=1)

    def test_more_than_the_agents_model_can_read_fails_the_agent(self, models):
        models.script("""
            def answer(role, request):
                if role == "agent":
                    raise ContextWindowError("model x: 200,000 tokens are too many")
                return reference(role, request)
        """)
        run = models.run()
        run.outcomes(failed=1)
        run.line("200,000 tokens are too many")

    def test_more_than_the_users_model_can_read_is_an_error(self, models):
        models.script("""
            def answer(role, request):
                if role == "user":
                    raise ContextWindowError("model x: 200,000 tokens are too many")
                return reference(role, request)
        """)
        models.run().outcomes(errors=1)

    def test_a_model_that_calls_one_tool_for_ever_is_cut_off(self, models):
        models.script("""
            def answer(role, request):
                return called("get_users") if role == "agent" else reference(role, request)
        """)
        run = models.run("--tau-max-steps", "20")
        run.outcomes(failed=1)
        run.line("cut off: too many steps")
        assert models.calls().count("agent") in range(9, 12)

    def test_a_model_that_calls_an_unknown_tool_for_ever_is_cut_off(self, models):
        models.script("""
            def answer(role, request):
                return called("get_everything") if role == "agent" else reference(role, request)
        """)
        run = models.run()
        run.outcomes(failed=1)
        run.line("cut off: too many failed calls")
        run.line("tau: agent fake/agent: 10 calls", "10 calls to unknown tools")


class TestToolCalls:
    @pytest.mark.parametrize("text", ['{"user_id": ', "[1]", '"x"', "3"])
    def test_arguments_that_are_no_object_are_answered_and_counted(self, models, text):
        models.script(f"""
            def answer(role, request):
                if role == "user":
                    return reference(role, request)
                results = [m["content"] for m in request.messages if m["role"] == "tool"]
                if not results:
                    made = called("create_task")
                    made["tool_calls"][0]["function"]["arguments"] = {text!r}
                    return made
                if len(results) == 1:
                    assert results[0].startswith("Error"), results
                    return called("create_task", user_id="user_1", title="Buy milk")
                return "Done."
        """)
        run = models.run()
        run.outcomes(passed=1)
        run.line("tau: agent fake/agent: 3 calls", "1 malformed tool call")

    def test_an_unknown_tool_is_answered_and_counted(self, models):
        models.script("""
            def answer(role, request):
                results = [m["content"] for m in request.messages if m["role"] == "tool"]
                if role == "agent" and not results:
                    return called("create_tasks", user_id="user_1", title="Buy milk")
                if role == "agent" and len(results) == 1:
                    assert "create_tasks" in results[0], results
                    return called("create_task", user_id="user_1", title="Buy milk")
                return reference(role, request)
        """)
        run = models.run()
        run.outcomes(passed=1)
        run.line("tau: agent fake/agent: 3 calls", "to unknown tools")

    def test_one_call_is_no_plural(self, models):
        models.script("""
            def answer(role, request):
                if role == "agent" and request.messages[-1]["role"] != "tool":
                    return called("create_tasks")
                return reference(role, request)
        """)
        models.run().line("1 call to ")

    def test_text_next_to_calls_is_kept_and_not_delivered(self, models):
        models.script("""
            def answer(role, request):
                if role == "user":
                    assert all("One moment" not in (m["content"] or "") for m in request.messages)
                    return reference(role, request)
                made = reference(role, request)
                return made if isinstance(made, str) else {**made, "content": "One moment, Done."}
        """)
        models.run().outcomes(passed=1)
        entry = json.loads(models.kept()[0].read_text(encoding="utf-8"))
        assert entry["messages"][2]["content"] == "One moment, Done."
        assert entry["messages"][2]["tool_calls"][0]["name"] == "create_task"

    def test_several_calls_run_in_order_and_are_answered_together(self, models):
        models.script("""
            def answer(role, request):
                results = [m for m in request.messages if m["role"] == "tool"]
                if role == "agent" and not results:
                    first = called("get_users")["tool_calls"][0] | {"id": "a"}
                    second = called("create_task", user_id="user_1", title="Buy milk")["tool_calls"][0] | {"id": "b"}
                    return {"content": None, "tool_calls": [first, second]}
                if role == "agent":
                    assert [result["tool_call_id"] for result in results] == ["a", "b"]
                return reference(role, request)
        """)
        models.run().outcomes(passed=1)

    def test_an_empty_message_of_the_agent_fails_it(self, models):
        models.script("""
            def answer(role, request):
                return reference(role, request) if role == "user" else ""
        """)
        run = models.run()
        run.outcomes(failed=1)
        run.line("fake/agent sent an empty reply")
        assert models.calls() == ["agent", "user"]

    def test_empty_message_of_the_user_is_requested_again(self, models):
        models.script("""
            asked = [0]

            def answer(role, request):
                if role == "user":
                    asked[0] += 1
                    return reference(role, request) if asked[0] % 3 == 0 else ""
                return reference(role, request)
        """)
        models.run().outcomes(passed=1)
        assert models.calls().count("user") == 6

    def test_a_user_that_stays_silent_is_an_error(self, models):
        models.script("""
            def answer(role, request):
                return "" if role == "user" else reference(role, request)
        """)
        run = models.run()
        run.outcomes(errors=1)
        run.line("fake/user sent an empty reply", "3 times")
        assert models.calls() == ["user"] * 3


#: Where the scripts below put what is to happen.
HERE = """
import os
import signal

done = [0]


async def answer(role, request):
    if role == "user" and "Done" in request.messages[-1]["content"]:
        done[0] += 1
    if role == "agent" and done[0] == 1:
        FAULT
    return reference(role, request)
"""
#: A Ctrl-C while a call is running.
CONTROL_C = "os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(60)"


class TestInterruptions:
    @pytest.fixture
    def three(self, models, project, a_task):
        """Three tasks, one after the other; what the second one meets is to be said."""

        def script(fault):
            project.tasks("mock/t.tau.json", [a_task(name) for name in ("one", "two", "three")])
            models.script(HERE.replace("FAULT", fault))
            return models

        return script

    def entries(self, models):
        """The tasks whose trials were finished, and those whose trials were interrupted."""
        lines = [json.loads(line) for file in models.kept() for line in file.read_text().splitlines()]
        interrupted = [line["task_id"] for line in lines if (line.get("error") or "").startswith("interrupted by ")]
        return [line["task_id"] for line in lines if line["task_id"] not in interrupted], interrupted

    def test_stopping_at_the_first_failure_keeps_what_was_finished(self, three):
        models = three("return 'Hm, Done.'")
        run = models.run("-x", "--tau-record", "--tau-concurrency=1")
        run.outcomes(passed=1, failed=1)
        assert self.entries(models) == (["one", "two"], [])
        assert len(models.cassettes()) == 2
        run.line("tau: models together: 7 calls")

    def test_control_c_keeps_what_was_finished(self, three):
        models = three(CONTROL_C)
        run = models.interrupted("--tau-record", "--tau-concurrency=1")
        assert run.ret == pytest.ExitCode.INTERRUPTED
        assert self.entries(models) == (["one"], ["two"])
        assert models.cassettes() == [
            "mock/cassettes/t.tau/one.trial-0.cassette",
            "mock/cassettes/t.tau/two.trial-0.cassette.part",
        ]
        run.line("tau: mock: 1 task, 1 trial; 1 passed")
        run.line("tau: simulations stored in")
        for word in ("Task was destroyed", "never awaited", "INTERNALERROR"):
            run.lacks(word)

    def test_control_c_while_several_are_under_way_keeps_what_was_finished(self, models, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"task-{number}") for number in range(6)])
        models.script("""
            import os
            import signal

            done = [0]

            async def answer(role, request):
                if role == "user" and "Done" in request.messages[-1]["content"]:
                    done[0] += 1
                    if done[0] == 3:
                        await asyncio.sleep(0.2)
                        os.kill(os.getpid(), signal.SIGINT)
                    if done[0] >= 3:
                        await asyncio.sleep(60)
                return reference(role, request)
        """)
        run = models.interrupted("--tau-record", "--tau-concurrency=6")
        assert run.ret == pytest.ExitCode.INTERRUPTED
        assert [len(tasks) for tasks in self.entries(models)] == [2, 4]
        whole = [name for name in models.cassettes() if name.endswith(".cassette")]
        assert len(whole) == 2
        assert len(models.cassettes()) == 6
        models.calls()
        models.script()
        models.run("--tau-record").outcomes(passed=6)
        assert len(models.calls()) == 4  # one of each that was running
        models.run("--tau-replay").outcomes(passed=6)

    def test_control_c_in_code_that_blocks(self, three, project):
        models = three(CONTROL_C)
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, model, tools):
                    self.model, self.tools = model, [tool.openai_schema for tool in tools]

                def respond(self, message):
                    role = "tool" if message.role == "tool" else "user"
                    return self.model.complete_sync([{"role": role, "content": message.content}], self.tools).message
            """,
        )
        run = models.interrupted("--tau-agent", "own.py:Own", "--tau-concurrency=1")
        assert run.ret == pytest.ExitCode.INTERRUPTED
        assert self.entries(models) == (["one"], ["two"])

    def test_after_control_c_the_recording_goes_on(self, three, models):
        three(CONTROL_C).interrupted("--tau-record", "--tau-concurrency=1")
        models.calls()
        models.script()
        run = models.run("--tau-record")
        run.outcomes(passed=3)
        assert models.calls() == ["agent", "agent", "agent", "agent", "user", "user", "user"]
        run.line("(1 of 3 trials replayed")

    @pytest.mark.parametrize("concurrency", ["1", "8"])
    def test_an_interruption_raised_in_a_call_does_not_hang(self, three, concurrency):
        models = three("raise KeyboardInterrupt")
        run = models.interrupted("--tau-record", f"--tau-concurrency={concurrency}")
        assert run.ret != pytest.ExitCode.INTERNAL_ERROR
        run.lacks("INTERNALERROR")
