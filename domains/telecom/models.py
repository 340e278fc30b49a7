"""Records of the carrier's side: customers and what they have."""

from datetime import date, datetime
from typing import Annotated, Literal, TypeAlias, TypeVar

from pytest_tau.environment import Database, KeyedBy, Record, Table, ToolError

AccountStatus: TypeAlias = Literal["Active", "Suspended", "Pending Verification", "Closed"]
LineStatus: TypeAlias = Literal["Active", "Suspended", "Pending Activation", "Closed"]
BillStatus: TypeAlias = Literal["Draft", "Issued", "Awaiting Payment", "Paid", "Overdue", "Disputed"]
PaymentMethodType: TypeAlias = Literal["Credit Card", "Debit Card", "PayPal"]
DeviceType: TypeAlias = Literal["phone", "router", "tablet", "watch", "other"]

R = TypeVar("R", bound=Record)


class Plan(Record):
    """A price plan of lines; prices in USD, data in GB."""

    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class Address(Record):
    """A customer's address."""

    street: str
    city: str
    state: str
    zip_code: str


class PaymentMethod(Record):
    """A customer's way to pay; ``expiration_date`` is MM/YYYY."""

    method_type: PaymentMethodType
    account_number_last_4: str
    expiration_date: str


class Customer(Record):
    """An account holder with the ids of lines and bills; ``date_of_birth`` is text, YYYY-MM-DD."""

    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: Address
    account_status: AccountStatus = "Pending Verification"
    payment_methods: list[PaymentMethod] = []
    line_ids: list[str] = []
    bill_ids: list[str] = []
    created_at: datetime = datetime(2025, 1, 1)
    last_extension_date: date | None = None
    goodwill_credit_used_this_year: float = 0.0


class Line(Record):
    """A phone number on a plan; data in GB of the current billing cycle."""

    line_id: str
    phone_number: str
    status: LineStatus = "Pending Activation"
    plan_id: str
    device_id: str | None = None
    data_used_gb: float = 0.0
    data_refueling_gb: float = 0.0
    roaming_enabled: bool = False
    contract_end_date: date | None = None
    last_plan_change_date: date | None = None
    last_sim_replacement_date: date | None = None
    suspension_start_date: date | None = None


class LineItem(Record):
    """One entry of a bill, in USD; ``item_type`` is free text."""

    description: str
    amount: float
    date: date
    item_type: str


class Bill(Record):
    """A customer's charges for a period, in USD."""

    bill_id: str
    customer_id: str
    period_start: date
    period_end: date
    issue_date: date
    total_due: float
    due_date: date
    line_items: list[LineItem] = []
    status: BillStatus = "Draft"


class Device(Record):
    """A piece of hardware as the carrier knows it."""

    device_id: str
    device_type: DeviceType
    model: str
    imei: str | None = None
    is_esim_capable: bool
    activated: bool = False
    activation_date: datetime | None = None
    last_esim_transfer_date: datetime | None = None


class TelecomDB(Database):
    """The agent's database. Its methods look up shared records, for reading only, or raise ``ToolError``."""

    plans: Annotated[Table[Plan], KeyedBy("plan_id")]
    customers: Annotated[Table[Customer], KeyedBy("customer_id")]
    lines: Annotated[Table[Line], KeyedBy("line_id")]
    bills: Annotated[Table[Bill], KeyedBy("bill_id")]
    devices: Annotated[Table[Device], KeyedBy("device_id")]

    def plan(self, plan_id: str) -> Plan:
        """Return the plan with this id."""
        return _found("Plan", self.plans, plan_id)

    def customer(self, customer_id: str) -> Customer:
        """Return the customer with this id."""
        return _found("Customer", self.customers, customer_id)

    def line(self, line_id: str) -> Line:
        """Return the line with this id."""
        return _found("Line", self.lines, line_id)

    def bill(self, bill_id: str) -> Bill:
        """Return the bill with this id."""
        return _found("Bill", self.bills, bill_id)

    def device(self, device_id: str) -> Device:
        """Return the device with this id."""
        return _found("Device", self.devices, device_id)

    def line_by_phone(self, phone_number: str) -> Line:
        """Return the first line with this number."""
        for line in self.lines.scan():
            if line.phone_number == phone_number:
                return line
        raise ToolError(f"Line with phone number {phone_number} not found")

    def customer_by_phone(self, phone_number: str) -> Customer:
        """Return the first customer who has this number, as the primary one or on a line."""
        for customer in self.customers.scan():
            if customer.phone_number == phone_number:
                return customer
            for line_id in customer.line_ids:
                line = self.lines.peek(line_id) or self.line(line_id)
                if line.phone_number == phone_number:
                    return customer
        raise ToolError(f"Customer with phone number {phone_number} not found")

    def first_bill(self, customer: Customer, status: BillStatus) -> Bill | None:
        """Return the first of the customer's bills in this status, in the order of ``bill_ids``."""
        peek = self.bills.peek
        for bill_id in customer.bill_ids:
            # After each call of a tool: a bill that is there needs no further checks.
            bill = peek(bill_id) or self.bill(bill_id)
            if bill.status == status:
                return bill
        return None


def _found(kind: str, table: Table[R], key: object) -> R:
    # Arguments come unchecked from a model: an id may be any JSON value.
    record = table.peek(key) if isinstance(key, str) else None
    if record is None:
        raise ToolError(f"{kind} with ID {key} not found")
    return record
