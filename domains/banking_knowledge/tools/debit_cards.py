"""Debit cards: states, blocks, alerts, PINs, and limits for a day."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import lines, titled
from ..clock import TODAY, age_in_days
from ..refusals import Refusal, hidden, require, require_all, require_choice, require_given
from ..tables import BankDB, BankRecord, found
from .bank_accounts import is_open

_INSECURE: Final = ("lost", "stolen", "fraud_suspected")
_CLOSURE_REASONS: Final = (*_INSECURE, "damaged", "no_longer_needed", "account_closing")
#: Phrases of several answers.
_READY: Final = "ready to use immediately"
_REFUSED: Final = "will be declined"
_REVIEW: Final = "review recent transactions and"
_ORDERING: Final = "the standard ordering process"
_LINKED: Final = "linked to this card"
_UPDATED: Final = "updated with new payment information"


class DebitCards(Toolkit[BankDB]):
    """Changing the state of debit cards."""

    @hidden("write")
    def close_debit_card_4721(self, card_id: Any, reason: Any) -> str:
        """Close a card for good."""
        require_all(card_id, reason, text="Missing required parameters. Required: card_id, reason.")
        reason = reason.lower()
        require_choice("reason", reason, _CLOSURE_REASONS)
        card = found(self.db.debit_cards, card_id, "Debit card")
        status = card.get("status")
        require(
            status in ("ACTIVE", "PENDING"),
            f"Debit card '{card_id}' cannot be closed. Current status: {status}. "
            "Only ACTIVE or PENDING cards can be closed.",
        )
        self.db.debit_cards[card_id].update(status="CLOSED", closed_date=TODAY, closure_reason=reason)
        return lines(
            "Debit Card Closed Successfully",
            f"Card ID: {card_id}",
            f"Previous Status: {status}",
            "New Status: CLOSED",
            f"Closure Reason: {titled(reason)}",
            f"Closure Date: {TODAY}",
            "",
            *_security_advice(reason),
            "",
            "Note: This card cannot be reactivated. If the customer needs a new card, they can order one "
            f"through {_ORDERING}.",
            f"Any recurring payments {_LINKED} will need to be {_UPDATED}.",
        )

    @hidden("write")
    def freeze_debit_card_3892(self, card_id: Any) -> str:
        """Freeze a card until it is unfrozen."""
        require_all(card_id, text="Missing required parameter: card_id.")
        status = found(self.db.debit_cards, card_id, "Debit card").get("status")
        require(status != "FROZEN", f"Debit card '{card_id}' is already frozen.")
        require(
            status == "ACTIVE",
            f"Debit card '{card_id}' cannot be frozen. Current status: {status}. Only ACTIVE cards can be frozen.",
        )
        self.db.debit_cards[card_id].update(status="FROZEN", frozen_date=TODAY)
        return lines(
            "Debit Card Frozen Successfully",
            f"Card ID: {card_id}",
            "Status: FROZEN",
            f"Frozen Date: {TODAY}",
            "",
            "While frozen:",
            f"- All new purchase transactions {_REFUSED}",
            f"- Recurring payments and subscriptions {_REFUSED}",
            "- Pending transactions already authorized may still process",
            "",
            "To unfreeze, the customer can call customer service or use the mobile app.",
            "If the card is confirmed lost or stolen, recommend closing the card permanently instead.",
        )

    @hidden("write")
    def unfreeze_debit_card_3893(self, card_id: Any) -> str:
        """Unfreeze a card whose account is open."""
        require_all(card_id, text="Missing required parameter: card_id.")
        card = found(self.db.debit_cards, card_id, "Debit card")
        status = card.get("status")
        require(status != "ACTIVE", f"Debit card '{card_id}' is already active.")
        require(
            status == "FROZEN",
            f"Debit card '{card_id}' cannot be unfrozen. Current status: {status}. Only FROZEN cards can be unfrozen.",
        )
        require_linked_account(self.db, card, "unfrozen")
        self.db.debit_cards[card_id].update(status="ACTIVE", unfrozen_date=TODAY)
        return lines(
            "Debit Card Unfrozen Successfully",
            f"Card ID: {card_id}",
            "Status: ACTIVE",
            f"Unfrozen Date: {TODAY}",
            "",
            f"The card is now active and {_READY}.",
            "All transactions will process normally.",
        )

    @hidden("write")
    def set_debit_card_recurring_block_7382(self, card_id: Any, block_recurring: Any) -> str:
        """Block recurring payments of an active card, or allow them."""
        require_all(card_id, text="Missing required parameter: card_id")
        status = found(self.db.debit_cards, card_id, "Debit card").get("status", "").upper()
        require(
            status == "ACTIVE",
            f"Cannot update recurring block settings for a card with status '{status}'. Card must be ACTIVE.",
        )
        self.db.debit_cards[card_id]["recurring_blocked"] = block_recurring
        within = "This change takes effect within 24 hours."
        if block_recurring:
            return lines(
                f"Recurring payments BLOCKED for debit card {card_id}.",
                f"All recurring/subscription charges {_REFUSED}.",
                "One-time purchases are not affected.",
                within,
            )
        return lines(
            f"Recurring payments UNBLOCKED for debit card {card_id}.",
            "Recurring/subscription charges will now be allowed.",
            within,
        )

    @hidden("write")
    def clear_debit_card_fraud_alert_4892(self, card_id: Any, reason: Any) -> str:
        """Clear a velocity block, or a fraud alert that the bank did not raise itself."""
        require_all(card_id, text="Missing required parameter: card_id.")
        require_all(reason, text="Missing required parameter: reason.")
        require(
            reason in ["customer_verified", "velocity_clear"],
            f"Invalid reason '{reason}'. Must be one of: customer_verified, velocity_clear",
        )
        card = found(self.db.debit_cards, card_id, "Debit card")
        return self._clear_velocity(card_id, card) if reason == "velocity_clear" else self._clear_alert(card_id, card)

    def _clear_velocity(self, card_id: Any, card: BankRecord) -> str:
        require(card.get("velocity_blocked"), f"Debit card '{card_id}' does not have an active velocity block.")
        self.db.debit_cards[card_id].update(velocity_blocked=False, velocity_cleared_date=TODAY)
        return lines(
            "Velocity Block Cleared Successfully",
            f"Card ID: {card_id}",
            f"Cleared Date: {TODAY}",
            "",
            "The card is now unblocked and ready for normal use.",
            "The velocity monitoring will continue - if the same unusual patterns recur,",
            "the card may be blocked again automatically.",
        )

    def _clear_alert(self, card_id: Any, card: BankRecord) -> str:
        require(card.get("fraud_alert_active"), f"Debit card '{card_id}' does not have an active fraud alert.")
        require(
            card.get("alert_source") != "bank_initiated",
            "BANK_INITIATED_ALERT - This fraud alert was initiated by the bank's fraud detection system and cannot be "
            "cleared by customer service agents. Please transfer the customer to the security team using "
            "transfer_to_human_agents.",
        )
        changed = {"fraud_alert_active": False, "alert_source": None, "fraud_alert_cleared_date": TODAY}
        self.db.debit_cards[card_id].update(changed)
        return lines(
            "Fraud Alert Cleared Successfully",
            f"Card ID: {card_id}",
            f"Cleared Date: {TODAY}",
            "",
            "The fraud alert has been removed from the card.",
            "All transactions will process normally.",
            "",
            f"Remind the customer to {_REVIEW} report any unauthorized charges.",
        )


def require_linked_account(db: BankDB, card: BankRecord, done: str) -> None:
    """Refuse a card whose account exists and is no longer open.

    Raises:
        Refusal: It is not open; the text says what cannot be done.
    """
    account_id = card.get("account_id")
    account = db.accounts.peek(account_id) if account_id else None
    require(
        not account or account.get("status") == "OPEN",
        f"The linked checking account '{account_id}' is no longer open. Card cannot be {done}.",
    )


def _security_advice(reason: str) -> list[str]:
    advice = []
    if reason in _INSECURE:
        advice += [
            "IMPORTANT: This card has been immediately deactivated for security.",
            "Any pending transactions may still be processed.",
        ]
    if reason == "fraud_suspected":
        advice += [
            f"Please advise the customer to {_REVIEW} file disputes for any unauthorized charges.",
            "Also recommend changing their online banking password.",
        ]
    return advice


_SEQUENCES: Final = {
    *("0123", "1234", "2345", "3456", "4567", "5678", "6789"),
    *("9876", "8765", "7654", "6543", "5432", "4321", "3210"),
}


def require_digits(text: Any, length: int, name: str) -> None:
    """Refuse a text that is not so many digits.

    Raises:
        Refusal: It is not.
        AttributeError: It is no text; the tools fail then.
    """
    require(text.isdigit() and len(text) == length, f"{name} must be exactly {length} digits.")


def require_pin(pin: Any) -> None:
    """Refuse a PIN that is not four digits, or easy to guess.

    Raises:
        Refusal: It is.
        AttributeError: It is no text; the tools fail then.
    """
    require_digits(pin, 4, "PIN")
    advice = "Please choose a more secure PIN."
    require(pin not in _SEQUENCES, f"PIN cannot be sequential (e.g., 1234). {advice}")
    require(len(set(pin)) > 1, f"PIN cannot be all the same digit (e.g., 1111). {advice}")


def require_last_digits(card: BankRecord, digits: Any) -> None:
    """Refuse digits that are not the last ones of a card.

    Raises:
        Refusal: They are others.
    """
    same = card.get("last_4_digits") == digits
    require(same, "Card verification failed. The last 4 digits do not match our records.")


class DebitCardPins(Toolkit[BankDB]):
    """Resetting a PIN that is forgotten, and changing one that is known."""

    @hidden("write")
    def reset_debit_card_pin_6284(self, card_id: Any, last_4_digits: Any, new_pin: Any) -> str:
        """Reset a PIN and unlock the card."""
        text = "Missing required parameters. Required: card_id, last_4_digits, new_pin."
        require_all(card_id, last_4_digits, new_pin, text=text)
        require_digits(last_4_digits, 4, "Last 4 digits")
        require_pin(new_pin)
        card = found(self.db.debit_cards, card_id, "Debit card")
        require_last_digits(card, last_4_digits)
        status = card.get("status")
        only = "Only ACTIVE cards can have their PIN reset."
        require(status == "ACTIVE", f"Cannot reset PIN. Card status is {status}. {only}")
        changed = {"pin_last_changed": TODAY, "pin_locked": False, "pin_attempts_remaining": 3}
        self.db.debit_cards[card_id].update(changed)
        return _changed(
            "Debit Card PIN Reset Successfully", card_id, "Your card has been unlocked and is ready to use."
        )

    @hidden("write")
    def change_debit_card_pin_6285(self, card_id: Any, current_pin: Any, new_pin: Any) -> str:
        """Change a PIN; the current one is compared with nothing but the new one."""
        text = "Missing required parameters. Required: card_id, current_pin, new_pin."
        require_all(card_id, current_pin, new_pin, text=text)
        require_digits(current_pin, 4, "Current PIN")
        require_pin(new_pin)
        require(current_pin != new_pin, "New PIN must be different from current PIN.")
        status = found(self.db.debit_cards, card_id, "Debit card").get("status")
        only = "Only ACTIVE cards can have their PIN changed."
        require(status == "ACTIVE", f"Cannot change PIN. Card status is {status}. {only}")
        self.db.debit_cards[card_id]["pin_last_changed"] = TODAY
        return _changed("Debit Card PIN Changed Successfully", card_id)


def _changed(head: str, card_id: Any, unlocked: str | None = None) -> str:
    return lines(
        head,
        f"Card ID: {card_id}",
        f"PIN Changed: {TODAY}",
        "",
        "The new PIN is effective immediately.",
        unlocked,
        "Customer can use the new PIN for ATM withdrawals and point-of-sale transactions.",
        "",
        "Security reminder: Never share your PIN with anyone.",
    )


_NAMES: Final = {"atm": "Daily ATM Withdrawal Limit", "purchase": "Daily Purchase Limit"}
_LEAST_DAYS: Final = 60
#: The largest limit, as a factor of the current one.
_MOST: Final = 1.5
_FIXED_LEVEL: Final = "light green"
#: Daily limits for withdrawals by the level of the account, in USD, for cards without one of their own.
_ATM_LIMITS: Final = {
    "blue account": 500,
    "green account": 600,
    "light blue account": 400,
    "green fee-free account": 500,
    "evergreen account": 750,
    "bluest account": 1500,
    "dark green account": 300,
    "gold years account": 600,
    "purple account": 1000,
}


class DebitCardLimits(Toolkit[BankDB]):
    """Raising a card's limit for a day."""

    @hidden("write")
    def request_temporary_debit_card_limit_increase_8374(self, card_id: Any, limit_type: Any, new_limit: Any) -> str:
        """Raise a limit for a day; that it is the only time within a day is not checked."""
        require_all(card_id, text="Missing required parameter: card_id.")
        require_all(limit_type, text="Missing required parameter: limit_type.")
        require(limit_type in list(_NAMES), f"Invalid limit_type '{limit_type}'. Must be 'atm' or 'purchase'.")
        require_given(new_limit, text="Missing required parameter: new_limit.")
        limit = _whole(new_limit)
        require(limit > 0, "new_limit must be a positive amount.")
        account = self._account_of(card_id, found(self.db.debit_cards, card_id, "Debit card"))
        field = f"daily_{limit_type}_limit"
        current = (self.db.debit_cards.peek(card_id) or {}).get(field)
        if current is None:
            current = _default_limit(limit_type, account)
        most = int(current * _MOST)
        require(
            limit <= most,
            f"Requested limit ${limit} exceeds the maximum allowed temporary increase. "
            f"Maximum temporary limit is ${most} (150% of current ${current} limit).",
        )
        require(limit > current, f"Requested limit ${limit} is not higher than the current limit of ${current}.")
        changed = {
            field: limit,
            f"temporary_{limit_type}_limit_increase": True,
            f"original_{limit_type}_limit": current,
            f"temporary_{limit_type}_limit_expires": TODAY,
        }
        self.db.debit_cards[card_id].update(changed)
        return lines(
            f"Temporary {_NAMES[limit_type]} Increase Granted Successfully",
            f"Card ID: {card_id}",
            f"Previous Limit: ${current}",
            f"New Temporary Limit: ${limit}",
            f"Increase Amount: ${limit - current}",
            "",
            "Important Information:",
            "- This temporary increase expires in 24 hours",
            f"- After expiration, the limit will revert to ${current}",
            "- Only one temporary increase is allowed per 24-hour period",
            "",
            "Note: If the customer is at a third-party (non-Rho-Bank) ATM, that ATM may have its own",
            "per-transaction or daily limits that Rho-Bank cannot override. The customer may need to",
            "use a Rho-Bank ATM or make multiple smaller withdrawals at third-party ATMs.",
        )

    def _account_of(self, card_id: Any, card: BankRecord) -> BankRecord:
        """Return the account of an active card, if it is open and old enough."""
        status, account_id = card.get("status"), card.get("account_id")
        require(
            status == "ACTIVE",
            f"Debit card '{card_id}' is not active. Current status: {status}. "
            "Only ACTIVE cards can have limit increases.",
        )
        account = self.db.accounts.peek(account_id) if account_id else None
        require(account is not None, f"Could not find linked account for debit card '{card_id}'.")
        account = account or {}
        require(
            is_open(account),
            f"The linked account '{account_id}' is not in good standing. Account status: {account.get('status')}.",
        )
        days = age_in_days(account.get("date_opened"))
        require(
            days is None or days >= _LEAST_DAYS,
            f"Account must be at least {_LEAST_DAYS} days old for a temporary limit increase. "
            f"Account age: {days} days.",
        )
        return account


def _whole(value: Any) -> int:
    try:
        amount = float(value)
        if amount == int(amount):
            return int(amount)
    except (TypeError, ValueError):
        pass
    raise Refusal(f"Error: new_limit must be an integer, got '{value}'.")


def _default_limit(limit_type: str, account: BankRecord) -> int:
    """Return the limit of a card that has none of its own."""
    require(
        limit_type == "atm",
        "The card does not have a daily purchase limit configured. This may be a restricted account type where limits "
        "are set by account policy and cannot be modified.",
    )
    level = account.get("level", "")
    require(
        _FIXED_LEVEL not in level.lower(),
        "Light Green Account (teen checking) cards have policy-based limits that cannot be modified. The daily ATM "
        "withdrawal limit of $150 is fixed by account policy for safety reasons. The customer may request the "
        "parent/guardian to withdraw cash from their own account if needed.",
    )
    require(
        level.lower() in _ATM_LIMITS,
        f"Could not determine the default ATM limit for account type '{level}'. Please verify the account type.",
    )
    return _ATM_LIMITS[level.lower()]
