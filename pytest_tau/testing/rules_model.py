"""A model server whose model is the rules agent of a domain."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from ..documents import json_or_none, parse_json
from ..domains import load_domain
from ..errors import ConfigurationError
from ..models import MultiToolMessage, ToolMessage, UserMessage
from ..participants import AgentTask, ParticipantContext, adapt, chat_messages, domain_agent
from .model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..participants import Incoming

__all__ = ["rules_server"]

#: The tool by which smolagents lets a model answer: it takes no plain text.
_ANSWER = "final_answer"
#: How smolagents writes results and the user's words, both as messages of the user, possibly joined to one.
_OBSERVATION, _TASK = "Observation:\n", "New task:\n"
#: The result of a tool as Google's kit writes it.
_WRAPPED = re.compile(r'\{"result": ?("(?:[^"\\]|\\.)*")\}')
_ANSWERED = re.compile(rf"Calling tools:\n.*'name': '{_ANSWER}'", re.DOTALL)


def rules_server(domain: str | Domain, **options: Any) -> ModelServer:
    """Return a model server that answers as the domain's rules agent does (``--tau-agent rules``).

    With it, an agent of any framework can be tested without a model and without a key: if the agent passes its model's
    calls and texts on, its conversations are those of ``--tau-agent rules``.

    The server has no state. For each request the rules agent is built anew and is given the user's messages and the
    tools' results of the request; its last reply is the answer. The agent's policy is the request's system message. If
    the request has a tool ``final_answer``, as smolagents' have, texts are given as calls of it.

    The user's messages and the results have to reach the model unchanged: an agent that decorates or wraps them cannot
    be served.

    Args:
        domain: The domain, or the name of an installed one.
        options: ``latency``, ``faults`` and ``api_key`` of :class:`ModelServer`.

    Raises:
        ConfigurationError: There is no such domain, or it has no rules agent.
    """
    if isinstance(domain, str):
        domain = load_domain(domain)
    return ModelServer(_RulesModel(domain), **options)


class _RulesModel:
    """A script for a model server: the rules agent, as a function of the request."""

    def __init__(self, domain: Domain) -> None:
        self._target = domain_agent("rules", domain.spec.agents)
        environment = domain.environment()
        self._tools, self._policy = environment.tools("assistant"), environment.policy

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request, an assistant message.

        Raises:
            ConfigurationError: The request has no message that the agent could answer, or a wrapped result.
        """
        chat = asyncio.run(self._answer(request["messages"]))
        for call in chat.get("tool_calls", ()):
            if not call["id"]:
                del call["id"]  # the server makes one
        names = {(tool.get("function") or {}).get("name") for tool in request.get("tools") or ()}
        if _ANSWER in names and not chat.get("tool_calls"):
            return {"tool_calls": [{"function": {"name": _ANSWER, "arguments": {"answer": chat["content"]}}}]}
        return chat

    async def _answer(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        policy = "\n".join(_text(message) for message in messages if message.get("role") in ("system", "developer"))
        context = ParticipantContext("agent", self._tools, policy or self._policy, AgentTask(id=""))
        agent = await adapt(self._target, context)
        reply = None
        for incoming in _incoming(messages):
            reply = await agent.respond(incoming)
        await agent.close()
        if reply is None:
            raise ConfigurationError("the request has no message of a user: the rules agent has nothing to answer")
        (chat,) = chat_messages(reply, "agent")
        return chat


def _incoming(messages: list[dict[str, Any]]) -> Iterator[Incoming]:
    """Yield what the agent is given, one after the other: the user's words, and the results of each reply's calls."""
    results: list[ToolMessage] = []
    answered = False
    for message in [*messages, {"role": "end"}]:
        if message.get("role") == "tool":
            results.append(_result(_text(message), str(message.get("tool_call_id", ""))))
            continue
        if results:
            yield results[0] if len(results) == 1 else MultiToolMessage(tool_messages=results)
            results = []
        if message.get("role") == "assistant":
            answered = bool(_ANSWERED.search(_text(message)))
        elif message.get("role") == "user":
            yield from _from_user(_text(message), answered)


def _from_user(text: str, answered: bool) -> Iterator[Incoming]:
    """Yield what a message of the user has: words, or in smolagents' form a result, words, or both.

    Args:
        text: The message's text.
        answered: Whether a result is that of ``final_answer``, which is not the agent's.
    """
    before, task, words = text.rpartition(_TASK)
    if text.startswith(_OBSERVATION):
        observed = before if task else text
        if not answered:
            yield _result(observed.removeprefix(_OBSERVATION).strip())
        if not task:
            return
    yield UserMessage(content=words if task else text)


def _result(text: str, call_id: str = "") -> ToolMessage:
    """Return a result; Google's kit wraps its text as ``{"result": TEXT}``."""
    wrapped = _WRAPPED.fullmatch(text)
    text = parse_json(wrapped[1]) if wrapped else text
    if (key := _wrapped_in(text)) is not None:
        raise ConfigurationError(
            f"the agent has wrapped the result of a tool as {{{key!r}: TEXT}}: the rules agent reads results as the "
            "tools write them; send them to the model unchanged"
        )
    return ToolMessage(id=call_id, content=text, error=text.startswith("Error: "))


def _wrapped_in(text: str) -> str | None:
    """Return the only key of an object whose value is the text of a result; None for any other text."""
    outer = json_or_none(text)
    if not isinstance(outer, dict) or len(outer) != 1:
        return None
    ((key, inner),) = outer.items()
    is_result = isinstance(inner, str) and (inner.startswith("Error: ") or isinstance(json_or_none(inner), dict | list))
    return str(key) if is_result else None


def _text(message: dict[str, Any]) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
