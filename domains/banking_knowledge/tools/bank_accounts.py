"""Bank accounts: opening, closing, and transfers between them."""

from collections.abc import Iterable
from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY, age_in_days
from ..ids import id_of
from ..money import balance
from ..refusals import Refusal, hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB, BankRecord, add, records_where

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
