"""Orders of debit cards, and their activation."""

from typing import Any, Final, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import lines, titled
from ..clock import TODAY
from ..ids import card_details, id_of
from ..money import plain
from ..refusals import hidden, number, require, require_all, require_choice, require_given
from ..tables import BankDB, BankRecord, add, found, records_where
from .debit_cards import require_digits, require_last_digits, require_linked_account, require_pin

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
        account = found(self.db.accounts, account_id, "Account")
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


#: How long an old card works after the new one is activated; only the answer says so.
_GRACE_HOURS: Final = 24


class _Activation(NamedTuple):
    """A tool: the reasons that it is for, and what becomes of other active cards of the account."""

    reasons: tuple[str, ...]
    status: str
    date_field: str
    note: str


_TOOLS: Final = {
    "activate_debit_card_8291": _Activation(
        ("new_account", "first_card"), "DEACTIVATED", "deactivated_date", "New card activated"
    ),
    "activate_debit_card_8292": _Activation(
        ("lost", "stolen", "fraud"), "DEACTIVATED", "deactivated_date", "Replacement card activated ({})"
    ),
    "activate_debit_card_8293": _Activation(
        ("expired", "damaged", "upgrade", "bank_reissue"),
        "GRACE_PERIOD",
        "grace_period_ends",
        "Reissued card activated ({})",
    ),
}


class _Activated(NamedTuple):
    """An activated card: why it was issued, and the ids of the cards that it replaces, joined."""

    reason: str
    others: str


class DebitCardActivation(Toolkit[BankDB]):
    """Activating debit cards. CVV and expiration date are never compared with the card."""

    @hidden("write")
    def activate_debit_card_8291(
        self, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
    ) -> str:
        """Activate the first card of an account."""
        require_card_data(card_id, last_4_digits, expiration_date, cvv, pin)
        activation = self._activate("activate_debit_card_8291", card_id, last_4_digits)
        return lines(
            "New Debit Card Activation Successful",
            f"Card ID: {card_id}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your card is now ready to use at any ATM or point of sale terminal.",
            "For security, please sign the back of your card.",
            f"\nNote: Previous card(s) have been deactivated: {activation.others}" if activation.others else None,
        )

    @hidden("write")
    def activate_debit_card_8292(
        self, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
    ) -> str:
        """Activate a card that replaces a lost, stolen or abused one."""
        require_card_data(card_id, last_4_digits, expiration_date, cvv, pin)
        activation = self._activate("activate_debit_card_8292", card_id, last_4_digits)
        return lines(
            "Replacement Debit Card Activation Successful",
            f"Card ID: {card_id}",
            f"Replacement Reason: {titled(activation.reason)}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your replacement card is now ready to use.",
            "",
            "IMPORTANT SECURITY REMINDERS:",
            "- Please review your recent transactions for any unauthorized charges",
            "- Report any suspicious activity immediately",
            "- Since fraud was suspected, we recommend changing your online banking password"
            if activation.reason == "fraud"
            else None,
            f"\nPrevious card(s) have been deactivated for security: {activation.others}"
            if activation.others
            else None,
        )

    @hidden("write")
    def activate_debit_card_8293(
        self, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
    ) -> str:
        """Activate a card that was issued again; the old one works for another day."""
        require_card_data(card_id, last_4_digits, expiration_date, cvv, pin)
        activation = self._activate("activate_debit_card_8293", card_id, last_4_digits)
        return lines(
            "Reissued Debit Card Activation Successful",
            f"Card ID: {card_id}",
            f"Reissue Reason: {titled(activation.reason)}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your reissued card is now ready to use.",
            f"\nNote: Your previous card(s) ({activation.others}) will remain active for {_GRACE_HOURS} hours "
            "as a grace period.\n"
            f"After {_GRACE_HOURS} hours, the old card(s) will be automatically deactivated."
            if activation.others
            else None,
            "\nReminder: If your card number changed, please update any recurring payments with your new card details."
            if activation.reason in ("expired", "bank_reissue")
            else None,
        )

    def _activate(self, tool: str, card_id: Any, last_4_digits: Any) -> _Activated:
        activation = _TOOLS[tool]
        card = found(self.db.debit_cards, card_id, "Debit card")
        reason, status = card.get("issue_reason", "new_account"), card.get("status")
        right = next((name for name, other in _TOOLS.items() if reason in other.reasons), "unknown")
        require(
            reason in activation.reasons,
            f"Wrong activation tool. This card has issue_reason='{reason}'. Please use {right} instead of {tool}.",
        )
        require(status != "ACTIVE", f"Debit card '{card_id}' is already active.")
        require(
            status == "PENDING",
            f"Debit card '{card_id}' cannot be activated. Current status: {status}. "
            "Only PENDING cards can be activated.",
        )
        require_last_digits(card, last_4_digits)
        require_linked_account(self.db, card, "activated")
        self.db.debit_cards[card_id].update(status="ACTIVE", activated_date=TODAY)
        others = self._replace_others(card_id, card, activation, reason)
        return _Activated(reason, ", ".join(others))

    def _replace_others(self, card_id: str, card: BankRecord, activation: _Activation, reason: str) -> list[str]:
        others = [
            key
            for key, other in self.db.debit_cards.peek_items()
            if key != card_id and other.get("account_id") == card.get("account_id") and other.get("status") == "ACTIVE"
        ]
        for key in others:
            changed = {"status": activation.status, activation.date_field: TODAY}
            self.db.debit_cards[key].update(changed, deactivation_reason=activation.note.format(reason))
        return others


def require_card_data(card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any) -> None:
    """Refuse what cannot be the data on a card.

    Raises:
        Refusal: Something is missing, or has another form.
        AttributeError: Something that must be digits is no text.
    """
    text = "Missing required parameters. Required: card_id, last_4_digits, expiration_date, cvv, pin."
    require_all(card_id, last_4_digits, expiration_date, cvv, pin, text=text)
    require_pin(pin)
    require_digits(cvv, 3, "CVV")
    require_digits(last_4_digits, 4, "Last 4 digits")
