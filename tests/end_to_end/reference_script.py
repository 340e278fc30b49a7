"""A script for the model server that plays reference solutions: what gold says and calls, said and called by a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_tau.models import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau import Domain, Simulation, Task

#: The project that runs against the server: each call says whose it is, because scenarios alone do not identify tasks.
CONFTEST = """
import os

from pytest_tau.chat import LLM
from pytest_tau.integrations.litellm import LiteLLM

limit = float(os.environ.get("CALL_TIMEOUT", "30"))
chat = LiteLLM(timeout=limit, attempts=12, first_wait=0.01, longest_wait=0.05)


def pytest_tau_make_model(item, role, llm, llm_args, config):
    return LLM(llm, chat, {**llm_args, "extra_body": {"user": f"{item.task_spec.domain.name}/{item.task.id}/{role}"}})
"""


class KnownParts:
    """What openai's client makes of messages and tools, found once for each of them, for reading only.

    It looks through all of them again in each call, for fields whose names in JSON are others, which takes half of the
    time of a conversation through litellm.

    Args:
        transform: The client's own function, which is asked for everything else.
    """

    def __init__(self, transform: Callable[[Any, Any], Any]) -> None:
        self._transform, self._known = transform, dict[tuple[str, str, Any], Any]()

    async def __call__(self, data: Any, expected_type: Any) -> Any:
        """Return the body of a request."""
        parts = {name: data[name] for name in ("messages", "tools") if isinstance(data.get(name), list)}
        made = await self._transform({name: value for name, value in data.items() if name not in parts}, expected_type)
        for name, items in parts.items():
            made[name] = [await self._part(name, item, expected_type) for item in items]
        return made

    async def _part(self, name: str, item: Any, expected_type: Any) -> Any:
        key = name, json.dumps(item), expected_type
        if key not in self._known:
            self._known[key] = (await self._transform({name: [item]}, expected_type))[name][0]
        return self._known[key]


class ReferenceScript:
    """Answers requests whose ``user`` is ``domain/task/role``."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[int, list[dict[str, Any]]]] = {}

    def learn(self, domain: Domain, task: Task, simulation: Simulation) -> None:
        """Note what either side says and calls in a simulation of the task that gold plays."""
        for role, kind in (("agent", AssistantMessage), ("user", UserMessage)):
            opening: list[Any] = list(task.message_history) or simulation.messages[:1]
            before = sum(isinstance(message, kind) for message in opening)
            own = [message for message in simulation.messages if isinstance(message, kind)][before:]
            self._lines[f"{domain.name}/{task.id}/{role}"] = (before, [_chat(message) for message in own])

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """The next line: the request's own messages say how far the conversation is."""
        before, lines = self._lines[request["user"]]
        said = sum(message["role"] == "assistant" for message in request["messages"])
        return lines[said - before]


def _chat(message: Any) -> dict[str, Any]:
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls or []
    ]
    return {"role": "assistant", "content": message.content, **({"tool_calls": calls} if calls else {})}
