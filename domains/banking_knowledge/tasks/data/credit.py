"""Credit cards of the customers, with their payments and purchases, and the referrals so far."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ...clock import NOW
from ..products import CARD, CARDS
from .accounts import american

if TYPE_CHECKING:
    import random

    from .accounts import Table

_MERCHANTS = (
    ("Tern & Sons Hardware", "Shopping"),
    ("Lakeside Airways", "Travel"),
    ("Quill Software", "Software"),
    ("Willow Farm Shop", "Groceries"),
    ("Second Life Furniture", "Sustainable"),
    ("Sunny Side Solar", "Green"),
    ("Metro Cab", "Transportation"),
    ("Paperweight Office", "Operations"),
    ("Bluebell Cafe", "Dining"),
    ("Owl Cinema", "Entertainment"),
)
_BUSINESS = tuple(card for card in CARDS if card.key.startswith("biz_"))
_PERSONAL = tuple(card for card in CARDS if not card.key.startswith("biz_"))


def make_credit_cards(rng: random.Random, people: Table, accounts: Table) -> Table:
    """Make the credit card accounts: one for most customers, a second for some, one of business for firms."""
    cards: Table = {}
    for number, user_id in enumerate(people):
        chosen = [_PERSONAL[number % len(_PERSONAL)]] if number % 5 else []
        if number % 7 == 3:
            chosen.append(_PERSONAL[(number + 4) % len(_PERSONAL)])
        if f"biz_{user_id}" in accounts:
            chosen.append(_BUSINESS[number % len(_BUSINESS)])
        for card in chosen:
            account_id = f"cc_{user_id}_{card.key}"
            limit = rng.randrange(card.line[0], card.line[1] + 1, 100)
            cards[account_id] = {
                "account_id": account_id,
                "user_id": user_id,
                "card_type": card.name,
                "status": "ACTIVE",
                "date_of_account_open": american(NOW - timedelta(days=rng.randint(240, 2200))),
                "current_balance": f"${limit * rng.uniform(0.05, 0.35):,.2f}",
                "reward_points": f"{rng.randint(400, 9000)} points",
                "credit_limit": f"${limit:,.2f}",
                "account_status": "CURRENT",
                "past_due_amount": "$0.00",
            }
    return cards


def make_payments(rng: random.Random, cards: Table) -> Table:
    """Make a payment a month this year for every credit card, all on time."""
    payments: Table = {}
    for account_id, card in cards.items():
        for month in range(2, 11):
            payment_id = f"pay_{account_id.removeprefix('cc_')}_2025{month:02d}"
            payments[payment_id] = {
                "payment_id": payment_id,
                "credit_card_account_id": account_id,
                "user_id": card["user_id"],
                "payment_date": f"{month:02d}/{rng.randint(10, 20)}/2025",
                "amount": f"${rng.randint(40, 380)}.00",
                "status": "ON_TIME",
            }
    return payments


def make_purchases(rng: random.Random, cards: Table) -> Table:
    """Make five purchases with every credit card, each at another merchant and with the right points."""
    purchases: Table = {}
    for account_id, account in cards.items():
        card = CARD[account["card_type"]]
        for merchant, category in rng.sample(_MERCHANTS, 5):
            transaction_id = f"txn_{rng.randrange(16**12):012x}"
            amount = round(rng.uniform(18, 420), 2)
            purchases[transaction_id] = {
                "transaction_id": transaction_id,
                "user_id": account["user_id"],
                "credit_card_type": card.name,
                "merchant_name": merchant,
                "transaction_amount": f"${amount:.2f}",
                "transaction_date": american(NOW - timedelta(days=rng.randint(3, 60))),
                "category": category,
                "status": "COMPLETED",
                "rewards_earned": f"{card.points_for(amount, category)} points",
                "credit_card_account_id": account_id,
            }
    return purchases


def make_referrals(rng: random.Random, people: Table) -> Table:
    """Make a completed referral of every fourth customer."""
    referrals: Table = {}
    for user_id in list(people)[::4]:
        referral_id = f"{rng.randrange(16**16):016x}"
        referrals[referral_id] = {
            "referral_id": referral_id,
            "referrer_id": user_id,
            "referred_account_type": rng.choice(_PERSONAL).name,
            "referral_status": "COMPLETE",
            "date": f"{rng.randint(1, 9):02d}/{rng.randint(10, 28)}/2025",
        }
    return referrals
