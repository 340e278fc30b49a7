"""Scenarios about debit cards: ordering them, alerts, and limits for a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import debit_cards, hidden, transfer
from ..products import CHECKING_ACCOUNT, DELIVERY, DESIGN
from ..world import days_ago

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..calls import Call
    from ..world import Record, World

_ACTIVATION, _PINS, _FREEZE = "debit_card_activation", "debit_card_pins", "debit_card_freeze"
_ORDERING, _ALERTS, _LIMIT = "debit_card_ordering", "debit_card_fraud_alerts", "debit_card_temporary_limit"
_FINDING = ("account_overview", "debit_card_overview")
_DIGITS = "last four/4 digits"


def _ordering(
    world: World, delivery: int, design: int, wishes: dict[str, str], *, holdings: str = "", free: bool | None = None
) -> Iterator[Draft]:
    """Yield drafts of an order by customers whose only card is closed.

    Args:
        world: The tables.
        delivery: The position of the delivery option.
        design: The position of the design.
        wishes: What the customer says about both.
        holdings: What the account holds, if not what the tables say.
        free: Whether the order has to be free, None for either.
    """
    for user, account, card in world.each_debit_card():
        product = CHECKING_ACCOUNT[account["level"]]
        fees = (product.delivery[delivery], product.design[design])
        if free is not None and free is bool(sum(fees)):
            continue
        tables: dict[str, dict[str, Record]] = {
            "debit_cards": {card["card_id"]: {"status": "CLOSED", "closure_reason": "damaged"}}
        }
        order = hidden(
            "order_debit_card_5739",
            account_id=account["account_id"],
            user_id=user["user_id"],
            delivery_option=DELIVERY[delivery],
            delivery_fee=fees[0],
            card_design=DESIGN[design],
            design_fee=fees[1],
            shipping_address=user["address"],
        )
        if holdings:
            tables["accounts"] = {account["account_id"]: {"current_holdings": holdings}}
        yield Draft(
            user,
            reason=f"You want to order a debit card for your {account['level']}.",
            details=wishes,
            calls=[*debit_cards(user, account), *([] if holdings else order)],
            documents=[_ORDERING, f"checking_{product.key}_debit_card", *_FINDING],
            tables=tables,
        )


_PLAIN = {"delivery/shipping": "Standard delivery is fine.", "design": "The classic design is fine."}


@scenario(_ORDERING)
def order_a_plain_card(world: World) -> Iterator[Draft]:
    """Standard delivery and the classic design, which are free; by the outdated document they are not."""
    yield from _ordering(world, 0, 0, _PLAIN)


@scenario(_ORDERING, personas.IMPATIENT)
def order_a_card_in_a_hurry(world: World) -> Iterator[Draft]:
    """Rush delivery, for which the product has a fee of its own."""
    wishes = {"delivery/shipping": "You want rush delivery.", "design": "The classic design is fine."}
    yield from _ordering(world, 2, 0, wishes, free=False)


@scenario(_ORDERING, personas.BREEZY)
def order_a_pretty_card(world: World) -> Iterator[Draft]:
    """Expedited delivery and the custom design: two fees."""
    wishes = {"delivery/shipping": "You want expedited delivery.", "design": "You want the custom design."}
    yield from _ordering(world, 1, 2, wishes, free=False)


@scenario(_ORDERING)
def order_without_enough_money(world: World) -> Iterator[Draft]:
    """The account holds too little for an order."""
    yield from _ordering(world, 0, 0, _PLAIN, holdings="18.40")


# Alerts


def _alert(world: World, fields: Record, reason: str, calls: str) -> Iterator[Draft]:
    for user, account, card in world.each_debit_card():
        clearing: list[Call] = (
            hidden("clear_debit_card_fraud_alert_4892", card_id=card["card_id"], reason=calls)
            if calls
            else [transfer("fraud_or_security_concern", "The bank flagged the customer's debit card.")]
        )
        yield Draft(
            user,
            reason=reason,
            details={"payment/payments own/yours": "Yes, all of the payments were your own."},
            calls=[*debit_cards(user, account), *clearing],
            documents=[_ALERTS, *_FINDING],
            tables={"debit_cards": {card["card_id"]: fields}},
        )


_DECLINED = "Your debit card is declined because of a fraud alert. The payments were your own."


@scenario(_ALERTS)
def alert_of_the_customer(world: World) -> Iterator[Draft]:
    """An alert that the customer set off is cleared."""
    fields = {"fraud_alert_active": True, "alert_source": "customer_initiated"}
    yield from _alert(world, fields, _DECLINED, "customer_verified")


@scenario(_ALERTS, personas.BRIEF)
def many_payments_in_a_row(world: World) -> Iterator[Draft]:
    """A block after many payments is cleared for another reason."""
    fields = {"velocity_blocked": True, "fraud_alert_active": False}
    reason = "Your debit card is declined because of a block after many payments. The payments were your own."
    yield from _alert(world, fields, reason, "velocity_clear")


@scenario(_ALERTS, personas.IMPATIENT)
def alert_of_the_bank(world: World) -> Iterator[Draft]:
    """An alert of the bank is not cleared by an agent: a person takes over."""
    fields = {"fraud_alert_active": True, "alert_source": "bank_initiated"}
    yield from _alert(world, fields, _DECLINED, "")


# Limits for a day


def _day_limit(world: World, kind: str, factor: float, fallback: float = 0, opened: int = 0) -> Iterator[Draft]:
    """Yield drafts of a higher limit for a day, in parts of the present one.

    Args:
        world: The tables.
        kind: ``atm`` or ``purchase``.
        factor: What is asked for.
        fallback: What is asked for next.
        opened: The age of the account in days, if not that of the tables.
    """
    what = "ATM withdrawals" if kind == "atm" else "purchases"
    for user, account, card in world.each_debit_card():
        if "Light Green" in account["level"]:
            continue
        now = card[f"daily_{kind}_limit"]
        wanted = int(now * (fallback or factor))
        raise_it = hidden(
            "request_temporary_debit_card_limit_increase_8374",
            card_id=card["card_id"],
            limit_type=kind,
            new_limit=wanted,
        )
        tables = {"accounts": {account["account_id"]: {"date_opened": days_ago(opened)}}} if opened else {}
        second = f"Then raise the daily limit of your debit card for {what} to ${wanted} for today."
        yield Draft(
            user,
            reason=f"You want the daily limit of your debit card for {what} to be raised to ${int(now * factor)} for "
            "today.",
            fallback=second if fallback else "",
            calls=[*debit_cards(user, account), *([] if opened else raise_it)],
            documents=[_LIMIT, *_FINDING],
            tables=tables,
        )


@scenario(_LIMIT)
def more_cash_for_a_day(world: World) -> Iterator[Draft]:
    """A higher limit for withdrawals, within what is allowed."""
    yield from _day_limit(world, "atm", 1.4)


@scenario(_LIMIT, personas.BREEZY)
def too_much_for_a_day(world: World) -> Iterator[Draft]:
    """Twice the limit is too much; one and a half times is not."""
    yield from _day_limit(world, "purchase", 2, fallback=1.5)


@scenario(_LIMIT)
def higher_limit_of_a_young_account(world: World) -> Iterator[Draft]:
    """The account is too young for a higher limit."""
    yield from _day_limit(world, "atm", 1.2, opened=40)


DEBIT_LIMITS = (
    order_a_plain_card,
    order_a_card_in_a_hurry,
    order_a_pretty_card,
    order_without_enough_money,
    alert_of_the_customer,
    many_payments_in_a_row,
    alert_of_the_bank,
    more_cash_for_a_day,
    too_much_for_a_day,
    higher_limit_of_a_young_account,
)
