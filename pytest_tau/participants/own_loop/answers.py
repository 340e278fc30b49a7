"""The tool calls of a model's answer, and which of them have reached the trial's tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import ParticipantError
from ..replies import as_message

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(eq=False)
class AnsweredCall:
    """A tool call in a model's answer.

    Attributes:
        id: The model's id of it.
        place: Its position in the answer.
        arrived: The agent has made the call.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    place: int
    arrived: bool = False


@dataclass(eq=False)
class ModelAnswer:
    """A model's answer: its text, and the calls in it that may reach the trial's tools.

    Attributes:
        text: The text; empty once a message has it.
        calls: The calls, in the model's order.
        malformed: The number of calls whose arguments were no JSON object.
        unknown: The number of calls of tools that neither the trial has nor the request offered to the model.
        begun: A message with calls of the answer was made.
        actor: Who has called the model; None if that is not known.
    """

    text: str = ""
    calls: list[AnsweredCall] = field(default_factory=list)
    malformed: int = 0
    unknown: int = 0
    begun: bool = False
    actor: str | None = None

    @property
    def missing(self) -> list[str]:
        """The tools of the calls that have not arrived yet."""
        return [call.name for call in self.calls if not call.arrived]

    def claim(self, name: str, arguments: Any) -> AnsweredCall | None:
        """Return the call of the answer that the agent is making now; None if the answer does not have it.

        Args:
            name: The tool.
            arguments: The arguments as they arrive. A framework may have added defaults, or removed nulls.
        """
        left = [call for call in self.calls if call.name == name and not call.arrived]
        equal = [call for call in left if call.arguments == arguments]
        matching = next(iter(equal or [call for call in left if _agree(call.arguments, arguments)]), None)
        if matching is not None:
            matching.arrived = True
        return matching


def _agree(asked: dict[str, Any], given: Any) -> bool:
    return isinstance(given, dict) and all(given[name] == asked[name] for name in asked.keys() & given.keys())


def read_answer(message: dict[str, Any], tools: Collection[str], offered: Collection[str] = ()) -> ModelAnswer:
    """Read a model's answer.

    Args:
        message: The answer in OpenAI chat format.
        tools: The names of the trial's tools.
        offered: The names of the tools in the request. Those that the trial does not have are the framework's own,
            such as hand-offs: calls of them are neither expected nor unknown.
    """
    try:
        reply = as_message(message | {"role": "assistant"}, "agent")  # of a server that has another name for it
    except ParticipantError:  # empty, or no chat message: what the agent makes of it counts
        return ModelAnswer()
    answer = ModelAnswer(text=reply.text)
    for place, call in enumerate(reply.tool_calls or []):
        if call.malformed is not None:
            answer.malformed += 1
        elif call.name in tools:
            answer.calls.append(AnsweredCall(call.id, call.name, call.arguments, place))
        elif call.name not in offered:
            answer.unknown += 1
    return answer
