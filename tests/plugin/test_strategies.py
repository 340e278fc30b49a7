"""τ-bench's strategies in runs: models on a server, recordings, reports, usage errors."""

from __future__ import annotations

import json

import pytest

from pytest_tau.testing import ModelServer

pytestmark = pytest.mark.usefixtures("litellm_at_hand")

CREATE = '{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}'
SAY = '{"name": "respond", "arguments": {"content": "Done."}}'


def plays(request):
    """Plays an agent that acts by text, a user that thinks, and the check of a user."""
    messages = request["messages"]
    system = messages[0]["content"]
    if request["model"] == "agent":
        assert not request.get("tools")
        done = any("API output:" in str(each["content"]) for each in messages[1:])
        return f"Thought: hidden-{'late' if done else 'early'}\nAction:\n{SAY if done else CREATE}"
    if "You check the customer's newest message" in system:
        return "It is fine.\nVerdict: true"
    spoke = any(each["role"] == "assistant" for each in messages)
    said = "###STOP###" if spoke else "Put milk on my list."
    return f"Thought: mine\nUser Response: {said}" if "User Response:" in system else said


@pytest.fixture
def served(project, a_task, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    project.tasks("mock/t.tau.json", [a_task()])

    def run(server, *args):
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        return project.run("--tau-agent-llm=openai/agent", "--tau-user-llm=openai/user", *args)

    return run


def stored(project, name="runs"):
    (folder,) = (project.path / name).iterdir()
    (line,) = (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(line), json.loads((folder / "run.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("user", ["react", "verify", "reflection"])
def test_agents_and_users_play_and_thoughts_stay_in_the_run(served, project, user):
    with ModelServer(plays) as server:
        options = ("--tau-agent=react", f"--tau-user={user}", "--tau-results=runs", "--tau-html=r.html")
        served(server, *options).outcomes(passed=1)
    found, info = stored(project)
    assert (info["settings"]["agent"], info["settings"]["user"]) == ("react", user)
    thoughts = [(message.get("raw_data") or {}).get("thought") for message in found["messages"]]
    assert "hidden-early" in thoughts
    assert not any("hidden" in str(message["content"]) for message in found["messages"])
    calls = [call["name"] for message in found["messages"] for call in message.get("tool_calls") or ()]
    assert calls == ["create_task"]
    assert "agent react" in info["comparability"]["deviations"]
    assert found["model_usage"]["user"]["calls"] == (2 if user == "react" else 4)


def test_a_run_is_recorded_and_replayed(served, project):
    options = ("--tau-agent=act", "--tau-user=verify", "--tau-user-attempts=2", "--tau-cassettes=tapes")
    with ModelServer(plays) as server:
        served(server, *options, "--tau-record").outcomes(passed=1)
        asked = len(server.requests)
        served(server, *options, "--tau-replay").outcomes(passed=1)
        assert len(server.requests) == asked


def test_few_shot_shows_examples_and_warns_of_tasks_of_the_run(served, project):
    entries = [{"messages_display": "user: One", "task_id": "buy-milk"}, {"messages_display": "user: Two"}]
    project.write("examples.jsonl", "\n".join(map(json.dumps, entries)))
    seen = []

    def script(request):
        if request["model"] == "agent":
            seen.append(request["messages"][0]["content"])
        return "Hello." if request["model"] == "agent" else "###STOP###"

    options = ("--tau-agent=few-shot", "--tau-user=llm", "--tau-agent-examples=examples.jsonl", "--tau-results=runs")
    with ModelServer(
        lambda request: "Hello." if request["model"] == "user" and len(seen) < 1 else script(request)
    ) as server:
        run = served(server, *options)
    run.line("tau: examples of few-shot are of 1 task of this run (buy-milk)")
    assert seen
    assert all(text.endswith("Example 1:\nuser: Two") for text in seen)
    _, info = stored(project)
    assert info["settings"]["agent_examples"].startswith("examples.jsonl ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tau-agent=few-shot"], "few-shot needs examples: add --tau-agent-examples FILE"),
        (["--tau-agent=few-shot", "--tau-agent-examples=none.jsonl"], "none.jsonl: cannot be read"),
        (["--tau-agent-num-examples=0"], "--tau-agent-num-examples: expected a whole number of at least 1"),
        (["--tau-agent-text-protocol=tau2"], "--tau-agent-text-protocol: expected tolerant or tau1"),
        (["--tau-agent=actor"], "unknown agent 'actor'"),
    ],
)
def test_mistakes_are_usage_errors(project, a_task, options, words):
    project.tasks("mock/t.tau.json", [a_task()])
    models = ("--tau-agent-llm=openai/agent", "--tau-user-llm=openai/user")
    project.run(*models, *options).usage_error(words)


@pytest.mark.parametrize("side", ["agent", "user"])
def test_a_strategy_needs_a_model(project, a_task, side):
    project.tasks("mock/t.tau.json", [a_task()])
    project.run(f"--tau-{side}=react").usage_error(f"{side} 'react' needs a model: add --tau-{side}-llm MODEL")


def test_one_call_of_a_message_is_made_for_every_agent(project, a_task):
    project.write(
        "parts.py",
        """
        from pytest_tau.testing import ScriptedParticipant, call

        def two():
            calls = [call("create_task", user_id="user_1", title=title) for title in ("Buy milk", "Buy bread")]
            return {"tool_calls": [each["tool_calls"][0] for each in calls]}

        class it(ScriptedParticipant):
            def __init__(self):
                super().__init__([two(), "Done."])
        """,
    )
    project.tasks("mock/t.tau.json", [a_task()])
    options = ("--tau-agent=parts.py:it", "--tau-user=gold")
    project.run(*options).outcomes(failed=1)
    run = project.run(*options, "--tau-agent-one-call", "--tau-results=runs")
    run.outcomes(passed=1)
    found, info = stored(project)
    assert [len(message["tool_calls"]) for message in found["messages"] if message.get("tool_calls")] == [1]
    assert info["settings"]["agent_one_call"] is True
    assert "agent one call" in info["comparability"]["deviations"]


def test_an_agent_on_its_own_loop_is_given_an_error_for_the_other_calls(project, a_task):
    project.write(
        "parts.py",
        """
        import asyncio
        import pytest_tau

        @pytest_tau.own_loop
        def it(trial):
            tool = next(tool for tool in trial.tools if tool.name == "create_task")

            async def run(text):
                titles = ("Buy milk", "Buy bread")
                return " ".join(await asyncio.gather(*(tool.acall(user_id="user_1", title=title) for title in titles)))
            return run
        """,
    )
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-agent=parts.py:it", "--tau-user=gold", "--tau-agent-one-call")
    # Calls that belong to no answer of a model are messages of their own.
    run.outcomes(failed=1)


def test_calls_that_were_not_made_end_with_an_error():
    from pytest_tau.models import ToolMessage
    from pytest_tau.participants.own_loop.bridge import Bridge, _Call

    bridge = Bridge(["look"])
    first, second = (_Call("look", {}, alone=False) for _ in range(2))
    bridge._served = [first, second]
    assert bridge.deliver(ToolMessage(content="one"))
    assert (first.future.result().text, first.future.result().is_error) == ("one", False)
    assert second.future.result().is_error
    assert "only the first call of a message is made" in second.future.result().text
