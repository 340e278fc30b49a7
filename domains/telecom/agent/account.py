"""Work of the agent in the carrier's records: the account's part of technical support."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from pytest_tau.policy import has_limit, is_yes

from ..constants import MAX_REFUEL_GB, TODAY
from .dialog import ToolUse
from .troubleshooting import STEPS

if TYPE_CHECKING:
    from .dialog import Dialog

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) *(?:gb|gigabytes?)\b|^\D*(\d+(?:\.\d+)?)\D*$", re.IGNORECASE)
_ALL_BILLS = 1000


class Account:
    """The customer and the line of a conversation.

    A procedure that changes something in the records returns whether it did.

    Attributes:
        customer: The customer's record.
        line: The line's record, as it was read last.
    """

    def __init__(self, customer: dict[str, Any], line: dict[str, Any]) -> None:
        self.customer = customer
        self.line = line

    @property
    def ids(self) -> dict[str, str]:
        """Return the arguments that identify the line for most tools."""
        return {"customer_id": self.customer["customer_id"], "line_id": self.line["line_id"]}

    def read_field(self, kind: str, field: str) -> Dialog[str]:
        """Read a field of a record: of the ``customer``, the ``line``, or its ``plan``."""
        if kind == "plan":
            record = json.loads((yield ToolUse("get_details_by_id", {"id": self.line["plan_id"]})))
        else:
            record = self.line if kind == "line" else self.customer
        return str(record[field])

    def lift_suspension(self) -> Dialog[bool]:
        """Resume the line if it is suspended and may be resumed."""
        yield from self._read_line()
        ends = self.line.get("contract_end_date")
        if self.line["status"] != "Suspended" or (ends and date.fromisoformat(ends) < TODAY):
            return False
        bills = yield from self._bills()
        owed = [bill for bill in bills if bill["status"] in ("Awaiting Payment", "Overdue")]
        # An open request blocks every other, so it is settled first.
        for bill in sorted(owed, key=lambda bill: bill["status"]):
            if not (yield from self._settle(bill)):
                return False
        yield ToolUse("resume_line", self.ids)
        return True

    def enable_roaming(self) -> Dialog[bool]:
        """Switch roaming on for the line if it is off."""
        yield from self._read_line()
        if self.line["roaming_enabled"]:
            return False
        yield ToolUse("enable_roaming", self.ids)
        return True

    def refuel(self) -> Dialog[bool]:
        """Refuel data if the allowance is used up, as much as the customer wants and the policy allows."""
        usage = json.loads((yield ToolUse("get_data_usage", self.ids)))
        used, limit, refuelled = (float(usage[f"data_{key}_gb"]) for key in ("used", "limit", "refueling"))
        most = MAX_REFUEL_GB - refuelled
        if used < limit + refuelled or most <= 0:
            return False
        plan = json.loads((yield ToolUse("get_details_by_id", {"id": self.line["plan_id"]})))
        price = plan["data_refueling_price_per_gb"]
        answer_gb = yield (
            f"Your data allowance is used up: {used:g} GB of {limit + refuelled:g} GB. I can refuel up to {most:g} GB "
            f"at ${price:g} per GB. How many GB would you like?"
        )
        amount = _amount(answer_gb)
        if not 0 < amount <= most:
            return False
        answer = yield f"{amount:g} GB cost ${amount * price:.2f}, on your next bill. Do you confirm? (yes/no)"
        if not is_yes(answer) or has_limit(answer):
            return False
        yield ToolUse("refuel_data", {**self.ids, "gb_amount": amount})
        return True

    def _read_line(self) -> Dialog[None]:
        self.line = json.loads((yield ToolUse("get_details_by_id", {"id": self.line["line_id"]})))

    def _bills(self) -> Dialog[list[dict[str, Any]]]:
        bills = yield ToolUse("get_bills_for_customer", {"customer_id": self.ids["customer_id"], "limit": _ALL_BILLS})
        records: list[dict[str, Any]] = json.loads(bills)
        return records

    def _settle(self, bill: dict[str, Any]) -> Dialog[bool]:
        """Have the customer pay one bill; return whether it is paid."""
        due = f"bill {bill['bill_id']} of ${bill['total_due']:.2f}"
        if bill["status"] == "Overdue":
            answer = yield (
                f"Your line is suspended because {due} is overdue. I can send you a payment request for it. "
                "Do you agree to pay it? (yes/no)"
            )
            if not is_yes(answer) or has_limit(answer):
                return False
            yield ToolUse("send_payment_request", {"customer_id": self.ids["customer_id"], "bill_id": bill["bill_id"]})
        yield f"There is a payment request for {due}. {STEPS['check_payment_request']} {STEPS['make_payment']}"
        paid: bool = json.loads((yield ToolUse("get_details_by_id", {"id": bill["bill_id"]})))["status"] == "Paid"
        return paid


def _amount(text: str) -> float:
    """Return the GB that an answer names; 0 if it names none."""
    match = _AMOUNT.search(text)
    return float(match[1] or match[2]) if match else 0.0
