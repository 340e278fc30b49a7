"""Conversations of bundled tasks that several modules look at: each is played once in a process, for reading only.

And conversations with rule-based agents that are spoken to by hand.

The package is imported when it is needed, because every run of the tests imports this module.
"""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_tau.environment import Domain, Environment
    from pytest_tau.models import Message, Requestor, Simulation, Task, ToolCall, ToolMessage
    from pytest_tau.policy import PolicyReport


@functools.cache
def bundled(name: str) -> tuple[Domain, dict[str, Task]]:
    """Return a bundled domain and its tasks."""
    from pytest_tau import load_domain

    domain = load_domain(name)
    return domain, {task.id: task for task in domain.tasks(None)}


@functools.cache
def talk(name: str, task_id: str, agent: str) -> Simulation:
    """Return the conversation of an agent with gold, if it is gold itself, or else with the scripted user.

    Tasks that need a judge have one that agrees.
    """
    from pytest_tau import Evaluation, SimulationSettings, simulate
    from pytest_tau.evaluation import BUILT_IN_JUDGES

    domain, tasks = bundled(name)
    settings = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
    user = "gold" if agent == "gold" else "scripted"
    return simulate(tasks[task_id], domain=domain, agent=agent, user=user, seed=1, settings=settings)


def talks(name: str, agent: str) -> dict[str, Simulation]:
    """Return the conversation of each bundled task with an agent."""
    return {task_id: talk(name, task_id, agent) for task_id in bundled(name)[1]}


def base_talks(name: str, agent: str) -> dict[str, Simulation]:
    """Return the conversation of each task of the base set with an agent."""
    return {task.id: talk(name, task.id, agent) for task in bundled(name)[0].tasks("base")}


def calls_with_answers(simulation: Simulation) -> list[tuple[ToolCall, ToolMessage]]:
    """Return the calls of a conversation with their results."""
    calls = [call for message in simulation.messages for call in getattr(message, "tool_calls", None) or []]
    return list(zip(calls, [m for m in simulation.messages if m.role == "tool"], strict=True))


class Conversation:
    """An agent, spoken to by hand, over an environment of its own."""

    def __init__(self, agent: Any, environment: Environment) -> None:
        self.agent, self.environment = agent, environment
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def say(self, text: str) -> str:
        """Return what the agent answers, once it has made its calls."""
        from pytest_tau.models import UserMessage

        message = asyncio.run(self.agent.respond(UserMessage(content=text)))
        while message.tool_calls:
            (call,) = message.tool_calls
            self.calls.append((call.name, call.arguments))
            result = self.environment.call(call.name, call.arguments)
            message = asyncio.run(self.agent.respond(result))
        return message.content or ""

    @property
    def writes(self) -> list[str]:
        """Return the names of the calls that may have changed something."""
        kinds = self.environment.tool_infos
        return [name for name, _ in self.calls if kinds[name].kind == "write"]


class Talk:
    """A conversation by hand, over an environment of the domain."""

    def __init__(self, domain: Domain, *setup: tuple[Requestor, str, dict[str, Any]]) -> None:
        from pytest_tau.models import AssistantMessage, Task

        actions = [{"env_type": side, "func_name": name, "arguments": given} for side, name, given in setup]
        self.task = Task.model_validate(
            {
                "id": "by-hand",
                "user_scenario": {"instructions": "None."},
                "initial_state": {"initialization_actions": actions},
                "evaluation_criteria": {"actions": []},
            }
        )
        self.domain = domain
        self.environment = domain.environment(self.task)
        self.messages: list[Message] = [AssistantMessage(content="Hi! How can I help you today?")]

    def user(self, text: str) -> Talk:
        from pytest_tau.models import UserMessage

        self.messages.append(UserMessage(content=text))
        return self

    def agent(self, text: str) -> Talk:
        from pytest_tau.models import AssistantMessage

        self.messages.append(AssistantMessage(content=text))
        return self

    def calls(self, *calls: tuple[str, dict[str, Any]], text: str | None = None) -> Talk:
        from pytest_tau.models import AssistantMessage, ToolCall

        made = [
            ToolCall(id=f"call_{len(self.messages)}_{number}", name=n, arguments=a)
            for number, (n, a) in enumerate(calls)
        ]
        self.messages.append(AssistantMessage(content=text, tool_calls=made))
        for call in made:
            result = self.environment.call(call.name, call.arguments)
            self.messages.append(result.model_copy(update={"id": call.id}))
        return self

    def call(self, name: str, /, **arguments: Any) -> Talk:
        return self.calls((name, arguments))

    def phone(self, name: str, /, **arguments: Any) -> Talk:
        from pytest_tau.models import ToolCall, UserMessage

        call = ToolCall(id=f"call_{len(self.messages)}", name=name, arguments=arguments, requestor="user")
        self.messages.append(UserMessage(tool_calls=[call]))
        result = self.environment.call(name, arguments, "user")
        self.messages.append(result.model_copy(update={"id": call.id, "requestor": "user"}))
        return self

    def hidden(self, name: str, /, **arguments: Any) -> Talk:
        return self.call("call_discoverable_agent_tool", agent_tool_name=name, arguments=json.dumps(arguments))

    def agreed(self, plan: str) -> Talk:
        return self.agent(f"{plan} Do you confirm? (yes/no)").user("Yes, please.")

    def report(self, **settings: Any) -> PolicyReport:
        from pytest_tau.policy import check_policy

        found = check_policy(self.messages, self.task, self.domain, **settings)
        assert found is not None
        assert not found.problems, found.problems
        return found

    @property
    def breached(self) -> list[str]:
        return list(self.report().counts)
