"""PINs of debit cards, which are stored nowhere."""

from typing import Any

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY
from ..pins import require_digits, require_last_digits, require_pin
from ..refusals import hidden, require, require_all
from ..tables import BankDB
from .debit_cards import require_card


class DebitCardPins(Toolkit[BankDB]):
    """Resetting a PIN that is forgotten, and changing one that is known."""

    @hidden("write")
    def reset_debit_card_pin_6284(self, card_id: Any, last_4_digits: Any, new_pin: Any) -> str:
        """Reset a PIN and unlock the card."""
        text = "Missing required parameters. Required: card_id, last_4_digits, new_pin."
        require_all(card_id, last_4_digits, new_pin, text=text)
        require_digits(last_4_digits, 4, "Last 4 digits")
        require_pin(new_pin)
        card = require_card(self.db, card_id)
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
        status = require_card(self.db, card_id).get("status")
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
