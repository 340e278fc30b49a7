"""Scenarios about credit limits: the conditions are in two documents, and an outdated one is more generous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import personas
from ..builder import Draft, scenario
from ..calls import hidden
from ..products import CARD
from ..world import days_ago, money, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..calls import Call
    from ..world import Record, Tables, World

_RULE = "credit_limit_increase"


def _increase(
    world: World,
    amount: int,
    decision: str,
    card_changes: dict[str, Any] | None = None,
    more: Tables | None = None,
    *,
    largest: bool = False,
) -> Iterator[Draft]:
    """Yield drafts of a request for an increase.

    Args:
        world: The tables.
        amount: In USD; what the largest increase of the card is added to, if ``largest``.
        decision: The reason of a denial, or ``approve``.
        card_changes: Fields of the card that differ from the tables.
        more: Further records; ``{card}`` in their keys and values is the card's id.
        largest: Whether the amount is relative to the largest increase of the card.
    """
    for user, card in world.each_credit_card():
        wanted = amount + (CARD[card["card_type"]].largest_increase if largest else 0)
        if wanted > CARD[card["card_type"]].largest_increase and not largest:
            continue
        account_id = card["account_id"]
        tables = _filled(more or {}, account_id, user["user_id"])
        if card_changes:
            tables = {**tables, "credit_card_accounts": {account_id: card_changes}}
        yield Draft(
            user,
            reason=f"You want the limit of your {card['card_type']} to be raised by ${wanted:,}.",
            details={"amount": f"It should be ${wanted:,} more than now."},
            calls=_decided({**card, **(card_changes or {})}, user, wanted, decision),
            documents=[_RULE, f"card_{CARD[card['card_type']].key}_credit_line"],
            tables=tables,
        )


def _decided(card: Record, user: Record, amount: int, decision: str) -> list[Call]:
    account_id, user_id = card["account_id"], user["user_id"]
    of_card = {"credit_card_account_id": account_id}
    calls = [
        *hidden("get_credit_limit_increase_history_4829", **of_card),
        *hidden("get_payment_history_6183", **of_card, months=6),
        *hidden(
            "submit_credit_limit_increase_request_7392",
            **of_card,
            user_id=user_id,
            requested_increase_amount=amount,
        ),
    ]
    if decision == "approve":
        new_limit = int(money(card["credit_limit"])) + amount
        return calls + hidden(
            "approve_credit_limit_increase_5847",
            credit_card_account_id=account_id,
            user_id=user_id,
            new_credit_limit=new_limit,
        )
    return calls + hidden(
        "deny_credit_limit_increase_5848",
        credit_card_account_id=account_id,
        user_id=user_id,
        denial_reason=decision,
    )


def _filled(tables: Tables, account_id: str, user_id: str) -> dict[str, dict[str, Record]]:
    def fill(value: Any) -> Any:
        return value.replace("{card}", account_id).replace("{user}", user_id) if isinstance(value, str) else value

    return {
        name: {fill(key): {part: fill(value) for part, value in record.items()} for key, record in records.items()}
        for name, records in tables.items()
    }


def _earlier_request(days: int) -> Tables:
    record = {
        "request_id": new_id("cli_", "earlier", days),
        "credit_card_account_id": "{card}",
        "user_id": "{user}",
        "denial_reason": "high_utilization",
        "decision_date": days_ago(days),
        "status": "DENIED",
    }
    return {"credit_limit_increase_requests": {record["request_id"]: record}}


def _late(month: int) -> Tables:
    payment_id = f"pay_{{card}}_late{month:02d}"
    record = {
        "payment_id": payment_id,
        "credit_card_account_id": "{card}",
        "user_id": "{user}",
        "payment_date": f"{month:02d}/28/2025",
        "amount": "$60.00",
        "status": "LATE",
    }
    return {"payment_history": {payment_id: record}}


@scenario(_RULE)
def limit_raised(world: World) -> Iterator[Draft]:
    """All conditions are met, and the increase is below the largest one."""
    yield from _increase(world, 600, "approve")


@scenario(_RULE, personas.CAREFUL)
def limit_raised_by_the_most(world: World) -> Iterator[Draft]:
    """The increase is exactly the largest one of the card."""
    yield from _increase(world, 0, "approve", largest=True)


@scenario(_RULE, personas.BRIEF)
def limit_raised_after_an_old_denial(world: World) -> Iterator[Draft]:
    """An earlier request was denied longer ago than the waiting time."""
    yield from _increase(world, 500, "approve", more=_earlier_request(200))


@scenario(_RULE, personas.NEW_HERE)
def limit_of_a_young_card(world: World) -> Iterator[Draft]:
    """The card is older than the outdated document asks for, and too young for the present one."""
    yield from _increase(world, 500, "insufficient_account_age", {"date_of_account_open": days_ago(95)})


@scenario(_RULE)
def limit_soon_after_a_denial(world: World) -> Iterator[Draft]:
    """An earlier request was denied within the waiting time; by the outdated document it would have passed."""
    yield from _increase(world, 500, "cooldown_period_active", more=_earlier_request(70))


@scenario(_RULE, personas.IMPATIENT)
def limit_with_a_past_due_balance(world: World) -> Iterator[Draft]:
    """Something is past due."""
    yield from _increase(world, 500, "past_due_balance", {"account_status": "PAST_DUE", "past_due_amount": "$48.00"})


@scenario(_RULE, personas.BREEZY)
def limit_of_a_card_in_heavy_use(world: World) -> Iterator[Draft]:
    """More than the allowed part of the limit is in use."""
    yield from _increase(world, 500, "high_utilization", {"current_balance": "$2,700.00", "credit_limit": "$5,000.00"})


@scenario(_RULE)
def limit_after_a_late_payment(world: World) -> Iterator[Draft]:
    """A late payment interrupts the payments on time."""
    yield from _increase(world, 500, "insufficient_payment_history", more=_late(9))


@scenario(_RULE, personas.BRIEF)
def limit_above_the_largest_increase(world: World) -> Iterator[Draft]:
    """The increase is larger than the document of the card allows."""
    yield from _increase(world, 500, "requested_amount_exceeds_limit", largest=True)


LIMITS = (
    limit_raised,
    limit_raised_by_the_most,
    limit_raised_after_an_old_denial,
    limit_of_a_young_card,
    limit_soon_after_a_denial,
    limit_with_a_past_due_balance,
    limit_of_a_card_in_heavy_use,
    limit_after_a_late_payment,
    limit_above_the_largest_increase,
)
