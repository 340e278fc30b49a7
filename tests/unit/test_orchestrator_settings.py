"""What is set on a conversation before it runs: excused time, faults and errors of tools, one call of a message."""

from __future__ import annotations

import asyncio
import time
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.models import ToolCall
from pytest_tau.orchestrator import Conversation, ConversationSetup, Limits
from pytest_tau.participants.base import BuiltIn

from .tiny import agent, call, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Message

COUNT, STOP = call("count"), user("###STOP###")


class Says:
    """Replies with messages, one after the other; functions are awaited first."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)

    async def respond(self, _message: Any) -> Any:
        reply = self._replies.pop(0)
        return await reply() if callable(reply) else reply

    def is_stop(self, message: Message) -> bool:
        return "###STOP###" in (getattr(message, "content", None) or "")


def between(
    domain: Domain, agent_says: list[Any], user_says: list[Any], timeout: float = 20.0, **setup: Any
) -> Conversation:
    """A conversation that has not begun."""
    made = ConversationSetup(Limits(timeout=timeout), **setup)
    return Conversation(task(), domain.environment(), Says(*agent_says), Says(*user_says), made)  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_excused_time_is_not_that_of_the_side_and_not_of_the_limit(domain: Domain) -> None:
    excused = {"agent": 0.0, "user": 0.0}

    async def slow() -> Any:
        started = time.perf_counter()
        await asyncio.sleep(1.0)
        excused["user"] = time.perf_counter() - started
        return user("Hi")

    async def hang() -> Any:
        await asyncio.sleep(20)

    def excused_seconds(side: str) -> float:
        return 2.0 if side == "user" and not excused["user"] else excused[side]

    talk = between(domain, [hang], [slow], timeout=0.3, excused_seconds=excused_seconds)
    ending = run(talk.run())
    assert ending.reason == "timeout", "the time of the user does not count, so the agent took most"
    assert [message.content for message in talk.messages][1:] == ["Hi"]


def test_without_settings_all_calls_are_made_and_text_may_come_with_them(domain: Domain) -> None:
    talk = between(domain, [agent("Let me look.", COUNT, COUNT), agent("Yes.")], [user("Hi"), STOP])
    assert run(talk.run()).reason == "user_stop"
    assert [len(message.tool_calls) for message in talk.messages if getattr(message, "tool_calls", None)] == [2]
    with pytest.raises(FrozenInstanceError):
        Limits().timeout = 1.0  # type: ignore[misc]


def test_only_the_agent_has_one_call_of_a_message(domain: Domain) -> None:
    shown = ToolCall(name="screen", arguments={}, requestor="user")
    talk = between(
        domain,
        [agent(None, COUNT, call("look", item_id="lamp")), agent("Yes.")],
        [user(None, shown, shown), user("Hi"), STOP],
        one_call=True,
    )
    assert run(talk.run()).reason == "user_stop"
    calls = [len(message.tool_calls) for message in talk.messages if getattr(message, "tool_calls", None)]
    assert calls == [2, 1], "the user's message has both calls, the agent's only the first"


class Changes(Says, BuiltIn):
    """Changes the message that it is given, and the reply that it has returned."""

    last: Any = None

    async def respond(self, message: Any) -> Any:
        message.content = "You said so."
        if self.last is not None:
            self.last.content = "I never said that."
        self.last = await super().respond(message)
        return self.last


def test_one_of_this_package_that_keeps_messages_has_copies(domain: Domain) -> None:
    talk = Conversation(
        task(),
        domain.environment(),
        Changes(agent("One."), agent("Two.")),
        Changes(user("Hi"), user("And?"), user("###STOP###")),
        ConversationSetup(Limits(timeout=20.0)),
    )
    assert run(talk.run()).reason == "user_stop"
    assert [message.content for message in talk.messages][1:] == ["Hi", "One.", "And?", "Two.", "###STOP###"]
