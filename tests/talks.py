"""Conversations of bundled tasks that several modules look at: each is played once in a process, for reading only.

And conversations with rule-based agents that are spoken to by hand.

The package is imported when it is needed, because every run of the tests imports this module.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_tau.environment import Domain, Environment
    from pytest_tau.models import Simulation, Task, ToolCall, ToolMessage


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
