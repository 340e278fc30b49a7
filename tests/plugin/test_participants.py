"""The other forms of an agent, function and stateful class; and users in all three."""

from __future__ import annotations

import pytest

from .test_agents import CALL, CHAT_CALL, MODEL_CALL


class TestFunction:
    """The second form: a function of messages and tools in OpenAI chat format."""

    @pytest.mark.parametrize("define", ["def", "async def"])
    def test_agent(self, play, define):
        run = play(
            f"""
            {define} it(messages, tools):
                print("sees:", [message["role"] for message in messages])
                assert messages[0]["content"].startswith("# Agent policy: task lists")
                assert tools[0]["function"]["name"] == "create_task" and tools[0]["type"] == "function"
                assert tools[0]["function"]["parameters"]["required"] == ["user_id", "title"]
                if messages[-1]["role"] == "user":
                    return {CHAT_CALL}
                assert messages[-1]["tool_call_id"] == "c1" and "task_3" in messages[-1]["content"]
                return "Done."
            """
        )
        run.outcomes(passed=1)
        run.line("sees: ['system', 'assistant', 'user']")
        run.line("sees: ['system', 'assistant', 'user', 'assistant', 'tool']")

    def test_what_it_does_to_its_arguments_changes_nothing(self, play):
        run = play(
            """
            def it(messages, tools):
                print("sees:", len(messages), len(tools))
                messages.clear()
                tools.clear()
                return {"tool_calls": [{"name": "get_users"}]} if not hasattr(it, "asked") else "Done."
            """,
            "agent",
            "--tau-max-steps",
            "6",
        )
        run.line("sees: 3 4")
        run.line("sees: 5 4")

    def test_an_object_with_call(self, play):
        play(
            f"""
            class Caller:
                def __call__(self, messages, tools):
                    return {CALL} if messages[-1]["role"] == "user" else "Done."

            it = Caller()
            """
        ).outcomes(passed=1)

    def test_it_sees_the_message_history(self, project, play):
        run = play(
            """
            def it(messages, tools):
                print("sees:", [message["role"] for message in messages])
                return "Done."
            """,
            "agent",
            "--tau-domain",
            "mock",
            "--tau-task",
            "history-agent-next",
        )
        run.line("sees: ['system', 'user', 'assistant', 'tool', 'assistant', 'user']")


class TestStateful:
    """The third form, of the shape of τ²-bench's agents."""

    @pytest.mark.parametrize("define", ["def", "async def"])
    def test_agent(self, play, define):
        run = play(
            f"""
            class it:
                def __init__(self, tools, domain_policy):
                    assert [tool.name for tool in tools][0] == "create_task"
                    assert "Agent policy" in domain_policy

                def set_seed(self, seed):
                    print("seed:", seed)

                def get_init_state(self, message_history=None):
                    return {{"history": [message.role for message in message_history], "turn": 0}}

                {define} generate_next_message(self, message, state):
                    state = state | {{"turn": state["turn"] + 1}}
                    print("state:", state, message.role)
                    from pytest_tau.models import AssistantMessage, ToolCall
                    if state["turn"] == 1:
                        return {MODEL_CALL}, state
                    return AssistantMessage(content="Done."), state
            """
        )
        run.outcomes(passed=1)
        run.line("seed: 626729")
        run.line("state: {'history': ['assistant'], 'turn': 1} user")
        run.line("state: {'history': ['assistant'], 'turn': 2} tool")


class TestUsers:
    """Users mirror agents."""

    def test_respond(self, play):
        run = play(
            """
            class it:
                def __init__(self, tools, instructions, task, seed):
                    print("given:", [tool.name for tool in tools], instructions.split(), task.id, seed)
                    self.turn = 0

                def respond(self, message):
                    self.turn += 1
                    print("heard:", message.role, message.content)
                    if self.turn == 1:
                        return "Milk!"
                    return {"tool_calls": [{"name": "check_notifications"}]} if self.turn == 2 else "###STOP###"
            """,
            "user",
        )
        run.outcomes(passed=1)
        line = "given: ['check_notifications', 'dismiss_notification'] ['Instructions:', 'Have', \"'Buy\", \"milk'\""
        run.line(line, "buy-milk 626729")
        run.line("heard: assistant Hi! How can I help you today?")
        run.line("heard: tool [{")

    def test_user_tools_narrow_what_it_can_call(self, play, a_task):
        run = play(
            """
            class it:
                def __init__(self, tools):
                    print("given:", [tool.name for tool in tools])

                def respond(self, message):
                    return "###STOP###"
            """,
            "user",
            task=a_task(user_tools=["check_notifications"]),
        )
        run.line("given: ['check_notifications']")

    @pytest.mark.parametrize("define", ["def", "async def"])
    def test_function(self, play, define):
        run = play(
            f"""
            {define} it(messages, tools):
                print("sees:", [message["role"] for message in messages], len(tools))
                return "Milk!" if len(messages) == 2 else "###STOP###"
            """,
            "user",
        )
        run.outcomes(passed=1)
        run.line("sees: ['system', 'user'] 2")
        run.line("sees: ['system', 'user', 'assistant', 'user'] 2")

    def test_stateful(self, play):
        run = play(
            """
            from pytest_tau.models import UserMessage

            class it:
                def __init__(self, tools, instructions):
                    pass

                def get_init_state(self, message_history=None):
                    return []

                def generate_next_message(self, message, state):
                    state = [*state, message.content]
                    print("heard:", len(state))
                    return UserMessage(content="###STOP###" if len(state) == 2 else "Milk!"), state
            """,
            "user",
        )
        run.outcomes(passed=1)
        run.line("heard: 2")

    @pytest.mark.parametrize("token", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
    def test_how_a_user_ends_it(self, play, token):
        run = play(f"def it(messages, tools):\n    return 'Bye. {token}'\n", "user")
        run.outcomes(failed=1)
        run.line(f"ended by the user's {token} after 2 turns")
