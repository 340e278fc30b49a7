"""Reading histories and lists: tools that differ by table, field and words."""

import json
from operator import itemgetter
from typing import Any, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import executed
from ..clock import moment
from ..query import is_empty, query, records_text
from ..refusals import Refusal, hidden, require, require_all, require_given
from ..tables import BankDB, BankRecord, found, records_where


class _List(NamedTuple):
    """A list of records: the first line, the label of the list, the table, the field of the id, and what if empty."""

    head: str
    label: str
    table: str
    field: str
    nothing: str


_LISTS = {
    "get_debit_dispute_status_7483": _List(
        "Debit card dispute history retrieved successfully.", "Debit card dispute history for user",
        "debit_card_disputes", "user_id", "No debit card disputes found for this user."),
    "get_user_dispute_history_7291": _List(
        "User transaction dispute history retrieved successfully.", "Transaction dispute history for user",
        "transaction_disputes", "user_id", "No transaction disputes found for this user."),
    "get_pending_replacement_orders_5765": _List(
        "Pending replacement orders check completed.", "Replacement orders for credit card account",
        "credit_card_orders", "credit_card_account_id",
        "No pending replacement orders found for this credit card account."),
    "get_closure_reason_history_8293": _List(
        "Closure reason history retrieved successfully.", "Closure reason history for credit card account",
        "credit_card_closure_reasons", "credit_card_account_id",
        "No closure reason records found for this credit card account."),
    "get_credit_limit_increase_history_4829": _List(
        "Credit limit increase history retrieved.", "Credit limit increase history for account",
        "credit_limit_increase_requests", "credit_card_account_id",
        "No credit limit increase requests found for this account."),
}  # fmt: skip


class Histories(Toolkit[BankDB]):
    """Histories of disputes, orders, requests, payments and transactions, and lists of accounts."""

    @hidden("read")
    def get_debit_dispute_status_7483(self, user_id: Any) -> str:
        """List a customer's disputes of debit card transactions."""
        return self._list(user_id, "get_debit_dispute_status_7483")

    @hidden("read")
    def get_user_dispute_history_7291(self, user_id: Any) -> str:
        """List a customer's disputes of credit card transactions."""
        return self._list(user_id, "get_user_dispute_history_7291")

    @hidden("read")
    def get_pending_replacement_orders_5765(self, credit_card_account_id: Any) -> str:
        """List the replacement orders of a credit card account, whatever their status."""
        return self._list(credit_card_account_id, "get_pending_replacement_orders_5765")

    @hidden("read")
    def get_closure_reason_history_8293(self, credit_card_account_id: Any) -> str:
        """List the logged closure reasons of a credit card account."""
        return self._list(credit_card_account_id, "get_closure_reason_history_8293")

    @hidden("read")
    def get_credit_limit_increase_history_4829(self, credit_card_account_id: Any) -> str:
        """List the limit increase requests of a credit card account."""
        return self._list(credit_card_account_id, "get_credit_limit_increase_history_4829")

    @hidden("read")
    def get_all_user_accounts_by_user_id_3847(self, user_id: Any) -> str:
        """List a customer's bank accounts and credit card accounts."""
        require_all(user_id, text="Missing required parameter: user_id")
        bank, cards = (query(self.db, table, "user_id", user_id) for table in ("accounts", "credit_card_accounts"))
        return executed(
            "User accounts retrieved successfully.",
            "get_all_user_accounts_by_user_id_3847",
            f"Accounts for user {user_id}:",
            "",
            "Bank Accounts:",
            "  No bank accounts found." if is_empty(bank) else bank,
            "",
            "Credit Card Accounts:",
            "  No credit card accounts found." if is_empty(cards) else cards,
        )

    @hidden("read")
    def get_bank_account_transactions_9173(self, account_id: Any) -> str:
        """List the transactions of a bank account, the latest first."""
        require_all(account_id, text="Missing required parameter: account_id")
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        entries = self.db.bank_account_transaction_history.peek_items()
        own_records = [(key, record) for key, record in entries if record.get("account_id") == account_id]
        own_records.sort(key=lambda each: moment(each[1].get("date")), reverse=True)
        return executed(
            "Bank account transactions retrieved successfully.",
            "get_bank_account_transactions_9173",
            f"Transactions for account {account_id}:",
            records_text("bank_account_transaction_history", own_records)
            if own_records
            else "\nNo transactions found for this account.",
        )

    @hidden("read")
    def get_payment_history_6183(self, credit_card_account_id: Any, months: Any) -> str:
        """List the latest payments of a credit card account, by the text of their dates."""
        text = "Missing required parameters (credit_card_account_id, months)."
        require_all(credit_card_account_id, text=text)
        require_given(months, text=text)
        try:
            months = int(months)
        except (TypeError, ValueError):
            raise Refusal("Error: Invalid months value. Must be a positive integer.") from None
        require(months > 0, "months must be a positive integer.")
        payments = records_where(self.db.payment_history, "credit_card_account_id", credit_card_account_id)
        if not payments:
            return f"No payment history found for account '{credit_card_account_id}'."
        latest = sorted(payments, key=lambda record: record.get("payment_date", ""), reverse=True)[:months]
        late = (position for position, record in enumerate(latest) if record.get("status") != "ON_TIME")
        return "".join(
            [
                f"Payment history for account '{credit_card_account_id}' (last {months} months):\n",
                f"Consecutive on-time payments: {next(late, len(latest))}",
                *(_payment(record) for record in latest),
            ]
        )

    @hidden("read")
    def get_debit_cards_by_account_id_7823(self, account_id: Any) -> str:
        """List the debit cards of a checking account as JSON, by the text of their issue dates."""
        require_all(account_id, text="Missing required parameter 'account_id'.")
        account = found(self.db.accounts, account_id, "Account")
        require(
            account.get("class", "").lower() in ("checking", "business_checking"),
            f"Account '{account_id}' is not a checking account. Debit cards are only available for checking accounts.",
        )
        entries = self.db.debit_cards.peek_items()
        cards = [_shown(key, card) for key, card in entries if card.get("account_id") == account_id]
        if not cards:
            return f"No debit cards found for account '{account_id}'."
        return json.dumps(sorted(cards, key=lambda card: card.get("date_issued", ""), reverse=True), indent=2)

    def _list(self, value: Any, tool: str) -> str:
        head, label, table, field, nothing = _LISTS[tool]
        require_all(value, text=f"Missing required parameter: {field}")
        text = query(self.db, table, field, value)
        return executed(head, tool, f"{label} {value}:", f"\n{nothing}" if is_empty(text) else text)


def _payment(record: BankRecord) -> str:
    date, amount, status = itemgetter("payment_date", "amount", "status")(record)
    return f"\n\n  - Payment Date: {date}\n    Amount: {amount}\n    Status: {status}"


def _shown(card_id: str, record: BankRecord) -> BankRecord:
    """Return a card with its id first, and two of its fields last, under other names."""
    card = {"card_id": card_id, **{name: value for name, value in record.items() if name != "card_id"}}
    for old, new in (
        ("last_4_digits", "card_number_last_4"),
        ("issue_date", "date_issued"),
        ("created_date", "date_issued"),
    ):
        if old in card and new not in card:
            card[new] = card.pop(old)
    return card
