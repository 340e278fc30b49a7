"""Scenarios about credit cards: replacing, closing and paying them, late fees, and reward points."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...._kit.cases import let, where
from ..calls import OVERVIEW, PENDING_ORDERS, hidden
from ..documents import stated
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT
from ..templates import scenario
from ..world import days_ago, money, new_id
from .cases import CREDIT_CARD, age_of

if TYPE_CHECKING:
    from ...._kit.cases import Case

_CARD = "your {card[card_type]}, the credit card"
_FEES = "card_{product.key}_fees"
_CLOSING, _PAYING, _COURTESY = "credit_card_closing", "credit_card_payment", "late_fee_courtesy"
_STANDARD, _FAST = "There is no hurry, standard shipping is fine.", "You want it as fast as possible."

# Replacing: ``included`` says whether the card has free express, None for either

_replace = partial(
    scenario,
    cases=(*CREDIT_CARD, where(lambda c: c.included in (None, c.product.express))),
    reason="{story} It is your {card[card_type]}. You need a new one.",
    details={"shipping": "{wish}"},
    calls=(
        PENDING_ORDERS,
        hidden("order_replacement_credit_card_7291", reason="{why}", expedited_shipping="{express}"),
    ),
    documents=("credit_card_replacement", _FEES),
)
_REPLACING = (
    _replace("replace-a-lost-card", "A lost card; standard shipping.",
             story="You lost your credit card in a park.", why="lost", wish=_STANDARD, included=None, express=False),
    _replace("replace-a-stolen-card",
             "A stolen card always comes by express, though the card itself does not include that.", IMPATIENT,
             story="Your credit card was stolen on a train.", why="stolen", wish=_FAST, included=False, express=True),
    _replace("replace-a-damaged-card-by-express", "A card that includes express delivery; the customer wants it.",
             story="Your credit card is damaged, the chip broke.", why="damaged", wish=_FAST,
             included=True, express=True),
    _replace("replace-a-damaged-card-without-express",
             "A card that does not include express delivery comes by standard shipping, whatever is wished.", BRIEF,
             story="Your credit card is damaged, it bent in the heat.", why="damaged", wish=_FAST,
             included=False, express=False),
    scenario(
        "replacement-on-its-way", "A replacement was ordered before and has not arrived: there is no second one.",
        cases=(*CREDIT_CARD, let(order=lambda c: new_id("ccord_", "waiting", c.card["account_id"]))),
        reason="You lost your {card[card_type]}, the credit card, and need a new one.",
        details={"shipping": _STANDARD},
        instructions="You forgot that you ordered one a few days ago.",
        calls=(PENDING_ORDERS,),
        documents=("credit_card_replacement",),
        tables={"credit_card_orders": {"{order}": {
            "order_id": "{order}",
            "credit_card_account_id": "{card[account_id]}",
            "user_id": "{user[user_id]}",
            "shipping_address": "{user[address]}",
            "reason": "lost",
            "expedited_shipping": False,
            "order_date": days_ago(4),
            "expected_delivery": days_ago(-6),
            "status": "SHIPPED",
        }}},
    ),
)  # fmt: skip

# Closing, and paying

_LOG = hidden("log_credit_card_closure_reason_4521", closure_reason="{why}")
_CLOSE = hidden("close_credit_card_account_7834")
_WAIVE = hidden(
    "apply_credit_card_account_flag_6147",
    flag_type="annual_fee_waived",
    expiration_date=lambda _: stated("annual_fee_waiver", "Offers of 2025 expire on"),
    reason="retention_offer",
)
_pay = partial(hidden, "pay_credit_card_from_checking_9182")
_BALANCE = f"the whole balance of {_CARD}, from your checking account."
#: Cards with a balance that the customer's only checking account can pay.
_PAYABLE = (
    *CREDIT_CARD,
    let(checking=lambda c: c.world.accounts(c.user, "checking")),
    where(lambda c: len(c.checking) == 1),
    let(account=lambda c: c.checking[0], balance=lambda c: money(c.card["current_balance"])),
    let(holdings=lambda c: float(c.account["current_holdings"])),
    where(lambda c: 10 < c.balance < c.holdings),
)
_close = partial(
    scenario,
    cases=CREDIT_CARD,
    reason=f"You want to close {_CARD}.",
    tables={"credit_card_accounts": {"{card[account_id]}": {"current_balance": "$0.00"}}},
)
_close_for_the_fee = partial(
    _close,
    rule="annual_fee_waiver",
    details={"reason": "The annual fee is too high for you."},
    documents=(_CLOSING, "annual_fee_waiver"),
    why="annual_fee",
)
_pay_from_checking = partial(
    scenario,
    cases=(*_PAYABLE, where(lambda c: c.balance > 120)),
    calls=(OVERVIEW, _pay(amount="{balance}")),
    documents=("account_overview", _PAYING),
    rule=_PAYING,
)
_CLOSING_AND_PAYING = (
    _close("close-an-unused-card", "A card without balance that is not used.",
           details={"reason": "You are not using the card."}, why="not_using_card", calls=(_LOG, _CLOSE),
           documents=(_CLOSING,)),
    _close_for_the_fee(
        "stay-without-annual-fee",
        "A customer of long standing who leaves because of the annual fee stays when it is waived.", CAREFUL,
        cases=(*CREDIT_CARD, where(lambda c: c.product.annual_fee and age_of(c.card) > 760)),
        instructions="If a year without annual fee is offered, take it and keep the card.", calls=(_LOG, _WAIVE)),
    _close_for_the_fee(
        "no-waiver-for-a-new-customer",
        "The annual fee is the reason, but the card is too new for the offer: it is closed.", IMPATIENT,
        cases=(*CREDIT_CARD, where(lambda c: c.product.annual_fee and age_of(c.card) < 700)), calls=(_LOG, _CLOSE)),
    scenario("pay-and-close-a-card", "A card with a balance is paid from the checking account, and closed then.",
             cases=_PAYABLE,
             reason=f"You want to pay {_BALANCE}",
             then=[(f"Now you want to close {_CARD}.", {"reason": "You want to simplify your finances."})],
             calls=(OVERVIEW, _pay(amount="{balance}"), _LOG, _CLOSE), why="simplifying_finances",
             documents=("account_overview", _PAYING, _CLOSING), rule=_CLOSING),
    _pay_from_checking("pay-a-part", "A part of the balance, named in dollars.",
                       reason=f"You want to pay $95 to {_CARD}, from your checking account.",
                       calls=(OVERVIEW, _pay(amount=95))),
    _pay_from_checking("pay-the-whole-balance", "The whole balance, which the customer does not know.", BREEZY,
                       reason=f"You want to pay {_BALANCE}"),
    _pay_from_checking("pay-more-than-is-owed", "More than the balance cannot be paid; the customer then pays the "
                       "balance.",
                       cases=(*_PAYABLE, let(more=lambda c: int(c.balance) + 250),
                              where(lambda c: c.balance > 120 and c.more < c.holdings)),
                       reason=f"You want to pay ${{more:,}} to {_CARD}, from your checking account.",
                       fallback=f"Then pay {_BALANCE}"),
)  # fmt: skip

# Late fees, and other money that customers want back


def _late_payments(case: Case) -> dict[str, dict[str, str]]:
    card = case.card["account_id"].removeprefix("cc_")
    return {f"pay_{card}_2025{month:02d}": {"status": "LATE"} for month in case.late}


_late_fee = partial(
    scenario,
    cases=CREDIT_CARD,
    late=(10,),
    reason=f"You were charged a late fee on {_CARD}, and want it back.",
    calls=(hidden("get_payment_history_6183", months=12),),
    documents=(_COURTESY,),
    tables={"payment_history": _late_payments},
)
_CREDITS = (
    _late_fee("late-fee-taken-back",
              "The first late payment after many on time; the amount is that of the card's document.",
              known="You think that it was about $25.",
              calls=(hidden("get_payment_history_6183", months=12),
                     hidden("apply_statement_credit_8472", amount="{product.late_fee}", reason="late_fee_reversal")),
              documents=(_COURTESY, _FEES)),
    _late_fee("late-fee-after-late-payments", "Too few payments on time before the late one; by the outdated document "
              "that would not have mattered.", IMPATIENT, late=(10, 7)),
    _late_fee(
        "second-late-fee-in-a-year",
        "There was such a courtesy some months ago; by the outdated document that would be long enough.",
        cases=(*CREDIT_CARD, let(credit=lambda c: new_id("txn_", "courtesy", c.card["account_id"]))),
        tables={"payment_history": _late_payments, "credit_card_transaction_history": {"{credit}": {
            "transaction_id": "{credit}",
            "user_id": "{user[user_id]}",
            "credit_card_account_id": "{card[account_id]}",
            "credit_card_type": "N/A",
            "merchant_name": "Rho-Bank Statement Credit",
            "transaction_amount": "-${product.late_fee:.2f}",
            "transaction_date": days_ago(150),
            "category": "Statement Credit",
            "status": "COMPLETED",
            "rewards_earned": "0 points",
            "credit_reason": "late_fee_reversal",
        }}}),
    scenario("credit-for-a-long-wait", "Goodwill is not paid as money.", BREEZY,
             cases=CREDIT_CARD,
             reason=f"You waited an hour on the phone and want a goodwill credit of $20 on {_CARD}.",
             documents=("statement_credits",)),
)  # fmt: skip

CARDS = (*_REPLACING, *_CLOSING_AND_PAYING, *_CREDITS)
