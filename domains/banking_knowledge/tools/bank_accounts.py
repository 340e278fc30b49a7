"""Bank accounts: opening, closing, transfers, credits, and reports about them."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY, age_in_days
from ..ids import id_of
from ..money import balance, dollars, plain
from ..refusals import Refusal, hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB, BankRecord, add, found, records_where

ACCOUNT_TYPES: Final = ("checking", "savings", "business_checking", "business_savings")
_OPEN: Final = ("OPEN", "ACTIVE")
_PERSONAL: Final = ("checking", "personal_checking")
#: Fees for closing an account early, by class and level: USD, and the age in days from which there is none.
_EARLY_CLOSURE: Final[dict[str, dict[str, tuple[float, int]]]] = {
    "checking": {
        "Blue Account": (25, 60),
        "Bluest Account": (100, 180),
        "Evergreen Account": (50, 90),
        "Green Account": (25, 60),
        "Green Fee-Free Account": (15, 30),
        "Light Blue Account": (15, 30),
        "Light Green Account": (15, 30),
    },
    "savings": {
        "Bronze Account": (20, 60),
        "Silver Account": (35, 90),
        "Silver Plus Account": (35, 90),
        "Gold Account": (75, 180),
        "Gold Plus Account": (75, 180),
        "Gold Years Account": (75, 180),
        "Platinum Account": (150, 270),
        "Platinum Plus Account": (150, 270),
        "Diamond Elite Account": (150, 270),
    },
}


class BankAccounts(Toolkit[BankDB]):
    """Opening and closing bank accounts, and moving money between them."""

    @hidden("write")
    def open_bank_account_4821(self, user_id: Any, account_type: Any, account_class: Any) -> str:
        """Open an account, which has a type and a class, unlike those of the file with their class and level."""
        require_all(user_id, account_type, account_class)
        require_choice("account_type", account_type, ACCOUNT_TYPES)
        accounts = records_where(self.db.accounts, "user_id", user_id)
        require(_is_eligible(account_type, accounts), "Account eligibility requirements not met.")
        account = id_of("account", user_id, account_type, account_class, length=16)
        record = {
            "account_id": account,
            "user_id": user_id,
            "account_type": account_type,
            "account_class": account_class,
            "current_holdings": "0.00",
            "status": "OPEN",
            "date_opened": TODAY,
        }
        if not add(self.db.accounts, account, record):
            raise Refusal(f"Failed to open account: Account ID '{account}' may already exist.")
        return lines(
            "Bank account opened successfully!",
            f"  - Account ID: {account}",
            f"  - User ID: {user_id}",
            f"  - Account Type: {account_type}",
            f"  - Account Class: {account_class}",
            "  - Status: OPEN",
            "  - Initial Balance: $0.00",
            f"  - Date Opened: {TODAY}",
        )

    @hidden("write")
    def close_bank_account_7392(
        self, account_id: Any, reason: Any = "Customer requested closure", waive_early_closure_fee: Any = False
    ) -> str:
        """Close an account that holds nothing but the fee for closing it early; what it holds stays recorded."""
        require_all(account_id, text="Missing required parameter (account_id).")
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        account = self.db.accounts[account_id]
        require(account.get("status") != "CLOSED", f"Account '{account_id}' is already closed.")
        held = balance(account)
        fee = 0 if waive_early_closure_fee else early_closure_fee(account)
        require(held >= fee, "Account unable to be closed.")
        require(held - fee == 0, f"Account balance must be $0.00 before closing. Current balance: ${held:.2f}")
        account.update(
            status="CLOSED",
            date_closed=TODAY,
            closure_reason=reason,
            early_closure_fee_waived=waive_early_closure_fee,
        )
        return lines(
            "Bank account closed successfully!",
            f"  - Account ID: {account_id}",
            f"  - Account Type: {account.get('account_type', 'N/A')}",
            f"  - Account Class: {account.get('account_class', 'N/A')}",
            "  - Status: CLOSED",
            f"  - Date Closed: {TODAY}",
            f"  - Reason: {reason}",
            f"  - Early Closure Fee Waived: {'Yes' if waive_early_closure_fee else 'No'}",
        )

    @hidden("write")
    def transfer_funds_between_bank_accounts_7291(
        self, source_account_id: Any, destination_account_id: Any, amount: Any
    ) -> str:
        """Move money from one account to another, whoever owns them; no transactions are recorded."""
        text = "Missing required parameters (source_account_id, destination_account_id, amount)."
        require_all(source_account_id, destination_account_id, text=text)
        require_given(amount, text=text)
        moved = number(amount, f"Invalid amount '{amount}'. Must be a number.")
        require(moved > 0, "Transfer amount must be positive.")
        require(source_account_id != destination_account_id, "Source and destination accounts cannot be the same.")
        sides = {"Source": source_account_id, "Destination": destination_account_id}
        for side, account_id in sides.items():
            require(account_id in self.db.accounts, f"{side} account '{account_id}' not found.")
        for side, account_id in sides.items():
            usable = is_open(self.db.accounts.peek(account_id) or {})
            require(usable, f"{side} account '{account_id}' is not active.")
        source, destination = self.db.accounts[source_account_id], self.db.accounts[destination_account_id]
        held = balance(source)
        require(
            held >= moved,
            f"Insufficient funds. Source account balance is ${held:.2f}, but transfer amount is ${moved:.2f}.",
        )
        left, total = held - moved, balance(destination) + moved
        source["current_holdings"], destination["current_holdings"] = f"${left:.2f}", f"${total:.2f}"
        return lines(
            "Transfer completed successfully!",
            f"  - Amount: ${moved:.2f}",
            f"  - From: {source_account_id} (new balance: ${left:.2f})",
            f"  - To: {destination_account_id} (new balance: ${total:.2f})",
        )


def is_open(account: BankRecord) -> bool:
    """Return whether an account can be used."""
    return account.get("status") in _OPEN


def early_closure_fee(account: BankRecord) -> float:
    """Return the fee for closing an account today, in USD.

    Source: τ²-bench v1.0.1: the table has savings accounts under ``savings``, the records have ``saving``.
    """
    levels = _EARLY_CLOSURE.get(account.get("class", ""), {})
    fee, window = levels.get(account.get("level", ""), (0, 0))
    age = age_in_days(account.get("date_opened"))
    return fee if age is not None and age < window else 0


def _is_eligible(account_type: str, accounts: list[BankRecord]) -> bool:
    if account_type == "savings":
        return _has_open(accounts, _PERSONAL, 14)
    if account_type == "business_checking":
        closed = any(account.get("status") == "CLOSED" for account in accounts)
        return not closed and _has_open(accounts, _PERSONAL, 0)
    if account_type == "business_savings":
        overdrawn = any(balance(account) < 0 for account in accounts)
        return not overdrawn and _has_open(accounts, ("business_checking",), 30)
    return True


def _has_open(accounts: Iterable[BankRecord], types: tuple[str, ...], days: int) -> bool:
    """Return whether one of the accounts is open, of one of the types, and this old."""
    return any(
        is_open(account)
        and account.get("account_type", account.get("class", "")) in types
        and (not days or (age_in_days(account.get("date_opened")) or 0) >= days)
        for account in accounts
    )


class _Credit(NamedTuple):
    """A sort of credit: who may get it, the descriptions of its types, and how the holdings are written."""

    kind: str
    classes: tuple[str, ...]
    refusal: str
    descriptions: dict[str, str]
    with_sign: bool


_CHECKING: Final = _Credit(
    "checking_credit",
    ("checking",),
    "is not a checking account. Credits can only be applied to checking accounts.",
    {"rebate_credit": "REBATE CREDIT", "fee_refund": "FEE REFUND"},
    with_sign=True,
)
_SAVINGS: Final = _Credit(
    "savings_credit",
    ("saving", "savings"),
    "is not a savings account. This tool only applies to savings accounts.",
    {
        "interest_correction": "INTEREST CORRECTION",
        "fee_refund": "FEE REFUND",
        "goodwill_credit": "GOODWILL CREDIT",
    },
    with_sign=False,
)


class AccountCredits(Toolkit[BankDB]):
    """What the bank pays into accounts, and what it looks at before it does."""

    @hidden("write")
    def apply_checking_account_credit_5829(self, account_id: Any, amount: Any, credit_type: Any) -> str:
        """Credit a checking account; a repetition credits again."""
        return self._credit(_CHECKING, account_id, amount, credit_type)

    @hidden("write")
    def apply_savings_account_credit_6831(self, account_id: Any, amount: Any, credit_type: Any) -> str:
        """Credit a savings account; a repetition credits again."""
        return self._credit(_SAVINGS, account_id, amount, credit_type)

    @hidden("write")
    def submit_interest_discrepancy_report_7294(
        self, account_id: Any, user_id: Any, expected_apy: Any, actual_apy: Any, amount_difference: Any
    ) -> str:
        """Report wrong interest; the report is stored nowhere, as in the reference."""
        require_all(account_id, user_id)
        require_given(expected_apy, actual_apy, amount_difference)
        text = "expected_apy, actual_apy, and amount_difference must be numbers."
        expected, actual, difference = (
            number(figure, text) for figure in (expected_apy, actual_apy, amount_difference)
        )
        account, user = found(self.db.accounts, account_id, "Account"), found(self.db.users, user_id, "User")
        report = id_of("interest_report", account_id, user_id, expected, actual, TODAY, length=16, prefix="IDR_")
        return lines(
            "",
            "Interest Discrepancy Report Submitted Successfully!",
            f"  - Report ID: {report}",
            f"  - Account: {account_id} ({account.get('level', 'Unknown')})",
            f"  - Customer: {user.get('name', 'Unknown')}",
            f"  - Expected APY: {expected}%",
            f"  - Actual APY: {actual}%",
            f"  - APY Difference: {round(expected - actual, 4)}%",
            f"  - Amount Difference: ${difference:.2f}",
            "  - Status: PENDING_REVIEW",
            "",
            "The backend team will investigate this discrepancy and ensure correct APY calculations are applied going "
            "forward.",
        )

    @hidden("read")
    def get_atm_deposit_images_8473(self, transaction_id: Any) -> str:
        """Read the scan of what was deposited at a machine of the bank."""
        require_all(transaction_id, text="Missing required parameter: transaction_id")
        record = found(self.db.bank_account_transaction_history, transaction_id, "Transaction")
        require(
            record.get("type") == "atm_deposit",
            f"Transaction '{transaction_id}' is not an ATM deposit. This tool only works for ATM deposit transactions.",
        )
        description = record.get("description", "")
        require(
            any(name in description.upper() for name in ("RHO-BANK", "RHOBANK")),
            f"Transaction '{transaction_id}' is from a third-party ATM. Deposit images are only available for Rho-Bank "
            "ATM deposits. For third-party ATM disputes, a chargeback request must be submitted to the ATM network.",
        )
        date = record.get("date", "Unknown")
        scans = deposit_scans()
        form = scans.get(transaction_id, scans["none"])
        amount = f"{abs(record.get('amount', 0)):.2f}"
        return form.format(transaction_id=transaction_id, description=description, date=date, amount=amount)

    def _credit(self, credit: _Credit, account_id: Any, amount: Any, credit_type: Any) -> str:
        require_all(account_id, credit_type)
        require_given(amount)
        paid = number(amount, "Invalid credit amount. Must be a number.")
        require(paid > 0, "Credit amount must be positive.")
        require_choice("credit_type", credit_type, credit.descriptions)
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        account = self.db.accounts[account_id]
        require(account.get("class", "").lower() in credit.classes, f"Account '{account_id}' {credit.refusal}")
        require(is_open(account), f"Account '{account_id}' is not active.")
        old = balance(account)
        account["current_holdings"] = (dollars if credit.with_sign else plain)(old + paid)
        transaction = id_of(credit.kind, account_id, credit_type, paid, TODAY, length=16, prefix="txn_")
        self.db.bank_account_transaction_history[transaction] = {
            "transaction_id": transaction,
            "account_id": account_id,
            "date": TODAY,
            "description": f"{credit.descriptions[credit_type]} - CUSTOMER SERVICE",
            "amount": paid,
            "type": credit_type,
            "status": "posted",
        }
        return lines(
            "",
            "Credit applied successfully!",
            f"  - Transaction ID: {transaction}",
            f"  - Account: {account_id}",
            f"  - Credit Type: {credit_type}",
            f"  - Amount: ${paid:.2f}",
            f"  - Previous Balance: ${old:.2f}",
            f"  - New Balance: ${old + paid:.2f}",
        )


@cache
def deposit_scans() -> dict[str, str]:
    """Return the answers for deposits, by transaction; ``none`` is for one without a scan."""
    text = Path(__file__).with_name("deposit_scans.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found
