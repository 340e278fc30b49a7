"""The fourth form of an agent: a factory marked with own_loop, whose run() calls model and tools by itself."""

from __future__ import annotations

import json
import os
import textwrap

import pytest

from pytest_tau.participants.own_loop import session

pytest.importorskip("aiohttp")
pytest.importorskip("openai")

#: The beginning of a module whose agent makes the call that the task wants.
HEAD = """
import asyncio
import threading
import time

import pytest_tau

WANTED = {"user_id": "user_1", "title": "Buy milk"}

def tool(trial, name="create_task"):
    return next(tool for tool in trial.tools if tool.name == name)

"""
#: An agent of openai's client, as its users write it.
CLIENT = """
import json
import openai
import pytest_tau

@pytest_tau.own_loop
def it(trial):
    client = openai.OpenAI(base_url=trial.base_url, api_key=trial.api_key, max_retries=1)
    tools = {tool.name: tool for tool in trial.tools}
    messages = [{"role": "system", "content": trial.policy}]
    def run(text):
        messages.append({"role": "user", "content": text})
        while True:
            schemas = [tool.openai_schema for tool in trial.tools]
            answer = client.chat.completions.create(model=MODEL, messages=messages, tools=schemas, ARGS)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = tools[call.function.name].call(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    run.close = client.close
    return run
"""


def client(model="tau", args=""):
    return CLIENT.replace("MODEL", repr(model)).replace("ARGS", args)


def kept(project):
    """The simulations of the latest run."""
    file = max(project.path.glob(".tau/runs/*/*.jsonl"), key=lambda one: one.stat().st_mtime_ns)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def own(play):
    """Runs a task with an agent from the given source, after HEAD, to the user gold."""
    return lambda source, *args, **changes: play(HEAD + source, "agent", *args, **changes)


# The form.


@pytest.mark.parametrize(
    "source",
    [
        """
        @pytest_tau.own_loop
        def it(trial):
            def run(text):
                assert text == "Have 'Buy milk' put on my list."
                assert "task_id" in tool(trial).call(**WANTED)
                return "It is there."
            return run
        """,
        """
        @pytest_tau.own_loop
        async def it(trial):
            async def run(text):
                assert "task_id" in await tool(trial).acall(**WANTED)
                return "It is there."
            return run
        """,
        """
        class it:
            def __init__(self, trial):
                self.trial = trial
            async def run(self, text):
                await tool(self.trial).acall(**WANTED)
                return "It is there."
        """,
        """
        @pytest_tau.own_loop
        class it:
            def __init__(self, trial):
                self.trial = trial
            def run(self, text):
                tool(self.trial).call(**WANTED)
                return "It is there."
        """,
        """
        import functools

        def made(prefix, trial):
            def run(text):
                tool(trial).call(**WANTED)
                return prefix
            return run

        it = functools.partial(pytest_tau.own_loop(made), "It is there.")
        """,
    ],
    ids=["function", "async", "class", "marked class", "partial"],
)
def test_forms(own, source):
    run = own(textwrap.dedent(source))
    run.outcomes(passed=1)


def test_a_factory_is_given_the_trial(own):
    run = own(
        """
@pytest_tau.own_loop
def it(trial):
    print("seed:", trial.seed, "ticket:", trial.ticket, "policy:", len(trial.policy) > 20)
    print("history:", [message.content for message in trial.history])
    print("schema:", tool(trial).openai_schema["function"]["name"], tool(trial).parameters["type"])
    def run(text):
        return "Hello."
    return run
"""
    )
    run.line("ticket: None policy: True")
    run.line("history: ['Hi! How can I help you today?']")
    run.line("schema: create_task object")


def test_a_failed_tool_gives_a_text(own):
    own(
        """
@pytest_tau.own_loop
def it(trial):
    def run(text):
        print("first:", tool(trial).call(user_id="nobody", title="x"))
        tool(trial).call(**WANTED)
        return "Done."
    return run
"""
    ).line("first: Error: ")


def test_solo_agents_end_by_their_answer(own, a_task):
    task = a_task(ticket="Put 'Buy milk' on the list of user_1.")
    run = own(
        """
@pytest_tau.own_loop
def it(trial):
    assert trial.ticket
    def run(text):
        assert text == trial.ticket
        tool(trial).call(**WANTED)
        return "It is there."
    return run
""",
        "--tau-solo",
        task=task,
    )
    run.outcomes(passed=1)


# Bad input.


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("it = pytest_tau.own_loop(lambda: None)", "it must accept one argument, the trial, as in 'def Agent(trial):'"),
        (
            "class it:\n    def run(self, text):\n        return 'x'",
            "if its method run answers a message, name the method",
        ),
        ("it = pytest_tau.own_loop(3)", "own_loop marks a function or a class that takes the trial, got a int"),
        ("it = pytest_tau.own_loop(len.__call__)", "own_loop cannot mark a method-wrapper"),
    ],
    ids=["no argument", "class without argument", "number", "unmarkable"],
)
def test_a_factory_that_cannot_be_one_is_a_usage_error(own, source, problem):
    own(source).usage_error(problem)


def test_a_user_cannot_run_its_own_loop(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", HEAD + "@pytest_tau.own_loop\ndef it(trial): ...")
    project.run("--tau-user", "parts.py:it").usage_error("it is not a valid user: only an agent can run its own loop")


#: Bodies of ``run``, or factories, with the message of the failure.
FAULTS = {
    "no run": ("def it(trial): return None", "its factory returned None; expected a function run(text)"),
    "raises in the factory": ("def it(trial): raise ValueError('no graph')", "ValueError: no graph"),
    "nothing": ("def it(trial): return lambda text: None", "run() returned None; expected the text of the answer"),
    "empty": ("def it(trial): return lambda text: '  '", "empty reply"),
    "number": ("def it(trial): return lambda text: 3", "run() returned int 3; expected text, a stream of text"),
    "calls": (
        "def it(trial): return lambda text: {'tool_calls': [{'name': 'get_users', 'arguments': {}}]}",
        "run() returned dict {'tool_calls': [{'name': 'get_users', 'arguments': {}}]}; expected a text",
    ),
    "stream of numbers": (
        "def it(trial): return lambda text: iter([1])",
        "a stream with int 1; expected pieces of text",
    ),
    "raises": ("def it(trial): return lambda text: 1 / 0", "ZeroDivisionError"),
    "exits": ("def it(trial): return lambda text: exit(3)", "SystemExit: 3"),
    "skips": ("def it(trial):\n    import pytest\n    return lambda text: pytest.skip('no')", "Skipped: no"),
    "in the factory": (
        "def it(trial):\n    print(tool(trial).call(**WANTED))\n    return lambda text: 'Hello.'",
        "tool 'create_task' was called",
    ),
    "blocking call on the loop": (
        "def it(trial):\n    async def run(text):\n        try:\n            tool(trial).call(**WANTED)\n"
        "        except Exception:\n            return 'Sorry.'\n    return run",
        "tool 'create_task': call() blocks the event loop that must answer it: use 'await acall()'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_an_agent_are_failures(own, fault):
    source, problem = FAULTS[fault]
    run = own(f"@pytest_tau.own_loop\n{source}")
    run.outcomes(failed=1)
    run.line(problem)
    run.line("ended by a fault of the agent")


def test_a_call_after_the_answer_is_the_agent_s_error(own):
    """A thread outlives the first answer, and calls a tool while no message is being answered."""
    run = own(
        """
@pytest_tau.own_loop
def it(trial):
    answered = threading.Event()
    def late():
        answered.wait(20)
        try:
            tool(trial).call(**WANTED)
        except RuntimeError as error:
            print("refused:", error)
    def run(text):
        thread = threading.Thread(target=late)
        thread.start()
        return "One moment."
    class Agent:
        def __init__(self):
            self.run = run
        def is_stop(self, message):
            # The conversation goes on only once the call has come.
            answered.set()
            time.sleep(0.2)
            return False
    return Agent()
"""
    )
    run.outcomes(failed=1)
    run.line("tool 'create_task' was called after run() had returned: await all calls, and join all threads, in run()")
    run.line("refused: tool 'create_task' was called after run() had returned")


#: An agent that calls a tool when it is closed, as a thread may do that ``run`` did not wait for.
CLOSING = """
@pytest_tau.own_loop
class it:
    def __init__(self, trial):
        self.trial = trial
    def run(self, text):
        return "Good-bye."
    def close(self):
        for name in ("create_task", "get_users", "create_task"):
            try:
                tool(self.trial, name).call()
            except RuntimeError as error:
                print("refused:", error)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_calls_after_the_conversation_are_reported(own, project, workers):
    run = own(CLOSING, *workers)
    run.outcomes(failed=1)
    if not workers:
        run.line("refused: tool 'create_task' was called after run() had returned")
    run.line("after the conversation, the agent called create_task (2 times), get_users: not executed")
    run.line(
        "tau: 3 tool calls after the end of a conversation, not executed: create_task (2 times), get_users; await all "
        "calls, and join all threads, in run()"
    )
    assert kept(project)[0]["info"]["late_calls"] == {"create_task": 2, "get_users": 1}


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_call_after_the_trial_was_stored_is_in_the_summary(own, project, workers):
    project.write(
        "test_later.py",
        "import threads\ndef test_later():\n    threads.GO.set()\n    threads.LATE[0].join(20)\n    assert threads.REFUSED",
    )
    project.write("threads.py", "import threading\nGO, LATE, REFUSED = threading.Event(), [], []")
    project.write("conftest.py", "import pathlib, sys\nsys.path.insert(0, str(pathlib.Path(__file__).parent))")
    run = own(
        """
@pytest_tau.own_loop
def it(trial):
    import threads
    def late():
        threads.GO.wait(20)
        try:
            tool(trial).call(**WANTED)
        except RuntimeError:
            threads.REFUSED.append(True)
    def run(text):
        tool(trial).call(**WANTED)
        threads.LATE.append(threading.Thread(target=late))
        threads.LATE[0].start()
        return "Done."
    return run
""",
        "mock",
        "test_later.py",
        *workers,
    )
    run.outcomes(passed=2)
    run.line("tau: 1 tool call after the end of a conversation, not executed: create_task; await all calls")
    assert "late_calls" not in (kept(project)[0]["info"] or {})


@pytest.mark.parametrize(
    "source",
    [
        "    def run(text):\n        time.sleep(60)",
        "    async def run(text):\n        await asyncio.sleep(60)",
        "    async def run(text):\n        try:\n            await asyncio.sleep(60)\n"
        "        except asyncio.CancelledError:\n            await asyncio.sleep(0.3)\n            return 'Sorry.'",
    ],
    ids=["thread", "task", "catches its cancellation"],
)
def test_an_agent_that_never_ends_is_cut_off(own, source):
    run = own(f"@pytest_tau.own_loop\ndef it(trial):\n{source}\n    return run\n", "--tau-timeout", "0.3")
    run.outcomes(failed=1)
    run.line("timeout")


def test_a_call_that_waits_is_cancelled_at_the_end(own):
    """The agent calls more often than the limit of steps allows."""
    run = own(
        """
@pytest_tau.own_loop
def it(trial):
    def run(text):
        try:
            while True:
                tool(trial, "get_users").call()
        except BaseException as error:
            print("ended by", type(error).__name__)
            raise
    return run
""",
        "--tau-max-steps",
        "9",
    )
    run.outcomes(failed=1)
    run.line("cut off: too many steps")
    run.line("ended by CancelledError")


@pytest.mark.parametrize("given", ["[1, 2]", "'text'", "None", "7", "object()"])
def test_arguments_that_are_not_an_object_are_an_error_of_the_tool(own, given):
    run = own(
        f"""
@pytest_tau.own_loop
def it(trial):
    async def run(text):
        print("result:", await tool(trial).acall_result({given}))
        await tool(trial).acall(**WANTED)
        return "Done."
    return run
"""
    )
    run.outcomes(passed=1)
    run.line("result: ToolOutcome(text=", "Error: ", "is_error=True")


def test_arguments_of_pydantic_models_and_dates_become_json(own, project):
    own(
        """
import datetime
import pydantic

class Title(pydantic.BaseModel):
    text: str

@pytest_tau.own_loop
def it(trial):
    def run(text):
        tool(trial).call(user_id="user_1", when=datetime.date(2026, 1, 2), more=[Title(text="x")])
        tool(trial).call(**WANTED)
        return "Done."
    return run
"""
    ).outcomes(passed=1)
    [call, *_] = [call for message in kept(project)[0]["messages"] for call in message.get("tool_calls") or []]
    assert call["arguments"] == {"user_id": "user_1", "when": "2026-01-02", "more": [{"text": "x"}]}


def test_ten_threads_call_at_once(own, project):
    run = own(
        """
from concurrent.futures import ThreadPoolExecutor

@pytest_tau.own_loop
def it(trial):
    def run(text):
        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(lambda number: tool(trial, "get_users").call(), range(10)))
        assert len(set(results)) == 1
        tool(trial).call(**WANTED)
        return "Done."
    return run
"""
    )
    run.outcomes(passed=1)
    calls = [message.get("tool_calls") or [] for message in kept(project)[0]["messages"]]
    assert sorted(len(one) for one in calls if one) == [1] * 11


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("def run(text):\n        yield 'Do'\n        tool(trial).call(**WANTED)\n        yield 'ne.'", "Done."),
        (
            "async def run(text):\n        yield 'Do'\n        await tool(trial).acall(**WANTED)\n        yield 'ne.'",
            "Done.",
        ),
        ("def run(text):\n        tool(trial).call(**WANTED)\n        return {'done': True}", '{"done":true}'),
    ],
    ids=["stream", "async stream", "dict"],
)
def test_answers_of_structure_and_streams_that_call_tools(own, project, run, said):
    own(f"@pytest_tau.own_loop\ndef it(trial):\n    {run}\n    return run\n").outcomes(passed=1)
    messages = kept(project)[0]["messages"]
    assert said in [message.get("content") for message in messages]
    assert [len(message["tool_calls"]) for message in messages if message.get("tool_calls")] == [1]


def test_calls_from_another_event_loop(own):
    own(
        """
@pytest_tau.own_loop
def it(trial):
    async def inner():
        results = await asyncio.gather(*(tool(trial, "get_users").acall() for _ in range(5)))
        tool(trial, "get_users").call()  # blocks this loop only
        return await tool(trial).acall(**WANTED)
    def run(text):
        asyncio.run(inner())
        return "Done."
    return run
"""
    ).outcomes(passed=1)


# Model calls through the endpoint.


@pytest.mark.parametrize("name", ["tau", "gpt-4.1"])
def test_model_calls_are_those_of_the_trial(models, project, name):
    project.write("parts.py", client(name, args="temperature=0.5"))
    run = models.run("--tau-agent", "parts.py:it", "--tau-agent-llm-args", '{"temperature": 0, "top_p": 0.1}')
    run.outcomes(passed=1)
    run.line("agent fake/agent: 2 calls")
    run.line("tau: agent model: fake/agent (--tau-agent-llm), for each model that the agent asks for")
    asked = [call for call in models.asked if call["role"] == "agent"]
    assert {call["model"] for call in asked} == {"fake/agent"}
    assert all(call["args"]["temperature"] == 0.5 and call["args"]["top_p"] == 0.1 for call in asked)
    assert kept(project)[0]["model_usage"]["agent"]["calls"] == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [[], ["-n2"], ["--tau-concurrency", "4"]], ids=["plain", "xdist", "concurrent"])
def test_recorded_and_replayed(models, project, a_task, options):
    project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(4)])
    project.write("parts.py", client())
    models.run("--tau-agent", "parts.py:it", "--tau-record", "all", *options).outcomes(passed=4)
    assert len(models.cassettes()) == 4
    assert len(models.calls()) == 16
    models.run("--tau-agent", "parts.py:it", "--tau-replay", *options).outcomes(passed=4)
    assert models.calls() == []


def test_a_replay_that_differs_is_an_error_whatever_the_agent_makes_of_it(models, project):
    project.write("parts.py", client())
    models.run("--tau-agent", "parts.py:it", "--tau-record", "all").outcomes(passed=1)
    source = client().replace("            answer =", "            try:\n                answer =")
    source = source.replace(
        "            message = answer",
        "            except openai.OpenAIError:\n                return 'Sorry, try later.'\n            message = answer",
    )
    project.write("parts.py", source.replace("trial.policy}", "trial.policy + '!'}"))
    run = models.run("--tau-agent", "parts.py:it", "--tau-replay")
    run.outcomes(errors=1)
    run.line("call 2, of the agent, differs from the recorded one")


def test_a_model_that_fails_is_an_error(models, project):
    models.script(
        """
        def answer(role, request):
            if role == "agent":
                raise ModelError("no such model", kind="unknown_model")
            return reference(role, request)
        """
    )
    project.write("parts.py", client())
    run = models.run("--tau-agent", "parts.py:it")
    run.outcomes(errors=1)
    run.line("no such model")
    assert models.calls().count("agent") == 1


def test_an_exceeded_context_counts_against_the_agent_that_gives_up(models, project):
    models.script(
        """
        def answer(role, request):
            if role == "agent":
                raise ContextWindowError("too long")
            return reference(role, request)
        """
    )
    project.write("parts.py", client())
    run = models.run("--tau-agent", "parts.py:it")
    run.outcomes(failed=1)
    run.line("context_window_exceeded")


def test_the_model_tau_needs_a_model(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("parts.py", client())
    run = project.run("--tau-agent", "parts.py:it")
    run.outcomes(errors=1)
    run.line("the agent asks for the model 'tau', which stands for --tau-agent-llm: add --tau-agent-llm MODEL")
    run.line("neither side failed: the run has no model for the agent")
    run.lacks("provider")


def test_the_limit_of_model_calls_ends_a_trial(models, project, monkeypatch):
    assert session.MAX_MODEL_CALLS == 200
    monkeypatch.setattr(session, "MAX_MODEL_CALLS", 12)
    models.script(
        """
        def answer(role, request):
            return called("no_such_tool") if role == "agent" else reference(role, request)
        """
    )
    source = client().replace("result = tools[call.function.name].call(", "result = (lambda **_: 'no such tool')(")
    project.write("parts.py", source)
    run = models.run("--tau-agent", "parts.py:it")
    run.outcomes(failed=1)
    run.line("cut off: too many steps")
    run.line("the agent has made 12 model calls, the limit of a trial")
    usage = kept(project)[0]["model_usage"]["agent"]
    assert (usage["calls"], usage["unknown_tools"]) == (12, 12)


def test_a_blocking_client_on_the_event_loop_is_named(models, project, monkeypatch):
    """It waits for an answer that only the loop which it blocks could give."""
    monkeypatch.setattr("pytest_tau.endpoint.listener.BLOCKED", 0.5)
    project.write("parts.py", client().replace("    def run(", "    async def run("))
    run = models.run("--tau-agent", "parts.py:it")
    run.outcomes(failed=1)
    run.line("the event loop of the trial has been blocked for 0.5 s: an async agent must use an async client")


# Tests of one's own.


def test_a_fixture_makes_the_agent_of_tau_trial(models, project):
    factory = client().replace("@pytest_tau.own_loop\ndef it(trial):", "def made(trial):")
    project.write("parts.py", factory)
    project.write(
        "test_it.py",
        """
        import pytest
        import pytest_tau
        from parts import made

        @pytest.fixture
        def tau_agent(tau_trial):
            run = made(tau_trial)
            return pytest_tau.own_loop(lambda trial: run)

        @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
        def test_it(tau_simulation, tau_trial):
            assert tau_trial in (0, 1) and f"{tau_trial}" in "01"
            assert tau_simulation.termination_reason == "user_stop"
            assert tau_simulation.called("create_task")
            assert tau_simulation.model_usage["agent"].calls == 2
        """,
    )
    models.run("test_it.py", "--tau-record", "all").outcomes(passed=2)
    assert len(models.calls()) == 8
    models.run("test_it.py", "--tau-replay").outcomes(passed=2)
    assert models.calls() == []


def test_an_agent_of_a_fixture_is_recorded_again_when_its_test_is_run_again(models, project):
    project.write("parts.py", client().replace("@pytest_tau.own_loop\ndef it(trial):", "def made(trial):"))
    project.write(
        "test_it.py",
        """
        import pathlib
        import pytest
        import pytest_tau
        from parts import made

        @pytest.fixture
        def tau_agent(tau_trial):
            run = made(tau_trial)
            return pytest_tau.own_loop(lambda trial: run)

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_it(tau_simulation):
            first = pathlib.Path("first")
            if not first.exists():
                first.touch()
                pytest.fail("again")
        """,
    )
    run = models.run("test_it.py", "--tau-record", "all", "-p", "pytest_rerunfailures", "--reruns", "1")
    run.outcomes(passed=1, rerun=1)
    assert len(models.calls()) == 8


@pytest.mark.exhaustive
def test_a_client_and_a_child_process_in_a_test(models, project):
    project.write(
        "child.py",
        """
        import openai
        with openai.OpenAI() as client:
            answer = client.chat.completions.create(model="tau", messages=[{"role": "tool", "content": "x"}])
        print(answer.choices[0].message.content)
        """,
    )
    project.write(
        "test_it.py",
        """
        import subprocess
        import sys
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_it(tau_agent_client, tau_trial):
            messages = [{"role": "tool", "content": "created"}]
            answer = tau_agent_client.chat.completions.create(model="tau", messages=messages)
            assert answer.choices[0].message.content == "Done."
            assert tau_trial.mcp_url.startswith("http://127.0.0.1:")
            run = [sys.executable, "child.py"]
            done = subprocess.run(run, env=tau_trial.environ, capture_output=True, text=True, check=True)
            assert done.stdout.strip() == "Done."
        """,
    )
    models.run("test_it.py", "--tau-record", "all").outcomes(passed=1)
    assert models.calls() == ["agent", "agent"]
    models.run("test_it.py", "--tau-replay").outcomes(passed=1)
    assert models.calls() == []


# Tools of frameworks.


def test_a_plugin_makes_tools_of_a_framework(project, own):
    project.write(
        "conftest.py",
        """
        def pytest_tau_tools_for(name, tools):
            if name == "mine":
                return {tool.name: tool.call for tool in tools}
        """,
    )
    own(
        """
@pytest_tau.own_loop
def it(trial):
    tools = trial.tools_for("mine")
    def run(text):
        tools["create_task"](**WANTED)
        return "Done."
    return run
"""
    ).outcomes(passed=1)


def test_an_unknown_framework_is_named(own):
    run = own("@pytest_tau.own_loop\ndef it(trial):\n    trial.tools_for('langchian')\n")
    run.outcomes(failed=1)
    run.line("unknown framework 'langchian'; did you mean 'langchain'?")


def test_endpoint_is_reached_without_the_proxy_of_the_environment(own, monkeypatch):
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    source = """
@pytest_tau.own_loop
def it(trial):
    import os
    import httpx

    def run(text):
        answer = httpx.post(trial.mcp_url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 200, answer
        assert trial.environ["NO_PROXY"] == "127.0.0.1,localhost,::1"
        tool(trial).call(**WANTED)
        return "Done."
    return run
"""
    result = own(source)
    result.outcomes(passed=1)
    assert "NO_PROXY" not in os.environ
