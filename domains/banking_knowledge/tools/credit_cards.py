"""Credit card accounts: replacement, closure, credits, flags, payments, and limits."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import executed, lines, titled
from ..clock import TODAY
from ..ids import card_transaction_id, id_of
from ..money import amount_in, balance, dollars, plain
from ..query import exists
from ..refusals import Refusal, hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB, add, found, records_where

_REPLACEMENT_REASONS: Final = ("fraud_suspected", "lost", "stolen", "damaged", "expired", "other")
_CLOSURE_REASONS: Final = (
    "annual_fee",
    "not_using_card",
    "found_better_card",
    "unhappy_with_rewards",
    "simplifying_finances",
    "negative_experience",
    "other",
)
_CREDIT_REASONS: Final = (
    "goodwill_adjustment",
    "promotional_credit",
    "annual_fee_reversal",
    "late_fee_reversal",
    "interest_charge_reversal",
    "dispute_resolution",
    "price_match",
    "retention_offer",
    "error_correction",
    "other",
)
_FLAGS: Final = ("annual_fee_waived", "promotional_apr", "rewards_bonus", "other")
_FLAG_REASONS: Final = ("retention_offer", "loyalty_benefit", "promotional", "error_correction", "other")


class CreditCards(Toolkit[BankDB]):
    """Changing credit card accounts. Nearly nothing is checked of who owns them or what they owe."""

    @hidden("write")
    def order_replacement_credit_card_7291(
        self,
        credit_card_account_id: Any,
        user_id: Any,
        shipping_address: Any,
        reason: Any,
        expedited_shipping: Any = False,
    ) -> str:
        """Order a replacement card; the account becomes closed."""
        require_all(
            *(credit_card_account_id, user_id, shipping_address, reason),
            text="Missing required parameters (credit_card_account_id, user_id, shipping_address, reason).",
        )
        require_choice("reason", reason, _REPLACEMENT_REASONS)
        require_card_account(self.db, credit_card_account_id)
        order = id_of("credit_card_order", credit_card_account_id, user_id, reason, prefix="ccord_")
        record = {
            "order_id": order,
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "shipping_address": shipping_address,
            "reason": reason,
            "expedited_shipping": expedited_shipping,
            "order_date": TODAY,
            "status": "ORDERED",
            "old_card_cancelled": True,
        }
        problem = "Order may have already been placed for this card replacement."
        require(add(self.db.credit_card_orders, order, record), problem)
        if credit_card_account_id in self.db.credit_card_accounts:
            self.db.credit_card_accounts[credit_card_account_id].update(status="CLOSED", closed_date=TODAY)
        method, days = ("Expedited", "2-3") if expedited_shipping else ("Standard", "7-10")
        return lines(
            f"Order ID: {order}",
            f"Card Account: {credit_card_account_id}",
            f"Reason: {titled(reason)}",
            f"Shipping Address: {shipping_address}",
            f"Shipping Method: {method}",
            f"Expected Delivery: {days} business days",
            "",
            "The old card has been cancelled for security. The new card will have the same account number but a new "
            "card number and CVV.",
        )

    @hidden("write")
    def log_credit_card_closure_reason_4521(
        self, credit_card_account_id: Any, user_id: Any, closure_reason: Any
    ) -> str:
        """Log why a customer wants to close an account; the first reason stands."""
        require_all(credit_card_account_id, user_id, closure_reason)
        require_choice("closure_reason", closure_reason, _CLOSURE_REASONS)
        record_id = id_of("closure_reason", credit_card_account_id, user_id, prefix="clsr_")
        arguments = {
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "closure_reason": closure_reason,
        }
        record = {"record_id": record_id, **arguments, "logged_at": TODAY, "status": "LOGGED"}
        add(self.db.credit_card_closure_reasons, record_id, record)
        return executed(
            "Closure reason logged successfully.",
            "log_credit_card_closure_reason_4521",
            f"Closure reason '{closure_reason}' logged for account {credit_card_account_id}.",
            arguments=arguments,
        )

    @hidden("write")
    def apply_statement_credit_8472(self, user_id: Any, credit_card_account_id: Any, amount: Any, reason: Any) -> str:
        """Record a statement credit; the balance stays as it is."""
        text = "Missing required parameters (user_id, credit_card_account_id, amount, reason)."
        require_all(user_id, credit_card_account_id, reason, text=text)
        require_given(amount, text=text)
        require(amount > 0, "Credit amount must be positive.")
        require_choice("reason", reason, _CREDIT_REASONS)
        require_card_account(self.db, credit_card_account_id)
        # Without the account, as in the reference: a second equal credit of a customer fails.
        credit = card_transaction_id(user_id, "STATEMENT_CREDIT", reason, amount, "Statement Credit")
        record = {
            "transaction_id": credit,
            "user_id": user_id,
            "credit_card_account_id": credit_card_account_id,
            "credit_card_type": "N/A",
            "merchant_name": "Rho-Bank Statement Credit",
            "transaction_amount": f"-${amount:.2f}",
            "transaction_date": TODAY,
            "category": "Statement Credit",
            "status": "COMPLETED",
            "rewards_earned": "0 points",
            "credit_reason": reason,
        }
        problem = f"Failed to apply statement credit. Transaction ID '{credit}' may already exist."
        require(add(self.db.credit_card_transaction_history, credit, record), problem)
        return executed(
            "Statement credit applied successfully.",
            "apply_statement_credit_8472",
            f"  - Transaction ID: {credit}",
            f"  - User ID: {user_id}",
            f"  - Account: {credit_card_account_id}",
            f"  - Credit Amount: ${amount:.2f}",
            f"  - Reason: {titled(reason)}",
            f"  - Date: {TODAY}",
        )

    @hidden("write")
    def apply_credit_card_account_flag_6147(
        self, credit_card_account_id: Any, user_id: Any, flag_type: Any, expiration_date: Any, reason: Any
    ) -> str:
        """Put a flag on an account, such as a waived annual fee."""
        require_all(
            *(credit_card_account_id, user_id, flag_type, expiration_date, reason),
            text="Missing required parameters (credit_card_account_id, user_id, flag_type, expiration_date, reason).",
        )
        require_choice("flag_type", flag_type, _FLAGS)
        require_choice("reason", reason, _FLAG_REASONS)
        require_card_account(self.db, credit_card_account_id)
        flag = id_of("account_flag", credit_card_account_id, flag_type, expiration_date, prefix="ccflag_")
        record = {
            "flag_id": flag,
            "credit_card_account_id": credit_card_account_id,
            "user_id": user_id,
            "flag_type": flag_type,
            "effective_date": TODAY,
            "expiration_date": expiration_date,
            "reason": reason,
            "applied_at": TODAY,
            "status": "ACTIVE",
        }
        problem = f"Failed to apply account flag. Flag ID '{flag}' may already exist."
        require(add(self.db.credit_card_account_flags, flag, record), problem)
        return lines(
            "Account flag applied successfully!",
            f"  - Flag ID: {flag}",
            f"  - Account: {credit_card_account_id}",
            f"  - User ID: {user_id}",
            f"  - Flag Type: {titled(flag_type)}",
            f"  - Effective Date: {TODAY}",
            f"  - Expiration Date: {expiration_date}",
            f"  - Reason: {titled(reason)}",
        )

    @hidden("write")
    def close_credit_card_account_7834(self, credit_card_account_id: Any, user_id: Any) -> str:
        """Close an account, whoever owns it and whatever it owes."""
        text = "Missing required parameters (credit_card_account_id, user_id)."
        require_all(credit_card_account_id, user_id, text=text)
        require_card_account(self.db, credit_card_account_id)
        failed = f"Failed to close credit card account '{credit_card_account_id}'."
        require(credit_card_account_id in self.db.credit_card_accounts, failed)
        account = self.db.credit_card_accounts[credit_card_account_id]
        account.update(status="CLOSED", closed_date=TODAY, closed_by=user_id)
        return executed(
            "Credit card account closed successfully.",
            "close_credit_card_account_7834",
            f"Account {credit_card_account_id} has been closed.",
            arguments={"credit_card_account_id": credit_card_account_id, "user_id": user_id},
        )

    @hidden("write")
    def pay_credit_card_from_checking_9182(
        self, user_id: Any, checking_account_id: Any, credit_card_account_id: Any, amount: Any
    ) -> str:
        """Pay what a card owes from a checking account; no transactions are recorded."""
        text = "Missing required parameters (user_id, checking_account_id, credit_card_account_id, amount)."
        require_all(user_id, checking_account_id, credit_card_account_id, text=text)
        require_given(amount, text=text)
        paid = number(amount, "Invalid payment amount. Must be a positive number.")
        require(paid > 0, "Payment amount must be a positive number.")
        held = self._payable(checking_account_id, user_id, paid)
        require_owner(self.db, credit_card_account_id, user_id)
        card = self.db.credit_card_accounts[credit_card_account_id]
        owed = amount_in(card.get("current_balance", "$0.00"))
        require(
            paid <= owed,
            f"Payment amount (${paid:.2f}) exceeds credit card balance (${owed:.2f}). "
            "Please specify an amount up to the outstanding balance.",
        )
        self.db.accounts[checking_account_id]["current_holdings"] = plain(held - paid)
        card["current_balance"] = dollars(owed - paid)
        return lines(
            "Payment processed successfully!",
            f"  - Payment Amount: ${paid:.2f}",
            f"  - From Checking Account: {checking_account_id}",
            f"  - To Credit Card Account: {credit_card_account_id}",
            f"  - New Checking Balance: ${held - paid:.2f}",
            f"  - New Credit Card Balance: ${owed - paid:.2f}",
            "The payment has been applied immediately.",
        )

    def _payable(self, account_id: Any, user_id: Any, amount: float) -> float:
        """Return what a customer's checking account holds, if it is enough for a payment."""
        account = found(self.db.accounts, account_id, "Checking account")
        foreign = f"Checking account '{account_id}' does not belong to user '{user_id}'."
        require(account.get("user_id") == user_id, foreign)
        require(account.get("class") == "checking", f"Account '{account_id}' is not a checking account.")
        held = balance(account)
        require(
            amount <= held,
            f"Insufficient funds in checking account. Available balance: ${held:.2f}, "
            f"requested payment: ${amount:.2f}.",
        )
        return held


def require_card_account(db: BankDB, account_id: Any) -> None:
    """Refuse an account that no query finds.

    Raises:
        Refusal: It does not exist.
    """
    if not exists(db, "credit_card_accounts", "account_id", account_id):
        raise Refusal(f"Error: Credit card account '{account_id}' not found.")


def require_owner(db: BankDB, account_id: Any, user_id: Any) -> None:
    """Refuse an account that the table does not have under its key, and the account of somebody else.

    Raises:
        Refusal: It is.
    """
    record = found(db.credit_card_accounts, account_id, "Credit card account")
    foreign = f"Credit card account '{account_id}' does not belong to user '{user_id}'."
    require(record.get("user_id") == user_id, foreign)


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
        problem = "Invalid requested_increase_amount. Must be a whole number"
        amount = number(requested_increase_amount, f"{problem}.")
        require(amount == int(amount), f"{problem} of dollars.")
        require(amount > 0, "Requested increase amount must be positive.")
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
        found(self.db.credit_card_accounts, credit_card_account_id, "Credit card account")
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
