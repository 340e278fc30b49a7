"""Increases of credit limits: requests, approvals and denials."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import executed, lines
from ..clock import TODAY
from ..ids import id_of
from ..money import amount_in, dollars
from ..refusals import hidden, number, require, require_all, require_given
from ..tables import BankDB, add, records_where
from .credit_cards import require_card_key, require_owner

_DENIAL_REASONS: Final = (
    "insufficient_account_age",
    "cooldown_period_active",
    "pending_disputes",
    "pending_replacement_card",
    "past_due_balance",
    "high_utilization",
    "insufficient_payment_history",
    "requested_amount_exceeds_limit",
    "other",
)
_OPEN_DISPUTES: Final = ("SUBMITTED", "UNDER_REVIEW", "PENDING")
_OPEN_ORDERS: Final = ("PENDING", "PROCESSING", "SHIPPED")
_BLOCKING: Final = ("PAST_DUE", "DELINQUENT", "COLLECTIONS", "CLOSED")


class CreditLimits(Toolkit[BankDB]):
    """Raising credit limits."""

    @hidden("write")
    def submit_credit_limit_increase_request_7392(
        self, credit_card_account_id: Any, user_id: Any, requested_increase_amount: Any
    ) -> str:
        """Submit a request, which waits for a decision."""
        require_all(credit_card_account_id, user_id)
        require_given(requested_increase_amount)
        wanted = "Invalid requested_increase_amount. Must be a whole number"
        amount = number(requested_increase_amount, f"{wanted}.")
        require(amount == int(amount), f"{wanted} of dollars.")
        require(amount > 0, "Requested increase amount must be positive.")
        require_card_key(self.db, credit_card_account_id)
        require_owner(self.db, credit_card_account_id, user_id)
        request = _request_id(credit_card_account_id, user_id, amount)
        record = {
            "request_id": request,
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "requested_increase_amount": int(amount),
            "submitted_at": TODAY,
            "status": "PENDING",
        }
        require(add(self.db.credit_limit_increase_requests, request, record), "A similar request may already exist.")
        return executed(
            "Credit limit increase request submitted successfully.",
            "submit_credit_limit_increase_request_7392",
            f"  - Request ID: {request}",
            f"  - Account: {credit_card_account_id}",
            f"  - Requested Increase: ${int(amount):,}",
            "  - Status: PENDING",
        )

    @hidden("write")
    def approve_credit_limit_increase_5847(
        self, credit_card_account_id: Any, user_id: Any, new_credit_limit: Any
    ) -> str:
        """Set a limit; a record is left only if there is no request for exactly this increase."""
        require_all(credit_card_account_id, user_id)
        require_given(new_credit_limit)
        require_card_key(self.db, credit_card_account_id)
        require_owner(self.db, credit_card_account_id, user_id)
        blocked = "Credit limit increase request cannot be approved at this time."
        require(self._may_be_raised(credit_card_account_id, user_id), blocked)
        account = self.db.credit_card_accounts[credit_card_account_id]
        old, new = amount_in(account.get("credit_limit", "$0.00")), float(new_credit_limit)
        account["credit_limit"] = dollars(new)
        request = _request_id(credit_card_account_id, user_id, new - old)
        record = {
            "request_id": request,
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "previous_limit": dollars(old),
            "new_limit": dollars(new),
            "increase_amount": dollars(new - old),
            "decision_date": TODAY,
            "status": "APPROVED",
        }
        add(self.db.credit_limit_increase_requests, request, record)
        return lines(
            "Credit limit increase approved!",
            f"  - Account: {credit_card_account_id}",
            f"  - Previous Limit: ${old:.2f}",
            f"  - New Limit: ${new:.2f}",
            f"  - Increase: ${new - old:.2f}",
            f"  - Effective Date: {TODAY}",
            "The customer will receive a confirmation email.",
        )

    @hidden("write")
    def deny_credit_limit_increase_5848(self, credit_card_account_id: Any, user_id: Any, denial_reason: Any) -> str:
        """Record a denial; the first one for an account and a customer stands."""
        require_all(credit_card_account_id, user_id, denial_reason)
        text = f"Invalid denial_reason. Must be one of: {', '.join(_DENIAL_REASONS)}"
        require(denial_reason in list(_DENIAL_REASONS), text)
        require_card_key(self.db, credit_card_account_id)
        request = _request_id(credit_card_account_id, user_id, 0)
        record = {
            "request_id": request,
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "denial_reason": denial_reason,
            "decision_date": TODAY,
            "status": "DENIED",
        }
        add(self.db.credit_limit_increase_requests, request, record)
        return lines(
            "Credit limit increase request denied.",
            f"  - Account: {credit_card_account_id}",
            f"  - Denial Reason: {denial_reason}",
            f"  - Date: {TODAY}",
            "The customer will receive a notification explaining the denial.",
        )

    def _may_be_raised(self, account_id: Any, user_id: Any) -> bool:
        disputes = records_where(self.db.transaction_disputes, "user_id", user_id)
        orders = records_where(self.db.credit_card_orders, "credit_card_account_id", account_id)
        account = self.db.credit_card_accounts.peek(account_id) or {}
        return not (
            any(dispute.get("status") in _OPEN_DISPUTES for dispute in disputes)
            or any(order.get("status") in _OPEN_ORDERS for order in orders)
            or str(account.get("account_status", "")).upper() in _BLOCKING
        )


def _request_id(account_id: Any, user_id: Any, amount: float) -> str:
    return id_of("cli_request", account_id, user_id, f"{amount:.2f}", prefix="cli_")
