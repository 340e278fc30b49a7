"""Calls of reference solutions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..._kit.transfer import TRANSFER
from ..clock import NOW_TEXT
from ..discoverable import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .world import Record

UNLOCK, CALL = "unlock_discoverable_agent_tool", "call_discoverable_agent_tool"
GIVE, USE = "give_discoverable_user_tool", "call_discoverable_user_tool"
#: What required parameters of hidden tools are, where a step does not say it.
_USUAL = {
    "account_id": "{account[account_id]}",
    "address": "{user[address]}",
    "card_id": "{card[card_id]}",
    "checking_account_id": "{account[account_id]}",
    "credit_card_account_id": "{card[account_id]}",
    "email": "{user[email]}",
    "full_name": "{user[name]}",
    "last_4_digits": "{card[last_4_digits]}",
    "phone": "{user[phone_number]}",
    "purchase_date": "{purchase[transaction_date]}",
    "shipping_address": "{user[address]}",
    "transaction_id": "{purchase[transaction_id]}",
    "user_id": "{user[user_id]}",
}


class Call(NamedTuple):
    """A reference action."""

    name: str
    arguments: dict[str, Any]
    requestor: Literal["assistant", "user"] = "assistant"


class Step(NamedTuple):
    """A step of a reference solution: a call of a tool, whose arguments are templates.

    Attributes:
        tool: The tool, which may be a template, too.
        arguments: What it is called with; of a hidden tool, what differs from the usual.
        requestor: Who calls it.
        hidden: Whether it has to be unlocked, or given, before.
    """

    tool: str
    arguments: dict[str, Any]
    requestor: Literal["assistant", "user"] = "assistant"
    hidden: bool = True

    def calls(self, fill: Callable[[Any], Any]) -> list[Call]:
        """Return the calls of the step; ``fill`` fills templates."""
        tool = fill(self.tool)
        if not self.hidden:
            return [Call(tool, fill(self.arguments), self.requestor)]
        required = [name for name, needed in (parameters_of(self.requestor, tool) or {}).items() if needed]
        usual = {name: _USUAL[name] for name in required if name not in self.arguments}
        arguments = json.dumps(fill(usual | self.arguments), sort_keys=True)
        if self.requestor == "user":
            used = {"discoverable_tool_name": tool, "arguments": arguments}
            return [Call(GIVE, {"discoverable_tool_name": tool}), Call(USE, used, "user")]
        called = {"agent_tool_name": tool, "arguments": arguments}
        return [Call(UNLOCK, {"agent_tool_name": tool}), Call(CALL, called)]


def look_up(user: Record) -> Call:
    """Find the customer by name."""
    return Call("get_user_information_by_name", {"customer_name": user["name"]})


def log(user: Record) -> Call:
    """Record that the customer was identified."""
    fields = ("name", "user_id", "address", "email", "phone_number", "date_of_birth")
    return Call("log_verification", {**{field: user[field] for field in fields}, "time_verified": NOW_TEXT})


def hidden(tool: str, /, **arguments: Any) -> Step:
    """Unlock a tool and call it; it is unlocked once, however often it is called."""
    return Step(tool, arguments)


def given(tool: str, /, **arguments: Any) -> Step:
    """Give the customer a tool, which the customer calls."""
    return Step(tool, arguments, "user")


def offered(tool: str, /, **arguments: Any) -> Step:
    """Call a tool that the agent always has."""
    return Step(tool, arguments, hidden=False)


def by_customer(tool: str, /, **arguments: Any) -> Step:
    """Let the customer call a tool that customers always have."""
    return Step(tool, arguments, "user", hidden=False)


def transfer(reason: str, summary: str) -> Step:
    """Hand over to a person."""
    return offered(TRANSFER, summary=summary, reason=reason)


#: A look at all accounts of the customer.
OVERVIEW = hidden("get_all_user_accounts_by_user_id_3847")
#: A look at all accounts, and at the debit cards of one.
DEBIT_CARDS = (OVERVIEW, hidden("get_debit_cards_by_account_id_7823"))
#: A look at the transactions of an account.
TRANSACTIONS = hidden("get_bank_account_transactions_9173")
#: A look at the replacements of a credit card that are on their way.
PENDING_ORDERS = hidden("get_pending_replacement_orders_5765")
