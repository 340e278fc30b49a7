"""The payment methods of a user, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .models import CreditCard, GiftCard

if TYPE_CHECKING:
    from .models import User


@dataclass(frozen=True)
class Wallet:
    """A user's payment methods."""

    user: User

    def _all(self, kind: type[Any]) -> list[Any]:
        return [method for method in self.user.payment_methods.values() if isinstance(method, kind)]

    @property
    def cards(self) -> list[CreditCard]:
        """Return the credit cards."""
        return self._all(CreditCard)

    @property
    def gift_cards(self) -> list[GiftCard]:
        """Return the gift cards, the highest balance first."""
        return sorted(self._all(GiftCard), key=lambda card: -card.amount)

    @property
    def certificates(self) -> list[Any]:
        """Return the certificates, the highest value first."""
        rest = [m for m in self.user.payment_methods.values() if m.source == "certificate"]
        return sorted(rest, key=lambda certificate: -certificate.amount)

    @property
    def card(self) -> CreditCard:
        """Return the first credit card."""
        return self.cards[0]
