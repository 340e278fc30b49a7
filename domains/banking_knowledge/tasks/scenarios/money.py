"""Scenarios about bank accounts: opening, closing, moving money, wrong interest and fees."""

from __future__ import annotations

from functools import partial
from itertools import permutations

from ...._kit.cases import each, let, where
from ..calls import OVERVIEW, TRANSACTIONS, hidden
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..products import CHECKING_ACCOUNT, SAVINGS_ACCOUNT
from ..templates import scenario
from ..world import days_ago, new_id
from .cases import CHECKING, SAVER

_OVERVIEW = "account_overview"
_FEES = "checking_{product.key}_fees"

# Opening, by customers without an account of this class

_open = partial(
    scenario,
    cases=(*CHECKING, where(lambda c: not (c.other and c.world.accounts(c.user, c.other)))),
    reason="You want to open a {name}.",
    calls=(OVERVIEW, hidden("open_bank_account_4821", account_type="{kind}", account_class="{name}")),
    documents=("account_opening", _OVERVIEW, "{document}"),
)
_OPENING = (
    _open("open-savings", "Savings for a customer whose checking account is old enough.",
          kind="savings", name="Silver Plus Account", other="saving", document="savings_silver_plus_interest"),
    _open("open-savings-too-soon",
          "The checking account is some days old; by the outdated document that would not matter.", NEW_HERE,
          name="Gold Account", other="saving", document="savings_gold_interest", calls=(OVERVIEW,),
          tables={"accounts": {"{account[account_id]}": {"date_opened": days_ago(6)}}}),
    _open("open-a-business-account", "A business account for a customer with a checking account.", BRIEF,
          kind="business_checking", name="Granite Business Checking", other="business_checking",
          document="business_granite"),
    _open("open-business-savings-without-checking", "Business savings without a business checking account.",
          name="Quarry Business Savings", other="business_checking", document="business_quarry", calls=(OVERVIEW,)),
    _open("open-a-second-checking-account", "A second checking account needs nothing.", CAREFUL,
          kind="checking", name="Purple Account", other="", document="checking_purple_fees"),
)  # fmt: skip

# Closing an account that holds ``holdings``, ``before`` days before the early closure fee ends or long after it

_CLOSE = hidden("close_bank_account_7392")
_WITH_FEE = (
    *SAVER,
    let(fee=lambda c: c.product.closing[0]),
    where(lambda c: c.fee),
    let(opened=lambda c: days_ago(c.product.closing[1] - c.before)),
)
#: Customers with two different checking accounts, one of which is closed and has an early closure fee.
_ONE_OF_TWO = (
    let(accounts=lambda c: c.world.accounts(c.user, "checking")),
    each(pair=lambda c: permutations(c.accounts, 2)),
    let(kept=lambda c: c.pair[0], account=lambda c: c.pair[1]),
    where(lambda c: len(c.accounts) == 2 and c.kept["level"] != c.account["level"]),
    let(product=lambda c: CHECKING_ACCOUNT[c.account["level"]]),
    where(lambda c: c.product.closing[0]),
    let(opened=lambda c: days_ago(c.product.closing[1] - c.before)),
)


def _move(amount: object, source: str = "account", target: str = "savings") -> tuple[object, ...]:
    ids = {"source_account_id": f"{{{source}[account_id]}}", "destination_account_id": f"{{{target}[account_id]}}"}
    return OVERVIEW, hidden("transfer_funds_between_bank_accounts_7291", **ids, amount=amount)


_close = partial(
    scenario,
    cases=(*SAVER, let(opened=lambda _: days_ago(800))),
    holdings="0.00",
    reason="You want to close your {account[level]}.",
    calls=(OVERVIEW, _CLOSE),
    documents=("account_closing", _OVERVIEW, _FEES),
    tables={"accounts": {"{account[account_id]}": {"current_holdings": "{holdings}", "date_opened": "{opened}"}}},
)
_move_and_close = partial(
    _close,
    instructions="If money has to be moved first, it should go to your {savings[level]}.",
    details={"where/account/savings move/go": "The money should go to your {savings[level]}."},
    documents=("account_closing", "transfers_between_accounts", _OVERVIEW, _FEES),
)
_CLOSING = (
    _close("close-an-empty-account", "An old account that holds nothing."),
    _move_and_close("move-the-rest-and-close", "The money goes to the savings account before an old account is closed.",
                    CAREFUL, holdings="312.60", calls=(*_move(312.6), _CLOSE)),
    _move_and_close("close-early-and-pay-the-fee", "A young account: what is above the early closure fee is moved, and "
                    "the fee stays.",
                    cases=_WITH_FEE, before=10, holdings="540.25",
                    instructions="If money has to be moved first, it should go to your {savings[level]}. A fee is "
                    "fine.",
                    calls=(*_move(lambda c: 540.25 - c.fee), _CLOSE)),
    _close("close-early-with-an-older-account",
           "A young account of a customer who has an older checking account: the fee is waived.", IMPATIENT,
           cases=_ONE_OF_TWO, before=8,
           calls=(OVERVIEW, hidden("close_bank_account_7392", waive_early_closure_fee=True)),
           tables={"accounts": {
               "{account[account_id]}": {"current_holdings": "0.00", "date_opened": "{opened}"},
               "{kept[account_id]}": {"date_opened": days_ago(900)}}}),
    _close("no-free-early-closure", "A young account that holds nothing: the fee cannot be paid and is not waived, "
           "whatever the old document says.",
           cases=_WITH_FEE, before=12, calls=(OVERVIEW,),
           reason="You want to close your {account[level]} and ask that no fee is charged."),
)  # fmt: skip

# Moving money

_transfer = partial(scenario, cases=SAVER, documents=("transfers_between_accounts", _OVERVIEW))
_FROM_CHECKING = "from your {account[level]} to your {savings[level]}."
_MOVING = (
    _transfer("move-to-savings", "From checking to savings.",
              reason=f"You want to transfer $140 {_FROM_CHECKING}", calls=_move(140)),
    _transfer("move-from-savings", "From savings to checking, with cents.", BRIEF,
              reason="You want to transfer $87.35 from your {savings[level]} to your {account[level]}.",
              calls=_move(87.35, "savings", "account")),
    _transfer("move-more-than-there-is", "The account holds less; the customer then moves less.",
              reason=f"You want to transfer $9,500 {_FROM_CHECKING}",
              fallback=f"Then transfer $200 {_FROM_CHECKING}", calls=_move(200)),
    _transfer("move-to-somebody-else", "Agents move no money to other people, though the tool would.", BREEZY,
              cases=(*CHECKING, let(other=lambda c: next(
                  a for a in c.world.tables["accounts"].values() if a["user_id"] != c.user["user_id"]))),
              reason="You want to transfer $60 from your {account[level]} to your neighbor, whose account id is "
              "{other[account_id]}.",
              documents=("transfers_between_accounts",)),
)  # fmt: skip

# The interest of October: ``paid`` is the yield that was applied, as a part of the right one; a small difference is
# credited at once, a large one is not


def _interest(rate: float, balance: str) -> float:
    return round(float(balance) * rate / 100 / 12, 2)


_REPORT = hidden(
    "submit_interest_discrepancy_report_7294",
    account_id="{savings[account_id]}",
    expected_apy="{paying.apy}",
    actual_apy="{applied}",
    amount_difference="{difference}",
)
_look = (OVERVIEW, hidden("get_bank_account_transactions_9173", account_id="{savings[account_id]}"))
_check_interest = partial(
    scenario,
    cases=(
        *SAVER,
        let(
            paying=lambda c: SAVINGS_ACCOUNT[c.savings["level"]],
            applied=lambda c: round(c.paying.apy * c.paid, 2),
            credited=lambda c: _interest(c.applied, c.balance),
            difference=lambda c: round(_interest(c.paying.apy, c.balance) - c.credited, 2),
            last=lambda c: next(
                transaction for transaction in c.world.transactions(c.savings) if transaction["date"].startswith("10/")
            ),
        ),
        where(lambda c: c.at_once is None or c.at_once is (c.difference <= 40)),
    ),
    reason="You believe that the interest for October on your {savings[level]} is too low.",
    documents=("wrong_interest", _OVERVIEW, "account_transactions", "savings_{paying.key}_interest"),
    tables={
        "accounts": {"{savings[account_id]}": {"current_holdings": "{balance}"}},
        "bank_account_transaction_history": {
            "{last[transaction_id]}": {"description": "INTEREST CREDIT - APY {applied:g}%", "amount": "{credited}"}
        },
    },
)
_CREDIT = hidden(
    "apply_savings_account_credit_6831",
    account_id="{savings[account_id]}",
    amount="{difference}",
    credit_type="interest_correction",
)
_INTEREST = (
    _check_interest("interest-credited-at-once", "A small difference is reported and credited.",
                    paid=0.6, balance="7200.00", at_once=True, calls=(*_look, _REPORT, _CREDIT)),
    _check_interest("interest-only-reported", "A large difference is reported, and credited by nobody in a chat.",
                    CAREFUL, paid=0.5, balance="64000.00", at_once=False, calls=(*_look, _REPORT)),
    _check_interest("interest-that-is-right", "The interest is right: nothing is reported.", IMPATIENT,
                    paid=1, balance="5100.00", at_once=None, calls=_look),
)  # fmt: skip

# Fees of ATMs, ``days`` ago

_atm_fee = partial(
    scenario,
    cases=(
        *CHECKING,
        where(lambda c: c.free is not bool(c.product.foreign_atm)),
        let(
            fee=lambda c: c.product.foreign_atm or 2.75,
            taken=lambda c: -c.fee,
            date=lambda c: days_ago(c.days),
            record=lambda c: new_id("btxn_", "atm fee", c.days, c.account["account_id"]),
        ),
    ),
    days=12,
    free=True,
    reason="You were charged a fee at an ATM of another bank on your {account[level]} and want it back.",
    calls=(OVERVIEW, TRANSACTIONS),
    documents=("atm_fee_refund", _OVERVIEW, "account_transactions", _FEES),
    tables={
        "bank_account_transaction_history": {
            "{record}": {
                "transaction_id": "{record}",
                "account_id": "{account[account_id]}",
                "date": "{date}",
                "description": "FEE - ATM OF ANOTHER BANK",
                "amount": "{taken}",
                "type": "atm_fee",
                "status": "posted",
            }
        }
    },
)
_REFUND = hidden("apply_checking_account_credit_5829", amount="{fee}", credit_type="fee_refund")
_ATM_FEES = (
    _atm_fee("atm-fee-refunded", "The product refunds such fees.", calls=(OVERVIEW, TRANSACTIONS, _REFUND)),
    _atm_fee("atm-fee-of-long-ago", "The fee is too old for a refund; by the outdated document it would not be.",
             IMPATIENT, days=95),
    _atm_fee("atm-fee-that-is-due", "The product charges this fee; by the outdated document it would be refunded.",
             NEW_HERE, free=False, calls=(OVERVIEW,)),
)  # fmt: skip

MONEY = (*_OPENING, *_CLOSING, *_MOVING, *_INTEREST, *_ATM_FEES)
