"""The bank's one database: 23 tables of free records, shared by both sides."""

from typing import Annotated, Any, TypeAlias

from pydantic import Field

from pytest_tau.environment import Database, Noted, Table

from .refusals import require

#: A record has any fields; they are neither checked nor converted.
BankRecord: TypeAlias = dict[str, Any]
BankTable: TypeAlias = Annotated[Table[BankRecord], Noted()]


def _empty() -> Table[BankRecord]:
    return Table()


class BankDB(Database):
    """Every table of the bank; one that the file lacks is empty.

    Source: τ²-bench v1.0.1, banking_knowledge domain: names and order of the tables.
    """

    users: BankTable = Field(default_factory=_empty)
    accounts: BankTable = Field(default_factory=_empty)
    debit_cards: BankTable = Field(default_factory=_empty)
    referrals: BankTable = Field(default_factory=_empty)
    credit_card_applications: BankTable = Field(default_factory=_empty)
    user_discoverable_tools: BankTable = Field(default_factory=_empty)
    user_discoverable_tool_calls: BankTable = Field(default_factory=_empty)
    verification_history: BankTable = Field(default_factory=_empty)
    credit_card_transaction_history: BankTable = Field(default_factory=_empty)
    cash_back_disputes: BankTable = Field(default_factory=_empty)
    bank_account_transaction_history: BankTable = Field(default_factory=_empty)
    credit_card_accounts: BankTable = Field(default_factory=_empty)
    agent_discoverable_tools: BankTable = Field(default_factory=_empty)
    task_config: BankTable = Field(default_factory=_empty)
    human_transfer_requests: BankTable = Field(default_factory=_empty)
    transaction_disputes: BankTable = Field(default_factory=_empty)
    credit_card_orders: BankTable = Field(default_factory=_empty)
    debit_card_orders: BankTable = Field(default_factory=_empty)
    credit_card_closure_reasons: BankTable = Field(default_factory=_empty)
    credit_card_account_flags: BankTable = Field(default_factory=_empty)
    credit_limit_increase_requests: BankTable = Field(default_factory=_empty)
    payment_history: BankTable = Field(default_factory=_empty)
    debit_card_disputes: BankTable = Field(default_factory=_empty)


def add(table: Table[BankRecord], key: str, record: BankRecord) -> bool:
    """Add a record unless there is one with its id; return whether it was added."""
    if key in table:
        return False
    table[key] = record
    return True


def found(table: Table[BankRecord], key: Any, what: str) -> BankRecord:
    """Return a record, for reading only.

    Raises:
        Refusal: There is none with this id; the text says what it would be.
    """
    require(key in table, f"{what} '{key}' not found.")
    return table.peek(key) or {}


def records_where(table: Table[BankRecord], field: str, value: Any) -> list[BankRecord]:
    """Return the records with this value of a field, in order, for reading only."""
    return [record for record in table.scan() if record.get(field) == value]
