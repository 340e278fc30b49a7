"""The options of models: what they do, what they refuse, and that they never show a key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

#: An agent of one's own that asks its model, and passes on what that says.
OWN = """
class Own:
    def __init__(self, model, tools, policy):
        self.model, self.tools = model, [tool.openai_schema for tool in tools]
        self.messages = [{"role": "system", "content": policy}]

    async def respond(self, message):
        role = "tool" if message.role == "tool" else "user"
        self.messages.append({"role": role, "content": message.content})
        reply = await self.model.complete(self.messages, self.tools)
        self.messages.append(reply.message)
        return reply.message
"""


def of(role, models):
    """The calls of a role."""
    return [call for call in models.asked if call["role"] == role]


class TestNamesAndArguments:
    def test_both_models_play_and_are_accounted_for(self, models):
        run = models.run()
        run.outcomes(passed=1)
        run.line("tau: seed 300, bundled data, agent llm (fake/agent), user llm (fake/user)")
        run.line("tau: agent fake/agent: 2 calls, 2,000 tokens sent, 40 received, $0.5000")
        run.line("tau: user fake/user: 2 calls, 2,000 tokens sent, 40 received, $0.5000")
        run.line("tau: models together: 4 calls, 4,000 tokens sent, 80 received, $1.0000")
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_each_call_has_the_model_the_temperature_0_and_the_trials_seed(self, models):
        models.run("--tau-trials", "2").outcomes(passed=2)
        assert {call["model"] for call in of("agent", models)} == {"fake/agent"}
        assert {call["model"] for call in of("user", models)} == {"fake/user"}
        assert [call["args"] for call in of("agent", models)] == [
            *[{"temperature": 0.0, "seed": 626729}] * 2,
            *[{"temperature": 0.0, "seed": 373753}] * 2,
        ]

    def test_arguments_are_added_to_the_default_ones_and_null_removes_one(self, models):
        args = ["--tau-agent-llm-args", '{"max_tokens": 9}', "--tau-user-llm-args", '{"temperature": null}']
        models.run(*args).outcomes(passed=1)
        assert of("agent", models)[0]["args"] == {"max_tokens": 9, "temperature": 0.0, "seed": 626729}
        assert of("user", models)[0]["args"] == {"seed": 626729}

    def test_a_seed_among_the_arguments_wins(self, models):
        models.run("--tau-agent-llm-args", '{"seed": 1}', "--tau-seed", "5").outcomes(passed=1)
        assert of("agent", models)[0]["args"] == {"temperature": 0.0, "seed": 1}
        assert of("user", models)[0]["args"]["seed"] not in (1, 626729)

    def test_everything_can_be_said_in_the_ini(self, project, models):
        project.ini(
            "tau_agent_llm = fake/a",
            'tau_agent_llm_args = {"top_p": 0.5}',
            "tau_user_llm = fake/u",
            'tau_user_llm_args = {"top_p": 0.25}',
            "tau_judge_llm = fake/j",
            "tau_budget = 3.5",
            "tau_results = kept",
            "tau_llm_timeout = 5",
            "tau_llm_concurrency = 2",
        )
        run = project.run()
        run.outcomes(passed=1)
        run.line("agent llm (fake/a), user llm (fake/u), judge fake/j")
        run.line("tau: budget: $3.5")
        run.line("tau: simulations stored in kept/")
        assert of("agent", models)[0]["args"]["top_p"] == 0.5
        assert of("user", models)[0]["args"]["top_p"] == 0.25

    def test_the_command_line_beats_the_ini(self, project, models):
        project.ini("tau_agent_llm = fake/a", 'tau_agent_llm_args = {"top_p": 0.5}', "tau_user_llm = fake/u")
        run = project.run("--tau-agent-llm", "fake/b", "--tau-agent-llm-args", '{"top_p": 1}')
        run.outcomes(passed=1)
        run.line("agent llm (fake/b), user llm (fake/u)")
        assert (of("agent", models)[0]["model"], of("agent", models)[0]["args"]["top_p"]) == ("fake/b", 1)


class TestWhoPlays:
    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_agent_llm_without_a_user_talks_to_the_scripted_user(self, project, models, workers):
        run = project.run("--tau-agent-llm", "fake/agent", *workers)
        run.outcomes(passed=1)
        run.line("agent llm (fake/agent), user scripted")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_agent_llm_without_a_user_for_a_task_without_a_request(self, project, models, a_task, workers):
        project.tasks("mock/t.tau.json", [a_task(user_scenario={"instructions": ""})])
        run = project.run("--tau-agent-llm", "fake/agent", *workers)
        run.usage_error("the scripted user cannot play 1 task", "'buy-milk'", "--tau-user-llm MODEL", "script")
        assert not models.asked

    def test_gold_user_can_be_selected(self, project, models):
        run = project.run("--tau-agent-llm", "fake/agent", "--tau-user", "gold")
        run.outcomes(passed=1)
        run.line("agent llm (fake/agent), user gold")
        assert models.calls() == ["agent", "agent"]

    @pytest.mark.parametrize("agent", ["llm", "llm-solo", "llm-gt", "llm-gt-noargs"])
    def test_an_agent_that_is_a_model_needs_one(self, project, models, agent):
        run = project.run("--tau-agent", agent)
        run.usage_error(f"agent '{agent}' needs a model: add --tau-agent-llm MODEL")

    def test_a_user_that_is_a_model_needs_one(self, project, models):
        project.run("--tau-user", "llm").usage_error("user 'llm' needs a model: add --tau-user-llm MODEL")

    @pytest.mark.parametrize("agent", ["gold", "noop"])
    def test_agents_without_a_model_call_none_whatever_the_ini_names(self, project, models, agent):
        project.ini("tau_agent_llm = fake/a", "tau_user_llm = fake/u", "tau_judge_llm = fake/j")
        run = project.run("--tau-agent", agent)
        run.outcomes(**({"passed": 1} if agent == "gold" else {"failed": 1}))
        run.line(f"agent {agent}, user {'gold' if agent == 'gold' else 'scripted'}")
        run.lacks("fake/a")
        assert not models.asked

    def test_a_recording_of_ours_calls_no_model_either(self, project, models):
        project.ini("tau_agent_llm = fake/a", "tau_user_llm = fake/u")
        project.run().outcomes(passed=1)
        models.calls()
        simulation = json.loads(models.kept()[0].read_text(encoding="utf-8"))
        project.write("rec.json", json.dumps(simulation))
        project.run("--tau-agent", "replay:rec.json").outcomes(passed=1)
        assert not models.asked

    def test_alone_the_model_needs_no_user(self, project, models, a_task):
        project.tasks("mock/t.tau.json", [a_task(ticket="Put 'Buy milk' on the list of user_1.")])
        models.script("""
            def answer(role, request):
                made = any(message["role"] == "tool" for message in request.messages)
                return called("done") if made else called("create_task", user_id="user_1", title="Buy milk")
        """)
        run = project.run("--tau-agent", "llm-solo", "--tau-agent-llm", "fake/agent")
        run.outcomes(passed=1)
        run.line("agent llm-solo (fake/agent), user dummy, solo")
        assert models.calls() == ["agent", "agent"]

    @pytest.mark.parametrize(("agent", "shown"), [("llm-gt", True), ("llm-gt-noargs", False)])
    def test_a_model_can_be_given_the_steps(self, models, agent, shown):
        models.run("--tau-agent", agent).outcomes(passed=1)
        system = of("agent", models)[0]["said"][0]["content"]
        assert "create_task" in system
        assert ("Buy milk" in system) is shown

    def test_an_agent_of_ones_own_asks_its_model(self, project, models):
        project.write("own.py", OWN)
        run = models.run("--tau-agent", "own.py:Own")
        run.outcomes(passed=1)
        run.line("tau: agent fake/agent: 2 calls")
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_agent_of_ones_own_receives_its_model(self, project, models):
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, model, llm, llm_args):
                    print("given:", model.name, llm, llm_args == model.args, llm_args)

                def respond(self, message):
                    return "Done."
            """,
        )
        run = models.run("--tau-agent", "own.py:Own", "--tau-agent-llm-args", '{"top_p": 1}', "-s")
        run.outcomes(failed=1)
        run.line("given: fake/agent fake/agent True {'seed': 626729, 'temperature': 0.0, 'top_p': 1}")

    @pytest.mark.parametrize("side", ["agent", "user"])
    @pytest.mark.parametrize("form", ["class Own:\n def __init__(self, model): ...\n", "def Own(model):\n"])
    def test_a_participant_that_needs_a_model_is_refused_without_one(self, project, models, side, form):
        project.write("own.py", f"{form} def respond(self, message): ...\n")
        agent = ["--tau-agent", "gold"] if side == "user" else []
        run = project.run(*agent, f"--tau-{side}", "own.py:Own")
        run.usage_error(f"{side} own.py:Own needs a model, by its parameter 'model': add --tau-{side}-llm MODEL")

    def test_an_agent_from_a_fixture_that_needs_a_model_is_an_error_of_the_run(self, project, models):
        project.write(
            "conftest.py",
            """
            import pytest

            class Own:
                def __init__(self, model): ...
                def respond(self, message): ...

            @pytest.fixture
            def tau_agent():
                return Own
            """,
        )
        run = project.run("--tau-agent", "noop")
        run.outcomes(errors=1)
        run.line("MissingModelError: agent Own needs a model, by its parameter 'model': add --tau-agent-llm MODEL")
        run.line("neither side failed: the run has no model for the agent")

    def test_without_a_model_an_agent_of_ones_own_gets_none(self, project, models):
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, llm, llm_args, model=None):
                    print("given:", model, llm, llm_args)

                def respond(self, message):
                    return "Done."
            """,
        )
        project.run("--tau-agent", "own.py:Own", "-s").line("given: None None None")

    def test_code_that_blocks_asks_too(self, project, models):
        project.write(
            "own.py", OWN.replace("async def", "def").replace("await self.model.complete", "self.model.complete_sync")
        )
        models.run("--tau-agent", "own.py:Own").outcomes(passed=1)
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_a_user_of_ones_own_asks_its_model(self, project, models):
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, model, instructions):
                    self.model, self.system = model, {"role": "system", "content": instructions}

                async def respond(self, message):
                    said = [self.system, {"role": "user", "content": message.content}]
                    return (await self.model.complete(said)).text
            """,
        )
        run = models.run("--tau-user", "own.py:Own")
        run.outcomes(passed=1)
        run.line("tau: user fake/user: 2 calls")


class TestFixture:
    """``tau_model``: the agent's model in a test of one's own."""

    @pytest.fixture
    def own(self, project, models):
        """Runs a marked test with this body."""
        models.script("""
            def answer(role, request):
                if "Are you" in (request.messages[-1]["content"] or ""):
                    return "Yes."
                return "###STOP###" if role == "user" else "Hm."
        """)

        def run(*args, arguments="tau_model", body="pass", fixtures=""):
            project.write(
                "test_own.py",
                f"""
import pytest

HELLO = [{{"role": "user", "content": "Are you there?"}}]
{textwrap.dedent(fixtures)}

@pytest.mark.tau(domain="mock", tasks="create-task")
def test_own({arguments}):
{textwrap.indent(textwrap.dedent(body).strip(), "    ")}
""",
            )
            return models.run("test_own.py", *args)

        return run

    def test_is_the_agents_model(self, own, models):
        own(body='assert (tau_model.name, tau_model.args["temperature"]) == ("fake/agent", 0.0)').outcomes(passed=1)

    def test_answers(self, own, models):
        own(body='assert tau_model.complete_sync(HELLO).text == "Yes."').outcomes(passed=1)
        assert models.calls() == ["agent"]

    def test_missing_model_is_reported(self, own, project):
        own(body="pass")
        run = project.run("test_own.py")
        run.outcomes(errors=1)
        run.line("the fixture tau_model needs the agent's model: add --tau-agent-llm MODEL")
        run.lacks("Traceback")

    def test_an_agent_of_a_fixture_can_be_built_from_it(self, own, models):
        run = own(
            "--tau-record",
            arguments="tau_simulation",
            body="assert tau_simulation.messages[-1].content == 'Yes.' or True",
            fixtures="""
            class Agent:
                def __init__(self, model):
                    self.model = model

                async def respond(self, message):
                    return (await self.model.complete(HELLO)).text

            @pytest.fixture
            def tau_agent(tau_model):
                return Agent(tau_model)
            """,
        )
        run.outcomes(passed=1)
        models.calls()
        models.run("test_own.py", "--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_its_calls_are_accounted_for_with_the_trials(self, own, models):
        run = own(arguments="tau_model, tau_simulation", body="assert tau_model.complete_sync(HELLO).text == 'Yes.'")
        run.outcomes(passed=1)
        assert models.calls() == ["agent", "user"]
        run.line("tau: models together: 2 calls")

    def test_calls_after_the_simulation_are_recorded_and_replayed(self, own, models):
        args = {
            "arguments": "tau_model, tau_simulation",
            "body": "assert tau_model.complete_sync(HELLO).text == 'Yes.'",
        }
        own("--tau-record", **args).outcomes(passed=1)
        models.calls()
        own("--tau-replay", **args).outcomes(passed=1)
        assert models.calls() == []

    def test_calls_without_a_simulation_are_recorded_and_replayed(self, own, models):
        body = "assert tau_model.complete_sync(HELLO).text == 'Yes.'"
        own("--tau-record", body=body).outcomes(passed=1)
        assert models.cassettes() == ["cassettes/test_own/test_own/create-task-trial-0.cassette"]
        models.calls()
        own("--tau-replay", body=body).outcomes(passed=1)
        assert models.calls() == []

    def test_calls_without_a_simulation_cost_money(self, own, models):
        run = own(body="assert tau_model.complete_sync(HELLO).text == 'Yes.'")
        run.line("tau: agent fake/agent: 1 call", "$0.2500")


class TestHook:
    def test_an_llm_settles_name_and_arguments(self, models):
        models.script("""
            def make(role, llm, llm_args):
                return LLM(f"mine/{role}", Fake(role), {**llm_args, "top_k": 3})
        """)
        run = models.run()
        run.outcomes(passed=1)
        run.line("tau: agent mine/agent: 2 calls")
        assert of("agent", models)[0]["args"] == {"seed": 626729, "temperature": 0.0, "top_k": 3}

    def test_its_arguments_are_a_copy(self, models):
        models.script("""
            def make(role, llm, llm_args):
                llm_args["top_k"] = 3
                return Fake(role)
        """)
        models.run("--tau-trials", "2").outcomes(passed=2)
        assert all("top_k" not in call["args"] for call in models.asked)

    def test_one_that_fails_is_an_error_of_its_trial(self, models, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        project.write(
            "conftest.py",
            (project.path / "conftest.py")
            .read_text(encoding="utf-8")
            .replace(
                "return make(role", "if item.task.id == 'one':\n        raise OSError('no model')\n    return make(role"
            ),
        )
        run = models.run()
        run.outcomes(passed=1, errors=1)
        run.line("OSError: no model")

    @pytest.mark.parametrize(("made", "shown"), [("'gpt'", "'gpt'"), ("object()", "an object"), ("3", "3")])
    def test_object_that_is_not_a_model_is_reported(self, models, made, shown):
        models.script(f"""
            def make(role, llm, llm_args):
                return {made}
        """)
        run = models.run()
        run.outcomes(errors=1)
        run.line(
            f"pytest_tau_make_model (conftest.py:58): got {shown}", "for the model 'fake/agent', expected a ChatModel"
        )
        run.lacks("Traceback")


class TestPrompts:
    def test_a_prompt_takes_the_place_of_ours(self, project, models):
        project.write("prompts/agent.md", "Be brief.\n{{policy}}")
        project.write("prompts/user.md", "You are this: {{ scenario }}")
        run = models.run("--tau-agent-prompt", "prompts/agent.md", "--tau-user-prompt", "prompts/user.md")
        run.outcomes(passed=1)
        run.line("tau: agent prompt: agent.md")
        run.line("tau: user prompt: user.md")
        assert of("agent", models)[0]["said"][0]["content"].startswith("Be brief.\n# Agent policy: task lists")
        assert of("user", models)[0]["said"][0]["content"].startswith("You are this: ")
        assert "'Buy milk' put on your list" in of("user", models)[0]["said"][0]["content"]

    def test_the_path_in_the_ini_starts_at_the_ini(self, project, models, monkeypatch):
        project.write("prompts/agent.md", "Be brief.\n{{policy}}")
        project.ini("tau_agent_prompt = prompts/agent.md")
        monkeypatch.chdir(project.path / "mock")
        run = models.run()
        run.outcomes(passed=1)
        run.line("tau: agent prompt: agent.md")

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("Be brief.", ["lacks {{policy}}"]),
            ("{{polcy}} {{policy}}", ["unknown placeholder {{polcy}}", "{{policy}}"]),
            ("", ["is empty"]),
            (None, ["cannot be read: No such file"]),
        ],
    )
    def test_invalid_prompt_is_reported_at_once(self, project, models, text, parts):
        if text is not None:
            project.write("agent.md", text)
        models.run("--tau-agent-prompt", "agent.md").usage_error("--tau-agent-prompt: ", "agent.md", *parts)
        project.ini("tau_agent_prompt = agent.md")
        models.run().usage_error("tau_agent_prompt: ", "agent.md", *parts)
        assert not models.asked

    def test_official_guidelines_of_the_data_are_used_and_reported(self, project, models):
        project.write("data/domains/x/x.json", "{}")
        project.write("data/user_simulator/simulation_guidelines.md", "Guidelines {{as they are}}.")
        project.write("data/user_simulator/simulation_guidelines_tools.md", "Guidelines with tools.")
        run = models.run("--tau-data", "data")
        run.line("tau: user prompt: official guidelines")

    def test_context_budget_omits_the_oldest_messages(self, project, models):
        models.script("""
            if sys.modules["litellm"] is None:
                del sys.modules["litellm"]  # tokens are counted with a file of its

            def answer(role, request):
                if role == "user":
                    done = sum(m["role"] == "assistant" for m in request.messages) >= 6
                    return "###STOP###" if done else "Word " * 400
                return "I see. " * 100
        """)
        run = models.run("--tau-agent-context", "2000")
        run.outcomes(failed=1)
        run.line("tau: seed 300", "agent context 2000")
        sizes = [len(call["said"]) for call in of("agent", models)]
        assert sizes[0] == 3
        assert len(sizes) == 6
        assert max(sizes) < 8
        assert len(of("user", models)[-1]["said"]) > 12
        kept = json.loads(models.kept()[0].read_text(encoding="utf-8"))
        assert len(kept["messages"]) > 10

    def test_a_context_budget_that_is_too_small_is_no_failure_of_the_agent(self, models):
        models.script("""
            if sys.modules["litellm"] is None:
                del sys.modules["litellm"]  # tokens are counted with a file of its
        """)
        run = models.run("--tau-agent-context", "10")
        run.outcomes(errors=1)
        run.line("the agent's context budget is too small for any conversation", "10 tokens")
        assert not models.asked

    def test_tools_in_text(self, models):
        models.script("""
            def answer(role, request):
                assert not request.tools, request.tools
                if role == "user":
                    return reference(role, request)
                last = request.messages[-1]["content"]
                assert "create_task" in request.messages[0]["content"]
                if "task_3" in last:
                    return "Done."
                call = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
                return "<tool_call>" + json.dumps(call) + "</tool_call>"
        """)
        run = models.run("--tau-agent-tool-calls", "text", "--tau-user-tool-calls", "text")
        run.outcomes(passed=1)
        run.line("tau: seed 300", "agent tool calls text, user tool calls text")


JSON = "--tau-agent-llm-args: expected a JSON object"


class TestBadValues:
    @pytest.mark.parametrize(
        ("args", "parts"),
        [
            (["--tau-agent-llm-args", "temperature=1"], [JSON, "not valid JSON"]),
            (["--tau-agent-llm-args", "[1]"], [JSON, "got a list"]),
            (["--tau-agent-llm-args", "3"], [JSON, "got a int"]),
            (["--tau-agent-llm-args", "null"], [JSON, "NoneType"]),
            (["--tau-agent-llm-args", ""], [JSON]),
            (["--tau-user-llm-args", "{'temperature': 1}"], ["--tau-user-llm-args: expected a JSON object"]),
            (["--tau-judge-llm-args", "{"], ["--tau-judge-llm-args: expected a JSON object"]),
            (["--tau-agent-llm-args", '{"model": "x"}'], ["--tau-agent-llm-args: 'model' cannot be set here"]),
            (["--tau-agent-llm-args", '{"messages": []}'], ["'messages' cannot be set here"]),
            (["--tau-agent-llm-args", '{"stream": true}'], ["'stream' cannot be set here"]),
            (["--tau-agent-tool-calls", "texts"], ["--tau-agent-tool-calls: expected native or text, got 'texts'"]),
            (["--tau-user-tool-calls", "TEXT"], ["--tau-user-tool-calls: expected native or text, got 'TEXT'"]),
            (["--tau-agent-context", "0"], ["--tau-agent-context: expected a whole number of at least 1, got '0'"]),
            (["--tau-agent-context", "8k"], ["--tau-agent-context: expected a whole number of at least 1, got '8k'"]),
            (["--tau-llm-timeout", "0"], ["--tau-llm-timeout: expected a number", "got '0'"]),
            (["--tau-llm-timeout", "-1"], ["--tau-llm-timeout: expected a number", "got '-1'"]),
            (["--tau-llm-timeout", "soon"], ["--tau-llm-timeout: expected a number", "got 'soon'"]),
            (["--tau-llm-timeout", "nan"], ["--tau-llm-timeout: expected a number", "got 'nan'"]),
            (["--tau-llm-concurrency", "0"], ["--tau-llm-concurrency: expected a whole number of at least 1"]),
            (["--tau-llm-concurrency", "1.5"], ["--tau-llm-concurrency: expected a whole number of at least 1"]),
            (["--tau-budget", "-1"], ["--tau-budget: expected a number of at least 0, got '-1'"]),
            (["--tau-budget", "$5"], ["--tau-budget: expected a number of at least 0, got '$5'"]),
            (["--tau-budget", "nan"], ["--tau-budget: expected a number of at least 0, got 'nan'"]),
            (["--tau-record=everything"], ["--tau-record: expected missing or all, got 'everything'"]),
            (["--tau-record", "--tau-replay"], ["--tau-record and --tau-replay: expected one of them"]),
            (["--tau-judge", "llm"], ["judge 'llm' needs a model: add --tau-judge-llm MODEL"]),
        ],
    )
    def test_is_a_usage_error_that_says_what_would_be_right(self, models, args, parts):
        models.run(*args).usage_error(*parts)
        assert not models.asked

    @pytest.mark.parametrize(
        ("line", "parts"),
        [
            ("tau_agent_llm_args = temperature=1", ["tau_agent_llm_args: expected a JSON object"]),
            ("tau_user_tool_calls = xml", ["tau_user_tool_calls: expected native or text, got 'xml'"]),
            ("tau_agent_context = none", ["tau_agent_context: expected a whole number"]),
            ("tau_llm_timeout = 0", ["tau_llm_timeout: expected a number"]),
            ("tau_llm_concurrency = many", ["tau_llm_concurrency: expected a whole number"]),
            ("tau_record = yes", ["tau_record: expected missing or all, got 'yes'"]),
            ("tau_budget = little", ["tau_budget: expected a number"]),
        ],
    )
    def test_in_the_ini_the_key_is_named(self, project, models, line, parts):
        project.ini(line)
        models.run().usage_error(*parts)

    def test_both_of_record_and_replay_in_the_ini(self, project, models):
        project.ini("tau_record = all", "tau_replay = true")
        models.run().usage_error("tau_record and tau_replay: expected one of them")

    def test_path_after_a_bare_record_is_explained(self, project, models):
        project.run(*models.options, "--tau-record", "mock").usage_error("--tau-record", "got 'mock'", "--tau-record=")

    def test_an_empty_name_of_a_model(self, project, models):
        project.run("--tau-agent-llm", "", "--tau-user-llm", "fake/u").usage_error("--tau-agent-llm")


class TestResults:
    def test_simulations_are_kept_below_the_root_directory(self, models, project):
        run = models.run("--tau-trials", "2")
        (file,) = models.kept()
        run.line(f"tau: simulations stored in .tau/runs/{file.parent.name}")
        assert file.parent.name.endswith("-run")
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [(entry["domain"], entry["task_id"], entry["trial"]) for entry in entries] == [
            ("mock", "buy-milk", 0),
            ("mock", "buy-milk", 1),
        ]
        assert entries[0]["model_usage"]["agent"]["calls"] == 2
        assert (entries[0]["agent_cost"], entries[0]["user_cost"]) == (0.5, 0.5)
        assert (project.path / ".tau/.gitignore").read_text(encoding="utf-8") == "*\n"

    def test_each_run_has_a_folder_of_its_own(self, models):
        for _ in range(3):
            models.run().outcomes(passed=1)
        assert len({file.parent for file in models.kept()}) == 3

    def test_elsewhere(self, models, project):
        run = models.run("--tau-results", "there/runs")
        (file,) = project.path.glob("there/runs/*/simulations.jsonl")
        run.line(f"tau: simulations stored in there/runs/{file.parent.name}")
        assert not (project.path / ".tau").exists()

    def test_nowhere(self, models, project):
        run = models.run("--tau-results", "none")
        run.outcomes(passed=1)
        run.lacks("simulations stored")
        assert not (project.path / ".tau").exists()
        assert not (project.path / "none").exists()

    def test_unwritable_place_is_reported_and_no_verdict_is_lost(self, models, project):
        project.write("there", "a file")
        run = models.run("--tau-results", "there")
        run.outcomes(passed=1)
        run.line("tau: simulations cannot be stored in", "there/", "Not a directory")
        run.lacks("simulations stored in")
        run.line("they are in", "tau-simulations-", "which tau merge can join")
        run.line("tau: the run failed: 1 simulation could not be stored in the folder of the run")
        assert run.ret == pytest.ExitCode.TESTS_FAILED

    def test_the_domain_is_in_the_folders_name(self, models, project):
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Done."
        """)
        models.run("--tau-domain", "mock", "--tau-num-tasks", "1")
        assert models.kept()[0].parent.name.endswith("-mock")


KEY = "sk-very-secret-0123456789"
KEYED = json.dumps(
    {"api_key": KEY, "extra_headers": {"X-Own": f"Bearer {KEY}"}, "top_p": 1, "deep": {"auth_token": KEY}}
)


class TestKeys:
    @pytest.fixture
    def keyed(self, models, project):
        def run(*args):
            return models.run("--tau-agent-llm-args", KEYED, "--tau-user-llm-args", KEYED, *args)

        return run

    def nowhere(self, project, run):
        run.lacks(KEY)
        for path in project.path.rglob("*"):
            if path.is_file() and path.suffix != ".pyc" and path.name != "calls.jsonl":
                assert KEY not in path.read_text(encoding="utf-8", errors="replace"), path

    @pytest.mark.parametrize(
        "more", [[], ["-vv", "-rA"], ["--tau-record"], ["--tau-dry-run"], ["--setup-show"], ["-n", "2"]]
    )
    def test_are_in_no_output_and_no_file(self, project, models, keyed, more):
        run = keyed("--junitxml=r.xml", "--showlocals", *more)
        assert run.ret == pytest.ExitCode.OK, run.text
        self.nowhere(project, run)

    def test_reach_the_model(self, models, keyed):
        keyed().outcomes(passed=1)
        assert models.asked[0]["args"]["api_key"] == KEY

    @pytest.mark.parametrize("more", [["-l"], ["-l", "-vv", "--tb=long"], ["--full-trace"], ["-n", "2"]])
    def test_are_in_no_failure_and_no_command(self, project, models, keyed, more):
        models.script("""
            def answer(role, request):
                if role == "user":
                    return reference(role, request)
                return "Done."
        """)
        run = keyed("--junitxml=r.xml", *more)
        run.outcomes(failed=1)
        run.line("again: pytest", "--tau-agent-llm-args", "top_p")
        self.nowhere(project, run)

    def test_are_in_no_error_of_a_replay(self, project, models, keyed):
        keyed("--tau-record").outcomes(passed=1)
        project.write("agent.md", "{{policy}} And be brief.")
        run = keyed("--tau-replay", "--tau-agent-prompt", "agent.md", "--junitxml=r.xml", "-l")
        run.outcomes(errors=1)
        run.line("record again: pytest", "--tau-agent-llm-args", "top_p")
        self.nowhere(project, run)

    def test_are_in_no_message_about_arguments(self, project, models):
        for text in (KEYED[:-1], f'"{KEY}"', f'["{KEY}"]', f'{{"api_key": {KEY}}}'):
            run = models.run("--tau-agent-llm-args", text)
            run.usage_error("--tau-agent-llm-args: expected a JSON object")
            run.lacks(KEY)

    @pytest.mark.parametrize("more", [[], ["-l"], ["--tb=long"], ["--tb=long", "-l", "-vv"]])
    def test_are_in_no_traceback_of_a_hook_that_fails(self, project, models, keyed, more):
        models.script("""
            def make(role, llm, llm_args):
                raise RuntimeError("no model today")
        """)
        run = keyed("--tau-concurrency=1", *more)
        run.outcomes(errors=1)
        run.line("no model today")
        self.nowhere(project, run)

    def test_are_in_no_address_that_is_shown(self, models):
        args = json.dumps({"api_base": f"http://me:{KEY}@127.0.0.1:9/v1"})
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Hm."
        """)
        run = models.run("--tau-agent-llm-args", args, "--tau-user", "gold")
        run.outcomes(failed=1)
        run.lacks(KEY)

    @pytest.mark.parametrize("more", [[], ["-l"]])
    def test_are_in_no_traceback_of_an_agent_that_fails(self, project, models, keyed, more):
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, llm_args):
                    raise RuntimeError("no agent today")

                def respond(self, message):
                    return "Done."
            """,
        )
        run = keyed("--tau-agent", "own.py:Own", *more)
        run.line("no agent today")
        self.nowhere(project, run)

    @pytest.mark.parametrize("more", [[], ["-l"], ["--tb=long", "-vv"]])
    def test_are_in_no_traceback_of_a_test_that_asks_in_vain(self, project, models, keyed, more):
        models.script("""
            def answer(role, request):
                raise ModelError("the key was refused", kind="authentication")
        """)
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_model):
                tau_model.complete_sync([{"role": "user", "content": "Hello"}])
            """,
        )
        run = keyed("test_own.py", *more)
        run.outcomes(failed=1)
        run.line("the key was refused")
        self.nowhere(project, run)

    @pytest.mark.parametrize("more", [[], ["-l"], ["-l", "-vv"]])
    def test_are_in_no_traceback_of_a_test_of_ones_own(self, project, models, keyed, more):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_model, tau_task):
                model = tau_model
                assert model.name == "other"
            """,
        )
        run = keyed("test_own.py", *more)
        run.outcomes(failed=1)
        self.nowhere(project, run)


#: Fails a run that has imported what only model calls need.
LIGHT = """
import sys

def pytest_sessionfinish(session):
    found = [name for name in ("litellm", "tiktoken", "tenacity", "openai") if sys.modules.get(name) is not None]
    print("imported:", found)
"""


class TestStartUp:
    """What a run imports; in a process of its own."""

    def heavy(self, project, *args):
        """What of the heavy libraries a run of pytest has imported, and what it said."""
        # Other plugins of this environment may import what is looked for.
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
        command = [sys.executable, "-m", "pytest", "-p", "tau", "-p", "no:cacheprovider", "-s", *args]
        done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
        (line,) = [line for line in done.stdout.splitlines() if "imported: " in line]
        assert "Traceback" not in done.stderr
        return line.partition("imported: ")[2], done.stdout

    @pytest.mark.exhaustive
    def test_a_run_without_models_imports_nothing_of_theirs(self, models, project):
        project.write("conftest.py", LIGHT)
        found, text = self.heavy(project)
        assert "1 passed" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    def test_a_replay_imports_nothing_of_theirs(self, models, project):
        models.run("--tau-record").outcomes(passed=1)
        project.write("conftest.py", LIGHT)
        found, text = self.heavy(project, *models.options, "--tau-replay")
        assert "1 passed" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("only", ["--collect-only", "--tau-dry-run"])
    def test_collecting_imports_nothing_of_theirs(self, models, project, only):
        project.write("conftest.py", LIGHT)
        found, text = self.heavy(project, *models.options, only)
        assert "buy-milk" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    def test_a_replay_needs_nothing_of_theirs(self, models, project, a_task):
        criteria = {"nl_assertions": ["It is short."], "reward_basis": ["DB", "NL_ASSERTION"]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        args = ["--tau-judge-llm", "fake/judge", "--tau-agent-tool-calls", "text"]
        models.script("""
            def answer(role, request):
                if role != "agent" or "task_3" in request.messages[-1]["content"]:
                    return reference(role, request) if role != "agent" else "Done."
                call = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
                return "<tool_call>" + json.dumps(call) + "</tool_call>"
        """)
        models.run("--tau-record", *args).outcomes(passed=1)
        project.write(
            "conftest.py", LIGHT + "for name in ('litellm', 'tiktoken', 'tenacity'):\n    sys.modules[name] = None\n"
        )
        found, text = self.heavy(project, *models.options, "--tau-replay", *args)
        assert "1 passed" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    def test_models_of_ones_own_import_nothing_of_litellms(self, models, project):
        conftest = (project.path / "conftest.py").read_text(encoding="utf-8")
        project.write("conftest.py", LIGHT + conftest)
        found, text = self.heavy(project, *models.options, "--tau-record")
        assert "1 passed" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    def test_a_replayed_agent_that_calls_litellm_through_us_does_not_import_it(self, models, project):
        """The same functions, without the library behind them."""
        project.write(
            "own.py",
            """
            from pytest_tau.integrations.litellm import completion

            def own(messages, tools):
                answer = completion(model="fake/agent", messages=messages, tools=tools)
                return answer.choices[0].message.model_dump()
            """,
        )
        project.write("conftest.py", LIGHT)
        args = ["--tau-agent", "own.py:own", "--tau-user", "gold", "--tau-replay"]
        found, text = self.heavy(project, *args)
        assert "no such cassette" in text
        assert found == "[]"

    @pytest.mark.exhaustive
    def test_without_the_extra_a_live_run_says_what_to_install(self, models, project):
        project.write(
            "conftest.py", LIGHT + "for name in ('litellm', 'tiktoken', 'tenacity'):\n    sys.modules[name] = None\n"
        )
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
        command = [sys.executable, "-m", "pytest", "-p", "tau", *models.options]
        done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert "pip install './pytest-tau[llm]'" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr


class TestUnusedModels:
    """A model that is named and not called."""

    OWN = """
        from pytest_tau.testing import ScriptedParticipant, call

        class Plain(ScriptedParticipant):
            def __init__(self):
                super().__init__([call("create_task", user_id="user_1", title="Buy milk"), "Done."])

        class Asks(Plain):
            def __init__(self, model):
                super().__init__()
        """

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["here", "workers"])
    def test_an_agent_that_takes_no_model_is_shown_without_it(self, models, project, workers):
        project.write("own.py", self.OWN)
        run = models.run("--tau-agent", "own.py:Plain", "mock", *workers)
        run.outcomes(passed=1)
        run.line("agent own.py:Plain, user llm (fake/user)")
        run.line("tau: --tau-agent-llm is not used: no trial called fake/agent")
        run.lacks("--tau-user-llm")
        run = models.run("--tau-agent", "own.py:Asks", "mock", *workers)
        run.line("agent own.py:Asks (fake/agent), user llm (fake/user)")

    def test_users_of_markers_and_missing_assertions_leave_models_unused(self, models, project):
        project.write(
            "test_it.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", user="gold")
            def test_it(tau_simulation):
                pass
            """,
        )
        run = models.run("test_it.py", "--tau-judge-llm", "fake/judge")
        run.line("tau: --tau-user-llm is not used: no trial called fake/user")
        run.line("tau: --tau-judge-llm is not used: no trial called fake/judge")
        run.lacks("--tau-agent-llm")

    def test_models_that_the_ini_names_and_models_that_tests_call_are_no_mistake(self, models, project):
        project.write("own.py", self.OWN)
        project.write(
            "test_it.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="own.py:Plain", user="gold")
            def test_it(tau_simulation, tau_model):
                tau_model.complete_sync([{"role": "user", "content": "Hello"}])
            """,
        )
        project.ini("tau_user_llm = fake/user")
        run = project.run("test_it.py", "--tau-agent-llm", "fake/agent")
        run.outcomes(passed=1)
        run.lacks("is not used")
