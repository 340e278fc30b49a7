"""Calls of reference solutions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..._kit.transfer import TRANSFER
from ..clock import NOW_TEXT

if TYPE_CHECKING:
    from .world import Record

UNLOCK, CALL = "unlock_discoverable_agent_tool", "call_discoverable_agent_tool"
GIVE, USE = "give_discoverable_user_tool", "call_discoverable_user_tool"
OVERVIEW = "get_all_user_accounts_by_user_id_3847"
DEBIT_CARDS = "get_debit_cards_by_account_id_7823"


class Call(NamedTuple):
    """A reference action."""

    name: str
    arguments: dict[str, Any]
    requestor: Literal["assistant", "user"] = "assistant"


def look_up(user: Record) -> Call:
    """Find the customer by name."""
    return Call("get_user_information_by_name", {"customer_name": user["name"]})


def log(user: Record) -> Call:
    """Record that the customer was identified."""
    fields = ("name", "user_id", "address", "email", "phone_number", "date_of_birth")
    return Call("log_verification", {**{field: user[field] for field in fields}, "time_verified": NOW_TEXT})


def hidden(tool: str, **arguments: Any) -> list[Call]:
    """Unlock a tool and call it; it is unlocked once, however often it is called."""
    return [
        Call(UNLOCK, {"agent_tool_name": tool}),
        Call(CALL, {"agent_tool_name": tool, "arguments": json.dumps(arguments, sort_keys=True)}),
    ]


def given(tool: str, **arguments: Any) -> list[Call]:
    """Give the customer a tool, which the customer calls."""
    return [
        Call(GIVE, {"discoverable_tool_name": tool}),
        Call(USE, {"discoverable_tool_name": tool, "arguments": json.dumps(arguments, sort_keys=True)}, "user"),
    ]


def overview(user: Record) -> list[Call]:
    """Look at all accounts of the customer."""
    return hidden(OVERVIEW, user_id=user["user_id"])


def debit_cards(user: Record, account: Record) -> list[Call]:
    """Look at all accounts, and at the debit cards of one."""
    return [*overview(user), *hidden(DEBIT_CARDS, account_id=account["account_id"])]


def transfer(reason: str, summary: str) -> Call:
    """Hand over to a person."""
    return Call(TRANSFER, {"summary": summary, "reason": reason})
