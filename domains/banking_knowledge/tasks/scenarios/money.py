"""Scenarios about bank accounts: opening, closing, and moving money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import hidden, overview
from ..products import CHECKING_ACCOUNT
from ..world import days_ago

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..calls import Call
    from ..world import Record, World

_OPENING, _CLOSING, _MOVING = "account_opening", "account_closing", "transfers_between_accounts"
_INTEREST, _ATM = "wrong_interest", "atm_fee_refund"
_OVERVIEW = "account_overview"


# Opening


def _opening(
    world: World, kind: str, product: str, documents: list[str], *, opened: int = 0, allowed: bool = True
) -> Iterator[Draft]:
    """Yield drafts of an opening by customers with one checking account and without the kind in question.

    Args:
        world: The tables.
        kind: The account type.
        product: The name of the product.
        documents: Documents besides the procedure.
        opened: The age of the checking account in days, if not that of the tables.
        allowed: Whether the account is opened.
    """
    classes = {"savings": "saving"}
    for user, account in world.each_checking():
        if kind != "checking" and world.accounts(user, classes.get(kind, kind)):
            continue
        opening = hidden("open_bank_account_4821", user_id=user["user_id"], account_type=kind, account_class=product)
        yield Draft(
            user,
            reason=f"You want to open a {product}.",
            calls=[*overview(user), *(opening if allowed else [])],
            documents=[_OPENING, _OVERVIEW, *documents],
            tables={"accounts": {account["account_id"]: {"date_opened": days_ago(opened)}}} if opened else {},
        )


@scenario(_OPENING)
def open_savings(world: World) -> Iterator[Draft]:
    """Savings for a customer whose checking account is old enough."""
    yield from _opening(world, "savings", "Silver Plus Account", ["savings_silver_plus_interest"])


@scenario(_OPENING, personas.NEW_HERE)
def open_savings_too_soon(world: World) -> Iterator[Draft]:
    """The checking account is some days old; by the outdated document that would not matter."""
    yield from _opening(world, "savings", "Gold Account", ["savings_gold_interest"], opened=6, allowed=False)


@scenario(_OPENING, personas.BRIEF)
def open_a_business_account(world: World) -> Iterator[Draft]:
    """A business account for a customer with a checking account."""
    yield from _opening(world, "business_checking", "Granite Business Checking", ["business_granite"])


@scenario(_OPENING)
def open_business_savings_without_checking(world: World) -> Iterator[Draft]:
    """Business savings without a business checking account."""
    for draft in _opening(world, "business_savings", "Quarry Business Savings", ["business_quarry"], allowed=False):
        if not world.accounts(draft.caller, "business_checking"):
            yield draft


@scenario(_OPENING, personas.CAREFUL)
def open_a_second_checking_account(world: World) -> Iterator[Draft]:
    """A second checking account needs nothing."""
    yield from _opening(world, "checking", "Purple Account", ["checking_purple_fees"])


# Closing


def _close(account: Record, *, waived: bool = False) -> list[Call]:
    more = {"waive_early_closure_fee": True} if waived else {}
    return hidden("close_bank_account_7392", account_id=account["account_id"], **more)


def _move(source: Record, destination: Record, amount: float) -> list[Call]:
    return hidden(
        "transfer_funds_between_bank_accounts_7291",
        source_account_id=source["account_id"],
        destination_account_id=destination["account_id"],
        amount=amount,
    )


def _closing(account: Record, **fields: str) -> dict[str, dict[str, Record]]:
    return {"accounts": {account["account_id"]: dict(fields)}}


def _product(account: Record) -> str:
    return f"checking_{CHECKING_ACCOUNT[account['level']].key}_fees"


@scenario(_CLOSING)
def close_an_empty_account(world: World) -> Iterator[Draft]:
    """An old account that holds nothing."""
    for user, account, _ in world.each_saver():
        yield Draft(
            user,
            reason=f"You want to close your {account['level']}.",
            calls=[*overview(user), *_close(account)],
            documents=[_CLOSING, _OVERVIEW, _product(account)],
            tables=_closing(account, current_holdings="0.00", date_opened=days_ago(800)),
        )


@scenario(_CLOSING, personas.CAREFUL)
def move_the_rest_and_close(world: World) -> Iterator[Draft]:
    """The money goes to the savings account before an old account is closed."""
    for user, account, savings in world.each_saver():
        yield Draft(
            user,
            reason=f"You want to close your {account['level']}.",
            instructions=f"If money has to be moved first, it should go to your {savings['level']}.",
            details={"where/account/savings move/go": f"The money should go to your {savings['level']}."},
            calls=[*overview(user), *_move(account, savings, 312.6), *_close(account)],
            documents=[_CLOSING, _MOVING, _OVERVIEW, _product(account)],
            tables=_closing(account, current_holdings="312.60", date_opened=days_ago(800)),
        )


@scenario(_CLOSING)
def close_early_and_pay_the_fee(world: World) -> Iterator[Draft]:
    """A young account: what is above the early closure fee is moved, and the fee stays."""
    for user, account, savings in world.each_saver():
        fee, days = CHECKING_ACCOUNT[account["level"]].closing
        if fee:
            yield Draft(
                user,
                reason=f"You want to close your {account['level']}.",
                instructions=f"If money has to be moved first, it should go to your {savings['level']}. A fee is fine.",
                details={"where/account/savings move/go": f"The money should go to your {savings['level']}."},
                calls=[*overview(user), *_move(account, savings, 540.25 - fee), *_close(account)],
                documents=[_CLOSING, _MOVING, _OVERVIEW, _product(account)],
                tables=_closing(account, current_holdings="540.25", date_opened=days_ago(days - 10)),
            )


@scenario(_CLOSING, personas.IMPATIENT)
def close_early_with_an_older_account(world: World) -> Iterator[Draft]:
    """A young account of a customer who has an older checking account: the fee is waived."""
    for user in world.users:
        checking = world.accounts(user, "checking")
        if len(checking) == 2 and checking[0]["level"] != checking[1]["level"]:
            for kept, closed in (checking, checking[::-1]):
                fee, days = CHECKING_ACCOUNT[closed["level"]].closing
                if fee:
                    tables = _closing(closed, current_holdings="0.00", date_opened=days_ago(days - 8))
                    tables["accounts"][kept["account_id"]] = {"date_opened": days_ago(900)}
                    yield Draft(
                        user,
                        reason=f"You want to close your {closed['level']}.",
                        calls=[*overview(user), *_close(closed, waived=True)],
                        documents=[_CLOSING, _OVERVIEW, _product(closed)],
                        tables=tables,
                    )


@scenario(_CLOSING)
def no_free_early_closure(world: World) -> Iterator[Draft]:
    """A young account that holds nothing: the fee cannot be paid and is not waived, whatever the old document says."""
    for user, account, _ in world.each_saver():
        fee, days = CHECKING_ACCOUNT[account["level"]].closing
        if fee:
            yield Draft(
                user,
                reason=f"You want to close your {account['level']} and ask that no fee is charged.",
                calls=overview(user),
                documents=[_CLOSING, _OVERVIEW, _product(account)],
                tables=_closing(account, current_holdings="0.00", date_opened=days_ago(days - 12)),
            )


# Moving money


@scenario(_MOVING)
def move_to_savings(world: World) -> Iterator[Draft]:
    """From checking to savings."""
    for user, account, savings in world.each_saver():
        yield Draft(
            user,
            reason=f"You want to transfer $140 from your {account['level']} to your {savings['level']}.",
            calls=[*overview(user), *_move(account, savings, 140)],
            documents=[_MOVING, _OVERVIEW],
        )


@scenario(_MOVING, personas.BRIEF)
def move_from_savings(world: World) -> Iterator[Draft]:
    """From savings to checking, with cents."""
    for user, account, savings in world.each_saver():
        yield Draft(
            user,
            reason=f"You want to transfer $87.35 from your {savings['level']} to your {account['level']}.",
            calls=[*overview(user), *_move(savings, account, 87.35)],
            documents=[_MOVING, _OVERVIEW],
        )


@scenario(_MOVING)
def move_more_than_there_is(world: World) -> Iterator[Draft]:
    """The account holds less; the customer then moves less."""
    for user, account, savings in world.each_saver():
        yield Draft(
            user,
            reason=f"You want to transfer $9,500 from your {account['level']} to your {savings['level']}.",
            fallback=f"Then transfer $200 from your {account['level']} to your {savings['level']}.",
            calls=[*overview(user), *_move(account, savings, 200)],
            documents=[_MOVING, _OVERVIEW],
        )


@scenario(_MOVING, personas.BREEZY)
def move_to_somebody_else(world: World) -> Iterator[Draft]:
    """Agents move no money to other people, though the tool would."""
    for user, account in world.each_checking():
        other = next(one for one in world.tables["accounts"].values() if one["user_id"] != user["user_id"])
        yield Draft(
            user,
            reason=f"You want to transfer $60 from your {account['level']} to your neighbor, whose account id is "
            f"{other['account_id']}.",
            calls=[],
            documents=[_MOVING],
        )


MONEY = (
    open_savings,
    open_savings_too_soon,
    open_a_business_account,
    open_business_savings_without_checking,
    open_a_second_checking_account,
    close_an_empty_account,
    move_the_rest_and_close,
    close_early_and_pay_the_fee,
    close_early_with_an_older_account,
    no_free_early_closure,
    move_to_savings,
    move_from_savings,
    move_more_than_there_is,
    move_to_somebody_else,
)
