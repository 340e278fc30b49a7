"""What a rule-following agent does in the carrier's records: the account's part of technical support."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..tools import TODAY
from .troubleshooting import STEPS

if TYPE_CHECKING:
    from collections.abc import Generator


class Use(NamedTuple):
    """A tool that the agent wants to call."""

    tool: str
    arguments: dict[str, Any]


#: A stretch of work: it says something or calls a tool, and goes on with the answer. ``bool``: whether it succeeded.
Work: TypeAlias = "Generator[str | Use, str, bool]"
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) *(?:gb|gigabytes?)\b|^\D*(\d+(?:\.\d+)?)\D*$", re.IGNORECASE)
_YES = re.compile(r"\b(?:yes|yeah|sure|ok|okay|agree|accept|confirm|go ahead|please do)\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|not|don't|won't|never|refuse)\b", re.IGNORECASE)
_ALL_BILLS = 1000
#: What the policy lets a line be refuelled by.
_MOST_GB = 2.0


class Account:
    """The customer and the line that a conversation is about.

    Attributes:
        customer: The customer's record.
        line: The line's record, as it was read last.
    """

    def __init__(self, customer: dict[str, Any], line: dict[str, Any]) -> None:
        self.customer = customer
        self.line = line

    @property
    def ids(self) -> dict[str, str]:
        """The arguments by which most tools know the line."""
        return {"customer_id": self.customer["customer_id"], "line_id": self.line["line_id"]}

    def tell(self, kind: str, field: str) -> Generator[str | Use, str, str]:
        """A field of a record: of the ``customer``, the ``line``, or its ``plan``."""
        if kind == "plan":
            record = json.loads((yield Use("get_details_by_id", {"id": self.line["plan_id"]})))
        else:
            record = self.line if kind == "line" else self.customer
        return str(record[field])

    def lift_suspension(self) -> Work:
        """Resume the line if it is suspended and may be resumed; false where there is nothing to resume, or no way."""
        yield from self._read_line()
        ends = self.line.get("contract_end_date")
        if self.line["status"] != "Suspended" or (ends and date.fromisoformat(ends) < TODAY):
            return False
        bills = yield from self._bills()
        owed = [bill for bill in bills if bill["status"] in ("Awaiting Payment", "Overdue")]
        # An open request stands in the way of any other.
        for bill in sorted(owed, key=lambda bill: bill["status"]):
            if not (yield from self._settle(bill)):
                return False
        yield Use("resume_line", self.ids)
        return True

    def enable_roaming(self) -> Work:
        """Switch roaming on for the line; false where it was on."""
        yield from self._read_line()
        if self.line["roaming_enabled"]:
            return False
        yield Use("enable_roaming", self.ids)
        return True

    def refuel(self) -> Work:
        """Refuel data if the allowance is used up, as much as the customer wants and the policy allows."""
        usage = json.loads((yield Use("get_data_usage", self.ids)))
        used, limit, refuelled = (float(usage[f"data_{key}_gb"]) for key in ("used", "limit", "refueling"))
        most = _MOST_GB - refuelled
        if used < limit + refuelled or most <= 0:
            return False
        plan = json.loads((yield Use("get_details_by_id", {"id": self.line["plan_id"]})))
        price = plan["data_refueling_price_per_gb"]
        wanted = yield (
            f"Your data allowance is used up: {used:g} GB of {limit + refuelled:g} GB. I can refuel up to {most:g} GB "
            f"at ${price:g} per GB. How many GB would you like?"
        )
        amount = _amount(wanted)
        if not 0 < amount <= most:
            return False
        answer = yield f"{amount:g} GB cost ${amount * price:.2f}, on your next bill. Do you confirm? (yes/no)"
        if not agrees(answer):
            return False
        yield Use("refuel_data", {**self.ids, "gb_amount": amount})
        return True

    def _read_line(self) -> Work:
        self.line = json.loads((yield Use("get_details_by_id", {"id": self.line["line_id"]})))
        return True

    def _bills(self) -> Generator[str | Use, str, list[dict[str, Any]]]:
        bills = yield Use("get_bills_for_customer", {"customer_id": self.ids["customer_id"], "limit": _ALL_BILLS})
        found: list[dict[str, Any]] = json.loads(bills)
        return found

    def _settle(self, bill: dict[str, Any]) -> Work:
        """Have one bill paid."""
        due = f"bill {bill['bill_id']} of ${bill['total_due']:.2f}"
        if bill["status"] == "Overdue":
            answer = yield (
                f"Your line is suspended because {due} is overdue. I can send you a payment request for it. "
                "Do you agree to pay it? (yes/no)"
            )
            if not agrees(answer):
                return False
            yield Use("send_payment_request", {"customer_id": self.ids["customer_id"], "bill_id": bill["bill_id"]})
        yield f"There is a payment request for {due}. {STEPS['check_payment_request']} {STEPS['make_payment']}"
        paid: bool = json.loads((yield Use("get_details_by_id", {"id": bill["bill_id"]})))["status"] == "Paid"
        return paid


def agrees(text: str) -> bool:
    """Whether an answer is a yes."""
    return bool(_YES.search(text)) and not _NO.search(text)


def _amount(text: str) -> float:
    """The GB that an answer names; 0 where it names none."""
    found = _AMOUNT.search(text)
    return float(found[1] or found[2]) if found else 0.0
