"""An agent of the shop that needs no model: it goes by the policy's rules over requests that it can recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..._kit.dialog import Declined, DialogAgent, HandOver
from ..._kit.formatting import join_sentences
from ..._kit.parsing import drop_asides, is_yes
from ..values import stated_values
from .parsing import Identity, identity, is_no
from .policy.answers import answers
from .requests import recognise, requests
from .session import Session

if TYPE_CHECKING:
    from ..._kit.dialog import Talk
    from .session import Plan

_WHO = "To begin, may I have your email address, or else your first and last name and your zip code?"
_NAME_AND_ZIP = "I do not find that. May I have your first and last name and your zip code?"
_ELSE = "Is there anything else I can help you with?"
_MORE_ATTEMPTS = 3


class RulesAgent(DialogAgent):
    """Answers customers by rules, the same way each time.

    Attributes:
        foreign_records: Calls that show two customers of the bundled database.
    """

    foreign_records: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_user_details", {"user_id": "kevin_tapia_8543"}),
        ("get_user_details", {"user_id": "austin_davis_7600"}),
    )

    def dialog(self, text: str) -> Talk[None]:
        """Lead the whole conversation: identify the customer, then deal with one message after the other."""
        session = Session(values=stated_values(self.policy))
        yield from _identify(session, text)
        while True:
            answer = yield from _attend(session, text)
            text = yield from session.ask(join_sentences([answer, _ELSE]))


def _identify(session: Session, text: str) -> Talk[None]:
    """Find the customer by email, or by name and zip code; nothing else is done before."""
    known, question = Identity(None, None, None), _WHO
    identity_given = identity(text)
    while True:
        known = Identity(
            identity_given.email, identity_given.name or known.name, identity_given.zip_code or known.zip_code
        )
        if identity_given.email:
            heard = yield from session.call("find_user_id_by_email", email=identity_given.email)
            if not heard.error:
                break
            question = _NAME_AND_ZIP
        if known.name and known.zip_code:
            first, last = known.name
            heard = yield from session.call(
                "find_user_id_by_name_zip", first_name=first, last_name=last, zip=known.zip_code
            )
            if not heard.error:
                break
            known = known._replace(zip_code=None)
            question = _NAME_AND_ZIP
        identity_given = identity((yield from session.ask(question)))
    session.user_id = heard.text


def _attend(session: Session, text: str) -> Talk[str]:
    """Deal with all requests in a text, and return the texts that remain to be said."""
    text = drop_asides(text)
    plans: list[Plan] = []
    problems: list[str] = []
    out_of_scope = ""
    for kind, part in requests(text):
        try:
            plans += yield from kind.procedure(session, part)
        except Declined as declined:
            problems.append(f"I am sorry, but I cannot do that: {declined}.")
        except HandOver as request:
            out_of_scope = str(request)
    try:
        parts = yield from answers(session, text, planned=bool(plans))
    except Declined as declined:
        parts = [f"I am sorry, but I cannot tell you that: {declined}."]
    if plans:
        parts = [(yield from _propose(session, plans, [*problems, *parts]))]
        problems = []
    if out_of_scope:
        yield from session.hand_over(f"The customer wants what is out of scope: {out_of_scope}")
    return join_sentences([*problems, *parts]) or "I did not understand that."


def _propose(session: Session, plans: list[Plan], before: list[str]) -> Talk[str]:
    """Sum up what will change, wait for a clear yes, and change it; a change of items comes last."""
    plans = sorted(plans, key=lambda plan: plan.last)
    answer = yield from session.propose(plans, before)
    for _ in range(_MORE_ATTEMPTS):
        if is_yes(answer) or recognise(answer) or is_no(answer):
            break
        parts = yield from answers(session, answer, planned=False)
        answer = yield from session.propose(plans, [*parts, *before])
    if is_yes(answer):
        return (yield from _carry_out(session, plans))
    if recognise(answer):
        session.proposed = plans
        reply = yield from _attend(session, answer)
        session.proposed = []
        return reply
    return "All right, I leave everything as it is."


def _carry_out(session: Session, plans: list[Plan]) -> Talk[str]:
    """Make the changes, and return what became of each."""
    outcomes = []
    for plan in plans:
        try:
            yield from session.change(plan)
        except Declined as declined:
            outcomes.append(f"I am sorry, but that was not possible: {declined}.")
        else:
            outcomes.append(plan.done)
    return join_sentences(outcomes)
