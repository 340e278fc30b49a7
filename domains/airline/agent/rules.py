"""An agent of the airline that needs no model: it goes by the policy's rules over requests that it can recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_tau.models import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage

from ..._kit.transfer import TRANSFER
from . import parsing as reading
from .requests import recognise
from .session import Declined, Desk, Dropped, HandOver, Heard, OtherRequest, Say, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Tool
    from pytest_tau.models import UserMessage

    from .session import Plan, Talk

#: What the policy wants said after a transfer, and nothing else.
NOTICE = "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE."
CONFIRM = "Do you confirm? (yes/no)"
#: How somebody begins who says the same again.
_PUZZLED = "I am not sure what you mean. "
_ELSE = "Is there anything else I can help you with?"
_UNCHANGED = "All right, I leave everything as it is."


class RulesAgent:
    """Answers users by rules, the same way each time.

    Args:
        tools: What it can call; unused, since the rules name their tools.
        policy: The policy that the rules were made from; unused.

    Attributes:
        strangers: Readings of two bundled users' records, for who wants to see them shown to somebody else.
    """

    strangers: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_user_details", {"user_id": "ronald_kelley_5912"}),
        ("get_user_details", {"user_id": "lisa_taylor_2850"}),
    )

    def __init__(self, tools: Sequence[Tool] = (), policy: str = "") -> None:
        del tools, policy
        self._talk: Talk[None] | None = None
        self._calls = 0

    async def respond(self, message: UserMessage | ToolMessage | MultiToolMessage) -> AssistantMessage:
        """What is said or called next.

        Args:
            message: The user's message, or the result of the last call.
        """
        if self._talk is None:
            self._talk = _serve(message.content or "")
            turn = next(self._talk)
        else:
            turn = self._talk.send(_heard(message))
        if isinstance(turn, Say):
            return AssistantMessage(content=turn.text)
        self._calls += 1
        call = ToolCall(id=f"call_{self._calls}", name=turn.tool, arguments=turn.arguments)
        return AssistantMessage(tool_calls=[call])


def _heard(message: UserMessage | ToolMessage | MultiToolMessage) -> Heard:
    if isinstance(message, MultiToolMessage):
        message = message.tool_messages[0]
    return Heard(message.content or "", isinstance(message, ToolMessage) and message.error)


def _serve(text: str) -> Talk[None]:
    """A whole conversation: who it is, then one matter after the other."""
    desk = Desk(recognise)
    yield from _identify(desk, text)
    while True:
        text = reading.to_the_point(text)
        try:
            yield from _attend(desk, text)
        except OtherRequest as request:
            text = str(request)
            continue
        except HandOver as wish:
            yield from desk.call(TRANSFER, summary=f"The user asks for something else than I can do: {wish}")
            break
        if not desk.pending:
            desk.pending.append("I did not understand that.")
        text = yield from desk.ask(_ELSE)
    while True:
        yield Say(NOTICE)


def _identify(desk: Desk, text: str) -> Talk[None]:
    """Find the user by the user id; nothing else is done before."""
    question = "May I have your user id, please?"
    while True:
        desk.user_id = reading.user_id(text) or ""
        if desk.user_id:
            try:
                yield from desk.user()
            except Declined:
                question = "I do not find that. May I have your user id, please?"
            else:
                return
        text = yield from desk.ask(question)


def _attend(desk: Desk, text: str) -> Talk[None]:
    """Deal with all that a text asks for, one after the other; what is left to say about it is kept."""
    for kind in recognise(text):
        # Somebody who says the same again has not understood, and does not want it a second time.
        matter = (kind.name, text.removeprefix(_PUZZLED), desk.reservation_id)
        if matter in desk.dealt_with:
            desk.pending += [plan.done for plan in desk.dealt_with[matter]]
            continue
        try:
            result = yield from kind.work(desk, text)
            if isinstance(result, str):
                desk.pending.append(result)
            elif (yield from _agreed(desk, result)):
                desk.dealt_with[kind.name, text, desk.reservation_id] = result
        except Declined as declined:
            desk.pending.append(f"Unfortunately I cannot do that: {declined}.")
        except Dropped:
            desk.pending.append(_UNCHANGED)


def _agreed(desk: Desk, plans: Sequence[Plan]) -> Talk[bool]:
    """Sum up what will change, wait for a clear yes, and change it; whether it was changed."""
    answer = yield from desk.ask(joined([*(plan.summary for plan in plans), CONFIRM]))
    if reading.is_yes(answer):
        for plan in plans:
            yield from desk.change(plan)
            desk.pending.append(plan.done)
        return True
    if recognise(answer) and not reading.is_no(answer):
        raise OtherRequest(answer)
    raise Dropped
