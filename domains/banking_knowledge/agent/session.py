"""The state of a conversation of the rules agent: who calls, what was read, and which tools are unlocked."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from ..._kit import dialog
from ..._kit.dialog import NOTICE, Declined, Say
from ..._kit.parsing import is_yes
from ..._kit.transfer import TRANSFER
from . import reading
from .reading import Library

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from typing import TypeAlias

    from ..._kit.dialog import Talk

    Procedure: TypeAlias = Callable[["Session", str], Talk[str]]

_UNLOCK, _CALL = "unlock_discoverable_agent_tool", "call_discoverable_agent_tool"
_GIVE, _USE = "give_discoverable_user_tool", "call_discoverable_user_tool"
_WHO = "May I have your full name, your date of birth and your phone number?"
_FIELDS = ("name", "user_id", "address", "email", "phone_number", "date_of_birth")
_SEARCHES = ("KB_search", "KB_search_bm25", "grep")
_PARAMETER = re.compile(r"(?m)^  - (\w+): \w+ \(required\)")


def procedure(*queries: str, identified: bool = True) -> Callable[[Procedure], Procedure]:
    """Make a procedure of a function: documents are searched first, and the customer is identified.

    Args:
        queries: What is searched for.
        identified: Whether the customer has to be identified.
    """

    def made(act: Procedure) -> Procedure:
        @functools.wraps(act)
        def run(session: Session, text: str) -> Talk[str]:
            yield from session.search(*queries)
            if identified:
                yield from session.identify()
            return (yield from act(session, text))

        return run

    return made


def refusing(query: str, reason: str) -> Procedure:
    """Return a procedure for what the bank does not do, whatever is asked."""

    @procedure(query)
    def act(session: Session, text: str) -> Talk[str]:
        del session, text
        raise Declined(reason)
        yield

    return act


@dataclass
class Session(dialog.Session[dialog.Plan]):
    """The state of a conversation.

    Attributes:
        tools: The names of the tools that the agent is offered.
        library: The documents that were read.
        user: The record of the customer, once identified.
        known: Arguments of hidden tools that follow from what the conversation is about.
        now: The time, once it was looked up.
        income: The yearly income that the customer has stated, in USD.
    """

    tools: tuple[str, ...] = ()
    library: Library = field(default_factory=Library)
    user: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    now: str = ""
    income: float = 0
    #: The unlocked tools, with the parameters that they require.
    _unlocked: dict[str, list[str]] = field(default_factory=dict)
    _searched: set[str] = field(default_factory=set)

    # Documents

    def search(self, *queries: str) -> Talk[None]:
        """Search the knowledge base, each query once; without a tool for that, the policy has to do."""
        tool = next((name for name in _SEARCHES if name in self.tools), None)
        for query in queries:
            if tool is None or query in self._searched:
                continue
            self._searched.add(query)
            if tool == "grep":
                words = "|".join(re.escape(word) for word in query.split() if len(word) > 3)
                heard = yield from self.call(tool, pattern=words)
            else:
                heard = yield from self.call(tool, query=query)
            self.library.add_hits(heard.text)

    def fact(self, label: str, title: str = "") -> str:
        """Return what a document states.

        Raises:
            Declined: No document that was read states it.
        """
        value = self.library.fact(label, title)
        if value is None:
            raise Declined(f"I find no document that states this: {label.lower()}")
        return value

    def figure(self, label: str, title: str = "") -> float:
        """Return a figure that a document states; ``none`` and ``free`` are 0.

        Raises:
            Declined: No document that was read states it.
        """
        return reading.number(self.fact(label, title)) or 0

    # Calls

    def hidden(self, name: str, **arguments: Any) -> Talk[str]:
        """Unlock a tool that a document names, and call it.

        Args:
            name: Its name, or the beginning of it.
            arguments: What it is called with; what it requires besides is known.

        Raises:
            Declined: No document names it, or it refuses.
        """
        tool = self.library.tool(name)
        if tool is None:
            raise Declined("I find no document that says how")
        if tool not in self._unlocked:
            heard = yield from self.call(_UNLOCK, agent_tool_name=tool)
            self._unlocked[tool] = _PARAMETER.findall(heard.text)
        known = {name: self.known[name] for name in self._unlocked[tool] if name in self.known}
        heard = yield from self.call(_CALL, agent_tool_name=tool, arguments=json.dumps(known | arguments))
        if heard.error or heard.text.startswith("Error"):
            raise Declined(f"the system refuses it ({heard.text.removeprefix('Error: ').rstrip('.')})")
        return heard.text

    def give(self, name: str, **arguments: Any) -> Talk[str]:
        """Give the customer a tool that a document names, ask for the call, and return what the customer says.

        Raises:
            Declined: No document names it.
        """
        tool = self.library.tool(name)
        if tool is None:
            raise Declined("I find no document that says how")
        yield from self.call(_GIVE, discoverable_tool_name=tool)
        use = f"{_USE} with discoverable_tool_name=\"{tool}\" and arguments='{json.dumps(arguments)}'"
        return (yield from self.ask(f"You can do this yourself now. Please {use}."))

    def confirm(self, summary: str) -> Talk[None]:
        """Sum up what will change, and wait for a yes.

        Raises:
            Declined: There is none.
        """
        answer = yield from self.ask(f"{summary} Do you confirm? (yes/no)")
        if not is_yes(answer):
            raise Declined("you did not agree, so nothing is changed")

    def transfer(self, reason: str, summary: str) -> Talk[NoReturn]:
        """Hand over to a person, which ends the conversation."""
        yield from self.call(TRANSFER, summary=summary, reason=reason)
        while True:
            yield Say(NOTICE)

    # The customer

    def identify(self) -> Talk[None]:
        """Find out who the customer is, and log it; once.

        Raises:
            Declined: The customer cannot be identified.
        """
        if self.user:
            return
        yield from self.search(
            "check who a customer is: full name and two of date of birth, phone number, log_verification"
        )
        answers = ""
        for question in (_WHO, f"That does not match. {_WHO}"):
            # A customer may give a part of it in each answer; what was said last counts first.
            answer = yield from self.ask(question)
            answers = f"{answer} {answers}"
            record = yield from self._find(answers)
            if record:
                self.user = record
                more = {"full_name": record["name"], "phone": record["phone_number"]}
                self.known = {**record, **more, "shipping_address": record["address"]}
                yield from self.look_at_clock()
                proof = {name: record[name] for name in _FIELDS}
                yield from self.call("log_verification", **proof, time_verified=self.now)
                return
        raise Declined("I cannot identify you; please visit a branch with your passport")

    def _find(self, said: str) -> Talk[dict[str, str] | None]:
        name = re.search(r"\b(?:[Nn]ame is|I am|I'm) ([A-Z][\w'-]+(?: [A-Z][\w'-]+)+)", said)
        if not name:
            return None
        heard = yield from self.call("get_user_information_by_name", customer_name=name[1])
        for record in reading.records(heard.text):
            proofs = ("address", "email", "phone_number", "date_of_birth")
            if sum(record[proof].lower() in said.lower() for proof in proofs) > 1:
                return record
        return None

    def look_at_clock(self) -> Talk[date]:
        """Return today's date."""
        if not self.now:
            heard = yield from self.call("get_current_time")
            match = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+", heard.text)
            self.now = match[0] if match else ""
        year, month, day = self.now[:10].split("-")
        return reading.american(f"{month}/{day}/{year}")

    def age(self, day: str) -> Talk[int]:
        """Return how many days ago a date of a record was."""
        today = yield from self.look_at_clock()
        return (today - reading.american(day)).days

    # Records

    def accounts(self) -> Talk[list[dict[str, str]]]:
        """Return the bank accounts of the customer."""
        yield from self.search("ids products balances opening dates of a customer's bank accounts")
        text = yield from self.hidden("get_all_user_accounts_by_user_id")
        return [record for record in reading.records(text) if "card_type" not in record]

    def account(self, text: str, kind: str = "") -> Talk[dict[str, str]]:
        """Return the account that is meant: the product that is named, or the only one of its class.

        Raises:
            Declined: There is none, or there are several.
        """
        return self.pick_account((yield from self.accounts()), text, kind)

    def pick_account(self, accounts: list[dict[str, str]], text: str, kind: str = "") -> dict[str, str]:
        """Return the account that is meant.

        Raises:
            Declined: There is none, or there are several.
        """
        fitting = [account for account in accounts if not kind or account.get("class") == kind]
        names = reading.mentioned(text, {account.get("level", "") for account in fitting if account.get("level")})
        named_accounts = [account for account in fitting if names and account.get("level") == names[0]]
        candidates = named_accounts or fitting
        if len(candidates) != 1:
            raise Declined("I do not find the account that you mean")
        self.known |= {"account_id": candidates[0]["account_id"], "checking_account_id": candidates[0]["account_id"]}
        return candidates[0]

    def credit_card(self, text: str) -> Talk[dict[str, str]]:
        """Return the credit card account that is meant.

        Raises:
            Declined: There is none, or there are several.
        """
        heard = yield from self.call("get_credit_card_accounts_by_user", user_id=self.user["user_id"])
        cards = reading.records(heard.text)
        names = reading.mentioned(text, {card["card_type"] for card in cards})
        named_cards = [card for card in cards if names and card["card_type"] == names[0]] or cards
        if len(named_cards) != 1:
            raise Declined("I do not find the credit card that you mean")
        self.known["credit_card_account_id"] = named_cards[0]["account_id"]
        return named_cards[0]

    def debit_cards(self, text: str) -> Talk[tuple[dict[str, str], list[dict[str, Any]]]]:
        """Return the checking account that is meant, and its debit cards."""
        account = yield from self.account(text, "checking")
        yield from self.search(
            "debit cards belong to checking accounts; state, last four digits, issue_reason of each card"
        )
        return account, reading.card_records((yield from self.hidden("get_debit_cards_by_account_id")))

    def debit_card(self, text: str, status: str) -> Talk[tuple[dict[str, str], dict[str, Any]]]:
        """Return the checking account that is meant, and its debit card with this status.

        Raises:
            Declined: There is none, or there are several.
        """
        account, cards = yield from self.debit_cards(text)
        in_status = [card for card in cards if card["status"] == status]
        if len(in_status) != 1:
            raise Declined(f"I do not find a debit card that is {status.lower()}")
        self.known["card_id"] = in_status[0]["card_id"]
        return account, in_status[0]
