"""Participants that make the task's reference calls in order, and say the phrases that are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models import AssistantMessage, ToolCall, UserMessage, clone
from ..base import BuiltIn
from ..scripted import opening_of

if TYPE_CHECKING:
    from ...models import Action, Requestor, Task
    from ..context import Incoming, ParticipantContext, Reply

#: The tool by which an agent without a user ends the conversation.
DONE = "done"


def rounds_of(task: Task) -> list[tuple[list[Action], list[Action]]]:
    """Return the reference actions in rounds: first some of the agent's, then some of the user's."""
    rounds: list[tuple[list[Action], list[Action]]] = [([], [])]
    for action in task.criteria.actions or []:
        if action.requestor == "user":
            rounds[-1][1].append(action)
        else:
            if rounds[-1][1]:
                rounds.append(([], []))
            rounds[-1][0].append(action)
    return rounds


class _Gold(BuiltIn):
    """One side of the rounds. Each side says one thing a round, after its calls, so both stay in the same round."""

    needs_reference = True
    keeps_messages = False

    def __init__(self, rounds: list[list[Action]]) -> None:
        self._rounds = [list(actions) for actions in rounds]

    def _next_call(self) -> ToolCall | None:
        if not self._rounds or not self._rounds[0]:
            return None
        action = self._rounds[0].pop(0)
        requestor: Requestor = "user" if isinstance(self, GoldUser) else "assistant"
        return ToolCall(name=action.name, arguments=clone(action.arguments), requestor=requestor)

    def _end_round(self) -> bool:
        """Finish a round and return whether it was the last one."""
        if self._rounds:
            self._rounds.pop(0)
        return not self._rounds


class GoldAgent(_Gold):
    """The agent's side; without a user it makes the calls of both sides."""

    def __init__(self, context: ParticipantContext) -> None:
        task = context.whole_task
        actions = task.criteria.actions or []
        super().__init__([list(actions)] if context.solo else [agent for agent, _ in rounds_of(task)])
        self._solo, self._phrases = context.solo, task.criteria.communicate_info or []

    async def respond(self, message: Incoming) -> Reply:
        """Return the next call of the round, or its final text."""
        del message
        call = self._next_call()
        if call:
            return AssistantMessage(tool_calls=[call])
        if self._solo:
            return AssistantMessage(tool_calls=[ToolCall(name=DONE)])
        if not self._end_round():
            return AssistantMessage(content="Please do the next step on your side and tell me when it is done.")
        return AssistantMessage(content="\n".join(["That is everything on my side.", *self._phrases]))


class GoldUser(_Gold):
    """The user's side; its first message is the request of the scenario."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__([user for _, user in rounds_of(context.whole_task)])
        self._opening = opening_of(context.whole_task) if context.starts else None

    async def respond(self, message: Incoming) -> Reply:
        """Return the request, then the next call of the round, or its final text."""
        del message
        if self._opening is not None:
            opening, self._opening = self._opening, None
            return UserMessage(content=opening)
        call = self._next_call()
        if call:
            return UserMessage(tool_calls=[call])
        return UserMessage(content="###STOP###" if self._end_round() else "Done, what is next?")
