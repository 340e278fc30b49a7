"""Scenarios about disputed transactions and missing points."""

from __future__ import annotations

from functools import partial

from ...._kit.cases import each, let, where
from ..calls import DEBIT_CARDS, PENDING_ORDERS, TRANSACTIONS, given, hidden
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..templates import scenario
from ..world import age, days_ago, money, new_id
from .cases import CREDIT_CARD, DEBIT_CARD, age_of

_CREDIT, _DEBIT, _POINTS = "credit_card_dispute", "debit_card_dispute", "wrong_reward_points"
#: From this amount, in USD, and this age of the card account, in days, a dispute has a provisional credit.
_PROVISIONAL_FROM, _PROVISIONAL_AGE = 80, 120

# Credit cards

#: Purchases of customers with one card, which merchant and amount tell from the others.
_PURCHASE = (
    *CREDIT_CARD,
    each(purchase=lambda c: c.world.purchases(c.card)),
    let(
        amount=lambda c: money(c.purchase["transaction_amount"]),
        days=lambda c: age(c.purchase["transaction_date"]),
        # What the customer reads from the card.
        digits=lambda c: f"{int(new_id('', 'digits', c.card['account_id'], length=6), 16) % 9000 + 1000}",
        noticed=lambda c: days_ago(c.days - 2),
        provisional=lambda c: c.amount >= _PROVISIONAL_FROM and age_of(c.card) >= _PROVISIONAL_AGE,
    ),
)
_file = partial(
    hidden,
    "file_credit_card_transaction_dispute_4829",
    card_action="keep_active",
    card_last_4_digits="{digits}",
    contacted_merchant=True,
    dispute_reason="{why}",
    eligible_for_provisional_credit="{provisional}",
    issue_noticed_date="{noticed}",
    resolution_requested="full_refund",
)
_dispute = partial(
    scenario,
    cases=(*_PURCHASE, where(lambda c: c.amount > c.least and c.days > 5)),
    least=_PROVISIONAL_FROM,
    contacted="You contacted the merchant, without success.",
    refund="You want a full refund.",
    reason="You want to dispute a charge of {purchase[transaction_amount]} by {purchase[merchant_name]} on your "
    "{card[card_type]}. {story}",
    details={
        "last four/4 digits": "The last four digits of the card are {digits}.",
        "notice/noticed": "You noticed it on {noticed}.",
        "merchant/seller": "{contacted}",
        "refund": "{refund}",
    },
    documents=(_CREDIT,),
)
_OF_CREDIT_CARDS = (
    _dispute("dispute-a-double-charge", "A double charge, large enough for a provisional credit.",
             story="It was charged twice.", why="duplicate_charge", calls=(_file(),)),
    _dispute("dispute-a-small-charge", "Goods that never came; the amount is too small for a provisional credit, which "
             "the outdated document gives.", BRIEF,
             cases=(*_PURCHASE, where(lambda c: 20 < c.amount < _PROVISIONAL_FROM and c.days > 5)),
             story="The goods were not received.", why="goods_services_not_received", calls=(_file(),)),
    _dispute("dispute-for-a-partial-refund", "Goods that were not as described; the customer wants a part back.",
             least=120, story="The goods were not as described.", why="goods_services_not_as_described",
             refund="You want a partial refund of $45.50.",
             calls=(_file(resolution_requested="partial_refund", partial_refund_amount=45.5),)),
    _dispute("dispute-a-stranger-s-charge", "A charge by somebody else: a dispute, and a new card by express.",
             IMPATIENT,
             story="It was not you, it is fraud.", why="unauthorized_fraudulent_charge",
             contacted="You did not contact the merchant, as you do not know it.",
             instructions="Agree to a new card when the agent says that the old one has to be replaced.",
             calls=(_file(card_action="cancel_and_reissue", contacted_merchant=False), PENDING_ORDERS,
                    hidden("order_replacement_credit_card_7291", reason="fraud_suspected", expedited_shipping=True)),
             documents=(_CREDIT, "credit_card_replacement")),
    _dispute("dispute-an-old-charge", "The purchase is too old; by the outdated document it would not be.",
             story="The amount is wrong.", noticed="11/10/2025",
             tables={"credit_card_transaction_history": {
                 "{purchase[transaction_id]}": {"transaction_date": days_ago(110)}}}),
    _dispute("dispute-before-asking-the-merchant", "The merchant has not been contacted, which comes first.", NEW_HERE,
             story="The refund was never processed.", contacted="You did not contact the merchant yet."),
)  # fmt: skip

# Debit cards: an online purchase, discovered ``gap`` days after it

_dispute_debit = partial(
    scenario,
    cases=(
        *DEBIT_CARD,
        let(date=lambda c: days_ago(c.gap + 3)),
        let(record=lambda c: new_id("btxn_", c.why, c.gap, c.account["account_id"])),
    ),
    reason="You want to dispute an online purchase of $164.20 by Moonrise Gadgets with your debit card. {story}",
    details={
        "discover/discovered/notice/noticed": f"You discovered it on {days_ago(3)}.",
        "possession/hand/hands": "The card is in your possession.",
        "pin": "Nobody knows your PIN.",
        "merchant/seller": "{contacted}",
        "police": "There is no police report.",
        "written statement": "There is a written statement, which you sent by the app.",
    },
    documents=(_DEBIT, "account_overview"),
    tables={
        "bank_account_transaction_history": {
            "{record}": {
                "transaction_id": "{record}",
                "account_id": "{account[account_id]}",
                "date": "{date}",
                "description": "MOONRISE GADGETS ONLINE - DEBIT CARD",
                "amount": -164.2,
                "type": "debit_card_purchase",
                "status": "posted",
            }
        }
    },
)
_file_debit = partial(
    hidden,
    "file_debit_card_transaction_dispute_6281",
    card_in_possession=True,
    customer_max_liability_amount="{liability}",
    discovery_date=days_ago(3),
    dispute_category="{why}",
    disputed_amount=164.2,
    pin_compromised="no",
    police_report_filed=False,
    provisional_credit_eligible=True,
    transaction_date="{date}",
    transaction_id="{record}",
    transaction_type="online_purchase",
    written_statement_provided=True,
)
_dispute_debit_fraud = partial(
    _dispute_debit,
    story="It was not you, it is fraud.",
    why="card_not_present_fraud",
    contacted="You did not contact the merchant.",
    calls=(
        *DEBIT_CARDS,
        TRANSACTIONS,
        _file_debit(card_action="freeze_pending_investigation", contacted_merchant=False),
        hidden("freeze_debit_card_3892"),
    ),
    documents=(_DEBIT, "account_overview", "debit_card_freeze"),
)
_OF_DEBIT_CARDS = (
    _dispute_debit_fraud("debit-fraud-discovered-early", "Fraud with the card in hand, discovered within two days: the "
                         "small liability, and a frozen card.", gap=2, liability=50),
    _dispute_debit_fraud("debit-fraud-discovered-late", "Discovered after two days: the liability of up to $500, which "
                         "is more than the amount.", CAREFUL, gap=20, liability=164.2),
    _dispute_debit("debit-charged-twice", "No fraud: no liability, and the card stays as it is.", BRIEF,
                   story="It was charged twice.", why="duplicate_charge", gap=5, liability=0,
                   contacted="You contacted the merchant, without success.",
                   calls=(*DEBIT_CARDS, TRANSACTIONS, _file_debit(card_action="keep_active", contacted_merchant=True))),
)  # fmt: skip

# Points of purchases in special categories: too few of them, and a dispute that is decided at once or not

_correct = partial(
    scenario,
    cases=(
        *_PURCHASE,
        where(lambda c: c.amount > 40 and c.days > 5),
        let(category=lambda c: c.purchase["category"]),
        where(lambda c: c.category in c.product.special or (not c.product.special and c.product.points != 1)),
        let(points=lambda c: c.product.points_for(c.amount, c.category)),
        let(too_few=lambda c: f"{int(c.amount) // 2} points"),
    ),
    reason="You believe that the reward points for {purchase[transaction_amount]} at {purchase[merchant_name]} with "
    "your {card[card_type]} are wrong, and want them corrected.",
    documents=(_POINTS, "card_{product.key}_rewards"),
)
_wrong = partial(
    _correct,
    tables={
        "task_config": {"dispute_settings": {"auto_resolve_disputes": "{at_once}"}},
        "credit_card_transaction_history": {"{purchase[transaction_id]}": {"rewards_earned": "{too_few}"}},
    },
)
_DISPUTED = given("submit_cash_back_dispute_0589")
_OF_POINTS = (
    _wrong("points-corrected", "Too few points: the customer's dispute is approved at once, and the points are "
           "corrected.", at_once=True,
           calls=(_DISPUTED, hidden("update_transaction_rewards_3847", new_rewards_earned="{points} points"))),
    _wrong("points-under-review", "Too few points: the customer's dispute waits for a colleague, and nothing is "
           "corrected.", BREEZY, at_once=False, calls=(_DISPUTED,)),
    _correct("points-that-are-right", "The points are right: no tool is given.", IMPATIENT),
)  # fmt: skip

DISPUTES = (*_OF_CREDIT_CARDS, *_OF_DEBIT_CARDS, *_OF_POINTS)
