"""Activation of debit cards: three tools that differ by the reasons for which a card was issued."""

from typing import Any, Final, NamedTuple

from pytest_tau.environment import Toolkit

from ..answers import lines, titled
from ..clock import TODAY
from ..pins import require_digits, require_last_digits, require_pin
from ..refusals import hidden, require, require_all
from ..tables import BankDB, BankRecord
from .debit_cards import require_card, require_linked_account

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
        done = self._activate("activate_debit_card_8291", card_id, last_4_digits)
        return lines(
            "New Debit Card Activation Successful",
            f"Card ID: {card_id}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your card is now ready to use at any ATM or point of sale terminal.",
            "For security, please sign the back of your card.",
            f"\nNote: Previous card(s) have been deactivated: {done.others}" if done.others else None,
        )

    @hidden("write")
    def activate_debit_card_8292(
        self, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
    ) -> str:
        """Activate a card that replaces a lost, stolen or abused one."""
        require_card_data(card_id, last_4_digits, expiration_date, cvv, pin)
        done = self._activate("activate_debit_card_8292", card_id, last_4_digits)
        return lines(
            "Replacement Debit Card Activation Successful",
            f"Card ID: {card_id}",
            f"Replacement Reason: {titled(done.reason)}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your replacement card is now ready to use.",
            "",
            "IMPORTANT SECURITY REMINDERS:",
            "- Please review your recent transactions for any unauthorized charges",
            "- Report any suspicious activity immediately",
            "- Since fraud was suspected, we recommend changing your online banking password"
            if done.reason == "fraud"
            else None,
            f"\nPrevious card(s) have been deactivated for security: {done.others}" if done.others else None,
        )

    @hidden("write")
    def activate_debit_card_8293(
        self, card_id: Any, last_4_digits: Any, expiration_date: Any, cvv: Any, pin: Any
    ) -> str:
        """Activate a card that was issued again; the old one works for another day."""
        require_card_data(card_id, last_4_digits, expiration_date, cvv, pin)
        done = self._activate("activate_debit_card_8293", card_id, last_4_digits)
        return lines(
            "Reissued Debit Card Activation Successful",
            f"Card ID: {card_id}",
            f"Reissue Reason: {titled(done.reason)}",
            "Status: ACTIVE",
            f"Activation Date: {TODAY}",
            "",
            "Your reissued card is now ready to use.",
            f"\nNote: Your previous card(s) ({done.others}) will remain active for {_GRACE_HOURS} hours "
            "as a grace period.\n"
            f"After {_GRACE_HOURS} hours, the old card(s) will be automatically deactivated."
            if done.others
            else None,
            "\nReminder: If your card number changed, please update any recurring payments with your new card details."
            if done.reason in ("expired", "bank_reissue")
            else None,
        )

    def _activate(self, tool: str, card_id: Any, last_4_digits: Any) -> _Activated:
        activation = _TOOLS[tool]
        card = require_card(self.db, card_id)
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
