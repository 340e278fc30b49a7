"""A finished conversation, as the checks of the user see it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...diagnosis import misunderstood_in, whose_misunderstanding
from ...language import spoken, without_tokens
from ...models import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...diagnosis import UnclearReply
    from ...environment import Domain
    from ...models import Message, Task

#: Characters of a text that evidence quotes.
_QUOTED = 160


class Conversation:
    """A finished conversation.

    Args:
        task: Its task.
        messages: The trajectory, oldest first.
        domain: Its domain; None if it is not known, and so what tools do.
    """

    def __init__(self, task: Task, messages: Sequence[Message], domain: Domain | None = None) -> None:
        self.task, self.messages = task, messages
        toolkit = domain.spec.user_tools if domain else None
        self._tools = toolkit.tools() if toolkit else {}
        self._spoken = domain.spec.spoken if domain else {}
        #: The replies of a scripted user that has not understood the agent or gave up, whoever is at fault.
        self.not_understood = misunderstood_in(messages)

    def mutates(self, tool: str) -> bool:
        """Return whether it is known that a tool of the user's changes a state."""
        return tool in self._tools and self._tools[tool].mutates

    def phrases(self, tool: str) -> Sequence[str]:
        """Return by which words people ask for a tool of the user's, such as ``turn/switch airplane/flight mode``."""
        return self._spoken[tool].phrases if tool in self._spoken else ()

    @functools.cached_property
    def instructions(self) -> str:
        """The text of the user's scenario, of each session if there are several."""
        return self.task.scenario_text

    @functools.cached_property
    def scenario(self) -> str:
        """Everything that the user is given."""
        written = [scenario.script.model_dump_json() for scenario in self.task.scenarios if scenario.script]
        return "\n".join(filter(None, [self.instructions, *written, self.task.ticket or ""]))

    @functools.cached_property
    def start(self) -> int:
        """The number of messages of the task's history, which no participant of the trial has written."""
        return len(self.task.message_history or ())

    @functools.cached_property
    def texts(self) -> list[str]:
        """Everything that each message has given."""
        return [text_of(message) for message in self.messages]

    @functools.cached_property
    def misunderstood(self) -> list[UnclearReply]:
        """The replies of a scripted user that has not understood the agent or gave up, if that is its fault."""
        fault = whose_misunderstanding(self.messages) if self.not_understood else None
        return self.not_understood if fault is not None and fault.party == "user" else []

    def user_texts(self) -> Iterator[tuple[int, str]]:
        """Yield the texts of the user with the number of their messages, without tokens."""
        for number, message in enumerate(self.messages):
            if number >= self.start and isinstance(message, UserMessage) and words_of(message):
                yield number, words_of(message)

    def agent_said(self, number: int) -> str:
        """Return the last text of the agent before a message."""
        before = (message for message in reversed(self.messages[:number]) if isinstance(message, AssistantMessage))
        return next((spoken(message.text) for message in before if message.has_text_content()), "")

    @property
    def stop(self) -> tuple[int, UserMessage] | None:
        """Return the message by which the user has ended the conversation."""
        last = self.messages[-1] if self.messages else None
        ended = isinstance(last, UserMessage) and last.stop_token is not None
        return (len(self.messages) - 1, last) if ended and isinstance(last, UserMessage) else None


def words_of(message: UserMessage) -> str:
    """Return the text of a user's message without the tokens that end a conversation."""
    return without_tokens(message.text)


def text_of(message: Message) -> str:
    """Return everything that a message has given: text, arguments of calls, results."""
    if isinstance(message, AssistantMessage | UserMessage):
        calls = " ".join(f"{call.name} {call.arguments}" for call in message.tool_calls or ())
        return f"{message.text} {calls}"
    return (message.content or "") if isinstance(message, ToolMessage) else ""


def quote(text: str, around: str = "") -> str:
    """Return a text in one line for evidence, cut to what is around a word, by default to its end."""
    line, word = " ".join(text.split()), " ".join(around.split())
    at = line.find(word) if word else len(line)
    start = max(0, min(at - _QUOTED // 2, len(line) - _QUOTED))
    end = start + _QUOTED
    return repr("…" * (start > 0) + line[start:end] + "…" * (end < len(line)))
