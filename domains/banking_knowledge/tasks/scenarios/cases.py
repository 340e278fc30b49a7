"""The people and things that scenarios are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.cases import let, where
from ..products import CARD, CHECKING_ACCOUNT
from ..world import age

if TYPE_CHECKING:
    from ...._kit.cases import Step
    from ..world import Record


def age_of(account: Record) -> int:
    """Return the days since a credit card account was opened."""
    return age(account["date_of_account_open"])


#: Every customer.
CUSTOMER: tuple[Step, ...] = ()
#: Customers with one credit card.
CREDIT_CARD = (
    let(cards=lambda c: c.world.credit_cards(c.user)),
    where(lambda c: len(c.cards) == 1),
    let(card=lambda c: c.cards[0], product=lambda c: CARD[c.cards[0]["card_type"]]),
)
#: Customers with one personal checking account.
CHECKING = (
    let(accounts=lambda c: c.world.accounts(c.user, "checking")),
    where(lambda c: len(c.accounts) == 1),
    let(account=lambda c: c.accounts[0], product=lambda c: CHECKING_ACCOUNT[c.accounts[0]["level"]]),
)
#: Those with one savings account besides.
SAVER = (
    *CHECKING,
    let(all_savings=lambda c: c.world.accounts(c.user, "saving")),
    where(lambda c: len(c.all_savings) == 1),
    let(savings=lambda c: c.all_savings[0]),
)
#: Those with a checking account, with its debit card.
DEBIT_CARD = (*CHECKING, let(card=lambda c: c.world.debit_card(c.account)))
