"""Scenarios about customers themselves: their profile, applications, referrals, checks, questions, and transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import personas
from ..builder import Draft, scenario
from ..calls import Call, given, overview, transfer
from ..products import CARD
from ..world import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import Record, World

_REFERRING, _APPLYING, _CHECKS, _PERSON = (
    "referral_rules",
    "card_application",
    "mobile_check_deposit",
    "human_transfer",
)


CHECK_LIMIT, REFERRALS_A_YEAR = 3_500, 4


# The profile


@scenario("email_change")
def new_email_address(world: World) -> Iterator[Draft]:
    """A new email address."""
    for user in world.users:
        new = f"{user['name'].split()[-1]}.{user['user_id'][:3]}@example.org".lower()
        yield Draft(
            user,
            reason=f"You want to change your email address to {new}.",
            calls=[Call("change_user_email", {"user_id": user["user_id"], "new_email": new})],
            documents=["email_change"],
        )


@scenario("email_change", personas.BRIEF)
def new_phone_number(world: World) -> Iterator[Draft]:
    """Phone numbers are changed in the app, by nobody in a chat."""
    for user in world.users:
        yield Draft(
            user,
            reason="You want to change your phone number to 555-0177, the new one of your office.",
            calls=[],
            documents=["email_change"],
        )


# Applications


def _application(user: Record, card: str, income: int) -> Call:
    arguments = {"card_type": card, "customer_name": user["name"], "annual_income": income}
    return Call("apply_for_credit_card", arguments, "user")


@scenario(_APPLYING)
def apply_with_enough_income(world: World) -> Iterator[Draft]:
    """The income reaches what the card asks for: the customer applies."""
    for user in world.users:
        if not world.credit_cards(user):
            yield Draft(
                user,
                reason="You want to apply for the Gold Rewards Card.",
                details={"income": "Your annual income is $71,000."},
                calls=[_application(user, "Gold Rewards Card", 71_000)],
                documents=[_APPLYING, "card_gold_joining"],
            )


@scenario(_APPLYING, personas.NEW_HERE)
def apply_with_too_little_income(world: World) -> Iterator[Draft]:
    """The income does not reach what the card asks for; then another card."""
    for user in world.users:
        if not world.credit_cards(user):
            yield Draft(
                user,
                reason="You want to apply for the Platinum Rewards Card.",
                details={"income": "Your annual income is $39,500."},
                fallback="Then you want to apply for the EcoCard.",
                calls=[_application(user, "EcoCard", 39_500)],
                documents=[_APPLYING, "card_platinum_joining", "card_eco_joining"],
            )


# Referrals


def _referred(user: Record, count: int) -> dict[str, dict[str, Record]]:
    """Return completed referrals of this year."""
    found = {}
    for number in range(count):
        referral_id = new_id("", "referral", user["user_id"], number, length=16)
        found[referral_id] = {
            "referral_id": referral_id,
            "referrer_id": user["user_id"],
            "referred_account_type": "Bronze Rewards Card",
            "referral_status": "COMPLETE",
            "date": f"0{number + 2}/14/2025",
        }
    return {"referrals": found} if found else {}


def _link(world: World, count: int, *, allowed: bool) -> Iterator[Draft]:
    for user, card in world.each_credit_card():
        if not world.referrals(user):
            link = given("get_referral_link", user_id=user["user_id"], card_name=card["card_type"])
            yield Draft(
                user,
                reason=f"You want a referral link for the {card['card_type']} for a friend.",
                calls=link if allowed else [],
                documents=[_REFERRING],
                tables=_referred(user, count),
            )


@scenario(_REFERRING)
def referral_link(world: World) -> Iterator[Draft]:
    """A link, which the customer makes with a tool that is given."""
    yield from _link(world, 0, allowed=True)


@scenario(_REFERRING, personas.BREEZY)
def referral_link_after_some(world: World) -> Iterator[Draft]:
    """One below the yearly number; by the outdated document that is too many."""
    yield from _link(world, REFERRALS_A_YEAR - 1, allowed=True)


@scenario(_REFERRING, personas.IMPATIENT)
def too_many_referrals(world: World) -> Iterator[Draft]:
    """The yearly number is reached."""
    yield from _link(world, REFERRALS_A_YEAR, allowed=False)


@scenario(_REFERRING)
def refer_for_an_account(world: World) -> Iterator[Draft]:
    """A referral for a bank account, which the customer submits with a tool of their own."""
    for user in world.users:
        if not world.referrals(user):
            arguments = {"user_id": user["user_id"], "account_type": "Blue Account"}
            yield Draft(
                user,
                reason="You want to refer a friend for the Blue Account.",
                calls=[Call("submit_referral", arguments, "user")],
                documents=[_REFERRING],
            )


# Checks


def _check(world: World, amount: int) -> Iterator[Draft]:
    for user, account in world.each_checking():
        deposit = given("deposit_check_3847", account_id=account["account_id"], check_amount=amount)
        yield Draft(
            user,
            reason=f"You want to deposit a check of ${amount:,} to your {account['level']} by the app.",
            calls=[*overview(user), *deposit] if amount <= CHECK_LIMIT else [],
            documents=[_CHECKS, "account_overview"],
        )


@scenario(_CHECKS)
def deposit_a_check(world: World) -> Iterator[Draft]:
    """A check that the app takes."""
    yield from _check(world, 480)


@scenario(_CHECKS, personas.CAREFUL)
def deposit_the_largest_check(world: World) -> Iterator[Draft]:
    """A check of exactly the largest amount."""
    yield from _check(world, CHECK_LIMIT)


@scenario(_CHECKS, personas.BRIEF)
def deposit_too_large_a_check(world: World) -> Iterator[Draft]:
    """A check that belongs to a branch."""
    yield from _check(world, CHECK_LIMIT + 100)


# Questions


def _question(world: World, question: str, answer: str, document: str) -> Iterator[Draft]:
    for user in world.users:
        yield Draft(user, reason=question, calls=[], documents=[document], communicate=[answer], identified=False)


@scenario("wire_transfers")
def price_of_a_wire(world: World) -> Iterator[Draft]:
    """A question that one document answers; nobody has to be identified."""
    yield from _question(world, "What is the fee for a wire abroad?", "37", "wire_transfers")


@scenario("wrong_interest", personas.CAREFUL)
def yield_of_an_account(world: World) -> Iterator[Draft]:
    """A question about a product."""
    question = "What is the APY of the Gold Plus Account?"
    yield from _question(world, question, "3.1", "savings_gold_plus_interest")


@scenario(_REFERRING, personas.NEW_HERE)
def bonus_for_a_referral(world: World) -> Iterator[Draft]:
    """A question about a card."""
    bonus = CARD["Silver Rewards Card"].referral_bonus
    question = "What is the bonus for a referral with the Silver Rewards Card?"
    yield from _question(world, question, str(bonus), "card_silver_joining")


@scenario("credit_limit_increase")
def waiting_time_for_an_increase(world: World) -> Iterator[Draft]:
    """A question that an outdated document answers differently."""
    question = "What is the waiting time after a decision about raising a credit limit?"
    yield from _question(world, question, "120", "credit_limit_increase")


# Transfers to a person


@scenario(_PERSON)
def a_customer_has_died(world: World) -> Iterator[Draft]:
    """A relative reports a death: nobody is identified, and a person takes over."""
    for user in world.users:
        yield Draft(
            user,
            reason="Your mother has died, and you want to know what happens to her account.",
            calls=[transfer("deceased_account_holder", "A relative reports the death of an account holder.")],
            documents=[_PERSON],
            identified=False,
        )


@scenario(_PERSON, personas.CAREFUL)
def a_letter_from_a_court(world: World) -> Iterator[Draft]:
    """A letter from a court belongs to a person, once the customer is identified."""
    for user in world.users:
        yield Draft(
            user,
            reason="You received a letter from a court about your account and want to know what the bank does.",
            calls=[transfer("legal_or_regulatory_matter", "The customer has a letter from a court.")],
            documents=[_PERSON],
        )


@scenario(_PERSON, personas.IMPATIENT)
def somebody_else_s_account(world: World) -> Iterator[Draft]:
    """Somebody who asks about the account of another person is transferred."""
    for user, other in zip(world.users, world.users[1:], strict=False):
        yield Draft(
            user,
            reason=f"You want to know what is on the account of another person, {other['name']}, who works for you.",
            calls=[transfer("third_party_inquiry", "Somebody asks about the account of another person.")],
            documents=[_PERSON],
            identified=False,
        )


PEOPLE = (
    new_email_address,
    new_phone_number,
    apply_with_enough_income,
    apply_with_too_little_income,
    referral_link,
    referral_link_after_some,
    too_many_referrals,
    refer_for_an_account,
    deposit_a_check,
    deposit_the_largest_check,
    deposit_too_large_a_check,
    price_of_a_wire,
    yield_of_an_account,
    bonus_for_a_referral,
    waiting_time_for_an_increase,
    a_customer_has_died,
    a_letter_from_a_court,
    somebody_else_s_account,
)
