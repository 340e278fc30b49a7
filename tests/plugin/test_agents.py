"""The first form of an agent: a class with respond(), built for each trial, and closed."""

from __future__ import annotations

import re

import pytest

#: The one call that the task wants, in the three ways to write it.
CALL = '{"tool_calls": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]}'
CHAT_CALL = (
    '{"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": '
    '{"name": "create_task", "arguments": \'{"user_id": "user_1", "title": "Buy milk"}\'}}]}'
)
MODEL_CALL = (
    'AssistantMessage(tool_calls=[ToolCall(name="create_task", arguments={"user_id": "user_1", "title": "Buy milk"})])'
)


class TestRespond:
    """The first form: a class with ``respond``."""

    @pytest.mark.parametrize("define", ["def", "async def"])
    @pytest.mark.parametrize("call", [CALL, CHAT_CALL, MODEL_CALL])
    def test_agent(self, play, define, call):
        run = play(
            f"""
            from pytest_tau.models import AssistantMessage, ToolCall, ToolMessage, UserMessage

            class it:
                {define} respond(self, message):
                    if isinstance(message, UserMessage):
                        assert message.content == "Have 'Buy milk' put on my list."
                        return {call}
                    assert isinstance(message, ToolMessage) and not message.error
                    return AssistantMessage(content="It is there.")
            """
        )
        run.outcomes(passed=1)
        run.line("tau: mock: 1 task, 1 trial; 1 passed")

    def test_results_of_several_calls_come_together(self, play):
        play(
            """
            class it:
                def respond(self, message):
                    if message.role == "user":
                        arguments = {"user_id": "user_1", "title": "Buy milk"}
                        return {"tool_calls": [
                            {"id": "x", "name": "create_task", "arguments": arguments},
                            {"id": "y", "name": "get_users"},
                        ]}
                    print("results:", [(result.id, result.content[:15]) for result in message.tool_messages])
                    return "Done."
            """
        ).line("""results: [('x', '{"task_id": "ta'), ('y', '[{"user_id": "u')]""")

    @pytest.mark.parametrize(
        "parameters",
        ["", "tools", "policy", "task", "seed, task", "tools, policy, task, seed, llm, llm_args", "*, tools", "**given",
         "domain_policy, history", "mine=3, tools=()"],
    )  # fmt: skip
    def test_constructor_gets_what_it_asks_for(self, play, parameters):
        signature = f"self, {parameters}" if parameters else "self"
        run = play(
            f"""
            class it:
                def __init__({signature}):
                    given = {{name: value for name, value in locals().items() if name != "self"}}
                    given |= given.pop("given", {{}})
                    print("given:", *sorted(given))
                    if "tools" in given:
                        assert [tool.name for tool in given["tools"]][0] == "create_task"
                    if "policy" in given:
                        assert given["policy"].startswith("# Agent policy: task lists")
                    if "task" in given:
                        assert given["task"].id == "buy-milk"
                    if "seed" in given:
                        assert given["seed"] == 626729

                def respond(self, message):
                    return "Hello."
            """
        )
        run.outcomes(failed=1)
        line = run.line("given:")
        offered = ["domain_policy", "history", "llm", "llm_args", "model", "policy", "seed", "task", "tools"]
        named = [name for name in ["mine", *offered] if name in re.findall(r"\w+", parameters)]
        assert line.split("given:")[1].split() == (offered if "**" in parameters else sorted(named))
        run.line("user   ###STOP###")

    def test_a_class_is_built_once_for_each_trial(self, play):
        run = play(
            """
            class it:
                def __init__(self, seed):
                    print("built for", seed)
                    self.turns = 0

                def respond(self, message):
                    self.turns += 1
                    return f"turn {self.turns}"
            """,
            "agent",
            "--tau-trials",
            "2",
        )
        run.outcomes(failed=2)
        run.line("built for 626729")
        run.line("built for 373753")
        run.lacks("turn 2")

    def test_an_agent_may_stop_and_greet_by_itself(self, play):
        run = play(
            """
            class it:
                greeting = "Good morning!"

                def respond(self, message):
                    return "That is all."

                def is_stop(self, message):
                    return message.content == "That is all."
            """
        )
        run.line("ended by the agent after 3 turns")
        run.line("agent  Good morning!")

    @pytest.mark.parametrize("define", ["def", "async def"])
    def test_close_is_called_after_each_trial(self, play, define):
        run = play(
            f"""
            class it:
                def __init__(self, seed):
                    self.seed = seed

                def respond(self, message):
                    return "Hello."

                {define} close(self):
                    print("closed:", self.seed)
            """,
            "agent",
            "--tau-trials",
            "2",
        )
        run.line("closed: 626729")
        run.line("closed: 373753")

    @pytest.mark.parametrize(
        ("side", "outcomes"), [("agent", {"failed": 1}), ("user", {"errors": 1})], ids=["agent", "user"]
    )
    def test_close_is_called_after_a_fault_and_its_own_fault_changes_nothing(self, play, side, outcomes):
        run = play(
            """
            class it:
                def respond(self, message):
                    raise ValueError("lost")

                def close(self):
                    print("closed")
                    raise RuntimeError("door jammed")
            """,
            side,
        )
        run.outcomes(**outcomes)
        run.line("closed")
        run.line("ValueError: lost")

    def test_close_is_called_where_the_other_side_cannot_be_built(self, project, play):
        project.write("user.py", "class User:\n    def __init__(self): 1 / 0\n    respond = None\n")
        run = play(
            """
            class it:
                respond = lambda self, message: "Hello."
                close = lambda self: print("closed")
            """,
            "agent",
            "--tau-user",
            "user.py:User",
        )
        run.outcomes(errors=1)
        run.line("closed")


def test_agent_object_is_shared_by_all_trials(project, a_task):
    """``module:attribute`` may name an instance; then the instance itself answers."""
    project.tasks("mock/t.tau.json", [a_task()])
    project.write(
        "parts.py",
        """
        class Agent:
            asked = 0

            def respond(self, message):
                self.asked += 1
                print("asked:", self.asked)
                return "Hello."

        it = Agent()
        """,
    )
    run = project.run("--tau-agent", "parts.py:it", "--tau-trials", "2", "-s")
    run.outcomes(failed=2)
    run.line("asked: 2")
