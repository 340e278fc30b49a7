"""A conversation as the chat model that plays one side of it knows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from ..chat.context_window import fit, token_counter
from ..chat.text_tools import TextTools
from ..errors import ConfigurationError, ContextWindowError, ParticipantError
from ..models import json_copy
from .adapters import chat_messages
from .replies import as_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..chat import ChatReply
    from ..models import Message
    from .context import Incoming, ParticipantContext, Reply

#: Messages in OpenAI chat format, oldest first.
_Chat: TypeAlias = list[dict[str, Any]]


class Dialogue:
    """Everything that one side has seen and said, in OpenAI chat format, and the model that says what comes next.

    The conversation is kept whole. Where there is a context budget, the oldest messages are left out of a request,
    not of the conversation.

    Args:
        context: The side, its model, its tools, and what was said before.
        name: How the participant is called on the command line.
        system: The system message.

    Raises:
        ConfigurationError: There is no model, or the budget does not even hold the system message and the tools.
    """

    def __init__(self, context: ParticipantContext, name: str, system: str) -> None:
        if context.model is None or context.models is None:
            problem = f"{context.side} {name!r} needs a model: name one with --tau-{context.side}-llm"
            raise ConfigurationError(problem)
        self._side, self._models, self._name = context.side, context.models, context.model.name
        self._model = TextTools(context.model) if context.prompting.text_tools else context.model
        self._tools = [tool.openai_schema for tool in context.tools]
        self._known = {tool.name for tool in context.tools}
        self._messages: _Chat = [{"role": "system", "content": system}]
        self._ids: set[str] = set()
        self._made_ids = 0
        self._waiting: list[str] = []
        self._window = _window(context, self._name, self._tools)
        try:
            self._window(self._messages)
        except ContextWindowError as error:
            problem = f"the {self._side}'s context budget is too small for any conversation: {error}"
            raise ConfigurationError(problem) from None
        for message in context.past:
            self.hear(message)

    def hear(self, message: Incoming | Message) -> None:
        """Add a message, of whichever side; one that this side does not see is left out."""
        for chat in chat_messages(message, self._side):
            self._add(chat)

    async def say(self, *, attempts: int = 1, tool_choice: str | None = None) -> Reply:
        """The model's next message, added to the conversation as the model sent it.

        Args:
            attempts: How often the model is asked at the most, until its message can be used. The message tells the
                cost of the last one; the others are in the trial's usage.
            tool_choice: ``required`` where the model has to call a tool.

        Raises:
            ParticipantError: No message could be used: it was empty, or no chat message.
            ContextWindowError: The newest messages do not fit into the budget.
            ModelError: The model failed.
            ReplayError: A replayed trial asks what was not recorded.
        """
        for attempt in range(1, attempts + 1):
            answer = await self._ask(tool_choice)
            try:
                reply = as_message(_fields(answer), self._side)
            except ParticipantError as error:
                if attempt == attempts:
                    raise ParticipantError(self._unusable(error, answer, attempts), side=self._side) from None
                continue
            self._tally(reply)
            kept = self._add({"role": "assistant", **json_copy(answer.message)})
            for call, sent in zip(reply.tool_calls or [], kept.get("tool_calls") or [], strict=True):
                call.id = sent["id"]
            return reply
        raise ValueError(f"attempts must be at least 1, got {attempts}")

    async def _ask(self, tool_choice: str | None) -> ChatReply:
        return await self._model.complete(self._window(self._messages), self._tools, tool_choice=tool_choice)

    def _add(self, chat: dict[str, Any]) -> dict[str, Any]:
        """Add a chat message; calls and results are linked by ids of which each occurs once.

        Results come in the order of their calls, so they are linked by that: an id may be missing or repeated, and
        whoever runs the conversation may have given the call another one.
        """
        if chat.get("tool_calls"):
            chat["tool_calls"] = [self._linkable(call) for call in chat["tool_calls"]]
            self._waiting = [call["id"] for call in chat["tool_calls"]]
        elif chat["role"] == "tool" and self._waiting:
            chat["tool_call_id"] = self._waiting.pop(0)
        self._messages.append(chat)
        return chat

    def _linkable(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call.get("function") or {}
        arguments = _acceptable(function.get("arguments"))
        return {
            **call,
            "id": self._own_id(call.get("id")),
            "type": "function",
            "function": {**function, "arguments": arguments},
        }

    def _own_id(self, given: Any) -> str:
        own = given if isinstance(given, str) else ""
        while not own or own in self._ids:
            self._made_ids += 1
            own = f"tau_{self._side}_call_{self._made_ids}"
        self._ids.add(own)
        return own

    def _tally(self, reply: Reply) -> None:
        usage = self._models.usage[self._side]
        for call in reply.tool_calls or []:
            usage.malformed_calls += call.malformed is not None
            usage.unknown_tools += call.name not in self._known

    def _unusable(self, error: ParticipantError, answer: ChatReply, attempts: int) -> str:
        problem = str(error).removeprefix("respond() returned ")
        times = f", the last of {attempts} times" if attempts > 1 else ""
        reason = f" (finish reason: {answer.finish_reason})" if answer.finish_reason else ""
        return f"{self._name} sent {problem}{times}{reason}"


def _window(context: ParticipantContext, model: str, tools: list[dict[str, Any]]) -> Callable[[_Chat], _Chat]:
    """What gives the part of a conversation that is sent: all of it, or what fits the budget."""
    budget = context.prompting.context_tokens
    if budget is None:
        return lambda messages: messages
    count = token_counter(model)
    return lambda messages: fit(messages, tools, budget, count)


def _fields(answer: ChatReply) -> dict[str, Any]:
    return {
        "content": answer.message.get("content"),
        "tool_calls": answer.message.get("tool_calls"),
        "cost": answer.cost,
        "usage": answer.usage.model_dump() if answer.usage else None,
        "generation_time_seconds": answer.seconds,
        "raw_data": answer.message,
    }


def _acceptable(arguments: Any) -> str:
    """The text of a call's arguments as it is sent back.

    Providers refuse a whole conversation for one call whose arguments are no JSON object, so such a call is sent back
    without any. The model reads in the call's result what was wrong with them, and how they began.
    """
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return "{}"
    return arguments if isinstance(arguments, str) else json.dumps(found)
