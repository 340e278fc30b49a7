"""An agent of the airline that needs no model: it goes by the policy's rules over requests that it can recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..._kit.dialog import Declined, DialogAgent, HandOver
from ..._kit.parsing import drop_asides, is_yes
from ..dates import MOMENT
from ..values import stated_values
from .parsing import is_no, user_id
from .requests import recognise
from .session import OtherRequest, Session, Withdrawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._kit.dialog import Talk
    from .session import Plan

#: How somebody begins who says the same again.
_PUZZLED = "I am not sure what you mean. "
_ELSE = "Is there anything else I can help you with?"
_UNCHANGED = "All right, I leave everything as it is."


class RulesAgent(DialogAgent):
    """Answers users by rules, the same way each time.

    Attributes:
        foreign_records: Readings of two bundled users' records, for who wants to see them shown to somebody else.
    """

    foreign_records: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_user_details", {"user_id": "ronald_kelley_5912"}),
        ("get_user_details", {"user_id": "lisa_taylor_2850"}),
    )

    def dialog(self, text: str) -> Talk[None]:
        """Lead the whole conversation: identify the user, then deal with one request after the other."""
        session = Session(is_request=recognise, values=stated_values(self.policy), moment=MOMENT + self.elapsed)
        yield from _identify(session, text)
        while True:
            text = drop_asides(text)
            try:
                yield from _attend(session, text)
            except OtherRequest as request:
                text = str(request)
                continue
            except HandOver as request:
                yield from session.hand_over(f"The user asks for something else than I can do: {request}")
            if not session.pending:
                session.pending.append("I did not understand that.")
            text = yield from session.ask(_ELSE)


def _identify(session: Session, text: str) -> Talk[None]:
    """Find the user by the user id; nothing else is done before."""
    question = "May I have your user id, please?"
    while True:
        session.user_id = user_id(text) or ""
        if session.user_id:
            try:
                yield from session.user()
            except Declined:
                question = "I do not find that. May I have your user id, please?"
            else:
                return
        text = yield from session.ask(question)


def _attend(session: Session, text: str) -> Talk[None]:
    """Deal with all requests in a text, one after the other; the texts that remain to be said become pending."""
    for kind in recognise(text):
        # Somebody who says the same again has not understood, and does not want it a second time.
        request = (kind.name, text.removeprefix(_PUZZLED), session.reservation_id)
        if request in session.answered:
            session.pending += [plan.done for plan in session.answered[request]]
            continue
        try:
            result = yield from kind.procedure(session, text)
            if isinstance(result, str):
                session.pending.append(result)
            elif (yield from _change_if_agreed(session, result)):
                session.answered[kind.name, text, session.reservation_id] = result
        except Declined as declined:
            session.pending.append(f"Unfortunately I cannot do that: {declined}.")
        except Withdrawn:
            session.pending.append(_UNCHANGED)


def _change_if_agreed(session: Session, plans: Sequence[Plan]) -> Talk[bool]:
    """Sum up what will change, wait for a clear yes, and change it; return whether it was changed."""
    answer = yield from session.propose(plans)
    if is_yes(answer):
        for plan in plans:
            yield from session.change(plan)
            session.pending.append(plan.done)
        return True
    if recognise(answer) and not is_no(answer):
        raise OtherRequest(answer)
    raise Withdrawn
