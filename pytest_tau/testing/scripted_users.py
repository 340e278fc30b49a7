"""The replies and the facts of the scripted user, for people who write scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import AssistantMessage
from ..models.messages import STOP_TOKENS
from ..participants import ParticipantContext, ScriptedUser, script_of
from ..participants.task_views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..environment import Domain, Environment, Tool
    from ..models import Task

__all__ = ["scripted_facts", "scripted_replies"]


def scripted_replies(domain: Domain, task: Task, texts: Iterable[str]) -> list[str]:
    """Return the replies of the scripted user of a task to an agent's texts.

    The user's own tools are called in a new environment of the task, in which the agent calls none.

    Args:
        domain: The domain.
        task: The task.
        texts: The agent's texts, oldest first, the greeting included.

    Returns:
        One reply for each text, up to the one that ends the conversation.
    """
    environment = domain.environment(task)
    context = ParticipantContext(
        "user", _tools(environment, task), "", view_of(task, "user"), seed=0, spoken=domain.spec.spoken
    )
    user, replies = ScriptedUser(context), list[str]()
    try:
        for text in texts:
            reply = user.respond_at_once(AssistantMessage(content=text))
            while reply.tool_calls:
                reply = user.respond_at_once(environment.answer(reply.tool_calls[0]))
            replies.append(reply.text)
            if any(token in reply.text for token in STOP_TOKENS):
                break
    finally:
        environment.close()
    return replies


def scripted_facts(domain: Domain, task: Task) -> dict[str, str]:
    """Return the facts that the scripted user of a task can give, by name; those of its requests included."""
    environment = domain.environment(task)
    try:
        script = script_of(task, _tools(environment, task), domain.spec.spoken)
    finally:
        environment.close()
    return {**script.facts, **{name: value for each in script.requests for name, value in each.facts.items()}}


def _tools(environment: Environment, task: Task) -> list[Tool]:
    offered = task.user_tools
    return [each for each in environment.tools("user") if offered is None or each.name in offered]
