"""Payment methods: one for a change, several in order for a booking, as the policy allows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pytest_tau.environment import number_word

from ...._kit.dialog import Declined
from ...models import Certificate, CreditCard, GiftCard
from ...wallet import Wallet
from .. import parsing

if TYPE_CHECKING:
    from pytest_tau.environment import Values

    from ...._kit.dialog import Talk
    from ...models import PaymentMethod, User
    from ..session import Session

WHICH_METHOD: Final = "Which payment method would you like to use?"
_ID = re.compile(r"\b(?:credit_card|gift_card|certificate)_\d+\b")
_KIND = re.compile(r"\b(visa|mastercard)\b|\b(gift cards?)\b|\b(certificates?)\b|\b(credit cards?)\b", re.IGNORECASE)
_FOREIGN = re.compile(r"\bnew (?:credit )?card\b|\bnot in (?:my|the|your) profile\b")
#: The payment methods of a kind that a booking may have: what the kind is called, and the value that says how many.
_MOST: Final = (
    (CreditCard, "credit card", "max_credit_cards"),
    (Certificate, "certificate", "max_certificates"),
    (GiftCard, "gift card", "max_gift_cards"),
)
_SPLIT = re.compile(r"\bhalf\b.*\bhalf\b|\bboth\b.*\bcards\b", re.IGNORECASE)


def ask_for_card(session: Session, price: int, statement: str) -> Talk[PaymentMethod]:
    """Ask for the one card that a change is charged or refunded to.

    Args:
        session: The conversation so far.
        price: What it costs, negative where it gives back.
        statement: What is said about the price, before the question.
    """
    user = yield from session.user()

    def read(text: str) -> list[PaymentMethod] | None:
        methods = methods_in(text, user)
        if len(methods) > 1:
            raise Declined("a change is paid with one payment method alone")
        for method in methods:
            _check(method, price)
        return methods or None

    (method,) = yield from session.find(f"{statement} {WHICH_METHOD}", read)
    return method


def _check(method: PaymentMethod, price: int) -> None:
    if isinstance(method, Certificate):
        raise Declined("a certificate does not pay for changes, only a credit card or a gift card does")
    if isinstance(method, GiftCard) and method.amount < price:
        raise Declined(f"gift card {method.id} holds ${method.amount:.0f} only")


def first_card(user: User) -> PaymentMethod:
    """Return the card that a change without a price is entered under.

    Raises:
        Declined: The user has certificates only, or nothing.
    """
    wallet = Wallet(user)
    cards: list[PaymentMethod] = [*wallet.cards, *wallet.gift_cards]
    if not cards:
        raise Declined("there is no credit card and no gift card in your profile")
    return cards[0]


def ask_for_payments(session: Session, total: int, statement: str) -> Talk[list[dict[str, Any]]]:
    """Ask what pays for a booking, and return the share of each method in the order in which they are named."""
    user = yield from session.user()

    def read(text: str) -> list[dict[str, Any]] | None:
        methods = methods_in(text, user)
        if not methods:
            return None
        halves = bool(_SPLIT.search(text))
        if halves and session.values["max_credit_cards"] > 1:
            methods = [method for method in methods if isinstance(method, CreditCard)]
            methods = methods if len(methods) > 1 else list(Wallet(user).cards[:2])
        elif halves:
            raise Declined("a reservation is paid with one credit card at most")
        _check_numbers(methods, session.values)
        return _shares(methods, total)

    return (yield from session.find(f"{statement} {WHICH_METHOD}", read))


def _check_numbers(found: list[PaymentMethod], values: Values) -> None:
    for kind, name, value in _MOST:
        most = values[value]
        if sum(isinstance(method, kind) for method in found) > most:
            raise Declined(f"a reservation is paid with {number_word(most)} {name}{'s' * (most > 1)} at most")


def _shares(found: list[PaymentMethod], total: int) -> list[dict[str, Any]]:
    payments: list[dict[str, Any]] = []
    for number, method in enumerate(found):
        # What is left is shared by the cards that follow.
        cards = sum(isinstance(other, CreditCard) for other in found[number:])
        amount = total // cards if isinstance(method, CreditCard) else min(total, int(method.amount))
        total -= amount
        if amount:
            payments.append({"payment_id": method.id, "amount": amount})
    if total:
        raise Declined(f"${total} would be left to pay")
    return payments


def methods_in(text: str, user: User) -> list[PaymentMethod]:
    """Return the payment methods that are meant, in the order of the text.

    Raises:
        Declined: One of them is not in the profile.
    """
    if _FOREIGN.search(text):
        raise Declined("only what is in your profile can pay, and I cannot add anything to it")
    methods: list[PaymentMethod] = []
    for mention in re.finditer(rf"{_ID.pattern}|{_KIND.pattern}(?! [a-z]+_[a-z_]*\d)", text, re.IGNORECASE):
        methods += [method for method in _meant(mention[0], text, user) if method not in methods]
    return methods


def _meant(mention: str, text: str, user: User) -> list[PaymentMethod]:
    wallet, low = Wallet(user), mention.lower()
    if _ID.fullmatch(low):
        if low not in user.payment_methods:
            raise Declined(f"{low} is not in your profile")
        return [user.payment_methods[low]]
    if low in ("visa", "mastercard"):
        cards = [card for card in wallet.cards if card.brand == low]
        if not cards:
            raise Declined(f"there is no {low} in your profile")
        return list(cards[:1])
    if low.startswith("credit"):
        return [*wallet.cards[:1]]
    if low.startswith("gift"):
        return [*wallet.gift_cards[: _count(low, "gift cards", text)]]
    return [*wallet.certificates[: _count(low, "certificates", text)]]


def _count(mention: str, plural: str, text: str) -> int:
    if mention != plural:
        return 1
    if re.search(rf"\bboth\b[^.]*\b{plural}", text, re.IGNORECASE):
        return 2
    match = re.search(rf"\b(\d+|two|three|four|five|six)\b[^.,]*\b{plural}", text, re.IGNORECASE)
    return parsing.parse_number(match[1]) if match else 99
