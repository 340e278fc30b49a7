"""The check of what the user has done with its own tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...models import AssistantMessage, UserMessage
from ...participants.scripted.vocabulary import follows, words
from .facts import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conversation import Conversation

_WORD = re.compile(r"[a-z]+")
#: Words of the names of tools that say little about what they do.
_LITTLE = frozenset(("toggle", "set", "reset", "turn", "make", "do", "my", "the", "to", "of", "mode", "device", "user"))


def unasked_action(conversation: Conversation) -> Iterator[Finding]:
    """Find calls of the user's own tools that change something and that were not asked for, at any time before.

    The agent or the scenario asks for a tool by its name, by words of its name, or by a phrase of the domain.
    """
    asked = conversation.scenario
    for number, message in enumerate(conversation.messages):
        if isinstance(message, AssistantMessage):
            asked += "\n" + message.text
        elif isinstance(message, UserMessage) and number >= conversation.start:
            for call in message.tool_calls or ():
                if conversation.mutates(call.name) and not _is_named(call.name, asked, conversation):
                    yield Finding(
                        "unasked-action",
                        number,
                        f"neither the agent nor the scenario has asked for {call.name}({_shown(call.arguments)})",
                    )


def _is_named(tool: str, asked: str, conversation: Conversation) -> bool:
    lower = asked.lower()
    if tool.lower() in lower:
        return True
    said = set(_WORD.findall(lower))
    own = [word for word in _WORD.findall(tool.lower()) if word not in _LITTLE]
    if own and any(_spoken(word, said) for word in own):
        return True
    return any(follows(phrase, words(line)) for phrase in conversation.phrases(tool) for line in asked.splitlines())


def _spoken(word: str, said: set[str]) -> bool:
    return word in said or word + "s" in said or word.removesuffix("s") in said


def _shown(arguments: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
