"""Orders of debit cards."""

from typing import Any, Final, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY
from ..ids import card_details, id_of
from ..money import plain
from ..refusals import hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB, BankRecord, add, records_where

_DELIVERY_DAYS: Final = {"STANDARD": "7-10", "EXPEDITED": "3-5", "RUSH": "1-2"}
#: The only class of accounts with cards.
_CLASS: Final = "checking"
_DESIGNS: Final = ("CLASSIC", "PREMIUM", "CUSTOM")
#: USD that an account must hold.
_LEAST_BALANCE: Final = 25
_MISSING: Final = (
    "Missing required parameters. Required: account_id, user_id, delivery_option, delivery_fee, card_design, "
    "design_fee, shipping_address."
)
#: Reasons for closing a card which become the reason for issuing the next one.
_REPLACED: Final = {"lost": "lost", "stolen": "stolen", "fraud": "fraud", "fraud_suspected": "fraud"}


class _Fees(NamedTuple):
    """What an order costs, in USD."""

    delivery: float
    design: float
    excess: float

    @property
    def total(self) -> float:
        return self.delivery + self.design + self.excess

    def details(self, separator: str) -> str:
        """Return the fees that are charged."""
        parts = {
            "Delivery": (self.delivery, f"{self.delivery}"),
            "Design": (self.design, f"{self.design}"),
            "Excess Replacement": (self.excess, f"{self.excess:.0f}"),
        }
        return ", ".join(f"{name}{separator} ${text}" for name, (fee, text) in parts.items() if fee > 0)


class DebitCardOrders(Toolkit[BankDB]):
    """Ordering debit cards."""

    @hidden("write")
    def order_debit_card_5739(  # noqa: PLR0913, PLR0917 - the interface of the reference
        self,
        account_id: Any,
        user_id: Any,
        delivery_option: Any,
        delivery_fee: Any,
        card_design: Any,
        design_fee: Any,
        shipping_address: Any,
        excess_replacement_fee: Any = None,
    ) -> str:
        """Order a card for a checking account, charge the fees, and issue the card as pending."""
        delivery, design = _fee("delivery_fee", delivery_fee), _fee("design_fee", design_fee)
        excess = _excess_fee(excess_replacement_fee)
        require_all(account_id, user_id, delivery_option, card_design, shipping_address, text=_MISSING)
        require_given(delivery, design, text=_MISSING)
        delivery_option = delivery_option.upper()
        require_choice("delivery_option", delivery_option, _DELIVERY_DAYS)
        card_design = card_design.upper()
        require_choice("card_design", card_design, _DESIGNS)
        fees = _Fees(delivery or 0.0, design or 0.0, excess)
        held = self._orderable(account_id, user_id, fees)
        order = id_of("debit_card_order", account_id, user_id, delivery_option, prefix="dcord_")
        record = {
            "order_id": order,
            "account_id": account_id,
            "user_id": user_id,
            "delivery_option": delivery_option,
            "card_design": card_design,
            "shipping_address": shipping_address,
            "delivery_fee": fees.delivery,
            "design_fee": fees.design,
            "excess_replacement_fee": fees.excess,
            "total_fee": fees.total,
            "order_date": TODAY,
            "expected_delivery": f"{_DELIVERY_DAYS[delivery_option]} business days",
            "status": "PENDING",
        }
        require(
            add(self.db.debit_card_orders, order, record),
            "Failed to create debit card order. Order may already exist.",
        )
        self._charge(account_id, order, fees, held)
        return _order_text(record, self._issue(account_id, user_id, card_design), fees, held)

    def _orderable(self, account_id: Any, user_id: Any, fees: _Fees) -> float:
        """Return what the account holds, if a card can be ordered for it."""
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        account = self.db.accounts.peek(account_id) or {}
        kind, status = account.get("class"), account.get("status")
        require(
            kind == _CLASS,
            f"Debit cards can only be ordered for {_CLASS} accounts. Account '{account_id}' is a {kind} account.",
        )
        require(status == "OPEN", f"Account must be OPEN. Account '{account_id}' has status: {status}")
        foreign = f"Account '{account_id}' does not belong to user '{user_id}'."
        require(account.get("user_id") == user_id, foreign)
        held = _holdings(account)
        least = f"Account must have a minimum balance of ${_LEAST_BALANCE}. Current balance: ${held:.2f}"
        require(held >= _LEAST_BALANCE, least)
        orders = records_where(self.db.debit_card_orders, "account_id", account_id)
        require(
            all(order.get("status") != "PENDING" for order in orders),
            f"There is already a pending debit card order for account '{account_id}'.",
        )
        cards = records_where(self.db.debit_cards, "account_id", account_id)
        require(
            all(card.get("status") != "ACTIVE" for card in cards),
            f"Account '{account_id}' already has an active debit card. Maximum 1 active card per checking account.",
        )
        require(
            not (fees.total > 0 and held < fees.total),
            f"Insufficient funds for fees. Total fees: ${fees.total:.2f}. Current balance: ${held:.2f}",
        )
        return held

    def _charge(self, account_id: str, order: str, fees: _Fees, held: float) -> None:
        if fees.total <= 0:
            return
        self.db.accounts[account_id]["current_holdings"] = plain(held - fees.total)
        transaction = f"btxn_dcfee_{order[-8:]}"
        record = {
            "transaction_id": transaction,
            "account_id": account_id,
            "date": TODAY,
            "description": f"DEBIT CARD ORDER FEE - {fees.details('')}",
            "amount": -fees.total,
            "type": "debit_card_fee",
            "status": "posted",
        }
        add(self.db.bank_account_transaction_history, transaction, record)

    def _issue(self, account_id: str, user_id: Any, design: str) -> str:
        """Return the id of the card, which is new unless one was ordered today for the account and the customer."""
        user = (self.db.users.peek(user_id) or {}) if user_id in self.db.users else {}
        card = id_of("debit_card", account_id, user_id, TODAY, prefix="dbc_")
        four, cvv = card_details(card)
        record = {
            "card_id": card,
            "account_id": account_id,
            "user_id": user_id,
            "cardholder_name": user.get("name", "CARDHOLDER").upper(),
            "last_4_digits": four,
            "cvv": cvv,
            "status": "PENDING",
            "issue_date": TODAY,
            "expiration_date": "11/30/2029",
            "card_design": design,
            "issue_reason": _issue_reason(records_where(self.db.debit_cards, "account_id", account_id)),
        }
        add(self.db.debit_cards, card, record)
        return card


def _order_text(order: dict[str, Any], card: str, fees: _Fees, held: float) -> str:
    charged = f"Total Fees: ${fees.total:.2f} ({fees.details(':')}) - CHARGED to account {order['account_id']}"
    return lines(
        "Debit Card Order Confirmed",
        f"Order ID: {order['order_id']}",
        f"Card ID: {card}",
        f"Linked Account: {order['account_id']}",
        f"Delivery Option: {order['delivery_option']}",
        f"Card Design: {order['card_design']}",
        f"Shipping Address: {order['shipping_address']}",
        f"Expected Delivery: {order['expected_delivery']}",
        "",
        "Note: Card will arrive with status PENDING. Customer must call to activate after receiving the card.",
        charged if fees.total > 0 else "Total Fees: $0 (No additional charges)",
        f"New Account Balance: ${held - fees.total:.2f}" if fees.total > 0 else None,
    )


def _fee(name: str, value: Any) -> float | None:
    return None if value is None else number(value, f"{name} must be a number.")


def _excess_fee(value: Any) -> float:
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0


def _holdings(account: BankRecord) -> float:
    """Return what an account holds; 0 if the text has a currency sign, which orders cannot read in the reference."""
    try:
        return float(str(account.get("current_holdings", 0)).replace(",", ""))
    except ValueError:
        return 0.0


def _issue_reason(cards: list[BankRecord]) -> str:
    closed = (card.get("closure_reason") for card in cards if card.get("status") == "CLOSED")
    replaced = next((reason for reason in closed if reason in _REPLACED), None)
    if replaced is not None:
        return _REPLACED[replaced]
    return "first_card" if cards else "new_account"
