"""Temporary increases of a debit card's daily limits."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import lines
from ..clock import TODAY, age_in_days
from ..refusals import Refusal, hidden, require, require_all, require_given
from ..tables import BankDB, BankRecord
from .bank_accounts import is_open
from .debit_cards import require_card

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
        wanted = _whole(new_limit)
        require(wanted > 0, "new_limit must be a positive amount.")
        account = self._account_of(card_id, require_card(self.db, card_id))
        field = f"daily_{limit_type}_limit"
        current = (self.db.debit_cards.peek(card_id) or {}).get(field)
        if current is None:
            current = _default_limit(limit_type, account)
        most = int(current * _MOST)
        require(
            wanted <= most,
            f"Requested limit ${wanted} exceeds the maximum allowed temporary increase. "
            f"Maximum temporary limit is ${most} (150% of current ${current} limit).",
        )
        require(wanted > current, f"Requested limit ${wanted} is not higher than the current limit of ${current}.")
        changed = {
            field: wanted,
            f"temporary_{limit_type}_limit_increase": True,
            f"original_{limit_type}_limit": current,
            f"temporary_{limit_type}_limit_expires": TODAY,
        }
        self.db.debit_cards[card_id].update(changed)
        return lines(
            f"Temporary {_NAMES[limit_type]} Increase Granted Successfully",
            f"Card ID: {card_id}",
            f"Previous Limit: ${current}",
            f"New Temporary Limit: ${wanted}",
            f"Increase Amount: ${wanted - current}",
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
