"""Scenarios about credit cards: replacing, closing and paying them, late fees, and reward points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import hidden, overview
from ..documents import stated
from ..products import CARD
from ..world import age, days_ago, money, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..calls import Call
    from ..world import Record, World

_REPLACING, _CLOSING = "credit_card_replacement", "credit_card_closing"
_PAYING, _COURTESY = "credit_card_payment", "late_fee_courtesy"


def _fees(card: Record) -> str:
    return f"card_{CARD[card['card_type']].key}_fees"


# Replacing


def _order(card: Record, user: Record, reason: str, *, expedited: bool) -> list[Call]:
    return [
        *hidden("get_pending_replacement_orders_5765", credit_card_account_id=card["account_id"]),
        *hidden(
            "order_replacement_credit_card_7291",
            credit_card_account_id=card["account_id"],
            user_id=user["user_id"],
            shipping_address=user["address"],
            reason=reason,
            expedited_shipping=expedited,
        ),
    ]


def _replacement(
    world: World, story: str, reason: str, *, express: bool | None, expedited: bool, fast: bool = False
) -> Iterator[Draft]:
    """Yield drafts of a replacement; ``express`` says whether the card has free express, None for either."""
    wish = "You want it as fast as possible." if fast else "There is no hurry, standard shipping is fine."
    for user, card in world.each_credit_card():
        if express is None or CARD[card["card_type"]].express is express:
            yield Draft(
                user,
                reason=f"{story} It is your {card['card_type']}. You need a new one.",
                details={"shipping": wish},
                calls=_order(card, user, reason, expedited=expedited),
                documents=[_REPLACING, _fees(card)],
            )


@scenario(_REPLACING)
def replace_a_lost_card(world: World) -> Iterator[Draft]:
    """A lost card; standard shipping."""
    yield from _replacement(world, "You lost your credit card in a park.", "lost", express=None, expedited=False)


@scenario(_REPLACING, personas.IMPATIENT)
def replace_a_stolen_card(world: World) -> Iterator[Draft]:
    """A stolen card always comes by express, though the card itself does not include that."""
    yield from _replacement(
        world, "Your credit card was stolen on a train.", "stolen", express=False, expedited=True, fast=True
    )


@scenario(_REPLACING)
def replace_a_damaged_card_by_express(world: World) -> Iterator[Draft]:
    """A card that includes express delivery; the customer wants it."""
    yield from _replacement(
        world, "Your credit card is damaged, the chip broke.", "damaged", express=True, expedited=True, fast=True
    )


@scenario(_REPLACING, personas.BRIEF)
def replace_a_damaged_card_without_express(world: World) -> Iterator[Draft]:
    """A card that does not include express delivery comes by standard shipping, whatever is wished."""
    yield from _replacement(
        world, "Your credit card is damaged, it bent in the heat.", "damaged", express=False, expedited=False, fast=True
    )


@scenario(_REPLACING)
def replacement_on_its_way(world: World) -> Iterator[Draft]:
    """A replacement was ordered before and has not arrived: there is no second one."""
    for user, card in world.each_credit_card():
        order_id = new_id("ccord_", "waiting", card["account_id"])
        order = {
            "order_id": order_id,
            "credit_card_account_id": card["account_id"],
            "user_id": user["user_id"],
            "shipping_address": user["address"],
            "reason": "lost",
            "expedited_shipping": False,
            "order_date": days_ago(4),
            "expected_delivery": days_ago(-6),
            "status": "SHIPPED",
        }
        yield Draft(
            user,
            reason=f"You lost your {card['card_type']}, the credit card, and need a new one.",
            details={"shipping": "There is no hurry, standard shipping is fine."},
            instructions="You forgot that you ordered one a few days ago.",
            calls=hidden("get_pending_replacement_orders_5765", credit_card_account_id=card["account_id"]),
            documents=[_REPLACING],
            tables={"credit_card_orders": {order_id: order}},
        )


# Closing


def _log(card: Record, user: Record, reason: str) -> list[Call]:
    return hidden(
        "log_credit_card_closure_reason_4521",
        closure_reason=reason,
        credit_card_account_id=card["account_id"],
        user_id=user["user_id"],
    )


def _close(card: Record, user: Record) -> list[Call]:
    return hidden("close_credit_card_account_7834", credit_card_account_id=card["account_id"], user_id=user["user_id"])


def _with_balance(card: Record, balance: str) -> dict[str, dict[str, Record]]:
    return {"credit_card_accounts": {card["account_id"]: {"current_balance": balance}}}


@scenario(_CLOSING)
def close_an_unused_card(world: World) -> Iterator[Draft]:
    """A card without balance that is not used."""
    for user, card in world.each_credit_card():
        yield Draft(
            user,
            reason=f"You want to close your {card['card_type']}, the credit card.",
            details={"reason": "You are not using the card."},
            calls=[*_log(card, user, "not_using_card"), *_close(card, user)],
            documents=[_CLOSING],
            tables=_with_balance(card, "$0.00"),
        )


@scenario("annual_fee_waiver", personas.CAREFUL)
def stay_without_annual_fee(world: World) -> Iterator[Draft]:
    """A customer of long standing who leaves because of the annual fee stays when it is waived."""
    for user, card in world.each_credit_card():
        if CARD[card["card_type"]].annual_fee and age(card["date_of_account_open"]) > 760:
            yield Draft(
                user,
                reason=f"You want to close your {card['card_type']}, the credit card.",
                details={"reason": "The annual fee is too high for you."},
                instructions="If a year without annual fee is offered, take it and keep the card.",
                calls=[
                    *_log(card, user, "annual_fee"),
                    *hidden(
                        "apply_credit_card_account_flag_6147",
                        credit_card_account_id=card["account_id"],
                        user_id=user["user_id"],
                        flag_type="annual_fee_waived",
                        expiration_date=stated("annual_fee_waiver", "Offers of 2025 expire on"),
                        reason="retention_offer",
                    ),
                ],
                documents=[_CLOSING, "annual_fee_waiver"],
                tables=_with_balance(card, "$0.00"),
            )


@scenario("annual_fee_waiver", personas.IMPATIENT)
def no_waiver_for_a_new_customer(world: World) -> Iterator[Draft]:
    """The annual fee is the reason, but the card is too new for the offer: it is closed."""
    for user, card in world.each_credit_card():
        if CARD[card["card_type"]].annual_fee and age(card["date_of_account_open"]) < 700:
            yield Draft(
                user,
                reason=f"You want to close your {card['card_type']}, the credit card.",
                details={"reason": "The annual fee is too high for you."},
                calls=[*_log(card, user, "annual_fee"), *_close(card, user)],
                documents=[_CLOSING, "annual_fee_waiver"],
                tables=_with_balance(card, "$0.00"),
            )


@scenario(_CLOSING)
def pay_and_close_a_card(world: World) -> Iterator[Draft]:
    """A card with a balance is paid from the checking account, and closed then."""
    for user, card in world.each_credit_card():
        checking = world.accounts(user, "checking")
        if len(checking) == 1 and 10 < money(card["current_balance"]) < float(checking[0]["current_holdings"]):
            yield Draft(
                user,
                reason=f"You want to pay the whole balance of your {card['card_type']}, the credit card, from your "
                "checking account.",
                then=[
                    (
                        f"Now you want to close your {card['card_type']}, the credit card.",
                        {"reason": "You want to simplify your finances."},
                    )
                ],
                calls=[
                    *overview(user),
                    *_pay(user, checking[0], card, money(card["current_balance"])),
                    *_log(card, user, "simplifying_finances"),
                    *_close(card, user),
                ],
                documents=["account_overview", _PAYING, _CLOSING],
            )


# Paying


def _pay(user: Record, account: Record, card: Record, amount: float) -> list[Call]:
    return hidden(
        "pay_credit_card_from_checking_9182",
        user_id=user["user_id"],
        checking_account_id=account["account_id"],
        credit_card_account_id=card["account_id"],
        amount=amount,
    )


def _payers(world: World) -> Iterator[tuple[Record, Record, Record]]:
    for user, card in world.each_credit_card():
        checking = world.accounts(user, "checking")
        if len(checking) == 1 and 120 < money(card["current_balance"]) < float(checking[0]["current_holdings"]):
            yield user, checking[0], card


@scenario(_PAYING)
def pay_a_part(world: World) -> Iterator[Draft]:
    """A part of the balance, named in dollars."""
    for user, account, card in _payers(world):
        yield Draft(
            user,
            reason=f"You want to pay $95 to your {card['card_type']}, the credit card, from your checking account.",
            calls=[*overview(user), *_pay(user, account, card, 95)],
            documents=["account_overview", _PAYING],
        )


@scenario(_PAYING, personas.BREEZY)
def pay_the_whole_balance(world: World) -> Iterator[Draft]:
    """The whole balance, which the customer does not know."""
    for user, account, card in _payers(world):
        yield Draft(
            user,
            reason=f"You want to pay the whole balance of your {card['card_type']}, the credit card, from your "
            "checking account.",
            calls=[*overview(user), *_pay(user, account, card, money(card["current_balance"]))],
            documents=["account_overview", _PAYING],
        )


@scenario(_PAYING)
def pay_more_than_is_owed(world: World) -> Iterator[Draft]:
    """More than the balance cannot be paid; the customer then pays the balance."""
    for user, account, card in _payers(world):
        more = int(money(card["current_balance"])) + 250
        if more < float(account["current_holdings"]):
            yield Draft(
                user,
                reason=f"You want to pay ${more:,} to your {card['card_type']}, the credit card, from your checking "
                "account.",
                fallback=f"Then pay the whole balance of your {card['card_type']}, the credit card, from your "
                "checking account.",
                calls=[*overview(user), *_pay(user, account, card, money(card["current_balance"]))],
                documents=["account_overview", _PAYING],
            )


# Late fees


def _payment(card: Record, month: int, status: str) -> dict[str, Record]:
    payment_id = f"pay_{card['account_id'].removeprefix('cc_')}_2025{month:02d}"
    return {payment_id: {"status": status}}


def _late_fee(world: World, late: tuple[int, ...]) -> Iterator[tuple[Record, Record, dict[str, dict[str, Record]]]]:
    """Yield customers whose card had late payments in these months, with the records that say so."""
    for user, card in world.each_credit_card():
        payments = {key: value for month in late for key, value in _payment(card, month, "LATE").items()}
        yield user, card, {"payment_history": payments}


def _history(card: Record) -> list[Call]:
    return hidden("get_payment_history_6183", credit_card_account_id=card["account_id"], months=12)


@scenario(_COURTESY)
def late_fee_taken_back(world: World) -> Iterator[Draft]:
    """The first late payment after many on time; the amount is that of the card's document."""
    for user, card, tables in _late_fee(world, (10,)):
        fee = CARD[card["card_type"]].late_fee
        yield Draft(
            user,
            reason=f"You were charged a late fee on your {card['card_type']}, the credit card, and want it back.",
            known="You think that it was about $25.",
            calls=[
                *_history(card),
                *hidden(
                    "apply_statement_credit_8472",
                    user_id=user["user_id"],
                    credit_card_account_id=card["account_id"],
                    amount=fee,
                    reason="late_fee_reversal",
                ),
            ],
            documents=[_COURTESY, _fees(card)],
            tables=tables,
        )


@scenario(_COURTESY, personas.IMPATIENT)
def late_fee_after_late_payments(world: World) -> Iterator[Draft]:
    """Too few payments on time before the late one; by the outdated document that would not have mattered."""
    for user, card, tables in _late_fee(world, (10, 7)):
        yield Draft(
            user,
            reason=f"You were charged a late fee on your {card['card_type']}, the credit card, and want it back.",
            calls=_history(card),
            documents=[_COURTESY],
            tables=tables,
        )


@scenario(_COURTESY)
def second_late_fee_in_a_year(world: World) -> Iterator[Draft]:
    """There was such a courtesy some months ago; by the outdated document that would be long enough."""
    for user, card, tables in _late_fee(world, (10,)):
        transaction_id = new_id("txn_", "courtesy", card["account_id"])
        credit = {
            "transaction_id": transaction_id,
            "user_id": user["user_id"],
            "credit_card_account_id": card["account_id"],
            "credit_card_type": "N/A",
            "merchant_name": "Rho-Bank Statement Credit",
            "transaction_amount": f"-${CARD[card['card_type']].late_fee:.2f}",
            "transaction_date": days_ago(150),
            "category": "Statement Credit",
            "status": "COMPLETED",
            "rewards_earned": "0 points",
            "credit_reason": "late_fee_reversal",
        }
        yield Draft(
            user,
            reason=f"You were charged a late fee on your {card['card_type']}, the credit card, and want it back.",
            calls=_history(card),
            documents=[_COURTESY],
            tables={**tables, "credit_card_transaction_history": {transaction_id: credit}},
        )


@scenario("statement_credits", personas.BREEZY)
def credit_for_a_long_wait(world: World) -> Iterator[Draft]:
    """Goodwill is not paid as money."""
    for user, card in world.each_credit_card():
        yield Draft(
            user,
            reason=f"You waited an hour on the phone and want a goodwill credit of $20 on your {card['card_type']}, "
            "the credit card.",
            calls=[],
            documents=["statement_credits"],
        )


CARDS = (
    replace_a_lost_card,
    replace_a_stolen_card,
    replace_a_damaged_card_by_express,
    replace_a_damaged_card_without_express,
    replacement_on_its_way,
    close_an_unused_card,
    stay_without_annual_fee,
    no_waiver_for_a_new_customer,
    pay_and_close_a_card,
    pay_a_part,
    pay_the_whole_balance,
    pay_more_than_is_owed,
    late_fee_taken_back,
    late_fee_after_late_payments,
    second_late_fee_in_a_year,
    credit_for_a_long_wait,
)
