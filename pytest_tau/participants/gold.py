"""Gold: both sides carry out the task's reference actions in order, and say what must be said."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from ..models import AssistantMessage, ToolCall, UserMessage
from .adapters import BuiltIn

if TYPE_CHECKING:
    from ..models import Action, Requestor, Task
    from .context import Incoming, ParticipantContext, Reply

#: The tool by which an agent that works alone says that it is finished.
DONE = "done"


def rounds_of(task: Task) -> list[tuple[list[Action], list[Action]]]:
    """The reference actions in rounds: first some of the agent's, then some of the user's."""
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
    """A side's share of the rounds. Each side says one thing a round, after its calls, so both keep in step."""

    def __init__(self, rounds: list[list[Action]]) -> None:
        self._rounds = [list(actions) for actions in rounds]

    def _next_call(self) -> ToolCall | None:
        if not self._rounds or not self._rounds[0]:
            return None
        action = self._rounds[0].pop(0)
        requestor: Requestor = "user" if isinstance(self, GoldUser) else "assistant"
        return ToolCall(name=action.name, arguments=copy.deepcopy(action.arguments), requestor=requestor)

    def _end_round(self) -> bool:
        """Whether that was the last round."""
        if self._rounds:
            self._rounds.pop(0)
        return not self._rounds


class GoldAgent(_Gold):
    """The agent's side; alone, it carries out both sides' actions."""

    def __init__(self, context: ParticipantContext) -> None:
        actions = context.task.criteria.actions or []
        super().__init__([list(actions)] if context.solo else [agent for agent, _ in rounds_of(context.task)])
        self._solo, self._phrases = context.solo, context.task.criteria.communicate_info or []

    async def respond(self, message: Incoming) -> Reply:
        """The next action of the round, or its closing words."""
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
    """The user's side; it opens with what the scenario says."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__([user for _, user in rounds_of(context.task)])
        self._opening = _request(context.task) if context.starts else None

    async def respond(self, message: Incoming) -> Reply:
        """The opening, then the next action of the round, or its closing words."""
        del message
        if self._opening is not None:
            opening, self._opening = self._opening, None
            return UserMessage(content=opening)
        call = self._next_call()
        if call:
            return UserMessage(tool_calls=[call])
        return UserMessage(content="###STOP###" if self._end_round() else "Done, what is next?")


def _request(task: Task) -> str:
    told = task.user_scenario.instructions
    if isinstance(told, str):
        return told
    return " ".join(part for part in (told.reason_for_call, told.known_info) if part)
