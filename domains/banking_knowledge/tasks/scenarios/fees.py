"""Scenarios about wrong interest and about fees of bank accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import hidden, overview
from ..products import CHECKING_ACCOUNT, SAVINGS_ACCOUNT
from ..world import days_ago, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_OPENING, _CLOSING, _MOVING = "account_opening", "account_closing", "transfers_between_accounts"
_INTEREST, _ATM = "wrong_interest", "atm_fee_refund"
_OVERVIEW = "account_overview"


def _interest(world: World, paid: float, balance: str, credited: bool | None) -> Iterator[Draft]:
    """Yield drafts about the interest of October.

    Args:
        world: The tables.
        paid: The yield that was applied, as a part of the right one.
        balance: The balance of the account.
        credited: Whether the difference is credited at once; None if there is none.
    """
    for user, _, savings in world.each_saver():
        product = SAVINGS_ACCOUNT[savings["level"]]
        right = round(float(balance) * product.apy / 100 / 12, 2)
        actual = round(product.apy * paid, 2)
        amount = round(float(balance) * actual / 100 / 12, 2)
        difference = round(right - amount, 2)
        last = next(one for one in world.transactions(savings) if one["date"].startswith("10/"))
        report = hidden(
            "submit_interest_discrepancy_report_7294",
            account_id=savings["account_id"],
            user_id=user["user_id"],
            expected_apy=product.apy,
            actual_apy=actual,
            amount_difference=difference,
        )
        credit = hidden(
            "apply_savings_account_credit_6831",
            account_id=savings["account_id"],
            amount=difference,
            credit_type="interest_correction",
        )
        if credited is not None and (difference <= 40) is not credited:
            continue
        changed = {"description": f"INTEREST CREDIT - APY {actual:g}%", "amount": amount}
        yield Draft(
            user,
            reason=f"You believe that the interest for October on your {savings['level']} is too low.",
            calls=[
                *overview(user),
                *hidden("get_bank_account_transactions_9173", account_id=savings["account_id"]),
                *(report if credited is not None else []),
                *(credit if credited else []),
            ],
            documents=[_INTEREST, _OVERVIEW, "account_transactions", f"savings_{product.key}_interest"],
            tables={
                "accounts": {savings["account_id"]: {"current_holdings": balance}},
                "bank_account_transaction_history": {last["transaction_id"]: changed},
            },
        )


@scenario(_INTEREST)
def interest_credited_at_once(world: World) -> Iterator[Draft]:
    """A small difference is reported and credited."""
    yield from _interest(world, 0.6, "7200.00", credited=True)


@scenario(_INTEREST, personas.CAREFUL)
def interest_only_reported(world: World) -> Iterator[Draft]:
    """A large difference is reported, and credited by nobody in a chat."""
    yield from _interest(world, 0.5, "64000.00", credited=False)


@scenario(_INTEREST, personas.IMPATIENT)
def interest_that_is_right(world: World) -> Iterator[Draft]:
    """The interest is right: nothing is reported."""
    yield from _interest(world, 1, "5100.00", credited=None)


# Fees of ATMs


def _atm_fee(world: World, *, days: int, free: bool, refunded: bool) -> Iterator[Draft]:
    """Yield drafts about a fee of some days ago, of products that refund such fees or do not."""
    for user, account in world.each_checking():
        product = CHECKING_ACCOUNT[account["level"]]
        if free is bool(product.foreign_atm):
            continue
        amount = product.foreign_atm or 2.75
        transaction_id = new_id("btxn_", "atm fee", days, account["account_id"])
        fee = {
            "transaction_id": transaction_id,
            "account_id": account["account_id"],
            "date": days_ago(days),
            "description": "FEE - ATM OF ANOTHER BANK",
            "amount": -amount,
            "type": "atm_fee",
            "status": "posted",
        }
        refund = hidden(
            "apply_checking_account_credit_5829",
            account_id=account["account_id"],
            amount=amount,
            credit_type="fee_refund",
        )
        yield Draft(
            user,
            reason=f"You were charged a fee at an ATM of another bank on your {account['level']} and want it back.",
            calls=[
                *overview(user),
                *(hidden("get_bank_account_transactions_9173", account_id=account["account_id"]) if free else []),
                *(refund if refunded else []),
            ],
            documents=[_ATM, _OVERVIEW, "account_transactions", f"checking_{product.key}_fees"],
            tables={"bank_account_transaction_history": {transaction_id: fee}},
        )


@scenario(_ATM)
def atm_fee_refunded(world: World) -> Iterator[Draft]:
    """The product refunds such fees."""
    yield from _atm_fee(world, days=12, free=True, refunded=True)


@scenario(_ATM, personas.IMPATIENT)
def atm_fee_of_long_ago(world: World) -> Iterator[Draft]:
    """The fee is too old for a refund; by the outdated document it would not be."""
    yield from _atm_fee(world, days=95, free=True, refunded=False)


@scenario(_ATM, personas.NEW_HERE)
def atm_fee_that_is_due(world: World) -> Iterator[Draft]:
    """The product charges this fee; by the outdated document it would be refunded."""
    yield from _atm_fee(world, days=12, free=False, refunded=False)


FEES = (
    interest_credited_at_once,
    interest_only_reported,
    interest_that_is_right,
    atm_fee_refunded,
    atm_fee_of_long_ago,
    atm_fee_that_is_due,
)
