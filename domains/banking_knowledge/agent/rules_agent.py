"""An agent of the bank that needs no model: it searches the documents, reads, unlocks the tools they name, and acts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..._kit.dialog import Declined, DialogAgent
from ..._kit.formatting import join_sentences
from ..._kit.parsing import drop_asides
from ..._kit.request_kinds import first_kind
from .requests import KINDS
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Tool

    from ..._kit.dialog import Talk

_ELSE = "Is there anything else I can help you with?"
_UNKNOWN = "I did not understand that. What would you like to do?"


class RulesAgent(DialogAgent):
    """Serves customers by rules over requests that it can recognise, the same way each time.

    What it does is coded; under which conditions, with which figures and by which hidden tools, it reads from the
    documents that it finds.

    Args:
        tools: What it can call; it searches with the retrieval tool that is among them.
        policy: The policy; documents that it contains are read.

    Attributes:
        foreign_records: Calls that show two customers of the bundled database.
    """

    foreign_records: ClassVar[tuple[tuple[str, dict[str, str]], ...]] = (
        ("get_user_information_by_name", {"customer_name": "Monica Gilmore"}),
        ("get_user_information_by_id", {"user_id": "38f40d3f54"}),
    )

    def __init__(self, tools: Sequence[Tool] = (), policy: str = "") -> None:
        super().__init__(tools, policy)
        self._session = Session(tools=tuple(tool.name for tool in tools))
        self._session.library.add_policy(policy)

    def dialog(self, text: str) -> Talk[None]:
        """Lead the whole conversation: deal with one request after the other."""
        while True:
            answer = yield from _attend(self._session, text)
            text = yield from self._session.ask(answer)


def _attend(session: Session, text: str) -> Talk[str]:
    """Deal with the request in a text, and return what remains to be said."""
    kind = first_kind(KINDS, drop_asides(text))
    if kind is None:
        return _UNKNOWN
    try:
        done = yield from kind.procedure(session, drop_asides(text))
    except Declined as declined:
        return join_sentences([f"I am sorry, but I cannot do that: {declined}.", _ELSE])
    return join_sentences([done, _ELSE])
