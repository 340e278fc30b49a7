"""Scenarios about customers themselves: their profile, applications, referrals, checks, questions, and transfers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...._kit.cases import each, let, where
from ..calls import OVERVIEW, by_customer, given, offered, transfer
from ..personas import BREEZY, BRIEF, CAREFUL, IMPATIENT, NEW_HERE
from ..products import CARD
from ..templates import scenario
from ..world import new_id
from .cases import CHECKING, CREDIT_CARD, CUSTOMER

if TYPE_CHECKING:
    from ...._kit.cases import Case
    from ..world import Record

#: Completed referrals in a calendar year, and the largest check of the app, in USD.
_REFERRALS_A_YEAR, _CHECK_LIMIT = 4, 3_500

# Profiles, and applications

_PROFILES = (
    scenario("new-email-address", "A new email address.",
             cases=(let(
                 new=lambda c: f"{c.user['name'].split()[-1]}.{c.user['user_id'][:3]}@example.org".lower()),),
             reason="You want to change your email address to {new}.",
             calls=(offered("change_user_email", user_id="{user[user_id]}", new_email="{new}"),),
             documents=("email_change",)),
    scenario("new-phone-number", "Phone numbers are changed in the app, by nobody in a chat.", BRIEF,
             cases=CUSTOMER,
             reason="You want to change your phone number to 555-0177, the new one of your office.",
             documents=("email_change",)),
)  # fmt: skip
_apply = partial(
    scenario,
    cases=(where(lambda c: not c.world.credit_cards(c.user)),),
    reason="You want to apply for the {first}.",
    details={"income": "Your annual income is ${income:,}."},
    calls=(
        by_customer(
            "apply_for_credit_card", card_type="{card}", customer_name="{user[name]}", annual_income="{income}"
        ),
    ),
)
_APPLICATIONS = (
    _apply("apply-with-enough-income", "The income reaches what the card asks for: the customer applies.",
           first="Gold Rewards Card", card="Gold Rewards Card", income=71_000,
           documents=("card_application", "card_gold_joining")),
    _apply("apply-with-too-little-income", "The income does not reach what the card asks for; then another card.",
           NEW_HERE, first="Platinum Rewards Card", card="EcoCard", income=39_500,
           fallback="Then you want to apply for the {card}.",
           documents=("card_application", "card_platinum_joining", "card_eco_joining")),
)  # fmt: skip

# Referrals, after ``count`` of them this year


def _referrals(case: Case) -> dict[str, dict[str, Record]]:
    referrals = {}
    for number in range(case.count):
        referral_id = new_id("", "referral", case.user["user_id"], number, length=16)
        referrals[referral_id] = {
            "referral_id": referral_id,
            "referrer_id": case.user["user_id"],
            "referred_account_type": "Bronze Rewards Card",
            "referral_status": "COMPLETE",
            "date": f"0{number + 2}/14/2025",
        }
    return {"referrals": referrals} if referrals else {}


_refer = partial(scenario, documents=("referral_rules",))
_refer_for_card = partial(
    _refer,
    cases=(*CREDIT_CARD, where(lambda c: not c.world.referrals(c.user))),
    reason="You want a referral link for the {card[card_type]} for a friend.",
    calls=(given("get_referral_link", card_name="{card[card_type]}"),),
    tables=_referrals,
)
_REFERRALS = (
    _refer_for_card("referral-link", "A link, which the customer makes with a tool that is given.", count=0),
    _refer_for_card("referral-link-after-some", "One below the yearly number; by the outdated document that is too "
                    "many.", BREEZY, count=_REFERRALS_A_YEAR - 1),
    _refer_for_card("too-many-referrals", "The yearly number is reached.", IMPATIENT,
                    count=_REFERRALS_A_YEAR, calls=()),
    _refer("refer-for-an-account",
           "A referral for a bank account, which the customer submits with a tool of their own.",
           cases=(where(lambda c: not c.world.referrals(c.user)),),
           reason="You want to refer a friend for the Blue Account.",
           calls=(by_customer("submit_referral", user_id="{user[user_id]}", account_type="Blue Account"),)),
)  # fmt: skip

# Checks

_deposit = partial(
    scenario,
    cases=CHECKING,
    reason="You want to deposit a check of ${amount:,} to your {account[level]} by the app.",
    calls=(OVERVIEW, given("deposit_check_3847", check_amount="{amount}")),
    documents=("mobile_check_deposit", "account_overview"),
)
_CHECKS = (
    _deposit("deposit-a-check", "A check that the app takes.", amount=480),
    _deposit("deposit-the-largest-check", "A check of exactly the largest amount.", CAREFUL, amount=_CHECK_LIMIT),
    _deposit("deposit-too-large-a-check", "A check that belongs to a branch.", BRIEF,
             amount=_CHECK_LIMIT + 100, calls=()),
)  # fmt: skip

# Questions, and transfers to a person

_anybody = partial(scenario, cases=CUSTOMER, identified=False)
_QUESTIONS = (
    _anybody("price-of-a-wire", "A question that one document answers; nobody has to be identified.",
             reason="What is the fee for a wire abroad?", communicate=("37",), documents=("wire_transfers",)),
    _anybody("yield-of-an-account", "A question about a product.", CAREFUL,
             reason="What is the APY of the Gold Plus Account?", communicate=("3.1",),
             documents=("savings_gold_plus_interest",), rule="wrong_interest"),
    _anybody("bonus-for-a-referral", "A question about a card.", NEW_HERE,
             reason="What is the bonus for a referral with the Silver Rewards Card?",
             communicate=(str(CARD["Silver Rewards Card"].referral_bonus),),
             documents=("card_silver_joining",), rule="referral_rules"),
    _anybody("waiting-time-for-an-increase", "A question that an outdated document answers differently.",
             reason="What is the waiting time after a decision about raising a credit limit?", communicate=("120",),
             documents=("credit_limit_increase",)),
)  # fmt: skip
_TRANSFERS = (
    _anybody("a-customer-has-died", "A relative reports a death: nobody is identified, and a person takes over.",
             reason="Your mother has died, and you want to know what happens to her account.",
             calls=(transfer("deceased_account_holder", "A relative reports the death of an account holder."),),
             documents=("human_transfer",)),
    scenario("a-letter-from-a-court",
             "A letter from a court belongs to a person, once the customer is identified.", CAREFUL,
             cases=CUSTOMER,
             reason="You received a letter from a court about your account and want to know what the bank does.",
             calls=(transfer("legal_or_regulatory_matter", "The customer has a letter from a court."),),
             documents=("human_transfer",)),
    _anybody("somebody-else-s-account", "Somebody who asks about the account of another person is transferred.",
             IMPATIENT,
             cases=(each(other=lambda c: c.world.users[c.world.users.index(c.user) + 1 :][:1]),),
             reason="You want to know what is on the account of another person, {other[name]}, who works for you.",
             calls=(transfer("third_party_inquiry", "Somebody asks about the account of another person."),),
             documents=("human_transfer",)),
)  # fmt: skip

PEOPLE = (*_PROFILES, *_APPLICATIONS, *_REFERRALS, *_CHECKS, *_QUESTIONS, *_TRANSFERS)
