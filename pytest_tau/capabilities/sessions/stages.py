"""The sessions of a trial: each follows on the stop of the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ...capability import PageBlock, PageItem, TrialStages
from ...errors import CapabilityError
from ...models import (
    BEGIN_SESSION,
    AssistantMessage,
    ToolCall,
    beginnings,
    heard,
    interval,
    remembered,
    session_note,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...capability import TrialView
    from ...models import Message, Session, Simulation


class SessionFacts(BaseModel):
    """The sessions that took place.

    Attributes:
        ids: Their ids.
        begin: The numbers of their first messages.
        hours: The hours between each and the one before.
        planned: The number of sessions of the task.
    """

    ids: list[str]
    begin: list[int]
    hours: list[float]
    planned: int


def make_stages(trial: TrialView) -> TrialStages:
    """Return the stages of a trial; none that does anything for a task without sessions."""
    return SessionStages(trial, trial.task.sessions) if trial.task.sessions else TrialStages()


class SessionStages(TrialStages):
    """Begins each session of a task.

    The caller of a session is a new user, who knows what was said in its earlier ones. The agent is the same object,
    unless ``--tau-fresh-sessions`` is given, or it is one with the reference actions, which it gets for each session.
    The user's first message of a session says how much time has passed.
    """

    def __init__(self, trial: TrialView, sessions: Sequence[Session]) -> None:
        self._task, self._sessions, self._fresh = trial.task, sessions, trial.settings.fresh_sessions

    def begin(self, messages: Sequence[Message]) -> None:
        """Refuse to continue a stored conversation whose agent has been made again.

        Raises:
            CapabilityError: It is in a session whose agent does not know the earlier ones.
        """
        if self._fresh and beginnings(messages):
            problem = "with --tau-fresh-sessions, a conversation can be continued from a message of its first session"
            raise CapabilityError(f"task {self._task.id!r}: {problem}")

    async def stopped(self, conversation: Any) -> Any:
        """Begin the next session, if there is one."""
        position = len(beginnings(conversation.messages)) + 1
        if position >= len(self._sessions):
            return None
        calls = [action for action in self._task.criteria.actions or [] if action.name == BEGIN_SESSION]
        arguments = calls[position - 1].arguments
        await conversation.happen(ToolCall(name=BEGIN_SESSION, arguments=arguments, requestor="user"))
        task = self._task.of_session(position)
        if self._fresh or getattr(conversation.sides["agent"], "needs_reference", False):
            before = [] if self._fresh else heard(conversation.messages)
            await conversation.replace(
                "agent", task, before and [*before, AssistantMessage(content=conversation.greeting)]
            )
        greeting = AssistantMessage(content=conversation.greeting)
        past = remembered(self._task, conversation.messages)
        await conversation.replace("user", task, [*past, greeting] if past else [])
        note = session_note(sum(session.hours for session in self._sessions[: position + 1]))
        conversation.sides["user"] = _Caller(conversation.sides["user"], note)
        conversation.record(greeting)
        return "user", greeting

    def graded(self, simulation: Simulation) -> SessionFacts:
        """Return which sessions took place."""
        begin = [0, *beginnings(simulation.messages)]
        took_place = self._sessions[: len(begin)]
        return SessionFacts(
            ids=[session.id for session in took_place],
            begin=begin,
            hours=[session.hours for session in took_place],
            planned=len(self._sessions),
        )


class _Caller:
    """A user whose first words in a session come with the time that has passed.

    Args:
        user: The user.
        note: The note, which the first text begins with.
    """

    def __init__(self, user: Any, note: str) -> None:
        self._user, self._note = user, note

    async def respond(self, message: Any) -> Any:
        """Return the user's message."""
        reply = await self._user.respond(message)
        if not self._note or reply.tool_calls:
            return reply
        note, self._note = self._note, ""
        text = reply.content or ""
        return reply if text.startswith(note) else reply.model_copy(update={"content": note + text})

    def is_stop(self, message: Any) -> bool:
        """Return whether the user stops."""
        stops: bool = self._user.is_stop(message)
        return stops

    async def close(self) -> None:
        """Do nothing: the trial closes the user."""


def page(facts: SessionFacts, _simulation: Simulation) -> Iterable[PageBlock]:
    """Return the list of the sessions of a trial, each with a link to its first message."""
    items = [
        PageItem(f"{interval(hours)} later" if hours else "", head=name, message_idx=number)
        for name, number, hours in zip(facts.ids, facts.begin, facts.hours, strict=True)
    ]
    yield PageBlock("Sessions", note=f"{len(items)} of {facts.planned}", items=items)
