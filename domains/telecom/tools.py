"""The agent's tools of the telecom domain."""

import hashlib
from datetime import date
from typing import Any, Final

from pytest_tau.environment import Record, ToolError, Toolkit, tool

from .constants import TODAY
from .models import Bill, Customer, Line, LineItem, LineStatus, TelecomDB

_CYCLE_END: Final = date(2025, 2, 28)


class TelecomTools(Toolkit[TelecomDB]):
    """Customers, lines and bills of a mobile carrier. Source: the reference's telecom domain."""

    @tool("read")
    def get_customer_by_phone(self, phone_number: str) -> Customer:
        """Find the customer to whom a phone number belongs, be it the primary number or that of any line.

        Args:
            phone_number: The number, written as in 555-123-4567.
        """
        return self.db.customer_by_phone(phone_number)

    @tool("read")
    def get_customer_by_id(self, customer_id: str) -> Customer:
        """Read a customer's record: contact data, account status, payment methods, ids of lines and bills.

        Args:
            customer_id: The customer's id, such as C1001.
        """
        return self.db.customer(customer_id)

    @tool("read")
    def get_customer_by_name(self, full_name: str, dob: str) -> list[Customer]:
        """List the customers who have this name and this date of birth; the list is empty if there are none.

        Args:
            full_name: First and last name; upper or lower case does not matter.
            dob: Date of birth as YYYY-MM-DD.
        """
        name = full_name.lower()
        return [c for c in self.db.customers.scan() if c.full_name.lower() == name and c.date_of_birth == dob]

    @tool("read")
    def get_details_by_id(self, id: str) -> Record:
        """Read one record of any kind; the first letter of its id tells which.

        Args:
            id: C… for a customer, L… a line, D… a device, B… a bill, P… a plan.
        """
        kinds = {
            "L": self.db.line,
            "D": self.db.device,
            "B": self.db.bill,
            "C": self.db.customer,
            "P": self.db.plan,
        }
        look_up = kinds.get(str(id)[:1])
        if look_up is None:
            raise ToolError(f"Unknown ID format or type: {id}")
        record: Record = look_up(id)
        return record

    @tool("write")
    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> dict[str, Any]:
        """Put an active line on hold from today, for a holding fee of $5 a month.

        Args:
            customer_id: The customer who has the line.
            line_id: The line to suspend; it must be Active.
            reason: Why.
        """
        if self._line_of(customer_id, line_id).status != "Active":
            raise ToolError("Line must be active to suspend")
        line = self.db.lines[line_id]
        line.status, line.suspension_start_date = "Suspended", TODAY
        return {"message": "Line suspended successfully. $5/month holding fee will apply.", "line": line}

    @tool("write")
    def resume_line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Make a line Active again. Unpaid bills and the contract's end are not looked at: check them first.

        Args:
            customer_id: The customer who has the line.
            line_id: The line; it must be Suspended or Pending Activation.
        """
        if self._line_of(customer_id, line_id).status not in ("Suspended", "Pending Activation"):
            raise ToolError("Line must be suspended to resume")
        line = self.db.lines[line_id]
        line.status, line.suspension_start_date = "Active", None
        return {"message": "Line resumed successfully", "line": line}

    @tool("read")
    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> list[Bill]:
        """List a customer's bills with their status, line items and total in USD; the latest issue date comes first.

        Args:
            customer_id: Whose bills.
            limit: How many to show.
        """
        bills = [self.db.bill(bill_id) for bill_id in self.db.customer(customer_id).bill_ids]
        return sorted(bills, key=lambda bill: bill.issue_date, reverse=True)[:limit]

    @tool("write")
    def send_payment_request(self, customer_id: str, bill_id: str) -> str:
        """Ask a customer to pay one bill; it becomes Awaiting Payment, and Paid once they have paid.

        One request at a time: refused while another bill awaits payment. The bill's own status is not looked at, not
        even whether it is paid already: check it first.

        Args:
            customer_id: The customer who owes the bill.
            bill_id: The bill to be paid.
        """
        customer = self.db.customer(customer_id)
        if self.db.first_bill(customer, "Awaiting Payment"):
            raise ToolError("A bill is already awaiting payment for this customer")
        if bill_id not in customer.bill_ids:
            raise ToolError(f"Bill {bill_id} not found for customer {customer_id}")
        self.db.bills[self.db.bill(bill_id).bill_id].status = "Awaiting Payment"
        return f"Payment request sent to the customer for bill {bill_id}"

    @tool("read")
    def get_data_usage(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Show a line's mobile data in this billing cycle, in GB, and when the cycle ends.

        Gives what was used, the limit of the plan, and what was refuelled on top of it.

        Args:
            customer_id: The customer who has the line.
            line_id: The line.
        """
        line = self._line_of(customer_id, line_id)
        return {
            "line_id": line_id,
            "data_used_gb": line.data_used_gb,
            "data_limit_gb": self.db.plan(line.plan_id).data_limit_gb,
            "data_refueling_gb": line.data_refueling_gb,
            "cycle_end_date": _CYCLE_END,
        }

    @tool("write")
    def enable_roaming(self, customer_id: str, line_id: str) -> str:
        """Allow a line to use mobile data abroad. The phone's own roaming setting has to be on, too.

        Args:
            customer_id: The customer who has the line.
            line_id: The line.
        """
        if self._line_of(customer_id, line_id).roaming_enabled:
            return "Roaming was already enabled"
        self.db.lines[line_id].roaming_enabled = True
        return "Roaming enabled successfully"

    @tool("write")
    def disable_roaming(self, customer_id: str, line_id: str) -> str:
        """Stop a line from using mobile data abroad.

        Args:
            customer_id: The customer who has the line.
            line_id: The line.
        """
        if not self._line_of(customer_id, line_id).roaming_enabled:
            return "Roaming was already disabled"
        self.db.lines[line_id].roaming_enabled = False
        return "Roaming disabled successfully"

    @tool("generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        """Hand the conversation over to a person, for requests that these tools and the policy leave no way to meet.

        Args:
            summary: What the customer wants and what was tried.
        """
        return "Transfer successful"

    @tool("write")
    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> dict[str, Any]:
        """Add mobile data to a line and put the price, GB times the plan's price per GB, on the next bill.

        The tool knows no upper limit: keep to the policy's.

        Args:
            customer_id: The customer who has the line and pays.
            line_id: The line that gets the data.
            gb_amount: How many GB to add; more than 0.
        """
        line = self._line_of(customer_id, line_id)
        if gb_amount <= 0:
            raise ToolError("Refuel amount must be positive")
        price = self.db.plan(line.plan_id).data_refueling_price_per_gb
        charge = gb_amount * price
        self._charge_once(customer_id, charge, f"Data refueling: {gb_amount} GB at ${price}/GB")
        line = self.db.lines[line_id]
        line.data_refueling_gb += gb_amount
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}",
            "new_data_refueling_gb": line.data_refueling_gb,
            "charge": charge,
        }

    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> None:
        """Set how much data a line has used, in GB."""
        self._line_of(customer_id, line_id)
        self.db.lines[line_id].data_used_gb = data_used_gb

    def suspend_line_for_overdue_bill(
        self, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool
    ) -> None:
        """Give a customer an overdue bill of January over a line's plan price, and suspend the line for it.

        Args:
            customer_id: Who gets the bill.
            line_id: The line; it must be Active.
            new_bill_id: The bill's id, not yet in use.
            contract_ended: Whether the line's contract is also over.
        """
        line = self.db.line(line_id)
        if line.status != "Active":
            raise ToolError("Line must be active to suspend for unpaid bill")
        price = self.db.plan(line.plan_id).price_per_month
        if not price > 0:
            raise ToolError("The line's plan costs nothing that could be overdue")
        if self.db.first_bill(self.db.customer(customer_id), "Overdue"):
            raise ToolError("Customer already has an overdue bill")
        if new_bill_id in self.db.bills:
            raise ToolError(f"Bill with ID {new_bill_id} already exists")
        item = LineItem(description=f"Charge for line {line_id}", amount=price, date=TODAY, item_type="Charge")
        self.db.bills[new_bill_id] = Bill(
            bill_id=new_bill_id,
            customer_id=customer_id,
            period_start=date(2025, 1, 1),
            period_end=date(2025, 1, 31),
            issue_date=date(2025, 1, 1),
            total_due=price,
            due_date=date(2025, 1, 15),
            line_items=[item],
            status="Overdue",
        )
        self.db.customers[customer_id].bill_ids.append(new_bill_id)
        line = self.db.lines[line_id]
        line.status, line.suspension_start_date = "Suspended", TODAY
        if contract_ended:
            line.contract_end_date = date(2025, 1, 31)

    def get_available_plan_ids(self) -> list[str]:
        """Return the ids of every plan."""
        return list(self.db.plans)

    def assert_data_refueling_amount(self, customer_id: str, line_id: str, expected_amount: float) -> bool:
        """Return whether a line has been refuelled by so many GB."""
        return abs(self._line_of(customer_id, line_id).data_refueling_gb - expected_amount) < 1e-6

    def assert_line_status(self, customer_id: str, line_id: str, expected_status: LineStatus) -> bool:
        """Return whether a line has this status."""
        return self._line_of(customer_id, line_id).status == expected_status

    def assert_overdue_bill_exists(self, customer_id: str, overdue_bill_id: str) -> bool:
        """Return whether a bill of this customer is overdue; raise ``ToolError`` instead of returning False."""
        if overdue_bill_id not in self.db.customer(customer_id).bill_ids:
            raise ToolError(f"Bill {overdue_bill_id} not found for customer {customer_id}")
        if self.db.bill(overdue_bill_id).status != "Overdue":
            raise ToolError(f"Bill {overdue_bill_id} is not overdue")
        return True

    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """Return whether a bill is paid, or was never made."""
        bill = self.db.bills.peek(overdue_bill_id)
        return bill is None or bill.status == "Paid"

    def _line_of(self, customer_id: str, line_id: str) -> Line:
        """Return the line of a customer, for reading only; raise ``ToolError`` if the customer does not have it."""
        if line_id not in self.db.customer(customer_id).line_ids:
            raise ToolError(f"Line {line_id} not found for customer {customer_id}")
        return self.db.line(line_id)

    def _charge_once(self, customer_id: str, amount: float, description: str) -> None:
        """Put an amount on the customer's first draft bill; make one for March if there is none."""
        draft = self.db.first_bill(self.db.customer(customer_id), "Draft")
        bill = self.db.bills[draft.bill_id] if draft else self._new_draft(customer_id)
        kind = "Credit" if amount < 0 else "Charge"
        bill.line_items.append(LineItem(description=description, amount=amount, date=TODAY, item_type=kind))
        bill.total_due += amount

    def _new_draft(self, customer_id: str) -> Bill:
        customer = self.db.customers[customer_id]
        # The reference draws the id at random; derived from what the customer has, it is the same in a replay.
        digest = hashlib.sha256("/".join([customer_id, *customer.bill_ids]).encode()).hexdigest()
        bill = Bill(
            bill_id=f"B{digest[:8]}",
            customer_id=customer_id,
            period_start=date(2025, 3, 1),
            period_end=date(2025, 3, 31),
            issue_date=date(2025, 3, 1),
            total_due=0.0,
            due_date=date(2025, 3, 15),
        )
        self.db.bills[bill.bill_id] = bill
        customer.bill_ids.append(bill.bill_id)
        return bill
