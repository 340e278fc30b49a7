"""Scenarios about debit cards: activation, PINs, blocks, orders, alerts, and limits for a day."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...._kit.cases import let, where
from ..calls import DEBIT_CARDS, hidden, transfer
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..products import DELIVERY, DESIGN
from ..templates import scenario
from ..world import days_ago, new_id
from .cases import DEBIT_CARD

if TYPE_CHECKING:
    from ...._kit.cases import Case
    from ..world import Record

_FINDING = ("account_overview", "debit_card_overview")
_DIGITS = {"last four/4 digits": "The last four digits are {digits}."}
_CLOSED = ("lost", "stolen", "fraud")

# Activation of a card that came by mail for the reason ``why``


def _pending(case: Case) -> Record:
    return {
        **case.card,
        "card_id": new_id("dbc_", case.why, case.account["account_id"]),
        "last_4_digits": f"{int(case.card['last_4_digits']) % 8999 + 1001}",
        "status": "PENDING",
        "issue_date": days_ago(9),
        "expiration_date": "10/31/2029",
        "issue_reason": case.why,
    }


def _with_pending(case: Case) -> dict[str, Record]:
    replaced = {case.card["card_id"]: {"status": "CLOSED", "closure_reason": case.why}} if case.why in _CLOSED else {}
    return {case.new["card_id"]: case.new, **replaced}


_activate = partial(
    scenario,
    cases=(*DEBIT_CARD, let(new=_pending, digits=lambda c: c.new["last_4_digits"])),
    pin="5082",
    reason="You want to activate the debit card that came by mail.",
    details={
        **_DIGITS,
        "expiration/expiry": "It expires 10/29.",
        "cvv": "The CVV is {card[cvv]}.",
        "pin": "The PIN should be {pin}.",
    },
    calls=(
        *DEBIT_CARDS,
        hidden(
            "{tool}",
            card_id="{new[card_id]}",
            last_4_digits="{digits}",
            expiration_date="10/29",
            cvv="{card[cvv]}",
            pin="{pin}",
        ),
    ),
    documents=("debit_card_activation", "debit_card_pins", *_FINDING),
    tables={"debit_cards": _with_pending},
)
_ACTIVATION = (
    _activate("activate-a-first-card", "The first card of an account.",
              why="first_card", tool="activate_debit_card_8291"),
    _activate("activate-after-a-loss", "A card that replaces a lost one.", CAREFUL,
              why="lost", tool="activate_debit_card_8292", pin="7316"),
    _activate("activate-after-fraud", "A card that replaces one that was copied.", BRIEF,
              why="fraud", tool="activate_debit_card_8292", pin="2960"),
    _activate("activate-after-expiry", "A card that follows an expired one; the old one stays for a day.",
              why="expired", tool="activate_debit_card_8293", pin="6174"),
    _activate("activate-a-card-of-the-bank-s-choice", "A card that the bank reissued by itself.", NEW_HERE,
              why="bank_reissue", tool="activate_debit_card_8293", pin="8402"),
    _activate("activate-with-wrong-digits", "The digits are not those of the card: the tool is not called.",
              why="first_card", calls=DEBIT_CARDS, digits="0037"),
)  # fmt: skip

# PINs

_pin = partial(scenario, cases=DEBIT_CARD, documents=("debit_card_pins", *_FINDING))
_reset_pin = partial(
    _pin,
    cases=(*DEBIT_CARD, let(digits=lambda c: c.card["last_4_digits"])),
    reason="You forgot the PIN of your debit card and want to reset it.",
    details={**_DIGITS, "new pin": "The new PIN should be {pin}."},
    calls=(*DEBIT_CARDS, hidden("reset_debit_card_pin_6284", new_pin="{pin}")),
)
_PINS = (
    _reset_pin("forgotten-pin", "A forgotten PIN is reset.", pin="4907"),
    _reset_pin("too-simple-a-pin", "The first choice is a row of digits; the second one counts.", IMPATIENT,
               details={**_DIGITS, "new pin": "The new PIN should be 4567.",
                        "another pin": "Otherwise it should be {pin}."}, pin="9316"),
    _pin("another-pin", "The present PIN is known: it is changed, not reset.", CAREFUL,
         reason="You know the PIN of your debit card and want to change it.",
         details={"current/present pin": "The current PIN is 6038.", "new pin": "The new PIN should be 2759."},
         calls=(*DEBIT_CARDS, hidden("change_debit_card_pin_6285", current_pin="6038", new_pin="2759"))),
)  # fmt: skip

# One call with the card is all

_one_call = partial(
    scenario,
    cases=DEBIT_CARD,
    calls=(*DEBIT_CARDS, "{call}"),
    documents=("{document}", *_FINDING),
    declines=("order new", "new card", "replacement"),
)
_BLOCKS = (
    _one_call("freeze-a-misplaced-card", "A card that may be found again is frozen, not closed.",
              reason="You misplaced your debit card somewhere at home and want it to be blocked until you find it.",
              call=hidden("freeze_debit_card_3892"), document="debit_card_freeze"),
    _one_call("release-a-found-card", "A frozen card was found.", BREEZY,
              reason="You found your debit card and want to unfreeze it.",
              call=hidden("unfreeze_debit_card_3893"), document="debit_card_freeze",
              tables={"debit_cards": {"{card[card_id]}": {"status": "FROZEN"}}}),
    _one_call("close-a-stolen-debit-card", "A stolen card is closed, not frozen; the customer wants no new one.",
              reason="Your debit card was stolen and you want to close it. You do not need a new one now.",
              call=hidden("close_debit_card_4721", reason="stolen"), document="debit_card_closing"),
    _one_call("close-an-unwanted-debit-card", "A card that is not needed any more.", BRIEF,
              reason="You do not need your debit card any longer and want to close it.",
              call=hidden("close_debit_card_4721", reason="no_longer_needed"), document="debit_card_closing"),
    _one_call("block-subscriptions", "All recurring payments are declined from now on.",
              reason="You want to block all recurring payments of your debit card, as the subscriptions got out of "
              "hand.",
              call=hidden("set_debit_card_recurring_block_7382", block_recurring=True),
              document="debit_card_recurring"),
)  # fmt: skip

# Orders of customers whose only card is closed: ``delivery`` and ``design`` are positions of options

_order = partial(
    scenario,
    cases=(
        *DEBIT_CARD,
        let(delivery_fee=lambda c: c.product.delivery[c.delivery], design_fee=lambda c: c.product.design[c.design]),
        where(lambda c: c.free is None or c.free is not bool(c.delivery_fee + c.design_fee)),
    ),
    delivery=0,
    design=0,
    free=None,
    reason="You want to order a debit card for your {account[level]}.",
    details={"delivery/shipping": "Standard delivery is fine.", "design": "The classic design is fine."},
    calls=(
        *DEBIT_CARDS,
        hidden(
            "order_debit_card_5739",
            delivery_option=lambda c: DELIVERY[c.delivery],
            delivery_fee="{delivery_fee}",
            card_design=lambda c: DESIGN[c.design],
            design_fee="{design_fee}",
        ),
    ),
    documents=("debit_card_ordering", "checking_{product.key}_debit_card", *_FINDING),
    tables={"debit_cards": {"{card[card_id]}": {"status": "CLOSED", "closure_reason": "damaged"}}},
)
_ORDERS = (
    _order("order-a-plain-card",
           "Standard delivery and the classic design, which are free; by the outdated document they are not."),
    _order("order-a-card-in-a-hurry", "Rush delivery, for which the product has a fee of its own.", IMPATIENT,
           delivery=2, free=False,
           details={"delivery/shipping": "You want rush delivery.", "design": "The classic design is fine."}),
    _order("order-a-pretty-card", "Expedited delivery and the custom design: two fees.", BREEZY,
           delivery=1, design=2, free=False,
           details={"delivery/shipping": "You want expedited delivery.", "design": "You want the custom design."}),
    _order("order-without-enough-money", "The account holds too little for an order.",
           calls=DEBIT_CARDS,
           tables={"debit_cards": {"{card[card_id]}": {"status": "CLOSED", "closure_reason": "damaged"}},
                   "accounts": {"{account[account_id]}": {"current_holdings": "18.40"}}}),
)  # fmt: skip

# Alerts

_alert = partial(
    scenario,
    cases=DEBIT_CARD,
    reason="Your debit card is declined because of {block}. The payments were your own.",
    block="a fraud alert",
    details={"payment/payments own/yours": "Yes, all of the payments were your own."},
    documents=("debit_card_fraud_alerts", *_FINDING),
    tables={"debit_cards": {"{card[card_id]}": "{state}"}},
)
_clear = partial(hidden, "clear_debit_card_fraud_alert_4892")
_ALERTS = (
    _alert("alert-of-the-customer", "An alert that the customer set off is cleared.",
           state={"fraud_alert_active": True, "alert_source": "customer_initiated"},
           calls=(*DEBIT_CARDS, _clear(reason="customer_verified"))),
    _alert("many-payments-in-a-row", "A block after many payments is cleared for another reason.", BRIEF,
           state={"velocity_blocked": True, "fraud_alert_active": False}, block="a block after many payments",
           calls=(*DEBIT_CARDS, _clear(reason="velocity_clear"))),
    _alert("alert-of-the-bank", "An alert of the bank is not cleared by an agent: a person takes over.", IMPATIENT,
           state={"fraud_alert_active": True, "alert_source": "bank_initiated"},
           calls=(*DEBIT_CARDS,
                  transfer("fraud_or_security_concern", "The bank flagged the customer's debit card."))),
)  # fmt: skip

# Limits for a day, in parts of the present one: ``factor`` is what is asked for, and ``allowed`` what is possible

_ASKED = "the daily limit of your debit card for {what} to"
_day_limit = partial(
    scenario,
    cases=(
        *DEBIT_CARD,
        where(lambda c: c.account["level"] != "Light Green Account"),
        let(
            now=lambda c: c.card[f"daily_{c.kind}_limit"],
            asked=lambda c: int(c.now * c.factor),
            possible=lambda c: int(c.now * c.allowed),
        ),
    ),
    reason=f"You want {_ASKED} be raised to ${{asked}} for today.",
    kind="atm",
    what="ATM withdrawals",
    calls=(
        *DEBIT_CARDS,
        hidden("request_temporary_debit_card_limit_increase_8374", limit_type="{kind}", new_limit="{possible}"),
    ),
    documents=("debit_card_temporary_limit", *_FINDING),
)
_DAY_LIMITS = (
    _day_limit("more-cash-for-a-day", "A higher limit for withdrawals, within what is allowed.",
               factor=1.4, allowed=1.4),
    _day_limit("too-much-for-a-day", "Twice the limit is too much; one and a half times is not.", BREEZY,
               factor=2, allowed=1.5, kind="purchase", what="purchases",
               fallback=f"Then raise {_ASKED} ${{possible}} for today."),
    _day_limit("higher-limit-of-a-young-account", "The account is too young for a higher limit.",
               factor=1.2, allowed=0, calls=DEBIT_CARDS,
               tables={"accounts": {"{account[account_id]}": {"date_opened": days_ago(40)}}}),
)  # fmt: skip

DEBIT = (*_ACTIVATION, *_PINS, *_BLOCKS, *_ORDERS, *_ALERTS, *_DAY_LIMITS)
