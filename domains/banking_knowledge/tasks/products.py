"""The bank's products: credit cards, and accounts for money."""

from __future__ import annotations

from typing import NamedTuple

from ..rewards import RATES, rate


class CreditCard(NamedTuple):
    """A credit card; amounts are in USD, rates in per cent."""

    key: str
    name: str
    audience: str
    annual_fee: int
    apr: float
    foreign_fee: float
    late_fee: int
    min_income: int
    #: The lowest and the highest credit limit at the start.
    line: tuple[int, int]
    largest_increase: int
    welcome: int
    referral_bonus: int
    #: Whether a replacement comes by express at no charge.
    express: bool

    @property
    def points(self) -> float:
        """Points for a dollar, but for those in certain categories."""
        return rate(self.name, "")

    @property
    def special(self) -> dict[str, float]:
        """Points for a dollar by category."""
        return {category: rate for category, rate in RATES[self.name].items() if category != "default"}

    def points_for(self, amount: float, category: str) -> int:
        """Return the points for a purchase, cut to whole ones."""
        return int(amount * rate(self.name, category))


class Checking(NamedTuple):
    """A checking account for people; amounts are in USD."""

    key: str
    name: str
    audience: str
    monthly_fee: int
    #: The balance from which the fee is not charged; 0 for none.
    free_from: int
    #: The early closure fee, and the days for which it counts.
    closing: tuple[int, int]
    atm_limit: int
    purchase_limit: int
    #: Fees of a debit card, in the order of ``DELIVERY`` and ``DESIGN``.
    delivery: tuple[int, int, int]
    design: tuple[int, int, int]
    #: The fee at an ATM of another bank; 0 where such fees are refunded.
    foreign_atm: float
    limits_note: str = ""


class Savings(NamedTuple):
    """A savings account for people; amounts are in USD, the yield in per cent a year."""

    key: str
    name: str
    apy: float
    free_from: int
    monthly_fee: int
    #: Free ones a month.
    withdrawals: int


class Business(NamedTuple):
    """An account for businesses, with a figure of its own by label."""

    key: str
    name: str
    kind: str
    monthly_fee: int
    audience: str
    figure: tuple[str, str]


#: Spelling of delivery options and designs, in the order of their fees.
DELIVERY, DESIGN = ("STANDARD", "EXPEDITED", "RUSH"), ("CLASSIC", "PREMIUM", "CUSTOM")
CARDS = (
    CreditCard("bronze", "Bronze Rewards Card", "people who have their first credit card", 0, 25.4, 3, 29, 14_000,
               (500, 2_000), 700, 3_000, 20, express=False),
    CreditCard("silver", "Silver Rewards Card", "people who travel now and then and buy software", 45, 22.9, 2, 31,
               32_000, (1_500, 6_000), 1_600, 9_000, 35, express=False),
    CreditCard("gold", "Gold Rewards Card", "people who want the same rate for all that they buy", 110, 20.7, 0, 34,
               58_000, (4_000, 15_000), 4_000, 18_000, 60, express=True),
    CreditCard("platinum", "Platinum Rewards Card", "people who pay nearly everything by card", 390, 18.6, 0, 37,
               120_000, (10_000, 40_000), 9_000, 45_000, 110, express=True),
    CreditCard("green", "Green Rewards Card", "people who buy from sustainable shops", 35, 22.1, 1, 28, 28_000,
               (1_000, 5_500), 1_400, 7_500, 30, express=False),
    CreditCard("eco", "EcoCard", "people who spend much on green goods and services", 60, 21.4, 0, 30, 36_000,
               (2_000, 8_000), 2_200, 11_000, 40, express=False),
    CreditCard("zoom", "Silver Zoom Card", "people who commute by train, bus or cab", 25, 23.6, 2.5, 29, 26_000,
               (1_000, 5_000), 1_200, 6_500, 25, express=False),
    CreditCard("crypto", "Crypto-Cash Back", "people who want their rewards as digital coins", 75, 24.8, 1.5, 33,
               40_000, (2_000, 9_000), 2_400, 12_500, 45, express=False),
    CreditCard("diamond", "Diamond Elite Card", "customers of private banking", 640, 17.2, 0, 39, 210_000,
               (20_000, 80_000), 15_000, 90_000, 150, express=True),
    CreditCard("biz_bronze", "Business Bronze Rewards Card", "businesses in their first two years", 0, 24.1, 3, 32,
               20_000, (1_000, 5_000), 1_100, 5_000, 30, express=False),
    CreditCard("biz_silver", "Business Silver Rewards Card", "small businesses whose staff travel", 85, 21.9, 1, 35,
               48_000, (3_000, 12_000), 3_200, 16_000, 55, express=False),
    CreditCard("biz_gold", "Business Gold Rewards Card", "businesses with running costs in many places", 160, 19.8, 0,
               38, 90_000, (8_000, 30_000), 7_500, 30_000, 85, express=True),
    CreditCard("biz_platinum", "Business Platinum Rewards Card", "agencies and firms with large budgets", 420, 18.3, 0,
               41, 180_000, (15_000, 60_000), 12_000, 60_000, 130,
               express=True),
)  # fmt: skip
CHECKING = (
    Checking("light_blue", "Light Blue Account", "students", 0, 0, (15, 30), 400, 900, (0, 14, 27), (0, 6, 12), 2.5),
    Checking("light_green", "Light Green Account", "teenagers, with a parent", 0, 0, (15, 30), 150, 300, (0, 16, 29),
             (0, 6, 12), 2.5, " These limits are fixed for minors and cannot be raised."),
    Checking("fee_free", "Green Fee-Free Account", "people who want no monthly fee", 0, 0, (15, 30), 500, 1_200,
             (0, 15, 28), (0, 8, 14), 3),
    Checking("blue", "Blue Account", "everyday payments", 7, 900, (25, 60), 500, 1_800, (0, 12, 24), (0, 7, 13), 2.5),
    Checking("green", "Green Account", "people who pay mostly by card", 9, 1_400, (25, 60), 600, 2_200, (0, 11, 22),
             (0, 7, 13), 2),
    Checking("evergreen", "Evergreen Account", "households with two incomes", 14, 4_500, (50, 90), 750, 3_500,
             (0, 0, 18), (0, 0, 11), 0),
    Checking("bluest", "Bluest Account", "customers with large balances", 24, 18_000, (100, 180), 1_500, 8_000,
             (0, 0, 0), (0, 0, 9), 0),
    Checking("dark_green", "Dark Green Account", "seasonal workers", 4, 500, (0, 0), 300, 1_000, (0, 13, 25),
             (0, 8, 14), 3),
    Checking("gold_years", "Gold Years Account", "people over sixty", 0, 0, (0, 0), 600, 1_600, (0, 5, 15), (0, 4, 9),
             0),
    Checking("purple", "Purple Account", "freelancers", 11, 2_600, (0, 0), 1_000, 4_500, (0, 9, 19), (0, 5, 10), 1.5),
)  # fmt: skip
SAVINGS = (
    Savings("bronze", "Bronze Account", 1.15, 150, 3, 3),
    Savings("silver", "Silver Account", 1.85, 600, 4, 4),
    Savings("silver_plus", "Silver Plus Account", 2.3, 1_200, 5, 4),
    Savings("gold", "Gold Account", 2.75, 3_000, 6, 5),
    Savings("gold_plus", "Gold Plus Account", 3.1, 6_000, 8, 5),
    Savings("platinum", "Platinum Account", 3.45, 12_000, 10, 6),
    Savings("platinum_plus", "Platinum Plus Account", 3.7, 25_000, 12, 6),
    Savings("diamond", "Diamond Elite Account", 4.05, 60_000, 20, 8),
)
BUSINESS = (
    Business("slate", "Slate Business Checking", "business_checking", 12, "sole traders and shops of one person",
             ("Free transactions a month", "120")),
    Business("granite", "Granite Business Checking", "business_checking", 28, "firms with up to twenty employees",
             ("Free transactions a month", "400")),
    Business("basalt", "Basalt Business Checking", "business_checking", 65, "firms that deposit much cash",
             ("Free cash deposits a month", "$40,000")),
    Business("cobble", "Cobble Business Savings", "business_savings", 5, "reserves for taxes", ("APY", "1.6 %")),
    Business("quarry", "Quarry Business Savings", "business_savings", 15, "reserves that stay for years",
             ("APY", "2.9 %")),
)  # fmt: skip
CARD = {one.name: one for one in CARDS}
CHECKING_ACCOUNT = {one.name: one for one in CHECKING}
SAVINGS_ACCOUNT = {one.name: one for one in SAVINGS}
