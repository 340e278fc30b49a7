"""Debit cards: closing, freezing, blocks and alerts."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import lines, titled
from ..clock import TODAY
from ..refusals import hidden, require, require_all, require_choice
from ..tables import BankDB, BankRecord

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
        card = require_card(self.db, card_id)
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
        status = require_card(self.db, card_id).get("status")
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
        card = require_card(self.db, card_id)
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
        status = require_card(self.db, card_id).get("status", "").upper()
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
        card = require_card(self.db, card_id)
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


def require_card(db: BankDB, card_id: Any) -> BankRecord:
    """Return a card, for reading only.

    Raises:
        Refusal: There is none with this id.
    """
    require(card_id in db.debit_cards, f"Debit card '{card_id}' not found.")
    return db.debit_cards.peek(card_id) or {}


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
