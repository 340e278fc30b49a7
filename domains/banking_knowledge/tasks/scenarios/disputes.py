"""Scenarios about disputed transactions and missing points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import debit_cards, given, hidden
from ..products import CARD
from ..world import age, days_ago, money, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..calls import Call
    from ..world import Record, World

PROVISIONAL_FROM, PROVISIONAL_AGE = 80, 120
_CREDIT, _DEBIT, _POINTS = "credit_card_dispute", "debit_card_dispute", "wrong_reward_points"


def _purchases(world: World, least: float = 40) -> Iterator[tuple[Record, Record, Record]]:
    """Yield customers with a single card, and a purchase that its merchant and amount tell from the others."""
    for user, card in world.each_credit_card():
        for purchase in world.purchases(card):
            if money(purchase["transaction_amount"]) > least and age(purchase["transaction_date"]) > 5:
                yield user, card, purchase


def _noticed(purchase: Record) -> str:
    return days_ago(age(purchase["transaction_date"]) - 2)


def _filed(
    user: Record, card: Record, purchase: Record, digits: str, reason: str, partial: float | None = None
) -> list[Call]:
    fraud = reason == "unauthorized_fraudulent_charge"
    provisional = (
        money(purchase["transaction_amount"]) >= PROVISIONAL_FROM
        and age(card["date_of_account_open"]) >= PROVISIONAL_AGE
    )
    return hidden(
        "file_credit_card_transaction_dispute_4829",
        address=user["address"],
        card_action="cancel_and_reissue" if fraud else "keep_active",
        card_last_4_digits=digits,
        contacted_merchant=not fraud,
        dispute_reason=reason,
        eligible_for_provisional_credit=provisional,
        email=user["email"],
        full_name=user["name"],
        issue_noticed_date=_noticed(purchase),
        phone=user["phone_number"],
        purchase_date=purchase["transaction_date"],
        resolution_requested="partial_refund" if partial else "full_refund",
        transaction_id=purchase["transaction_id"],
        user_id=user["user_id"],
        **({"partial_refund_amount": partial} if partial else {}),
    )


def _details(purchase: Record, digits: str, contacted: str, refund: str = "You want a full refund.") -> dict[str, str]:
    return {
        "last four/4 digits": f"The last four digits of the card are {digits}.",
        "notice/noticed": f"You noticed it on {_noticed(purchase)}.",
        "merchant/seller": contacted,
        "refund": refund,
    }


def _digits(card: Record) -> str:
    """Return what the customer reads from the card."""
    return f"{int(new_id('', 'digits', card['account_id'], length=6), 16) % 9000 + 1000}"


@scenario(_CREDIT)
def dispute_a_double_charge(world: World) -> Iterator[Draft]:
    """A double charge, large enough for a provisional credit."""
    for user, card, purchase in _purchases(world, PROVISIONAL_FROM):
        digits = _digits(card)
        yield Draft(
            user,
            reason=f"You want to dispute a charge of {purchase['transaction_amount']} by {purchase['merchant_name']} "
            f"on your {card['card_type']}. It was charged twice.",
            details=_details(purchase, digits, "You contacted the merchant, without success."),
            calls=_filed(user, card, purchase, digits, "duplicate_charge"),
            documents=[_CREDIT],
        )


@scenario(_CREDIT, personas.BRIEF)
def dispute_a_small_charge(world: World) -> Iterator[Draft]:
    """Goods that never came; the amount is too small for a provisional credit, which the outdated document gives."""
    for user, card, purchase in _purchases(world, 20):
        if money(purchase["transaction_amount"]) < PROVISIONAL_FROM:
            digits = _digits(card)
            yield Draft(
                user,
                reason=f"You want to dispute a charge of {purchase['transaction_amount']} by "
                f"{purchase['merchant_name']} on your {card['card_type']}. The goods were not received.",
                details=_details(purchase, digits, "You contacted the merchant, without success."),
                calls=_filed(user, card, purchase, digits, "goods_services_not_received"),
                documents=[_CREDIT],
            )


@scenario(_CREDIT)
def dispute_for_a_partial_refund(world: World) -> Iterator[Draft]:
    """Goods that were not as described; the customer wants a part back."""
    for user, card, purchase in _purchases(world, 120):
        digits = _digits(card)
        yield Draft(
            user,
            reason=f"You want to dispute a charge of {purchase['transaction_amount']} by {purchase['merchant_name']} "
            f"on your {card['card_type']}. The goods were not as described.",
            details=_details(
                purchase,
                digits,
                "You contacted the merchant, without success.",
                "You want a partial refund of $45.50.",
            ),
            calls=_filed(user, card, purchase, digits, "goods_services_not_as_described", 45.5),
            documents=[_CREDIT],
        )


@scenario(_CREDIT, personas.IMPATIENT)
def dispute_a_stranger_s_charge(world: World) -> Iterator[Draft]:
    """A charge by somebody else: a dispute, and a new card by express."""
    for user, card, purchase in _purchases(world, PROVISIONAL_FROM):
        digits = _digits(card)
        yield Draft(
            user,
            reason=f"You want to dispute a charge of {purchase['transaction_amount']} by {purchase['merchant_name']} "
            f"on your {card['card_type']}. It was not you, it is fraud.",
            details=_details(purchase, digits, "You did not contact the merchant, as you do not know it."),
            instructions="Agree to a new card when the agent says that the old one has to be replaced.",
            calls=[
                *_filed(user, card, purchase, digits, "unauthorized_fraudulent_charge"),
                *hidden("get_pending_replacement_orders_5765", credit_card_account_id=card["account_id"]),
                *hidden(
                    "order_replacement_credit_card_7291",
                    credit_card_account_id=card["account_id"],
                    user_id=user["user_id"],
                    shipping_address=user["address"],
                    reason="fraud_suspected",
                    expedited_shipping=True,
                ),
            ],
            documents=[_CREDIT, "credit_card_replacement"],
        )


@scenario(_CREDIT)
def dispute_an_old_charge(world: World) -> Iterator[Draft]:
    """The purchase is too old; by the outdated document it would not be."""
    for user, card, purchase in _purchases(world, PROVISIONAL_FROM):
        digits = _digits(card)
        yield Draft(
            user,
            reason=f"You want to dispute a charge of {purchase['transaction_amount']} by {purchase['merchant_name']} "
            f"on your {card['card_type']}. The amount is wrong.",
            details={
                **_details(purchase, digits, "You contacted the merchant, without success."),
                "notice/noticed": "You noticed it on 11/10/2025.",
            },
            calls=[],
            documents=[_CREDIT],
            tables={
                "credit_card_transaction_history": {purchase["transaction_id"]: {"transaction_date": days_ago(110)}}
            },
        )


@scenario(_CREDIT, personas.NEW_HERE)
def dispute_before_asking_the_merchant(world: World) -> Iterator[Draft]:
    """The merchant has not been contacted, which comes first."""
    for user, card, purchase in _purchases(world, PROVISIONAL_FROM):
        digits = _digits(card)
        yield Draft(
            user,
            reason=f"You want to dispute a charge of {purchase['transaction_amount']} by {purchase['merchant_name']} "
            f"on your {card['card_type']}. The refund was never processed.",
            details=_details(purchase, digits, "You did not contact the merchant yet."),
            calls=[],
            documents=[_CREDIT],
        )


# Debit cards


def _filed_debit(
    user: Record, account: Record, card: Record, record: Record, category: str, discovered: int, limit: float
) -> list[Call]:
    fraud = category == "card_not_present_fraud"
    return hidden(
        "file_debit_card_transaction_dispute_6281",
        account_id=account["account_id"],
        card_action="freeze_pending_investigation" if fraud else "keep_active",
        card_id=card["card_id"],
        card_in_possession=True,
        contacted_merchant=not fraud,
        customer_max_liability_amount=limit,
        discovery_date=days_ago(discovered),
        dispute_category=category,
        disputed_amount=-record["amount"],
        pin_compromised="no",
        police_report_filed=False,
        provisional_credit_eligible=True,
        transaction_date=record["date"],
        transaction_id=record["transaction_id"],
        transaction_type="online_purchase",
        user_id=user["user_id"],
        written_statement_provided=True,
    )


def _debit_dispute(world: World, category: str, story: str, gap: int, limit: float) -> Iterator[Draft]:
    """Yield drafts about an online purchase with a debit card, discovered so many days after it."""
    fraud = category == "card_not_present_fraud"
    for user, account, card in world.each_debit_card():
        record = {
            "transaction_id": new_id("btxn_", category, gap, account["account_id"]),
            "account_id": account["account_id"],
            "date": days_ago(gap + 3),
            "description": "MOONRISE GADGETS ONLINE - DEBIT CARD",
            "amount": -164.2,
            "type": "debit_card_purchase",
            "status": "posted",
        }
        freeze = hidden("freeze_debit_card_3892", card_id=card["card_id"]) if fraud else []
        contacted = "You did not contact the merchant." if fraud else "You contacted the merchant, without success."
        yield Draft(
            user,
            reason="You want to dispute an online purchase of $164.20 by Moonrise Gadgets with your debit card. "
            f"{story}",
            details={
                "discover/discovered/notice/noticed": f"You discovered it on {days_ago(3)}.",
                "possession/hand/hands": "The card is in your possession.",
                "pin": "Nobody knows your PIN.",
                "merchant/seller": contacted,
                "police": "There is no police report.",
                "written statement": "There is a written statement, which you sent by the app.",
            },
            calls=[
                *debit_cards(user, account),
                *hidden("get_bank_account_transactions_9173", account_id=account["account_id"]),
                *_filed_debit(user, account, card, record, category, 3, limit),
                *freeze,
            ],
            documents=[_DEBIT, "account_overview", *(["debit_card_freeze"] if fraud else [])],
            tables={"bank_account_transaction_history": {record["transaction_id"]: record}},
        )


@scenario(_DEBIT)
def debit_fraud_discovered_early(world: World) -> Iterator[Draft]:
    """Fraud with the card in hand, discovered within two days: the small liability, and a frozen card."""
    yield from _debit_dispute(world, "card_not_present_fraud", "It was not you, it is fraud.", 2, 50)


@scenario(_DEBIT, personas.CAREFUL)
def debit_fraud_discovered_late(world: World) -> Iterator[Draft]:
    """Discovered after two days: the liability of up to $500, which is more than the amount."""
    yield from _debit_dispute(world, "card_not_present_fraud", "It was not you, it is fraud.", 20, 164.2)


@scenario(_DEBIT, personas.BRIEF)
def debit_charged_twice(world: World) -> Iterator[Draft]:
    """No fraud: no liability, and the card stays as it is."""
    yield from _debit_dispute(world, "duplicate_charge", "It was charged twice.", 5, 0)


# Points


def _points(
    world: World, *, wrong: bool, resolved: bool
) -> Iterator[tuple[Record, Record, Record, dict[str, dict[str, Record]]]]:
    """Yield purchases with special points, and the records that make them wrong and settle how disputes go."""
    for user, card, purchase in _purchases(world):
        product = CARD[card["card_type"]]
        if purchase["category"] in product.special or (not product.special and product.points != 1):
            tables: dict[str, dict[str, Record]] = {
                "task_config": {"dispute_settings": {"auto_resolve_disputes": resolved}}
            }
            if wrong:
                fewer = int(money(purchase["transaction_amount"])) // 2
                tables["credit_card_transaction_history"] = {
                    purchase["transaction_id"]: {"rewards_earned": f"{fewer} points"}
                }
            yield user, card, purchase, tables


def _claim(card: Record, purchase: Record) -> str:
    return (
        f"You believe that the reward points for {purchase['transaction_amount']} at {purchase['merchant_name']} with "
        f"your {card['card_type']} are wrong, and want them corrected."
    )


def _dispute(user: Record, purchase: Record) -> list[Call]:
    return given("submit_cash_back_dispute_0589", user_id=user["user_id"], transaction_id=purchase["transaction_id"])


@scenario(_POINTS)
def points_corrected(world: World) -> Iterator[Draft]:
    """Too few points: the customer's dispute is approved at once, and the points are corrected."""
    for user, card, purchase, tables in _points(world, wrong=True, resolved=True):
        product = CARD[card["card_type"]]
        points = product.points_for(money(purchase["transaction_amount"]), purchase["category"])
        yield Draft(
            user,
            reason=_claim(card, purchase),
            calls=[
                *_dispute(user, purchase),
                *hidden(
                    "update_transaction_rewards_3847",
                    transaction_id=purchase["transaction_id"],
                    new_rewards_earned=f"{points} points",
                ),
            ],
            documents=[_POINTS, f"card_{product.key}_rewards"],
            tables=tables,
        )


@scenario(_POINTS, personas.BREEZY)
def points_under_review(world: World) -> Iterator[Draft]:
    """Too few points: the customer's dispute waits for a colleague, and nothing is corrected."""
    for user, card, purchase, tables in _points(world, wrong=True, resolved=False):
        yield Draft(
            user,
            reason=_claim(card, purchase),
            calls=_dispute(user, purchase),
            documents=[_POINTS, f"card_{CARD[card['card_type']].key}_rewards"],
            tables=tables,
        )


@scenario(_POINTS, personas.IMPATIENT)
def points_that_are_right(world: World) -> Iterator[Draft]:
    """The points are right: no tool is given."""
    for user, card, purchase, _ in _points(world, wrong=False, resolved=True):
        yield Draft(
            user,
            reason=_claim(card, purchase),
            calls=[],
            documents=[_POINTS, f"card_{CARD[card['card_type']].key}_rewards"],
        )


DISPUTES = (
    dispute_a_double_charge,
    dispute_a_small_charge,
    dispute_for_a_partial_refund,
    dispute_a_stranger_s_charge,
    dispute_an_old_charge,
    dispute_before_asking_the_merchant,
    debit_fraud_discovered_early,
    debit_fraud_discovered_late,
    debit_charged_twice,
    points_corrected,
    points_under_review,
    points_that_are_right,
)
