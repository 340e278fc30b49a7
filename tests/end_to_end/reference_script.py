"""A script for the model server that plays reference solutions: what gold says and calls, said and called by a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_tau.models import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from pytest_tau import Domain, Simulation, Task

#: The project that runs against the server: each call says whose it is, because scenarios alone do not identify tasks.
CONFTEST = """
import os
import zlib

from pytest_tau.chat import LLM
from pytest_tau.integrations.litellm import LiteLLM
from pytest_tau.integrations.openai_api import OpenAIServer

limits = {"timeout": float(os.environ.get("CALL_TIMEOUT", "30")), "attempts": 12}
limits |= {"first_wait": 0.01, "longest_wait": 0.05}
litellm, aiohttp = LiteLLM(**limits), OpenAIServer(**limits)
# One of so many tasks is played through litellm, which takes six times as long for a call.
share = int(os.environ.get("LITELLM_SHARE", "1"))


def pytest_tau_make_model(item, role, llm, llm_args, config):
    chat = aiohttp if zlib.crc32(item.task.id.encode()) % share else litellm
    return LLM(llm, chat, {**llm_args, "extra_body": {"user": f"{item.task_spec.domain.name}/{item.task.id}/{role}"}})
"""


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
