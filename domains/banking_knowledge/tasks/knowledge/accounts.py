"""The bank's accounts for money, and the documents about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .document import document, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .document import Document


class Checking(NamedTuple):
    """A checking account for people.

    Attributes:
        key: A short name for ids.
        name: Its name.
        audience: Whom it is for.
        monthly_fee: In USD.
        free_from: The balance from which the fee is not charged, in USD; 0 for none.
        closing: The early closure fee in USD, and the days for which it counts.
        atm_limit: Withdrawals a day, in USD.
        purchase_limit: Purchases by debit card a day, in USD.
        delivery: Fees of a debit card for standard, expedited and rush delivery, in USD.
        design: Fees of a debit card for the classic, premium and custom design, in USD.
        foreign_atm: The bank's fee at an ATM of others, in USD; 0 where such fees are refunded.
    """

    key: str
    name: str
    audience: str
    monthly_fee: int
    free_from: int
    closing: tuple[int, int]
    atm_limit: int
    purchase_limit: int
    delivery: tuple[int, int, int]
    design: tuple[int, int, int]
    foreign_atm: float


class Savings(NamedTuple):
    """A savings account for people.

    Attributes:
        key: A short name for ids.
        name: Its name.
        apy: The yield, in per cent a year.
        free_from: The balance from which no fee is charged, in USD.
        monthly_fee: In USD.
        withdrawals: Free ones a month.
    """

    key: str
    name: str
    apy: float
    free_from: int
    monthly_fee: int
    withdrawals: int


class Business(NamedTuple):
    """An account for businesses.

    Attributes:
        key: A short name for ids.
        name: Its name.
        kind: ``business_checking`` or ``business_savings``.
        monthly_fee: In USD.
        detail: What sets it apart.
        figure: A figure of its own, by label.
    """

    key: str
    name: str
    kind: str
    monthly_fee: int
    detail: str
    figure: tuple[str, str]


CHECKING = (
    Checking("light_blue", "Light Blue Account", "students", 0, 0, (15, 30), 400, 900, (0, 14, 27), (0, 6, 12), 2.5),
    Checking("light_green", "Light Green Account", "teenagers, with a parent", 0, 0, (15, 30), 150, 300, (0, 16, 29),
             (0, 6, 12), 2.5),
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
CHECKING_BY_NAME = {account.name: account for account in CHECKING}
SAVINGS_BY_NAME = {account.name: account for account in SAVINGS}
#: Spelling of delivery options and designs, in the order of their fees.
DELIVERY, DESIGN = ("STANDARD", "EXPEDITED", "RUSH"), ("CLASSIC", "PREMIUM", "CUSTOM")


def account_documents() -> Iterator[Document]:
    """Yield the documents about accounts: three on each for payments, two on each for savings, one for business."""
    for checking in CHECKING:
        yield _fees(checking)
        yield _limits(checking)
        yield _cards(checking)
    for savings in SAVINGS:
        yield _yield(savings)
        yield _conditions(savings)
    for business in BUSINESS:
        yield _business(business)


def _closing(closing: tuple[int, int]) -> dict[str, str]:
    fee, days = closing
    counts = f"{days} days after the opening" if fee else "none"
    return {"Early closure fee": dollars(fee), "Early closure fee counts for": counts}


def _fees(account: Checking) -> Document:
    waived = f"from a balance of {dollars(account.free_from)}" if account.free_from else "nothing to waive"
    return document(
        f"checking_{account.key}_fees",
        f"{account.name}: fees",
        f"Fees of the {account.name}, a checking account for {account.audience}. The monthly fee is taken on the last "
        "day of the month. Who closes the account soon after opening it pays the early closure fee.",
        {
            "Monthly fee": dollars(account.monthly_fee),
            "Monthly fee waived": waived if account.monthly_fee else "nothing to waive",
            **_closing(account.closing),
            "Fee at an ATM of another bank": dollars(account.foreign_atm) if account.foreign_atm else "refunded",
        },
    )


def _limits(account: Checking) -> Document:
    fixed = " These limits are fixed for minors and cannot be raised." if account.key == "light_green" else ""
    return document(
        f"checking_{account.key}_limits",
        f"{account.name}: daily limits",
        f"Daily limits of debit cards of the {account.name}. They start anew at midnight, Eastern time. The procedure "
        f"for temporary limits says when they can be raised for a day.{fixed}",
        {
            "Withdrawals a day": dollars(account.atm_limit),
            "Purchases a day": dollars(account.purchase_limit),
        },
    )


def _cards(account: Checking) -> Document:
    def free(amount: int) -> str:
        return dollars(amount) if amount else "free"

    return document(
        f"checking_{account.key}_debit_card",
        f"{account.name}: ordering a debit card",
        f"Fees for a debit card of the {account.name}. Delivery and design are charged together to the account when "
        "the card is ordered.",
        {
            "Standard delivery, 7-10 business days": free(account.delivery[0]),
            "Expedited delivery, 3-5 business days": free(account.delivery[1]),
            "Rush delivery, 1-2 business days": free(account.delivery[2]),
            "Classic design": free(account.design[0]),
            "Premium design": free(account.design[1]),
            "Custom design": free(account.design[2]),
        },
    )


def _yield(account: Savings) -> Document:
    return document(
        f"savings_{account.key}_interest",
        f"{account.name}: interest",
        f"Interest of the {account.name}, a savings account. Interest is credited once a month: the balance times the "
        "yield, divided by twelve and rounded to cents. If a credit is lower than that, the procedure for wrong "
        "interest applies.",
        {"APY": f"{account.apy:g} %"},
    )


def _conditions(account: Savings) -> Document:
    return document(
        f"savings_{account.key}_fees",
        f"{account.name}: fees",
        f"Fees of the {account.name}, a savings account for people. Savings accounts have no cards and no checks.",
        {
            "Monthly fee": f"{dollars(account.monthly_fee)}, below a balance of {dollars(account.free_from)}",
            "Free withdrawals a month": str(account.withdrawals),
            "Early closure fee": "none, as long as the account is closed by customer service",
        },
    )


def _business(account: Business) -> Document:
    label, value = account.figure
    return document(
        f"business_{account.key}",
        f"{account.name}: overview",
        f"The {account.name} is an account of the type {account.kind}, for {account.detail}. The procedure for opening "
        "accounts says which account a customer must have before.",
        {"Account type": account.kind, "Monthly fee": dollars(account.monthly_fee), label: value},
    )
