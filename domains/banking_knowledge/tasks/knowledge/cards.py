"""The bank's credit cards, and the documents about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .document import document, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .document import Document


class CreditCard(NamedTuple):
    """A credit card.

    Attributes:
        key: A short name for ids.
        name: Its name, as the tools have it.
        audience: Whom it is for.
        annual_fee: In USD a year.
        apr: Interest on purchases, in per cent a year.
        foreign_fee: In per cent of a purchase abroad.
        late_fee: In USD.
        min_income: The lowest yearly income of an applicant, in USD.
        line: The lowest and the highest credit limit at the start, in USD.
        largest_increase: The largest increase of the limit at once, in USD.
        points: Points for a dollar.
        special: Points for a dollar in certain categories.
        welcome: Points for a new cardholder.
        referral_bonus: In USD, for who refers a cardholder.
        express: Whether a replacement comes by express at no charge.
    """

    key: str
    name: str
    audience: str
    annual_fee: int
    apr: float
    foreign_fee: float
    late_fee: int
    min_income: int
    line: tuple[int, int]
    largest_increase: int
    points: float
    special: Mapping[str, float]
    welcome: int
    referral_bonus: int
    express: bool


CARDS = (
    CreditCard("bronze", "Bronze Rewards Card", "people who have their first credit card", 0, 25.4, 3, 29, 14_000,
               (500, 2_000), 700, 1, {}, 3_000, 20, express=False),
    CreditCard("silver", "Silver Rewards Card", "people who travel now and then and buy software", 45, 22.9, 2, 31,
               32_000, (1_500, 6_000), 1_600, 1, {"Travel": 4, "Software": 4}, 9_000, 35, express=False),
    CreditCard("gold", "Gold Rewards Card", "people who want the same rate for all that they buy", 110, 20.7, 0, 34,
               58_000, (4_000, 15_000), 4_000, 2.5, {}, 18_000, 60, express=True),
    CreditCard("platinum", "Platinum Rewards Card", "people who pay nearly everything by card", 390, 18.6, 0, 37,
               120_000, (10_000, 40_000), 9_000, 10, {}, 45_000, 110, express=True),
    CreditCard("green", "Green Rewards Card", "people who buy from sustainable shops", 35, 22.1, 1, 28, 28_000,
               (1_000, 5_500), 1_400, 1, {"Sustainable": 3}, 7_500, 30, express=False),
    CreditCard("eco", "EcoCard", "people who spend much on green goods and services", 60, 21.4, 0, 30, 36_000,
               (2_000, 8_000), 2_200, 1, {"Green": 5}, 11_000, 40, express=False),
    CreditCard("zoom", "Silver Zoom Card", "people who commute by train, bus or cab", 25, 23.6, 2.5, 29, 26_000,
               (1_000, 5_000), 1_200, 1, {"Transportation": 3}, 6_500, 25, express=False),
    CreditCard("crypto", "Crypto-Cash Back", "people who want their rewards as digital coins", 75, 24.8, 1.5, 33,
               40_000, (2_000, 9_000), 2_400, 2, {}, 12_500, 45, express=False),
    CreditCard("diamond", "Diamond Elite Card", "customers of private banking", 640, 17.2, 0, 39, 210_000,
               (20_000, 80_000), 15_000, 5, {}, 90_000, 150, express=True),
    CreditCard("biz_bronze", "Business Bronze Rewards Card", "businesses in their first two years", 0, 24.1, 3, 32,
               20_000, (1_000, 5_000), 1_100, 1, {}, 5_000, 30, express=False),
    CreditCard("biz_silver", "Business Silver Rewards Card", "small businesses whose staff travel", 85, 21.9, 1, 35,
               48_000, (3_000, 12_000), 3_200, 1, {"Travel": 10, "Software": 10}, 16_000, 55, express=False),
    CreditCard("biz_gold", "Business Gold Rewards Card", "businesses with running costs in many places", 160, 19.8, 0,
               38, 90_000, (8_000, 30_000), 7_500, 1, {"Operations": 2.5}, 30_000, 85, express=True),
    CreditCard("biz_platinum", "Business Platinum Rewards Card", "agencies and firms with large budgets", 420, 18.3, 0,
               41, 180_000, (15_000, 60_000), 12_000, 1.5, {"Travel": 4, "Software": 4, "Media": 4}, 60_000, 130,
               express=True),
)  # fmt: skip
BY_NAME = {card.name: card for card in CARDS}


def points_for(card: CreditCard, amount: float, category: str) -> int:
    """Return the points for a purchase, cut to whole ones."""
    return int(amount * card.special.get(category, card.points))


def card_documents() -> Iterator[Document]:
    """Yield four documents about each card."""
    for card in CARDS:
        yield _fees(card)
        yield _rewards(card)
        yield _credit_line(card)
        yield _joining(card)


def _fees(card: CreditCard) -> Document:
    return document(
        f"card_{card.key}_fees",
        f"{card.name}: fees and interest",
        f"What the {card.name} costs. It is made for {card.audience}. Fees appear on the statement of the month in "
        "which they arise; interest is charged on what stays unpaid after the due date.",
        {
            "Annual fee": dollars(card.annual_fee),
            "Interest on purchases": f"{card.apr} % a year",
            "Fee for purchases abroad": f"{card.foreign_fee} %" if card.foreign_fee else "none",
            "Late fee": dollars(card.late_fee),
            "Express delivery of a replacement": "free" if card.express else "not offered, except after theft or fraud",
        },
    )


def _rewards(card: CreditCard) -> Document:
    special = {f"Points per dollar for {category}": f"{rate:g}" for category, rate in card.special.items()}
    return document(
        f"card_{card.key}_rewards",
        f"{card.name}: rewards",
        f"How the {card.name} earns points. Points of a purchase are the amount times the rate of its category, cut to "
        "whole points. The category is the one that the transaction shows. A hundred points are worth one dollar. "
        "Points that were booked wrongly are corrected; see the procedure for wrong reward points.",
        {
            **special,
            f"Points per dollar for {'all else' if special else 'every purchase'}": f"{card.points:g}",
            "Points at the start": f"{card.welcome:,} after the first statement",
        },
    )


def _credit_line(card: CreditCard) -> Document:
    low, high = card.line
    return document(
        f"card_{card.key}_credit_line",
        f"{card.name}: credit limit",
        f"The credit limit of the {card.name}. The limit at the start depends on income. It can be raised later; the "
        "conditions for that are the same for all cards and are in the procedure for credit limit increases. A single "
        "increase may not be larger than the figure below.",
        {
            "Limit at the start": f"{dollars(low)} to {dollars(high)}",
            "Largest increase at once": dollars(card.largest_increase),
        },
    )


def _joining(card: CreditCard) -> Document:
    return document(
        f"card_{card.key}_joining",
        f"{card.name}: applying and referring",
        f"Who can have the {card.name}, and what a referral brings. Applicants state their yearly income; the customer "
        "applies with a tool of their own, as the procedure for card applications describes. The bonus is paid to the "
        "person who refers, once the new cardholder has made a purchase.",
        {
            "Made for": card.audience,
            "Lowest yearly income": dollars(card.min_income),
            "Bonus for a referral": dollars(card.referral_bonus),
        },
    )
