"""The conversation of a chat model that plays one side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..chat.context_window import fit, token_counter
from ..chat.requests import refusal_of, text_of
from ..chat.text_tools import TextTools
from ..documents import json_or_none
from ..errors import ConfigurationError, ContextWindowError, ParticipantError, UnusableReplyError
from ..language.message import refuses_to_play, spoken
from ..models import json_copy, not_json
from ..plain import json
from ..text import shorten
from .chat_format import chat_messages
from .replies import as_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..chat import ChatReply
    from ..models import Message
    from .context import Incoming, ParticipantContext, Reply

#: Finish reasons of an answer that is a refusal.
_REFUSED = ("refusal", "safety", "prohibited_content")
#: Messages in OpenAI chat format, oldest first.
_Chat: TypeAlias = list[dict[str, Any]]


class _Model(Protocol):
    """What a conversation needs of a model."""

    async def complete(
        self, messages: _Chat, tools: _Chat | None = None, *, tool_choice: str | None = None
    ) -> ChatReply: ...


class Dialogue:
    """The messages that one side has seen and sent, in OpenAI chat format, and the model that writes the next one.

    The whole conversation is kept; a context budget limits the messages of a request.

    Args:
        context: The side, its model, its tools, and the conversation so far.
        name: The participant's name on the command line.
        system: The system message.
        model: The model, if it is not the one of the context as it is.
        may_be_empty: An empty text is a message, as in τ-bench.

    Raises:
        ConfigurationError: There is no model, or the budget is too small for the system message and the tools.
    """

    def __init__(
        self,
        context: ParticipantContext,
        name: str,
        system: str,
        model: _Model | None = None,
        *,
        may_be_empty: bool = False,
    ) -> None:
        if context.model is None or context.models is None:
            problem = f"{context.side} {name!r} needs a model: add --tau-{context.side}-llm MODEL"
            raise ConfigurationError(problem)
        self._side, self._models, self._name = context.side, context.models, context.model.name
        by_settings = TextTools(context.model) if context.prompting.tool_calls == "text" else context.model
        self._model: _Model = model or by_settings
        self._one_call = context.prompting.one_call and context.side == "agent"
        self._tools = [tool.openai_schema for tool in context.tools]
        self._known = {tool.name for tool in context.tools}
        self._official, self._may_be_empty = context.protocol.is_official, may_be_empty
        self._messages: _Chat = [{"role": "system", "content": system}]
        self._ids: set[str] = set()
        self._made_ids = 0
        self._waiting: list[str] = []
        self._select = _message_selector(context, self._name, self._tools)
        try:
            self._select(self._messages)
        except ContextWindowError as error:
            problem = f"the {self._side}'s context budget is too small for any conversation: {error}"
            raise ConfigurationError(problem) from None
        for message in context.past:
            self.hear(message)

    def take_back(self) -> None:
        """Remove the message that was said last, as if it had never been."""
        self._messages.pop()

    @property
    def messages(self) -> _Chat:
        """The conversation so far; for reading only."""
        return self._messages

    async def say_after(self, note: str, *, attempts: int = 1) -> Reply:
        """Return the model's next message after a note that is not a part of the conversation; see ``say``."""
        before = len(self._messages)
        self._messages.append({"role": "user", "content": note})
        try:
            return await self.say(attempts=attempts)
        finally:
            del self._messages[before]

    def hear(self, message: Incoming | Message) -> None:
        """Add a message of either side, unless this side does not see it."""
        for chat in chat_messages(message, self._side):
            self._add(chat)

    async def say(self, *, attempts: int = 1, tool_choice: str | None = None) -> Reply:
        """Return the model's next message, and add it to the conversation as the model sent it.

        Args:
            attempts: The most calls of the model until its message can be used. The message has the cost of the last
                one; the others are in the trial's usage.
            tool_choice: ``required`` if the model must call a tool.

        Raises:
            ParticipantError: No message could be used: it was empty, or no chat message.
            UnusableReplyError: The same, or the arguments of a call were no JSON object, under the official protocol.
            ContextWindowError: The newest messages do not fit into the budget.
            ModelError: The model failed.
            ReplayError: A replayed trial makes a request that was not recorded.
        """
        for attempt in range(1, attempts + 1):
            answer = await self._call_model(tool_choice)
            if self._one_call and answer.message.get("tool_calls"):
                first = answer.message | {"tool_calls": answer.message["tool_calls"][:1]}
                answer = answer.model_copy(update={"message": first})
            try:
                reply = as_message(self._fields(answer), self._side, may_be_empty=self._may_be_empty)
            except ParticipantError as error:
                if attempt == attempts:
                    problem = self._describe_unusable(error, answer, attempts)
                    if self._official:
                        raise UnusableReplyError(problem) from None
                    raise ParticipantError(problem, side=self._side) from None
                continue
            self._count(reply)
            if self._official:
                message = self._add(self._official_message(reply))
            else:
                message = self._add({"role": "assistant", **json_copy(answer.message)})
            for call, sent in zip(reply.tool_calls or [], message.get("tool_calls") or [], strict=True):
                call.id = sent["id"]
            return reply
        raise ValueError(f"attempts must be at least 1, got {attempts}")

    def _official_message(self, reply: Reply) -> dict[str, Any]:
        """Return the model's own message as the reference sends it back: text and calls, without reasoning."""
        for call in reply.tool_calls or []:
            if call.malformed is not None:
                arguments = shorten(call.malformed)
                raise UnusableReplyError(f"{self._name} sent arguments of {call.name!r} that are not JSON: {arguments}")
        (chat,) = chat_messages(reply, self._side)
        return chat

    async def _call_model(self, tool_choice: str | None) -> ChatReply:
        return await self._model.complete(self._select(self._messages), self._tools, tool_choice=tool_choice)

    def _add(self, chat: dict[str, Any]) -> dict[str, Any]:
        """Add a chat message; calls and results are linked by unique ids.

        Results come in the order of their calls, so they are linked by order: an id may be missing or repeated, and
        the orchestrator may have replaced it.
        """
        if chat.get("tool_calls"):
            chat["tool_calls"] = [self._with_id(call) for call in chat["tool_calls"]]
            self._waiting = [call["id"] for call in chat["tool_calls"]]
        elif chat["role"] == "tool" and self._waiting:
            chat["tool_call_id"] = self._waiting.pop(0)
        self._messages.append(chat)
        return chat

    def _with_id(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call.get("function") or {}
        arguments = _arguments_to_send(function.get("arguments"))
        # The reference has the name twice.
        outer = {"name": function.get("name")} if self._official else {}
        return {
            **call,
            **outer,
            "id": self._unique_id(call.get("id")),
            "type": "function",
            "function": {**function, "arguments": arguments},
        }

    def _unique_id(self, given: Any) -> str:
        call_id = given if isinstance(given, str) else ""
        while not call_id or call_id in self._ids:
            self._made_ids += 1
            call_id = f"tau_{self._side}_call_{self._made_ids}"
        self._ids.add(call_id)
        return call_id

    def _fields(self, answer: ChatReply) -> dict[str, Any]:
        """Return the fields of a message. The agent is sent what its user says, without thoughts and envelopes."""
        content = answer.message.get("content") or text_of(answer.message)
        if (
            self._side == "user"
            and isinstance(content, str)
            and (without_thoughts := spoken(content)) != content.strip()
        ):
            content = without_thoughts
        return {
            "content": content,
            "refusal": refusal_of(answer.message) or self._refusal_in(content, answer.finish_reason),
            "tool_calls": answer.message.get("tool_calls"),
            "cost": answer.cost,
            "usage": answer.usage.model_dump() if answer.usage else None,
            "generation_time_seconds": answer.seconds,
            "raw_data": answer.message,
            "finish_reason": answer.finish_reason,
        }

    def _refusal_in(self, content: Any, finish_reason: str | None) -> str | None:
        """Return a text that the user's model has written instead of what the person says; None if it has not."""
        if self._side != "user" or self._official or not isinstance(content, str) or not content:
            return None
        return content if finish_reason in _REFUSED or refuses_to_play(content) else None

    def _count(self, reply: Reply) -> None:
        usage = self._models.ledger.usage[self._side]
        for call in reply.tool_calls or []:
            usage.malformed_calls += call.malformed is not None
            usage.unknown_tools += call.name not in self._known

    def _describe_unusable(self, error: ParticipantError, answer: ChatReply, attempts: int) -> str:
        problem = str(error).removeprefix("respond() returned ")
        times = f", the last of {attempts} times" if attempts > 1 else ""
        reason = f" (finish reason: {answer.finish_reason})" if answer.finish_reason else ""
        return f"{self._name} sent {problem}{times}{reason}"


def _message_selector(context: ParticipantContext, model: str, tools: list[dict[str, Any]]) -> Callable[[_Chat], _Chat]:
    """Return the function that selects the messages to send: all of them, or those that fit the budget."""
    budget = context.prompting.context
    if budget is None:
        return lambda messages: messages
    count = token_counter(model)
    return lambda messages: fit(messages, tools, budget, count)


def _arguments_to_send(arguments: Any) -> str:
    """Return the text of a call's arguments as it is sent back.

    Providers refuse a conversation with a call whose arguments are not a JSON object, so such a call is sent back
    without any. The call's result says what was wrong with them, and how they began.
    """
    parsed = json_or_none(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(parsed, dict) or not_json(parsed):
        return "{}"
    return arguments if isinstance(arguments, str) else json.dumps(parsed)
