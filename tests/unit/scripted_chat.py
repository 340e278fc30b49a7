"""A chat model that follows a script, and what is said to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_tau.chat import LLM, ChatReply, TrialModels, Usage
from pytest_tau.models import AssistantMessage
from pytest_tau.orchestrator import Conversation, ConversationSetup, Limits
from pytest_tau.participants import ParticipantContext

from .tiny import run, task

if TYPE_CHECKING:
    from pytest_tau.chat import ChatRequest
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task
    from pytest_tau.orchestrator import Ending

GREETING = "Hi! How can I help you today?"


class Chat:
    """Answers with the entries of a script: a text, a message, a reply, or an exception to raise."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        entry = self.script.pop(0)
        if isinstance(entry, BaseException):
            raise entry
        if isinstance(entry, ChatReply):
            return entry
        message = {"role": "assistant", "content": entry} if isinstance(entry, str) else {"role": "assistant", **entry}
        return ChatReply(message=message, usage=Usage(prompt_tokens=5, completion_tokens=2), cost=0.5, seconds=1.5)

    @property
    def sent(self) -> list[list[dict[str, Any]]]:
        """The messages of each request."""
        return [request.messages for request in self.requests]


def called(name: str, call_id: str | None = "c1", /, **arguments: Any) -> dict[str, Any]:
    """A tool call as a model sends it; arguments that are given as ``text`` are sent as they are."""
    text = arguments.get("text", json.dumps(arguments))
    sent: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": text}}
    return sent if call_id is None else {"id": call_id, **sent}


def calls(*made: dict[str, Any], content: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message with tool calls as a model sends it."""
    return {"content": content, "tool_calls": list(made), **fields}


def models(agent: Any = None, user: Any = None) -> TrialModels:
    """The models of a trial."""
    given = {"agent": agent, "user": user}
    return TrialModels({role: LLM("m", chat) for role, chat in given.items() if chat}, seed=7)  # type: ignore[misc]


def context(
    domain: Domain, side: str, chat: Chat | None, wanted: Task | None = None, **fields: Any
) -> ParticipantContext:
    """What a participant of the tiny domain is built from."""
    wanted = wanted or task()
    env = domain.environment(wanted, solo=fields.get("solo", False))
    history = [] if fields.get("solo") else [AssistantMessage(content=GREETING)]
    defaults: dict[str, Any] = {
        "tools": env.tools("assistant" if side == "agent" else "user"),
        "instructions": env.policy if side == "agent" else str(wanted.user_scenario),
        "task": wanted,
        "history": list(wanted.message_history) or history,
        "models": models(**{side: chat}),
    }
    return ParticipantContext(side=side, **defaults | fields)  # type: ignore[arg-type]


def converse(
    domain: Domain, agent: Any, user: Any, wanted: Task | None = None, *, solo: bool = False
) -> tuple[Conversation, Ending]:
    """A conversation of two participants over the tiny domain, and how it ended."""
    wanted = wanted or task()
    conversation = Conversation(
        wanted, domain.environment(wanted, solo=solo), agent, user, ConversationSetup(Limits(timeout=20.0))
    )
    return conversation, run(conversation.run())
