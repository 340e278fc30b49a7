"""Credits to bank accounts, reports of wrong interest, and images of deposits."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY
from ..ids import id_of
from ..money import balance, dollars, plain
from ..refusals import hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB
from .bank_accounts import is_open


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
        expected, actual, difference = (number(each, text) for each in (expected_apy, actual_apy, amount_difference))
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        require(user_id in self.db.users, f"User '{user_id}' not found.")
        account, user = self.db.accounts.peek(account_id) or {}, self.db.users.peek(user_id) or {}
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
        table = self.db.bank_account_transaction_history
        require(transaction_id in table, f"Transaction '{transaction_id}' not found.")
        record = table.peek(transaction_id) or {}
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
