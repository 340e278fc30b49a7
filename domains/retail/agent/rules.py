"""An agent of the shop that needs no model: it goes by the policy's rules over requests that it can recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_tau.models import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage

from ..._kit.transfer import TRANSFER
from . import parsing as reading
from .policy.answers import answers
from .requests import OutOfScope, recognise, requests
from .session import Declined, Desk, Heard, Say, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Tool
    from pytest_tau.models import UserMessage

    from .session import Plan, Talk

#: What the policy wants said after a transfer, and nothing else.
NOTICE = "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE."
_WHO = "To begin, may I have your email address, or else your first and last name and your zip code?"
_NAME_AND_ZIP = "I do not find that. May I have your first and last name and your zip code?"
_ELSE = "Is there anything else I can help you with?"
_MORE_ATTEMPTS = 3


class RulesAgent:
    """Answers customers by rules, the same way each time.

    Args:
        tools: What it can call; unused, since the rules name their tools.
        policy: The policy that the rules were made from; unused.

    Attributes:
        strangers: Calls that show two customers of the bundled database.
    """

    strangers: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_user_details", {"user_id": "kevin_tapia_8543"}),
        ("get_user_details", {"user_id": "austin_davis_7600"}),
    )

    def __init__(self, tools: Sequence[Tool] = (), policy: str = "") -> None:
        del tools, policy
        self._talk: Talk[None] | None = None
        self._calls = 0

    async def respond(self, message: UserMessage | ToolMessage | MultiToolMessage) -> AssistantMessage:
        """What is said or called next.

        Args:
            message: The customer's message, or the result of the last call.
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
    desk = Desk()
    yield from _identify(desk, text)
    while True:
        said = yield from _attend(desk, text)
        text = (yield Say(joined([said, _ELSE]))).text


def _identify(desk: Desk, text: str) -> Talk[None]:
    """Find the customer by email, or by name and zip code; nothing else is done before."""
    known, question = reading.Identity(None, None, None), _WHO
    told = reading.identity(text)
    while True:
        known = reading.Identity(told.email, told.name or known.name, told.zip_code or known.zip_code)
        if told.email:
            heard = yield from desk.call("find_user_id_by_email", email=told.email)
            if not heard.error:
                break
            question = _NAME_AND_ZIP
        if known.name and known.zip_code:
            first, last = known.name
            heard = yield from desk.call(
                "find_user_id_by_name_zip", first_name=first, last_name=last, zip=known.zip_code
            )
            if not heard.error:
                break
            known = known._replace(zip_code=None)
            question = _NAME_AND_ZIP
        told = reading.identity((yield from desk.ask(question)))
    desk.user_id = heard.text


def _attend(desk: Desk, text: str) -> Talk[str]:
    """Deal with all that a text asks for; what is left to say about it."""
    text = reading.to_the_point(text)
    plans: list[Plan] = []
    problems: list[str] = []
    handed_over = ""
    for kind, part in requests(text):
        try:
            plans += yield from kind.work(desk, part)
        except Declined as declined:
            problems.append(f"I am sorry, but I cannot do that: {declined}.")
        except OutOfScope as request:
            handed_over = str(request)
    try:
        told = yield from answers(desk, text, planned=bool(plans))
    except Declined as declined:
        told = [f"I am sorry, but I cannot tell you that: {declined}."]
    if plans:
        told = [(yield from _propose(desk, plans, [*problems, *told]))]
        problems = []
    if handed_over:
        yield from _hand_over(desk, handed_over)
    return joined([*problems, *told]) or "I did not understand that."


def _hand_over(desk: Desk, request: str) -> Talk[None]:
    """Hand over to a person, which ends the conversation."""
    yield from desk.call(TRANSFER, summary=f"The customer wants what is out of scope: {request}")
    while True:
        yield Say(NOTICE)


def _propose(desk: Desk, plans: list[Plan], before: list[str]) -> Talk[str]:
    """Sum up what will change, wait for a clear yes, and change it; a change of items comes last."""
    plans = sorted(plans, key=lambda plan: plan.last)
    summary = joined([*before, *(plan.summary for plan in plans)])
    answer = yield from desk.ask(f"{summary} Do you confirm? (yes/no)")
    for _ in range(_MORE_ATTEMPTS):
        if reading.is_yes(answer) or recognise(answer) or reading.is_no(answer):
            break
        told = yield from answers(desk, answer, planned=False)
        answer = yield from desk.ask(joined([*told, summary, "Do you confirm? (yes/no)"]))
    if reading.is_yes(answer):
        return (yield from _carry_out(desk, plans))
    if recognise(answer):
        desk.proposed = plans
        said = yield from _attend(desk, answer)
        desk.proposed = []
        return said
    return "All right, I leave everything as it is."


def _carry_out(desk: Desk, plans: list[Plan]) -> Talk[str]:
    told = []
    for plan in plans:
        try:
            yield from desk.change(plan)
        except Declined as declined:
            told.append(f"I am sorry, but that was not possible: {declined}.")
        else:
            told.append(plan.done)
    return joined(told)
